// A training step of a perceptron with Adam, over plain structs and by hand over one vector of arrays: what
// bench_dispatch calls, and bench_step evaluates too.
#pragma once

#include <mlx/mlx.h>

#include <cmath>
#include <cstddef>
#include <espalier/mlx/mlx.hpp>
#include <espalier/optim/optim.hpp>
#include <numeric>
#include <vector>

namespace bench {

namespace mx = mlx::core;
using arrays = std::vector<mx::array>;

constexpr double learning_rate = 1e-3;

struct linear {
  mx::array weight, bias;
};
struct mlp {
  std::vector<linear> layers;
};
struct train_state {
  mlp params;
  espalier::optim::adam_state<mlp> moments;
};
struct batch {
  mx::array input, target;
};

inline constexpr espalier::optim::adam optimizer{.learning_rate = learning_rate};

inline mx::array mlp_loss(const mlp& params, const batch& b) {
  mx::array h = b.input;
  for (const linear& layer : params.layers) h = mx::tanh(mx::matmul(h, layer.weight) + layer.bias);
  return mx::mean(mx::square(h - b.target));
}

inline mx::array tree_step(train_state& state, const batch& b) {
  auto [loss, gradient] = espalier::value_and_grad(mlp_loss)(state.params, b);
  espalier::optim::apply_updates(state.params, optimizer.update(gradient, state.moments, state.params));
  return loss;
}

// The same by hand, in and out as one vector: parameters, mu, nu, count, input, target or loss.
inline arrays flat_step(const arrays& x) {
  const std::size_t n = (x.size() - 3) / 3;
  std::vector<int> parameters(n);
  std::iota(parameters.begin(), parameters.end(), 0);
  const auto loss_of = [n](const arrays& a) {
    mx::array h = a[n];
    for (std::size_t i = 0; i < n; i += 2) h = mx::tanh(mx::matmul(h, a[i]) + a[i + 1]);
    return arrays{mx::mean(mx::square(h - a[n + 1]))};
  };
  arrays arguments(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n));
  arguments.push_back(x[x.size() - 2]);
  arguments.push_back(x[x.size() - 1]);
  const auto [loss, gradients] = mx::value_and_grad(loss_of, parameters)(arguments);

  const auto number = [](double value) { return mx::array(value, mx::float32); };
  const mx::array count = x[3 * n] + mx::array(1, mx::int32);
  const mx::array steps = mx::astype(count, mx::float32);
  const mx::array correction1 = -mx::expm1(steps * number(std::log(0.9)));
  const mx::array correction2 = -mx::expm1(steps * number(std::log(0.999)));
  arrays y = x;
  for (std::size_t i = 0; i < n; ++i) {
    const mx::array& g = gradients[i];
    const mx::array mu = number(0.9) * x[n + i] + number(1 - 0.9) * g;
    const mx::array nu = number(0.999) * x[2 * n + i] + number(1 - 0.999) * mx::square(g);
    y[i] = x[i] - number(learning_rate) * (mu / correction1 / (mx::sqrt(nu / correction2) + number(1e-8)));
    y[n + i] = mu;
    y[2 * n + i] = nu;
  }
  y[3 * n] = count;
  y.pop_back();
  y.back() = loss[0];
  return y;
}

// A state as flat_step takes it, but for input and target.
inline arrays flat_state(const train_state& state) {
  arrays flat;
  const auto append = [&flat](const mx::array& a) { flat.push_back(a); };
  espalier::tree_visit(append, state.params);
  espalier::tree_visit(append, state.moments.mu);
  espalier::tree_visit(append, state.moments.nu);
  flat.push_back(state.moments.count);
  return flat;
}

}  // namespace bench
