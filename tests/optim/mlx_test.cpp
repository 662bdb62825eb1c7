#include <gtest/gtest.h>
#include <mlx/mlx.h>

#include <array>
#include <cmath>
#include <complex>
#include <espalier/aux.hpp>
#include <espalier/errors.hpp>
#include <espalier/mlx/math.hpp>
#include <espalier/optim/optim.hpp>
#include <espalier/paths.hpp>
#include <espalier/visit.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "every_optimizer.hpp"

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

// CASES 21: integers and booleans are no parameters. No optimizer turns them into floats, in the model or in its state.
TEST(optim_mlx, no_optimizer_touches_integers_booleans_or_plain_numbers) {
  struct Gated {
    Net net;
    mx::array open;
  };
  every_optimizer([](const std::string& name, const auto& opt) {
    Gated m{start(), mx::array({true, false})};
    auto state = opt.init(m);
    for (int t = 0; t < 3; ++t) {
      const Gated g{gradients(m.net, t), mx::array({false, false})};
      optim::apply_updates(m, opt.update(g, state, m));
    }
    EXPECT_EQ(m.net.tokens_seen.dtype(), mx::int32) << name;
    EXPECT_EQ(m.net.tokens_seen.item<int>(), 41) << name;
    EXPECT_EQ(m.open.dtype(), mx::bool_) << name;
    EXPECT_TRUE(mx::array_equal(m.open, mx::array({true, false})).template item<bool>()) << name;
    EXPECT_EQ(m.net.dropout, 0.1) << name;
    EXPECT_NE(mx::take(m.net.layers[0].weight, 1).template item<float>(), -2) << name;
    espalier::tree_visit_with_path(
        [&]<class L>(const espalier::path_view& path, const L& leaf) {
          if constexpr (std::is_same_v<L, mx::array>) {
            const std::string at = path.to_string();
            EXPECT_TRUE(!at.ends_with(".tokens_seen") || leaf.dtype() == mx::int32) << name << at;
            EXPECT_TRUE(!at.ends_with(".open") || leaf.dtype() == mx::bool_) << name << at;
          }
        },
        state);
  });
}

// CASES 22: gradients of half precision that are zero, or whose squares are, give finite steps, and no state is half
// precision.
TEST(optim_mlx, every_optimizer_is_finite_in_half_precision_and_keeps_its_state_in_single) {
  for (const mx::Dtype dtype : {mx::float16, mx::bfloat16}) {
    for (const float g : {0.0F, 1e-7F}) {
      every_optimizer([&](const std::string& name, const auto& opt) {
        using parameters = std::array<mx::array, 2>;
        const auto filled = [&](float x) { return parameters{mx::full({3, 2}, x, dtype), mx::full({2}, x, dtype)}; };
        parameters p = filled(0.5F);
        auto state = opt.init(p);
        for (int t = 0; t < 3; ++t) optim::apply_updates(p, opt.update(filled(g), state, p));
        for (const mx::array& each : p) {
          EXPECT_EQ(each.dtype(), dtype) << name;
          EXPECT_TRUE(mx::all(mx::isfinite(each)).template item<bool>()) << name << ", gradients " << g;
        }
        espalier::tree_visit_with_path(
            [&]<class L>(const espalier::path_view& path, const L& leaf) {
              if constexpr (std::is_same_v<L, mx::array>) {
                EXPECT_NE(leaf.dtype(), dtype) << name << path.to_string();
              }
            },
            state);
      });
    }
  }
}

TEST(optim_mlx, schedules_of_arrays_are_those_of_numbers_in_float32) {
  const auto expect_same = [](const auto& schedule) {
    for (const int count : {0, 1, 3, 5, 6, 11, 12, 40}) {
      mx::array value = schedule(mx::array(count));
      EXPECT_EQ(value.dtype(), mx::float32);
      EXPECT_TRUE(value.shape().empty());
      EXPECT_NEAR(value.item<float>(), schedule(count), 1e-7) << count;
    }
  };
  expect_same(optim::constant_schedule{0.3});
  expect_same(optim::linear_schedule{0.1, 0.5, 6});
  expect_same(optim::exponential_decay{0.3, 0.9});
  expect_same(optim::step_decay{0.3, 0.5, 3});
  expect_same(optim::cosine_decay{0.3, 12, 0.1});
  expect_same(optim::warmup_cosine_decay{.peak = 0.4, .warmup_steps = 5, .decay_steps = 12, .end = 0.1});
  expect_same(optim::join_schedules({3, 6}, optim::constant_schedule{0.1}, optim::linear_schedule{0, 1, 3},
                                    optim::exponential_decay{0.2, 0.5}));
  expect_same(optim::relative_step{});
  expect_same(optim::relative_step{.warmup_init = true});
}

// |u| = sign(g) in the first step where g² is a product of a row and a column: then its factors tell all of it.
TEST(optim_mlx, adafactor_is_exact_for_squared_gradients_of_rank_one) {
  const optim::adafactor opt{.learning_rate = 1.0, .clip_threshold = 1e3, .scale_parameter = false};
  const mx::array g = mx::matmul(mx::array({1.0F, -2.0F, 4.0F}, {3, 1}), mx::array({3.0F, 0.5F}, {1, 2}));
  auto state = opt.init(g);
  EXPECT_EQ(state.v_row.shape(), mx::Shape{3});
  EXPECT_EQ(state.v_col.shape(), mx::Shape{2});
  EXPECT_TRUE(state.v.shape().empty());
  EXPECT_TRUE(mx::allclose(opt.update(g, state, g), -mx::sign(g), 1e-5).item<bool>());
}

// With g = U S V', the step is U S' V' with S' near 1: its singular values are, and step' g is symmetric and positive.
TEST(optim_mlx, muon_makes_steps_of_matrices_orthogonal) {
  const optim::muon opt{.learning_rate = 1.0, .momentum = 0, .weight_decay = 0};
  const mx::array wide({3.0F, 1.0F, 0.5F, -1.0F, 2.0F, 1.0F, 0.25F, -2.0F, 1.5F, -1.0F, 0.5F, 2.5F}, {3, 4});
  for (const auto& [g, scale] : {std::tuple{wide, 1.0F}, std::tuple{mx::transpose(wide), std::sqrt(4.0F / 3.0F)}}) {
    auto state = opt.init(g);
    const mx::array near = -opt.update(g, state, g) / scale;
    const mx::array values = mx::linalg::svd(near, false, mx::Device::cpu)[0];
    EXPECT_GT(mx::min(values).item<float>(), 0.6);
    EXPECT_LT(mx::max(values).item<float>(), 1.3);
    const mx::array product = mx::matmul(mx::transpose(near), g);
    EXPECT_TRUE(mx::allclose(product, mx::transpose(product), 1e-3, 1e-3).item<bool>());
    EXPECT_GT(mx::trace(product).item<float>(), 0);
  }
}

// A step of 1/1024 is a quarter of what bfloat16 can add to 1.
TEST(optim_mlx, master_weights_add_up_what_half_precision_rounds_away) {
  const auto after_sixteen = [](const auto& opt) {
    mx::array p = mx::array(1.0F, mx::bfloat16);
    auto state = opt.init(p);
    for (int t = 0; t < 16; ++t) optim::apply_updates(p, opt.update(mx::array(-1.0F, mx::bfloat16), state, p));
    EXPECT_EQ(p.dtype(), mx::bfloat16);
    return mx::astype(p, mx::float32).item<float>();
  };
  const optim::sgd opt{.learning_rate = 1.0 / 1024};
  EXPECT_EQ(after_sixteen(opt), 1);
  EXPECT_EQ(after_sixteen(optim::master_weights{opt}), 1 + 16.0F / 1024);
}

TEST(optim_mlx, the_mean_of_half_precision_is_single) {
  const optim::ema average{.decay = 0.5};
  auto state = average.init(mx::array(0.0F, mx::float16));
  average.update(mx::array(8.0F, mx::float16), state);
  const mx::array mean = average.update(mx::array(2.0F, mx::float16), state);
  EXPECT_EQ(mean.dtype(), mx::float16);
  EXPECT_EQ(mx::astype(mean, mx::float32).item<float>(), 4);  // (8 / 4 + 2 / 2) / (3 / 4)
  EXPECT_EQ(state.ema.dtype(), mx::float32);
}

TEST(optim_mlx, a_step_that_is_not_finite_leaves_parameters_and_moments) {
  const optim::apply_if_finite opt{optim::adam{.learning_rate = 0.25}};
  Net net = start();
  auto state = opt.init(net);
  Net bad = gradients(net, 0);
  bad.layers[0].bias = mx::array(std::nanf(""));
  optim::apply_updates(net, opt.update(bad, state, net));
  EXPECT_FALSE(state.last_finite.item<bool>());
  EXPECT_EQ(state.total_notfinite.item<int>(), 1);
  EXPECT_EQ(state.inner.count.item<int>(), 0);
  EXPECT_EQ(mx::max(mx::abs(state.inner.mu.layers[0].weight)).item<float>(), 0);
  EXPECT_TRUE(mx::array_equal(net.layers[0].weight, mx::array({1.0F, -2.0F})).item<bool>());
  optim::apply_updates(net, opt.update(gradients(net, 0), state, net));
  EXPECT_EQ(state.inner.count.item<int>(), 1);
  EXPECT_NEAR(mx::take(net.layers[0].weight, 0).item<float>(), 0.75, 1e-6);  // the first step: the rate
}

// The square of the scaled gradient fits into float16; unscaled it would be zero. 2^17 does not fit, and is halved.
TEST(optim_mlx, a_dynamic_loss_scale_finds_itself_in_half_precision) {
  const optim::dynamic_loss_scale opt{.inner = optim::sgd{.learning_rate = 1.0}, .initial_scale = 131072};
  mx::array p(1.0F, mx::float16);
  auto state = opt.init(p);
  const auto gradient = [&] { return opt.scaled(mx::array(0.125F, mx::float16), state); };
  optim::apply_updates(p, opt.update(gradient(), state, p));
  EXPECT_EQ(state.scale.item<float>(), 65536);
  optim::apply_updates(p, opt.update(gradient(), state, p));  // 65536 is infinite too
  EXPECT_EQ(mx::astype(p, mx::float32).item<float>(), 1);
  EXPECT_EQ(state.scale.item<float>(), 32768);
  optim::apply_updates(p, opt.update(gradient(), state, p));
  EXPECT_EQ(mx::astype(p, mx::float32).item<float>(), 0.875);
}

TEST(optim_mlx, parameters_of_others_cost_a_group_no_memory) {
  const auto by_axes = [](const mx::array& p) { return p.ndim() == 2 ? 0 : 1; };
  const optim::partitioned opt(by_axes, optim::muon{.learning_rate = 0.1}, optim::adam{.learning_rate = 0.1});
  const std::array<mx::array, 2> params{mx::ones({4, 4}), mx::ones({4})};
  auto state = opt.init(params);
  opt.update(params, state, params);
  EXPECT_EQ(std::get<0>(state).mu[0].size(), 16U);
  EXPECT_EQ(std::get<0>(state).mu[1].size(), 1U);
  EXPECT_EQ(std::get<1>(state).mu[0].size(), 1U);
  EXPECT_EQ(std::get<1>(state).nu[1].size(), 4U);
}

TEST(optim_mlx, complex_gradients_are_clipped_by_their_magnitude) {
  const std::vector<mx::array> grads{mx::array(std::complex<float>(3, 4), mx::complex64)};
  const optim::clip opt{.max_delta = 1};
  optim::empty_state state;
  const auto clipped = opt.update(grads, state, grads);
  EXPECT_NEAR(mx::real(clipped[0]).item<float>(), 0.6, 1e-6);
  EXPECT_NEAR(mx::imag(clipped[0]).item<float>(), 0.8, 1e-6);
}

}  // namespace
