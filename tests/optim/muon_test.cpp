// Of numbers, which have nothing to make orthogonal; matrices are in mlx_test.cpp, mlx.optimizers' numbers in tests/peers.
#include <espalier/optim/muon.hpp>

#include "problem.hpp"

namespace optim = espalier::optim;

TEST(muon, ten_steps_of_numbers_are_steps_of_nesterov_momentum) {
  expect_formula(optim::muon{.learning_rate = 0.1, .momentum = 0.8, .weight_decay = 0.05},
                 [mu = 0.0](double p, double g) mutable {
                   g += 0.05 * p;
                   mu = 0.8 * mu + 0.2 * g;
                   return p - 0.1 * (0.2 * g + 0.8 * mu);
                 });
  expect_formula(optim::muon{.learning_rate = 0.1, .weight_decay = 0, .nesterov = false},
                 [mu = 0.0](double p, double g) mutable {
                   mu = 0.95 * mu + 0.05 * g;
                   return p - 0.1 * mu;
                 });
}

TEST(muon, errors_and_zero_gradients) { expect_usual_errors(optim::muon{.learning_rate = 0.1}, "muon"); }
