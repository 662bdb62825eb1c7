#include <cmath>
#include <espalier/optim/lion.hpp>

#include "problem.hpp"

namespace optim = espalier::optim;

TEST(lion, ten_steps_equal_the_paper) {
  expect_formula(optim::lion{.learning_rate = 0.05, .b1 = 0.8, .b2 = 0.95, .weight_decay = 0.1},
                 [mu = 0.0](double p, double g) mutable {
                   const double c = 0.8 * mu + 0.2 * g;
                   mu = 0.95 * mu + 0.05 * g;
                   return p - 0.05 * ((c > 0 ? 1 : c < 0 ? -1 : 0) + 0.1 * p);
                 });
}

TEST(lion, every_step_is_the_learning_rate_and_none_at_a_zero_gradient) {
  const optim::lion opt{.learning_rate = 0.25};
  const std::array<double, 3> params{1, 1, 1};
  auto state = opt.init(params);
  EXPECT_EQ(opt.update(std::array<double, 3>{1e-9, -7.0, 0.0}, state, params), (std::array<double, 3>{-0.25, 0.25, 0}));
}

TEST(lion, weights_decay_where_the_mask_says) {
  const std::array<double, 2> params{2, 4};
  const optim::lion opt{.learning_rate = 0.5, .weight_decay = 0.25, .mask = [](double p) { return p > 3; }};
  auto state = opt.init(params);
  EXPECT_EQ(opt.update(std::array<double, 2>{}, state, params), (std::array<double, 2>{0, -0.5}));
}

TEST(lion, errors_and_zero_gradients) { expect_usual_errors(optim::lion{.learning_rate = 0.1}, "lion"); }
