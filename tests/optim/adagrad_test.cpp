#include <cmath>
#include <espalier/optim/adagrad.hpp>

#include "problem.hpp"

namespace optim = espalier::optim;

TEST(adagrad, ten_steps_equal_the_formula) {
  expect_formula(optim::adagrad{.learning_rate = 0.1, .eps = 1e-3}, [sum = 0.0](double p, double g) mutable {
    sum += g * g;
    return p - 0.1 * g / (std::sqrt(sum) + 1e-3);
  });
}

// With constant gradients step t is the learning rate by sqrt(t).
TEST(adagrad, steps_shrink_with_the_root_of_their_number) {
  const optim::adagrad opt{.learning_rate = 0.5};
  const std::array<double, 1> params{1};
  auto state = opt.init(params);
  for (int t = 1; t <= 9; ++t) {
    EXPECT_NEAR(opt.update(std::array<double, 1>{3.0}, state, params)[0], -0.5 / std::sqrt(t), 1e-8);
  }
}

TEST(adagrad, errors_and_zero_gradients) { expect_usual_errors(optim::adagrad{.learning_rate = 0.1}, "adagrad"); }
