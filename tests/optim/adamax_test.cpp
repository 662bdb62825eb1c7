#include <algorithm>
#include <cmath>
#include <espalier/optim/adamax.hpp>

#include "problem.hpp"

namespace optim = espalier::optim;

TEST(adamax, ten_steps_equal_the_paper) {
  expect_formula(optim::adamax{.learning_rate = 0.1, .b1 = 0.8, .b2 = 0.9},
                 [mu = 0.0, nu = 0.0, t = 0](double p, double g) mutable {
                   ++t;
                   mu = 0.8 * mu + 0.2 * g;
                   nu = std::max(0.9 * nu, std::abs(g));
                   return p - 0.1 / (1 - std::pow(0.8, t)) * mu / (nu + 1e-8);
                 });
}

TEST(adamax, first_step_is_the_learning_rate_and_without_correction_a_tenth_of_it) {
  const std::array<double, 2> params{1, 1};
  const std::array<double, 2> gradients{123, -0.04};
  const optim::adamax paper{.learning_rate = 0.25};
  auto state = paper.init(params);
  EXPECT_NEAR(paper.update(gradients, state, params)[1], 0.25, 1e-6);
  const optim::adamax as_mlx{.learning_rate = 0.25, .bias_correction = false};
  state = as_mlx.init(params);
  EXPECT_NEAR(as_mlx.update(gradients, state, params)[1], 0.025, 1e-6);
}

TEST(adamax, errors_and_zero_gradients) { expect_usual_errors(optim::adamax{.learning_rate = 0.1}, "adamax"); }
