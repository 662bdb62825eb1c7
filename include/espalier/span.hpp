// The leaves of a plain struct of numbers as one span, without a copy.
//
//   struct Particle { std::array<float, 3> position, velocity; float mass; };
//   std::span<float, 7> numbers = espalier::tree_span(particle);
#pragma once

#include <espalier/detail/contiguous.hpp>
#include <span>
#include <type_traits>

namespace espalier {

// All leaves of a contiguous tree, in order, in the tree itself: as const as the tree, and valid as long as it. Costs
// nothing. (tree_ravel copies, and so takes every tree of numbers.)
template <class Tree> auto tree_span(Tree&& tree) {
  using T = std::remove_reference_t<Tree>;
  static_assert(std::is_lvalue_reference_v<Tree>,
                "espalier: tree_span: the tree is a temporary, and the span would outlive it; give it a name first");
  static_assert(
      contiguous_tree<T>,
      "espalier: tree_span: the leaves of this tree are not numbers of one type side by side in memory. Let it "
      "be structs and std::arrays of one arithmetic type, without padding; or copy the leaves, with tree_ravel");
  if constexpr (contiguous_tree<T>) {
    return std::span<std::remove_reference_t<decltype(detail::leaf_at(tree, 0))>,
                     detail::contiguous_count<std::remove_cv_t<T>>()>(&detail::leaf_at(tree, 0),
                                                                      detail::contiguous_count<std::remove_cv_t<T>>());
  }
}

}  // namespace espalier
