// tree_ravel: all leaves in one flat array, and back.

#include <complex>
#include <espalier/errors.hpp>
#include <espalier/flatten.hpp>
#include <espalier/map.hpp>
#include <espalier/ravel.hpp>

#include "corpus.hpp"

namespace {

using namespace espalier;
using corpus::linear, corpus::point, corpus::segment;

template <class T> struct ravel_laws : testing::Test {};
using number_trees =
    testing::Types<double, corpus::empty, corpus::segment, corpus::twenty, corpus::nested_pair, corpus::tuple_of_all,
                   corpus::maps, corpus::alternatives, corpus::model, corpus::frozen, corpus::cache, corpus::rose,
                   corpus::chain, corpus::owner, corpus::choice, corpus::hollow, corpus::quantized, corpus::interval,
                   corpus::polynomial, corpus::stack_of>;
TYPED_TEST_SUITE(ravel_laws, number_trees);

TYPED_TEST(ravel_laws, unravel_undoes_ravel) {
  for (const TypeParam& tree : corpus::examples<TypeParam>()) {
    const auto [flat, unravel] = tree_ravel(tree);
    EXPECT_EQ(flat.size(), tree_structure(tree).num_leaves());
    EXPECT_TRUE(unravel(flat) == tree);
  }
}

TYPED_TEST(ravel_laws, unravels_what_is_computed_on_the_flat_numbers) {
  for (const TypeParam& tree : corpus::examples<TypeParam>()) {
    auto [flat, unravel] = tree_ravel(tree);
    for (auto& x : flat) x += 1;
    EXPECT_TRUE(unravel(flat) == tree_map(corpus::increase(), tree));
  }
}

TEST(ravel, is_a_vector_of_the_leaves_in_order) {
  const auto [flat, unravel] = tree_ravel(linear{{1, 2}, 3.0});
  static_assert(std::is_same_v<decltype(flat), const std::vector<double>>);
  EXPECT_EQ(flat, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(unravel(std::vector<double>{4, 5, 6}), (linear{{4, 5}, 6.0}));
}

TEST(ravel, is_an_array_of_a_static_structure) {
  static_assert(tree_ravel(segment{{1, 2}, {3, 4}}).flat == std::array<double, 4>{1, 2, 3, 4});
  static_assert(tree_ravel(segment{}).unravel(std::array{1, 2, 3, 4}).to.y == 4);
  static_assert(sizeof(unraveler<segment>) == 1);
}

// As jax 0.10: int32, float32 and bool meet in float32; 2.7 goes back as 2, 2.7 and true.
TEST(ravel, promotes_and_converts_back) {
  const auto [flat, unravel] = tree_ravel(std::tuple(3, 2.5f, true));
  EXPECT_EQ(flat, (std::array<float, 3>{3, 2.5f, 1}));
  EXPECT_EQ(unravel(std::array{2.7f, 2.7f, 2.7f}), std::tuple(2, 2.7f, true));
}

TEST(ravel, a_real_leaf_gets_the_real_part_back) {
  const auto [flat, unravel] = tree_ravel(std::tuple(std::complex<float>(1, 2), 3.0, 4));
  EXPECT_EQ(flat, (std::array<std::complex<double>, 3>{{{1, 2}, {3, 0}, {4, 0}}}));
  EXPECT_EQ(unravel(flat), std::tuple(std::complex<float>(1, 2), 3.0, 4));
}

TEST(ravel, of_no_leaves_is_an_empty_array_of_float) {
  EXPECT_TRUE(tree_ravel(std::vector<std::tuple<>>(2)).flat.empty());
  static_assert(std::is_same_v<decltype(tree_ravel(std::tuple<>()).flat), std::array<float, 0>>);
}

TEST(ravel, a_wrong_number_of_numbers_is_refused) {
  const auto [flat, unravel] = tree_ravel(linear{{1, 2}, 3.0});
  EXPECT_THROW((void)unravel(std::vector<double>{1, 2}), leaf_error);
  EXPECT_THROW((void)unravel(std::vector<double>{1, 2, 3, 4}), leaf_error);
}

}  // namespace
