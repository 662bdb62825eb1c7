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

#include <cmath>
#include <cstdio>
#include <espalier/compile.hpp>
#include <espalier/espalier.hpp>
#include <espalier/mlx/mlx.hpp>
#include <espalier/optim/optim.hpp>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "interleaved.hpp"
#include "mlp_step.hpp"

namespace mx = mlx::core;

namespace {

using namespace bench;

// A training run that has its state inside: takes a step, evaluates all of its results, gives the loss.
using run = std::function<mx::array()>;

// What is measured: the same run, made by both sides.
struct step_case {
  std::string name;
  std::function<run()> espalier, mlx_cpp;
};

// --- The perceptron. -------------------------------------------------------------------------------------------------

constexpr int rows = 32;

// Numbers between -scale and scale, the same in step_peers.py.
mx::array numbers(const mx::Shape& shape, double scale, int first = 0) {
  std::vector<float> values;
  const int n = std::accumulate(shape.begin(), shape.end(), 1, std::multiplies<>());
  for (int i = first; i < first + n; ++i) values.push_back(static_cast<float>(scale * ((i * 37 + 11) % 101 - 50) / 50));
  return mx::array(values.begin(), shape);
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

run espalier_run(int layers, int width) {
  auto step = std::make_shared<decltype(espalier::compile<&tree_step>())>(espalier::compile<&tree_step>());
  return [step, state = make_state(layers, width), b = make_batch(width)]() mutable {
    mx::array loss = (*step)(state, b);
    espalier::eval(state, loss);
    return loss;
  };
}

run mlx_cpp_run(int layers, int width) {
  return
      [step = mx::compile(flat_step), state = flat_state(make_state(layers, width)), b = make_batch(width)]() mutable {
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
  const bool print_times = bench::take_flag(argc, argv, "--times");

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
    bench::print_times(times);
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
