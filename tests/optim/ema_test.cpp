#include <espalier/optim/chain.hpp>
#include <espalier/optim/ema.hpp>
#include <espalier/optim/sgd.hpp>

#include "problem.hpp"

namespace optim = espalier::optim;

TEST(ema, is_the_weighted_mean_of_what_it_was_given) {
  const optim::ema average{.decay = 0.5};
  double p = 0;
  auto state = average.init(p);
  EXPECT_DOUBLE_EQ(average.update(8.0, state), 8);  // of one value, that value
  EXPECT_DOUBLE_EQ(average.update(2.0, state), (8.0 / 4 + 2.0 / 2) / (3.0 / 4));
  EXPECT_DOUBLE_EQ(average.update(16.0, state), (8.0 / 8 + 2.0 / 4 + 16.0 / 2) / (7.0 / 8));
}

TEST(ema, without_debias_it_begins_at_zero) {
  const optim::ema average{.decay = 0.75, .debias = false};
  auto state = average.init(0.0);
  EXPECT_DOUBLE_EQ(average.update(8.0, state), 2);
  EXPECT_DOUBLE_EQ(average.update(8.0, state), 3.5);
}

TEST(ema, of_gradients_in_a_chain) {
  expect_formula(optim::chain(optim::ema{.decay = 0.9, .debias = false}, optim::sgd{.learning_rate = 0.1}),
                 [mean = 0.0](double p, double g) mutable {
                   mean = 0.9 * mean + 0.1 * g;
                   return p - 0.1 * mean;
                 });
}

TEST(ema, other_leaves_are_the_parameters_own) {
  const optim::ema average{.decay = 0.5};
  Model m = start();
  auto state = average.init(m);
  m.version = 8;
  EXPECT_EQ(average.update(m, state).version, 8);
  m.layers.clear();
  EXPECT_TRUE(structure_error_of([&] {
                average.update(m, state);
              }).starts_with("espalier: ema.update: the state's moments do not have the structure"));
}
