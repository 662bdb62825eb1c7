#include <espalier/leaf_array.hpp>
#include <espalier/map.hpp>
#include <espalier/optim/adam.hpp>
#include <espalier/optim/add_decayed_weights.hpp>
#include <espalier/optim/chain.hpp>
#include <espalier/optim/clip.hpp>
#include <espalier/optim/masked.hpp>
#include <espalier/optim/sgd.hpp>
#include <espalier/path.hpp>
#include <string>

#include "problem.hpp"

namespace optim = espalier::optim;

const auto is_weight = [](const espalier::path_view& path, const auto&) {
  return path.to_string().find("weight") != std::string::npos;
};

TEST(masked, gradients_of_others_are_passed_on_and_their_state_stays_zero) {
  const optim::masked opt{optim::sgd{.learning_rate = 0.5, .momentum = 0.5}, is_weight};
  const Model m = start();
  auto state = opt.init(m);
  const Model g{{{{4.0, 8.0}, 16.0}}, -1, "gradient"};
  opt.update(g, state, m);
  const Model u = opt.update(g, state, m);
  EXPECT_EQ(u.layers[0].weight, (std::vector<double>{-0.5 * 6, -0.5 * 12}));
  EXPECT_EQ(u.layers[0].bias, 16);
  EXPECT_EQ(u.version, 7);
  EXPECT_EQ(state.velocity->layers[0].weight[0], 6);
  EXPECT_EQ(state.velocity->layers[0].bias, 0);
}

TEST(masked, a_norm_is_that_of_the_parameters_that_the_mask_takes) {
  const optim::masked opt{optim::clip_by_global_norm{.max_norm = 1}, is_weight};
  auto state = opt.init(start());
  const Model u = opt.update(Model{{{{3.0, -4.0}, 12.0}}, 0, ""}, state, start());
  EXPECT_DOUBLE_EQ(u.layers[0].weight[0], 0.6);
  EXPECT_EQ(u.layers[0].bias, 12);
}

TEST(masked, masks_are_functions_of_the_leaf_trees_and_prefixes_of_trees) {
  using point = std::array<double, 2>;
  const std::array<point, 2> params{point{1, 2}, point{3, 4}};
  const optim::sgd ten_times{.learning_rate = -10.0};
  const auto updates = [&](const auto& mask) {
    const optim::masked opt{ten_times, mask};
    auto state = opt.init(params);
    return opt.update(params, state, params);
  };
  using result = std::array<point, 2>;
  EXPECT_EQ(updates([](double p) { return p > 2.5; }), (result{point{1, 2}, point{30, 40}}));
  EXPECT_EQ(updates(std::array<std::array<bool, 2>, 2>{{{true, false}, {false, true}}}),
            (result{point{10, 2}, point{3, 40}}));
  EXPECT_EQ(updates(std::array<bool, 2>{true, false}), (result{point{10, 20}, point{3, 4}}));
  EXPECT_EQ(updates(espalier::tree_map([](double p) { return p == 2; }, params)), (result{point{1, 20}, point{3, 4}}));
  EXPECT_EQ(updates(std::array<int, 2>{2, 0}), (result{point{10, 20}, point{3, 4}}));  // as bools
  EXPECT_EQ(updates(optim::every_parameter{}), (result{point{10, 20}, point{30, 40}}));
}

TEST(masked, a_mask_that_is_no_prefix_is_refused) {
  const optim::masked opt{optim::sgd{.learning_rate = 1.0}, std::vector<int>{1}};
  const std::vector<double> two{1, 2};
  EXPECT_TRUE(structure_error_of([&] { opt.init(two); }).find("expected 1 element, found 2 elements") !=
              std::string::npos);
}

TEST(masked, gradients_of_another_structure_are_refused) {
  const optim::masked opt{optim::sgd{.learning_rate = 1.0}, is_weight};
  auto state = opt.init(start());
  EXPECT_TRUE(structure_error_of([&] {
                opt.update(Model{}, state, start());
              }).starts_with("espalier: masked.update: the gradients do not have the structure of the parameters"));
}

TEST(masked, weight_decay_leaves_masked_parameters_alone_however_it_is_written) {
  const auto whole = optim::adamw{.learning_rate = 0.1, .weight_decay = 0.5, .mask = is_weight};
  const auto in_parts = optim::chain(optim::adam{.learning_rate = -1.0},
                                     optim::masked{optim::add_decayed_weights{.weight_decay = 0.5}, is_weight},
                                     optim::sgd{.learning_rate = 0.1});
  const auto in_two = optim::chain(optim::adam{.learning_rate = -1.0},
                                   optim::add_decayed_weights{.weight_decay = 0.5, .mask = is_weight},
                                   optim::sgd{.learning_rate = 0.1});
  const auto after_ten_steps = [](const auto& opt) {
    Model m = start();
    auto state = opt.init(m);
    for (int t = 0; t < 10; ++t) optim::apply_updates(m, opt.update(gradients(m, t), state, m));
    return m.layers[0];
  };
  const Layer one = after_ten_steps(whole);
  // Of weights as adamw without a mask, of the bias as adam.
  EXPECT_EQ(one.weight, after_ten_steps(optim::adamw{.learning_rate = 0.1, .weight_decay = 0.5}).weight);
  EXPECT_EQ(one.bias, after_ten_steps(optim::adam{.learning_rate = 0.1}).bias);
  for (const Layer& other : {after_ten_steps(in_parts), after_ten_steps(in_two)}) {
    EXPECT_NEAR(one.weight[0], other.weight[0], 1e-14);
    EXPECT_NEAR(one.weight[1], other.weight[1], 1e-14);
    EXPECT_NEAR(*one.bias, *other.bias, 1e-14);
  }
}
