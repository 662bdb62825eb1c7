#include <espalier/mlx/jvp.hpp>

#include <gtest/gtest.h>
#include <mlx/mlx.h>

#include <espalier/mlx/engine.hpp>
#include <espalier/mlx/grad.hpp>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "../messages.hpp"
#include "arrays.hpp"

namespace {

namespace mx = ::mlx::core;

TEST(Jvp, TheTangentHasTheTypeOfTheValue) {
  const auto f = [](const mx::array& x) { return std::tuple(x * x, 7, mx::array({1, 2})); };
  const auto [value, tangent] = espalier::jvp(f, mx::array({2.0f, 3.0f}), mx::array({10.0f, 1.0f}));
  static_assert(std::is_same_v<decltype(value), decltype(tangent)>);
  expect_equal(std::get<0>(value), mx::array({4.0f, 9.0f}));
  expect_equal(std::get<0>(tangent), mx::array({40.0f, 6.0f}));
  EXPECT_EQ(std::get<1>(tangent), 7);
  expect_equal(std::get<2>(tangent), mx::array({1, 2}));
}

TEST(Jvp, OfSeveralArguments) {
  const network net = make_network();
  network direction = make_network();  // 2 in the bias alone
  direction.layers[0] = {mx::array({0.0f, 0.0f}), mx::array(2.0f)};
  direction.layers[1].weight = mx::array({0.0f});
  const auto [value, tangent] = espalier::jvp(network_output, std::tuple(net, mx::array({3.0f, 4.0f})),
                                              std::tuple(direction, mx::array({1.0f, 0.0f})));
  expect_equal(value, mx::array({34.5f}));
  expect_equal(tangent, mx::array({3.0f * 2.0f + 3.0f * 1.0f}));
}

TEST(Jvp, AnArgumentThatIsATupleStandsInOne) {
  const auto f = [](const std::tuple<mx::array, mx::array>& p) { return std::get<0>(p) * std::get<1>(p); };
  const std::tuple p(mx::array(2.0f), mx::array(3.0f));
  using Arguments = std::tuple<std::tuple<mx::array, mx::array>>;
  expect_equal(espalier::jvp(f, Arguments(p), Arguments(std::tuple(mx::array(1.0f), mx::array(0.0f)))).tangent,
               mx::array(3.0f));
}

// d/dx of 3 x^2 along 1, in both orders.
TEST(Jvp, NestsWithGradients) {
  const auto cube = [](const mx::array& x) { return x * x * x; };
  const auto forward = [&](const mx::array& x) { return espalier::jvp(cube, x, mx::array(1.0f)).tangent; };
  expect_equal(espalier::grad(forward)(mx::array(2.0f)), mx::array(12.0f));
  expect_equal(espalier::jvp(espalier::grad(cube), mx::array(2.0f), mx::array(1.0f)).tangent, mx::array(12.0f));
  auto compiled = espalier::compile([](const mx::array& x) {
    return espalier::jvp([](const mx::array& y) { return y * y; }, x, mx::ones_like(x)).tangent;
  });
  for (const float v : {2.0f, 3.0f}) expect_equal(compiled(mx::array({v})), mx::array({2 * v}));
}

TEST(Jvp, TangentsThatDoNotFitAreNamed) {
  const auto f = [](const std::vector<mx::array>& x) { return x[0]; };
  const std::vector<mx::array> x{mx::array({1.0f}), mx::array({1.0f, 2.0f})};
  const auto wrong = mismatches_of([&] { espalier::jvp(f, x, std::vector{mx::array({1.0f}), mx::array({1.0f})}); });
  ASSERT_EQ(wrong.size(), 1u);
  EXPECT_EQ(wrong[0], (espalier::mismatch{"[1]", "float32[2]", "float32[1]"}));
}

}  // namespace
