#include <espalier/optim/adafactor.hpp>
#include <espalier/optim/adam.hpp>
#include <espalier/optim/chain.hpp>
#include <espalier/optim/clip.hpp>
#include <espalier/optim/inject_hyperparams.hpp>
#include <espalier/optim/schedules.hpp>
#include <espalier/optim/sgd.hpp>
#include <espalier/paths.hpp>

#include "problem.hpp"

namespace optim = espalier::optim;

TEST(inject_hyperparams, ten_steps_are_those_of_the_optimizer) {
  expect_ten_steps(optim::inject_hyperparams{optim::adam{.learning_rate = 0.1}},
                   {0.0507267604589001, -1.03095607463466, 0.197033224857014}, 1e-12);
  expect_ten_steps(optim::chain(optim::clip_by_global_norm{.max_norm = 0.5},
                                optim::inject_hyperparams{optim::adam{.learning_rate = 0.1}}),
                   {0.0141187385320953, -0.998683237483166, 0.268824060574312}, 1e-12);
}

TEST(inject_hyperparams, they_are_leaves_of_the_state_and_can_be_changed) {
  const optim::inject_hyperparams opt{optim::sgd{.learning_rate = 0.5, .momentum = 0.5}};
  double p = 0;
  auto state = opt.init(p);
  EXPECT_EQ(espalier::tree_paths(state).at(0).to_string(), ".hyperparams.learning_rate");
  EXPECT_EQ(opt.update(1.0, state, p), -0.5);
  state.hyperparams.learning_rate = 2;
  EXPECT_EQ(opt.update(1.0, state, p), -2 * 1.5);
  state.hyperparams.momentum = 0.25;
  EXPECT_EQ(opt.update(1.0, state, p), -2 * (1 + 0.25 * 1.5));
}

TEST(inject_hyperparams, a_schedule_shows_its_present_value) {
  const optim::inject_hyperparams opt{optim::sgd{.learning_rate = optim::linear_schedule{1, 0, 4}}};
  double p = 0;
  auto state = opt.init(p);
  EXPECT_EQ(state.hyperparams.learning_rate, 1);
  opt.update(1.0, state, p);
  EXPECT_EQ(opt.update(1.0, state, p), -0.75);
  EXPECT_EQ(state.hyperparams.learning_rate, 0.75);
  EXPECT_EQ(state.count, 2);
}

TEST(inject_hyperparams, optional_ones_too) {
  const optim::inject_hyperparams opt{optim::adafactor{.b1 = 0.5, .scale_parameter = false}};
  double p = 1;
  auto state = opt.init(p);
  EXPECT_EQ(state.hyperparams.b1, 0.5);
  EXPECT_DOUBLE_EQ(opt.update(3.0, state, p), -0.01 * 0.5);  // half of the relative step, fresh
}
