// Assigning every leaf of a tree: `tree_visit_update`, tree_map in place.
//
//   espalier::tree_visit_update([](double p, double g) { return p - 0.1 * g; }, params, grads);
#pragma once

#include <espalier/detail/contiguous.hpp>
#include <espalier/detail/leaf_call.hpp>
#include <espalier/visit.hpp>
#include <memory>
#include <type_traits>
#include <utility>

namespace espalier {

namespace detail {

template <class Children> inline constexpr bool any_const_child = false;
template <std::size_t... I, class... T>
inline constexpr bool any_const_child<ref_pack<std::index_sequence<I...>, T...>> = (std::is_const_v<T> || ...);
template <class... T>
inline constexpr bool any_const_child<std::tuple<T...>> = (std::is_const_v<std::remove_reference_t<T>> || ...);
template <class A, class B>
inline constexpr bool any_const_child<std::pair<A, B>> = std::is_const_v<A> || std::is_const_v<B>;

// A node whose children cannot be assigned: immutable by its registration, or with const members or elements.
template <class T> consteval bool rebuilt_only() {
  if constexpr (is_product<T>) {
    return any_const_child<std::remove_cvref_t<decltype(node_of<T>::children(std::declval<T&>()))>>;
  } else if constexpr (requires { typename node_of<T>::element; }) {
    return std::is_const_v<typename node_of<T>::element>;
  } else {
    return false;
  }
}

template <class T> constexpr void replace(T& target, T&& value) {
  if constexpr (std::is_move_assignable_v<T>) {
    target = std::move(value);
  } else {
    static_assert(std::is_nothrow_move_constructible_v<T>,
                  "espalier: a node that is updated must be assignable, or movable without throwing");
    std::destroy_at(std::addressof(target));
    std::construct_at(std::addressof(target), std::move(value));
  }
}

// leaf = f(leaf, beside...) for every leaf; nodes that can only be rebuilt are rebuilt and replaced.
template <class Path, class Leaf, class T, class... R>
ESPALIER_INLINE constexpr void update_tree(Leaf& leaf, Path path, T& tree, R&... rest) {
  if constexpr (!std::is_same_v<Path, path_view> && updates_in_blocks<T, R...>()) {
    if (!std::is_constant_evaluated()) return update_in_blocks(leaf, path, tree, rest...);
  }
  if constexpr (kind_of<T> == node_kind::leaf) {
    tree = leaf(path, tree, rest...);
  } else if constexpr (rebuilt_only<T>()) {
    auto make = [&]<class L>(type_tag<L>, const auto& at, auto& old, auto&... others) -> L {
      return leaf(at, old, others...);
    };
    replace(tree, map_tree<T>(make, path, tree, rest...));
  } else {
    const auto inside = entered<T>(path);
    for_each_child([&](const auto& key, auto& child, auto&... others)
                       ESPALIER_INLINE_LAMBDA { update_tree(leaf, inside / key, child, others...); },
                   tree, rest...);
  }
}

template <class F, class... Root, class... Zip> consteval bool gives_leaf_types(types<Zip...>) {
  return (std::is_same_v<std::remove_cvref_t<typename call_at<false, types<Root...>, Zip>::template result<F>>,
                         typename call_at<false, types<Root...>, Zip>::leaf> &&
          ...);
}

}  // namespace detail

// Assigns f(leaf, rest leaves...) to every leaf of the first tree, in order: tree_map in place. Nodes that can only be
// rebuilt (immutable registered nodes, structs with const members) are rebuilt and replaced. Throws structure_error
// before any change if the structures differ; if f throws, the leaves before it have been updated, but for the last few
// of a contiguous_tree: such a struct of numbers is assigned in blocks, whose results are computed first.
template <class F, class First, class... Rest>
ESPALIER_INLINE constexpr void tree_visit_update(F&& f, First& first, Rest&&... rest) {
  static_assert(!std::is_const_v<First>, "espalier: tree_visit_update: the tree is const; use tree_map for a new one");
  static_assert(detail::require_traversal<false, F, const First&, Rest...>());
  static_assert(
      detail::gives_leaf_types<F, const First&, Rest...>(detail::leaf_zips<First, std::remove_cvref_t<Rest>...>{}),
      "espalier: tree_visit_update: the function must give back each leaf's own type");
  if constexpr (detail::is_leaf_array<First>) {
    espalier::tree_visit([&f](auto& value, auto&&... beside) { value = f(std::as_const(value), beside...); }, first,
                         rest...);
  } else {
    const detail::leaf_call<false, F, const First&, Rest...> leaf{f};
    detail::walk_together(
        "tree_visit_update",
        [&](auto& lead, auto&&... others)
            ESPALIER_INLINE_LAMBDA { detail::update_tree(leaf, detail::no_path{}, lead, others...); },
        first, rest...);
  }
}

}  // namespace espalier
