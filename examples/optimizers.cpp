// The code of docs/optimizers.md.
#include <mlx/mlx.h>

#include <cstdio>
#include <cstdlib>
#include <espalier/espalier.hpp>
#include <espalier/mlx/mlx.hpp>
#include <utility>

namespace mx = mlx::core;

namespace {

struct layer {
  mx::array weight, bias;
};
struct mlp {
  layer hidden, out;
};
struct batch {
  mx::array x, y;
};

mx::array loss(const mlp& m, const batch& b) {
  const mx::array h = mx::tanh(mx::addmm(m.hidden.bias, b.x, m.hidden.weight));
  return mx::mean(mx::square(mx::addmm(m.out.bias, h, m.out.weight) - b.y));
}

namespace optim = espalier::optim;

constexpr auto is_matrix = [](const mx::array& p) { return p.ndim() >= 2; };
constexpr auto opt = optim::chain(
    optim::clip_by_global_norm{.max_norm = 1.0},
    optim::adamw{.learning_rate = optim::warmup_cosine_decay{.peak = 3e-2, .warmup_steps = 20, .decay_steps = 300},
                 .weight_decay = 1e-3,
                 .mask = is_matrix});

struct train_state {
  mlp model;
  decltype(opt.init(std::declval<mlp>())) optimizer;
};

mx::array train_step(train_state& s, const batch& b) {
  auto [value, gradient] = espalier::value_and_grad(loss)(s.model, b);
  optim::apply_updates(s.model, opt.update(gradient, s.optimizer, s.model));
  return value;
}

constexpr optim::partitioned groups(is_matrix, optim::adam{.learning_rate = 1e-2}, optim::muon{.learning_rate = 2e-2});

constexpr optim::inject_hyperparams by_hand{optim::adam{.learning_rate = 1e-2}};

constexpr optim::dynamic_loss_scale half{optim::master_weights{optim::adamw{.learning_rate = 1e-2}}};
using half_state = decltype(half.init(std::declval<mlp>()));

mx::array scaled_loss(const mlp& m, const batch& b, const half_state& s) {
  return half.scaled(mx::astype(loss(m, b), mx::float32), s);
}

struct half_train_state {
  mlp model;  // float16
  half_state optimizer;
};

void half_step(half_train_state& s, const batch& b) {
  const mlp gradient = espalier::grad(scaled_loss)(s.model, b, s.optimizer);
  optim::apply_updates(s.model, half.update(gradient, s.optimizer, s.model));
}

mlp make_model(mx::Dtype dtype) {
  const auto weights = [&](int rows, int columns, std::uint64_t seed) {
    return mx::astype(mx::random::normal({rows, columns}, mx::random::key(seed)), dtype);
  };
  return {{weights(2, 16, 1), mx::zeros({16}, dtype)}, {weights(16, 1, 2), mx::zeros({1}, dtype)}};
}

batch make_batch(mx::Dtype dtype) {
  const mx::array x = mx::random::normal({64, 2}, mx::random::key(3));
  return {mx::astype(x, dtype), mx::astype(mx::prod(x, 1, true), dtype)};
}

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::exit(1);
}

}  // namespace

int main() {
  const mlp model = make_model(mx::float32);
  const batch data = make_batch(mx::float32);
  const float at_first = loss(model, data).item<float>();

  train_state state{model, opt.init(model)};
  auto step = espalier::compile<&train_step>();
  for (int i = 0; i < 300; ++i) espalier::eval(step(state, data), state);
  require(loss(state.model, data).item<float>() < 0.05F * at_first, "the recipe does not train");
  require(step.stats().traces == 1, "the recipe was traced more than once");

  mlp m = model;
  auto moments = groups.init(m);
  for (int i = 0; i < 100; ++i) {
    optim::apply_updates(m, groups.update(espalier::grad(loss)(m, data), moments, m));
    espalier::eval(m, moments);
  }
  require(loss(m, data).item<float>() < 0.2F * at_first, "the groups do not train");

  m = model;
  auto injected = by_hand.init(m);
  injected.hyperparams.learning_rate = injected.hyperparams.learning_rate * mx::array(0.5f);
  const mlp updates = by_hand.update(espalier::grad(loss)(m, data), injected, m);
  require(mx::allclose(mx::max(mx::abs(updates.out.weight)), mx::array(5e-3F), 1e-3).item<bool>(), "not the rate");

  constexpr optim::ema average{.decay = 0.99};
  auto average_state = average.init(m);
  const mlp smooth = average.update(m, average_state);  // after each step; evaluate and save this one
  require(mx::allclose(smooth.out.weight, m.out.weight).item<bool>(), "the mean of one is not that one");

  const batch half_data = make_batch(mx::float16);
  half_train_state half_train{make_model(mx::float16), half.init(make_model(mx::float16))};
  auto compiled_half_step = espalier::compile<&half_step>();
  for (int i = 0; i < 100; ++i) {
    compiled_half_step(half_train, half_data);
    espalier::eval(half_train);
  }
  require(mx::astype(loss(half_train.model, half_data), mx::float32).item<float>() < 0.5F * at_first,
          "half precision does not train");
}
