// A unit that imports: it maps, prints, registers types of its own, and agrees with one that includes.
#include <gtest/gtest.h>

#include <sstream>

import espalier;

#include "shared.hpp"

// A class that is registered from outside, one that is a leaf, and one with aux data.
class interval {
 public:
  interval(double low, double high) : low_(low), high_(high) {}
  double low_, high_;
};
template <> struct espalier::pytree_node<interval> {
  static auto children(auto&& t) { return std::tie(t.low_, t.high_); }
  static interval unflatten(std::tuple<>, double low, double high) { return {low, high}; }
};

class opaque {
 public:
  explicit opaque(int value) : value_(value) {}
  int value_;
};
template <> inline constexpr bool espalier::is_leaf_type<opaque> = true;

struct cache {
  double key;
  int bits;
};
template <> inline constexpr auto espalier::aux_fields<cache> = espalier::fields<&cache::bits>;

namespace {

using namespace espalier::literals;

model example() { return {.layers = {{.weight = {1.0, 2.0}, .bias = 3.0}, {.weight = {4.0}, .bias = 5.0}}, .step = 7}; }

TEST(modules, agree_with_the_headers) {
  EXPECT_EQ(espalier::structure_hash_v<model>, hash_with_headers());
  EXPECT_EQ(espalier::tree_print(example()), printed_with_headers(example()));
}

TEST(modules, map_and_flatten) {
  const model twice = espalier::tree_map([](double x) { return 2.0 * x; }, example());
  EXPECT_EQ(twice.layers[0].weight, (std::vector{2.0, 4.0}));
  const auto [leaves, def] = espalier::tree_flatten(twice);
  EXPECT_EQ(leaves, (std::vector{2.0, 4.0, 6.0, 8.0, 10.0}));
  EXPECT_TRUE(espalier::tree_equal(def.unflatten(leaves), twice));
}

TEST(modules, read_and_print_paths) {
  std::ostringstream out;
  for (const espalier::key_path& path : espalier::tree_paths(example())) out << path << ' ';
  EXPECT_EQ(out.str(),
            ".layers[0].weight[0] .layers[0].weight[1] .layers[0].bias .layers[1].weight[0] .layers[1].bias ");
  const model tree = example();
  EXPECT_EQ(espalier::tree_at(tree, "layers.1.bias"_path).get(), 5.0);
}

TEST(modules, take_specialisations) {
  EXPECT_EQ(espalier::tree_sum(interval(1.0, 2.0)), 3.0);
  EXPECT_EQ(espalier::tree_map([](const opaque& x) { return opaque(x.value_ + 1); }, opaque(1)).value_, 2);
  EXPECT_EQ(espalier::tree_leaves(cache{.key = 0.5, .bits = 4}).size(), 1u);
}

TEST(modules, throw_errors_that_can_be_caught) {
  model other = example();
  other.layers.pop_back();
  EXPECT_THROW(espalier::tree_map([](double x, double y) { return x + y; }, example(), other),
               espalier::structure_error);
}

TEST(modules, have_the_optimizers) {
  model tree = example();
  const model ones = espalier::tree_map([](double) { return 1.0; }, tree);
  constexpr espalier::optim::sgd descent{.learning_rate = 0.5};
  auto state = descent.init(tree);
  espalier::optim::apply_updates(tree, descent.update(ones, state, tree));
  EXPECT_EQ(tree.layers[0].weight, (std::vector{0.5, 1.5}));
}

}  // namespace
