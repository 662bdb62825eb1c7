// Metrics as CSV and JSON Lines. What is expected follows from RFC 4180, from RFC 8259 and from jsonlines.org.

#include <cstdint>
#include <espalier/leaf_array.hpp>
#include <espalier/map.hpp>
#include <espalier/metrics.hpp>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "messages.hpp"
#include "scratch_folder.hpp"

namespace {

using namespace espalier;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct layer {
  double weight;
};
struct metrics {
  float loss;
  std::vector<layer> norms;
  int tokens;
};

template <class Log> Log written(const std::filesystem::path& file, std::uint64_t from, std::uint64_t to) {
  Log log(file, from);
  for (std::uint64_t step = from; step < to; ++step) log.write(step, std::pair(0.5f, step));
  return log;
}

TEST(csv_metrics, has_a_column_for_each_leaf_by_dotted_path_and_a_row_for_each_step) {
  const scratch_folder s;
  csv_metrics log(s.path / "m.csv");
  log.write(0, metrics{1.25f, {{0.5}, {2}}, 7});
  log.write(100, metrics{0.1f, {{1e-300}, {-3}}, 8});
  EXPECT_EQ(text_of(s.path / "m.csv"),
            "step,loss,norms.0.weight,norms.1.weight,tokens\n"
            "0,1.25,0.5,2,7\n"
            "100,0.1,1e-300,-3,8\n");
}

TEST(csv_metrics, names_and_texts_with_commas_quotes_and_line_ends_are_quoted) {
  const scratch_folder s;
  csv_metrics log(s.path / "m.csv");
  log.write(1, std::map<std::string, std::string>{{"a,b", "x \"y\""}, {"c", "two\nlines"}, {"d", "plain"}});
  EXPECT_EQ(text_of(s.path / "m.csv"), "step,\"a,b\",c,d\n1,\"x \"\"y\"\"\",\"two\nlines\",plain\n");
}

TEST(csv_metrics, numbers_that_are_not_finite_are_words_that_readers_know) {
  const scratch_folder s;
  csv_metrics log(s.path / "m.csv");
  log.write(1, std::array{nan, inf, -inf});
  EXPECT_EQ(text_of(s.path / "m.csv"), "step,0,1,2\n1,nan,inf,-inf\n");
}

TEST(csv_metrics, a_number_alone_is_named_value) {
  const scratch_folder s;
  csv_metrics log(s.path / "m.csv");
  log.write(1, 2.5);
  EXPECT_EQ(text_of(s.path / "m.csv"), "step,value\n1,2.5\n");
}

TEST(csv_metrics, a_tree_mapped_to_numbers_keeps_its_names) {
  const scratch_folder s;
  csv_metrics log(s.path / "m.csv");
  log.write(1, tree_map([](double x) { return static_cast<float>(2 * x); }, std::pair(layer{1.5}, layer{2})));
  EXPECT_EQ(text_of(s.path / "m.csv"), "step,0.weight,1.weight\n1,3,4\n");
}

TEST(csv_metrics, each_row_is_in_the_file_at_once) {
  const scratch_folder s;
  csv_metrics log(s.path / "m.csv");
  for (const std::uint64_t step : {1U, 2U}) {
    log.write(step, 0.5);
    EXPECT_TRUE(text_of(s.path / "m.csv").ends_with(std::to_string(step) + ",0.5\n"));
  }
}

TEST(csv_metrics, a_new_log_replaces_the_file) {
  const scratch_folder s;
  csv_metrics(s.path / "m.csv").write(1, 0.5);
  csv_metrics(s.path / "m.csv").write(7, std::pair(1, 2));
  EXPECT_EQ(text_of(s.path / "m.csv"), "step,0,1\n7,1,2\n");
}

TEST(csv_metrics, a_resumed_run_leaves_the_file_of_a_run_that_was_never_interrupted) {
  const scratch_folder s;
  written<csv_metrics>(s.path / "whole.csv", 0, 9);
  written<csv_metrics>(s.path / "parts.csv", 0, 6);
  std::ofstream(s.path / "parts.csv", std::ios::app) << "6,0.";  // half a row, of a run that was killed
  written<csv_metrics>(s.path / "parts.csv", 4, 9);
  EXPECT_EQ(text_of(s.path / "parts.csv"), text_of(s.path / "whole.csv"));
}

TEST(csv_metrics, a_line_end_within_quotes_is_no_end_of_a_row_when_a_run_is_resumed) {
  const scratch_folder s;
  const auto row = [](const char* note) { return std::map<std::string, std::string>{{"a\nb", note}}; };
  {
    csv_metrics log(s.path / "m.csv");
    log.write(1, row("9,\n\"x\"\n2,"));
    log.write(2, row("gone"));
  }
  csv_metrics(s.path / "m.csv", 2).write(2, row("new"));
  EXPECT_EQ(text_of(s.path / "m.csv"), "step,\"a\nb\"\n1,\"9,\n\"\"x\"\"\n2,\"\n2,new\n");
}

TEST(csv_metrics, resuming_without_a_file_begins_one) {
  const scratch_folder s;
  csv_metrics(s.path / "m.csv", 50).write(50, 0.5);
  EXPECT_EQ(text_of(s.path / "m.csv"), "step,value\n50,0.5\n");
}

TEST(csv_metrics, other_columns_are_refused_and_the_file_stays) {
  const scratch_folder s;
  csv_metrics log(s.path / "m.csv");
  log.write(1, std::pair(1, 2));
  expect_in_order(message_of<metrics_error>([&] { log.write(2, 1); }),
                  {"m.csv", "expected the columns step,0,1", "found step,value", "start another file"});
  csv_metrics resumed(s.path / "m.csv", 5);
  EXPECT_THROW(resumed.write(5, std::vector<int>(3)), metrics_error);
  EXPECT_EQ(text_of(s.path / "m.csv"), "step,0,1\n1,1,2\n");
}

TEST(csv_metrics, a_file_of_something_else_is_refused_and_stays) {
  const scratch_folder s;
  for (const char* text : {"name,age\nBob,7\n", "step,loss\nBob,7\n", "stepping\n1\n"}) {
    const auto file = s.file("other.csv", text);
    expect_in_order(message_of<metrics_error>([&] { csv_metrics(file, 1); }), {"other.csv", "is no file of metrics"});
    EXPECT_EQ(text_of(file), text);
  }
}

TEST(csv_metrics, a_file_that_cannot_be_written_is_named) {
  const scratch_folder s;
  expect_in_order(message_of<metrics_error>([&] { csv_metrics(s.path / "no" / "m.csv"); }),
                  {"m.csv", "cannot be written", "folder"});
}

TEST(csv_metrics, two_metrics_of_one_name_are_refused) {
  const scratch_folder s;
  csv_metrics log(s.path / "m.csv");
  using by_name = std::map<std::string, double>;
  EXPECT_THROW(log.write(1, by_name{{"step", 1}}), metrics_error);
  EXPECT_THROW(log.write(1, std::map<std::string, by_name>{{"a", {{"b.c", 1}}}, {"a.b", {{"c", 2}}}}), metrics_error);
  EXPECT_EQ(text_of(s.path / "m.csv"), "");
}

TEST(jsonl_metrics, has_an_object_for_each_row) {
  const scratch_folder s;
  jsonl_metrics log(s.path / "m.jsonl");
  log.write(0, metrics{1.25f, {{0.5}, {2}}, 7});
  log.write(100, std::pair(true, 0.1f));
  EXPECT_EQ(text_of(s.path / "m.jsonl"),
            "{\"step\": 0, \"loss\": 1.25, \"norms.0.weight\": 0.5, \"norms.1.weight\": 2, \"tokens\": 7}\n"
            "{\"step\": 100, \"0\": 1, \"1\": 0.1}\n");
}

TEST(jsonl_metrics, strings_are_escaped_and_numbers_that_json_lacks_are_null) {
  const scratch_folder s;
  jsonl_metrics log(s.path / "m.jsonl");
  log.write(1, std::map<std::string, std::string>{{"a\"b", "back\\slash\nand \x01"}});
  log.write(2, std::array{nan, inf, 1e21});
  EXPECT_EQ(text_of(s.path / "m.jsonl"),
            "{\"step\": 1, \"a\\\"b\": \"back\\\\slash\\nand \\u0001\"}\n"
            "{\"step\": 2, \"0\": null, \"1\": null, \"2\": 1e+21}\n");
}

TEST(jsonl_metrics, text_that_is_not_utf8_is_refused_by_name) {
  const scratch_folder s;
  jsonl_metrics log(s.path / "m.jsonl");
  expect_in_order(message_of<metrics_error>([&] { log.write(1, std::map<std::string, std::string>{{"a", "\xff"}}); }),
                  {"m.jsonl", "'a'", "UTF-8"});
  EXPECT_EQ(text_of(s.path / "m.jsonl"), "");
}

TEST(jsonl_metrics, a_resumed_run_leaves_the_file_of_a_run_that_was_never_interrupted) {
  const scratch_folder s;
  written<jsonl_metrics>(s.path / "whole.jsonl", 0, 12);
  written<jsonl_metrics>(s.path / "parts.jsonl", 0, 11);
  std::ofstream(s.path / "parts.jsonl", std::ios::app) << "{\"st";
  written<jsonl_metrics>(s.path / "parts.jsonl", 9, 12);
  EXPECT_EQ(text_of(s.path / "parts.jsonl"), text_of(s.path / "whole.jsonl"));
  const auto other = s.file("other.jsonl", "{\"time\": 3}\n");
  EXPECT_THROW(jsonl_metrics(other, 1), metrics_error);
}

}  // namespace
