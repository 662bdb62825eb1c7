#include <cmath>
#include <espalier/optim/adadelta.hpp>

#include "problem.hpp"

namespace optim = espalier::optim;

TEST(adadelta, ten_steps_equal_the_formula) {
  expect_formula(optim::adadelta{.learning_rate = 0.5, .rho = 0.8, .eps = 1e-3},
                 [e_g = 0.0, e_x = 0.0](double p, double g) mutable {
                   e_g = 0.8 * e_g + 0.2 * g * g;
                   const double x = std::sqrt(e_x + 1e-3) / std::sqrt(e_g + 1e-3) * g;
                   e_x = 0.8 * e_x + 0.2 * x * x;
                   return p - 0.5 * x;
                 });
}

// Zeiler, section 3.2: the units of the gradient cancel.
TEST(adadelta, steps_do_not_depend_on_the_size_of_the_gradients) {
  const optim::adadelta opt{.learning_rate = 1.0, .eps = 1e-12};
  const std::array<double, 2> params{1, 1};
  auto state = opt.init(params);
  for (int t = 0; t < 5; ++t) {
    const auto u = opt.update(std::array<double, 2>{1.0, 1000.0}, state, params);
    EXPECT_NEAR(u[1] / u[0], 1, 1e-9);
  }
}

TEST(adadelta, errors_and_zero_gradients) { expect_usual_errors(optim::adadelta{.learning_rate = 0.1}, "adadelta"); }
