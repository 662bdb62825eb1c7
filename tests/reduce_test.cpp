// Folding the leaves of a tree.

#include <cmath>
#include <complex>
#include <espalier/errors.hpp>
#include <espalier/flatten.hpp>
#include <espalier/leaf_array.hpp>
#include <espalier/map.hpp>
#include <espalier/reduce.hpp>
#include <limits>
#include <memory>

#include "corpus.hpp"

namespace {

using namespace espalier;

template <class T> struct reduce_laws : testing::Test {};
TYPED_TEST_SUITE(reduce_laws, corpus::types);

TYPED_TEST(reduce_laws, counting_counts_the_leaves) {
  for (const TypeParam& tree : corpus::examples<TypeParam>()) {
    EXPECT_EQ(tree_reduce([](std::size_t n, const auto&) { return n + 1; }, tree, std::size_t(0)),
              tree_structure(tree).num_leaves());
  }
}

TEST(reduce, goes_from_left_to_right) {
  const corpus::model m{{{{1, 2}, 3.0}, {{4}, {}}}, 5};
  EXPECT_EQ(tree_reduce([](const std::string& s, double x) { return "(" + s + std::to_string(int(x)) + ")"; }, m,
                        std::string()),
            "(((((1)2)3)4)5)");
}

TEST(reduce, the_result_has_the_type_of_the_initial_value) {
  static_assert(
      std::is_same_v<decltype(tree_reduce([](float s, double x) { return s + float(x); }, corpus::point(), 0.f)),
                     float>);
}

TEST(reduce, a_tree_without_leaves_gives_the_initial_value) {
  EXPECT_EQ(tree_reduce([](int a, int b) { return a + b; }, std::vector<int>(), 7), 7);
}

TEST(reduce, begins_with_the_first_leaf_where_no_initial_value_is_given) {
  // As functools.reduce, which jax.tree.reduce calls.
  EXPECT_EQ(tree_reduce([](double a, double b) { return a - b; }, corpus::segment{{1, 2}, {3, 4}}), -8);
  EXPECT_THROW((void)tree_reduce(std::plus<>(), std::vector<double>()), leaf_error);
  static_assert(tree_reduce(std::plus<>(), corpus::point{1, 2}) == 3);
}

TEST(reduce, stops_at_nodes_that_are_named) {
  const corpus::segment tree{{1, 2}, {3, 4}};
  const auto count = [](int n, const corpus::point&) { return n + 1; };
  EXPECT_EQ(tree_reduce(leaf_if<corpus::point>, count, tree, 0), 2);
}

TEST(reduce, a_result_that_can_only_be_moved) {
  const auto put = [](std::unique_ptr<int> sum, int x) { return *sum += x, std::move(sum); };
  EXPECT_EQ(*tree_reduce(put, std::array{1, 2, 3}, std::make_unique<int>(0)), 6);
}

TEST(reduce, leaves_of_an_rvalue_are_moved_in) {
  const auto take = [](std::vector<corpus::token> all, corpus::token&& t) {
    all.push_back(std::move(t));
    return all;
  };
  std::vector<corpus::token> tree;
  tree.emplace_back(1);
  tree.emplace_back(2);
  EXPECT_EQ(tree_reduce(take, std::move(tree), std::vector<corpus::token>())[1].value(), 2);
}

TEST(reduce, is_a_constant_expression) {
  static_assert(tree_reduce([](double a, double b) { return a + b; }, corpus::segment{{1, 2}, {3, 4}}, 0.0) == 10);
}

// --- tree_all, tree_any, tree_sum, tree_max, tree_min: as optree's. --------------------------------------------------

TEST(all_and_any, ask_every_leaf) {
  EXPECT_TRUE(tree_all(std::tuple(1, 0.5, true)));
  EXPECT_FALSE(tree_all(std::tuple(1, 0.0, true)));
  EXPECT_TRUE(tree_any(std::tuple(0, 0.5, false)));
  EXPECT_FALSE(tree_any(std::tuple(0, 0.0, false)));
}

TEST(all_and_any, of_no_leaves) {
  EXPECT_TRUE(tree_all(std::vector<int>()));
  EXPECT_FALSE(tree_any(std::vector<int>()));
}

TEST(all_and_any, read_masks) {
  const corpus::model m{{{{1, 2}, 3.0}, {{4}, {}}}, 5};
  EXPECT_TRUE(tree_all(tree_map([](double x) { return x > 0; }, m)));
  EXPECT_FALSE(tree_any(tree_map([](double x) { return x > 5; }, m)));
}

TEST(sum, is_taken_in_the_type_in_which_the_leaves_meet) {
  EXPECT_EQ(tree_sum(std::tuple(1, 2.5)), 3.5);
  static_assert(std::is_same_v<decltype(tree_sum(std::tuple(1, 2.5f))), float>);
  static_assert(std::is_same_v<decltype(tree_sum(corpus::point())), double>);
  EXPECT_EQ(tree_sum(std::tuple(std::complex<float>(1, 2), 3.0)), std::complex<double>(4, 2));
}

TEST(sum, counts_what_is_true) {
  EXPECT_EQ(tree_sum(std::array{true, false, true}), 2);
  EXPECT_EQ(tree_sum(std::array<std::int8_t, 2>{100, 100}), 200);
}

TEST(sum, of_no_leaves_is_zero) {
  EXPECT_EQ(tree_sum(std::vector<double>()), 0);
  EXPECT_EQ(tree_sum(std::tuple<>()), 0);
}

TEST(max_and_min, of_numbers_of_several_types) {
  const std::tuple tree(1, 3.0, 3, std::array{-1.5, 2.0});
  EXPECT_EQ(tree_max(tree), 3.0);
  EXPECT_EQ(tree_min(tree), -1.5);
  static_assert(std::is_same_v<decltype(tree_max(tree)), double>);
}

TEST(max_and_min, of_leaves_of_one_type_that_has_an_order) {
  const std::vector<std::string> words{"b", "c", "a"};
  EXPECT_EQ(tree_max(words), "c");
  EXPECT_EQ(tree_min(words), "a");
}

TEST(max_and_min, a_nan_in_front_stays_as_in_python) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(tree_max(std::array{nan, 1.0})));
  EXPECT_TRUE(std::isnan(tree_min(std::array{nan, 1.0})));
  EXPECT_EQ(tree_max(std::array{1.0, nan}), 1.0);
}

TEST(max_and_min, of_no_leaves) {
  EXPECT_THROW((void)tree_max(std::vector<int>()), leaf_error);
  EXPECT_THROW((void)tree_min(std::vector<int>()), leaf_error);
  EXPECT_EQ(tree_max(std::vector<int>(), 7), 7);
  EXPECT_EQ(tree_min(std::vector<int>(), 7), 7);
  EXPECT_EQ(tree_min(std::vector<int>{3}, 7), 3);
}

TEST(max_and_min, of_no_leaves_keep_the_number_that_was_given) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(tree_max(std::vector<int>(), -infinity), -infinity);
  EXPECT_EQ(tree_min(std::vector<int>{3, 2}, infinity), 2.0);
}

TEST(folds_by_name, are_constant_expressions) {
  static_assert(tree_all(corpus::point{1, 2}) && !tree_any(corpus::point{0, 0}));
  static_assert(tree_sum(corpus::segment{{1, 2}, {3, 4}}) == 10);
  static_assert(tree_max(corpus::segment{{1, 2}, {3, 4}}) == 4 && tree_min(corpus::segment{{1, 2}, {3, 4}}) == 1);
  static_assert(tree_reduce_associative([](double a, double b) { return a + b; }, corpus::segment{{1, 2}, {3, 4}}) ==
                10);
}

// --- tree_reduce_associative. ----------------------------------------------------------------------------------------

const auto parenthesised = [](const std::string& a, const std::string& b) { return "(" + a + b + ")"; };

std::vector<std::string> letters(std::size_t n) {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < n; ++i) result.emplace_back(1, static_cast<char>('a' + i));
  return result;
}

// What jax 0.10's jax.tree.reduce_associative answers.
TEST(reduce_associative, calls_in_the_order_of_jax) {
  const std::array expected{"a",
                            "(ab)",
                            "(a(bc))",
                            "((ab)(cd))",
                            "((ab)(c(de)))",
                            "((a(bc))(d(ef)))",
                            "((a(bc))((de)(fg)))",
                            "(((ab)(cd))((ef)(gh)))"};
  for (std::size_t n = 1; n <= expected.size(); ++n) {
    EXPECT_EQ(tree_reduce_associative(parenthesised, letters(n)), expected[n - 1]);
    EXPECT_EQ(tree_reduce_associative(parenthesised, letters(n), std::string("unused")), expected[n - 1]);
  }
}

TEST(reduce_associative, of_no_leaves_is_the_identity) {
  EXPECT_EQ(tree_reduce_associative(parenthesised, letters(0), std::string("none")), "none");
  EXPECT_THROW((void)tree_reduce_associative(parenthesised, letters(0)), leaf_error);
}

TEST(reduce_associative, leaves_of_several_types_become_the_type_of_the_identity) {
  const auto add = [](double a, double b) { return a + b; };
  EXPECT_EQ(tree_reduce_associative(add, std::tuple(1, 2.5f, true), 0.0), 4.5);
}

TEST(reduce_associative, moves_leaves_out_of_an_rvalue) {
  std::vector<corpus::token> tree;
  for (int i = 1; i <= 5; ++i) tree.emplace_back(i);
  const auto add = [](corpus::token a, const corpus::token& b) { return corpus::token(a.value() + b.value()); };
  EXPECT_EQ(tree_reduce_associative(add, std::move(tree)).value(), 15);
}

TYPED_TEST(reduce_laws, an_associative_function_gives_the_same_in_any_order) {
  const auto join = [](const std::string& a, const std::string& b) { return a + b; };
  for (const TypeParam& tree : corpus::examples<TypeParam>()) {
    std::size_t n = 0;
    std::string in_order;
    const auto names = [&](const auto&) { return std::to_string(n++) + ","; };
    const std::vector<std::string> leaves = [&] {
      std::vector<std::string> result;
      tree_visit([&](const auto& leaf) { result.push_back(names(leaf)); }, tree);
      return result;
    }();
    for (const std::string& leaf : leaves) in_order += leaf;
    EXPECT_EQ(tree_reduce_associative(join, leaves, std::string()), in_order);
  }
}

}  // namespace
