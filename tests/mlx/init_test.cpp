#include <espalier/mlx/init.hpp>

#include <gtest/gtest.h>
#include <mlx/mlx.h>

#include <cmath>
#include <espalier/mlx/engine.hpp>
#include <string>
#include <vector>

#include "../messages.hpp"
#include "arrays.hpp"

namespace {

namespace mx = ::mlx::core;
namespace init = espalier::init;
using espalier::initialize;
using espalier::random_key;

struct moments {
  float mean, std, min, max;
};
moments moments_of(const mx::array& a) {
  return {mx::mean(a).item<float>(), mx::sqrt(mx::var(a)).item<float>(), mx::min(a).item<float>(),
          mx::max(a).item<float>()};
}

// Of 200 x 300 numbers: the mean is within 5 standard errors, std / sqrt(60000).
void expect_normal(const mx::array& a, double mean, double std) {
  const moments m = moments_of(a);
  EXPECT_NEAR(m.mean, mean, 5 * std / 244);
  EXPECT_NEAR(m.std, std, 0.015 * std);
  EXPECT_GT(m.max, mean + 3 * std);
}
void expect_uniform(const mx::array& a, double low, double high) {
  const moments m = moments_of(a);
  const double std = (high - low) / std::sqrt(12);
  EXPECT_NEAR(m.mean, (low + high) / 2, 5 * std / 244);
  EXPECT_NEAR(m.std, std, 0.015 * std);
  EXPECT_GE(m.min, low * 1.000001);
  EXPECT_LE(m.max, high * 1.000001);
}

const mx::array wide = mx::zeros({200, 300});  // 300 in, 200 out
const random_key key(3);

TEST(Init, Distributions) {
  expect_normal(init::normal(2, 0.5)(key, wide), 2, 0.5);
  expect_uniform(init::uniform(-1, 3)(key, wide), -1, 3);
  expect_normal(init::glorot_normal(2)(key, wide), 0, 2 * std::sqrt(2.0 / 500));
  expect_uniform(init::glorot_uniform()(key, wide), -std::sqrt(6.0 / 500), std::sqrt(6.0 / 500));
  expect_normal(init::he_normal()(key, wide), 0, 1 / std::sqrt(300.0));
  expect_normal(init::he_normal(init::fan::out, 2)(key, wide), 0, 2 / std::sqrt(200.0));
  expect_uniform(init::he_uniform(init::fan::out)(key, wide), -std::sqrt(3.0 / 200), std::sqrt(3.0 / 200));
  expect_equal(init::constant(0.5)(key, mx::zeros({2})), mx::array({0.5f, 0.5f}));
  expect_equal(init::zeros()(key, mx::ones({2})), mx::zeros({2}));
  expect_equal(init::ones()(key, mx::zeros({2})), mx::ones({2}));
}

// A convolution's weight, [out, height, width, in], has the receptive field in both fans.
TEST(Init, FansOfAConvolution) {
  const mx::array weight = mx::zeros({50, 3, 4, 100});
  expect_normal(init::he_normal()(key, weight), 0, 1 / std::sqrt(1200.0));
  expect_normal(init::glorot_normal()(key, weight), 0, std::sqrt(2.0 / 1800));
}

TEST(Init, OrthogonalRowsOrColumns) {
  const mx::array tall = init::orthogonal(2)(key, mx::zeros({5, 3}));
  ASSERT_EQ(tall.shape(), (mx::Shape{5, 3}));
  // Of a square matrix, 5 x 5, of which columns were cut off: the rest are orthonormal.
  expect_near(mx::matmul(mx::transpose(tall), tall), mx::eye(3) * mx::array(4.0f), 1e-5);
  const mx::array broad = init::orthogonal()(key, mx::zeros({3, 5}));
  expect_near(mx::matmul(broad, mx::transpose(broad)), mx::eye(3), 1e-5);
}

TEST(Init, KeepsShapesAndDtypes) {
  for (const auto& a : {init::glorot_uniform()(key, mx::zeros({4, 2}, mx::bfloat16)),
                        init::normal()(key, mx::zeros({4, 2}, mx::bfloat16)),
                        init::orthogonal()(key, mx::zeros({4, 2}, mx::bfloat16))}) {
    EXPECT_EQ(a.dtype(), mx::bfloat16);
    EXPECT_EQ(a.shape(), (mx::Shape{4, 2}));
  }
}

struct layer {
  mx::array weight;
  mx::array bias;
};
struct net {
  std::vector<layer> layers;
  std::string name;
  mx::array table;
};
net make_net() {
  return {{{mx::zeros({3, 2}), mx::ones({3})}, {mx::zeros({3, 2}), mx::ones({3})}}, "net", mx::array({1, 2})};
}
const auto usual = init::matrices(init::glorot_uniform(), init::zeros());

TEST(Initialize, EachParameterHasItsOwnKey) {
  const net n = initialize(usual, key, make_net());
  const auto keys = espalier::split<4>(key);  // weight, bias, weight, bias
  expect_equal(n.layers[0].weight, init::glorot_uniform()(keys[0], mx::zeros({3, 2})));
  expect_equal(n.layers[1].weight, init::glorot_uniform()(keys[2], mx::zeros({3, 2})));
  expect_equal(n.layers[1].bias, mx::zeros({3}));
  EXPECT_EQ(n.name, "net");
  expect_equal(n.table, mx::array({1, 2}));
}

TEST(Initialize, TheSameSeedGivesTheSameValuesCompiledOrNot) {
  const net plain = initialize(usual, key, make_net());
  auto compiled = espalier::compile([](const random_key& k, const net& like) {
    return initialize(init::matrices(init::glorot_uniform(), init::zeros()), k, like);
  });
  for (int i = 0; i < 2; ++i) {
    const net n = compiled(key, make_net());
    expect_near(n.layers[0].weight, plain.layers[0].weight, 1e-6);
    expect_near(n.layers[1].weight, plain.layers[1].weight, 1e-6);
  }
  EXPECT_EQ(compiled.stats().traces, 1u);
}

TEST(Initialize, ByPath) {
  const net n = initialize(
      [](const espalier::path_view& path, const random_key& k, const mx::array& a) {
        return path.back().name == "bias" ? init::constant(7)(k, a) : init::ones()(k, a);
      },
      key, make_net());
  expect_equal(n.layers[1].bias, mx::full({3}, 7.0f));
  expect_equal(n.layers[0].weight, mx::ones({3, 2}));
}

TEST(Initialize, NamesWhatAnInitialiserCannotFill) {
  const auto message = message_of<espalier::random_error>([&] { initialize(init::he_normal(), key, make_net()); });
  expect_in_order(message, {"he_normal", "at least 2 dimensions", "float32[3]", "init::matrices", ".layers[0].bias"});
  EXPECT_THROW(init::orthogonal()(key, mx::zeros({2, 2, 2})), espalier::random_error);
}

}  // namespace
