// The progress line, on a clock that the test sets. Expected lines are what the comments of progress.hpp say, worked out by
// hand.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <espalier/progress.hpp>
#include <string>

#include "messages.hpp"

namespace {

using namespace espalier;

struct hand_clock {
  using duration = std::chrono::duration<double>;
  using time_point = std::chrono::time_point<std::chrono::steady_clock, duration>;
  static inline double seconds = 0;
  static time_point now() { return time_point(duration(seconds)); }
};
using line = basic_progress_line<hand_clock>;

struct shown {
  double loss;
};

// What a file is given until now.
struct sink {
  std::FILE* file = std::tmpfile();
  ~sink() { std::fclose(file); }
  std::string text() const {
    std::string all;
    std::rewind(file);
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) all.push_back(static_cast<char>(c));
    return all;
  }
};

TEST(progress, plain_lines_come_at_most_every_so_often_and_the_last_one_always) {
  const sink out;
  {
    hand_clock::seconds = 100;
    line progress(1000, {.out = out.file, .every = 10});
    for (std::uint64_t step = 1; step <= 1000; ++step) {
      progress.update(step, shown{2.5});
      if (step < 1000) hand_clock::seconds += 0.0625;  // 16 steps/s: exact in binary
    }
  }
  EXPECT_EQ(out.text(),
            "step    1/1000   loss 2.5\n"
            "step  161/1000   loss 2.5   16.0 steps/s   0:52 left\n"
            "step  321/1000   loss 2.5   16.0 steps/s   0:42 left\n"
            "step  481/1000   loss 2.5   16.0 steps/s   0:32 left\n"
            "step  641/1000   loss 2.5   16.0 steps/s   0:22 left\n"
            "step  801/1000   loss 2.5   16.0 steps/s   0:12 left\n"
            "step  961/1000   loss 2.5   16.0 steps/s   0:02 left\n"
            "step 1000/1000   loss 2.5   16.0 steps/s\n");
}

TEST(progress, on_a_terminal_one_line_is_rewritten_and_ended) {
  const sink out;
  {
    line progress(3, {.out = out.file, .terminal = true});
    for (const std::uint64_t step : {1U, 2U, 3U}) {
      progress.update(step, shown{0.25});
      hand_clock::seconds += 2;
    }
  }
  EXPECT_EQ(out.text(),
            "\rstep 1/3   loss 0.25\x1b[K"
            "\rstep 2/3   loss 0.25   2.00 s/step   0:02 left\x1b[K"
            "\rstep 3/3   loss 0.25   2.00 s/step\x1b[K\n");
}

TEST(progress, a_note_has_a_line_of_its_own) {
  const sink out;
  line progress(9, {.out = out.file, .terminal = true});
  progress.note("begin");
  progress.update(1, shown{1});
  progress.note("saved");
  EXPECT_EQ(out.text(), "begin\n\rstep 1/9   loss 1\x1b[K\nsaved\n");
}

TEST(progress, the_rate_follows_a_change_of_speed_by_three_tenths_a_line) {
  const sink out;
  line progress(100, {.out = out.file, .every = 0});
  for (std::uint64_t step = 1; step <= 3; ++step) {
    progress.update(step, shown{1});
    hand_clock::seconds += step == 1 ? 1 : 2;
  }
  // 0.3 * 2 + 0.7 * 1 = 1.3 seconds a step; 97 of them are 126 seconds.
  EXPECT_TRUE(out.text().ends_with("1.30 s/step   2:06 left\n")) << out.text();
}

TEST(progress, a_resumed_run_counts_its_own_steps) {
  const sink out;
  line progress(600, {.out = out.file, .every = 10});
  progress.update(500, shown{1});
  hand_clock::seconds += 10;
  progress.update(520, shown{1});
  EXPECT_TRUE(out.text().ends_with("step 520/600   loss 1   2.0 steps/s   0:40 left\n")) << out.text();
}

TEST(progress, rates_and_times_are_readable) {
  EXPECT_EQ(detail::rate_text(0.001), "1000 steps/s");
  EXPECT_EQ(detail::rate_text(0.125), "8.0 steps/s");
  EXPECT_EQ(detail::rate_text(75), "75.00 s/step");
  EXPECT_EQ(detail::duration_text(0.2), "0:00");
  EXPECT_EQ(detail::duration_text(59.7), "1:00");
  EXPECT_EQ(detail::duration_text(754), "12:34");
  EXPECT_EQ(detail::duration_text(3 * 3600 + 121), "3:02:01");
}

TEST(progress, a_file_is_no_terminal) {
  const sink out;
  EXPECT_FALSE(detail::is_terminal(out.file));
}

}  // namespace
