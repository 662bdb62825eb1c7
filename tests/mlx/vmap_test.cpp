#include <espalier/mlx/vmap.hpp>

#include <gtest/gtest.h>
#include <mlx/mlx.h>

#include <espalier/mlx/engine.hpp>
#include <espalier/mlx/grad.hpp>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "../messages.hpp"
#include "arrays.hpp"

namespace {

namespace mx = ::mlx::core;
using espalier::vmap;

struct example {
  mx::array x;
  mx::array y;
  std::string name;
};

TEST(Vmap, OverTheLeadingAxisOfAllArrays) {
  const auto f = [](const example& e) { return std::pair(e.x * e.y, e.name); };
  const auto [product, name] = vmap(f)(example{mx::array({1.0f, 2.0f, 3.0f}), mx::array({4.0f, 5.0f, 6.0f}), "n"});
  expect_equal(product, mx::array({4.0f, 10.0f, 18.0f}));
  EXPECT_EQ(name, "n");
}

// The network is shared, and x has its examples along axis 1.
TEST(Vmap, AxesForEachArgument) {
  const auto output = vmap(network_output, std::tuple(std::nullopt, 1));
  const mx::array x({3.0f, 0.0f, 4.0f, 1.0f}, {2, 2});  // (3, 4) and (0, 1)
  expect_equal(output(make_network(), x), mx::array({34.5f, 7.5f}, {2, 1}));
  expect_equal(vmap(network_output, std::tuple(std::nullopt, -1))(make_network(), x), mx::array({34.5f, 7.5f}, {2, 1}));
}

TEST(Vmap, AxesAreAPrefixTreeOfTheArgument) {
  struct axes {
    int weight;
    std::optional<int> bias;
  };
  const auto f = [](const linear& l, const mx::array& x) { return l.weight * x + *l.bias; };
  const linear batch{mx::array({1.0f, 2.0f, 3.0f}), mx::array(10.0f)};
  const auto shared = vmap(f, std::tuple(axes{.weight = 0, .bias = std::nullopt}, std::nullopt));
  expect_equal(shared(batch, mx::array(2.0f)), mx::array({12.0f, 14.0f, 16.0f}));

  const std::vector<mx::array> rows{mx::array({1.0f, 2.0f}), mx::array({3.0f, 4.0f, 5.0f, 6.0f}, {2, 2})};
  const auto second = [](const std::vector<mx::array>& r) { return r[0] * r[1]; };
  expect_equal(vmap(second, std::tuple(std::vector{0, 1}))(rows), mx::array({3.0f, 5.0f, 8.0f, 12.0f}, {2, 2}));
}

TEST(Vmap, OutAxesPlaceTheExamples) {
  const auto f = [](const mx::array& x) { return std::pair(x * x, x + mx::array(1.0f)); };
  const mx::array x({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2});
  const auto [first, second] = vmap(f, 0, std::pair(1, 0))(x);
  expect_equal(first, mx::array({1.0f, 9.0f, 4.0f, 16.0f}, {2, 2}));
  expect_equal(second, mx::array({2.0f, 3.0f, 4.0f, 5.0f}, {2, 2}));
  expect_equal(vmap([](const mx::array& y) { return y * y; }, 1, -1)(x), x * x);
}

TEST(Vmap, AResultThatExamplesShareMayHaveNoAxis) {
  const auto f = [](const mx::array& x, const mx::array& w) { return std::pair(x * w, w * w); };
  const auto axes = std::tuple(0, std::nullopt);
  const auto [each, shared] =
      vmap(f, axes, std::pair<int, std::optional<int>>(0, std::nullopt))(mx::array({1.0f, 2.0f}), mx::array(3.0f));
  expect_equal(each, mx::array({3.0f, 6.0f}));
  expect_equal(shared, mx::array(9.0f));
  expect_equal(vmap(f, axes)(mx::array({1.0f, 2.0f}), mx::array(3.0f)).second, mx::array({9.0f, 9.0f}));
  const auto message = message_of<espalier::vmap_error>(
      [&] { vmap(f, axes, std::pair<std::optional<int>, int>(std::nullopt, 0))(mx::array({1.0f}), mx::array(3.0f)); });
  EXPECT_TRUE(contains(message, "result at [0], float32[]")) << message;
}

TEST(Vmap, GradientsOfEachExample) {
  const auto loss = [](const mx::array& w, const mx::array& x) { return mx::square(w * x); };
  const auto each = vmap(espalier::grad(loss), std::tuple(std::nullopt, 0));
  expect_equal(each(mx::array(3.0f), mx::array({1.0f, 2.0f})), mx::array({6.0f, 24.0f}));
}

TEST(Vmap, NestsAndWorksInsideACompiledFunction) {
  static constexpr auto outer = [](const mx::array& a, const mx::array& b) {
    const auto row = vmap([](const mx::array& x, const mx::array& y) { return x * y; }, std::tuple(std::nullopt, 0));
    return vmap(row, std::tuple(0, std::nullopt))(a, b);
  };
  const mx::array expected({3.0f, 4.0f, 6.0f, 8.0f}, {2, 2});
  expect_equal(outer(mx::array({1.0f, 2.0f}), mx::array({3.0f, 4.0f})), expected);
  auto compiled = espalier::compile([](const mx::array& a, const mx::array& b) { return outer(a, b); });
  for (int i = 0; i < 2; ++i) expect_equal(compiled(mx::array({1.0f, 2.0f}), mx::array({3.0f, 4.0f})), expected);
}

TEST(Vmap, NumbersOfExamplesThatDifferAreNamed) {
  const auto f = [](const example& e, const mx::array& z) { return e.x * e.y * z; };
  const auto message = message_of<espalier::vmap_error>(
      [&] { vmap(f)(example{mx::array({1.0f, 2.0f}), mx::array({1.0f, 2.0f}), ""}, mx::array({1.0f, 2.0f, 3.0f})); });
  expect_in_order(message,
                  {"2 along axis 0 of argument 0 at .x, float32[2]", "3 along axis 0 of argument 1, float32[3]"});
}

TEST(Vmap, AnArrayWithoutTheAxisIsNamed) {
  const auto f = [](const mx::array& x, const mx::array& y) { return x * y; };
  const auto message = message_of<espalier::vmap_error>([&] { vmap(f)(mx::array({1.0f}), mx::array(1.0f)); });
  EXPECT_TRUE(contains(message, "argument 1, float32[], has no axis 0")) << message;
  EXPECT_THROW(vmap(f, std::tuple(std::nullopt, std::nullopt))(mx::array({1.0f}), mx::array({1.0f})),
               espalier::vmap_error);
  EXPECT_THROW(vmap(f, 0, 2)(mx::array({1.0f}), mx::array({1.0f})), espalier::vmap_error);
  const auto g = [](const std::vector<mx::array>& x) { return x[0]; };
  EXPECT_THROW(vmap(g, std::tuple(std::vector{0, 0}))(std::vector{mx::array({1.0f})}), espalier::structure_error);
}

}  // namespace
