// tree_print.

#include <espalier/flatten.hpp>
#include <espalier/partition.hpp>
#include <espalier/print.hpp>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "corpus.hpp"
#include "small_array.hpp"

namespace {

using namespace espalier;

TEST(print, shows_leaves_where_the_structure_has_stars) {
  const corpus::model m{{{{1, 2.5}, 3.0}, {{4}, {}}}, 5};
  EXPECT_EQ(tree_print(m, 100),
            "{.layers: [{.weight: [1, 2.5], .bias: 3}, {.weight: [4], .bias: None}], .temperature: 5}");
  EXPECT_EQ(tree_structure(m).to_string(),
            "{.layers: [{.weight: [*, *], .bias: *}, {.weight: [*], .bias: None}], .temperature: *}");
}

TEST(print, breaks_what_is_too_wide) {
  const corpus::model m{{{{1, 2.5}, 3.0}, {{4}, {}}}, 5};
  EXPECT_EQ(tree_print(m, 40),
            "{\n"
            "  .layers: [\n"
            "    {.weight: [1, 2.5], .bias: 3},\n"
            "    {.weight: [4], .bias: None}\n"
            "  ],\n"
            "  .temperature: 5\n"
            "}");
}

TEST(print, lists_of_leaves_fill_their_lines) {
  EXPECT_EQ(tree_print(std::vector<int>{10, 20, 30, 40, 50}, 14),
            "[\n"
            "  10, 20, 30,\n"
            "  40, 50\n"
            "]");
}

TEST(print, no_line_is_wider_than_asked_for_if_that_can_be) {
  const std::string text = tree_print(std::vector<std::vector<double>>(7, std::vector<double>(30, 1.25)), 50);
  std::size_t width = 0;
  for (char c : text) {
    width = c == '\n' ? 0 : width + 1;
    EXPECT_LE(width, 50u);
  }
}

TEST(print, keys_tuples_aux_data_and_text) {
  EXPECT_EQ(tree_print(std::tuple(1, true, std::string("a"))), "(1, true, 'a')");
  EXPECT_EQ(tree_print(std::map<int, double>{{-1, 0.5}, {2, 1}}), "{-1: 0.5, 2: 1}");
  EXPECT_EQ(tree_print(std::map<std::string, int>{{"a b", 1}}), "{'a b': 1}");
  EXPECT_EQ(tree_print(corpus::cache{1.5, 3, std::string("nhwc")}), "{.keys: 1.5, .step=3, .layout='nhwc'}");
  EXPECT_EQ(tree_print(corpus::quantized{{1, 2}, 0.5, 4}), "(.packed: [1, 2], .scale: 0.5, aux=4)");
}

TEST(print, text_cannot_be_taken_for_the_tree_around_it) {
  struct texts {
    std::string a, b;
  };
  EXPECT_EQ(tree_print(texts{"x', .b: 'y", ""}), "{.a: \"x', .b: 'y\", .b: ''}");
  EXPECT_EQ(tree_print(std::vector<std::string>{"two\nlines"}), "['two\\nlines']");
}

struct odd {
  espalier::aux<std::optional<int>> limit;
  espalier::aux<std::vector<int>> shape;
};
TEST(print, aux_data_that_is_an_optional_or_a_range_is_shown) {
  EXPECT_EQ(tree_print(odd{std::optional<int>(), std::vector{2, 3}}), "{.limit=None, .shape=[2, 3]}");
  EXPECT_EQ(tree_structure(odd{std::optional(4), std::vector<int>()}).to_string(), "{.limit=4, .shape=[]}");
}

TEST(print, a_partition_is_shown_with_none_where_the_other_part_has_the_leaf) {
  struct settings {
    double rate;
    int steps;
    std::string name;
  };
  const auto [selected, rest] = tree_partition(settings{0.5, 3, "it's"}, of_type<double>);
  std::ostringstream out;
  out << selected << rest;
  EXPECT_EQ(out.str(), "{.rate: 0.5, .steps: None, .name: None}{.rate: None, .steps: 3, .name: \"it's\"}");
}

TEST(print, empty_trees_and_bare_leaves) {
  EXPECT_EQ(tree_print(corpus::empty()), "{}");
  EXPECT_EQ(tree_print(std::vector<int>()), "[]");
  EXPECT_EQ(tree_print(std::optional<double>()), "None");
  EXPECT_EQ(tree_print(2.5), "2.5");
}

TEST(print, what_an_optional_or_a_variant_holds_stands_in_its_place) {
  EXPECT_EQ(tree_print(corpus::choice{corpus::point{1, 2}}), "{.held: {.x: 1, .y: 2}}");
  EXPECT_EQ(tree_print(corpus::owner{std::make_unique<corpus::point>(corpus::point{1, 2})}), "{.at: {.x: 1, .y: 2}}");
}

}  // namespace
