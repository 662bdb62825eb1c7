// tree_allclose: numpy.allclose at every leaf, and the same structure.

#include <complex>
#include <espalier/allclose.hpp>
#include <espalier/flatten.hpp>
#include <espalier/map.hpp>
#include <limits>

#include "corpus.hpp"
#include "small_array.hpp"

namespace {

using namespace espalier;
using corpus::point;

template <class T> struct allclose_laws : testing::Test {};
TYPED_TEST_SUITE(allclose_laws, corpus::types);

TYPED_TEST(allclose_laws, close_to_itself_and_to_no_tree_of_another_structure) {
  const auto trees = corpus::examples<TypeParam>();
  const auto again = corpus::examples<TypeParam>();
  for (std::size_t i = 0; i < trees.size(); ++i) {
    for (std::size_t j = 0; j < trees.size(); ++j) EXPECT_EQ(tree_allclose(trees[i], again[j]), i == j);
  }
}

TYPED_TEST(allclose_laws, not_close_to_other_leaves) {
  for (const TypeParam& tree : corpus::examples<TypeParam>()) {
    const bool has_leaves = tree_structure(tree).num_leaves() > 0;
    EXPECT_EQ(tree_allclose(tree, tree_map(corpus::increase(), tree)), !has_leaves);
  }
}

// What numpy 2.4 answers.
TEST(allclose, answers_as_numpy) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(tree_allclose(1.0, 1 + 1e-5));
  EXPECT_FALSE(tree_allclose(1.0, 1 + 1.1e-5));
  EXPECT_TRUE(tree_allclose(0.0, 1e-8));
  EXPECT_FALSE(tree_allclose(0.0, 1.1e-8));
  EXPECT_TRUE(tree_allclose(inf, inf));
  EXPECT_FALSE(tree_allclose(inf, -inf));
  EXPECT_FALSE(tree_allclose(inf, 1e308));
  EXPECT_FALSE(tree_allclose(1e308, inf));
  EXPECT_FALSE(tree_allclose(nan, nan));
  EXPECT_TRUE(tree_allclose(nan, nan, 1e-5, 1e-8, true));
  EXPECT_FALSE(tree_allclose(nan, 1.0, 1e-5, 1e-8, true));
  EXPECT_TRUE(tree_allclose(100.0, 101.0, 0.01));
  EXPECT_FALSE(tree_allclose(101.0, 100.0, 0.0099));
  using complex = std::complex<double>;
  EXPECT_TRUE(tree_allclose(complex(1, 2), complex(1, 2.00001)));
  EXPECT_TRUE(tree_allclose(complex(inf, 0), complex(inf, 0)));
  EXPECT_FALSE(tree_allclose(complex(inf, 1), complex(inf, 2)));
}

TEST(allclose, numbers_of_two_types_are_compared_as_numbers) {
  EXPECT_TRUE(tree_allclose(true, 1.0));
  EXPECT_TRUE(tree_allclose(3, 3.00001));
  struct floats {
    float x, y;
  };
  EXPECT_TRUE(tree_allclose(point{0.1, 2}, floats{0.1f, 2}));
  EXPECT_FALSE(tree_allclose(point{0.1, 2}, floats{0.1f, 2}, 1e-9, 0.0));
}

TEST(allclose, is_not_symmetric) {
  EXPECT_TRUE(tree_allclose(0.9, 1.0, 0.1, 1e-15));
  EXPECT_FALSE(tree_allclose(1.0, 0.9, 0.1, 1e-15));
}

TEST(allclose, other_leaves_are_close_if_equal) {
  EXPECT_TRUE(tree_allclose(std::string("a"), std::string("a")));
  EXPECT_FALSE(tree_allclose(std::string("a"), std::string("b"), 1e9, 1e9));
  EXPECT_FALSE(tree_allclose(std::string("1"), 1.0));
}

TEST(allclose, another_structure_is_not_close) {
  struct renamed {
    double x, z;
  };
  EXPECT_FALSE(tree_allclose(point{1, 2}, renamed{1, 2}));
  EXPECT_FALSE(tree_allclose(1.0, point{1, 1}));
  EXPECT_FALSE(tree_allclose(corpus::far_cache{1, 2}, corpus::far_cache{1, 3})) << "aux data counts";
}

TEST(allclose, arrays_answer_for_themselves) {
  const std::vector<small::array> a{{{1, 2}}, {{3}}};
  std::vector<small::array> b = a;
  b[0].values[1] += 1e-6;
  EXPECT_TRUE(tree_allclose(a, b));
  EXPECT_FALSE(tree_allclose(a, b, 1e-9));
  b[0].dtype = "float32";
  EXPECT_FALSE(tree_allclose(a, b));
}

TEST(allclose, is_a_constant_expression) {
  static_assert(tree_allclose(point{1, 2}, point{1, 2 + 1e-9}));
  static_assert(!tree_allclose(point{1, 2}, point{1, 2.1}));
}

}  // namespace
