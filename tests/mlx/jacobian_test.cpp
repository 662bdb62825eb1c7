#include <espalier/mlx/jacobian.hpp>

#include <gtest/gtest.h>
#include <mlx/mlx.h>

#include <espalier/mlx/engine.hpp>
#include <espalier/path.hpp>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../messages.hpp"
#include "arrays.hpp"

namespace {

namespace mx = ::mlx::core;
using namespace espalier::literals;
using espalier::hvp;
using espalier::jacfwd;
using espalier::jacrev;

// y_i = x_i x_0: dy_i/dx_j = x_0 [i = j] + x_i [j = 0].
mx::array scaled_by_first(const mx::array& x) { return x * mx::take(x, 0); }

TEST(Jacobian, OfAnArrayByAnArray) {
  const mx::array x({2.0f, 3.0f, 5.0f});
  const mx::array expected({4.0f, 0.0f, 0.0f, 3.0f, 2.0f, 0.0f, 5.0f, 0.0f, 2.0f}, {3, 3});
  expect_equal(jacrev(scaled_by_first)(x), expected);
  expect_equal(jacfwd(scaled_by_first)(x), expected);
}

// y = x w for x of shape [1, 2], w of shape [2, 3]: dy_ij/dw_kl = x_ik [j = l].
TEST(Jacobian, ShapesAreThoseOfTheValueAndThenOfTheArgument) {
  const mx::array x({2.0f, 3.0f}, {1, 2});
  const mx::array w = mx::reshape(mx::arange(6.0f), {2, 3});
  const auto f = [&](const mx::array& v) { return mx::matmul(x, v); };
  const mx::array expected = mx::reshape(x, {1, 1, 2, 1}) * mx::reshape(mx::eye(3), {1, 3, 1, 3});
  expect_equal(jacrev(f)(w), expected);
  expect_equal(jacfwd(f)(w), expected);
}

TEST(Jacobian, OfATreeByATreeHasATreeForEachArray) {
  struct point {
    mx::array x;
    mx::array y;
  };
  struct products {
    mx::array xy;
    std::vector<mx::array> squares;
  };
  const auto f = [](const point& p) { return products{p.x * p.y, {p.x * p.x, mx::sum(p.y * p.y)}}; };
  const point p{mx::array(2.0f), mx::array({3.0f, 5.0f})};
  const auto check = [](const auto& jacobian) {
    const point by_xy = jacobian["xy"_path];
    expect_equal(by_xy.x, mx::array({3.0f, 5.0f}));
    expect_equal(by_xy.y, mx::array({2.0f, 0.0f, 0.0f, 2.0f}, {2, 2}));
    expect_equal(jacobian["squares.0"_path].x, mx::array(4.0f));
    expect_equal(jacobian["squares.0"_path].y, mx::array({0.0f, 0.0f}));
    expect_equal(jacobian["squares.1"_path].x, mx::array(0.0f));
    expect_equal(jacobian["squares.1"_path].y, mx::array({6.0f, 10.0f}));
  };
#if !ESPALIER_HAS_STD_META
  check(jacrev(f)(p));
  check(jacfwd(f)(p));
#else
  (void)check;
#endif
  const point gradient = jacrev([](const point& q) { return mx::sum(q.x * q.y); })(p);
  expect_equal(gradient.x, mx::array(8.0f));
  expect_equal(gradient.y, mx::array({2.0f, 2.0f}));
}

TEST(Jacobian, OfAGradientIsTheHessian) {
  // x_0^3 + x_1^3 + x_0 x_1: 6 x on the diagonal, 1 elsewhere.
  const auto cubes = [](const mx::array& x) {
    const mx::array swapped = mx::matmul(mx::array({0.0f, 1.0f, 1.0f, 0.0f}, {2, 2}), x);
    return mx::sum(x * x * x + x * swapped * mx::array(0.5f));
  };
  const mx::array x({2.0f, 3.0f});
  const mx::array expected({12.0f, 1.0f, 1.0f, 18.0f}, {2, 2});
  expect_near(jacrev(espalier::grad(cubes))(x), expected);
  expect_near(jacfwd(jacrev(cubes))(x), expected);
}

TEST(Jacobian, OfIntegersIsAnError) {
  const auto f = [](const mx::array& x) { return mx::astype(x, mx::int32); };
  EXPECT_THROW(jacrev(f)(mx::array({1.0f})), espalier::gradient_error);
}

using parameters = std::map<std::string, mx::array>;

// a^2 b with a = 2, b = 3: the Hessian is (2 b, 2 a; 2 a, 0).
mx::array product(const parameters& p) { return mx::sum(p.at("a") * p.at("a") * p.at("b")); }

TEST(Hvp, IsTheHessianTimesTheDirection) {
  const parameters p{{"a", mx::array({2.0f})}, {"b", mx::array({3.0f})}};
  const parameters direction{{"a", mx::array({10.0f})}, {"b", mx::array({1.0f})}};
  const parameters found = hvp(product, p, direction);
  expect_equal(found.at("a"), mx::array({6.0f * 10 + 4.0f}));
  expect_equal(found.at("b"), mx::array({40.0f}));
  auto compiled = espalier::compile([](const parameters& q, const parameters& d) { return hvp(product, q, d); });
  for (int i = 0; i < 2; ++i) expect_equal(compiled(p, direction).at("a"), mx::array({64.0f}));
}

// Where MLX has no derivative of the derivative forward.
TEST(Hvp, OfAnEmbedding) {
  const mx::array tokens({1, 0, 1});
  const auto loss = [&](const mx::array& table) {
    const mx::array rows = mx::take(table, tokens, 0);
    return mx::sum(rows * rows * rows);
  };
  const mx::array table({1.0f, 2.0f, 3.0f}, {3, 1});
  expect_equal(hvp(loss, table, mx::ones({3, 1})), mx::array({6.0f, 24.0f, 0.0f}, {3, 1}));
}

}  // namespace
