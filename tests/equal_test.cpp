// tree_equal: structure, aux data and leaves.

#include <espalier/equal.hpp>
#include <espalier/flatten.hpp>
#include <espalier/map.hpp>
#include <limits>

#include "corpus.hpp"

namespace {

using namespace espalier;
using corpus::point;

template <class T> struct equal_laws : testing::Test {};
TYPED_TEST_SUITE(equal_laws, corpus::types);

TYPED_TEST(equal_laws, equal_to_itself_and_to_no_tree_of_another_structure) {
  const auto trees = corpus::examples<TypeParam>();
  const auto again = corpus::examples<TypeParam>();
  for (std::size_t i = 0; i < trees.size(); ++i) {
    for (std::size_t j = 0; j < trees.size(); ++j) EXPECT_EQ(tree_equal(trees[i], again[j]), i == j);
  }
}

TYPED_TEST(equal_laws, other_leaves_are_unequal) {
  for (const TypeParam& tree : corpus::examples<TypeParam>()) {
    const bool has_leaves = tree_structure(tree).num_leaves() > 0;
    EXPECT_EQ(tree_equal(tree, tree_map(corpus::increase(), tree)), !has_leaves);
  }
}

TEST(equal, aux_data_counts) {
  EXPECT_FALSE(tree_equal(corpus::far_cache{1, 2}, corpus::far_cache{1, 3}));
  EXPECT_TRUE(tree_equal(corpus::far_cache{1, 2}, corpus::far_cache{1, 2}));
}

TEST(equal, leaves_compare_with_their_own_equality) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(tree_equal(point{nan, 1}, point{nan, 1}));
  EXPECT_TRUE(tree_equal(point{0.0, 1}, point{-0.0, 1}));
}

TEST(equal, struct_names_do_not_count_but_leaf_types_do) {
  struct twin {
    double x, y;
  };
  struct floats {
    float x, y;
  };
  struct renamed {
    double x, z;
  };
  EXPECT_TRUE(tree_equal(point{1, 2}, twin{1, 2}));
  EXPECT_FALSE(tree_equal(point{1, 2}, floats{1, 2}));
  EXPECT_FALSE(tree_equal(point{1, 2}, renamed{1, 2}));
}

TEST(equal, a_prefix_is_not_equal) {
  EXPECT_FALSE(tree_equal(1.0, point{1, 2}));
  EXPECT_FALSE(tree_equal(point{1, 2}, 1.0));
  EXPECT_FALSE(tree_equal(std::vector<double>{1}, std::vector<point>{{1, 2}}));
  EXPECT_FALSE(tree_equal(std::vector<point>{{1, 2}}, std::vector<double>{1}));
}

TEST(equal, is_a_constant_expression) {
  static_assert(tree_equal(point{1, 2}, point{1, 2}));
  static_assert(!tree_equal(point{1, 2}, point{1, 3}));
}

}  // namespace
