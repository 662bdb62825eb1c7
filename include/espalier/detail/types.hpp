// Small tools of the type system that every header here stands on: type lists, strings as template
// arguments, packs of references, and forced inlining.
#pragma once

#include <cstddef>
#include <espalier/reflect/inline.hpp>
#include <string_view>
#include <type_traits>
#include <utility>

namespace espalier::detail {

template <class... T> struct types {};

template <class T> struct type_tag {
  using type = T;
};

template <class> inline constexpr bool always_false = false;

template <class T, class... List> inline constexpr bool is_one_of = (std::is_same_v<T, List> || ...);

template <class T, class List> inline constexpr bool is_in = false;
template <class T, class... Listed> inline constexpr bool is_in<T, types<Listed...>> = is_one_of<T, Listed...>;

template <std::size_t I> using index = std::integral_constant<std::size_t, I>;

// A type's name as compilers spell it; for those of std, which they spell alike.
template <class T> consteval const char* spelled() { return __PRETTY_FUNCTION__; }
inline constexpr std::size_t name_begins = std::string_view(spelled<int>()).rfind("int");

// Whether T's name begins with `std::` and this. (A template of std whose header is not included is told by that and by
// its members.)
template <class T> consteval bool is_of_std(std::string_view name = {}) {
  const std::string_view text = std::string_view(spelled<T>()).substr(name_begins);
  return text.starts_with("std::") && text.substr(5).starts_with(name);
}

// f(what a variant holds), as std::visit, without its header.
template <std::size_t I = 0, class F, template <class...> class Variant, class... T>
constexpr decltype(auto) with_held(F&& f, const Variant<T...>& variant) {
  using std::get;
  if constexpr (I + 1 < sizeof...(T)) {
    if (variant.index() != I) return with_held<I + 1>(f, variant);
  }
  return f(get<I>(variant));
}

template <class> inline constexpr std::size_t size_of_list = 0;
template <template <class...> class List, class... T>
inline constexpr std::size_t size_of_list<List<T...>> = sizeof...(T);

// A string as a template argument: of "…"_path, and of key paths in compile errors.
template <std::size_t N> struct fixed_string {
  char text[N] = {};

  constexpr fixed_string() = default;
  consteval fixed_string(const char (&literal)[N]) {
    for (std::size_t i = 0; i < N; ++i) text[i] = literal[i];
  }
  constexpr std::string_view view() const { return {text, N - 1}; }
  friend constexpr bool operator==(const fixed_string&, const fixed_string&) = default;
};

// References to the fields of an object: a flat std::tie, which costs a fraction of it to compile.
template <std::size_t I, class T> struct ref_slot {
  T& value;
};

template <class Indices, class... T> struct ref_pack;

template <std::size_t... I, class... T> struct ref_pack<std::index_sequence<I...>, T...> : ref_slot<I, T>... {};

template <std::size_t I, class T> ESPALIER_INLINE constexpr T& get_ref(const ref_slot<I, T>& slot) {
  return slot.value;
}

// The leaf as the caller's tree holds it: an rvalue of a tree that was passed as an rvalue, else an lvalue.
template <class Tree, class Leaf>
using forwarded_leaf = std::conditional_t<std::is_lvalue_reference_v<Tree> || std::is_const_v<Leaf>, Leaf&, Leaf&&>;

template <class Tree, class Leaf> ESPALIER_INLINE constexpr forwarded_leaf<Tree, Leaf> forward_leaf(Leaf& leaf) {
  return static_cast<forwarded_leaf<Tree, Leaf>>(leaf);
}

// Converts to what make() gives: a container that is given one constructs its element in place, without a move. Only for
// aggregates, since a constructor that takes anything (mlx::core::array has one) would take it as it is.
template <class T, class Make> struct in_place_maker {
  Make& make;
  ESPALIER_INLINE constexpr operator T() const { return make(); }
};

}  // namespace espalier::detail
