#include <cmath>
#include <espalier/optim/rmsprop.hpp>
#include <espalier/optim/schedules.hpp>
#include <espalier/paths.hpp>

#include "problem.hpp"

namespace optim = espalier::optim;

// The formula of the header, which is that of Hinton's lecture; tests/peers has mlx.optimizers' numbers.
TEST(rmsprop, ten_steps_equal_the_formula) {
  expect_formula(optim::rmsprop{.learning_rate = 0.1, .decay = 0.9, .eps = 1e-3},
                 [nu = 0.0](double p, double g) mutable {
                   nu = 0.9 * nu + 0.1 * g * g;
                   return p - 0.1 * g / (std::sqrt(nu) + 1e-3);
                 });
}

TEST(rmsprop, a_schedule_is_asked_with_the_steps_taken_before) {
  expect_formula(optim::rmsprop{.learning_rate = optim::linear_schedule{0.2, 0.1, 4}},
                 [nu = 0.0, t = 0](double p, double g) mutable {
                   nu = 0.99 * nu + 0.01 * g * g;
                   const double rate = t < 4 ? 0.2 - 0.025 * t : 0.1;
                   ++t;
                   return p - rate * g / (std::sqrt(nu) + 1e-8);
                 });
}

TEST(rmsprop, first_step_is_the_rate_by_the_root_of_the_fresh_share) {
  const optim::rmsprop opt{.learning_rate = 0.1, .decay = 0.75};
  const std::array<double, 2> params{1, 1};
  auto state = opt.init(params);
  const auto u = opt.update(std::array<double, 2>{123.0, -0.004}, state, params);
  EXPECT_NEAR(u[0], -0.2, 1e-6);  // 0.1 / sqrt(1 - 0.75)
  EXPECT_NEAR(u[1], 0.2, 1e-6);
}

TEST(rmsprop, state_counts_steps_only_for_a_schedule) {
  EXPECT_EQ(espalier::tree_paths(optim::rmsprop{.learning_rate = 0.1}.init(1.0)).size(), 1U);
  EXPECT_EQ(
      espalier::tree_paths(optim::rmsprop{.learning_rate = optim::constant_schedule{0.1}}.init(1.0)).at(1).to_string(),
      ".count");
}

TEST(rmsprop, errors_and_zero_gradients) { expect_usual_errors(optim::rmsprop{.learning_rate = 0.1}, "rmsprop"); }
