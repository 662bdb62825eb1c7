// What a call of a compiled function costs before anything is evaluated, against MLX's own compile with a flat vector
// of the same arrays: `pass-through` takes all leaves and returns one, `per-leaf` returns one op per leaf.
#include <benchmark/benchmark.h>
#include <mlx/mlx.h>

#include <cstdio>
#include <espalier/mlx/engine.hpp>
#include <string>
#include <vector>

#include "interleaved.hpp"

namespace mx = mlx::core;

namespace {

struct attention {
  mx::array query, key, value, output;
};
struct block {
  attention heads;
  mx::array gate, up, down;
  std::optional<mx::array> bias;
};
struct model {
  std::vector<block> blocks;  // eight leaves each
};

mx::array leaf(int i) {
  mx::array a = mx::full({4, 4}, static_cast<float>(i));
  a.eval();
  return a;
}

model make_model(int leaves) {
  model m;
  for (int i = 0; i < leaves; i += 8) {
    m.blocks.push_back(
        {{leaf(i), leaf(i + 1), leaf(i + 2), leaf(i + 3)}, leaf(i + 4), leaf(i + 5), leaf(i + 6), leaf(i + 7)});
  }
  return m;
}

std::vector<mx::array> make_flat(int leaves) {
  std::vector<mx::array> flat;
  for (int i = 0; i < leaves; ++i) flat.push_back(leaf(i));
  return flat;
}

void register_pair(int leaves) {
  const std::string n = std::to_string(leaves);
  benchmark::RegisterBenchmark(("espalier/pass-through/" + n).c_str(), [leaves](benchmark::State& state) {
    auto f = espalier::compile([](const model& m) { return m.blocks.back().heads.query; });
    const model m = make_model(leaves);
    for (auto _ : state) benchmark::DoNotOptimize(f(m));
  });
  benchmark::RegisterBenchmark(("mlx_cpp/pass-through/" + n).c_str(), [leaves](benchmark::State& state) {
    auto f = mx::compile([](const std::vector<mx::array>& x) { return std::vector<mx::array>{x[x.size() - 8]}; });
    const std::vector<mx::array> flat = make_flat(leaves);
    for (auto _ : state) benchmark::DoNotOptimize(f(flat));
  });
  benchmark::RegisterBenchmark(("espalier/per-leaf/" + n).c_str(), [leaves](benchmark::State& state) {
    auto f = espalier::compile(
        [](const model& m) { return espalier::tree_map([](const mx::array& x) { return x + x; }, m); });
    const model m = make_model(leaves);
    for (auto _ : state) benchmark::DoNotOptimize(f(m));
  });
  benchmark::RegisterBenchmark(("mlx_cpp/per-leaf/" + n).c_str(), [leaves](benchmark::State& state) {
    auto f = mx::compile([](const std::vector<mx::array>& x) {
      std::vector<mx::array> y;
      y.reserve(x.size());
      for (const mx::array& a : x) y.push_back(a + a);
      return y;
    });
    const std::vector<mx::array> flat = make_flat(leaves);
    for (auto _ : state) benchmark::DoNotOptimize(f(flat));
  });
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int sizes[] = {16, 128, 1024};
  for (const int leaves : sizes) register_pair(leaves);
  const bench::shortest_times times = bench::run_interleaved(argc, argv);

  std::printf("\nOne call, nothing evaluated, the shortest of the repetitions:\n  %-13s %7s %14s %14s %7s\n", "pattern",
              "leaves", "MLX C++, us", "espalier, us", "ratio");
  std::string headlines;
  for (const std::string pattern : {"pass-through", "per-leaf"}) {
    for (const int leaves : sizes) {
      const std::string name = pattern + "/" + std::to_string(leaves);
      const double mlx = times["mlx_cpp/" + name];
      const double ours = times["espalier/" + name];
      std::printf("  %-13s %7d %14.2f %14.2f %7.3f\n", pattern.c_str(), leaves, mlx / 1000, ours / 1000, ours / mlx);
      char line[96];
      std::snprintf(line, sizeof line, "dispatch/%s/mlx_cpp ratio %.3f\n", name.c_str(), ours / mlx);
      headlines += line;
    }
  }
  std::printf("\n%s", headlines.c_str());
}
