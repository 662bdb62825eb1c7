#include <gtest/gtest.h>
#include <mlx/mlx.h>

#include <array>
#include <complex>
#include <espalier/aux.hpp>
#include <espalier/errors.hpp>
#include <espalier/mlx/math.hpp>
#include <espalier/optim/adam.hpp>
#include <espalier/optim/apply_updates.hpp>
#include <espalier/optim/chain.hpp>
#include <espalier/optim/clip.hpp>
#include <espalier/optim/sgd.hpp>
#include <espalier/paths.hpp>
#include <optional>
#include <vector>

namespace mx = mlx::core;
namespace optim = espalier::optim;

namespace {

struct Linear {
  mx::array weight;
  std::optional<mx::array> bias;
};

struct Net {
  std::vector<Linear> layers;
  mx::array tokens_seen;  // integers: not a parameter
  double dropout;         // a number in a tree of arrays: not a parameter
};

Net start(mx::Dtype dtype = mx::float32) {
  return {{{mx::array({1.0F, -2.0F}, dtype), mx::array(0.5, dtype)}}, mx::array(41), 0.1};
}

// The problem of expected.py.
Net gradients(const Net& net, int t) {
  const auto& [w, b] = net.layers[0];
  const auto s = static_cast<float>(t);
  return {{{mx::array({0.5F, 0.6F}) * w + mx::array(0.01F * s), mx::array(0.3F) * *b - mx::array(0.02F * s)}},
          mx::array(-1),
          9.0};
}

template <class Transformation> void expect_ten_steps(const Transformation& opt, const std::array<float, 3>& expected) {
  Net net = start();
  auto state = opt.init(net);
  for (int t = 0; t < 10; ++t) optim::apply_updates(net, opt.update(gradients(net, t), state, net));
  auto& [w, b] = net.layers[0];
  EXPECT_TRUE(w.dtype() == mx::float32 && w.shape() == mx::Shape{2} && b->shape().empty());
  EXPECT_NEAR(mx::take(w, 0).item<float>(), expected[0], 1e-6);
  EXPECT_NEAR(mx::take(w, 1).item<float>(), expected[1], 1e-6);
  EXPECT_NEAR(b->item<float>(), expected[2], 1e-6);
  EXPECT_EQ(net.tokens_seen.item<int>(), 41);
  EXPECT_EQ(net.tokens_seen.dtype(), mx::int32);
  EXPECT_EQ(net.dropout, 0.1);
}

// Expected values: mlx.optimizers of mlx 0.32.4, float32, as printed by expected.py.
TEST(optim_mlx, ten_steps_of_sgd_equal_mlx_optimizers) {
  expect_ten_steps(optim::sgd{.learning_rate = 0.1, .momentum = 0.9}, {-0.41888559F, 0.75414896F, 0.26265481F});
  expect_ten_steps(optim::sgd{.learning_rate = 0.1, .momentum = 0.9, .nesterov = true},
                   {-0.3816402F, 0.55635506F, 0.28595001F});
}

// Expected values: optax 0.2.8 in float64, as printed by expected.py. mlx.optimizers (with
// bias_correction=True) ends within 8e-6 of them: it takes 1 - b2^t in float32.
TEST(optim_mlx, ten_steps_of_adam_equal_optax) {
  expect_ten_steps(optim::adam{.learning_rate = 0.1}, {0.05072676F, -1.03095607F, 0.19703322F});
  expect_ten_steps(optim::adamw{.learning_rate = 0.1, .weight_decay = 0.05}, {0.02748742F, -0.95859593F, 0.19548573F});
}

TEST(optim_mlx, ten_steps_of_a_chain_equal_optax) {
  expect_ten_steps(optim::chain(optim::clip_by_global_norm{.max_norm = 0.5}, optim::adam{.learning_rate = 0.1}),
                   {0.01411874F, -0.99868324F, 0.26882406F});
}

TEST(optim_mlx, the_learning_rate_can_be_an_array) {
  const mx::array rate(0.1F);
  expect_ten_steps(optim::adam{.learning_rate = rate}, {0.05072676F, -1.03095607F, 0.19703322F});
}

TEST(optim_mlx, the_step_count_is_an_integer_array_so_that_compiled_steps_take_it_as_an_input) {
  const optim::adam opt{.learning_rate = 0.1};
  const Net net = start();
  auto state = opt.init(net);
  for (int t = 0; t < 3; ++t) opt.update(gradients(net, t), state, net);
  EXPECT_EQ(state.count.dtype(), mx::int32);
  EXPECT_EQ(state.count.item<int>(), 3);
  EXPECT_EQ(state.mu.tokens_seen.item<int>(), 41);
  EXPECT_EQ(state.nu.dropout, 0.1);
  const auto paths = espalier::tree_paths(state);
  EXPECT_EQ(paths[0].to_string(), ".count");
  EXPECT_EQ(paths[1].to_string(), ".mu.layers[0].weight");
  EXPECT_EQ(paths[2].to_string(), ".mu.layers[0].bias");
}

TEST(optim_mlx, half_precision_with_zero_and_tiny_gradients_stays_finite_and_keeps_its_dtype) {
  for (const mx::Dtype dtype : {mx::float16, mx::bfloat16}) {
    for (const float g : {0.0F, 1e-5F}) {  // the square of 1e-5 is zero in float16
      const optim::adamw opt{.learning_rate = 0.125, .weight_decay = 0};
      Net net = start(dtype);
      Net grads = net;
      grads.layers[0] = {mx::full({2}, g, dtype), mx::array(g, dtype)};
      auto state = opt.init(net);
      optim::apply_updates(net, opt.update(grads, state, net));
      const auto& [w, b] = net.layers[0];
      EXPECT_EQ(w.dtype(), dtype);
      EXPECT_EQ(state.nu.layers[0].weight.dtype(), mx::float32);
      EXPECT_NEAR(mx::astype(*b, mx::float32).item<float>(), g == 0 ? 0.5F : 0.375F,
                  1e-3);  // the first step: the rate
      EXPECT_TRUE(mx::all(mx::isfinite(w)).item<bool>());
    }
  }
}

TEST(optim_mlx, gradients_of_half_precision_are_clipped_by_a_norm_that_does_not_overflow) {
  const std::vector<mx::array> grads{mx::full({4}, 300.0F, mx::float16)};  // the squares alone overflow float16
  EXPECT_EQ(optim::global_norm(grads).item<float>(), 600);
  const optim::clip_by_global_norm clip{.max_norm = 1};
  auto state = clip.init(grads);
  const auto clipped = clip.update(grads, state, grads);
  EXPECT_EQ(clipped[0].dtype(), mx::float16);
  EXPECT_EQ(mx::astype(mx::take(clipped[0], 0), mx::float32).item<float>(), 0.5F);
}

// A complex parameter moves against its gradient's direction by the learning rate, in its first step.
TEST(optim_mlx, complex_parameters_use_the_magnitude_of_their_gradient) {
  const optim::adam opt{.learning_rate = 0.5};
  std::vector<mx::array> params{mx::array(std::complex<float>(1, 1), mx::complex64)};
  const std::vector<mx::array> grads{mx::array(std::complex<float>(3, 4), mx::complex64)};
  auto state = opt.init(params);
  EXPECT_EQ(state.nu[0].dtype(), mx::float32);
  optim::apply_updates(params, opt.update(grads, state, params));
  EXPECT_NEAR(mx::real(params[0]).item<float>(), 1 - 0.5F * 0.6F, 1e-5);
  EXPECT_NEAR(mx::imag(params[0]).item<float>(), 1 - 0.5F * 0.8F, 1e-5);
}

TEST(optim_mlx, finds_the_lowest_point_of_a_bowl) {
  const optim::adam opt{.learning_rate = 0.3};
  mx::array x({3.0F, -4.0F});
  auto state = opt.init(x);
  for (int t = 0; t < 100; ++t) {
    optim::apply_updates(x, opt.update(mx::array({2.0F, 4.0F}) * (x - mx::array({1.0F, -2.0F})), state, x));
  }
  EXPECT_TRUE(mx::allclose(x, mx::array({1.0F, -2.0F}), 0.0, 0.02).item<bool>());
}

// A layer with the keys that it has cached so far: the position is aux data.
struct Attention {
  mx::array weight;
  std::vector<mx::array> keys;
  espalier::aux<int> position;
};

TEST(optim_mlx, a_cache_whose_position_moves_on_can_be_trained) {
  const auto opt = optim::chain(optim::clip_by_global_norm{.max_norm = 1e3}, optim::adam{.learning_rate = 0.25});
  Attention a{mx::array({1.0F, 2.0F}), {mx::array(1.0F)}, 0};
  auto state = opt.init(a);
  for (int t = 0; t < 3; ++t) {
    const Attention g{mx::array({4.0F, -4.0F}), {mx::array(4.0F)}, a.position};
    a.position = a.position + 1;
    optim::apply_updates(a, opt.update(g, state, a));
  }
  EXPECT_EQ(a.position, 3);
  EXPECT_TRUE(mx::allclose(a.weight, mx::array({0.25F, 2.75F}), 1e-5).item<bool>());  // three learning rates
}

TEST(optim_mlx, parameters_that_grew_after_init_change_nothing) {
  const optim::adam opt{.learning_rate = 0.25};
  Net net = start();
  auto state = opt.init(net);
  net.layers.push_back(net.layers[0]);
  EXPECT_THROW(opt.update(net, state, net), espalier::structure_error);
  EXPECT_EQ(state.count.item<int>(), 0);
  EXPECT_EQ(mx::max(mx::abs(state.mu.layers[0].weight)).item<float>(), 0);
}

}  // namespace
