#include <espalier/mlx/custom_vjp.hpp>

#include <gtest/gtest.h>
#include <mlx/mlx.h>

#include <espalier/mlx/engine.hpp>
#include <espalier/mlx/grad.hpp>
#include <espalier/mlx/vmap.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "../messages.hpp"
#include "arrays.hpp"

namespace {

namespace mx = ::mlx::core;
using espalier::custom_vjp;
using espalier::grad;

// x^2, whose derivative is said to be 10 x.
const auto square =
    custom_vjp([](const mx::array& x) { return x * x; }, [](const mx::array& x) { return std::pair(x * x, x); },
               [](const mx::array& x, const mx::array& g) { return x * g * mx::array(10.0f); });

TEST(CustomVjp, TheRuleIsTheDerivative) {
  expect_equal(square(mx::array({2.0f, 3.0f})), mx::array({4.0f, 9.0f}));
  const auto loss = [](const mx::array& x) { return mx::sum(square(x) * mx::array({1.0f, 2.0f})); };
  const auto [value, gradient] = espalier::value_and_grad(loss)(mx::array({2.0f, 3.0f}));
  expect_equal(value, mx::array(22.0f));
  expect_equal(gradient, mx::array({20.0f, 60.0f}));
}

// jax's example: numerically stable log(1 + e^x).
TEST(CustomVjp, ResidualsAreAnyTree) {
  struct residuals {
    mx::array x;
    std::string name;
    std::vector<mx::array> exp;
  };
  const auto log1pexp = custom_vjp([](const mx::array& x) { return mx::log1p(mx::exp(x)); },
                                   [](const mx::array& x) {
                                     const mx::array e = mx::exp(x);
                                     return std::pair(mx::log1p(e), residuals{x, "kept", {e}});
                                   },
                                   [](const residuals& kept, const mx::array& g) {
                                     EXPECT_EQ(kept.name, "kept");
                                     return g * (mx::array(1.0f) - mx::array(1.0f) / (mx::array(1.0f) + kept.exp[0]));
                                   });
  expect_near(grad([&](const mx::array& x) { return log1pexp(x); })(mx::array(0.0f)), mx::array(0.5f));
  expect_near(grad([&](const mx::array& x) { return log1pexp(x); })(mx::array(100.0f)), mx::array(1.0f));
}

TEST(CustomVjp, OfSeveralTrees) {
  const auto output = custom_vjp(
      network_output,
      [](const network& net, const mx::array& x) { return std::pair(network_output(net, x), std::pair(net, x)); },
      [](const std::pair<network, mx::array>& kept, const mx::array& g) {
        network of_net = kept.first;
        of_net.layers[0] = {mx::zeros({2}), mx::sum(g) * mx::array(7.0f)};
        of_net.layers[1].weight = g;
        return std::tuple(of_net, kept.second * g);
      });
  const auto loss = [&](const network& net, const mx::array& x) { return mx::sum(output(net, x)) * mx::array(2.0f); };
  const network net = make_network();
  const auto [of_net, of_x] = grad<0, 1>(loss)(net, mx::array({3.0f, 4.0f}));
  expect_equal(of_net.layers[0].weight, mx::array({0.0f, 0.0f}));
  expect_equal(*of_net.layers[0].bias, mx::array(14.0f));
  expect_equal(of_net.layers[1].weight, mx::array({2.0f}));
  expect_equal(of_x, mx::array({6.0f, 8.0f}));
  EXPECT_EQ(of_net.table.id(), net.table.id());
}

int forward_runs = 0;

TEST(CustomVjp, WithoutATransformationTheFunctionItselfRuns) {
  const auto f = custom_vjp([](const mx::array& x) { return x; },
                            [](const mx::array& x) {
                              ++forward_runs;
                              return std::pair(x, std::tuple<>());
                            },
                            [](std::tuple<>, const mx::array& g) { return g; });
  (void)f(mx::array(1.0f));
  EXPECT_EQ(forward_runs, 0);
  expect_equal(grad(f)(mx::array(1.0f)), mx::array(1.0f));
  EXPECT_EQ(forward_runs, 1);
}

TEST(CustomVjp, TheRuleHoldsUnderVmapOnBothSides) {
  const auto of_batch = [](const mx::array& x) { return mx::sum(espalier::vmap(square)(x)); };
  expect_equal(grad(of_batch)(mx::array({2.0f, 3.0f})), mx::array({20.0f, 30.0f}));
  expect_equal(espalier::vmap(grad([](const mx::array& x) { return square(x); }))(mx::array({2.0f, 3.0f})),
               mx::array({20.0f, 30.0f}));
  // What all examples share gets the sum: of w x with the rule (10 x, 100 w).
  const auto product =
      custom_vjp([](const mx::array& w, const mx::array& x) { return w * x; },
                 [](const mx::array& w, const mx::array& x) { return std::pair(w * x, std::pair(w, x)); },
                 [](const std::pair<mx::array, mx::array>& kept, const mx::array& g) {
                   return std::tuple(kept.second * g * mx::array(10.0f), kept.first * g * mx::array(100.0f));
                 });
  const auto of_all = [&](const mx::array& w, const mx::array& x) {
    return mx::sum(espalier::vmap(product, std::tuple(std::nullopt, 0))(w, x));
  };
  const auto [by_w, by_x] = grad<0, 1>(of_all)(mx::array(2.0f), mx::array({3.0f, 5.0f}));
  expect_equal(by_w, mx::array(80.0f));
  expect_equal(by_x, mx::array({200.0f, 200.0f}));
}

TEST(CustomVjp, WorksInsideACompiledFunction) {
  auto compiled = espalier::compile([](const mx::array& x) {
    const auto inner =
        custom_vjp([](const mx::array& y) { return y * y; }, [](const mx::array& y) { return std::pair(y * y, y); },
                   [](const mx::array& y, const mx::array& g) { return y * g * mx::array(10.0f); });
    return espalier::value_and_grad([=](const mx::array& y) { return mx::sum(inner(y)); })(x).gradient;
  });
  for (const float v : {2.0f, 3.0f}) expect_equal(compiled(mx::array({v})), mx::array({10 * v}));
  EXPECT_EQ(compiled.stats().traces, 1u);
}

TEST(CustomVjp, ACotangentOfAnotherShapeIsNamed) {
  const auto f = custom_vjp([](const linear& l) { return mx::sum(l.weight); },
                            [](const linear& l) { return std::pair(mx::sum(l.weight), l); },
                            [](const linear& l, const mx::array& g) { return linear{g, l.bias}; });
  const auto wrong = mismatches_of([&] { grad(f)(linear{mx::array({1.0f, 2.0f}), std::nullopt}); });
  ASSERT_EQ(wrong.size(), 1u);
  EXPECT_EQ(wrong[0], (espalier::mismatch{".weight", "float32[2]", "float32[]"}));
}

}  // namespace
