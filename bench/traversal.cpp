// What traversal costs against the code that a person would write by hand, which applies the same function to
// each member by reference (in updates: which assigns to each member, written out): over structs in structs (64
// doubles), and over a struct with a vector of layers (16 layers of 16 doubles).
//
//   bench_traversal                 times: a table, then `traversal/CASE/time ratio R`, and an update of the 64 doubles
//                                   against the same done one by one, `traversal/fixed/update/scalar_time ratio R`
//   bench_traversal --calls 1000    calls each function that often and no more, for callgrind
//                                   (traversal_instructions.py reads its counts)
#include <benchmark/benchmark.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <espalier/allclose.hpp>
#include <espalier/at.hpp>
#include <espalier/broadcast.hpp>
#include <espalier/cast.hpp>
#include <espalier/equal.hpp>
#include <espalier/flatten.hpp>
#include <espalier/map.hpp>
#include <espalier/map_only.hpp>
#include <espalier/norm.hpp>
#include <espalier/partition.hpp>
#include <espalier/ravel.hpp>
#include <espalier/reduce.hpp>
#include <espalier/transpose.hpp>
#include <espalier/visit.hpp>
#include <espalier/visit_update.hpp>
#include <espalier/zeros_like.hpp>
#include <optional>
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

// A number for each part of a fixed, or of a layered: prefixes of them.
struct rates_of_fixed {
  double first, second, third, fourth;
};
struct rates_of_layered {
  double head, layers, tail;
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

// Updates, written out: every member is assigned its own new value.
template <class F, class... Q> BY_HAND void assign(const F& f, quad& q, const Q&... rest) {
  q.a = f(q.a, rest.a...);
  q.b = f(q.b, rest.b...);
  q.c = f(q.c, rest.c...);
  q.d = f(q.d, rest.d...);
}
template <class F, class... L> BY_HAND void assign(const F& f, layer& l, const L&... rest) {
  assign(f, l.query, rest.query...);
  assign(f, l.key, rest.key...);
  assign(f, l.value, rest.value...);
  assign(f, l.output, rest.output...);
}
template <class F, class... T> BY_HAND void assign(const F& f, fixed& t, const T&... rest) {
  assign(f, t.first, rest.first...);
  assign(f, t.second, rest.second...);
  assign(f, t.third, rest.third...);
  assign(f, t.fourth, rest.fourth...);
}
template <class F, class... T> BY_HAND void assign(const F& f, layered& t, const T&... rest) {
  const std::size_t n = t.layers.size();
  (require(rest.layers.size() == n), ...);
  assign(f, t.head, rest.head...);
  for (std::size_t i = 0; i < n; ++i) assign(f, t.layers[i], rest.layers[i]...);
  assign(f, t.tail, rest.tail...);
}

// Lists of a value for each leaf, by hand: an array, or a vector that has its size from the beginning.
template <class U> BY_HAND std::array<U, 64> list_for(const fixed&) { return {}; }
template <class U> BY_HAND std::vector<U> list_for(const layered& t) {
  return std::vector<U>(8 + 16 * t.layers.size());
}
template <class F, class T, class... Rest> BY_HAND auto listed(const F& f, const T& t, const Rest&... rest) {
  auto list = list_for<decltype(f(0.0, ((void)rest, 0.0)...))>(t);
  auto* next = list.data();
  each([&](const double& x, const auto&... beside) { *next++ = f(x, beside...); }, t, rest...);
  return list;
}

// Folds by hand: in the order of a balanced tree.
BY_HAND double pairwise(const quad& q) { return (q.a + q.b) + (q.c + q.d); }
BY_HAND double pairwise(const layer& l) {
  return (pairwise(l.query) + pairwise(l.key)) + (pairwise(l.value) + pairwise(l.output));
}
BY_HAND double pairwise(const fixed& t) {
  return (pairwise(t.first) + pairwise(t.second)) + (pairwise(t.third) + pairwise(t.fourth));
}
double pairwise(const double* first, std::size_t n) {
  if (n == 1) return *first;
  const double left = pairwise(first, n / 2);
  return left + pairwise(first + n / 2, n - n / 2);
}
BY_HAND double pairwise(const layered& t) {
  const auto list = listed([](double x) { return x; }, t);
  return pairwise(list.data(), list.size());
}

// Named members by hand: decay of all but the `b` of each quad.
template <class F> BY_HAND quad quad_but_b(const F& f, const quad& q) { return {f(q.a), q.b, f(q.c), f(q.d)}; }
template <class F> BY_HAND layer layer_but_b(const F& f, const layer& l) {
  return {quad_but_b(f, l.query), quad_but_b(f, l.key), quad_but_b(f, l.value), quad_but_b(f, l.output)};
}
template <class F> BY_HAND fixed all_but_b(const F& f, const fixed& t) {
  return {layer_but_b(f, t.first), layer_but_b(f, t.second), layer_but_b(f, t.third), layer_but_b(f, t.fourth)};
}
template <class F> BY_HAND layered all_but_b(const F& f, const layered& t) {
  const auto layers = [&] {
    std::vector<layer> result;
    result.reserve(t.layers.size());
    for (const layer& l : t.layers) result.push_back(layer_but_b(f, l));
    return result;
  };
  return {quad_but_b(f, t.head), layers(), quad_but_b(f, t.tail)};
}

// One number for all of a part, by hand.
BY_HAND quad filled_quad(double x) { return {x, x, x, x}; }
BY_HAND layer filled_layer(double x) { return {filled_quad(x), filled_quad(x), filled_quad(x), filled_quad(x)}; }
BY_HAND fixed filled(const rates_of_fixed& r, const fixed&) {
  return {filled_layer(r.first), filled_layer(r.second), filled_layer(r.third), filled_layer(r.fourth)};
}
BY_HAND layered filled(const rates_of_layered& r, const layered& t) {
  const auto layers = [&] {
    std::vector<layer> result;
    result.reserve(t.layers.size());
    for (std::size_t i = 0; i < t.layers.size(); ++i) result.push_back(filled_layer(r.layers));
    return result;
  };
  return {filled_quad(r.head), layers(), filled_quad(r.tail)};
}

// A number that no other is computed together with: what the compiler may not vectorise.
BY_HAND double alone(double x) {
#if defined(__x86_64__)
  asm("" : "+x"(x));
#elif defined(__aarch64__)
  asm("" : "+w"(x));
#endif
  return x;
}

// What is done to the leaves.
constexpr auto decay = [](double& x) { x = 0.5 * x + 1.0; };
constexpr auto scaled = [](double x) { return 0.5 * x + 1.0; };
constexpr auto scaled_alone = [](double x) { return alone(0.5 * x + 1.0); };
constexpr auto zero = [](double) { return 0.0; };
constexpr auto add_square = [](double sum, double x) { return sum + x * x; };
constexpr auto momentum = [](double& p, double& m, double g) {
  m = 0.9 * m + g;
  p -= 0.01 * m;
};
constexpr auto stepped = [](double p, double m, double g) { return p - 0.01 * (0.9 * m + g); };

constexpr auto itself = [](double x) { return x; };
constexpr auto large = [](double x) { return x > 2.0; };
constexpr auto in_float = [](double x) { return static_cast<float>(x); };
constexpr auto scaled_but_b = [](const espalier::path_view& path, double x)
                                  __attribute__((always_inline)) { return path.back().name == "b" ? x : scaled(x); };
constexpr auto close_together = [](double x, double y) {
  return x == y || (std::isfinite(x) && std::isfinite(y) && std::abs(x - y) <= 1e-8 + 1e-5 * std::abs(y));
};

template <class T> struct kind_traits;
template <> struct kind_traits<fixed> {
  using rates = rates_of_fixed;
  static constexpr auto place = [](auto& t) -> auto& { return t.third.key.b; };
};
template <> struct kind_traits<layered> {
  using rates = rates_of_layered;
  static constexpr auto place = [](auto& t) -> auto& { return t.layers[9].key.b; };
};

// The trees that the operations work on, what else they read, and what they write.
template <class T> struct trees {
  T &out, &p, &m;
  const T &g, &same, &zeros;
  const std::array<T, 4>& four;
  const typename kind_traits<T>::rates& rates;
  espalier::leaves_t<T>& leaves;
  const decltype(espalier::tree_partition(g, large))& parts;
  double& number;
};

// The operations: what is done by hand, and what by Espalier.
struct visit {
  static constexpr const char* name = "visit";
  template <class T> BY_HAND static void by_hand(const trees<T>& t) { each(decay, t.p); }
  template <class T> BY_HAND static void by_tree(const trees<T>& t) { espalier::tree_visit(decay, t.p); }
};
struct visit3 {
  static constexpr const char* name = "visit3";
  template <class T> BY_HAND static void by_hand(const trees<T>& t) { each(momentum, t.p, t.m, t.g); }
  template <class T> BY_HAND static void by_tree(const trees<T>& t) { espalier::tree_visit(momentum, t.p, t.m, t.g); }
};
struct update {
  static constexpr const char* name = "update";
  template <class T> BY_HAND static void by_hand(const trees<T>& t) { assign(scaled, t.p); }
  template <class T> BY_HAND static void by_tree(const trees<T>& t) { espalier::tree_visit_update(scaled, t.p); }
};
struct update3 {
  static constexpr const char* name = "update3";
  template <class T> BY_HAND static void by_hand(const trees<T>& t) { assign(stepped, t.p, t.m, t.g); }
  template <class T> BY_HAND static void by_tree(const trees<T>& t) {
    espalier::tree_visit_update(stepped, t.p, t.m, t.g);
  }
};
struct map {
  static constexpr const char* name = "map";
  template <class T> BY_HAND static void by_hand(const trees<T>& t) { t.out = made(scaled, t.g); }
  template <class T> BY_HAND static void by_tree(const trees<T>& t) { t.out = espalier::tree_map(scaled, t.g); }
};
struct map3 {
  static constexpr const char* name = "map3";
  template <class T> BY_HAND static void by_hand(const trees<T>& t) { t.out = made(stepped, t.p, t.m, t.g); }
  template <class T> BY_HAND static void by_tree(const trees<T>& t) {
    t.out = espalier::tree_map(stepped, t.p, t.m, t.g);
  }
};
struct zeros_like {
  static constexpr const char* name = "zeros_like";
  template <class T> BY_HAND static void by_hand(const trees<T>& t) { t.out = made(zero, t.g); }
  template <class T> BY_HAND static void by_tree(const trees<T>& t) { t.out = espalier::tree_zeros_like(t.g); }
};
struct reduce {
  static constexpr const char* name = "reduce";
  template <class T> BY_HAND static void by_hand(const trees<T>& t) {
    double sum = 0.0;
    each([&sum](const double& x) { sum = add_square(sum, x); }, t.g);
    t.number = sum;
  }
  template <class T> BY_HAND static void by_tree(const trees<T>& t) {
    t.number = espalier::tree_reduce(add_square, t.g, 0.0);
  }
};
struct sum {
  static constexpr const char* name = "sum";
  template <class T> BY_HAND static void by_hand(const trees<T>& t) {
    double total = 0.0;
    each([&total](const double& x) { total += x; }, t.g);
    t.number = total;
  }
  template <class T> BY_HAND static void by_tree(const trees<T>& t) { t.number = espalier::tree_sum(t.g); }
};
struct max {
  static constexpr const char* name = "max";
  template <class T> BY_HAND static void by_hand(const trees<T>& t) {
    bool first = true;
    double most = 0.0;
    const auto consider = [&](const double& x) {
      if (first || most < x) most = x;
      first = false;
    };
    each(consider, t.g);
    t.number = most;
  }
  template <class T> BY_HAND static void by_tree(const trees<T>& t) { t.number = espalier::tree_max(t.g); }
};
struct min {
  static constexpr const char* name = "min";
  template <class T> BY_HAND static void by_hand(const trees<T>& t) {
    bool first = true;
    double least = 0.0;
    const auto consider = [&](const double& x) {
      if (first || x < least) least = x;
      first = false;
    };
    each(consider, t.g);
    t.number = least;
  }
  template <class T> BY_HAND static void by_tree(const trees<T>& t) { t.number = espalier::tree_min(t.g); }
};
struct reduce_associative {
  static constexpr const char* name = "reduce_associative";
  template <class T> BY_HAND static void by_hand(const trees<T>& t) { t.number = pairwise(t.g); }
  template <class T> BY_HAND static void by_tree(const trees<T>& t) {
    t.number = espalier::tree_reduce_associative(std::plus<>{}, t.g);
  }
};
struct all {
  static constexpr const char* name = "all";
  template <class T> BY_HAND static void by_hand(const trees<T>& t) {
    bool so_far = true;
    each([&so_far](const double& x) { so_far = so_far && x != 0; }, t.g);
    t.number = so_far ? 1 : 0;
  }
  template <class T> BY_HAND static void by_tree(const trees<T>& t) { t.number = espalier::tree_all(t.g) ? 1 : 0; }
};
struct any {
  static constexpr const char* name = "any";
  template <class T> BY_HAND static void by_hand(const trees<T>& t) {
    bool so_far = false;
    each([&so_far](const double& x) { so_far = so_far || x != 0; }, t.zeros);
    t.number = so_far ? 1 : 0;
  }
  template <class T> BY_HAND static void by_tree(const trees<T>& t) { t.number = espalier::tree_any(t.zeros) ? 1 : 0; }
};
struct dot {
  static constexpr const char* name = "dot";
  template <class T> BY_HAND static void by_hand(const trees<T>& t) {
    double total = 0.0;
    each([&total](const double& x, const double& y) { total += x * y; }, t.g, t.m);
    t.number = total;
  }
  template <class T> BY_HAND static void by_tree(const trees<T>& t) { t.number = espalier::tree_dot(t.g, t.m); }
};
struct norm {
  static constexpr const char* name = "norm";
  template <class T> BY_HAND static void by_hand(const trees<T>& t) {
    double total = 0.0;
    each([&total](const double& x) { total += x * x; }, t.g);
    t.number = std::sqrt(total);
  }
  template <class T> BY_HAND static void by_tree(const trees<T>& t) { t.number = espalier::tree_norm(t.g); }
};
struct equal {
  static constexpr const char* name = "equal";
  template <class T> BY_HAND static void by_hand(const trees<T>& t) {
    bool so_far = true;
    each([&so_far](const double& x, const double& y) { so_far = so_far && x == y; }, t.g, t.same);
    t.number = so_far ? 1 : 0;
  }
  template <class T> BY_HAND static void by_tree(const trees<T>& t) {
    t.number = espalier::tree_equal(t.g, t.same) ? 1 : 0;
  }
};
struct allclose {
  static constexpr const char* name = "allclose";
  template <class T> BY_HAND static void by_hand(const trees<T>& t) {
    bool so_far = true;
    each([&so_far](const double& x, const double& y) { so_far = so_far && close_together(x, y); }, t.g, t.same);
    t.number = so_far ? 1 : 0;
  }
  template <class T> BY_HAND static void by_tree(const trees<T>& t) {
    t.number = espalier::tree_allclose(t.g, t.same) ? 1 : 0;
  }
};
struct leaves {
  static constexpr const char* name = "leaves";
  template <class T> BY_HAND static void by_hand(const trees<T>& t) {
    auto list = listed(itself, t.g);
    benchmark::DoNotOptimize(list);
  }
  template <class T> BY_HAND static void by_tree(const trees<T>& t) {
    auto list = espalier::tree_leaves(t.g);
    benchmark::DoNotOptimize(list);
  }
};
struct ravel {
  static constexpr const char* name = "ravel";
  template <class T> BY_HAND static void by_hand(const trees<T>& t) {
    auto list = listed(itself, t.g);
    benchmark::DoNotOptimize(list);
    t.number = 0;  // (or the compiler would make one function of this and the case before)
  }
  template <class T> BY_HAND static void by_tree(const trees<T>& t) {
    auto list = espalier::tree_ravel(t.g);
    benchmark::DoNotOptimize(list);
    t.number = 0;
  }
};
struct unflatten {
  static constexpr const char* name = "unflatten";
  template <class T> BY_HAND static void by_hand(const trees<T>& t) {
    require(t.leaves.size() == espalier::tree_structure(t.g).num_leaves());
    const double* next = t.leaves.data();
    t.out = made([&next](const double&) { return *next++; }, t.g);
  }
  template <class T> BY_HAND static void by_tree(const trees<T>& t) {
    t.out = espalier::tree_unflatten(espalier::tree_structure(t.g), t.leaves);
  }
};

struct unravel {
  static constexpr const char* name = "unravel";
  template <class T> BY_HAND static void by_hand(const trees<T>& t) {
    unflatten::by_hand(t);
    t.number = 0;
  }
  template <class T> BY_HAND static void by_tree(const trees<T>& t) {
    t.out = espalier::unraveler<T>(t.g)(t.leaves);
    t.number = 0;
  }
};
struct visit_with_path {
  static constexpr const char* name = "visit_with_path";
  template <class T> BY_HAND static void by_hand(const trees<T>& t) { t.p = all_but_b(scaled, t.p); }
  template <class T> BY_HAND static void by_tree(const trees<T>& t) {
    espalier::tree_visit_with_path(
        [](const auto& path, double& x) __attribute__((always_inline)) { x = scaled_but_b(path, x); }, t.p);
  }
};
struct map_with_path {
  static constexpr const char* name = "map_with_path";
  template <class T> BY_HAND static void by_hand(const trees<T>& t) { t.out = all_but_b(scaled, t.g); }
  template <class T> BY_HAND static void by_tree(const trees<T>& t) {
    t.out = espalier::tree_map_with_path(scaled_but_b, t.g);
  }
};
struct map_only {
  static constexpr const char* name = "map_only";
  template <class T> BY_HAND static void by_hand(const trees<T>& t) {
    t.out = made(scaled, t.g);
    t.number = 0;
  }
  template <class T> BY_HAND static void by_tree(const trees<T>& t) {
    t.out = espalier::tree_map_only<quad>([](const quad& q) { return made_quad(scaled, q); }, t.g);
    t.number = 0;
  }
};
struct cast {
  static constexpr const char* name = "cast";
  template <class T> BY_HAND static void by_hand(const trees<T>& t) {
    auto list = listed(in_float, t.g);
    benchmark::DoNotOptimize(list);
  }
  template <class T> BY_HAND static void by_tree(const trees<T>& t) {
    auto list = espalier::tree_cast<float>(t.g);
    benchmark::DoNotOptimize(list);
  }
};
struct at {
  static constexpr const char* name = "at";
  template <class T> BY_HAND static void by_hand(const trees<T>& t) {
    T copy = t.g;
    kind_traits<T>::place(copy) = 5.0;
    t.out = std::move(copy);
  }
  template <class T> BY_HAND static void by_tree(const trees<T>& t) {
    t.out = espalier::tree_at(t.g, kind_traits<T>::place).replace(5.0);
  }
};
struct partition {
  static constexpr const char* name = "partition";
  template <class T> BY_HAND static void by_hand(const trees<T>& t) {
    auto selected = list_for<std::optional<double>>(t.g);
    auto rest = list_for<std::optional<double>>(t.g);
    std::size_t i = 0;
    each(
        [&](const double& x) {
          (large(x) ? selected : rest)[i] = x;
          ++i;
        },
        t.g);
    benchmark::DoNotOptimize(selected);
    benchmark::DoNotOptimize(rest);
  }
  template <class T> BY_HAND static void by_tree(const trees<T>& t) {
    auto parts = espalier::tree_partition(t.g, large);
    benchmark::DoNotOptimize(parts);
  }
};
struct combine {
  static constexpr const char* name = "combine";
  template <class T> BY_HAND static void by_hand(const trees<T>& t) {
    const std::optional<double>* selected = t.parts.selected.data();
    const std::optional<double>* rest = t.parts.rest.data();
    const auto next = [&](const double&) {
      const bool first_has_it = selected->has_value();
      require(first_has_it || rest->has_value());
      const double leaf = first_has_it ? **selected : **rest;
      ++selected;
      ++rest;
      return leaf;
    };
    t.out = made(next, t.g);
  }
  template <class T> BY_HAND static void by_tree(const trees<T>& t) {
    t.out = espalier::tree_combine(t.parts.selected, t.parts.rest);
  }
};
struct broadcast_prefix {
  static constexpr const char* name = "broadcast_prefix";
  template <class T> BY_HAND static void by_hand(const trees<T>& t) { t.out = filled(t.rates, t.g); }
  template <class T> BY_HAND static void by_tree(const trees<T>& t) {
    t.out = espalier::tree_broadcast_prefix(t.rates, t.g);
  }
};
struct transpose {
  static constexpr const char* name = "transpose";
  template <class T> BY_HAND static void by_hand(const trees<T>& t) {
    const auto slice = [](double a, double b, double c, double d) { return std::array{a, b, c, d}; };
    auto list = listed(slice, t.four[0], t.four[1], t.four[2], t.four[3]);
    benchmark::DoNotOptimize(list);
  }
  template <class T> BY_HAND static void by_tree(const trees<T>& t) {
    auto list = espalier::tree_transpose(t.four);
    benchmark::DoNotOptimize(list);
  }
};

// One function for each side of each case, never inlined, nor parted with its callers: their names are what callgrind
// prints.
#ifdef __clang__
#define APART [[gnu::noinline]]
#else
#define APART [[gnu::noipa]]
#endif
template <class Operation, class T> APART void hand(const trees<T>& t) { Operation::by_hand(t); }
template <class Operation, class T> APART void tree(const trees<T>& t) { Operation::by_tree(t); }

// The same update, each member by itself.
[[gnu::noinline]] void update_alone(const trees<fixed>& t) { assign(scaled_alone, t.p); }

template <class T> const trees<T>& trees_of(const T& start) {
  static T out = start, p = start, m = start, g = start, same = start, zeros = espalier::tree_zeros_like(start);
  static std::array<T, 4> four{start, start, start, start};
  static typename kind_traits<T>::rates rates{};
  static espalier::leaves_t<T> leaves = espalier::tree_leaves(start);
  static auto parts = espalier::tree_partition(start, large);
  static double number = 0.0;
  static const trees<T> all{out, p, m, g, same, zeros, four, rates, leaves, parts, number};
  return all;
}
const trees<fixed>& fixed_trees() {
  const quad q{1.0, 2.0, 3.0, 4.0};
  const layer l{q, q, q, q};
  return trees_of(fixed{l, l, l, l});
}
const trees<layered>& layered_trees() {
  const quad q{1.0, 2.0, 3.0, 4.0};
  return trees_of(layered{q, std::vector<layer>(16, layer{q, q, q, q}), q});
}

// Calls call(name, by_hand, by_tree) for every case, with two functions that do the work once.
template <class Call> void for_each_case(Call call) {
  const auto operation = [&]<class Operation, class T>(Operation, const std::string& kind, const trees<T>& t) {
    call(kind + "/" + Operation::name, [&t] { hand<Operation>(t); }, [&t] { tree<Operation>(t); });
  };
  const auto operations = [&](const std::string& kind, const auto& t) {
    const auto each_of = [&](auto... o) { (operation(o, kind, t), ...); };
    each_of(visit(), visit3(), update(), update3(), map(), map3(), map_only(), zeros_like(), cast(), visit_with_path(),
            map_with_path(), reduce(), reduce_associative(), sum(), max(), min(), all(), any(), dot(), norm(), equal(),
            allclose(), leaves(), unflatten(), ravel(), unravel(), at(), partition(), combine(), broadcast_prefix(),
            transpose());
  };
  operations("fixed", fixed_trees());
  operations("layered", layered_trees());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--calls") == 0) {
    const int n = std::atoi(argv[2]);
    for_each_case([&](const std::string&, auto by_hand, auto by_tree) {
      const auto repeat = [n](auto work) {
        for (int i = 0; i < n; ++i) {
          work();
          benchmark::ClobberMemory();
        }
      };
      repeat(by_hand);
      repeat(by_tree);
    });
    return 0;
  }
  std::vector<std::string> cases;
  for_each_case([&cases](const std::string& name, auto by_hand, auto by_tree) {
    cases.push_back(name);
    bench::measure("hand/" + name, by_hand);
    bench::measure("tree/" + name, by_tree);
  });
  bench::measure("alone/fixed/update", [] { update_alone(fixed_trees()); });
  const bench::shortest_times times = bench::run_interleaved(argc, argv);
  bench::print_ratios(times, "traversal", "call", cases);
  std::printf("traversal/fixed/update/scalar_time ratio %.2f\n",
              times["tree/fixed/update"] / times["alone/fixed/update"]);
}
