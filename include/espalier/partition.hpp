// Parting a tree into two of its structure, each with None where a leaf went to the other: `tree_partition`,
// `tree_filter` and `tree_combine`, as equinox.partition, filter and combine.
//
//   auto [trained, frozen] = espalier::tree_partition(model, espalier::of_type<mx::array>);
//   Model again = espalier::tree_combine(trained, frozen);
//
// The parts have std::optional leaves: they are the struct rebound, if it is a template over its leaf, otherwise
// leaf_array<T, std::optional<L>> (where T has leaves of several types, L is their variant).
#pragma once

#include <concepts>
#include <espalier/broadcast.hpp>
#include <espalier/leaf_array.hpp>
#include <espalier/map.hpp>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace espalier {

// The type of of_type.
template <class... Leaf> struct of_type_t {
  template <class L> constexpr bool operator()(const L&) const { return detail::is_one_of<L, Leaf...>; }
};

// The filter that takes leaves of these types.
template <class... Leaf> inline constexpr of_type_t<Leaf...> of_type{};

// What tree_partition returns: the leaves that the filter takes, and the others. For `auto [selected, rest] = …`.
template <class Part> struct partitioned {
  Part selected;
  Part rest;
};

namespace detail {

template <class Where> struct no_filter {
  static_assert(always_false<Where>,
                "espalier: tree_partition, tree_filter: a filter is a function of every leaf, f(leaf) or f(path, "
                "leaf), that gives "
                "back a bool; of_type<Leaf...>; or a tree of bools with the tree's structure, or a prefix of it");
};

template <class F, class Zip> inline constexpr bool takes_leaf = false;
template <class F, class... L> inline constexpr bool takes_leaf<F, types<L...>> = (std::predicate<F&, const L&> && ...);
template <class F, class Zip> inline constexpr bool takes_path = false;
template <class F, class... L>
inline constexpr bool takes_path<F, types<L...>> = (std::predicate<F&, const path_view&, const L&> && ...);

template <class Filter> consteval bool is_mask() {
  if constexpr (is_leaf_array<Filter>) {
    return std::is_convertible_v<typename leaf_array_parts<Filter>::leaf, bool>;
  } else if constexpr (pytree<Filter>) {
    return std::is_convertible_v<leaf_value_t<Filter>, bool>;
  } else {
    return false;
  }
}

// The leaves that the filter takes, as a tree of bools.
template <class T, class Filter> constexpr auto mask_of(const T& tree, Filter& filter) {
  using leaves = leaf_types<T>;
  if constexpr (takes_leaf<Filter, leaves>) {
    return espalier::tree_map([&](const auto& leaf) -> bool { return filter(leaf); }, tree);
  } else if constexpr (takes_path<Filter, leaves>) {
    return espalier::tree_map_with_path(
        [&](const path_view& path, const auto& leaf) -> bool { return filter(path, leaf); }, tree);
  } else if constexpr (is_mask<std::remove_const_t<Filter>>()) {
    return espalier::tree_broadcast_prefix(filter, tree);
  } else {
    static_assert(sizeof(no_filter<types<Filter, T>>));
  }
}

// The leaves of the tree beside which the mask has `wanted`.
template <class Tree, class Mask> constexpr auto part(Tree&& tree, const Mask& mask, bool wanted) {
  using Value = leaf_value_t<std::remove_cvref_t<Tree>>;
  return espalier::tree_map(
      [wanted]<class L>(L&& leaf, bool taken) {
        return taken == wanted ? std::optional<Value>(std::in_place, std::forward<L>(leaf)) : std::nullopt;
      },
      static_cast<Tree&&>(tree), mask);
}

}  // namespace detail

// The tree's structure with the leaves that the filter takes, and None elsewhere. The filter is a function f(leaf) or
// f(const path_view&, leaf); of_type<Leaf...>; or a tree of bools, which may be a prefix of the tree. Leaves are copied,
// or moved out of an rvalue; no allocation where T is a static structure.
template <class Tree, class Filter> constexpr auto tree_filter(Tree&& tree, Filter&& filter) {
  static_assert(detail::require_trees<std::remove_cvref_t<Tree>>());
  return detail::part(static_cast<Tree&&>(tree), detail::mask_of(std::as_const(tree), filter), true);
}

// The same without copies: a leaf_array of pointers into the tree, to the leaves that the filter takes, null elsewhere.
template <class Tree, class Filter> constexpr auto tree_filter_view(Tree& tree, Filter&& filter) {
  static_assert(detail::require_trees<std::remove_const_t<Tree>>());
  return espalier::tree_map([](auto& leaf, bool taken) { return taken ? std::addressof(leaf) : nullptr; }, tree,
                            detail::mask_of(std::as_const(tree), filter));
}

// Two such trees: of the leaves that the filter takes, and of the others. The filter is asked once for each leaf.
template <class Tree, class Filter> constexpr auto tree_partition(Tree&& tree, Filter&& filter) {
  static_assert(detail::require_trees<std::remove_cvref_t<Tree>>());
  const auto mask = detail::mask_of(std::as_const(tree), filter);
  using Part = decltype(detail::part(static_cast<Tree&&>(tree), mask, true));
  // Each leaf is moved from once, into one of the two.
  return partitioned<Part>{detail::part(static_cast<Tree&&>(tree), mask, true),
                           detail::part(static_cast<Tree&&>(tree), mask, false)};
}

namespace detail {

template <class Where> struct no_parts {
  static_assert(
      always_false<Where>,
      "espalier: tree_combine: these are not the parts of one tree; give trees of one type that tree_partition or "
      "tree_filter has made, with a std::optional for each leaf");
};

// What the parts were made of, and where they have their optionals.
template <class Part> struct part_traits {
  using value = leaf_value_t<Part>;
  using tree = typename rebound<Part, std::optional<value>, value>::type;
  static constexpr bool has_leaves = !std::is_same_v<leaf_types<Part>, types<>>;
  // A tree whose type has no leaves is a part of itself.
  static constexpr bool is_part =
      !has_leaves || is_rebound<Part, tree, std::optional<value>, value, types<std::optional<value>>>();
  static constexpr std::conditional_t<has_leaves, leaf_if_t<std::optional<value>>, leaf_if_t<>> leaf{};
};
template <class T, class U> struct part_traits<leaf_array<T, U>> {
  static constexpr bool is_part = false;
};
template <class T, class V> struct part_traits<leaf_array<T, std::optional<V>>> {
  using value = V;
  using tree = T;
  static constexpr bool is_part = std::is_same_v<V, leaf_value_t<T>>;
  static constexpr leaf_if_t<> leaf{};
};

template <class... Part> [[noreturn, gnu::noinline, gnu::cold]] void throw_missing(const Part&... part) {
  std::string paths;
  espalier::tree_visit_with_path(
      part_traits<std::tuple_element_t<0, std::tuple<Part...>>>::leaf,
      [&](const path_view& path, const auto&... leaf) {
        if (!(leaf || ...)) paths += "\n  " + path.to_string();
      },
      part...);
  throw leaf_error("espalier: tree_combine: no part has a leaf at:" + paths);
}

}  // namespace detail

// The tree that was parted: at each place the leaf of the first part that has one there. Leaves are copied, or moved
// out of parts that are rvalues. Throws leaf_error where no part has a leaf, naming every such path, and structure_error
// if the parts have different structures.
template <class First, class... Rest> constexpr auto tree_combine(First&& first, Rest&&... rest) {
  using Part = std::remove_cvref_t<First>;
  using traits = detail::part_traits<Part>;
  if constexpr (!traits::is_part || !(std::is_same_v<Part, std::remove_cvref_t<Rest>> && ...)) {
    static_assert(sizeof(detail::no_parts<detail::types<Part, std::remove_cvref_t<Rest>...>>));
  } else {
    using Value = typename traits::value;
    const auto choose = [&]<class... Leaf>(Leaf&&... leaf) -> Value {
      std::optional<Value> chosen;
      (void)((leaf ? (chosen.emplace(*static_cast<Leaf&&>(leaf)), true) : false) || ...);
      if (!chosen) detail::throw_missing(first, rest...);
      return *std::move(chosen);
    };
    auto combined = espalier::tree_map(traits::leaf, choose, static_cast<First&&>(first), static_cast<Rest&&>(rest)...);
    if constexpr (detail::is_leaf_array<Part>) {
      return combined.structure().unflatten(std::move(combined));  // moves the values, not the structure
    } else {
      return combined;
    }
  }
}

}  // namespace espalier
