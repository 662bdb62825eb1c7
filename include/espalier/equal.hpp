// Equality of trees: the same structure, aux data and sizes included, and equal leaves.
#pragma once

#include <espalier/leaf.hpp>
#include <espalier/structure.hpp>
#include <type_traits>

namespace espalier {

// Whether two trees have equal structure and equal leaves. Leaves are compared by leaf_equality; leaves of different
// types are different, and so are trees whose types have different structures. Stops at the first difference.
template <class A, class B> constexpr bool tree_equal(const A& a, const B& b) {
  static_assert(detail::require_trees<A>() && detail::require_trees<B>());
  // Both ways: a match alone lets b be deeper than a.
  if constexpr (!std::is_void_v<typename detail::survey_of<A, B>::faulty> ||
                !std::is_void_v<typename detail::survey_of<B, A>::faulty>) {
    return false;
  } else {
    detail::any_mismatch quick;
    if (!detail::match(quick, detail::no_path{}, a, b)) return false;
    bool equal = true;
    auto leaf = [&equal]<class X, class Y>(const auto&, const X& x, const Y& y) {
      if constexpr (std::is_same_v<X, Y>) {
        equal = equal && leaf_equality<X>::equal(x, y);
      } else {
        equal = false;
      }
    };
    detail::visit_tree(leaf, detail::no_path{}, a, b);
    return equal;
  }
}

}  // namespace espalier
