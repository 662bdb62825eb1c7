#include <cmath>
#include <cstdint>
#include <espalier/flatten.hpp>
#include <espalier/leaf_array.hpp>
#include <espalier/optim/adam.hpp>
#include <espalier/paths.hpp>
#include <optional>
#include <type_traits>

#include "problem.hpp"

namespace optim = espalier::optim;

constexpr optim::adam at_namespace_scope{.learning_rate = 0.1};

// Expected values: optax 0.2.8 with jax 0.10.2 in float64, as printed by expected.py.
TEST(adam, ten_steps_equal_optax) {
  expect_ten_steps(at_namespace_scope, {0.0507267604589001, -1.03095607463466, 0.197033224857014}, 1e-12);
}

TEST(adam, ten_steps_with_other_hyperparameters_equal_optax) {
  expect_ten_steps(optim::adam{.learning_rate = 0.05, .b1 = 0.8, .b2 = 0.95, .eps = 1e-3},
                   {0.510163563371704, -1.51096189242738, 0.27431832645949}, 1e-12);
}

TEST(adam, ten_steps_with_decoupled_weight_decay_equal_optax) {
  expect_ten_steps(optim::adamw{.learning_rate = 0.1, .weight_decay = 0.05},
                   {0.0274874187870355, -0.958595934293372, 0.195485729480885}, 1e-12);
}

// With constant gradients both corrected means are exact, so that a step is the learning rate (Kingma & Ba,
// section 2.1).
TEST(adam, first_step_is_the_learning_rate_against_the_sign_of_the_gradient) {
  const optim::adam opt{.learning_rate = 0.25};
  const std::array<double, 2> params{1, 1};
  auto state = opt.init(params);
  const auto updates = opt.update(std::array<double, 2>{123.0, -0.004}, state, params);
  EXPECT_NEAR(updates[0], -0.25, 1e-6);
  EXPECT_NEAR(updates[1], 0.25, 1e-6);
}

TEST(adam, finds_the_lowest_point_of_a_bowl) {
  expect_convergence(optim::adam{.learning_rate = 0.3});
  expect_convergence(optim::adamw{.learning_rate = 0.3, .weight_decay = 1e-3});
}

TEST(adam, state_is_a_pytree_with_the_key_paths_of_the_parameters) {
  const auto state = at_namespace_scope.init(start());
  static_assert(std::is_same_v<decltype(state.count), std::int64_t>);
  const auto paths = espalier::tree_paths(state);
  ASSERT_EQ(paths.size(), 11U);
  EXPECT_EQ(paths[0].to_string(), ".count");
  EXPECT_EQ(paths[1].to_string(), ".mu.layers[0].weight[0]");
  EXPECT_EQ(paths[3].to_string(), ".mu.layers[0].bias");
  EXPECT_EQ(paths[6].to_string(), ".nu.layers[0].weight[0]");
}

TEST(adam, counts_steps_and_leaves_other_leaves_of_the_moments_alone) {
  Model m = start();
  auto state = at_namespace_scope.init(m);
  for (int t = 0; t < 3; ++t) at_namespace_scope.update(gradients(m, t), state, m);
  EXPECT_EQ(state.count, 3);
  EXPECT_EQ(state.mu.version, 7);
  EXPECT_EQ(state.nu.name, "tiny");
}

TEST(adam, zero_gradients_do_not_move_single_precision) {
  const std::array<float, 2> params{1, 2};
  auto state = at_namespace_scope.init(params);
  EXPECT_EQ(at_namespace_scope.update(std::array<float, 2>{}, state, params), (std::array<float, 2>{}));
}

namespace {

void expect_untouched(const optim::adam_state<Model>& state) {
  EXPECT_EQ(state.count, 0);
  EXPECT_EQ(state.mu.layers[0].weight[0], 0);
  EXPECT_EQ(state.nu.layers[0].weight[0], 0);
}

}  // namespace

TEST(adam, gradients_of_another_structure_are_named_by_key_path_and_change_nothing) {
  const Model m = start();
  auto state = at_namespace_scope.init(m);
  Model wrong = gradients(m, 0);
  wrong.layers[0].bias.reset();
  wrong.layers[0].weight.push_back(1);
  EXPECT_EQ(structure_error_of([&] { at_namespace_scope.update(wrong, state, m); }),
            "espalier: adam.update: the gradients do not have the structure of the parameters:\n"
            "  .layers[0].weight: expected 2 elements, found 3 elements\n"
            "  .layers[0].bias: expected a value, found None");
  expect_untouched(state);
}

TEST(adam, parameters_that_grew_after_init_are_named_by_key_path_and_change_nothing) {
  Model m = start();
  auto state = at_namespace_scope.init(m);
  const Model small = gradients(m, 0);
  m.layers.push_back({{1.0}, std::nullopt});
  Model large = small;
  large.layers.push_back({{1.0}, std::nullopt});
  EXPECT_EQ(structure_error_of([&] { at_namespace_scope.update(large, state, m); }),
            "espalier: adam.update: the state's moments do not have the structure of the parameters, which has changed "
            "since init (call init again):\n"
            "  .layers: expected 2 elements, found 1 element");
  expect_untouched(state);
  EXPECT_THROW(at_namespace_scope.update(small, state, m), espalier::structure_error);  // the moments would take these
  expect_untouched(state);
  state.mu.layers = m.layers;  // one moment of two
  EXPECT_THROW(at_namespace_scope.update(large, state, m), espalier::structure_error);
  EXPECT_EQ(state.count, 0);
  EXPECT_EQ(state.mu.layers[0].weight[0], 1.0);
}

TEST(adam, adamw_errors_say_adamw) {
  const Model m = start();
  const optim::adamw opt{.learning_rate = 0.1};
  auto state = opt.init(m);
  EXPECT_TRUE(structure_error_of([&] {
                opt.update(Model{}, state, m);
              }).starts_with("espalier: adamw.update: the gradients do not have"));
}

// The arithmetic of the first step test: aux data, like leaves that are not parameters, has no part in it.
TEST(adam, aux_data_that_moves_on_after_init_does_not_matter) {
  const optim::adam opt{.learning_rate = 0.25};
  Cached c{1, {1}, 0};
  auto state = opt.init(c);
  for (int t = 1; t < 4; ++t) {
    const Cached g{123, {-0.004}, t - 1};
    c.position = t;
    const Cached updates = opt.update(g, state, c);
    EXPECT_EQ(updates.position, t);  // the parameters'
    c.position = 10 * t;
    optim::apply_updates(c, updates);
    EXPECT_EQ(c.position, 10 * t);
  }
  EXPECT_EQ(state.count, 3);
  EXPECT_EQ(state.mu.position, 0);
  EXPECT_NEAR(c.weight, 1 - 3 * 0.25, 1e-6);
  EXPECT_NEAR(c.keys[0], 1 + 3 * 0.25, 1e-5);
}

TEST(adam, aux_data_is_left_out_of_the_error_about_what_does_matter) {
  const optim::adam opt{.learning_rate = 0.25};
  const Cached c{1, {1}, 1};
  auto state = opt.init(c);
  EXPECT_EQ(structure_error_of([&] { opt.update(Cached{1, {}, 2}, state, c); }),
            "espalier: adam.update: the gradients do not have the structure of the parameters:\n"
            "  .keys: expected 1 element, found 0 elements");
}

TEST(adam, gradients_can_be_a_leaf_array) {
  using Point = std::array<double, 2>;
  const Point params{1, 1};
  const optim::adam opt{.learning_rate = 0.25};
  auto state = opt.init(params);
  const espalier::leaf_array<Point, double> grads(espalier::tree_structure(params), {123.0, -0.004});
  EXPECT_NEAR(opt.update(grads, state, params)[1], 0.25, 1e-6);
}
