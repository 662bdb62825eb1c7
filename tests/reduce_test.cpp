// Folding the leaves of a tree.

#include <espalier/flatten.hpp>
#include <espalier/reduce.hpp>

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

}  // namespace
