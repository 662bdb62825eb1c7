// Merging: two trees of one type, each of which may lack parts (None, keys, elements), as one that has the parts of
// both: a deep dict.update.
//
//   Settings both = espalier::tree_merge(from_file, from_command_line);                       // no leaf in both
//   Settings all = espalier::tree_merge(defaults, overrides, [](const auto&, const auto& last) { return last; });
#pragma once

#include <algorithm>
#include <cstddef>
#include <espalier/detail/leaf_call.hpp>
#include <espalier/detail/match.hpp>
#include <espalier/detail/walk.hpp>
#include <espalier/errors.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace espalier {

namespace detail {

// A container without elements, or None: nothing, to whatever stands beside it.
template <class T> constexpr bool is_empty_node(const T& tree) {
  bool empty = kind_of<T> != node_kind::leaf;
  if constexpr (kind_of<T> != node_kind::leaf) {
    for_each_child([&](const auto&, const auto&) { empty = false; }, tree);
  }
  return empty;
}

// Finds every part that both trees have and that cannot be merged: other aux data, other alternatives, and leaves, if
// there is no function for them.
template <bool LeavesClash, class T>
void find_clashes(std::vector<mismatch>& found, path_view path, const T& a, const T& b) {
  constexpr node_kind kind = kind_of<T>;
  const auto below = [&](const auto& key, const auto& x, const auto& y) {
    find_clashes<LeavesClash>(found, path / key, x, y);
  };
  if constexpr (kind == node_kind::leaf) {
    if constexpr (LeavesClash) found.push_back({path.to_string(), "a leaf in one of the trees", "one in both"});
  } else if constexpr (is_product<T>) {
    if constexpr (node_of<T>::has_aux) {
      all_mismatches report{found};
      match_aux(report, path, a, b);
    }
    for_each_child(below, a, b);
  } else if constexpr (kind == node_kind::array) {
    for_each_child(below, a, b);
  } else if constexpr (kind == node_kind::sequence) {
    const std::size_t n = std::min(node_of<T>::size(a), node_of<T>::size(b));
    for (std::size_t i = 0; i < n; ++i) below(index_key{i}, elements_of(a)[i], elements_of(b)[i]);
  } else if constexpr (kind == node_kind::map) {
    for (const auto& [key, value] : map_entries(a)) {
      const auto other = b.find(key);
      if (other != b.end()) below(map_key<typename node_of<T>::key>{key}, value, other->second);
    }
  } else if constexpr (kind == node_kind::maybe) {
    if (a && b) below(no_key{}, held(a), held(b));
  } else {
    if (a.index() == b.index()) {
      for_each_child(below, a, b);
    } else if (!std::visit([](const auto& held) { return is_empty_node(held); }, a) &&
               !std::visit([](const auto& held) { return is_empty_node(held); }, b)) {
      found.push_back({path.to_string(), "alternative " + std::to_string(a.index()) + " in both trees",
                       "alternative " + std::to_string(b.index())});
    }
  }
}

// Makes the tree of both. A and B say, by their value category, from which tree leaves may be moved.
template <class A, class B, class Merge> struct merger {
  Merge& merge;

  // A part that only one tree has.
  template <class Tree, class T> static std::remove_const_t<T> take(T& tree) {
    auto leaf = []<class L>(type_tag<L>, const auto&, auto& value) -> L { return L(forward_leaf<Tree>(value)); };
    return make_tree<std::remove_const_t<T>>(leaf, tree);
  }

  template <class X, class Y> std::remove_const_t<X> both(X& a, Y& b) const {
    using T = std::remove_const_t<X>;
    using N = node_of<T>;
    if constexpr (N::kind == node_kind::leaf) {
      return static_cast<T>(merge(forward_leaf<A>(a), forward_leaf<B>(b)));
    } else if constexpr (is_product<T>) {
      return product<T>(N::aux(a), open(a), open(b));
    } else if constexpr (N::kind == node_kind::array || N::kind == node_kind::sequence) {
      const std::size_t n = N::size(a);
      const std::size_t m = N::size(b);
      return N::assemble(std::max(n, m), [&](std::size_t i) {
        return i >= n   ? take<B>(elements_of(b)[i])
               : i >= m ? take<A>(elements_of(a)[i])
                        : both(elements_of(a)[i], elements_of(b)[i]);
      });
    } else if constexpr (N::kind == node_kind::map) {
      T result = N::empty_like(a);
      const auto less = N::order(a);
      auto&& entries_a = map_entries(a);
      auto&& entries_b = map_entries(b);
      auto i = entries_a.begin();
      auto j = entries_b.begin();
      while (i != entries_a.end() || j != entries_b.end()) {
        const bool has_a = i != entries_a.end() && (j == entries_b.end() || !less(j->first, i->first));
        const bool has_b = j != entries_b.end() && (i == entries_a.end() || !less(i->first, j->first));
        if (has_a && has_b) {
          result.emplace_hint(result.end(), i->first, both(i->second, j->second));
        } else if (has_a) {
          result.emplace_hint(result.end(), i->first, take<A>(i->second));
        } else {
          result.emplace_hint(result.end(), j->first, take<B>(j->second));
        }
        if (has_a) ++i;
        if (has_b) ++j;
      }
      return result;
    } else if constexpr (N::kind == node_kind::maybe) {
      if (!a) return take<B>(b);
      if (!b) return take<A>(a);
      return N::assemble(true, [&] { return both(held(a), held(b)); });
    } else {
      if (a.index() != b.index()) {
        return std::visit([](const auto& held) { return is_empty_node(held); }, a) ? take<B>(b) : take<A>(a);
      }
      return alternative_of<T>(a, b);
    }
  }

 private:
  // (A class for the children: g++ 12 confuses such lambdas between structs.)
  template <class T, class ChildrenA, class ChildrenB> struct child_merger {
    const merger& self;
    ChildrenA& a;
    ChildrenB& b;
    template <std::size_t I> typename child_at<T, I>::type operator()(index<I>) const {
      return self.both(get_child<I>(a), get_child<I>(b));
    }
  };
  template <class T, class Aux, class ChildrenA, class ChildrenB>
  T product(const Aux& aux, ChildrenA&& a, ChildrenB&& b) const {
    return node_of<T>::assemble(
        aux, child_merger<T, std::remove_reference_t<ChildrenA>, std::remove_reference_t<ChildrenB>>{*this, a, b});
  }

  template <class T, std::size_t I = 0, class X, class Y> T alternative_of(X& a, Y& b) const {
    if constexpr (I + 1 < node_of<T>::arity) {
      if (a.index() != I) return alternative_of<T, I + 1>(a, b);
    }
    return node_of<T>::template assemble<I>([&] { return both(std::get<I>(a), std::get<I>(b)); });
  }
};

// Never called: leaves that clash have been found before.
struct no_merge {
  template <class L> std::remove_cvref_t<L> operator()(L&& leaf, const auto&) const { return std::forward<L>(leaf); }
};

template <bool LeavesClash, class A, class B, class Merge>
std::remove_cvref_t<A> merge_trees(A&& a, B&& b, Merge&& merge) {
  std::vector<mismatch> clashes;
  find_clashes<LeavesClash>(clashes, path_view{}, std::as_const(a), std::as_const(b));
  if (!clashes.empty()) {
    const char* const which = LeavesClash ? "; leaves, but nothing else, can be merged by a function, a third argument:"
                                          : " and differ; make them equal before:";
    throw structure_error("espalier: tree_merge: these parts are in both trees" + std::string(which),
                          std::move(clashes));
  }
  return merger<A, B, std::remove_reference_t<Merge>>{merge}.both(a, b);
}

template <class A, class B> consteval bool require_one_type() {
  static_assert(
      std::is_same_v<std::remove_cvref_t<A>, std::remove_cvref_t<B>>,
      "espalier: tree_merge: the trees have different types; merge trees of one type, in which what a tree may "
      "lack is an optional, a map or a vector");
  return require_trees<std::remove_cvref_t<A>>();
}

template <class Where> struct function_cannot_merge_leaves {
  static_assert(always_false<Where>,
                "espalier: tree_merge: the function cannot take two leaves of this type (it is named beside this "
                "message), or does not give one back. Let it take every type of leaf, by const reference or by value");
};
template <class A, class B, class Merge, class L> consteval bool require_merge_of() {
  constexpr bool merges =
      requires(Merge& merge, typename leaf_argument<A, L>::type a, typename leaf_argument<B, L>::type b) {
        static_cast<L>(merge(static_cast<decltype(a)>(a), static_cast<decltype(b)>(b)));
      };
  if constexpr (!merges) return sizeof(function_cannot_merge_leaves<types<L, Merge>>) == 0;
  return true;
}
template <class A, class B, class Merge, class... L> consteval bool require_merge(types<L...>) {
  return (require_merge_of<A, B, Merge, L>() && ...);
}

// Whether trees of this type always have leaves at the same places.
template <class T> consteval bool always_clashes() {
  if constexpr (is_static<T>) {
    return !std::is_same_v<leaf_types<T>, types<>>;
  } else {
    return false;
  }
}

}  // namespace detail

// The tree that has the parts of both (as mlx.utils.tree_merge): None and what is there is what is there; maps have the
// keys of both, sequences the elements of the longer; what both have is merged part by part, and a leaf that both have
// is merge(leaf of a, leaf of b), converted to the leaf's type. Variants must hold the same alternative, unless one is an
// empty container, which gives way; aux data must be equal. None and None is None (mlx.utils calls it a clash). Leaves
// are copied, or moved out of rvalues. Throws structure_error with every part that cannot be merged, before any leaf is
// moved.
template <class A, class B, class Merge> std::remove_cvref_t<A> tree_merge(A&& a, B&& b, Merge&& merge) {
  static_assert(detail::require_one_type<A, B>());
  static_assert(
      detail::require_merge<A, B, std::remove_reference_t<Merge>>(detail::leaf_types<std::remove_cvref_t<A>>{}));
  return detail::merge_trees<false>(std::forward<A>(a), std::forward<B>(b), merge);
}

// The same for trees that have no leaf in common: those that both have are mismatches too.
template <class A, class B> std::remove_cvref_t<A> tree_merge(A&& a, B&& b) {
  static_assert(detail::require_one_type<A, B>());
  static_assert(
      !detail::always_clashes<std::remove_cvref_t<A>>(),
      "espalier: tree_merge: two trees of this type always have leaves at the same places; give a function that "
      "merges two leaves");
  return detail::merge_trees<true>(std::forward<A>(a), std::forward<B>(b), detail::no_merge{});
}

}  // namespace espalier
