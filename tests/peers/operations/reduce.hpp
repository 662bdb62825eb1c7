// The operations that make one value, or one flat array, of all leaves.
#pragma once

#include <algorithm>
#include <espalier/ravel.hpp>
#include <espalier/reduce.hpp>
#include <functional>
#include <string>

#include "../functions.hpp"
#include "../notation.hpp"

namespace peers {

template <class T> std::string tree_sum(const T& tree) { return write(espalier::tree_sum(tree)); }

template <class T> std::string tree_max(const T& tree) { return write(espalier::tree_max(tree)); }
template <class T> std::string tree_max(double otherwise, const T& tree) {
  return write(espalier::tree_max(tree, otherwise));
}

template <class T> std::string tree_min(const T& tree) { return write(espalier::tree_min(tree)); }
template <class T> std::string tree_min(double otherwise, const T& tree) {
  return write(espalier::tree_min(tree, otherwise));
}

template <class T> std::string tree_all(const T& tree) { return write(espalier::tree_all(tree)); }

template <class T> std::string tree_any(const T& tree) { return write(espalier::tree_any(tree)); }

template <class F, class T> std::string tree_reduce(F f, double initial, const T& tree) {
  return write(espalier::tree_reduce(f, tree, initial));
}

// Without an identity where C++ allows it: of leaves of one type that is closed under addition.
template <class T> std::string tree_reduce_associative(const T& tree) {
  using leaves = espalier::detail::leaf_types<T>;
  if constexpr (std::is_same_v<leaves, espalier::detail::types<>>) {
    return error;
  } else if constexpr (espalier::detail::size_of_list<leaves> == 1 &&
                       !std::is_same_v<leaves, espalier::detail::types<bool>>) {
    return write(espalier::tree_reduce_associative(std::plus<>{}, tree));
  } else {
    return write(espalier::tree_reduce_associative(std::plus<double>{}, tree, 0.0));
  }
}

template <class Number> constexpr const char* dtype_of = "float64";
template <> inline constexpr const char* dtype_of<float> = "float32";
template <> inline constexpr const char* dtype_of<int> = "int32";
template <> inline constexpr const char* dtype_of<bool> = "bool";

template <class T> std::string tree_ravel(const T& tree) {
  const auto [flat, unravel] = espalier::tree_ravel(tree);
  using number = espalier::promoted_leaf_t<T>;
  return std::string("{\"dtype\": \"") + dtype_of<number> + "\", \"values\": " + write_each(flat) + "}";
}

template <class T> std::string tree_unravel(const T& tree) {
  auto [flat, unravel] = espalier::tree_ravel(tree);
  std::reverse(flat.begin(), flat.end());
  return write(unravel(flat));
}

}  // namespace peers
