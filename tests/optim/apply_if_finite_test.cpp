#include <cmath>
#include <espalier/optim/adam.hpp>
#include <espalier/optim/apply_if_finite.hpp>
#include <espalier/optim/sgd.hpp>
#include <limits>

#include "problem.hpp"

namespace optim = espalier::optim;

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(apply_if_finite, finite_steps_are_those_of_the_optimizer) {
  expect_ten_steps(optim::apply_if_finite{optim::adam{.learning_rate = 0.1}},
                   {0.0507267604589001, -1.03095607463466, 0.197033224857014}, 1e-12);
}

TEST(apply_if_finite, a_step_that_is_not_finite_is_left_out_and_the_state_stays) {
  const optim::apply_if_finite opt{optim::sgd{.learning_rate = 1.0, .momentum = 0.5}};
  using point = std::array<double, 2>;
  const point p{};
  auto state = opt.init(p);
  EXPECT_EQ(opt.update(point{1, 2}, state, p), (point{-1, -2}));
  for (const double bad : {nan_value, infinity, -infinity})
    EXPECT_EQ(opt.update(point{bad, 2}, state, p), (point{0, 0}));
  EXPECT_EQ(state.notfinite_count, 3);
  EXPECT_FALSE(state.last_finite);
  EXPECT_EQ(*state.inner.velocity, (point{1, 2}));
  EXPECT_EQ(opt.update(point{1, 2}, state, p), (point{-1.5, -3}));
  EXPECT_EQ(state.notfinite_count, 0);
  EXPECT_EQ(state.total_notfinite, 3);
  EXPECT_TRUE(state.last_finite);
}

TEST(apply_if_finite, after_too_many_in_a_row_it_gives_up) {
  const optim::apply_if_finite opt{.inner = optim::sgd{.learning_rate = 1.0}, .max_consecutive_errors = 2};
  auto state = opt.init(1.0);
  EXPECT_EQ(opt.update(nan_value, state, 1.0), 0);
  EXPECT_EQ(opt.update(nan_value, state, 1.0), 0);
  EXPECT_TRUE(std::isnan(opt.update(nan_value, state, 1.0)));
}

TEST(apply_if_finite, leaves_that_are_not_parameters_do_not_matter) {
  EXPECT_TRUE(optim::all_finite(start()));
  Model m = start();
  m.layers[0].bias = infinity;
  EXPECT_FALSE(optim::all_finite(m));
}

TEST(apply_if_finite, gradients_of_another_structure_are_refused) {
  const optim::apply_if_finite opt{optim::sgd{.learning_rate = 1.0}};
  auto state = opt.init(start());
  EXPECT_TRUE(structure_error_of([&] {
                opt.update(Model{}, state, start());
              }).starts_with("espalier: apply_if_finite.update: the gradients do not have"));
}
