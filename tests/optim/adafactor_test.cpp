// Of numbers, which are not factored; matrices are in mlx_test.cpp, mlx.optimizers' numbers in tests/peers.
#include <algorithm>
#include <cmath>
#include <espalier/optim/adafactor.hpp>

#include "problem.hpp"

namespace optim = espalier::optim;

// One number's rms is its magnitude.
TEST(adafactor, ten_steps_equal_the_paper) {
  expect_formula(optim::adafactor{}, [v = 0.0, t = 0](double p, double g) mutable {
    ++t;
    const double b2 = 1 - std::pow(t, -0.8);
    v = b2 * v + (1 - b2) * (g * g + 1e-30);
    const double u = g / std::sqrt(v);
    const double rate = std::min(1e-2, 1 / std::sqrt(t)) * std::max(1e-3, std::abs(p));
    return p - rate * u / std::max(1.0, std::abs(u));
  });
}

TEST(adafactor, ten_steps_with_momentum_decay_and_an_own_rate_equal_the_paper) {
  expect_formula(optim::adafactor{.learning_rate = 0.1, .b1 = 0.9, .weight_decay = 0.05, .scale_parameter = false},
                 [v = 0.0, mu = 0.0, t = 0](double p, double g) mutable {
                   ++t;
                   const double b2 = 1 - std::pow(t, -0.8);
                   v = b2 * v + (1 - b2) * (g * g + 1e-30);
                   const double u = g / std::sqrt(v);
                   mu = 0.9 * mu + 0.1 * 0.1 * u / std::max(1.0, std::abs(u));
                   return p - mu - 0.05 * 0.1 * p;
                 });
}

TEST(adafactor, relative_step_falls_with_the_root_of_the_step_and_warms_up) {
  EXPECT_DOUBLE_EQ(optim::relative_step{}(0), 1e-2);
  EXPECT_DOUBLE_EQ(optim::relative_step{}(39999), 1.0 / 200);
  EXPECT_DOUBLE_EQ(optim::relative_step{.warmup_init = true}(9), 1e-5);
}

TEST(adafactor, errors_and_zero_gradients) { expect_usual_errors(optim::adafactor{.b1 = 0.9}, "adafactor"); }
