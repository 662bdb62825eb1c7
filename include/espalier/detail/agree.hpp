// Whether two trees have the same structure and leaves that agree: what tree_equal and tree_allclose share.
#pragma once

#include <espalier/structure.hpp>
#include <type_traits>

namespace espalier::detail {

// Whether the structures are equal and agree(leaf of a, leaf of b) is true of all leaves. Trees whose types have
// different structures differ. Eager: numbers are compared without a branch between them, so that compilers make vector
// instructions of it.
template <bool Eager = false, class A, class B, class Agree>
ESPALIER_INLINE constexpr bool leaves_agree(const A& a, const B& b, const Agree& agree) {
  static_assert(require_trees<A>() && require_trees<B>());
  // Both ways: a match alone lets b be deeper than a.
  if constexpr (!std::is_void_v<typename survey_of<A, B>::faulty> ||
                !std::is_void_v<typename survey_of<B, A>::faulty>) {
    return false;
  } else {
    any_mismatch quick;
    if (!match(quick, no_path{}, a, b)) return false;
    bool all = true;
    auto leaf = [&]<class X, class Y>(const auto&, const X& x, const Y& y) ESPALIER_INLINE_LAMBDA {
      if constexpr (Eager && std::is_arithmetic_v<X> && std::is_arithmetic_v<Y>) {
        all = agree(x, y) && all;
      } else {
        all = all && agree(x, y);
      }
    };
    visit_tree(leaf, no_path{}, a, b);
    return all;
  }
}

}  // namespace espalier::detail
