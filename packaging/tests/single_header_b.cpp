// The single header serves alone, in two units of one program, with the operations of several headers.
#include <gtest/gtest.h>

#include "single_header.hpp"

namespace {

model example() { return {.layers = {{.weight = {1.0, 2.0}, .bias = 3.0}, {.weight = {4.0}, .bias = 5.0}}, .step = 7}; }

TEST(single_header, units_agree_on_a_structure) { EXPECT_EQ(hash_of_a(), hash_here()); }

TEST(single_header, one_unit_prints_what_the_other_maps) {
  const model twice = espalier::tree_map([](double x) { return 2.0 * x; }, example());
  EXPECT_EQ(twice.layers[0].weight, (std::vector{2.0, 4.0}));
  EXPECT_NE(printed_by_a(twice).find("{.weight: [8], .bias: 10}"), std::string::npos) << printed_by_a(twice);
}

TEST(single_header, has_the_optimizers) {
  model tree = example();
  const model ones = espalier::tree_map([](double) { return 1.0; }, tree);
  constexpr espalier::optim::sgd descent{.learning_rate = 0.5};
  auto state = descent.init(tree);
  espalier::optim::apply_updates(tree, descent.update(ones, state, tree));
  EXPECT_EQ(tree.layers[0].weight, (std::vector{0.5, 1.5}));
}

}  // namespace
