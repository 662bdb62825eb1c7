// The MLX arrays of trees as a flat vector, and back: what every transformation of MLX takes and gives.
#pragma once

#include <mlx/array.h>

#include <espalier/describe_value.hpp>
#include <espalier/errors.hpp>
#include <espalier/map.hpp>
#include <espalier/mlx/array.hpp>
#include <espalier/path_view.hpp>
#include <espalier/visit.hpp>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace espalier::detail {

// Which arrays of a tree take part: a function of each in turn, copied for each walk.
struct every_array {
  bool operator()(const ::mlx::core::array&) const { return true; }
};
struct every_parameter {
  bool operator()(const ::mlx::core::array& a) const { return array_traits<::mlx::core::array>::differentiable(a); }
};

// Appends the arrays that take part, in order.
template <class Takes, class T> void gather(std::vector<::mlx::core::array>& arrays, Takes takes, const T& tree) {
  espalier::tree_visit(
      [&]<class Leaf>(const Leaf& leaf) {
        if constexpr (std::is_same_v<Leaf, ::mlx::core::array>) {
          if (takes(leaf)) arrays.push_back(leaf);
        }
      },
      tree);
}
template <class Takes, class... T> std::vector<::mlx::core::array> gathered(const Takes& takes, const T&... trees) {
  std::vector<::mlx::core::array> arrays;
  (gather(arrays, takes, trees), ...);
  return arrays;
}

// The tree with these arrays replaced, in order; `next` moves past them.
template <class Takes, class T> T scatter(const ::mlx::core::array*& next, Takes takes, const T& tree) {
  return espalier::tree_map(
      [&]<class Leaf>(const Leaf& leaf) -> Leaf {
        if constexpr (std::is_same_v<Leaf, ::mlx::core::array>) {
          if (takes(leaf)) return *next++;
        }
        return leaf;
      },
      tree);
}
template <class Takes, class T>
T scattered(const std::vector<::mlx::core::array>& arrays, const Takes& takes, const T& tree) {
  const ::mlx::core::array* next = arrays.data();
  return scatter(next, takes, tree);
}
// (By braces, in which trees are made in order.)
template <class Takes, class... T>
std::tuple<T...> scattered(const std::vector<::mlx::core::array>& arrays, const Takes& takes,
                           const std::tuple<T...>& trees) {
  const ::mlx::core::array* next = arrays.data();
  return std::apply([&](const T&... tree) { return std::tuple<T...>{scatter(next, takes, tree)...}; }, trees);
}

// Throws a structure_error, "what:" and the key paths, unless the arrays of `found` that take part in `expected` have
// the shapes and dtypes there.
template <class Takes, class T>
void require_signatures(const char* what, Takes takes, const T& expected, const T& found) {
  std::vector<mismatch> differences;
  auto compare = [&]<class Leaf>(const path_view& path, const Leaf& e, const Leaf& f) {
    if constexpr (std::is_same_v<Leaf, ::mlx::core::array>) {
      if (takes(e) && (e.shape() != f.shape() || e.dtype() != f.dtype())) {
        differences.push_back({path.to_string(), describe_value(e), describe_value(f)});
      }
    }
  };
  visit_leaves<true, types<>>(what, compare, expected, found);
  if (!differences.empty()) throw structure_error("espalier: " + std::string(what), std::move(differences));
}

}  // namespace espalier::detail
