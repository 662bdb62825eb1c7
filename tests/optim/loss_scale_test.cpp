#include <espalier/optim/adam.hpp>
#include <espalier/optim/loss_scale.hpp>
#include <espalier/optim/sgd.hpp>
#include <limits>

#include "problem.hpp"

namespace optim = espalier::optim;

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(loss_scale, a_static_scale_cancels) {
  const optim::static_loss_scale opt{optim::sgd{.learning_rate = 0.5}, 1024};
  auto state = opt.init(1.0);
  EXPECT_EQ(opt.scaled(3.0, state), 3072);
  EXPECT_EQ(opt.update(4 * 1024.0, state, 1.0), -2);
}

// As jmp.DynamicLossScale: halved by a step that is not finite, doubled by `period` finite ones in a row.
TEST(loss_scale, a_dynamic_scale_finds_itself) {
  const optim::dynamic_loss_scale opt{
      .inner = optim::sgd{.learning_rate = 1.0, .momentum = 0.5}, .initial_scale = 8, .period = 3};
  auto state = opt.init(1.0);
  EXPECT_EQ(opt.scaled(3.0, state), 24);
  EXPECT_EQ(opt.update(infinity, state, 1.0), 0);
  EXPECT_EQ(state.scale, 4);
  EXPECT_EQ(*state.inner.velocity, 0);
  EXPECT_EQ(opt.update(4.0, state, 1.0), -1);
  EXPECT_EQ(opt.update(4.0, state, 1.0), -1.5);
  EXPECT_EQ(state.scale, 4);
  opt.update(4.0, state, 1.0);
  EXPECT_EQ(state.scale, 8);
  opt.update(8.0, state, 1.0);
  opt.update(8.0, state, 1.0);
  opt.update(infinity, state, 1.0);  // the row is broken
  EXPECT_EQ(state.scale, 4);
  opt.update(4.0, state, 1.0);
  opt.update(4.0, state, 1.0);
  EXPECT_EQ(state.scale, 4);
  for (int t = 0; t < 5; ++t) opt.update(infinity, state, 1.0);
  EXPECT_EQ(state.scale, 1);  // no lower
}

TEST(loss_scale, a_scale_does_not_grow_to_infinity) {
  const double largest = std::numeric_limits<double>::max();
  const optim::dynamic_loss_scale opt{.inner = optim::sgd{.learning_rate = 1.0}, .initial_scale = largest, .period = 1};
  auto state = opt.init(1.0);
  opt.update(1.0, state, 1.0);
  EXPECT_EQ(state.scale, largest);
}

TEST(loss_scale, gradients_of_another_structure_are_refused_and_change_nothing) {
  const optim::dynamic_loss_scale opt{optim::adam{.learning_rate = 1.0}};
  auto state = opt.init(start());
  EXPECT_TRUE(structure_error_of([&] {
                opt.update(Model{}, state, start());
              }).starts_with("espalier: dynamic_loss_scale.update: the gradients do not have"));
  EXPECT_EQ(state.scale, 32768);
  const optim::static_loss_scale fixed{optim::adam{.learning_rate = 1.0}, 2};
  auto fixed_state = fixed.init(start());
  EXPECT_TRUE(structure_error_of([&] {
                fixed.update(Model{}, fixed_state, start());
              }).starts_with("espalier: static_loss_scale.update: the gradients do not have"));
}
