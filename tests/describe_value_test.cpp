// Values as people read them.

#include <array>
#include <espalier/describe_value.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace {

enum class color : unsigned char { red, green };
struct prints {
  friend std::ostream& operator<<(std::ostream& out, const prints&) { return out << "printed"; }
};
struct silent {};
struct described {};

}  // namespace

template <> struct espalier::value_description<described> {
  static std::string describe(const described&) { return "in its own words"; }
};

namespace {

using espalier::describe_value;

TEST(describe, numbers) {
  EXPECT_EQ(describe_value(3), "3");
  EXPECT_EQ(describe_value(-3L), "-3");
  EXPECT_EQ(describe_value(~std::uint64_t(0)), "18446744073709551615");
  EXPECT_EQ(describe_value(true), "true");
  EXPECT_EQ(describe_value(std::uint8_t(65)), "65");
}

TEST(describe, floats_in_the_fewest_digits_that_read_back) {
  EXPECT_EQ(describe_value(0.5), "0.5");
  EXPECT_EQ(describe_value(0.1), "0.1");
  EXPECT_EQ(describe_value(0.1f), "0.1");
  EXPECT_EQ(describe_value(-0.0), "-0");
  EXPECT_EQ(std::stod(describe_value(1.0 / 3)), 1.0 / 3);
}

TEST(describe, texts_in_quotes) {
  EXPECT_EQ(describe_value(std::string("text")), "'text'");
  EXPECT_EQ(describe_value("text"), "'text'");
}

TEST(describe, texts_are_escaped_as_key_paths_are) {
  // Python's repr.
  EXPECT_EQ(describe_value("x', .b: 'y"), "\"x', .b: 'y\"");
  EXPECT_EQ(describe_value("two\nlines"), "'two\\nlines'");
}

TEST(describe, bytes_above_127_stand_for_themselves_and_others_that_do_not_print_are_escaped) {
  EXPECT_EQ(describe_value("\x01\t\\ü"), "'\\x01\\t\\\\ü'");
}

TEST(describe, what_optionals_variants_and_ranges_hold) {
  EXPECT_EQ(describe_value(std::optional(3)), "3");
  EXPECT_EQ(describe_value(std::optional<int>()), "None");
  EXPECT_EQ(describe_value(std::variant<int, std::string>("a")), "'a'");
  EXPECT_EQ(describe_value(std::vector{0.5, 2.0}), "[0.5, 2]");
  EXPECT_EQ(describe_value(std::vector<std::optional<int>>{1, {}}), "[1, None]");
  EXPECT_EQ(describe_value(std::array{true, false}), "[true, false]");
  EXPECT_EQ(describe_value(std::vector<std::vector<std::string>>{{"a"}, {}}), "[['a'], []]");
  EXPECT_EQ(describe_value(std::vector<int>(8)), "[0, 0, 0, 0, 0, 0, 0, 0]");
  EXPECT_EQ(describe_value(std::vector<int>(9)), "[0, 0, 0, 0, 0, 0, 0, 0, …]");
  EXPECT_EQ(describe_value(std::vector<bool>{true, false}), "[true, false]");
  EXPECT_EQ(describe_value(std::optional<silent>(silent())), "…");
}

TEST(describe, enums_by_number) { EXPECT_EQ(describe_value(color::green), "1"); }

TEST(describe, aux_data_as_its_value) {
  EXPECT_EQ(describe_value(espalier::aux<int>(3)), "3");
  EXPECT_EQ(describe_value(espalier::aux<std::string>(std::string("a"))), "'a'");
}

TEST(describe, types_of_ones_own) {
  EXPECT_EQ(describe_value(described()), "in its own words");
  EXPECT_EQ(describe_value(prints()), "printed");
  EXPECT_EQ(describe_value(silent()), "…");
}

}  // namespace
