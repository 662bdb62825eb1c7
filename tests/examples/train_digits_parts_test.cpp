// The parts of examples/train_digits that know nothing of MLX: data, options, picture.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "../../examples/common/loss_curve.hpp"
#include "../../examples/train_digits/digits_data.hpp"
#include "../../examples/train_digits/options.hpp"
#include "../../examples/train_digits/results.hpp"
#include "../scratch_folder.hpp"

namespace {

using namespace examples;
using namespace train_digits;
namespace fs = std::filesystem;

// The repository's folder, from this file's place in it.
fs::path source_root() { return fs::path(__FILE__).parent_path().parent_path().parent_path(); }

// What the exception says that a call throws.
template <class E, class F> std::string message(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "(nothing was thrown)";
}

void expect_words(const std::string& text, const std::vector<std::string>& words) {
  for (const auto& word : words) EXPECT_NE(text.find(word), std::string::npos) << "no \"" << word << "\" in: " << text;
}

// A line of 64 equal pixels and a label.
std::string line(const std::string& pixel, const std::string& label) {
  std::string text;
  for (int i = 0; i < 64; ++i) text += pixel + ",";
  return text + label;
}

void expect_refused(const std::string& content, const std::vector<std::string>& words) {
  const scratch_folder s;
  expect_words(message<data_error>([&] { read_digits(s.file("digits.csv", content)); }), words);
}

TEST(digits_data, the_shipped_file_is_the_uci_test_set) {
  const digits d = read_digits(source_root() / "examples/train_digits/data/digits.csv");
  ASSERT_EQ(d.size(), 1797u);
  ASSERT_EQ(d.pixels.size(), 1797u * 64u);
  // The class counts of the test set as UCI's description of it gives them.
  const std::vector<std::ptrdiff_t> counts = {178, 182, 177, 183, 181, 182, 181, 179, 174, 180};
  for (int c = 0; c < digit_classes; ++c) {
    EXPECT_EQ(std::count(d.labels.begin(), d.labels.end(), c), counts[static_cast<std::size_t>(c)]) << c;
  }
  const auto [low, high] = std::minmax_element(d.pixels.begin(), d.pixels.end());
  EXPECT_EQ(*low, 0.0f);
  EXPECT_EQ(*high, 1.0f);
}

TEST(digits_data, pixels_are_scaled_and_blank_lines_and_windows_line_ends_are_fine) {
  const scratch_folder s;
  const digits d = read_digits(s.file("digits.csv", line("4", "7") + "\r\n\n" + line("16", "0")));
  EXPECT_EQ(d.labels, (std::vector<int>{7, 0}));
  ASSERT_EQ(d.pixels.size(), 128u);
  EXPECT_EQ(d.pixels.front(), 0.25f);
  EXPECT_EQ(d.pixels.back(), 1.0f);
}

TEST(digits_data, a_missing_file_a_folder_an_empty_file_and_an_archive_are_refused_with_advice) {
  const scratch_folder s;
  expect_words(message<data_error>([&] { read_digits(s.path / "none.csv"); }), {"none.csv", "no such file", "--data"});
  expect_words(message<data_error>([&] { read_digits(s.path); }), {"a folder", "--data"});
  expect_refused("", {"digits.csv", "an empty file", "--data"});
  expect_refused("\n\n", {"an empty file"});
  expect_refused("\x1f\x8b\x08 and so on", {"a gzip archive", "gunzip"});
}

TEST(digits_data, a_bad_line_is_named_by_file_line_and_column) {
  const std::string good = line("0", "1") + "\n";
  expect_refused(good + "1,2,3\n" + good, {"digits.csv, line 2, column 3", "65 values", "found 3"});
  expect_refused(good + "0," + line("0", "1") + "\n", {"line 2, column 65", "65 values", "found 66"});
  expect_refused(good + "16,x" + line("0", "1").substr(3) + "\n",
                 {"line 2, column 2", "a pixel, a whole number from 0 to 16", "found 'x'"});
  expect_refused(good + line("17", "1"), {"line 2, column 1", "from 0 to 16", "found '17'"});
  expect_refused(good + line("-1", "1"), {"line 2, column 1", "found '-1'"});
  expect_refused(good + line("0.5", "1"), {"line 2, column 1", "found '0.5'"});
  expect_refused(good + line("99999999999", "1"), {"found '99999999999'"});
  expect_refused(good + line("0", "10"), {"line 2, column 65", "a label, a whole number from 0 to 9", "found '10'"});
  expect_refused(good + line("0", ""), {"line 2, column 65", "found nothing"});
  expect_refused(line("pixel", "label") + "\n" + good, {"line 1, column 1", "found 'pixel'", "header"});
}

TEST(digits_data, a_file_cut_off_in_the_middle_of_a_line_is_told_as_that) {
  const std::string two = line("3", "1") + "\n" + line("3", "1");
  expect_refused(two.substr(0, two.size() - 40), {"line 2", "found 45", "ends in the middle", "complete copy"});
}

TEST(digits_data, an_error_shows_little_of_a_strange_file_and_no_control_characters) {
  const std::string text = "\x1b[31m" + std::string(5000, 'z');
  const scratch_folder s;
  const std::string said = message<data_error>([&] { read_digits(s.file("digits.csv", text)); });
  EXPECT_LT(said.size(), 400u);
  EXPECT_EQ(said.find('\x1b'), std::string::npos);
}

digits numbered(std::size_t n) {
  digits d;
  for (std::size_t i = 0; i < n; ++i) {
    d.labels.push_back(static_cast<int>(i % 10));
    d.pixels.insert(d.pixels.end(), pixels_per_image, static_cast<float>(i));
  }
  return d;
}

TEST(split_train_test, every_image_lands_on_exactly_one_side_with_its_label) {
  const digits all = numbered(1797);
  const auto [train, test] = split_train_test(all, {.seed = 3});
  EXPECT_EQ(train.size(), 1437u);
  EXPECT_EQ(test.size(), 360u);
  std::set<float> seen;
  for (const digits* side : {&train, &test}) {
    for (std::size_t i = 0; i < side->size(); ++i) {
      const float id = side->pixels[i * pixels_per_image];
      EXPECT_TRUE(seen.insert(id).second);
      EXPECT_EQ(side->labels[i], static_cast<int>(id) % 10);
    }
  }
  EXPECT_EQ(seen.size(), 1797u);
}

TEST(split_train_test, the_seed_decides) {
  const digits all = numbered(100);
  EXPECT_EQ(split_train_test(all, {.seed = 3}).test.pixels, split_train_test(all, {.seed = 3}).test.pixels);
  EXPECT_NE(split_train_test(all, {.seed = 3}).test.pixels, split_train_test(all, {.seed = 4}).test.pixels);
}

TEST(split_train_test, an_empty_side_is_refused) {
  EXPECT_THROW(split_train_test(numbered(1)), std::invalid_argument);
  EXPECT_THROW(split_train_test(numbered(10), {.test_fraction = 0}), std::invalid_argument);
  EXPECT_THROW(split_train_test(numbered(10), {.test_fraction = 1}), std::invalid_argument);
  EXPECT_THROW(split_train_test(numbered(10), {.test_fraction = std::numeric_limits<double>::quiet_NaN()}),
               std::invalid_argument);
}

TEST(mini_batches, deal_every_row_once_and_keep_the_ragged_last) {
  const auto batches = mini_batches(1437, 64, 1, 0);
  ASSERT_EQ(batches.size(), 23u);
  std::vector<std::size_t> rows;
  for (const auto& batch : batches) {
    EXPECT_EQ(batch.size(), &batch == &batches.back() ? 29u : 64u);  // 1437 = 22 * 64 + 29
    rows.insert(rows.end(), batch.begin(), batch.end());
  }
  std::sort(rows.begin(), rows.end());
  std::vector<std::size_t> expected(1437);
  std::iota(expected.begin(), expected.end(), std::size_t{0});
  EXPECT_EQ(rows, expected);
}

TEST(mini_batches, seed_and_epoch_decide_the_order) {
  EXPECT_EQ(mini_batches(100, 7, 1, 2), mini_batches(100, 7, 1, 2));
  EXPECT_NE(mini_batches(100, 7, 1, 2), mini_batches(100, 7, 1, 3));
  EXPECT_NE(mini_batches(100, 7, 1, 2), mini_batches(100, 7, 2, 2));
  EXPECT_NE(mini_batches(100, 7, 1, 2), mini_batches(100, 7, 2, 1));
}

TEST(mini_batches, edge_sizes) {
  EXPECT_TRUE(mini_batches(0, 4, 1, 0).empty());
  EXPECT_EQ(mini_batches(8, 4, 1, 0).size(), 2u);
  EXPECT_EQ(mini_batches(3, 100, 1, 0).size(), 1u);
  EXPECT_THROW(mini_batches(3, 0, 1, 0), std::invalid_argument);
}

TEST(shuffled_rows, are_evenly_spread) {
  // Over 6,000 seeds each of the 6 orders of 3 rows comes 1,000 times on average, with a deviation of 29.
  std::vector<int> counts(3 * 9);
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    const auto r = shuffled_rows(3, seed, 0);
    ++counts[r[0] * 9 + r[1] * 3 + r[2]];
  }
  int orders = 0;
  for (int c : counts) {
    if (c == 0) continue;
    ++orders;
    EXPECT_NEAR(c, 1000, 150);
  }
  EXPECT_EQ(orders, 6);
}

TEST(take, copies_rows_in_order_and_refuses_what_is_not_there) {
  const std::vector<std::size_t> rows = {4, 0, 4};
  const digits d = take(numbered(5), rows);
  EXPECT_EQ(d.labels, (std::vector<int>{4, 0, 4}));
  ASSERT_EQ(d.pixels.size(), 192u);
  EXPECT_EQ(d.pixels[0], 4.0f);
  EXPECT_EQ(d.pixels[64], 0.0f);
  EXPECT_THROW(take(numbered(4), rows), std::out_of_range);
}

TEST(parse_options, nothing_said_means_the_defaults) {
  const options o = parse_options({}, {.data = "elsewhere.csv", .epochs = 7});
  EXPECT_EQ(o.data, "elsewhere.csv");
  EXPECT_EQ(o.epochs, 7u);
  EXPECT_FALSE(o.resume);
  EXPECT_FALSE(o.help);
}

TEST(parse_options, every_option_is_read) {
  const options o =
      parse_options({"--data", "a.csv", "--epochs", "3", "--batch-size=32", "--learning-rate", "1e-3", "--hidden",
                     "8,4,2", "--seed", "18446744073709551615", "--checkpoint", "c", "--resume", "--curve=x=y.svg"});
  EXPECT_EQ(o.data, "a.csv");
  EXPECT_EQ(o.epochs, 3u);
  EXPECT_EQ(o.batch_size, 32u);
  EXPECT_DOUBLE_EQ(o.learning_rate, 0.001);
  EXPECT_EQ(o.hidden, (std::vector<int>{8, 4, 2}));
  EXPECT_EQ(o.seed, 18446744073709551615u);
  EXPECT_EQ(o.checkpoint, "c");
  EXPECT_TRUE(o.resume);
  EXPECT_EQ(o.curve, "x=y.svg");
  EXPECT_EQ(parse_options({"--epochs", "3", "--epochs", "4"}).epochs, 4u);
}

TEST(parse_options, help_wins_over_mistakes) {
  EXPECT_TRUE(parse_options({"--epochs", "many", "--help"}).help);
  EXPECT_TRUE(parse_options({"--epochs", "many", "-h"}).help);
}

TEST(parse_options, a_mistake_names_the_option_what_was_expected_and_what_was_found) {
  const auto said = [](std::vector<std::string> arguments) {
    return message<option_error>([&] { parse_options(arguments); });
  };
  expect_words(said({"--epoch", "3"}), {"unknown option '--epoch'", "--epochs", "--help"});
  expect_words(said({"digits.csv"}), {"unknown option 'digits.csv'"});
  expect_words(said({""}), {"unknown option ''"});
  expect_words(said({"--epochs"}), {"option --epochs", "expected a value (N)", "end of the command line"});
  expect_words(said({"--data", "--resume"}), {"option --data", "expected a value (FILE)", "the option '--resume'"});
  expect_words(said({"--curve="}), {"option --curve", "an empty one"});
  expect_words(said({"--resume=yes"}), {"option --resume", "no value", "'yes'"});
  for (const char* bad : {"0", "-3", "2.5", "ten", "1000001", "99999999999999999999999", " 3"}) {
    expect_words(said({"--batch-size", bad}), {"option --batch-size", "a whole number from 1 to 1000000", bad});
  }
  for (const char* bad : {"0", "-0.1", "nan", "inf", "1e999", "0.1x", "0,1", " 1"}) {
    expect_words(said({"--learning-rate", bad}), {"option --learning-rate", "a number above 0", bad});
  }
  for (const char* bad : {"8,,2", "8,", ",", "8;2", "0", "70000"}) {
    expect_words(said({"--hidden", bad}), {"option --hidden", "separated by commas", bad});
  }
  expect_words(said({"--seed", "18446744073709551616"}), {"option --seed", "from 0 to 18446744073709551615"});
}

TEST(help_text, shows_every_option_and_the_defaults_given) {
  expect_words(help_text({.data = "here.csv", .epochs = 123, .hidden = {9, 8}}),
               {"--data FILE", "[here.csv]", "--epochs N", "[123]", "--batch-size N", "--learning-rate X",
                "--hidden A,B,..", "[9,8]", "--seed N", "--checkpoint FILE", "--resume", "--curve FILE", "--help"});
  std::istringstream lines(help_text());
  for (std::string text; std::getline(lines, text);) EXPECT_LE(text.size(), 110u) << text;
}

std::size_t occurrences(const std::string& text, const std::string& word) {
  std::size_t n = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

TEST(to_svg, draws_axes_series_and_legend) {
  const std::string svg = to_svg({.batch_loss = {{0.5, 2.3}, {1, 0.4}, {1.5, 0.2}, {2, 0.1}},
                                  .epoch_loss = {{0.5, 1.3}, {1.5, 0.15}},
                                  .test_accuracy = {{1, 0.9}, {2, 0.97}}});
  expect_words(svg, {"<svg", "</svg>", ">Epoch<", ">Training loss (cross-entropy)<", ">Test accuracy (%)<", ">100<",
                     ">0.1<", ">1<", ">5<", "Loss, each mini-batch"});
  EXPECT_EQ(occurrences(svg, "<circle"), 2u);
}

TEST(to_svg, points_that_cannot_be_drawn_break_the_line_and_never_reach_the_file) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const std::string svg = to_svg({.batch_loss = {{0, 1}, {1, nan}, {2, 1}, {3, inf}, {4, 0}, {5, -1}, {nan, 1}, {6, 1}},
                                  .epoch_loss = {},
                                  .test_accuracy = {{1, nan}, {2, 1}, {3, 7}}});
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
}

TEST(to_svg, no_points_one_point_and_perfect_scores_still_give_a_picture) {
  for (const learning_curve& curve :
       {learning_curve{}, learning_curve{.batch_loss = {{0, 1}}, .epoch_loss = {}, .test_accuracy = {}},
        learning_curve{.batch_loss = {}, .epoch_loss = {{3, 1}}, .test_accuracy = {{3, 1}}},
        learning_curve{.batch_loss = {}, .epoch_loss = {{1, 1e-300}, {2, 1e300}}, .test_accuracy = {{1, 0}}}}) {
    const std::string svg = to_svg(curve);
    EXPECT_EQ(occurrences(svg, "</svg>"), 1u);
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    EXPECT_LT(svg.size(), 2'000'000u);
  }
}

TEST(write_svg, writes_the_picture_or_names_the_file_that_it_cannot_write) {
  const scratch_folder s;
  const learning_curve curve{.batch_loss = {{0, 1}, {1, 0.5}}, .epoch_loss = {}, .test_accuracy = {}};
  write_svg(s.path / "c.svg", curve);
  std::ostringstream written;
  written << std::ifstream(s.path / "c.svg").rdbuf();
  EXPECT_EQ(written.str(), to_svg(curve));
  expect_words(message<std::runtime_error>([&] { write_svg(s.path / "no" / "c.svg", curve); }), {"c.svg", "--curve"});
}

TEST(require_writable, tries_the_folder_and_leaves_no_trace) {
  const scratch_folder s;
  require_writable(s.path / "new.svg", "--curve");
  EXPECT_TRUE(fs::is_empty(s.path));
  const fs::path there = s.file("digits.csv", "old");
  require_writable(there, "--checkpoint");
  EXPECT_EQ(fs::file_size(there), 3u);
  expect_words(message<training_error>([&] { require_writable(s.path / "no" / "c.svg", "--curve"); }),
               {"option --curve", (s.path / "no" / "c.svg").string(), "cannot be written", "folder exists"});
  expect_words(message<training_error>([&] { require_writable(s.path, "--checkpoint"); }),
               {"option --checkpoint", s.path.string(), "is a folder"});
}

TEST(keep_previous, renames_what_is_there) {
  const scratch_folder s;
  EXPECT_FALSE(keep_previous(s.path / "digits.csv"));
  for (const char* text : {"first", "second one"}) {
    const fs::path file = s.file("digits.csv", text);
    EXPECT_EQ(keep_previous(file), s.path / "digits.csv.previous");
    EXPECT_FALSE(fs::exists(file));
    EXPECT_EQ(fs::file_size(s.path / "digits.csv.previous"), std::string(text).size());
  }
}

TEST(diverged, says_where_how_and_what_to_do) {
  const std::string said = diverged({"the loss is nan", 3, 12, 0.5, "c.safetensors", true}).what();
  expect_words(said, {"epoch 3, step 12: the loss is nan", "--learning-rate 0.5", "smaller", "untouched",
                      (fs::current_path() / "c.safetensors").string()});
  expect_words(diverged({"the loss is inf", 1, 1, 10, "c", false}).what(), {"No checkpoint was written"});
}

TEST(counted, knows_one_from_many) {
  EXPECT_EQ(counted(0, "trace"), "0 traces");
  EXPECT_EQ(counted(1, "trace"), "1 trace");
  EXPECT_EQ(counted(2, "trace"), "2 traces");
}

}  // namespace
