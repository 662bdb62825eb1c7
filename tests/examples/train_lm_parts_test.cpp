// The parts of examples/train_lm, and those that the examples share, which know nothing of MLX: text, options, command
// line.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "../../examples/common/command_line.hpp"
#include "../../examples/common/loss_curve.hpp"
#include "../../examples/train_lm/options.hpp"
#include "../../examples/train_lm/text.hpp"
#include "../messages.hpp"
#include "../scratch_folder.hpp"

namespace {

using namespace train_lm;
namespace fs = std::filesystem;

fs::path shakespeare() {
  return fs::path(__FILE__).parent_path().parent_path().parent_path() / "examples/train_lm/data/shakespeare.txt";
}

corpus text_of_bytes(const std::string& bytes) {
  const scratch_folder s;
  return read_text(s.file("t.txt", bytes));
}

TEST(text, the_shipped_file_is_the_one_that_its_readme_describes) {
  const corpus text = read_text(shakespeare());
  EXPECT_EQ(text.tokens.size(), 1115394u);
  EXPECT_EQ(text.alphabet, "\n !$&',-.3:;?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
  EXPECT_EQ(text.held_out().size(), 111539u);
  EXPECT_EQ(text.train().size() + text.held_out().size(), text.tokens.size());
  // From Python's collections.Counter over the bytes and the pairs of bytes.
  EXPECT_NEAR(bigram_entropy(text), 2.452565397630945, 1e-9);
}

TEST(text, tokens_are_places_in_the_alphabet) {
  const corpus text = text_of_bytes("banana\n");
  EXPECT_EQ(text.alphabet, "\nabn");
  EXPECT_EQ(text.tokens, (std::vector<std::int32_t>{2, 1, 3, 1, 3, 1, 0}));
  EXPECT_EQ(encode("nab", text.alphabet), (std::vector<std::int32_t>{3, 1, 2}));
  EXPECT_EQ(text_of_bytes("\xff\x01").alphabet, "\x01\xff");
}

TEST(text, what_cannot_be_read_or_encoded_is_refused) {
  const scratch_folder s;
  EXPECT_TRUE(contains(message_of<text_error>([&] { read_text(s.path / "none.txt"); }), "none.txt: cannot be read"));
  EXPECT_TRUE(contains(message_of<text_error>([&] { read_text(s.file("t.txt", "")); }), "t.txt: is empty"));
  EXPECT_TRUE(contains(message_of<text_error>([&] { encode("a?", "ab"); }), "'a?' is not in the text"));
}

TEST(bigram_entropy, is_zero_where_the_next_character_is_known) {
  EXPECT_EQ(bigram_entropy(text_of_bytes("abcabcabcabc")), 0.0);
}

TEST(bigram_entropy, is_log_two_where_two_characters_follow_equally_often) {
  // After an a come b and c in turn, after these always an a: half of the characters cost log 2, half nothing.
  EXPECT_NEAR(bigram_entropy(text_of_bytes("abacabacabacabaca")), std::log(2.0) / 2, 1e-12);
}

TEST(rows, lie_within_the_text_and_depend_on_seed_and_step_alone) {
  const auto rows = random_rows(1000, 4, 10, 1, 7);
  EXPECT_EQ(std::set(rows.begin(), rows.end()), (std::set<std::size_t>{0, 1, 2, 3, 4, 5}))
      << "5 + 4 is the last target";
  EXPECT_EQ(rows, random_rows(1000, 4, 10, 1, 7));
  EXPECT_NE(rows, random_rows(1000, 4, 10, 1, 8));
  EXPECT_NE(rows, random_rows(1000, 4, 10, 2, 7));
  EXPECT_EQ(even_rows(3, 4, 11), (std::vector<std::size_t>{0, 3, 6}));
  EXPECT_EQ(even_rows(1, 4, 11), (std::vector<std::size_t>{0}));
}

TEST(rows, longer_than_the_text_are_refused) {
  EXPECT_TRUE(contains(message_of<text_error>([] { random_rows(1, 10, 10, 1, 1); }), "--context"));
  EXPECT_EQ(random_rows(1, 9, 10, 1, 1), (std::vector<std::size_t>{0}));
  EXPECT_THROW(even_rows(1, 10, 10), text_error);
}

options parsed(std::vector<std::string> arguments) {
  options o;
  examples::parse("train_lm", options_of(o), arguments);
  require_consistent(o);
  return o;
}
std::string refusal(std::vector<std::string> arguments) {
  return message_of<examples::option_error>([&] { parsed(arguments); });
}

TEST(options, are_read_in_both_spellings_and_the_last_one_counts) {
  const options o = parsed({"--steps", "7", "--warmup=3", "--learning-rate", "1e-2", "--dtype=bfloat16", "--resume",
                            "--prompt", "a=b", "--steps", "9", "--data=x=y.txt"});
  EXPECT_EQ(o.run.steps, 9);
  EXPECT_EQ(o.run.warmup_steps, 3);
  EXPECT_DOUBLE_EQ(o.run.peak_rate, 0.01);
  EXPECT_EQ(o.run.dtype, precision::bfloat16);
  EXPECT_TRUE(o.resume);
  EXPECT_EQ(o.prompt, "a=b");
  EXPECT_EQ(o.data, "x=y.txt");
  EXPECT_EQ(o.blocks, options().blocks);
}

TEST(options, a_mistake_names_the_option_what_was_expected_and_what_was_found) {
  expect_in_order(refusal({"--step", "3"}), {"unknown option '--step'", "--steps", "See train_lm --help"});
  expect_in_order(refusal({"--steps"}), {"option --steps", "a value (N)", "the end of the command line"});
  expect_in_order(refusal({"--steps", "--resume"}), {"option --steps", "the option '--resume'"});
  expect_in_order(refusal({"--steps="}), {"option --steps", "an empty one"});
  expect_in_order(refusal({"--resume=yes"}), {"option --resume", "no value", "'yes'"});
  expect_in_order(refusal({"--dtype", "float16"}), {"option --dtype", "float32 or bfloat16", "'float16'"});
  for (const char* bad : {"0", "-3", "2.5", "ten", "1000001", "99999999999999999999999", " 3"}) {
    expect_in_order(refusal({"--steps", bad}), {"option --steps", "a whole number from 2 to 1000000", bad});
  }
  for (const char* bad : {"0", "-0.1", "nan", "inf", "1e999", "0.1x", "0,1"}) {
    expect_in_order(refusal({"--clip", bad}), {"option --clip", "a number above 0", bad});
  }
}

TEST(options, that_do_not_fit_together_are_refused) {
  expect_in_order(refusal({"--width", "100", "--heads", "8"}), {"--width", "twice --heads (16)", "'100'"});
  expect_in_order(refusal({"--steps", "30"}), {"--warmup", "less than --steps (30)", "'30'"});
}

TEST(options, help_shows_each_with_its_default) {
  const std::string help = help_text({.data = "here.txt", .run = {.steps = 123}});
  for (const char* words :
       {"--data FILE", "[here.txt]", "--steps N", "[123]", "--dtype NAME", "[float32]", "--resume"}) {
    EXPECT_TRUE(contains(help, words)) << words;
  }
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 112u) << line;
}

TEST(loss_curve, has_held_out_losses_and_levels) {
  const std::string svg = examples::to_svg({.batch_loss = {{1, 4}, {2, 3}},
                                            .held_out_loss = {{2, 3.1}},
                                            .levels = {{2.5, "a level"}, {std::nan(""), "no level"}},
                                            .along = "Step",
                                            .loss = "Nats"});
  for (const char* words : {">Step<", ">Nats<", ">a level<", "stroke-dasharray", "Loss, held-out", "<circle"}) {
    EXPECT_TRUE(contains(svg, words)) << words;
  }
  for (const char* words : {"no level", "nan", "Test accuracy (%)"}) EXPECT_FALSE(contains(svg, words)) << words;
}

}  // namespace
