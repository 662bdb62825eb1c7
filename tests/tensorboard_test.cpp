// TensorBoard event files. The bytes are those that tensorboard 2.21.0 writes for the same events: RecordWriter of
// event_pb2.Event(wall_time=…, step=…, …).SerializeToString().

#include <cstdint>
#include <espalier/tensorboard.hpp>
#include <string>
#include <vector>

#include "messages.hpp"
#include "scratch_folder.hpp"

namespace {

using namespace espalier;
namespace fs = std::filesystem;

std::string hex(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text.append(1, "0123456789abcdef"[byte >> 4]).append(1, "0123456789abcdef"[byte & 15]);
  }
  return text;
}

TEST(tensorboard, a_file_begins_as_tensorboard_s_own) {
  EXPECT_EQ(hex(detail::tf_record(detail::version_event(1700000000.25))),
            "1800000000000000a37f4b220900001040fc54d9411a0d627261696e2e4576656e743a32338d2fe9");
}

TEST(tensorboard, scalars_are_tensorboard_s_own) {
  std::string summary;
  detail::append_scalar(summary, "loss", 1.25f);
  detail::append_scalar(summary, "norm.a", -3.0f);
  EXPECT_EQ(
      hex(detail::tf_record(detail::summary_event(1700000001.5, 300, summary))),
      "2a00000000000000ae8d91f50900006040fc54d94110ac022a1c0a0b0a046c6f7373150000a03f0a0d0a066e6f726d2e6115000040c"
      "0e1876d4f");
}

TEST(tensorboard, a_step_of_zero_is_left_out_and_a_value_of_zero_is_not) {
  std::string summary;
  detail::append_scalar(summary, "loss", 0.0f);
  EXPECT_EQ(hex(detail::tf_record(detail::summary_event(1700000001.5, 0, summary))),
            "1800000000000000a37f4b220900006040fc54d9412a0d0a0b0a046c6f737315000000001f8d525f");
}

TEST(tensorboard, a_restart_is_tensorboard_s_own) {
  EXPECT_EQ(hex(detail::tf_record(detail::restart_event(1700000001.5, 300))),
            "100000000000000095fbfe180900006040fc54d94110ac023a020801312d1a8d");
}

struct layer {
  double weight;
};
struct metrics {
  float loss;
  std::vector<layer> norms;
};

// Where the record that begins at `at` ends, as its own length says.
std::size_t end_of_record(const std::string& file, std::size_t at) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < 8; ++i) length |= std::size_t{static_cast<unsigned char>(file.at(at + i))} << (8 * i);
  return at + 8 + 4 + length + 4;
}

TEST(tensorboard_metrics, writes_a_record_for_each_row_with_slashes_in_the_tags) {
  const scratch_folder s;
  tensorboard_metrics board(s.path / "runs" / "a");
  EXPECT_TRUE(board.file().filename().string().starts_with("events.out.tfevents."));
  for (const std::uint64_t step : {1U, 2U}) {
    board.write(step, metrics{0.5f, {{2.0}}});
    const std::string file = text_of(board.file());
    std::size_t at = end_of_record(file, end_of_record(file, 0));  // behind the version and the restart
    for (std::uint64_t i = 0; i < step; ++i) at = end_of_record(file, at);
    EXPECT_EQ(at, file.size()) << "the rows so far are in the file";
    EXPECT_NE(file.find("loss"), std::string::npos);
    EXPECT_NE(file.find("norms/0/weight"), std::string::npos);
  }
}

TEST(tensorboard_metrics, files_of_one_second_stay_apart_in_their_order) {
  const scratch_folder s;
  const tensorboard_metrics first(s.path);
  const tensorboard_metrics second(s.path, 7);
  EXPECT_LT(first.file().string(), second.file().string());
  EXPECT_NE(text_of(second.file()).find("\x10\x07\x3a\x02\x08\x01"), std::string::npos) << "a restart at step 7";
}

TEST(tensorboard_metrics, a_folder_that_cannot_be_made_is_named) {
  const scratch_folder s;
  const fs::path file = s.file("file", "");
  expect_in_order(message_of<metrics_error>([&] { tensorboard_metrics(file / "runs"); }),
                  {"runs", "cannot be written"});
}

}  // namespace
