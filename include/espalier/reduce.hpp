// Folding the leaves of a tree into one value: `tree_reduce`, as jax.tree.reduce.
//
//   double norm2 = espalier::tree_reduce([](double sum, double x) { return sum + x * x; }, params, 0.0);
#pragma once

#include <espalier/visit.hpp>
#include <type_traits>
#include <utility>

namespace espalier {

// f(…f(f(initial, leaf 0), leaf 1)…, leaf n-1): the result has the type of `initial`. No allocation.
template <class F, class Tree, class Result> constexpr Result tree_reduce(F&& f, Tree&& tree, Result initial) {
  auto step = [&]<class Leaf>(Leaf&& leaf) ESPALIER_INLINE_LAMBDA
    requires std::is_invocable_r_v<Result, F&, Result, Leaf>
  { initial = f(std::move(initial), std::forward<Leaf>(leaf)); };
  tree_visit(step, std::forward<Tree>(tree));
  return initial;
}

}  // namespace espalier
