// tree_zeros_like.

#include <espalier/equal.hpp>
#include <espalier/flatten.hpp>
#include <espalier/visit.hpp>
#include <espalier/zeros_like.hpp>

#include "corpus.hpp"
#include "small_array.hpp"

namespace {

using namespace espalier;

template <class T> struct zeros_like_laws : testing::Test {};
using number_trees = testing::Types<double, corpus::empty, corpus::segment, corpus::tuple_of_all, corpus::maps,
                                    corpus::alternatives, corpus::model, corpus::frozen, corpus::cache, corpus::rose,
                                    corpus::owner, corpus::quantized, corpus::interval, corpus::polynomial>;
TYPED_TEST_SUITE(zeros_like_laws, number_trees);

TYPED_TEST(zeros_like_laws, keeps_the_structure_and_makes_every_number_zero) {
  for (const TypeParam& tree : corpus::examples<TypeParam>()) {
    const TypeParam zeros = tree_zeros_like(tree);
    EXPECT_TRUE(tree_structure(zeros) == tree_structure(tree));
    tree_visit([](const auto& leaf) { EXPECT_EQ(leaf, std::remove_cvref_t<decltype(leaf)>()); }, zeros);
  }
}

TEST(zeros_like, arrays_keep_their_shape_and_dtype) {
  EXPECT_EQ(tree_zeros_like(std::vector<small::array>{{{1, 2}, "float32"}})[0], (small::array{{0, 0}, "float32"}));
}

TEST(zeros_like, is_a_constant_expression) {
  static_assert(tree_equal(tree_zeros_like(corpus::segment{{1, 2}, {3, 4}}), corpus::segment{}));
}

}  // namespace
