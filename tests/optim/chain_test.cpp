#include <espalier/optim/adam.hpp>
#include <espalier/optim/chain.hpp>
#include <espalier/optim/clip.hpp>
#include <espalier/optim/sgd.hpp>
#include <espalier/paths.hpp>
#include <tuple>
#include <type_traits>

#include "problem.hpp"

namespace optim = espalier::optim;

constexpr auto clipped_adam =
    optim::chain(optim::clip_by_global_norm{.max_norm = 0.5}, optim::adam{.learning_rate = 0.1});

// Expected values: optax 0.2.8 with jax 0.10.2 in float64, as printed by expected.py.
TEST(chain, ten_steps_of_clipping_and_sgd_equal_optax) {
  expect_ten_steps(optim::chain(optim::clip_by_global_norm{.max_norm = 0.5}, optim::sgd{.learning_rate = 0.1}),
                   {0.781767168091106, -1.55174534820452, 0.478183307225025}, 1e-12);
}

TEST(chain, ten_steps_of_clipping_and_adam_equal_optax) {
  expect_ten_steps(clipped_adam, {0.0141187385320953, -0.998683237483166, 0.268824060574312}, 1e-12);
}

TEST(chain, state_is_the_tuple_of_the_states) {
  const auto state = clipped_adam.init(start());
  static_assert(
      std::is_same_v<std::remove_const_t<decltype(state)>, std::tuple<optim::empty_state, optim::adam_state<Model>>>);
  EXPECT_EQ(espalier::tree_paths(state)[1].to_string(), "[1].mu.layers[0].weight[0]");
}

TEST(chain, a_chain_is_a_transformation_and_can_be_chained) {
  const auto halves = optim::chain(optim::sgd{.learning_rate = -0.5}, optim::sgd{.learning_rate = -0.5});
  expect_ten_steps(optim::chain(halves, optim::sgd{.learning_rate = 0.4}),  // 0.25 * 0.4
                   {0.559242163543027, -1.11573442654949, 0.451876789880638}, 1e-12);
}

TEST(chain, an_error_in_a_later_transformation_comes_before_an_earlier_one_changes_its_state) {
  const auto opt =
      optim::chain(optim::chain(optim::sgd{.learning_rate = -1.0, .momentum = 0.9}), optim::adam{.learning_rate = 0.1});
  Model m = start();
  auto state = opt.init(m);
  auto& velocity = std::get<0>(std::get<0>(state)).velocity;
  auto& adam = std::get<1>(state);
  adam.nu.layers.clear();
  EXPECT_TRUE(structure_error_of([&] {
                opt.update(gradients(m, 0), state, m);
              }).starts_with("espalier: adam.update: the state's moments do not have"));
  EXPECT_EQ(velocity->layers[0].weight[0], 0);
  EXPECT_EQ(adam.count, 0);
  EXPECT_TRUE(structure_error_of([&] {
                opt.update(Model{}, state, m);
              }).starts_with("espalier: sgd.update: the gradients do not have"));
}

// A user's transformation, without a check.
struct halve {
  template <class Params> optim::empty_state init(const Params&) const { return {}; }
  template <class Grads, class Params> Params update(const Grads& g, optim::empty_state&, const Params&) const {
    return espalier::tree_map_parameters([](double x) { return x / 2; }, g);
  }
};

TEST(chain, a_transformation_needs_no_check) {
  expect_ten_steps(optim::chain(halve{}, optim::sgd{.learning_rate = 0.2}),
                   {0.559242163543027, -1.11573442654949, 0.451876789880638}, 1e-12);
}
