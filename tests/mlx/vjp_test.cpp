#include <espalier/mlx/vjp.hpp>

#include <gtest/gtest.h>
#include <mlx/mlx.h>

#include <espalier/mlx/engine.hpp>
#include <espalier/mlx/grad.hpp>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "../messages.hpp"
#include "arrays.hpp"

namespace {

namespace mx = ::mlx::core;

struct outputs {
  mx::array y;
  int count;
  std::vector<mx::array> more;
};

TEST(Vjp, CotangentsOfTheArgumentsHaveTheirTypes) {
  const network net = make_network();
  const mx::array x({3.0f, 4.0f});
  const auto [value, pullback] = espalier::vjp(network_output, net, x);
  static_assert(std::is_same_v<decltype(value), const mx::array>);
  expect_equal(value, mx::array({34.5f}));
  const auto [of_net, of_x] = pullback(mx::array({2.0f}));
  static_assert(std::is_same_v<decltype(of_net), const network>);
  static_assert(std::is_same_v<decltype(of_x), const mx::array>);
  expect_equal(of_net.layers[0].weight, mx::array({18.0f, 24.0f}));  // 2 * 3 x
  expect_equal(*of_net.layers[0].bias, mx::array(6.0f));
  expect_equal(of_net.layers[1].weight, mx::array({23.0f}));
  expect_equal(of_x, mx::array({6.0f, 12.0f}));
  EXPECT_EQ(of_net.name, "net");
  EXPECT_EQ(of_net.table.id(), net.table.id());
}

TEST(Vjp, APullbackIsLinearAndCanBeAskedAgain) {
  int runs = 0;
  const auto [value, pullback] = espalier::vjp(
      [&](const mx::array& x) {
        ++runs;
        return mx::exp(x) * x;
      },
      mx::array({0.0f, 1.0f}));
  const float e = 2.7182817f;  // d/dx x e^x = (1 + x) e^x
  expect_near(pullback(mx::array({1.0f, 1.0f})), mx::array({1.0f, 2 * e}));
  expect_near(value, mx::array({0.0f, e}));  // evaluated, and asked again
  expect_near(pullback(mx::array({3.0f, -1.0f})), mx::array({3.0f, -2 * e}));
  EXPECT_EQ(runs, 1);
}

TEST(Vjp, ValuesAreAnyTrees) {
  const auto f = [](const mx::array& x) { return outputs{x * x, 7, {x, x, mx::stop_gradient(x), mx::array({1, 2})}}; };
  const auto [value, pullback] = espalier::vjp(f, mx::array({5.0f}));
  EXPECT_EQ(value.count, 7);
  const auto cotangent = [](float y, float a, float b, float c) {
    return outputs{mx::array({y}), 0, {mx::array({a}), mx::array({b}), mx::array({c}), mx::array({0, 0})}};
  };
  // 10 y + a + b: an array that is returned twice, and one that is stopped.
  expect_equal(pullback(cotangent(1, 2, 4, 100)), mx::array({16.0f}));
  expect_equal(pullback(cotangent(0, 0, 1, 0)), mx::array({1.0f}));
}

TEST(Vjp, OperationsWithSeveralOutputs) {
  const auto f = [](const mx::array& x) {
    const std::vector<mx::array> parts = mx::split(x * x, 2);
    return parts[0] * parts[1];
  };
  const auto [value, pullback] = espalier::vjp(f, mx::array({2.0f, 3.0f}));
  expect_equal(value, mx::array({36.0f}));
  expect_equal(pullback(mx::array({1.0f})), mx::array({36.0f, 24.0f}));
  expect_equal(pullback(mx::array({0.5f})), mx::array({18.0f, 12.0f}));
}

TEST(Vjp, AGradientGoesThroughThePullback) {
  // The pullback of x^3 at (x, g) is 3 x^2 g: by x 6 x g, by g 3 x^2.
  const auto of = [](const mx::array& x, const mx::array& g) {
    return espalier::vjp([](const mx::array& y) { return y * y * y; }, x).pullback(g);
  };
  const auto [by_x, by_g] = espalier::grad<0, 1>(of)(mx::array(2.0f), mx::array(5.0f));
  expect_equal(by_x, mx::array(60.0f));
  expect_equal(by_g, mx::array(12.0f));
}

TEST(Vjp, WorksInsideACompiledFunctionAndVmap) {
  static constexpr auto of = [](const mx::array& x, const mx::array& g) {
    return espalier::vjp([](const mx::array& y) { return y * y * y; }, x).pullback(g);
  };
  auto compiled = espalier::compile([](const mx::array& x, const mx::array& g) { return of(x, g); });
  expect_equal(compiled(mx::array({2.0f}), mx::array({5.0f})), mx::array({60.0f}));
  expect_equal(compiled(mx::array({1.0f}), mx::array({1.0f})), mx::array({3.0f}));
  const auto each = mx::vmap([](const mx::array& x, const mx::array& g) { return of(x, g); });
  expect_equal(each(mx::array({2.0f, 1.0f}), mx::array({5.0f, 1.0f})), mx::array({60.0f, 3.0f}));
}

TEST(Vjp, ACotangentThatDoesNotFitIsNamed) {
  const auto f = [](const mx::array& x) { return outputs{x * x, 1, {x}}; };
  const auto pullback = espalier::vjp(f, mx::array({5.0f})).pullback;
  const auto wrong =
      mismatches_of([&] { pullback(outputs{mx::array({1.0f, 2.0f}), 0, {mx::array({1.0f}, mx::float16)}}); });
  ASSERT_EQ(wrong.size(), 2u);
  EXPECT_EQ(wrong[0], (espalier::mismatch{".y", "float32[1]", "float32[2]"}));
  EXPECT_EQ(wrong[1], (espalier::mismatch{".more[0]", "float32[1]", "float16[1]"}));
  EXPECT_THROW(pullback(outputs{mx::array({1.0f}), 0, {}}), espalier::structure_error);
}

}  // namespace
