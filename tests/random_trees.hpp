// Random trees of the types of the corpus: random values in random structure (sizes, keys, engaged optionals,
// alternatives, aux data), drawn by RapidCheck, which makes those smaller that break a law.
//
//   template <class T> void counting() {
//     const auto tree = random_trees::a_tree<T>();
//     RC_ASSERT(tree_leaves(*tree).size() == tree_structure(*tree).num_leaves());
//   }
//   TYPED_TEST(laws, there_are_as_many_leaves_as_the_structure_says) { random_trees::check(counting<TypeParam>); }
//
// A failure prints the trees, and a line to repeat it; RC_PARAMS="seed=…" in the environment repeats a run, whose seed is
// printed first, and RC_PARAMS="max_success=10000" makes a longer one.
#pragma once

#include <rapidcheck.h>

#include <array>
#include <complex>
#include <cstddef>
#include <espalier/map.hpp>
#include <espalier/print.hpp>
#include <espalier/reflect/fields.hpp>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "corpus.hpp"

namespace random_trees {

inline int draw_below(int end) { return *rc::gen::inRange(0, end); }

// Printable, with what paths and files must quote.
inline std::string draw_text() {
  static const std::vector<std::string> pieces{"a", "b", "0", "1", ".", "'", "\"", "\\", "[", "]", " ", "é"};
  std::string text;
  for (int n = draw_below(4); n > 0; --n) text += *rc::gen::elementOf(pieces);
  return text;
}

// A T, from draws that RapidCheck records. `depth` is how many containers may still be nested in it.
template <class T> T draw(int depth);

template <class T> struct drawing {  // a plain struct
  static T make(int depth) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return T{draw<std::remove_const_t<espalier::reflect::field_t<T, I>>>(depth)...};
    }(std::make_index_sequence<espalier::reflect::field_count_v<T>>{});
  }
};
template <class T>
  requires std::is_arithmetic_v<T>
struct drawing<T> {
  static T make(int) { return *rc::gen::arbitrary<T>(); }
};
template <> struct drawing<int> {
  static int make(int) { return *rc::gen::inRange(-1000, 1000); }  // increased and doubled without overflow
};
template <> struct drawing<corpus::color> {
  static corpus::color make(int) { return *rc::gen::element(corpus::color::red, corpus::color::green); }
};
template <> struct drawing<std::string> {
  static std::string make(int) { return draw_text(); }
};
template <class N> struct drawing<std::complex<N>> {
  static std::complex<N> make(int depth) { return {draw<N>(depth), draw<N>(depth)}; }
};
template <> struct drawing<corpus::token> {
  static corpus::token make(int depth) { return corpus::token(draw<int>(depth)); }
};
template <class T> struct drawing<espalier::aux<T>> {
  static espalier::aux<T> make(int depth) { return draw<T>(depth); }
};
template <class T> struct drawing<std::vector<T>> {
  static std::vector<T> make(int depth) {
    std::vector<T> result;
    for (int n = depth > 0 ? draw_below(4) : 0; n > 0; --n) result.push_back(draw<T>(depth - 1));
    return result;
  }
};
template <class K, class T> struct drawing<std::map<K, T>> {
  static std::map<K, T> make(int depth) {
    std::map<K, T> result;
    for (int n = depth > 0 ? draw_below(4) : 0; n > 0; --n) result.emplace(draw<K>(0), draw<T>(depth - 1));
    return result;
  }
};
template <class T> struct drawing<std::optional<T>> {
  static std::optional<T> make(int depth) {
    return depth > 0 && *rc::gen::arbitrary<bool>() ? std::optional<T>(draw<T>(depth - 1)) : std::nullopt;
  }
};
template <class T> struct drawing<std::unique_ptr<T>> {
  static std::unique_ptr<T> make(int depth) {
    return depth > 0 && *rc::gen::arbitrary<bool>() ? std::make_unique<T>(draw<T>(depth - 1)) : nullptr;
  }
};
template <class T, std::size_t N> struct drawing<std::array<T, N>> {
  static std::array<T, N> make(int depth) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::array<T, N>{((void)I, draw<T>(depth))...};
    }(std::make_index_sequence<N>{});
  }
};
template <class... T> struct drawing<std::tuple<T...>> {
  static std::tuple<T...> make([[maybe_unused]] int depth) { return std::tuple<T...>{draw<T>(depth)...}; }
};
template <class A, class B> struct drawing<std::pair<A, B>> {
  static std::pair<A, B> make(int depth) { return std::pair<A, B>{draw<A>(depth), draw<B>(depth)}; }
};
template <class... T> struct drawing<std::variant<T...>> {
  static std::variant<T...> make(int depth) {
    std::variant<T...> (*const alternatives[])(int){[](int d) { return std::variant<T...>(draw<T>(d)); }...};
    return alternatives[draw_below(sizeof...(T))](depth);
  }
};
template <> struct drawing<corpus::quantized> {
  static corpus::quantized make(int depth) {
    return {draw<std::vector<int>>(depth), draw<double>(depth), draw<int>(depth)};
  }
};
template <> struct drawing<corpus::interval> {
  static corpus::interval make(int depth) { return {draw<double>(depth), draw<double>(depth)}; }
};
template <> struct drawing<corpus::polynomial> {
  static corpus::polynomial make(int depth) { return {draw_text(), draw<std::vector<double>>(depth)}; }
};
template <> struct drawing<corpus::stack_of> {
  static corpus::stack_of make(int depth) {
    corpus::stack_of result;
    static_cast<std::vector<double>&>(result) = draw<std::vector<double>>(depth);
    result.limit = draw_below(3);
    return result;
  }
};

template <class T> T draw(int depth) { return drawing<T>::make(depth); }

// What RapidCheck generates: copied by it, which not all trees can be, and of one type for all trees, for which it is
// instantiated.
struct drawn_tree {
  std::shared_ptr<const void> tree;
  std::string (*print)(const void*);

  friend std::ostream& operator<<(std::ostream& out, const drawn_tree& drawn) {
    return out << drawn.print(drawn.tree.get());
  }
};
template <class T> drawn_tree draw_tree() {
  return {std::make_shared<const T>(draw<T>(3)),
          [](const void* tree) { return espalier::tree_print(*static_cast<const T*>(tree)); }};
}

// To be used inside a law, as in `const auto tree = a_tree<T>();`: a pointer to the tree.
template <class T> std::shared_ptr<const T> a_tree() {
  return std::static_pointer_cast<const T>((*rc::gen::exec(draw_tree<T>)).tree);
}

// Runs a law on a hundred random trees.
inline void check(void (*law)()) {
  const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
  EXPECT_TRUE(rc::check(std::string(test->name()) + " of " + test->type_param(), law)) << "the tree is printed above";
}

// The identity for leaves that can only be moved, too.
struct copied {
  template <class L> L operator()(const L& leaf) const { return leaf; }
  corpus::token operator()(const corpus::token& leaf) const { return corpus::token(leaf.value()); }
};
template <class T> T copy(const T& tree) { return espalier::tree_map(copied(), tree); }

}  // namespace random_trees
