#include <gtest/gtest.h>
#include <mlx/mlx.h>

#include <array>
#include <complex>
#include <espalier/aux.hpp>
#include <espalier/equal.hpp>
#include <espalier/mlx/grad.hpp>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "../messages.hpp"

namespace {

namespace mx = ::mlx::core;

struct linear {
  mx::array weight;
  std::optional<mx::array> bias;
  espalier::aux<int> groups = 1;
};

struct model {
  std::vector<linear> layers;
  std::string name;
  int width;
  double scale;     // beside arrays, a double is no parameter
  mx::array table;  // of integers
};

model make_model() {
  model m{.layers = {}, .name = "net", .width = 3, .scale = 0.5, .table = mx::array({1, 2, 3})};
  m.layers.push_back(linear{.weight = mx::array({1.0f, 2.0f, 3.0f}), .bias = mx::array(0.5f), .groups = 2});
  m.layers.push_back(linear{.weight = mx::array({-1.0f, 0.0f, 4.0f}), .bias = std::nullopt, .groups = 3});
  return m;
}

// sum(w0 ^ 2) + 3 b0 + sum(table w1): the gradient is 2 w0, 3, table.
mx::array loss_of_model(const model& m) {
  return mx::sum(mx::square(m.layers[0].weight)) + mx::array(3.0f) * *m.layers[0].bias +
         mx::sum(m.table * m.layers[1].weight);
}

void expect_equal(const mx::array& got, const mx::array& expected) {
  EXPECT_EQ(got.dtype(), expected.dtype());
  ASSERT_EQ(got.shape(), expected.shape());
  EXPECT_TRUE(mx::array_equal(got, expected).item<bool>()) << got << expected;
}

void expect_model_gradient(const model& gradient) {
  expect_equal(gradient.layers[0].weight, mx::array({2.0f, 4.0f, 6.0f}));
  expect_equal(*gradient.layers[0].bias, mx::array(3.0f));
  expect_equal(gradient.layers[1].weight, mx::array({1.0f, 2.0f, 3.0f}));
}

TEST(ValueAndGrad, GradientHasTheTypeOfTheArgument) {
  const model m = make_model();
  auto [value, gradient] = espalier::value_and_grad(loss_of_model)(m);
  static_assert(std::is_same_v<decltype(value), mx::array>);
  static_assert(std::is_same_v<decltype(gradient), model>);
  EXPECT_EQ(value.item<float>(), 14.0f + 1.5f + 11.0f);
  expect_model_gradient(gradient);
}

TEST(ValueAndGrad, WhatIsNoParameterIsTheArgumentsOwn) {
  const model m = make_model();
  const model gradient = espalier::grad(loss_of_model)(m);
  EXPECT_EQ(gradient.name, "net");
  EXPECT_EQ(gradient.width, 3);
  EXPECT_EQ(gradient.scale, 0.5);
  EXPECT_EQ(gradient.table.id(), m.table.id());
  EXPECT_EQ(*gradient.layers[0].groups, 2);
  EXPECT_FALSE(gradient.layers[1].bias.has_value());
}

TEST(ValueAndGrad, LeavesTheArgumentAlone) {
  const model m = make_model();
  const auto id = m.layers[0].weight.id();
  (void)espalier::grad(loss_of_model)(m);
  EXPECT_EQ(m.layers[0].weight.id(), id);
  EXPECT_TRUE(espalier::tree_equal(m, make_model()));
}

// CASES 20.
TEST(ValueAndGrad, SeveralGradientsComeInTheOrderAsked) {
  struct left {
    mx::array a;
  };
  struct right {
    mx::array b;
  };
  const auto f = [](const left& l, const mx::array& x, right r) { return mx::sum(l.a * x * r.b); };
  const left l{mx::array({2.0f})};
  const right r{mx::array({5.0f})};
  const auto [value, gradient] = espalier::value_and_grad<2, 0>(f)(l, mx::array({3.0f}), r);
  static_assert(std::is_same_v<decltype(gradient), const std::tuple<right, left>>);
  expect_equal(std::get<0>(gradient).b, mx::array({6.0f}));
  expect_equal(std::get<1>(gradient).a, mx::array({15.0f}));

  const std::tuple<right> one{espalier::grad<2>(f)(l, mx::array({3.0f}), r)};
  expect_equal(std::get<0>(one).b, mx::array({6.0f}));
  expect_equal(espalier::grad<1>(f)(l, mx::array({3.0f}), r), mx::array({10.0f}));
}

TEST(ValueAndGrad, AuxOutputsAreAnyTrees) {
  struct report {
    mx::array predictions;
    std::string text;
    int count;
    std::unique_ptr<mx::array> owned;
  };
  const auto f = [](const mx::array& w) {
    mx::array y = w * mx::array(2.0f);
    mx::array loss = mx::sum(y);
    return std::tuple(std::move(loss), report{y, "ok", 7, std::make_unique<mx::array>(y + y)}, 1.5);
  };
  auto [value, gradient] = espalier::value_and_grad(f)(mx::array({1.0f, 2.0f}));
  auto& [loss, aux, number] = value;
  static_assert(std::is_same_v<std::remove_reference_t<decltype(aux)>, report>);
  EXPECT_EQ(loss.item<float>(), 6.0f);
  expect_equal(aux.predictions, mx::array({2.0f, 4.0f}));
  expect_equal(*aux.owned, mx::array({4.0f, 8.0f}));
  EXPECT_EQ(aux.text, "ok");
  EXPECT_EQ(aux.count, 7);
  EXPECT_EQ(number, 1.5);
  expect_equal(gradient, mx::array({2.0f, 2.0f}));

  const auto g = [](const mx::array& w) { return std::pair(mx::sum(w), std::vector<int>{1, 2}); };
  EXPECT_EQ(espalier::value_and_grad(g)(mx::array({1.0f})).value.second, (std::vector<int>{1, 2}));
  expect_equal(espalier::grad(g)(mx::array({1.0f})), mx::array({1.0f}));
}

struct functor {
  float factor;
  mx::array operator()(const mx::array& x) const { return mx::sum(x * mx::array(factor)); }
};

TEST(ValueAndGrad, AllKindsOfCallables) {
  const mx::array x({1.0f, 2.0f});
  const mx::array captured({3.0f, 4.0f});
  expect_equal(espalier::grad([captured](mx::array y) { return mx::sum(y * captured); })(x), captured);
  expect_equal(espalier::grad([](const auto& y) { return mx::sum(mx::square(y)); })(x), mx::array({2.0f, 4.0f}));
  expect_equal(espalier::grad([](auto&& y) { return mx::sum(y); })(x), mx::array({1.0f, 1.0f}));
  expect_equal(espalier::grad([](auto... y) { return (mx::sum(y) + ...); })(x, x), mx::array({1.0f, 1.0f}));
  expect_equal(espalier::grad(functor{3.0f})(x), mx::array({3.0f, 3.0f}));
  int calls = 0;
  auto counted = espalier::grad([&calls, own = 0](const mx::array& y) mutable {
    calls = ++own;
    return mx::sum(y);
  });
  (void)counted(x);
  (void)counted(x);
  EXPECT_EQ(calls, 2);
}

TEST(ValueAndGrad, OtherArgumentsArriveAsTheyWerePassed) {
  int steps = 0;
  const auto f = [](const mx::array& x, int& n, std::unique_ptr<int> owned) {
    n += *owned;
    return mx::sum(x);
  };
  (void)espalier::grad(f)(mx::array({1.0f}), steps, std::make_unique<int>(4));
  EXPECT_EQ(steps, 4);
}

TEST(ValueAndGrad, TheSameArrayInTwoLeavesIsTwoParameters) {
  const mx::array x({2.0f});
  const auto f = [](const std::pair<mx::array, mx::array>& p) { return mx::sum(mx::square(p.first) * p.second); };
  const auto gradient = espalier::grad(f)(std::pair(x, x));
  expect_equal(gradient.first, mx::array({8.0f}));
  expect_equal(gradient.second, mx::array({4.0f}));
}

TEST(ValueAndGrad, AnUnusedParameterHasGradientZero) {
  const auto f = [](const std::array<mx::array, 2>& p) { return mx::sum(p[0]); };
  const auto gradient = espalier::grad(f)(std::array{mx::array({1.0f}), mx::array({5.0f, 6.0f})});
  expect_equal(gradient[1], mx::array({0.0f, 0.0f}));
}

TEST(ValueAndGrad, GradientsKeepThePrecisionOfTheirParameters) {
  const auto f = [](const std::pair<mx::array, mx::array>& p) {
    return mx::sum(mx::square(p.first)) + mx::astype(mx::sum(p.second), mx::float16);
  };
  const auto gradient =
      espalier::grad(f)(std::pair(mx::array({1.0f, 2.0f}, mx::float16), mx::array({1.0f, 2.0f}, mx::bfloat16)));
  expect_equal(gradient.first, mx::array({2.0f, 4.0f}, mx::float16));
  expect_equal(gradient.second, mx::array({1.0f, 1.0f}, mx::bfloat16));
}

// d/dx x^3 = 3 x^2, d2/dx2 = 6 x, d3/dx3 = 6.
TEST(ValueAndGrad, Nests) {
  const auto cube = [](const mx::array& x) { return x * x * x; };
  const auto first = [&](const mx::array& x) { return espalier::grad(cube)(x); };
  const auto second = [&](const mx::array& x) { return espalier::grad(first)(x); };
  expect_equal(first(mx::array(2.0f)), mx::array(12.0f));
  expect_equal(second(mx::array(2.0f)), mx::array(12.0f));
  expect_equal(espalier::grad(second)(mx::array(2.0f)), mx::array(6.0f));

  // The norm of a gradient as a loss: sum((2 w)^2) has gradient 8 w.
  const auto penalty = [](const std::map<std::string, mx::array>& w) {
    const auto g =
        espalier::grad([](const std::map<std::string, mx::array>& v) { return mx::sum(mx::square(v.at("w"))); })(w);
    return mx::sum(mx::square(g.at("w")));
  };
  expect_equal(espalier::grad(penalty)(std::map<std::string, mx::array>{{"w", mx::array({1.0f, 3.0f})}}).at("w"),
               mx::array({8.0f, 24.0f}));
}

// As jax.grad with has_aux: of x^2 beside aux x^3, the aux output has derivative 3 x^2.
TEST(ValueAndGrad, AnOuterGradientGoesThroughValueAndAux) {
  const auto inner = [](const mx::array& x) { return std::pair(x * x, x * x * x); };
  const auto by_aux = [&](const mx::array& x) { return espalier::value_and_grad(inner)(x).value.second; };
  const auto by_value = [&](const mx::array& x) { return espalier::value_and_grad(inner)(x).value.first; };
  expect_equal(espalier::grad(by_aux)(mx::array(2.0f)), mx::array(12.0f));
  expect_equal(espalier::grad(by_value)(mx::array(2.0f)), mx::array(4.0f));
}

TEST(ValueAndGrad, WorksInsideMlxCompileAndVmap) {
  const auto step = mx::compile([](const std::vector<mx::array>& in) {
    const auto f = [](const linear& l, const mx::array& x) {
      mx::array y = mx::sum(l.weight * x) + *l.bias;
      return std::pair(y * y, y);
    };
    auto [value, g] = espalier::value_and_grad(f)(linear{.weight = in[0], .bias = in[1]}, in[2]);
    return std::vector<mx::array>{value.first, value.second, g.weight, *g.bias};
  });
  for (const float bias : {1.0f, 2.0f}) {
    const auto out = step({mx::array({1.0f, 2.0f}), mx::array(bias), mx::array({3.0f, 4.0f})});
    const float y = 11.0f + bias;
    expect_equal(out[0], mx::array(y * y));
    expect_equal(out[1], mx::array(y));
    expect_equal(out[2], mx::array({6.0f * y, 8.0f * y}));
    expect_equal(out[3], mx::array(2.0f * y));
  }
  const auto each =
      mx::vmap([](const mx::array& x) { return espalier::grad([](const mx::array& y) { return y * y; })(x); });
  expect_equal(each(mx::array({1.0f, 2.0f, 3.0f})), mx::array({2.0f, 4.0f, 6.0f}));
}

TEST(ValueAndGrad, ALossThatIsNoScalarIsNamed) {
  const auto same = [](const mx::array& x) { return x; };
  EXPECT_TRUE(contains(message_of<espalier::gradient_error>([&] { espalier::grad(same)(mx::array({1.0f, 2.0f})); }),
                       "float32[2]"));
  EXPECT_TRUE(contains(message_of<espalier::gradient_error>([&] { espalier::grad(same)(mx::zeros({1, 1})); }),
                       "float32[1, 1]"));
  const auto integer = [](const mx::array& x) { return mx::sum(mx::astype(x, mx::int32)); };
  EXPECT_TRUE(
      contains(message_of<espalier::gradient_error>([&] { espalier::grad(integer)(mx::array({1.0f})); }), "int32[]"));
  const auto complex = [](const mx::array& x) { return mx::sum(x * mx::array(std::complex<float>(0, 1))); };
  EXPECT_TRUE(contains(message_of<espalier::gradient_error>([&] { espalier::grad(complex)(mx::array({1.0f})); }),
                       "complex64[]"));
}

TEST(ValueAndGrad, AnArgumentWithoutParametersIsNamed) {
  const auto f = [](const mx::array& x, const std::vector<mx::array>&) { return mx::sum(x); };
  const auto none = message_of<espalier::gradient_error>(
      [&] { espalier::grad<0, 1>(f)(mx::array({1.0f}), std::vector<mx::array>{}); });
  EXPECT_TRUE(contains(none, "argument 1 has no parameters")) << none;
  const auto integers =
      message_of<espalier::gradient_error>([&] { espalier::grad<0>(f)(mx::array({1, 2}), std::vector<mx::array>{}); });
  EXPECT_TRUE(contains(integers, "argument 0 has no parameters")) << integers;
}

TEST(ValueAndGrad, AThrowInsideTheFunctionLeavesMlxUsable) {
  const auto thrower = [](const mx::array&) -> mx::array { throw std::out_of_range("mine"); };
  EXPECT_THROW(espalier::grad(thrower)(mx::array({1.0f})), std::out_of_range);
  expect_model_gradient(espalier::grad(loss_of_model)(make_model()));
}

}  // namespace
