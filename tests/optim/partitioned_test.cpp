#include <espalier/errors.hpp>
#include <espalier/optim/adam.hpp>
#include <espalier/optim/chain.hpp>
#include <espalier/optim/clip.hpp>
#include <espalier/optim/partitioned.hpp>
#include <espalier/optim/sgd.hpp>
#include <string>
#include <tuple>

#include "problem.hpp"

namespace optim = espalier::optim;

enum class group { weights, biases };

const auto by_path = [](const espalier::path_view& path, const auto&) {
  return path.to_string().find("bias") == std::string::npos ? group::weights : group::biases;
};

// Each group ends where its own optimizer takes it (optax's numbers: adam_test.cpp, sgd_test.cpp).
TEST(partitioned, ten_steps_of_two_groups_are_those_of_their_optimizers) {
  expect_ten_steps(optim::partitioned(by_path, optim::adam{.learning_rate = 0.1}, optim::sgd{.learning_rate = 0.1}),
                   {0.0507267604589001, -1.03095607463466, 0.451876789880638}, 1e-12);
}

TEST(partitioned, a_group_is_clipped_by_its_own_norm) {
  const optim::partitioned opt(by_path, optim::clip_by_global_norm{.max_norm = 1}, optim::sgd{.learning_rate = 1.0});
  auto state = opt.init(start());
  const Model u = opt.update(Model{{{{3.0, -4.0}, 12.0}}, 0, ""}, state, start());
  EXPECT_DOUBLE_EQ(u.layers[0].weight[1], -0.8);
  EXPECT_EQ(u.layers[0].bias, -12);
  EXPECT_EQ(u.name, "tiny");
}

TEST(partitioned, labels_can_be_a_tree_or_a_prefix_of_it) {
  using point = std::array<double, 2>;
  const std::array<point, 2> params{point{1, 2}, point{3, 4}};
  const optim::sgd same{.learning_rate = -1.0};
  const optim::sgd ten_times{.learning_rate = -10.0};
  const auto updates = [&](const auto& labels) {
    const optim::partitioned opt(labels, same, ten_times);
    auto state = opt.init(params);
    return opt.update(params, state, params);
  };
  EXPECT_EQ(updates(std::array<group, 2>{group::weights, group::biases}), (std::array{point{1, 2}, point{30, 40}}));
  EXPECT_EQ(updates(std::array<std::array<int, 2>, 2>{{{0, 1}, {1, 0}}}), (std::array{point{1, 20}, point{30, 4}}));
}

TEST(partitioned, a_label_without_a_transformation_is_named_by_key_path) {
  const optim::partitioned opt([](double p) { return p == 0.5 ? 3 : 0; }, optim::sgd{.learning_rate = 0.1},
                               optim::adam{.learning_rate = 0.1});
  try {
    opt.init(start());
    ADD_FAILURE() << "no label_error";
  } catch (const optim::label_error& e) {
    EXPECT_STREQ(
        e.what(),
        "espalier: partitioned: the label at .layers[0].bias is 3, and there are 2 transformations: give it one "
        "of their positions, from 0");
  }
  const optim::partitioned negative(std::array{0, -1}, optim::sgd{.learning_rate = 0.1});
  EXPECT_THROW(negative.init(std::array{1.0, 2.0}), optim::label_error);
}

TEST(partitioned, one_transformation_may_be_a_chain_or_another_partitioned) {
  const optim::partitioned opt([](double) { return 0; }, optim::chain(optim::chain(optim::sgd{.learning_rate = 0.5})));
  auto state = opt.init(1.0);
  EXPECT_EQ(opt.update(4.0, state, 1.0), -2);
  const optim::partitioned nested([](double) { return false; }, opt);
  auto nested_state = nested.init(1.0);
  EXPECT_EQ(nested.update(4.0, nested_state, 1.0), -2);
}

TEST(partitioned, an_error_in_a_later_transformation_comes_before_an_earlier_one_changes_its_state) {
  const optim::partitioned opt(by_path, optim::adam{.learning_rate = 0.1}, optim::adam{.learning_rate = 0.1});
  Model m = start();
  auto state = opt.init(m);
  std::get<1>(state).nu.layers.clear();
  EXPECT_TRUE(structure_error_of([&] {
                opt.update(gradients(m, 0), state, m);
              }).starts_with("espalier: adam.update: the state's moments do not have"));
  EXPECT_EQ(std::get<0>(state).count, 0);
  EXPECT_TRUE(structure_error_of([&] {
                opt.update(Model{}, state, m);
              }).starts_with("espalier: partitioned.update: the gradients do not have"));
}
