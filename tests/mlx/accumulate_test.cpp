#include <espalier/mlx/accumulate.hpp>

#include <gtest/gtest.h>
#include <mlx/mlx.h>

#include <espalier/mlx/engine.hpp>
#include <espalier/mlx/trainable.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"

namespace {

namespace mx = ::mlx::core;
using espalier::accumulate_gradients;
using espalier::value_and_grad;

struct batch {
  mx::array x;
  mx::array y;
};

mx::array loss(const linear& model, const batch& b) {
  return mx::mean(mx::square(mx::matmul(b.x, model.weight) + *model.bias - b.y));
}

const linear model{mx::array({1.0f, -2.0f}, {2, 1}), mx::array(0.5f)};
const batch joined{mx::reshape(mx::arange(12.0f), {6, 2}), mx::reshape(mx::arange(6.0f), {6, 1})};
const batch parts{mx::reshape(joined.x, {3, 2, 2}), mx::reshape(joined.y, {3, 2, 1})};

TEST(AccumulateGradients, IsTheGradientOfTheJoinedBatch) {
  const auto expected = value_and_grad(loss)(model, joined);
  const auto [losses, gradient] = accumulate_gradients(value_and_grad(loss), model, parts);
  ASSERT_EQ(losses.shape(), mx::Shape{3});
  expect_near(mx::mean(losses), expected.value);
  expect_near(gradient.weight, expected.gradient.weight);
  expect_near(*gradient.bias, *expected.gradient.bias);
}

TEST(AccumulateGradients, StacksAuxOutputs) {
  const auto f = [](const mx::array& w, const mx::array& x) { return std::pair(w * x, x + x); };
  const auto [value, gradient] =
      accumulate_gradients(value_and_grad(f), mx::array(2.0f), mx::array({1.0f, 2.0f, 6.0f}));
  expect_equal(value.first, mx::array({2.0f, 4.0f, 12.0f}));
  expect_equal(value.second, mx::array({2.0f, 4.0f, 12.0f}));
  expect_equal(gradient, mx::array(3.0f));
}

// In half precision 2048 + 1 is 2048: summed there, the mean of 2048 and seven ones would be 256.
TEST(AccumulateGradients, SumsHalfPrecisionInFloat32) {
  const auto f = [](const mx::array& w, const mx::array& x) { return w * x; };
  const mx::array x = mx::astype(mx::array({2048.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f}), mx::float16);
  expect_equal(accumulate_gradients(value_and_grad(f), mx::array(1.0f, mx::float16), x).gradient,
               mx::astype(mx::array(2055.0f / 8.0f), mx::float16));
}

TEST(AccumulateGradients, WithSeveralBatchesFiltersAndCompiled) {
  const auto frozen =
      espalier::trainable([](const espalier::path_view& p, const mx::array&) { return p.back().name != "bias"; });
  const auto f = [](const linear& l, const mx::array& x, const mx::array& y) { return loss(l, batch{x, y}); };
  const auto [losses, gradient] = accumulate_gradients(value_and_grad(f, frozen), model, parts.x, parts.y);
  expect_near(gradient.weight, value_and_grad(loss)(model, joined).gradient.weight);
  expect_equal(*gradient.bias, mx::array(0.0f));
  auto compiled = espalier::compile(
      [](const linear& l, const batch& b) { return accumulate_gradients(value_and_grad(loss), l, b).gradient; });
  expect_near(compiled(model, parts).weight, gradient.weight);
}

TEST(AccumulateGradients, NoBatchesAreAnError) {
  const auto f = [](const mx::array& w, const mx::array& x) { return w * x; };
  EXPECT_THROW(accumulate_gradients(value_and_grad(f), mx::array(1.0f), mx::zeros({0})), espalier::scan_error);
  EXPECT_THROW(accumulate_gradients(value_and_grad(f), mx::array(1.0f), mx::array(1.0f)), espalier::scan_error);
}

}  // namespace
