// Flattening: a tree as its leaves in order and its structure, and back again.
//
//   auto [leaves, def] = espalier::tree_flatten(model);
//   Model again = espalier::tree_unflatten(def, leaves);
#pragma once

#include <array>
#include <espalier/structure.hpp>
#include <espalier/visit.hpp>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace espalier {

namespace detail {

template <class T> struct leaves_of {
  using type = std::vector<leaf_value_t<T>>;
};
template <static_structure T> struct leaves_of<T> {
  using type = std::array<leaf_value_t<T>, static_leaf_count<T>>;
};

}  // namespace detail

// The leaves of a T: a std::array where T is a static structure, otherwise a std::vector, of leaf_value_t<T>.
template <class T> using leaves_t = typename detail::leaves_of<T>::type;

// The leaves of a tree, in order: copied, or moved out of an rvalue. One allocation if the structure is not static.
template <class Tree> ESPALIER_INLINE constexpr auto tree_leaves(Tree&& tree) {
  using T = std::remove_cvref_t<Tree>;
  static_assert(detail::require_trees<T>());
  using Value = leaf_value_t<T>;
  constexpr bool plain =
      std::is_trivially_copyable_v<Value> && std::is_default_constructible_v<Value> && !std::is_same_v<Value, bool>;
  if constexpr (!static_structure<T> && plain) {
    leaves_t<T> leaves(detail::count_leaves(tree));
    Value* next = leaves.data();  // in a register, which the end of a vector that grows is not
    auto leaf = [&next](const auto&, auto& value) ESPALIER_INLINE_LAMBDA { *next++ = Value(value); };
    detail::visit_tree(leaf, detail::no_path{}, tree);
    return leaves;
  } else if constexpr (!static_structure<T>) {
    leaves_t<T> leaves;
    leaves.reserve(detail::count_leaves(tree));
    auto leaf = [&](const auto&, auto& value) { leaves.emplace_back(detail::forward_leaf<Tree>(value)); };
    detail::visit_tree(leaf, detail::no_path{}, tree);
    return leaves;
  } else {
    constexpr std::size_t n = detail::static_leaf_count<T>;
    constexpr bool assigned = std::is_default_constructible_v<Value> && std::is_move_assignable_v<Value>;
    std::array<std::conditional_t<assigned, Value, std::optional<Value>>, n> slots{};
    std::size_t i = 0;
    auto leaf = [&](const auto&, auto& value) { slots[i++] = Value(detail::forward_leaf<Tree>(value)); };
    detail::visit_tree(leaf, detail::no_path{}, tree);
    if constexpr (assigned) {
      return slots;
    } else {
      return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return leaves_t<T>{*std::move(slots[I])...};
      }(std::make_index_sequence<n>{});
    }
  }
}

// The same of a tree whose nodes of type Stop are leaves (leaf_if.hpp): a std::vector of the one type that those and the
// other leaves have, or of a variant of their distinct types, in the order in which they are met.
template <class... Stop, class Tree> auto tree_leaves(leaf_if_t<Stop...> stop, Tree&& tree) {
  using T = std::remove_cvref_t<Tree>;
  using stops = detail::nodes_among<detail::types<Stop...>>;
  using met = typename detail::leaf_types_of<typename detail::survey_with<stops, T>::leaves>::type;
  std::vector<typename detail::leaf_value_of<met>::type> leaves;
  espalier::tree_visit(
      stop, [&leaves]<class L>(L&& leaf) { leaves.emplace_back(std::forward<L>(leaf)); }, std::forward<Tree>(tree));
  return leaves;
}

// A tree's structure. Empty, and free, where T is a static structure.
template <class T> constexpr treedef<T> tree_structure(const T& tree) { return treedef<T>(tree); }

// What tree_flatten returns; made for `auto [leaves, def] = …`.
template <class T> struct flattened {
  leaves_t<T> leaves;
  [[no_unique_address]] treedef<T> structure;
};

// The leaves of a tree and its structure (as jax.tree.flatten).
template <class Tree> constexpr flattened<std::remove_cvref_t<Tree>> tree_flatten(Tree&& tree) {
  using T = std::remove_cvref_t<Tree>;
  treedef<T> structure(tree);
  return {espalier::tree_leaves(std::forward<Tree>(tree)), std::move(structure)};
}

// The tree of a structure and leaves; see treedef::unflatten.
template <class T, std::ranges::forward_range Leaves>
constexpr T tree_unflatten(const treedef<T>& structure, Leaves&& leaves) {
  return structure.unflatten(std::forward<Leaves>(leaves));
}

}  // namespace espalier
