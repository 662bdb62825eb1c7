// The line that a person watches while a program trains: step, metrics, rate, time left. On a terminal one line is
// rewritten; elsewhere (a file, a pipe) there is a plain line every ten seconds.
//
//   espalier::progress_line line(2000);
//   for (std::uint64_t step = 1; step <= 2000; ++step) line.update(step, metrics{train(step)});
//   // step 1200/2000   loss 1.834   8.4 steps/s   1:35 left
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <espalier/metrics.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

namespace espalier {

struct progress_options {
  std::FILE* out = stdout;
  std::optional<bool> terminal = std::nullopt;  // whether `out` is one; asked of the system if not said
  std::optional<double> every = std::nullopt;   // seconds between lines: 0.1 on a terminal, elsewhere 10
};

namespace detail {

inline bool is_terminal([[maybe_unused]] std::FILE* file) {
#if __has_include(<unistd.h>)
  return isatty(fileno(file)) == 1;
#else
  return false;
#endif
}

inline std::string formatted(const char* format, double x) {
  char text[64];
  std::snprintf(text, sizeof text, format, x);
  return text;
}

// "8.4 steps/s", "3.20 s/step".
inline std::string rate_text(double seconds_per_step) {
  if (seconds_per_step >= 1) return formatted("%.2f s/step", seconds_per_step);
  const double rate = 1 / seconds_per_step;
  return formatted(rate >= 100 ? "%.0f steps/s" : "%.1f steps/s", rate);
}

// "0:07", "12:34", "3:02:01".
inline std::string duration_text(double seconds) {
  const auto total = static_cast<std::uint64_t>(std::llround(seconds));
  const auto two_digits = [](std::uint64_t n) { return (n < 10 ? "0" : "") + std::to_string(n); };
  const std::uint64_t minutes = total / 60;
  const std::string end = ":" + two_digits(total % 60);
  return minutes < 60 ? std::to_string(minutes) + end
                      : std::to_string(minutes / 60) + ":" + two_digits(minutes % 60) + end;
}

}  // namespace detail

// Clock is a std::chrono clock.
template <class Clock> class basic_progress_line {
 public:
  // `steps` is the number of the last step, which is always shown.
  explicit basic_progress_line(std::uint64_t steps, const progress_options& options = {})
      : steps_(steps),
        out_(options.out),
        terminal_(options.terminal ? *options.terminal : detail::is_terminal(options.out)),
        every_(options.every.value_or(terminal_ ? 0.1 : 10)) {}
  basic_progress_line(const basic_progress_line&) = delete;
  basic_progress_line& operator=(const basic_progress_line&) = delete;
  ~basic_progress_line() { finish(); }

  // Shows `metrics`, a tree of numbers, if a line is due; else costs one look at the clock. Rate and time left are of
  // the steps since the first update, before which a program traces and warms up; later ones weigh more (0.3 to the
  // newest line, as tqdm has it).
  template <class Tree> void update(std::uint64_t step, const Tree& metrics) {
    const auto now = Clock::now();
    const double passed = started_ ? std::chrono::duration<double>(now - shown_at_).count() : 0;
    if (started_ && step != steps_ && passed < every_) return;
    if (started_ && step > shown_step_ && passed > 0) {
      const double newest = passed / static_cast<double>(step - shown_step_);
      seconds_per_step_ = seconds_per_step_ == 0 ? newest : 0.3 * newest + 0.7 * seconds_per_step_;
    }
    started_ = true;
    shown_at_ = now;
    shown_step_ = step;
    show(step, metrics);
  }

  // Writes a line of text that stays, above the one that is rewritten.
  void note(std::string_view text) {
    finish();
    std::fprintf(out_, "%.*s\n", static_cast<int>(text.size()), text.data());
    std::fflush(out_);
  }

  // Ends the line that is rewritten, so that other output begins a line of its own.
  void finish() {
    if (open_) std::fputs("\n", out_);
    open_ = false;
    std::fflush(out_);
  }

 private:
  template <class Tree> void show(std::uint64_t step, const Tree& metrics) {
    const std::string last = std::to_string(steps_);
    std::string number = std::to_string(step);
    if (number.size() < last.size()) number.insert(0, last.size() - number.size(), ' ');
    std::string text = "step " + number + "/" + last;
    espalier::tree_visit_with_path(
        [&]<class Leaf>(const path_view& path, const Leaf& leaf) {
          static_assert(
              std::is_arithmetic_v<Leaf>,
              "espalier: progress_line: a leaf of the metrics is no number. Show the numbers alone, an array's "
              "as item<float>()");
          text.append("   ").append(detail::metric_name(path)).append(1, ' ');
          text.append(detail::formatted("%.4g", static_cast<double>(leaf)));
        },
        metrics);
    if (seconds_per_step_ > 0) {
      text.append("   ").append(detail::rate_text(seconds_per_step_));
      if (step < steps_) {
        const double left = seconds_per_step_ * static_cast<double>(steps_ - step);
        text.append("   ").append(detail::duration_text(left)).append(" left");
      }
    }
    // (The escape clears what a longer line has left behind.)
    std::fprintf(out_, terminal_ ? "\r%s\x1b[K" : "%s\n", text.c_str());
    std::fflush(out_);
    open_ = terminal_;
  }

  std::uint64_t steps_;
  std::FILE* out_;
  bool terminal_;
  double every_;
  bool started_ = false;
  bool open_ = false;  // a line without its end stands on the terminal
  typename Clock::time_point shown_at_{};
  std::uint64_t shown_step_ = 0;
  double seconds_per_step_ = 0;
};

using progress_line = basic_progress_line<std::chrono::steady_clock>;

}  // namespace espalier
