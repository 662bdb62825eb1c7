// A whole training step (forward, backward, Adam, evaluation), as a training loop takes it, against the same step written
// by hand over vectors of arrays with MLX's own compile: a perceptron of 8 and of 32 layers, so narrow that dispatch
// matters, and of a middle width.
//
//   bench_step             times: a table, then `step/CASE/mlx_cpp ratio R`
//   bench_step --times     `time SIDE/CASE NANOSECONDS` for each, and `loss SIDE/CASE VALUE` after 20 steps, for
//                          step_peers.py, which adds MLX's Python and JAX
#include <benchmark/benchmark.h>
#include <mlx/compile.h>
#include <mlx/mlx.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <espalier/compile.hpp>
#include <espalier/espalier.hpp>
#include <espalier/mlx/mlx.hpp>
#include <espalier/optim/optim.hpp>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "interleaved.hpp"

namespace mx = mlx::core;
using arrays = std::vector<mx::array>;

namespace {

// A training run that has its state inside: takes a step, evaluates all of its results, gives the loss.
using run = std::function<mx::array()>;

// What is measured: the same run, made by both sides.
struct step_case {
  std::string name;
  std::function<run()> espalier, mlx_cpp;
};

// --- The perceptron. -------------------------------------------------------------------------------------------------

constexpr int rows = 32;
constexpr double learning_rate = 1e-3;

// Numbers between -scale and scale, the same in step_peers.py.
mx::array numbers(const mx::Shape& shape, double scale, int first = 0) {
  std::vector<float> values;
  const int n = std::accumulate(shape.begin(), shape.end(), 1, std::multiplies<>());
  for (int i = first; i < first + n; ++i) values.push_back(static_cast<float>(scale * ((i * 37 + 11) % 101 - 50) / 50));
  return mx::array(values.begin(), shape);
}

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

constexpr espalier::optim::adam optimizer{.learning_rate = learning_rate};

mx::array mlp_loss(const mlp& params, const batch& b) {
  mx::array h = b.input;
  for (const linear& layer : params.layers) h = mx::tanh(mx::matmul(h, layer.weight) + layer.bias);
  return mx::mean(mx::square(h - b.target));
}

mx::array tree_step(train_state& state, const batch& b) {
  auto [loss, gradient] = espalier::value_and_grad(mlp_loss)(state.params, b);
  espalier::optim::apply_updates(state.params, optimizer.update(gradient, state.moments, state.params));
  return loss;
}

train_state make_state(int layers, int width) {
  mlp params;
  for (int i = 0; i < layers; ++i) {
    params.layers.push_back({numbers({width, width}, 1 / std::sqrt(width), i), mx::zeros({width})});
  }
  train_state state{params, optimizer.init(params)};
  espalier::eval(state);
  return state;
}

batch make_batch(int width) { return {numbers({rows, width}, 1), numbers({rows, width}, 0.5, 50)}; }

// By hand, in and out as one vector: parameters, mu, nu, count, input, target or loss.
arrays flat_step(const arrays& x) {
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

run espalier_run(int layers, int width) {
  auto step = std::make_shared<decltype(espalier::compile<&tree_step>())>(espalier::compile<&tree_step>());
  return [step, state = make_state(layers, width), b = make_batch(width)]() mutable {
    mx::array loss = (*step)(state, b);
    espalier::eval(state, loss);
    return loss;
  };
}

run mlx_cpp_run(int layers, int width) {
  const train_state start = make_state(layers, width);
  arrays state;
  const auto append = [&state](const mx::array& a) { state.push_back(a); };
  espalier::tree_visit(append, start.params);
  espalier::tree_visit(append, start.moments.mu);
  espalier::tree_visit(append, start.moments.nu);
  state.push_back(start.moments.count);
  return [step = mx::compile(flat_step), state, b = make_batch(width)]() mutable {
    state.push_back(b.input);
    state.push_back(b.target);
    state = step(state);
    mx::eval(state);
    mx::array loss = state.back();
    state.pop_back();
    return loss;
  };
}

step_case mlp_case(int layers, int width) {
  return {"mlp_" + std::to_string(layers) + "x" + std::to_string(width),
          [layers, width] { return espalier_run(layers, width); },
          [layers, width] { return mlx_cpp_run(layers, width); }};
}

// --- All cases. (A new one, such as a language model: its two runs, a line here, and its Python in step_peers.py.) ---

std::vector<step_case> all_cases() {
  return {mlp_case(8, 16), mlp_case(32, 16), mlp_case(8, 64), mlp_case(32, 64), mlp_case(8, 256), mlp_case(32, 256)};
}

double loss_after(int steps, run next) {
  for (int i = 1; i < steps; ++i) next();
  return next().item<float>();
}

void add(const std::string& name, const std::function<run()>& make) {
  auto next = std::make_shared<run>();
  benchmark::RegisterBenchmark(name.c_str(), [make, next](benchmark::State& state) {
    if (!*next) *next = make();  // once, for all repetitions: the state goes on, and what was traced stays traced
    (*next)();
    for (auto _ : state) (*next)();
  })->UseRealTime();
}

}  // namespace

int main(int argc, char** argv) {
  const auto is_times = [](const char* argument) { return std::strcmp(argument, "--times") == 0; };
  char** const end = std::remove_if(argv + 1, argv + argc, is_times);
  const bool print_times = end != argv + argc;
  argc = static_cast<int>(end - argv);

  const std::vector<step_case> cases = all_cases();
  for (const step_case& c : cases) {
    // A ratio of two different programs is no ratio.
    const double ours = loss_after(20, c.espalier());
    const double theirs = loss_after(20, c.mlx_cpp());
    if (!(std::abs(ours - theirs) <= 1e-4 * std::abs(theirs))) {
      std::fprintf(stderr, "bench_step: %s: the losses after 20 steps do not agree: %g, %g\n", c.name.c_str(), ours,
                   theirs);
      return 1;
    }
    if (print_times) {
      std::printf("loss espalier/%s %.7g\nloss mlx_cpp/%s %.7g\n", c.name.c_str(), ours, c.name.c_str(), theirs);
    }
    add("espalier/" + c.name, c.espalier);
    add("mlx_cpp/" + c.name, c.mlx_cpp);
  }

  const bench::shortest_times times = bench::run_interleaved(argc, argv, "0.1");
  if (print_times) {
    for (const auto& [name, nanoseconds] : times) std::printf("time %s %.2f\n", name.c_str(), nanoseconds);
    return 0;
  }
  std::printf("\nOne training step, the shortest of the repetitions:\n  %-12s %14s %14s %7s\n", "case", "MLX C++, us",
              "espalier, us", "ratio");
  std::string headlines;
  for (const step_case& c : cases) {
    if (!times.has("espalier/" + c.name) || !times.has("mlx_cpp/" + c.name)) continue;
    const double ours = times["espalier/" + c.name];
    const double theirs = times["mlx_cpp/" + c.name];
    std::printf("  %-12s %14.1f %14.1f %7.3f\n", c.name.c_str(), theirs / 1000, ours / 1000, ours / theirs);
    char line[80];
    std::snprintf(line, sizeof line, "step/%s/mlx_cpp ratio %.3f\n", c.name.c_str(), ours / theirs);
    headlines += line;
  }
  std::printf("\n%s", headlines.c_str());
}
