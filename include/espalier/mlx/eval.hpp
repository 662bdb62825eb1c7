// Evaluating the arrays of whole trees, as mx.eval:
//
//   espalier::eval(state, loss);
#pragma once

#include <mlx/array.h>
#include <mlx/transforms.h>

#include <espalier/mlx/array.hpp>
#include <espalier/visit.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace espalier {

namespace detail {

template <class... Trees> std::vector<::mlx::core::array> arrays_of(const Trees&... trees) {
  std::vector<::mlx::core::array> arrays;
  const auto add = [&]<class Leaf>(const Leaf& leaf) {
    if constexpr (std::is_same_v<Leaf, ::mlx::core::array>) arrays.push_back(leaf);
  };
  (espalier::tree_visit(add, trees), ...);
  return arrays;
}

}  // namespace detail

// Evaluates every array of the trees, in one graph, and waits for it. Leaves that are no arrays are left
// alone. (By const reference, so that a call without a namespace, which may find mlx::core::eval as well, is
// never ambiguous.)
template <class... Trees> void eval(const Trees&... trees) { ::mlx::core::eval(detail::arrays_of(trees...)); }

// Starts to evaluate every array of the trees and does not wait.
template <class... Trees> void async_eval(const Trees&... trees) {
  ::mlx::core::async_eval(detail::arrays_of(trees...));
}

}  // namespace espalier
