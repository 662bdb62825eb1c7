// Visiting leaves in place: `tree_visit` calls a function with every leaf, in order; of several trees, with the leaves
// that stand at the same place. What the function gets is a reference into the tree, as const as the tree.
//
//   espalier::tree_visit([](double& p, double g) { p -= 0.1 * g; }, params, grads);
//
// Costs what the loop costs that a person would write: no allocation (but to sort an unordered map's keys), no indirect
// call, no copy of a leaf.
#pragma once

#include <espalier/detail/leaf_call.hpp>
#include <utility>

namespace espalier {

namespace detail {

// Visits; also ends at nodes whose types are in Met, every one of which it has to meet.
template <bool WithPath, class Met, class F, class First, class... Rest>
ESPALIER_INLINE constexpr void visit_leaves(const char* operation, F& f, First&& first, Rest&&... rest) {
  using Stops = nodes_among<Met>;
  static_assert(require_traversal_with<WithPath, Stops, Met, F, First, Rest...>());
  using Call = leaf_call<WithPath, F, First, Rest...>;
  const with_stops<Stops, Call> leaf{Call{f}};
  walk_together<Stops>(
      operation,
      [&](auto& lead, auto&&... others)
          ESPALIER_INLINE_LAMBDA { visit_tree(leaf, start_path<WithPath>(), lead, others...); },
      first, rest...);
}

}  // namespace detail

// Calls f(leaf, rest leaves...) for every leaf of the first tree, in order. Rest trees need the first tree's structure,
// and may be deeper: f gets the subtree that stands at the first tree's leaf (as jax.tree.map's prefix semantics). A
// leaf_array can stand for any of them. Leaves of a tree passed as an rvalue arrive as rvalues. Throws structure_error,
// before any call, if the structures differ.
template <class F, class First, class... Rest>
ESPALIER_INLINE constexpr void tree_visit(F&& f, First&& first, Rest&&... rest) {
  detail::visit_leaves<false, detail::types<>>("tree_visit", f, static_cast<First&&>(first),
                                               static_cast<Rest&&>(rest)...);
}

// The same with the key path of the leaf in front: f(const path_view&, leaf, rest leaves...).
template <class F, class First, class... Rest>
ESPALIER_INLINE constexpr void tree_visit_with_path(F&& f, First&& first, Rest&&... rest) {
  detail::visit_leaves<true, detail::types<>>("tree_visit_with_path", f, static_cast<First&&>(first),
                                              static_cast<Rest&&>(rest)...);
}

// Both of a tree whose nodes of type Stop are leaves: f gets them whole.
template <class... Stop, class F, class First, class... Rest>
ESPALIER_INLINE constexpr void tree_visit(leaf_if_t<Stop...>, F&& f, First&& first, Rest&&... rest) {
  detail::visit_leaves<false, detail::types<Stop...>>("tree_visit", f, static_cast<First&&>(first),
                                                      static_cast<Rest&&>(rest)...);
}
template <class... Stop, class F, class First, class... Rest>
ESPALIER_INLINE constexpr void tree_visit_with_path(leaf_if_t<Stop...>, F&& f, First&& first, Rest&&... rest) {
  detail::visit_leaves<true, detail::types<Stop...>>("tree_visit_with_path", f, static_cast<First&&>(first),
                                                     static_cast<Rest&&>(rest)...);
}

}  // namespace espalier
