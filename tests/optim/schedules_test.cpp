#include <cmath>
#include <espalier/optim/adam.hpp>
#include <espalier/optim/chain.hpp>
#include <espalier/optim/schedules.hpp>
#include <espalier/optim/sgd.hpp>
#include <espalier/paths.hpp>
#include <string>

#include "problem.hpp"

namespace optim = espalier::optim;

constexpr optim::warmup_cosine_decay warmup{.peak = 0.4, .warmup_steps = 4, .decay_steps = 12, .end = 0.1};

TEST(schedules, constant_and_linear) {
  EXPECT_EQ(optim::constant_schedule{0.3}(1000), 0.3);
  const optim::linear_schedule line{.init = 0, .end = 0.5, .steps = 10};
  EXPECT_EQ(line(0), 0);
  EXPECT_DOUBLE_EQ(line(5), 0.25);
  EXPECT_EQ(line(10), 0.5);
  EXPECT_EQ(line(1000), 0.5);
}

TEST(schedules, exponential_and_step_decay) {
  EXPECT_DOUBLE_EQ((optim::exponential_decay{.init = 3, .decay_rate = 0.5}(4)), 3.0 / 16);
  const optim::step_decay stairs{.init = 0.8, .decay_rate = 0.5, .step_size = 10};
  EXPECT_DOUBLE_EQ(stairs(9), 0.8);
  EXPECT_DOUBLE_EQ(stairs(10), 0.4);
  EXPECT_DOUBLE_EQ(stairs(39), 0.1);
}

TEST(schedules, cosine_decay_has_its_middle_in_the_middle_and_ends_at_the_end) {
  const optim::cosine_decay cosine{.init = 1, .decay_steps = 12, .end = 0.2};
  EXPECT_EQ(cosine(0), 1);
  EXPECT_DOUBLE_EQ(cosine(6), 0.6);
  EXPECT_DOUBLE_EQ(cosine(4), 0.2 + 0.8 * 0.75);  // cos(pi / 3) = 1/2
  EXPECT_DOUBLE_EQ(cosine(12), 0.2);
  EXPECT_DOUBLE_EQ(cosine(500), 0.2);
}

TEST(schedules, joined_schedules_count_from_their_own_boundaries) {
  const auto joined = optim::join_schedules({10, 20}, optim::constant_schedule{1}, optim::linear_schedule{2, 3, 10},
                                            optim::exponential_decay{4, 0.5});
  EXPECT_EQ(joined(9), 1);
  EXPECT_EQ(joined(10), 2);
  EXPECT_DOUBLE_EQ(joined(15), 2.5);
  EXPECT_EQ(joined(20), 4);
  EXPECT_EQ(joined(22), 1);
}

// optax 0.2.8 in float64: optax.warmup_cosine_decay_schedule(0.0, 0.4, 4, 12, 0.1) at these steps.
TEST(schedules, warmup_cosine_decay_equals_optax) {
  EXPECT_EQ(warmup(0), 0);
  EXPECT_DOUBLE_EQ(warmup(2), 0.2);
  EXPECT_DOUBLE_EQ(warmup(4), 0.4);
  EXPECT_NEAR(warmup(6), 0.356066017178, 1e-9);
  EXPECT_NEAR(warmup(9), 0.192597485145, 1e-9);
  EXPECT_DOUBLE_EQ(warmup(12), 0.1);
  EXPECT_DOUBLE_EQ(warmup(100), 0.1);
}

std::string schedule_error_of(auto f) {
  try {
    f();
  } catch (const optim::schedule_error& e) {
    return e.what();
  }
  return "no schedule_error was thrown";
}

TEST(schedules, without_steps_they_say_so) {
  EXPECT_EQ(schedule_error_of([] { return optim::linear_schedule{0, 1, 0}(3); }),
            "espalier: linear_schedule: steps must be at least 1, and is 0");
  EXPECT_EQ(schedule_error_of([] { return optim::step_decay{1, 0.5, -2}(3); }),
            "espalier: step_decay: step_size must be at least 1, and is -2");
  EXPECT_EQ(schedule_error_of([] { return optim::cosine_decay{1, 0}(3); }),
            "espalier: cosine_decay: decay_steps must be at least 1, and is 0");
  EXPECT_EQ(
      schedule_error_of([] { return optim::warmup_cosine_decay{.peak = 1, .warmup_steps = 5, .decay_steps = 5}(3); }),
      "espalier: warmup_cosine_decay: decay_steps - warmup_steps must be at least 1, and is 0");
  EXPECT_EQ(schedule_error_of([] {
              return optim::join_schedules({9, 5}, optim::constant_schedule{1}, optim::constant_schedule{2},
                                           optim::constant_schedule{3});
            }),
            "espalier: join_schedules: the boundaries must be in order, each step not below the one before");
}

TEST(schedules, an_optimizer_asks_its_schedule_with_the_steps_taken_before) {
  const optim::sgd opt{.learning_rate = optim::linear_schedule{1, 0, 4}};
  double p = 0;
  auto state = opt.init(p);
  for (const double rate : {1.0, 0.75, 0.5, 0.25, 0.0, 0.0}) EXPECT_EQ(opt.update(8.0, state, p), -8 * rate);
  EXPECT_EQ(state.count, 6);
  EXPECT_EQ(espalier::tree_paths(state).at(0).to_string(), ".count");
}

// Adam's direction, and the schedule outside of it.
TEST(schedules, adam_with_a_schedule_is_adam_without_one_times_the_schedule) {
  const optim::adam opt{.learning_rate = warmup};
  const auto in_a_chain = optim::chain(optim::adam{.learning_rate = -1.0}, optim::sgd{.learning_rate = warmup});
  Model m = start();
  auto state = opt.init(m);
  auto chain_state = in_a_chain.init(m);
  for (int t = 0; t < 6; ++t) {
    const Model g = gradients(m, t);
    EXPECT_NEAR(opt.update(g, state, m).layers[0].weight[1], in_a_chain.update(g, chain_state, m).layers[0].weight[1],
                1e-15);
  }
}

TEST(schedules, any_function_of_the_count_is_one) {
  const optim::sgd opt{.learning_rate = [](auto count) { return count < 1 ? 0.5 : 0.25; }, .momentum = 0.5};
  double p = 0;
  auto state = opt.init(p);
  EXPECT_EQ(opt.update(1.0, state, p), -0.5);
  EXPECT_EQ(opt.update(1.0, state, p), -0.25 * 1.5);
}
