// Of numbers, whose copies are themselves; half precision is in mlx_test.cpp.
#include <espalier/optim/adam.hpp>
#include <espalier/optim/master_weights.hpp>

#include "problem.hpp"

namespace optim = espalier::optim;

TEST(master_weights, ten_steps_are_those_of_the_optimizer) {
  expect_ten_steps(optim::master_weights{optim::adam{.learning_rate = 0.1}},
                   {0.0507267604589001, -1.03095607463466, 0.197033224857014}, 1e-12);
}

TEST(master_weights, parameters_that_grew_after_init_change_nothing) {
  const optim::master_weights opt{optim::adam{.learning_rate = 0.1}};
  Model m = start();
  auto state = opt.init(m);
  m.layers.push_back(m.layers[0]);
  EXPECT_TRUE(structure_error_of([&] {
                opt.update(m, state, m);
              }).starts_with("espalier: master_weights.update: the state's moments do not have the structure"));
  EXPECT_EQ(state.inner.count, 0);
}
