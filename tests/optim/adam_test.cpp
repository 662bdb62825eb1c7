#include <cmath>
#include <cstdint>
#include <espalier/optim/adam.hpp>
#include <espalier/paths.hpp>
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
