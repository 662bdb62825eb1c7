#include <espalier/mlx/scan.hpp>

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
using espalier::scan;

struct state {
  mx::array total;
  int steps;
};

const auto add = [](state s, const mx::array& x) {
  s.total = s.total + x;
  ++s.steps;
  mx::array y = s.total * s.total;
  return std::pair(std::move(s), std::move(y));
};

TEST(Scan, CarriesAStateAndStacksOutputs) {
  const auto [last, ys] = scan(add, state{mx::array(10.0f), 0}, mx::array({1.0f, 2.0f, 3.0f}));
  static_assert(std::is_same_v<decltype(last), const state>);
  expect_equal(last.total, mx::array(16.0f));
  EXPECT_EQ(last.steps, 3);
  expect_equal(ys, mx::array({121.0f, 169.0f, 256.0f}));
}

TEST(Scan, OverTrees) {
  struct step_input {
    mx::array x;
    std::vector<mx::array> more;
    float factor;
  };
  const auto f = [](const mx::array& carry, const step_input& in) {
    return std::pair(carry + in.x * mx::array(in.factor), std::tuple(in.more[0], carry, std::string("text")));
  };
  const step_input xs{mx::array({1.0f, 2.0f}), {mx::array({1, 2, 3, 4}, {2, 2})}, 2.0f};
  const auto [last, ys] = scan(f, mx::array(0.0f), xs);
  expect_equal(last, mx::array(6.0f));
  expect_equal(std::get<0>(ys), xs.more[0]);
  expect_equal(std::get<1>(ys), mx::array({0.0f, 2.0f}));
  EXPECT_EQ(std::get<2>(ys), "text");
}

// The derivative of (x_1 + x_2)^2 + x_1^2.
TEST(Scan, GradientsGoThrough) {
  const auto loss = [](const mx::array& x) { return mx::sum(scan(add, state{mx::array(0.0f), 0}, x).outputs); };
  expect_equal(espalier::grad(loss)(mx::array({3.0f, 5.0f})), mx::array({22.0f, 16.0f}));
}

TEST(Scan, WorksInsideACompiledFunction) {
  auto compiled = espalier::compile([](const mx::array& x) { return scan(add, state{mx::array(0.0f), 0}, x).outputs; });
  expect_equal(compiled(mx::array({1.0f, 2.0f})), mx::array({1.0f, 9.0f}));
  expect_equal(compiled(mx::array({2.0f, 3.0f})), mx::array({4.0f, 25.0f}));
}

TEST(Scan, OfLengthZero) {
  const auto [last, ys] = scan(add, state{mx::array(10.0f), 5}, mx::zeros({0}));
  expect_equal(last.total, mx::array(10.0f));
  EXPECT_EQ(last.steps, 5);
  expect_equal(ys, mx::zeros({0}));
}

TEST(Scan, ACarryThatChangesItsShapeIsNamed) {
  const auto grow = [](const std::vector<mx::array>& c, const mx::array& x) {
    return std::pair(std::vector{c[0], mx::concatenate({c[1], mx::reshape(x, {1})})}, x);
  };
  const auto wrong =
      mismatches_of([&] { scan(grow, std::vector{mx::array(0.0f), mx::array({1.0f})}, mx::array({1.0f, 2.0f})); });
  ASSERT_EQ(wrong.size(), 1u);
  EXPECT_EQ(wrong[0], (espalier::mismatch{"[1]", "float32[1]", "float32[2]"}));
  const auto longer = [](std::vector<mx::array> c, const mx::array& x) {
    c.push_back(x);
    return std::pair(c, x);
  };
  EXPECT_THROW(scan(longer, std::vector<mx::array>{}, mx::array({1.0f})), espalier::structure_error);
}

TEST(Scan, LengthsThatDifferAreNamed) {
  const auto f = [](const mx::array& c, const std::vector<mx::array>& x) { return std::pair(c + x[0], x[1]); };
  const auto message = message_of<espalier::scan_error>(
      [&] { scan(f, mx::array(0.0f), std::vector{mx::zeros({2}), mx::zeros({3, 1}), mx::array(1.0f)}); });
  expect_in_order(message, {"length 2", "[1]: float32[3, 1]", "[2]: float32[]"});
}

}  // namespace
