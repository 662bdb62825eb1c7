// tree_dot and tree_norm: a tree as a vector. Values are optax 0.2.8's, where no law gives them.

#include <complex>
#include <espalier/errors.hpp>
#include <espalier/leaf_array.hpp>
#include <espalier/map.hpp>
#include <espalier/norm.hpp>

#include "corpus.hpp"
#include "small_array.hpp"

namespace {

using namespace espalier;
using corpus::linear, corpus::point;

TEST(dot, sums_the_products_of_the_leaves) {
  EXPECT_EQ(tree_dot(linear{{1, 2}, 3.0}, linear{{4, -5}, 6.0}), 12.0);
  static_assert(tree_dot(point{1, 2}, point{3, 4}) == 11);
}

TEST(dot, conjugates_the_first_tree) {
  using complex = std::complex<double>;
  EXPECT_EQ(tree_dot(std::tuple(complex(1, 2), 3.0), std::tuple(complex(2, -1), 4.0)), complex(12, -5));
}

TEST(dot, is_taken_in_the_type_in_which_both_trees_meet) {
  EXPECT_EQ(tree_dot(std::tuple(2, 3.f), std::tuple(0.5, std::int8_t(2))), 7.0);
  static_assert(std::is_same_v<decltype(tree_dot(std::tuple(2, 3.f), std::tuple(0.5, std::int8_t(2)))), double>);
  static_assert(std::is_same_v<decltype(tree_dot(std::array{1.f}, std::array{2})), float>);
}

TEST(dot, of_small_integers_is_at_least_int) {
  EXPECT_EQ(tree_dot(std::array<std::int8_t, 2>{100, 100}, std::array<std::int8_t, 2>{1, 1}), 200);
  EXPECT_EQ(tree_dot(std::array{true, true, false}, std::array{true, true, true}), 2);
}

TEST(dot, takes_leaf_arrays) {
  const auto twice = tree_map([](double x) { return static_cast<float>(2 * x); }, point{1, 2});
  EXPECT_EQ(tree_dot(twice, point{3, 4}), 22.0);
  EXPECT_EQ(tree_dot(twice, twice), 20.0f);
}

TEST(dot, with_itself_is_the_square_of_the_norm) {
  const corpus::model m{{{{1, 2}, 3.0}, {{4}, {}}}, 5};
  EXPECT_DOUBLE_EQ(tree_dot(m, m), tree_norm(m) * tree_norm(m));
}

TEST(dot, of_other_structures_throws) {
  EXPECT_THROW((void)tree_dot(linear{{1, 2}, {}}, linear{{1}, {}}), structure_error);
}

TEST(norm, is_the_root_of_the_sum_of_squares) {
  EXPECT_DOUBLE_EQ(tree_norm(linear{{1, 2}, 3.0}), 3.7416573867739413);
  EXPECT_EQ(tree_norm(std::tuple(3, 4.f)), 5.0);
  EXPECT_EQ(tree_norm(std::tuple(std::complex<double>(1, 2), 2.0)), 3.0);
}

TEST(norm, of_no_leaves_is_zero) {
  EXPECT_EQ(tree_norm(std::vector<double>()), 0.0);
  EXPECT_EQ(tree_dot(std::vector<double>(), std::vector<double>()), 0.0);
}

TEST(norm, of_floats_is_summed_in_double) { EXPECT_EQ(tree_norm(std::array{1e20f, 0.f}), static_cast<double>(1e20f)); }

TEST(norm, of_arrays_is_a_scalar_array) {
  const std::vector<small::array> a{{{1, 2}}, {{2}}};
  EXPECT_EQ(tree_norm(a), small::array({3}));
  EXPECT_EQ(tree_dot(a, a), small::array({9}));
  EXPECT_EQ(tree_norm(std::pair(small::array{{3}}, 4.0)), small::array({5})) << "numbers among them count";
  EXPECT_EQ(tree_norm(std::vector<small::array>()), small::array({0}));
}

TEST(norms, are_those_of_each_parameter_in_its_place) {
  EXPECT_EQ(tree_norms(std::vector<double>{-3, 4}), (std::vector<double>{3, 4}));
  const std::pair norms = tree_norms(std::pair(std::vector<small::array>{{{3, 4}}, {{2}}}, 7));
  EXPECT_EQ(norms.first, (std::vector<small::array>{{{5}}, {{2}}}));
  EXPECT_EQ(norms.second, 7) << "what is no parameter is passed on";
}

TEST(norms, together_are_the_norm_of_the_tree) {
  const corpus::model m{{{{1, 2}, 3.0}, {{4}, {}}}, 5};
  EXPECT_DOUBLE_EQ(tree_norm(tree_norms(m)), tree_norm(m));
}

}  // namespace
