#include <gtest/gtest.h>
#include <mlx/mlx.h>

#include <espalier/map.hpp>
#include <espalier/mlx/engine.hpp>
#include <espalier/mlx/trainable.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "../messages.hpp"
#include "arrays.hpp"

namespace {

namespace mx = ::mlx::core;
using espalier::grad;
using espalier::trainable;

// With x = (3, 4) the output is (3 + 8 + 0.5) * 3: its derivatives are 3 x, 3, and 11.5.
mx::array loss(const network& net) { return mx::sum(network_output(net, mx::array({3.0f, 4.0f}))); }

const auto by_path = [](const espalier::path_view& path, const auto&) { return path.dotted() != "layers.0.weight"; };

void expect_first_weight_frozen(const network& gradient) {
  expect_equal(gradient.layers[0].weight, mx::array({0.0f, 0.0f}));
  expect_equal(*gradient.layers[0].bias, mx::array(3.0f));
  expect_equal(gradient.layers[1].weight, mx::array({11.5f}));
  EXPECT_EQ(gradient.name, "net");
}

TEST(Trainable, ByPath) {
  const network net = make_network();
  const network gradient = grad(loss, trainable(by_path))(net);
  expect_first_weight_frozen(gradient);
  EXPECT_EQ(gradient.table.id(), net.table.id()) << "what is no parameter is the argument's own";
}

TEST(Trainable, ByMask) {
  const network net = make_network();
  expect_first_weight_frozen(grad(loss, trainable(espalier::tree_map_with_path(by_path, net)))(net));
}

TEST(Trainable, ByAMaskThatIsAPrefix) {
  struct heads {
    mx::array body;
    std::vector<mx::array> head;
  };
  struct mask {
    bool body, head;
  };
  const heads h{mx::array(2.0f), {mx::array(3.0f), mx::array(5.0f)}};
  const auto product = [](const heads& x) { return x.body * x.head[0] * x.head[1]; };
  const heads gradient = grad(product, trainable(mask{.body = false, .head = true}))(h);
  expect_equal(gradient.body, mx::array(0.0f));
  expect_equal(gradient.head[0], mx::array(10.0f));
  expect_equal(gradient.head[1], mx::array(6.0f));
}

TEST(Trainable, ByLeafTypeNeverTrainsIntegers) {  // CASES 21
  const network net = make_network();
  const network gradient = grad(loss, trainable(espalier::of_type<mx::array>))(net);
  expect_equal(gradient.layers[0].weight, mx::array({9.0f, 12.0f}));
  EXPECT_EQ(gradient.table.id(), net.table.id());
}

TEST(Trainable, AFilterForEachArgument) {
  const auto f = [](const std::vector<mx::array>& a, const mx::array& x, const std::vector<mx::array>& b) {
    return x * a[0] * a[1] * b[0] * b[1];
  };
  const auto first =
      trainable([](const espalier::path_view& path, const mx::array&) { return path.back().number == 0; });
  const auto all = trainable([](const mx::array&) { return true; });
  const std::vector<mx::array> a{mx::array(2.0f), mx::array(3.0f)};
  const std::vector<mx::array> b{mx::array(5.0f), mx::array(7.0f)};
  const auto [of_b, of_a] = grad<2, 0>(f, first, all)(a, mx::array(1.0f), b);
  expect_equal(of_b[0], mx::array(42.0f));
  expect_equal(of_b[1], mx::array(0.0f));
  expect_equal(of_a[0], mx::array(105.0f));
  expect_equal(of_a[1], mx::array(70.0f));
  const auto [one_of_b, one_of_a] = grad<2, 0>(f, first)(a, mx::array(1.0f), b);
  expect_equal(one_of_b[1], mx::array(0.0f));
  expect_equal(one_of_a[1], mx::array(0.0f));
}

// As in JAX: what is frozen is an ordinary value for the function, so integers may be made of it, and nothing behind it
// is traced.
TEST(Trainable, FrozenArraysReachTheFunctionAsTheyAre) {
  const network net = make_network();
  (void)grad(
      [&](const network& n) {
        EXPECT_EQ(n.layers[0].weight.id(), net.layers[0].weight.id());
        EXPECT_NE(n.layers[1].weight.id(), net.layers[1].weight.id());
        return loss(n);
      },
      trainable(by_path))(net);
}

TEST(Trainable, WorksInsideACompiledFunction) {
  auto step = espalier::compile([](const network& net) { return grad(loss, trainable(by_path))(net); });
  expect_first_weight_frozen(step(make_network()));
  expect_first_weight_frozen(step(make_network()));
  EXPECT_EQ(step.stats().traces, 1u);
}

TEST(Trainable, NothingToTrainIsNamed) {
  const auto none = trainable([](const auto&) { return false; });
  EXPECT_TRUE(contains(message_of<espalier::gradient_error>([&] { grad(loss, none)(make_network()); }),
                       "argument 0 has nothing to train"));
}

TEST(Trainable, AMaskOfAnotherSizeIsNamed) {
  const auto f = [](const std::vector<mx::array>& x) { return x[0] * x[1]; };
  const std::vector<mx::array> two{mx::array(1.0f), mx::array(2.0f)};
  const auto mask = trainable(std::vector<char>{1, 0, 1});
  EXPECT_THROW(grad(f, mask)(two), espalier::structure_error);
}

}  // namespace
