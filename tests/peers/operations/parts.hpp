// The operations that transpose trees, part and combine them, and change them in places.
#pragma once

#include <espalier/any_treedef.hpp>
#include <espalier/at.hpp>
#include <espalier/merge.hpp>
#include <espalier/partition.hpp>
#include <espalier/transpose.hpp>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "../functions.hpp"
#include "../notation.hpp"
#include "compiles.hpp"

namespace peers {

// Espalier finds the outer structure in the tree; here it is given, and must be that.
template <class Outer, class Inner, class T>
std::string tree_transpose(const Outer& outer, const Inner& inner, const T& tree) {
  namespace detail = espalier::detail;
  using leaves = typename detail::survey_with<detail::types<Inner>, T>::leaves;
  if constexpr (std::is_same_v<leaves, detail::types<detail::types<Inner>>>) {
    const auto structure = [](const auto& t) { return espalier::any_treedef(espalier::tree_structure(t)); };
    const espalier::any_treedef given = structure(outer).compose(structure(inner));
    if (!espalier::structure_differences(given, structure(tree)).empty()) return error;
    return write(espalier::tree_transpose(espalier::tree_structure(inner), tree));
  } else {
    return error;
  }
}

template <class F, class T> std::string tree_transpose_map(F f, const T& tree) {
  return write(espalier::tree_transpose_map(f, tree));
}

template <class Filter, class T> std::string tree_filter(Filter filter, const T& tree) {
  return write(espalier::tree_filter(tree, filter));
}

template <class Filter, class T> std::string tree_partition(Filter filter, const T& tree) {
  const auto [selected, rest] = espalier::tree_partition(tree, filter);
  return list({write(selected), write(rest)});
}

template <class Filter, class T> std::string partition_combine(Filter filter, const T& tree) {
  const auto [selected, rest] = espalier::tree_partition(tree, filter);
  return write(espalier::tree_combine(selected, rest));
}

template <class T, class Mask> std::string filter_by_mask(const T& tree, const Mask& mask) {
  if constexpr (types_fit<Mask, T>) {
    return write(espalier::tree_filter(tree, mask));
  } else {
    return error;
  }
}

template <class First, class... Rest> std::string tree_combine(const First& first, const Rest&... rest) {
  if constexpr (espalier::detail::part_traits<First>::is_part && (std::is_same_v<First, Rest> && ...)) {
    return write(espalier::tree_combine(first, rest...));
  } else {
    return error;
  }
}

// Places in a tree, as dotted paths.
template <espalier::detail::fixed_string... Path> struct places {
  template <class T>
  static constexpr bool fit = (espalier::detail::literal_fits<T, espalier::detail::path_end::any>(Path.view()) && ...);

  template <class T> static auto in(const T& tree) {
    return espalier::tree_at(tree, espalier::path_literal<Path>{}...);
  }
};
template <espalier::detail::fixed_string... Path> inline constexpr places<Path...> where{};

template <espalier::detail::fixed_string... Path, class... Value, class T>
std::string tree_at(places<Path...> places, const std::tuple<Value...>& replace, const T& tree) {
  if constexpr (sizeof...(Path) == sizeof...(Value) && places.template fit<T>) {
    return std::apply([&](const Value&... value) { return write(places.in(tree).replace(value...)); }, replace);
  } else {
    return error;
  }
}
template <espalier::detail::fixed_string... Path, class F, class T>
std::string tree_at(places<Path...> places, F function, const T& tree) {
  return write(places.in(tree).apply(function));
}

// Without a function, trees that always have leaves in common are refused.
template <class T> std::string tree_merge(const T& a, const T& b) {
  if constexpr (espalier::detail::always_clashes<T>()) {
    return error;
  } else {
    return write(espalier::tree_merge(a, b));
  }
}
template <class F, class T> std::string tree_merge(F f, const T& a, const T& b) {
  return write(espalier::tree_merge(a, b, f));
}
template <class A, class B>
  requires(!std::is_same_v<A, B>)
std::string tree_merge(const A&, const B&) {
  return error;
}
template <class A, class B>
  requires(!std::is_same_v<A, B>)
std::string tree_merge(minus, const A&, const B&) {
  return error;
}

}  // namespace peers
