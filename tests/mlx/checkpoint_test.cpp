#include <espalier/mlx/checkpoint.hpp>

#include <gtest/gtest.h>
#include <mlx/mlx.h>

#include <espalier/mlx/engine.hpp>
#include <espalier/mlx/grad.hpp>
#include <espalier/mlx/jvp.hpp>
#include <espalier/mlx/vmap.hpp>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"

namespace {

namespace mx = ::mlx::core;
using espalier::checkpoint;

int runs = 0;

std::pair<mx::array, std::string> counted(const network& net, const mx::array& x) {
  ++runs;
  return {mx::exp(network_output(net, x)), net.name};
}

TEST(Checkpoint, GivesWhatTheFunctionGives) {
  runs = 0;
  const auto [y, name] = checkpoint(counted)(make_network(), mx::array({0.0f, 0.0f}));
  expect_near(y, mx::array({4.4816891f}));  // e^1.5
  EXPECT_EQ(name, "net");
  EXPECT_EQ(runs, 1);
}

TEST(Checkpoint, RunsAgainForTheDerivative) {
  runs = 0;
  const auto loss = [](const network& net) { return mx::sum(checkpoint(counted)(net, mx::array({0.0f, 0.0f})).first); };
  const auto [value, gradient] = espalier::value_and_grad(loss)(make_network());
  EXPECT_EQ(runs, 2);
  expect_near(*gradient.layers[0].bias, mx::array(3 * 4.4816891f));
  expect_near(gradient.layers[1].weight, mx::array({0.5f * 4.4816891f}));
  expect_equal(gradient.layers[0].weight, mx::array({0.0f, 0.0f}));
}

// As plain as it may be, MLX's checkpoint would differentiate by the tokens.
TEST(Checkpoint, TakesIntegerArrays) {
  const auto look_up = [](const mx::array& table, const mx::array& tokens) {
    return mx::square(mx::take(table, tokens));
  };
  const auto loss = [&](const mx::array& table, const mx::array& tokens) {
    return mx::sum(checkpoint(look_up)(table, tokens));
  };
  expect_equal(espalier::grad(loss)(mx::array({1.0f, 2.0f, 3.0f}), mx::array({2, 0, 2})),
               mx::array({2.0f, 0.0f, 12.0f}));
}

TEST(Checkpoint, WorksInsideACompiledFunctionAndVmap) {
  const auto cube = [](const mx::array& x) { return x * x * x; };
  auto compiled = espalier::compile([](const mx::array& x) {
    static constexpr auto inner = [](const mx::array& y) { return y * y * y; };
    return espalier::grad([](const mx::array& y) { return mx::sum(checkpoint(inner)(y)); })(x);
  });
  for (const float v : {2.0f, 3.0f}) expect_equal(compiled(mx::array({v})), mx::array({3 * v * v}));
  const auto gradient = espalier::grad([&](const mx::array& x) { return checkpoint(cube)(x); });
  expect_equal(espalier::vmap(gradient)(mx::array({2.0f, 3.0f})), mx::array({12.0f, 27.0f}));
  expect_equal(espalier::grad(gradient)(mx::array(2.0f)), mx::array(12.0f));
  expect_equal(espalier::jvp(gradient, mx::array(2.0f), mx::array(1.0f)).tangent, mx::array(12.0f));
  const auto of_batch = [&](const mx::array& x) { return mx::sum(espalier::vmap(checkpoint(cube))(x)); };
  expect_equal(espalier::grad(of_batch)(mx::array({2.0f, 3.0f})), mx::array({12.0f, 27.0f}));
}

}  // namespace
