#include <espalier/optim/add_decayed_weights.hpp>
#include <espalier/optim/chain.hpp>
#include <espalier/optim/sgd.hpp>

#include "problem.hpp"

namespace optim = espalier::optim;

TEST(add_decayed_weights, before_sgd_it_is_the_gradient_of_half_the_square) {
  expect_formula(optim::chain(optim::add_decayed_weights{.weight_decay = 0.25}, optim::sgd{.learning_rate = 0.1}),
                 [](double p, double g) { return p - 0.1 * (g + 0.25 * p); });
}

TEST(add_decayed_weights, behind_sgd_it_shrinks_the_parameters_whatever_the_rate) {
  expect_formula(optim::chain(optim::sgd{.learning_rate = 0.1}, optim::add_decayed_weights{.weight_decay = -0.125}),
                 [](double p, double g) { return 0.875 * p - 0.1 * g; });
}

TEST(add_decayed_weights, gradients_of_another_structure_are_refused) {
  const optim::add_decayed_weights opt{.weight_decay = 1};
  auto state = opt.init(start());
  EXPECT_TRUE(structure_error_of([&] {
                opt.update(Model{}, state, start());
              }).starts_with("espalier: add_decayed_weights.update: the gradients do not have"));
}
