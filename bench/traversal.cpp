// What traversal costs against the code that a person would write by hand, which applies the same function to
// each member by reference: over structs in structs (64 doubles), and over a struct with a vector of layers
// (16 layers of 16 doubles).
//
//   bench_traversal                 times: a table, then `traversal/CASE/time ratio R`
//   bench_traversal --calls 1000    calls each function that often and no more, for callgrind
//                                   (traversal_instructions.py reads its counts)
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <espalier/map.hpp>
#include <espalier/reduce.hpp>
#include <espalier/visit.hpp>
#include <string>
#include <utility>
#include <vector>

#include "interleaved.hpp"

namespace {

struct quad {
  double a, b, c, d;
};
struct layer {
  quad query, key, value, output;
};
struct fixed {
  layer first, second, third, fourth;
};
struct layered {
  quad head;
  std::vector<layer> layers;
  quad tail;
};

// The hand-written side. Always inlined, as if spelt out member by member in the function that uses it: the
// strongest form of the opponent, whatever the compiler's inlining budget says.
#define BY_HAND [[gnu::always_inline]] inline

template <class F, class... Q> BY_HAND void each_quad(const F& f, Q&... q) {
  f(q.a...);
  f(q.b...);
  f(q.c...);
  f(q.d...);
}
template <class F, class... L> BY_HAND void each_layer(const F& f, L&... l) {
  each_quad(f, l.query...);
  each_quad(f, l.key...);
  each_quad(f, l.value...);
  each_quad(f, l.output...);
}
template <class F, class... T> BY_HAND void each(const F& f, fixed& first, T&... t) {
  each_layer(f, first.first, t.first...);
  each_layer(f, first.second, t.second...);
  each_layer(f, first.third, t.third...);
  each_layer(f, first.fourth, t.fourth...);
}
template <class F, class... T> BY_HAND void each(const F& f, const fixed& first, T&... t) {
  each_layer(f, first.first, t.first...);
  each_layer(f, first.second, t.second...);
  each_layer(f, first.third, t.third...);
  each_layer(f, first.fourth, t.fourth...);
}
void require(bool same) {
  if (!same) std::abort();
}
template <class F, class L, class... T> BY_HAND void each_of_layered(const F& f, L& first, T&... t) {
  const std::size_t n = first.layers.size();
  (require(t.layers.size() == n), ...);
  each_quad(f, first.head, t.head...);
  for (std::size_t i = 0; i < n; ++i) each_layer(f, first.layers[i], t.layers[i]...);
  each_quad(f, first.tail, t.tail...);
}
template <class F, class... T> BY_HAND void each(const F& f, layered& first, T&... t) {
  each_of_layered(f, first, t...);
}
template <class F, class... T> BY_HAND void each(const F& f, const layered& first, T&... t) {
  each_of_layered(f, first, t...);
}

template <class F, class... Q> BY_HAND quad made_quad(const F& f, const Q&... q) {
  return {f(q.a...), f(q.b...), f(q.c...), f(q.d...)};
}
template <class F, class... L> BY_HAND layer made_layer(const F& f, const L&... l) {
  return {made_quad(f, l.query...), made_quad(f, l.key...), made_quad(f, l.value...), made_quad(f, l.output...)};
}
template <class F, class... T> BY_HAND fixed made(const F& f, const fixed& first, const T&... t) {
  return {made_layer(f, first.first, t.first...), made_layer(f, first.second, t.second...),
          made_layer(f, first.third, t.third...), made_layer(f, first.fourth, t.fourth...)};
}
template <class F, class... T> BY_HAND layered made(const F& f, const layered& first, const T&... t) {
  const std::size_t n = first.layers.size();
  (require(t.layers.size() == n), ...);
  const auto layers = [&] {
    std::vector<layer> result;
    result.reserve(n);
    for (std::size_t i = 0; i < n; ++i) result.push_back(made_layer(f, first.layers[i], t.layers[i]...));
    return result;
  };
  return {made_quad(f, first.head, t.head...), layers(), made_quad(f, first.tail, t.tail...)};
}

// What is done to the leaves.
constexpr auto decay = [](double& x) { x = 0.5 * x + 1.0; };
constexpr auto scaled = [](double x) { return 0.5 * x + 1.0; };
constexpr auto add_square = [](double sum, double x) { return sum + x * x; };
constexpr auto momentum = [](double& p, double& m, double g) {
  m = 0.9 * m + g;
  p -= 0.01 * m;
};
constexpr auto stepped = [](double p, double m, double g) { return p - 0.01 * (0.9 * m + g); };

}  // namespace

// One function for each side of each case, never inlined, under a plain name that callgrind prints.
#define CASE(tree_type)                                                                                        \
  extern "C" {                                                                                                 \
  [[gnu::noinline]] void hand_##tree_type##_visit(tree_type& t) { each(decay, t); }                            \
  [[gnu::noinline]] void tree_##tree_type##_visit(tree_type& t) { espalier::tree_visit(decay, t); }            \
  [[gnu::noinline]] void hand_##tree_type##_map(tree_type& out, const tree_type& t) { out = made(scaled, t); } \
  [[gnu::noinline]] void tree_##tree_type##_map(tree_type& out, const tree_type& t) {                          \
    out = espalier::tree_map(scaled, t);                                                                       \
  }                                                                                                            \
  [[gnu::noinline]] double hand_##tree_type##_reduce(const tree_type& t) {                                     \
    double sum = 0.0;                                                                                          \
    each([&sum](const double& x) { sum = add_square(sum, x); }, t);                                            \
    return sum;                                                                                                \
  }                                                                                                            \
  [[gnu::noinline]] double tree_##tree_type##_reduce(const tree_type& t) {                                     \
    return espalier::tree_reduce(add_square, t, 0.0);                                                          \
  }                                                                                                            \
  [[gnu::noinline]] void hand_##tree_type##_visit3(tree_type& p, tree_type& m, const tree_type& g) {           \
    each(momentum, p, m, g);                                                                                   \
  }                                                                                                            \
  [[gnu::noinline]] void tree_##tree_type##_visit3(tree_type& p, tree_type& m, const tree_type& g) {           \
    espalier::tree_visit(momentum, p, m, g);                                                                   \
  }                                                                                                            \
  [[gnu::noinline]] void hand_##tree_type##_map3(tree_type& out, const tree_type& p, const tree_type& m,       \
                                                 const tree_type& g) {                                         \
    out = made(stepped, p, m, g);                                                                              \
  }                                                                                                            \
  [[gnu::noinline]] void tree_##tree_type##_map3(tree_type& out, const tree_type& p, const tree_type& m,       \
                                                 const tree_type& g) {                                         \
    out = espalier::tree_map(stepped, p, m, g);                                                                \
  }                                                                                                            \
  }
namespace {
CASE(fixed)
CASE(layered)

template <class T> struct trees {
  T p, m, g, out;
};

trees<fixed> fixed_trees() {
  const quad q{1.0, 2.0, 3.0, 4.0};
  const layer l{q, q, q, q};
  const fixed f{l, l, l, l};
  return {f, f, f, f};
}
trees<layered> layered_trees() {
  const quad q{1.0, 2.0, 3.0, 4.0};
  const layered l{q, std::vector<layer>(16, layer{q, q, q, q}), q};
  return {l, l, l, l};
}

// Every case by name: `call(name, hand, tree)` with two functions that do the work once.
template <class Call> void for_each_case(Call call) {
  static trees<fixed> f = fixed_trees();
  static trees<layered> l = layered_trees();
#define CALLS(tree_type, t)                                                                                        \
  call(#tree_type "/visit", [] { hand_##tree_type##_visit(t.p); }, [] { tree_##tree_type##_visit(t.p); });         \
  call(#tree_type "/map", [] { hand_##tree_type##_map(t.out, t.p); }, [] { tree_##tree_type##_map(t.out, t.p); }); \
  call(                                                                                                            \
      #tree_type "/reduce", [] { benchmark::DoNotOptimize(hand_##tree_type##_reduce(t.p)); },                      \
      [] { benchmark::DoNotOptimize(tree_##tree_type##_reduce(t.p)); });                                           \
  call(                                                                                                            \
      #tree_type "/visit3", [] { hand_##tree_type##_visit3(t.p, t.m, t.g); },                                      \
      [] { tree_##tree_type##_visit3(t.p, t.m, t.g); });                                                           \
  call(                                                                                                            \
      #tree_type "/map3", [] { hand_##tree_type##_map3(t.out, t.p, t.m, t.g); },                                   \
      [] { tree_##tree_type##_map3(t.out, t.p, t.m, t.g); });
  CALLS(fixed, f)
  CALLS(layered, l)
#undef CALLS
}

template <class Work> void measure(const std::string& name, Work work) {
  benchmark::RegisterBenchmark(name.c_str(), [work](benchmark::State& state) {
    for (auto _ : state) {
      work();
      benchmark::ClobberMemory();
    }
  });
}

void report_times(const bench::shortest_times& times) {
  std::vector<std::pair<std::string, double>> ratios;
  std::printf("\nTime of one call, the shortest of the repetitions:\n  %-16s %12s %12s %8s\n", "case", "by hand, ns",
              "espalier, ns", "ratio");
  for_each_case([&](const std::string& name, auto, auto) {
    const double hand = times["hand/" + name];
    const double tree = times["tree/" + name];
    ratios.emplace_back(name, tree / hand);
    std::printf("  %-16s %12.1f %12.1f %8.3f\n", name.c_str(), hand, tree, tree / hand);
  });
  std::printf("\n");
  for (const auto& [name, ratio] : ratios) std::printf("traversal/%s/time ratio %.2f\n", name.c_str(), ratio);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--calls") == 0) {
    const int n = std::atoi(argv[2]);
    for_each_case([&](const char*, auto hand, auto tree) {
      const auto repeat = [n](auto work) {
        for (int i = 0; i < n; ++i) {
          work();
          benchmark::ClobberMemory();
        }
      };
      repeat(hand);
      repeat(tree);
    });
    return 0;
  }
  for_each_case([](const std::string& name, auto hand, auto tree) {
    measure("hand/" + name, hand);
    measure("tree/" + name, tree);
  });
  report_times(bench::run_interleaved(argc, argv));
}
