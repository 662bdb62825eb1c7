// What flattening, rebuilding and mapping a tree of arrays costs, against loops that a person would write for that very
// tree. trees_peers.py compares with Python's pytrees. The trees: 16, 128 and 1,024 arrays (and 128 numbers) in a list of blocks; the
// parameters of ResNet-50 (161 arrays, lists of lists, optional members); those of a transformer of GPT-2's shape (148).
// What is mapped gives back its argument, so that all of the time is the traversal's.
//
//   bench_trees           a table, then `trees/OP/LEAVES/hand ratio R`
//   bench_trees --times   `time PROGRAM/OP/LEAVES NANOSECONDS`, for trees_peers.py
#include <benchmark/benchmark.h>
#include <mlx/mlx.h>

#include <concepts>
#include <cstddef>
#include <cstdio>
#include <espalier/flatten.hpp>
#include <espalier/map.hpp>
#include <espalier/mlx/array.hpp>
#include <espalier/paths.hpp>
#include <espalier/reduce.hpp>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "interleaved.hpp"

namespace {

using mlx::core::array;

// --- The trees, and what a person would write for them: `each` calls f with every array, `made` builds the tree of what
// f gives back. Both of any number of trees side by side. -------------------------------------------------------------

#define BY_HAND [[gnu::always_inline]] inline

template <class L> struct attention {
  L query, key, value, output;
};
template <class L> struct block {
  attention<L> heads;
  L gate, up, down, norm;
};
template <class L> struct blocks {
  std::vector<block<L>> blocks;
};

struct linear {
  array weight, bias;
};
struct conv_norm {
  array kernel, scale, bias;
};
struct bottleneck {
  conv_norm reduce, spread, expand;
  std::optional<conv_norm> shortcut;
};
struct resnet {
  conv_norm stem;
  std::vector<std::vector<bottleneck>> stages;
  linear head;
};

struct layer_norm {
  array scale, bias;
};
struct decoder {
  layer_norm before_attention;
  linear projections, output;
  layer_norm before_mlp;
  linear up, down;
};
struct transformer {
  array tokens, positions;
  std::vector<decoder> layers;
  layer_norm last;
};

template <class F, class First, class... Rest>
BY_HAND void each_of(const F& f, const std::vector<First>& first, const std::vector<Rest>&... rest) {
  for (std::size_t i = 0; i < first.size(); ++i) f(first[i], rest[i]...);
}
template <class F, class First, class... Rest>
BY_HAND std::vector<First> made_of(const F& f, const std::vector<First>& first, const std::vector<Rest>&... rest) {
  std::vector<First> result;
  result.reserve(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) result.push_back(f(first[i], rest[i]...));
  return result;
}

template <class F, class... T> BY_HAND void each_of_block(const F& f, const T&... b) {
  f(b.heads.query...);
  f(b.heads.key...);
  f(b.heads.value...);
  f(b.heads.output...);
  f(b.gate...);
  f(b.up...);
  f(b.down...);
  f(b.norm...);
}
template <class F, class L, class... T> BY_HAND block<L> made_block(const F& f, const block<L>& b, const T&... rest) {
  return {{f(b.heads.query, rest.heads.query...), f(b.heads.key, rest.heads.key...),
           f(b.heads.value, rest.heads.value...), f(b.heads.output, rest.heads.output...)},
          f(b.gate, rest.gate...),
          f(b.up, rest.up...),
          f(b.down, rest.down...),
          f(b.norm, rest.norm...)};
}
template <class F, class L, class... T> BY_HAND void each(const F& f, const blocks<L>& t, const T&... rest) {
  each_of([&](const auto&... b) { each_of_block(f, b...); }, t.blocks, rest.blocks...);
}
template <class F, class L, class... T> BY_HAND blocks<L> made(const F& f, const blocks<L>& t, const T&... rest) {
  return {made_of([&](const auto&... b) { return made_block(f, b...); }, t.blocks, rest.blocks...)};
}

template <class F, class... T> BY_HAND void each_of_conv(const F& f, const T&... c) {
  f(c.kernel...);
  f(c.scale...);
  f(c.bias...);
}
template <class F, class... T> BY_HAND conv_norm made_conv(const F& f, const T&... c) {
  return {f(c.kernel...), f(c.scale...), f(c.bias...)};
}
template <class F, class First, class... Rest>
BY_HAND void each_of_bottleneck(const F& f, const First& first, const Rest&... rest) {
  each_of_conv(f, first.reduce, rest.reduce...);
  each_of_conv(f, first.spread, rest.spread...);
  each_of_conv(f, first.expand, rest.expand...);
  if (first.shortcut) each_of_conv(f, *first.shortcut, *rest.shortcut...);
}
template <class F, class First, class... Rest>
BY_HAND bottleneck made_bottleneck(const F& f, const First& first, const Rest&... rest) {
  bottleneck result{made_conv(f, first.reduce, rest.reduce...), made_conv(f, first.spread, rest.spread...),
                    made_conv(f, first.expand, rest.expand...), std::nullopt};
  if (first.shortcut) result.shortcut = made_conv(f, *first.shortcut, *rest.shortcut...);
  return result;
}
template <class F, class... T> BY_HAND void each_of_linear(const F& f, const T&... l) {
  f(l.weight...);
  f(l.bias...);
}
template <class F, class... T> BY_HAND linear made_linear(const F& f, const T&... l) {
  return {f(l.weight...), f(l.bias...)};
}
template <class F, std::same_as<resnet>... T> BY_HAND void each(const F& f, const T&... t) {
  each_of_conv(f, t.stem...);
  each_of([&](const auto&... stage) { each_of([&](const auto&... b) { each_of_bottleneck(f, b...); }, stage...); },
          t.stages...);
  each_of_linear(f, t.head...);
}
template <class F, std::same_as<resnet>... T> BY_HAND resnet made(const F& f, const T&... t) {
  conv_norm stem = made_conv(f, t.stem...);
  auto stages = made_of(
      [&](const auto&... stage) {
        return made_of([&](const auto&... b) { return made_bottleneck(f, b...); }, stage...);
      },
      t.stages...);
  return {std::move(stem), std::move(stages), made_linear(f, t.head...)};
}

template <class F, class... T> BY_HAND void each_of_norm(const F& f, const T&... n) {
  f(n.scale...);
  f(n.bias...);
}
template <class F, class... T> BY_HAND layer_norm made_norm(const F& f, const T&... n) {
  return {f(n.scale...), f(n.bias...)};
}
template <class F, class... T> BY_HAND void each_of_decoder(const F& f, const T&... d) {
  each_of_norm(f, d.before_attention...);
  each_of_linear(f, d.projections...);
  each_of_linear(f, d.output...);
  each_of_norm(f, d.before_mlp...);
  each_of_linear(f, d.up...);
  each_of_linear(f, d.down...);
}
template <class F, class... T> BY_HAND decoder made_decoder(const F& f, const T&... d) {
  return {made_norm(f, d.before_attention...), made_linear(f, d.projections...), made_linear(f, d.output...),
          made_norm(f, d.before_mlp...),       made_linear(f, d.up...),          made_linear(f, d.down...)};
}
template <class F, std::same_as<transformer>... T> BY_HAND void each(const F& f, const T&... t) {
  f(t.tokens...);
  f(t.positions...);
  each_of([&](const auto&... d) { each_of_decoder(f, d...); }, t.layers...);
  each_of_norm(f, t.last...);
}
template <class F, std::same_as<transformer>... T> BY_HAND transformer made(const F& f, const T&... t) {
  return {f(t.tokens...), f(t.positions...),
          made_of([&](const auto&... d) { return made_decoder(f, d...); }, t.layers...), made_norm(f, t.last...)};
}

// What a person would keep of a tree beside its leaves: how many blocks there are, and which have a shortcut.
template <class L> std::size_t shape_of(const blocks<L>& t) { return t.blocks.size(); }
std::size_t shape_of(const transformer& t) { return t.layers.size(); }
std::vector<std::vector<char>> shape_of(const resnet& t) {
  std::vector<std::vector<char>> shape;
  shape.reserve(t.stages.size());
  for (const auto& stage : t.stages) {
    auto& shortcuts = shape.emplace_back();
    shortcuts.reserve(stage.size());
    for (const bottleneck& b : stage) shortcuts.push_back(b.shortcut ? 1 : 0);
  }
  return shape;
}

// --- The operations. -------------------------------------------------------------------------------------------------

constexpr auto itself = [](const auto& x) { return x; };
constexpr auto second = [](const auto&, const auto& y) { return y; };
constexpr auto add_size = [](std::size_t n, const array& x) { return n + x.size(); };
constexpr auto add = [](double sum, double x) { return sum + x; };

// A tree, another of its structure, and what flattening it gives.
template <class T> struct inputs {
  T tree, other;
  espalier::flattened<T> flat = espalier::tree_flatten(tree);
};

struct flatten {
  static constexpr const char* name = "flatten";
  template <class T> static auto by_hand(const inputs<T>& in) {
    espalier::leaves_t<T> leaves;
    leaves.reserve(in.flat.leaves.size());
    each([&](const auto& x) { leaves.push_back(x); }, in.tree);
    return std::pair(std::move(leaves), shape_of(in.tree));
  }
  template <class T> static auto by_tree(const inputs<T>& in) { return espalier::tree_flatten(in.tree); }
};
struct unflatten {
  static constexpr const char* name = "unflatten";
  template <class T> static auto by_hand(const inputs<T>& in) {
    const auto* next = in.flat.leaves.data();
    return made([&](const auto&) { return *next++; }, in.tree);
  }
  template <class T> static auto by_tree(const inputs<T>& in) {
    return espalier::tree_unflatten(in.flat.structure, in.flat.leaves);
  }
};
struct map {
  static constexpr const char* name = "map";
  template <class T> static auto by_hand(const inputs<T>& in) { return made(itself, in.tree); }
  template <class T> static auto by_tree(const inputs<T>& in) { return espalier::tree_map(itself, in.tree); }
};
struct map2 {
  static constexpr const char* name = "map2";
  template <class T> static auto by_hand(const inputs<T>& in) { return made(second, in.tree, in.other); }
  template <class T> static auto by_tree(const inputs<T>& in) { return espalier::tree_map(second, in.tree, in.other); }
};
// Of arrays the sum of their sizes, of numbers their sum.
struct reduce {
  static constexpr const char* name = "reduce";
  template <class T> static auto by_hand(const inputs<T>& in) {
    return of(in, [](const auto& f, auto result, const T& tree) {
      each([&](const auto& x) { result = f(result, x); }, tree);
      return result;
    });
  }
  template <class T> static auto by_tree(const inputs<T>& in) {
    return of(in, [](const auto& f, auto initial, const T& tree) { return espalier::tree_reduce(f, tree, initial); });
  }

 private:
  template <class T> BY_HAND static auto of(const inputs<T>& in, auto fold) {
    if constexpr (std::is_same_v<espalier::leaf_value_t<T>, array>) {
      return fold(add_size, std::size_t(0), in.tree);
    } else {
      return fold(add, 0.0, in.tree);
    }
  }
};
// There and back: the leaves moved out of the tree, and into a new one that takes its place. (Python's trees hold
// references, and never copy an array.)
struct round_trip {
  static constexpr const char* name = "round_trip";
  template <class T> static auto by_tree(inputs<T>& in) {
    auto [leaves, structure] = espalier::tree_flatten(std::move(in.other));
    in.other = espalier::tree_unflatten(structure, std::move(leaves));
    return &in.other;
  }
};
// The leaves with their paths. (A person would not write such a loop.)
struct paths {
  static constexpr const char* name = "paths";
  template <class T> static auto by_tree(const inputs<T>& in) {
    return std::pair(espalier::tree_flatten(in.tree), espalier::tree_paths(in.tree));
  }
};

template <class Work> void add_case(const std::string& name, Work work) {
  benchmark::RegisterBenchmark(name.c_str(), [work](benchmark::State& state) {
    for (auto _ : state) {
      auto result = work();
      benchmark::DoNotOptimize(result);
    }
  });
}

template <class Operation, class T> void add_operation(Operation, const std::string& size, inputs<T>& in) {
  const std::string name = std::string(Operation::name) + "/" + size;
  add_case("espalier/" + name, [&in] { return Operation::by_tree(in); });
  if constexpr (requires { Operation::by_hand(in); })
    add_case("hand/" + name, [&in] { return Operation::by_hand(in); });
}

template <class T> void add_tree(const std::string& size, T tree) {
  static std::vector<std::unique_ptr<inputs<T>>> alive;
  auto& in = *alive.emplace_back(std::make_unique<inputs<T>>(tree, tree));
  const auto each_of = [&](auto... operation) { (add_operation(operation, size, in), ...); };
  each_of(flatten(), unflatten(), round_trip(), map(), map2(), reduce(), paths());
}

array leaf() { return mlx::core::zeros({4, 4}); }
linear make_linear() { return {leaf(), leaf()}; }
layer_norm make_norm() { return {leaf(), leaf()}; }
conv_norm make_conv() { return {leaf(), leaf(), leaf()}; }

template <class L> blocks<L> make_blocks(std::size_t leaves, L leaf) {
  blocks<L> tree;
  for (std::size_t i = 0; i < leaves; i += 8) tree.blocks.push_back({{leaf, leaf, leaf, leaf}, leaf, leaf, leaf, leaf});
  return tree;
}
resnet make_resnet() {
  resnet tree{make_conv(), {}, make_linear()};
  for (const int n : {3, 4, 6, 3}) {
    auto& stage = tree.stages.emplace_back();
    for (int i = 0; i < n; ++i) stage.push_back({make_conv(), make_conv(), make_conv(), std::nullopt});
    stage.front().shortcut = make_conv();
  }
  return tree;
}
transformer make_transformer() {
  transformer tree{leaf(), leaf(), {}, make_norm()};
  for (int i = 0; i < 12; ++i) {
    tree.layers.push_back({make_norm(), make_linear(), make_linear(), make_norm(), make_linear(), make_linear()});
  }
  return tree;
}

}  // namespace

int main(int argc, char** argv) {
  const bool print_times = bench::take_flag(argc, argv, "--times");

  for (const std::size_t leaves : {16U, 128U, 1024U}) add_tree(std::to_string(leaves), make_blocks(leaves, leaf()));
  add_tree("128_numbers", make_blocks(128, 1.0));
  add_tree("resnet50", make_resnet());
  add_tree("transformer", make_transformer());
  const bench::shortest_times times = bench::run_interleaved(argc, argv, "0.01");
  if (print_times) {
    bench::print_times(times);
    return 0;
  }

  std::printf("\nOne call, the shortest of the repetitions:\n  %-10s %12s %14s %14s %7s\n", "operation", "leaves",
              "by hand, us", "espalier, us", "ratio");
  std::string headlines;
  for (const std::string operation : {"flatten", "unflatten", "map", "map2", "reduce"}) {
    for (const std::string size : {"16", "128", "1024", "128_numbers", "resnet50", "transformer"}) {
      const std::string name = operation + "/" + size;
      if (!times.has("hand/" + name) || !times.has("espalier/" + name)) continue;
      const double hand = times["hand/" + name];
      const double ours = times["espalier/" + name];
      std::printf("  %-10s %12s %14.3f %14.3f %7.3f\n", operation.c_str(), size.c_str(), hand / 1000, ours / 1000,
                  ours / hand);
      char number[32];
      std::snprintf(number, sizeof number, "%.3f", ours / hand);
      headlines += "trees/" + name + "/hand ratio " + number + "\n";
    }
  }
  std::printf("\n%s", headlines.c_str());
}
