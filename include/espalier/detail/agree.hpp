// Whether two trees have the same structure and leaves that agree: what tree_equal and tree_allclose share.
#pragma once

#include <espalier/structure.hpp>
#include <type_traits>

namespace espalier::detail {

template <class A, class B, class Agree>
ESPALIER_INLINE constexpr bool trees_agree(const A& a, const B& b, const Agree& agree) {
  static_assert(require_trees<A>() && require_trees<B>());
  // Both ways: a match alone lets b be deeper than a.
  if constexpr (!std::is_void_v<typename survey_of<A, B>::faulty> ||
                !std::is_void_v<typename survey_of<B, A>::faulty>) {
    return false;
  } else {
    any_mismatch quick;
    if (!match(quick, no_path{}, a, b)) return false;
    bool all = true;
    auto leaf = [&](const auto&, const auto& x, const auto& y) ESPALIER_INLINE_LAMBDA { all = agree(all, x, y); };
    visit_tree(leaf, no_path{}, a, b);
    return all;
  }
}

// Whether the structures are equal and agree(so far, leaf of a, leaf of b) is true at the end; of trees, or of two
// leaf_arrays. Trees whose types have different structures differ.
template <class A, class B, class Agree>
ESPALIER_INLINE constexpr bool leaves_agree(const A& a, const B& b, const Agree& agree) {
  if constexpr (is_leaf_array<A> && is_leaf_array<B>) {
    bool all = a.structure() == b.structure();
    for (std::size_t i = 0; all && i < a.size(); ++i) all = agree(all, a.data()[i], b.data()[i]);
    return all;
  } else {
    return trees_agree(a, b, agree);
  }
}

}  // namespace espalier::detail
