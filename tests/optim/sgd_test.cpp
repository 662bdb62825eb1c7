#include <espalier/errors.hpp>
#include <espalier/optim/sgd.hpp>
#include <espalier/paths.hpp>

#include "problem.hpp"

namespace optim = espalier::optim;

// Expected values: optax 0.2.8 with jax 0.10.2 in float64, as printed by expected.py.
TEST(sgd, ten_steps_equal_optax) {
  expect_ten_steps(optim::sgd{.learning_rate = 0.1}, {0.559242163543027, -1.11573442654949, 0.451876789880638}, 1e-12);
}

TEST(sgd, ten_steps_with_momentum_equal_optax) {
  expect_ten_steps(optim::sgd{.learning_rate = 0.1, .momentum = 0.9},
                   {-0.418885668582168, 0.754148979961393, 0.262654822218318}, 1e-12);
}

TEST(sgd, ten_steps_with_nesterov_equal_optax) {
  expect_ten_steps(optim::sgd{.learning_rate = 0.1, .momentum = 0.9, .nesterov = true},
                   {-0.38164023071164, 0.556355033904305, 0.285950020676533}, 1e-12);
}

TEST(sgd, finds_the_lowest_point_of_a_bowl) {
  expect_convergence(optim::sgd{.learning_rate = 0.1});
  expect_convergence(optim::sgd{.learning_rate = 0.05, .momentum = 0.5, .nesterov = true});
}

TEST(sgd, state_without_momentum_has_no_leaves) {
  EXPECT_TRUE(espalier::tree_paths(optim::sgd{.learning_rate = 0.1}.init(start())).empty());
}

TEST(sgd, state_with_momentum_has_the_key_paths_of_the_parameters) {
  const auto paths = espalier::tree_paths(optim::sgd{.learning_rate = 0.1, .momentum = 0.9}.init(start()));
  ASSERT_EQ(paths.size(), 5U);
  EXPECT_EQ(paths[0].to_string(), ".velocity.layers[0].weight[0]");
  EXPECT_EQ(paths[2].to_string(), ".velocity.layers[0].bias");
}

TEST(sgd, gradients_of_another_structure_are_refused_and_change_nothing) {
  const optim::sgd opt{.learning_rate = 0.1, .momentum = 0.9};
  Model m = start();
  auto state = opt.init(m);
  Model wrong = gradients(m, 0);
  wrong.layers[0].bias.reset();
  EXPECT_THROW(opt.update(wrong, state, m), espalier::structure_error);
  EXPECT_EQ(state.velocity->layers[0].weight[0], 0);
  EXPECT_THROW(optim::apply_updates(m, wrong), espalier::structure_error);
  EXPECT_EQ(m.layers[0].weight[0], 1.0);
}

struct Fixed {
  const double scale;
  std::array<float, 2> weight;
};

TEST(sgd, structs_with_const_members_and_floats_are_updated) {
  const optim::sgd opt{.learning_rate = 0.5, .momentum = 0.5};
  Fixed p{1.0, {2.0F, 3.0F}};
  auto state = opt.init(p);
  for (int t = 0; t < 2; ++t) optim::apply_updates(p, opt.update(Fixed{1.0, {1.0F, 2.0F}}, state, p));
  EXPECT_EQ(p.scale, 1 - 0.5 * (1 + 1.5));  // velocities 1 and 1.5, exact in binary
  EXPECT_EQ(p.weight[1], 3 - 0.5F * (2 + 3));
}

TEST(sgd, parameters_that_grew_after_init_are_named_by_key_path_and_change_nothing) {
  const optim::sgd opt{.learning_rate = 0.1, .momentum = 0.9};
  Model m = start();
  auto state = opt.init(m);
  Model g = gradients(m, 0);
  m.layers[0].weight.push_back(3);
  EXPECT_THROW(opt.update(g, state, m), espalier::structure_error);  // the velocity alone would take these
  EXPECT_EQ(state.velocity->layers[0].weight[0], 0);
  g.layers[0].weight.push_back(3);
  EXPECT_EQ(structure_error_of([&] { opt.update(g, state, m); }),
            "espalier: sgd.update: the state's velocity does not have the structure of the parameters, which has "
            "changed since init (call init again):\n"
            "  .layers[0].weight: expected 3 elements, found 2 elements");
  EXPECT_EQ(state.velocity->layers[0].weight[0], 0);
}

TEST(sgd, errors_without_momentum_and_of_apply_updates_are_in_their_own_words) {
  const optim::sgd opt{.learning_rate = 0.1};
  Model m = start();
  auto state = opt.init(m);
  const std::string where =
      " do not have the structure of the parameters:\n  .layers: expected 1 element, found 0 elements";
  EXPECT_EQ(structure_error_of([&] { opt.update(Model{}, state, m); }), "espalier: sgd.update: the gradients" + where);
  EXPECT_EQ(structure_error_of([&] { optim::apply_updates(m, Model{}); }),
            "espalier: apply_updates: the updates" + where);
}

TEST(sgd, aux_data_that_moves_on_after_init_does_not_matter) {
  const optim::sgd opt{.learning_rate = 0.5, .momentum = 0.5};
  Cached c{1, {1}, 0};
  auto state = opt.init(c);
  for (int t = 1; t < 3; ++t) {
    c.position = t;
    optim::apply_updates(c, opt.update(Cached{1, {2}, -1}, state, c));
  }
  EXPECT_EQ(c.weight, 1 - 0.5 * (1 + 1.5));  // velocities 1 and 1.5, exact in binary
  EXPECT_EQ(c.position, 2);
}
