// The trees that the laws are tested over: every kind of node, nested in every other, with leaves that cannot be copied
// or default-constructed. `corpus` lists the types; examples<T>() makes trees of each whose structures all differ, the
// same ones at every call; with_other_leaves<T>() makes a tree with the structure of the first example.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <espalier/aux.hpp>
#include <espalier/node.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace corpus {

// A leaf that can only be moved and has no default.
class token {
 public:
  explicit token(int value) : value_(std::make_unique<int>(value)) {}
  int value() const { return *value_; }
  friend bool operator==(const token& a, const token& b) { return a.value() == b.value(); }

 private:
  std::unique_ptr<int> value_;
};

// A leaf that counts how often it is copied and moved.
struct counted {
  static inline int copies = 0;
  static inline int moves = 0;
  static void reset() { copies = moves = 0; }

  int value = 0;

  explicit counted(int v) : value(v) {}
  counted(const counted& other) : value(other.value) { ++copies; }
  counted(counted&& other) noexcept : value(other.value) { ++moves; }
  counted& operator=(const counted& other) {
    value = other.value;
    ++copies;
    return *this;
  }
  counted& operator=(counted&& other) noexcept {
    value = other.value;
    ++moves;
    return *this;
  }
  ~counted() = default;
  friend bool operator==(const counted&, const counted&) = default;
};

enum class color : std::uint8_t { red, green };

struct empty {
  bool operator==(const empty&) const = default;
};
struct point {
  double x, y;
  bool operator==(const point&) const = default;
};
struct mixed {
  int count;
  double rate;
  bool on;
  std::string name;
  color tint;
  std::complex<double> z;
  bool operator==(const mixed&) const = default;
};
struct segment {
  point from, to;
  bool operator==(const segment&) const = default;
};
struct linear {
  std::vector<double> weight;
  std::optional<double> bias;
  bool operator==(const linear&) const = default;
};
struct model {
  std::vector<linear> layers;
  double temperature;
  bool operator==(const model&) const = default;
};
struct named_points {
  std::map<std::string, point> points;
  bool operator==(const named_points&) const = default;
};
struct frozen {
  const double mean;
  double scale;
  bool operator==(const frozen&) const = default;
};
struct tokens {
  token first;
  std::vector<token> many;
  std::optional<token> maybe;
  std::map<int, token> by_id;
  std::array<token, 2> pair;
  std::tuple<token, int> mixed;
  bool operator==(const tokens&) const = default;
};
struct cache {
  double keys;
  espalier::aux<int> step;
  espalier::aux<std::string> layout;
  bool operator==(const cache&) const = default;
};
struct listed_cache {
  int bits;
  std::vector<double> keys;
  double scale;
  static constexpr auto tree_aux = espalier::fields<&listed_cache::bits, &listed_cache::scale>;
  bool operator==(const listed_cache&) const = default;
};
struct far_cache {
  double values;
  float step;
  bool operator==(const far_cache&) const = default;
};
struct rose {
  double value;
  std::vector<rose> children;
  bool operator==(const rose&) const = default;
};
struct chain {
  int value;
  std::unique_ptr<chain> next;
  bool operator==(const chain& other) const {
    return value == other.value && !next == !other.next && (!next || *next == *other.next);
  }
};
struct family {
  std::map<std::string, family> members;
  std::optional<double> age;
  bool operator==(const family&) const = default;
};
template <class L> struct over {
  L low;
  std::vector<L> many;
  bool operator==(const over&) const = default;
};
struct owner {
  std::unique_ptr<point> at;
  bool operator==(const owner& other) const { return !at == !other.at && (!at || *at == *other.at); }
};
struct choice {
  std::variant<double, point, std::vector<int>> held;
  bool operator==(const choice&) const = default;
};
struct hollow {
  std::vector<std::vector<double>> lists;
  std::map<std::string, std::vector<double>> named;
  std::tuple<> nothing;
  empty none;
  std::array<double, 0> zero;
  std::optional<std::vector<double>> maybe;
  bool operator==(const hollow&) const = default;
};

// Registered, and it looks like an aggregate.
struct quantized {
  std::vector<int> packed;
  double scale;
  int bits;
  bool operator==(const quantized&) const = default;
};
// The member protocol, in both forms. Neither can be changed once made.
class interval {
 public:
  interval(double low, double high) : low_(low), high_(high) {}
  double low() const { return low_; }
  double high() const { return high_; }
  auto tree_children() const { return std::tie(low_, high_); }
  static interval tree_unflatten(std::tuple<>, double low, double high) { return {low, high}; }
  bool operator==(const interval&) const = default;

 private:
  double low_, high_;
};
class polynomial {
 public:
  polynomial(std::string variable, std::vector<double> coefficients)
      : variable_(std::move(variable)), coefficients_(std::move(coefficients)) {}
  auto tree_flatten() const { return std::pair(std::tie(coefficients_), variable_); }
  static polynomial tree_unflatten(std::string variable, std::tuple<std::vector<double>> children) {
    return {std::move(variable), std::get<0>(std::move(children))};
  }
  bool operator==(const polynomial&) const = default;

 private:
  std::string variable_;
  std::vector<double> coefficients_;
};
// Registered, and derived from a container.
struct stack_of : std::vector<double> {
  using std::vector<double>::vector;
  int limit = 8;
};

}  // namespace corpus

template <> inline constexpr bool espalier::is_leaf_type<corpus::token> = true;
template <> inline constexpr bool espalier::is_leaf_type<corpus::counted> = true;
template <> inline constexpr auto espalier::aux_fields<corpus::far_cache> = espalier::fields<&corpus::far_cache::step>;

template <> struct espalier::pytree_node<corpus::quantized> {
  static auto children(auto&& q) { return std::tie(q.packed, q.scale); }
  static int aux(const corpus::quantized& q) { return q.bits; }
  static corpus::quantized unflatten(int bits, std::vector<int> packed, double scale) {
    return {std::move(packed), scale, bits};
  }
  static constexpr std::array names{"packed", "scale"};
};
template <> struct espalier::pytree_node<corpus::stack_of> {
  static auto children(auto&& s) {
    using vector = std::conditional_t<std::is_const_v<std::remove_reference_t<decltype(s)>>, const std::vector<double>,
                                      std::vector<double>>;
    return std::tuple<vector&>(s);
  }
  static auto aux(const corpus::stack_of& s) { return std::tuple(s.limit); }
  static corpus::stack_of unflatten(std::tuple<int> aux, std::vector<double> values) {
    corpus::stack_of s;
    static_cast<std::vector<double>&>(s) = std::move(values);
    s.limit = std::get<0>(aux);
    return s;
  }
};

namespace corpus {

// Trees of a type, each of another structure.
template <class T> struct examples_of;

template <class T> std::vector<T> examples() {
  std::vector<T> result;
  examples_of<T>::make([&](auto&&... part) { result.push_back(T{std::forward<decltype(part)>(part)...}); });
  return result;
}

#define CORPUS_EXAMPLES(TYPE, ...)        \
  template <> struct examples_of<TYPE> {  \
    static void make(auto&& add) {        \
      using type [[maybe_unused]] = TYPE; \
      __VA_ARGS__                         \
    }                                     \
  };

using pair_of_points = std::pair<point, point>;
using nested_pair = std::pair<std::vector<double>, std::tuple<int, float>>;
using tuple_of_all = std::tuple<int, point, std::vector<std::optional<double>>>;
using numbers = std::vector<double>;
using matrix = std::vector<std::vector<double>>;
using maps = std::map<int, std::map<std::string, double>>;
using three = std::array<point, 3>;
using twenty = std::array<double, 20>;
using several_lists = std::array<std::vector<double>, 2>;
using optional_point = std::optional<point>;
using alternatives = std::variant<int, double, std::vector<double>>;
using optional_map = std::optional<std::map<std::string, std::optional<double>>>;
using over_double = over<double>;

template <class... T> std::vector<std::remove_cvref_t<std::tuple_element_t<0, std::tuple<T...>>>> list(T&&... value) {
  std::vector<std::remove_cvref_t<std::tuple_element_t<0, std::tuple<T...>>>> result;
  (result.push_back(std::forward<T>(value)), ...);
  return result;
}

inline std::map<int, token> token_map(int a, int b) {
  std::map<int, token> result;
  result.emplace(a, token(10 * a));
  result.emplace(b, token(10 * b));
  return result;
}

CORPUS_EXAMPLES(double, add(1.5);)
CORPUS_EXAMPLES(std::string, add("text");)
CORPUS_EXAMPLES(token, add(3);)
CORPUS_EXAMPLES(empty, add();)
CORPUS_EXAMPLES(point, add(1.0, 2.0);)
CORPUS_EXAMPLES(mixed, add(1, 2.5, true, "name", color::green, std::complex<double>(1, -1));)
CORPUS_EXAMPLES(segment, add(point{1, 2}, point{3, 4});)
CORPUS_EXAMPLES(pair_of_points, add(point{1, 2}, point{3, 4});)
CORPUS_EXAMPLES(three, add(point{1, 2}, point{3, 4}, point{5, 6});)
CORPUS_EXAMPLES(twenty, add(1.0, 2.0, 3.0);)
CORPUS_EXAMPLES(several_lists, add(list(1.0), list(2.0, 3.0)); add(list(1.0, 2.0), list(3.0));)
CORPUS_EXAMPLES(numbers, add(list(1.0, 2.0, 3.0)); add(list(1.0)); add(type());)
CORPUS_EXAMPLES(matrix, add(list(list(1.0, 2.0))); add(list(list(1.0), list(2.0)));
                add(list(numbers(), list(1.0, 2.0))); add(list(numbers())); add(type());)
CORPUS_EXAMPLES(nested_pair, add(list(1.0, 2.0), std::tuple(1, 2.f)); add(numbers(), std::tuple(1, 2.f));)
CORPUS_EXAMPLES(tuple_of_all, add(1, point{2, 3}, list(std::optional<double>(4.0), std::optional<double>()));
                add(1, point{2, 3}, list(std::optional<double>(), std::optional<double>(4.0)));
                add(1, point{2, 3}, std::vector<std::optional<double>>());)
CORPUS_EXAMPLES(maps, add(maps{{1, {{"a", 1.0}, {"b", 2.0}}}, {-2, {}}});
                add(maps{{1, {{"a", 1.0}}}, {-2, {{"b", 2.0}}}}); add(maps{{-1, {{"a", 1.0}}}, {-2, {{"b", 2.0}}}});
                add(maps{{1, {}}}); add(maps());)
CORPUS_EXAMPLES(optional_point, add(point{1, 2}); add(std::nullopt);)
CORPUS_EXAMPLES(optional_map, add(type({{"a", 1.0}, {"b", {}}})); add(type({{"a", {}}, {"b", 1.0}}));
                add(type(std::in_place)); add(std::nullopt);)
CORPUS_EXAMPLES(alternatives, add(1); add(2.0); add(list(3.0)); add(numbers());)
CORPUS_EXAMPLES(linear, add(list(1.0, 2.0), 3.0); add(list(1.0, 2.0), std::nullopt); add(list(1.0), 2.0); add();)
CORPUS_EXAMPLES(model, add(list(linear{{1, 2}, 3.0}, linear{{4}, {}}), 0.5);
                add(list(linear{{1}, 3.0}, linear{{2, 4}, {}}), 0.5);
                add(list(linear{{1, 2}, {}}, linear{{4}, 3.0}), 0.5); add(std::vector<linear>(), 0.5);)
CORPUS_EXAMPLES(named_points, add(std::map<std::string, point>{{"a", {1, 2}}, {"b", {3, 4}}});
                add(std::map<std::string, point>{{"a", {1, 2}}, {"c", {3, 4}}}); add();)
CORPUS_EXAMPLES(frozen, add(1.0, 2.0);)
CORPUS_EXAMPLES(tokens, add(token(1), list(token(2), token(3)), std::optional<token>(4), token_map(5, 6),
                            std::array<token, 2>{token(7), token(8)}, std::tuple<token, int>(9, 10));
                add(token(1), std::vector<token>(), std::nullopt, token_map(5, 7),
                    std::array<token, 2>{token(7), token(8)}, std::tuple<token, int>(9, 10));)
CORPUS_EXAMPLES(cache, add(1.0, 3, std::string("nhwc")); add(1.0, 4, std::string("nhwc"));
                add(1.0, 3, std::string("nchw"));)
CORPUS_EXAMPLES(listed_cache, add(8, list(1.0), 0.0); add(8, list(1.0), -0.0); add(4, list(1.0), 0.0);
                add(8, list(1.0, 2.0), 0.0);)
CORPUS_EXAMPLES(far_cache, add(1.0, 1.f); add(1.0, 2.f);)
CORPUS_EXAMPLES(rose, add(1.0, list(rose{2, list(rose{3, {}})}, rose{4, {}}));
                add(1.0, list(rose{2, {}}, rose{4, list(rose{3, {}})}));
                add(1.0, list(rose{2, list(rose{3, list(rose{4, {}})})})); add(1.0, std::vector<rose>());)
CORPUS_EXAMPLES(chain, add(1, nullptr); add(1, std::make_unique<chain>(2, nullptr));
                add(1, std::make_unique<chain>(2, std::make_unique<chain>(3, nullptr)));)
CORPUS_EXAMPLES(family, add(std::map<std::string, family>{{"a", {{}, 1.0}}, {"b", {{{"c", {{}, {}}}}, {}}}}, 2.0);
                add(std::map<std::string, family>{{"a", {{{"c", {{}, {}}}}, 1.0}}, {"b", {{}, {}}}}, 2.0); add();)
CORPUS_EXAMPLES(over_double, add(1.0, list(2.0, 3.0)); add(1.0, numbers());)
CORPUS_EXAMPLES(owner, add(std::make_unique<point>(point{1, 2})); add();)
CORPUS_EXAMPLES(choice, add(1.0); add(point{1, 2}); add(list(1, 2)); add(list(1));)
CORPUS_EXAMPLES(hollow, add(list(numbers()), std::map<std::string, numbers>{{"a", {}}}, std::tuple<>(), empty(),
                            std::array<double, 0>(), std::nullopt);
                add(); add(matrix(), std::map<std::string, numbers>(), std::tuple<>(), empty(), std::array<double, 0>(),
                           numbers());)
CORPUS_EXAMPLES(quantized, add(list(1, 2), 0.5, 4); add(list(1, 2), 0.5, 8); add(list(1), 0.5, 4);)
CORPUS_EXAMPLES(interval, add(1.0, 2.0);)
CORPUS_EXAMPLES(polynomial, add("x", list(1.0, 2.0)); add("y", list(1.0, 2.0)); add("x", list(1.0));)
CORPUS_EXAMPLES(stack_of, add(1.0, 2.0); add(1.0, 2.0, 3.0); add();)

#undef CORPUS_EXAMPLES

#ifdef ESPALIER_FEW_TYPES  // one of each kind of node
using types = testing::Types<token, mixed, matrix, tuple_of_all, maps, optional_map, alternatives, model, far_cache,
                             rose, chain, quantized, interval, polynomial, stack_of>;
#else
using types =
    testing::Types<double, std::string, token, empty, point, mixed, segment, pair_of_points, three, twenty,
                   several_lists, numbers, matrix, nested_pair, tuple_of_all, maps, optional_point, optional_map,
                   alternatives, linear, model, named_points, frozen, tokens, cache, listed_cache, far_cache, rose,
                   chain, family, over_double, owner, choice, hollow, quantized, interval, polynomial, stack_of>;
#endif

// Two functions over every leaf type here that do not commute.
struct increase {
  double operator()(double x) const { return x + 1; }
  float operator()(float x) const { return x + 1; }
  int operator()(int x) const { return x + 1; }
  bool operator()(bool x) const { return !x; }
  color operator()(color) const { return color::red; }
  std::string operator()(const std::string& s) const { return s + "!"; }
  std::complex<double> operator()(std::complex<double> z) const { return z + 1.0; }
  token operator()(const token& t) const { return token(t.value() + 1); }
};
struct twice {
  double operator()(double x) const { return 2 * x; }
  float operator()(float x) const { return 2 * x; }
  int operator()(int x) const { return 2 * x; }
  bool operator()(bool x) const { return x; }
  color operator()(color) const { return color::green; }
  std::string operator()(const std::string& s) const { return s + s; }
  std::complex<double> operator()(std::complex<double> z) const { return z * 2.0; }
  token operator()(const token& t) const { return token(t.value() * 2); }
};
struct identity {
  template <class L> std::remove_cvref_t<L> operator()(L&& leaf) const { return std::forward<L>(leaf); }
};

}  // namespace corpus
