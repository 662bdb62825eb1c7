// What a call of a compiled function costs before anything is evaluated, against MLX's own compile with a flat vector
// of the same arrays. The patterns:
//   pass-through   all leaves in, one out            per-leaf   all leaves in, one op on each
//   return         all leaves in, the same out       in-out     a state of all leaves, one of which is assigned
//   step           an Adam step of an MLP of so many layers; whole-step evaluates it too, by the clock
// Of espalier alone, what a look-up costs as traces pile up: the same key repeated, and going around all keys.
//
//   bench_dispatch           a table, then `dispatch/PATTERN/SIZE/mlx_cpp ratio R`
//   bench_dispatch --times   `time PROGRAM/PATTERN/SIZE NANOSECONDS`, for dispatch_peers.py
#include <benchmark/benchmark.h>
#include <mlx/mlx.h>

#include <cstddef>
#include <cstdio>
#include <ctime>
#include <espalier/mlx/mlx.hpp>
#include <espalier/optim/optim.hpp>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "interleaved.hpp"
#include "mlp_step.hpp"

namespace mx = mlx::core;

namespace {

using namespace bench;

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

mx::array filled(const mx::Shape& shape, float value) {
  mx::array a = mx::full(shape, value);
  a.eval();
  return a;
}

mx::array leaf(std::size_t i) { return filled({4, 4}, static_cast<float>(i)); }

model make_model(std::size_t leaves) {
  model m;
  for (std::size_t i = 0; i < leaves; i += 8) {
    m.blocks.push_back(
        {{leaf(i), leaf(i + 1), leaf(i + 2), leaf(i + 3)}, leaf(i + 4), leaf(i + 5), leaf(i + 6), leaf(i + 7)});
  }
  return m;
}

arrays make_flat(std::size_t leaves) {
  arrays flat;
  for (std::size_t i = 0; i < leaves; ++i) flat.push_back(leaf(i));
  return flat;
}

// Registers a benchmark of the function that `make` returns. It is made once, when it first runs, for all repetitions:
// what it traces stays traced. A function that returns a number has timed, in seconds, a part of itself.
template <class Make> benchmark::internal::Benchmark* add(const std::string& name, Make make) {
  constexpr bool times_itself = std::is_same_v<double, decltype(make()())>;
  auto call = std::make_shared<std::optional<decltype(make())>>();
  auto* const added = benchmark::RegisterBenchmark(name.c_str(), [make, call](benchmark::State& state) {
    if (!*call) call->emplace(make());
    (**call)();
    for (auto _ : state) {
      if constexpr (times_itself) {
        state.SetIterationTime((**call)());
      } else {
        (**call)();
      }
    }
  });
  return times_itself ? added->UseManualTime() : added;
}

double thread_seconds() {
  std::timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// --- Trees of `leaves` arrays. ---------------------------------------------------------------------------------------

void add_trees(std::size_t leaves) {
  const std::string size = std::to_string(leaves);
  add("espalier/pass-through/" + size, [leaves] {
    return [f = espalier::compile([](const model& m) { return m.blocks.back().heads.query; }),
            m = make_model(leaves)]() mutable { benchmark::DoNotOptimize(f(m)); };
  });
  add("mlx_cpp/pass-through/" + size, [leaves] {
    return [f = mx::compile([](const arrays& x) { return arrays{x[x.size() - 8]}; }), flat = make_flat(leaves)] {
      benchmark::DoNotOptimize(f(flat));
    };
  });

  add("espalier/return/" + size, [leaves] {
    return [f = espalier::compile([](const model& m) { return m; }), m = make_model(leaves)]() mutable {
      benchmark::DoNotOptimize(f(m));
    };
  });
  add("mlx_cpp/return/" + size, [leaves] {
    return [f = mx::compile([](const arrays& x) { return x; }), flat = make_flat(leaves)] {
      benchmark::DoNotOptimize(f(flat));
    };
  });

  add("espalier/per-leaf/" + size, [leaves] {
    return [f = espalier::compile(
                [](const model& m) { return espalier::tree_map([](const mx::array& x) { return x + x; }, m); }),
            m = make_model(leaves)]() mutable { benchmark::DoNotOptimize(f(m)); };
  });
  add("mlx_cpp/per-leaf/" + size, [leaves] {
    return [f = mx::compile([](const arrays& x) {
              arrays y;
              y.reserve(x.size());
              for (const mx::array& a : x) y.push_back(a + a);
              return y;
            }),
            flat = make_flat(leaves)] { benchmark::DoNotOptimize(f(flat)); };
  });

  // The leaf that changes comes from the batch, not from the state: no graph grows from call to call.
  add("espalier/in-out/" + size, [leaves] {
    return
        [f = espalier::compile([](model& m, const mx::array& batch) { m.blocks.back().heads.query = batch + batch; }),
         m = make_model(leaves), batch = leaf(0)]() mutable { f(m, batch); };
  });
  add("mlx_cpp/in-out/" + size, [leaves] {
    return [f = mx::compile([](const arrays& x) {  // the batch comes last
              arrays y = x;
              y[y.size() - 9] = x.back() + x.back();
              return y;
            }),
            flat = make_flat(leaves + 1)]() mutable { flat = f(flat); };
  });
}

// --- Training steps. -------------------------------------------------------------------------------------------------

constexpr int width = 16;
constexpr int rows = 8;

train_state make_state(std::size_t layers) {
  mlp params;
  for (std::size_t i = 0; i < layers; ++i) {
    params.layers.push_back({filled({width, width}, 0.01F * static_cast<float>(i + 1)), filled({width}, 0.0F)});
  }
  train_state state{params, optimizer.init(params)};
  espalier::tree_visit([](mx::array& a) { a.eval(); }, state);
  return state;
}

batch make_batch() { return {filled({rows, width}, 0.5F), filled({rows, width}, 0.25F)}; }

// A step's call alone is timed. Every call starts from the same state, or the graph would grow with each; to drop the
// graph that was made costs more than the call, and in training falls to evaluation. The whole step goes on from its
// own results, as a training loop does.
void add_steps(std::size_t layers) {
  const std::string size = std::to_string(layers);
  add("espalier/step/" + size, [layers] {
    return [f = espalier::compile<&tree_step>(), start = make_state(layers), state = make_state(layers),
            b = make_batch()]() mutable {
      state = start;
      const double begin = thread_seconds();
      const mx::array loss = f(state, b);
      return thread_seconds() - begin;
    };
  });
  add("mlx_cpp/step/" + size, [layers] {
    const batch b = make_batch();
    arrays start = flat_state(make_state(layers));
    start.push_back(b.input);
    start.push_back(b.target);
    return [f = mx::compile(flat_step), start] {
      const double begin = thread_seconds();
      const arrays results = f(start);
      return thread_seconds() - begin;
    };
  });
  add("espalier/whole-step/" + size,
      [layers] {
        return [f = espalier::compile<&tree_step>(), state = make_state(layers), b = make_batch()]() mutable {
          const mx::array loss = f(state, b);
          arrays all = flat_state(state);
          all.push_back(loss);
          mx::eval(std::move(all));
        };
      })
      ->MinTime(0.1)
      ->UseRealTime();
  add("mlx_cpp/whole-step/" + size,
      [layers] {
        return [f = mx::compile(flat_step), state = flat_state(make_state(layers)), b = make_batch()]() mutable {
          state.push_back(b.input);
          state.push_back(b.target);
          state = f(state);
          mx::eval(state);
          state.pop_back();
        };
      })
      ->MinTime(0.1)
      ->UseRealTime();
}

// A ratio of two different programs is no ratio: the two steps must agree.
bool steps_agree() {
  constexpr std::size_t layers = 8;
  const batch b = make_batch();
  train_state state = make_state(layers);
  auto tree = espalier::compile<&tree_step>();
  auto flat = mx::compile(flat_step);
  arrays expected = flat_state(state);
  for (int i = 0; i < 3; ++i) {
    const mx::array loss = tree(state, b);
    expected.push_back(b.input);
    expected.push_back(b.target);
    expected = flat(expected);
    arrays found = flat_state(state);
    found.push_back(loss);
    for (std::size_t j = 0; j < found.size(); ++j) {
      if (!mx::allclose(found[j], expected[j]).item<bool>()) return false;
    }
    expected.pop_back();
  }
  return true;
}

// --- Look-ups: 16 leaves, and a number, each of whose values is a trace of its own. ----------------------------------

// Calls with the numbers from `first` on, around and around; `entries` numbers have been traced.
void add_look_up(const std::string& pattern, int entries, int first) {
  add("espalier/" + pattern + "/" + std::to_string(entries), [entries, first] {
    auto f = espalier::compile(
        [](const model& m, int number) { return m.blocks[static_cast<std::size_t>(number % 2)].heads.query; });
    const model m = make_model(16);
    for (int i = 0; i < entries; ++i) f(m, i);
    return [f = std::move(f), m, entries, first, i = first]() mutable {
      benchmark::DoNotOptimize(f(m, i));
      if (++i == entries) i = first;
    };
  });
}

struct row {
  std::string pattern;
  std::size_t size;
};

}  // namespace

int main(int argc, char** argv) {
  const bool print_times = bench::take_flag(argc, argv, "--times");

  if (!steps_agree()) {
    std::fprintf(stderr, "bench_dispatch: the two training steps do not agree\n");
    return 1;
  }

  std::vector<row> rows_of_table;
  for (const std::string pattern : {"pass-through", "in-out", "return", "per-leaf"}) {
    for (const std::size_t leaves : {16U, 128U, 1024U}) rows_of_table.push_back({pattern, leaves});
  }
  for (const std::string pattern : {"step", "whole-step"}) {
    for (const std::size_t layers : {8U, 32U}) rows_of_table.push_back({pattern, layers});
  }
  for (const std::size_t leaves : {16U, 128U, 1024U}) add_trees(leaves);
  for (const std::size_t layers : {8U, 32U}) add_steps(layers);
  constexpr int many = 4096;
  add_look_up("same-key", 1, 0);
  add_look_up("same-key", many, many - 1);
  add_look_up("cycling", 16, 0);
  add_look_up("cycling", many, 0);

  const bench::shortest_times times = bench::run_interleaved(argc, argv);
  if (print_times) {
    bench::print_times(times);
    return 0;
  }

  std::printf("\nOne call, the shortest of the repetitions; nothing is evaluated but in whole-step:\n");
  std::printf("  %-13s %7s %14s %14s %7s\n", "pattern", "size", "MLX C++, us", "espalier, us", "ratio");
  std::string headlines;
  const auto headline = [&headlines](const std::string& name, double ratio) {
    char number[32];
    std::snprintf(number, sizeof number, "%.3f", ratio);
    headlines += "dispatch/" + name + " ratio " + number + "\n";
  };
  for (const auto& [pattern, size] : rows_of_table) {
    const std::string name = pattern + "/" + std::to_string(size);
    if (!times.has("mlx_cpp/" + name) || !times.has("espalier/" + name)) continue;
    const double mlx = times["mlx_cpp/" + name];
    const double ours = times["espalier/" + name];
    std::printf("  %-13s %7zu %14.2f %14.2f %7.3f\n", pattern.c_str(), size, mlx / 1000, ours / 1000, ours / mlx);
    headline(name + "/mlx_cpp", ours / mlx);
  }
  std::printf("\nA look-up, 16 leaves:\n  %-13s %22s %22s %7s\n", "pattern", "few entries, us", "4096 entries, us",
              "ratio");
  for (const auto& [pattern, few] : {row{"same-key", 1}, row{"cycling", 16}}) {
    const std::string before = "espalier/" + pattern + "/" + std::to_string(few);
    const std::string after = "espalier/" + pattern + "/" + std::to_string(many);
    if (!times.has(before) || !times.has(after)) continue;
    const double base = times[before];
    const double full = times[after];
    std::printf("  %-13s %22.3f %22.3f %7.3f\n", pattern.c_str(), base / 1000, full / 1000, full / base);
    headline(pattern + "/16/" + std::to_string(many) + "_to_" + std::to_string(few), full / base);
  }
  std::printf("\n%s", headlines.c_str());
}
