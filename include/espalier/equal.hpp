// Equality of trees: the same structure, aux data and sizes included, and equal leaves.
#pragma once

#include <espalier/detail/agree.hpp>
#include <espalier/leaf.hpp>
#include <type_traits>

namespace espalier {

// Whether two trees have equal structure and equal leaves. Leaves are compared by leaf_equality; leaves of different
// types are different, and so are trees whose types have different structures. Stops at the first difference.
template <class A, class B> constexpr bool tree_equal(const A& a, const B& b) {
  return detail::leaves_agree(a, b, []<class X, class Y>(bool so_far, const X& x, const Y& y) {
    if constexpr (std::is_same_v<X, Y>) {
      return so_far && leaf_equality<X>::equal(x, y);
    } else {
      return false;
    }
  });
}

}  // namespace espalier
