// Arithmetic on trees of MLX arrays.

#include <mlx/ops.h>

#include <cmath>
#include <espalier/allclose.hpp>
#include <espalier/cast.hpp>
#include <espalier/flatten.hpp>
#include <espalier/leaf_array.hpp>
#include <espalier/mlx/array.hpp>
#include <espalier/norm.hpp>
#include <espalier/zeros_like.hpp>
#include <vector>

#include <gtest/gtest.h>

namespace {

namespace mx = mlx::core;
using namespace espalier;

struct linear {
  mx::array weight, bias;
};

linear example(mx::Dtype dtype = mx::float32) { return {mx::array({1.0F, 2.0F}, dtype), mx::array({2.0F}, dtype)}; }

TEST(mlx_numbers, norm_and_dot_are_scalar_arrays) {
  for (const mx::Dtype dtype : {mx::float32, mx::float16, mx::bfloat16}) {
    EXPECT_EQ(tree_norm(example(dtype)).item<float>(), 3);
    EXPECT_EQ(tree_norm(example(dtype)).dtype(), mx::float32);
    EXPECT_EQ(tree_dot(example(dtype), example(dtype)).item<float>(), 9);
  }
}

TEST(mlx_numbers, dot_conjugates_the_first) {
  const mx::array a(mx::complex64_t(1, 2));
  const mx::array b(mx::complex64_t(2, -1));
  const auto product = tree_dot(std::vector{a}, std::vector{b}).item<mx::complex64_t>();
  EXPECT_EQ(product, mx::complex64_t(0, -5));
  EXPECT_FLOAT_EQ(tree_norm(std::vector{a}).item<float>(), std::sqrt(5.0F));
}

TEST(mlx_numbers, numbers_beside_arrays_count) {
  EXPECT_EQ(tree_norm(std::pair(mx::array({3.0F}), 4.0)).item<float>(), 5);
}

TEST(mlx_numbers, zeros_keep_shape_and_dtype) {
  const linear zeros = tree_zeros_like(example(mx::float16));
  EXPECT_EQ(zeros.weight.dtype(), mx::float16);
  EXPECT_TRUE(mx::array_equal(zeros.weight, mx::zeros({2}, mx::float16)).item<bool>());
}

TEST(mlx_numbers, cast_changes_floating_dtypes) {
  const auto cast = tree_cast<float>(std::vector{mx::array({1.0F}, mx::float16), mx::array({1}, mx::int32)});
  EXPECT_EQ(cast[0].dtype(), mx::float32);
  EXPECT_EQ(cast[1].dtype(), mx::int32);
}

TEST(mlx_numbers, close_arrays) {
  linear other = example();
  other.weight = other.weight + 1e-6F;
  EXPECT_TRUE(tree_allclose(example(), other));
  EXPECT_FALSE(tree_allclose(example(), other, 1e-9));
  other.weight = mx::array({1.0F, 2.0F, 3.0F});
  EXPECT_FALSE(tree_allclose(example(), other));
}

}  // namespace
