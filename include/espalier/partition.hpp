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

template <class Where> struct filter_for_absent_type {
  static_assert(always_false<Where>,
                "espalier: of_type: no leaf of this tree has this type (the type and the tree are named beside this "
                "message). Name types of leaves, exactly");
};
template <class Leaf, class Leaves, class T> consteval bool require_leaf_type() {
  if constexpr (!is_in<Leaf, Leaves>) return sizeof(filter_for_absent_type<types<Leaf, T>>) == 0;
  return true;
}

// Stops the build at of_type of a type that no leaf has.
template <class Filter, class T> inline constexpr bool require_filter = true;
template <class... Leaf, class T>
inline constexpr bool require_filter<of_type_t<Leaf...>, T> = (require_leaf_type<Leaf, leaf_types<T>, T>() && ...);

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

// Calls put(taken, leaf, what stands beside it...) for every leaf. The filter is asked once for each.
template <class Put, class Tree, class Filter, class... Beside>
ESPALIER_INLINE constexpr void sift(const Put& put, Tree&& tree, Filter& filter, Beside&... beside) {
  using leaves = leaf_types<std::remove_cvref_t<Tree>>;
  static_assert(require_filter<std::remove_const_t<Filter>, std::remove_cvref_t<Tree>>);
  if constexpr (takes_leaf<Filter, leaves>) {
    espalier::tree_visit(
        [&]<class L>(L&& leaf, auto&... at) ESPALIER_INLINE_LAMBDA {
          const bool taken = filter(std::as_const(leaf));
          put(taken, static_cast<L&&>(leaf), at...);
        },
        static_cast<Tree&&>(tree), beside...);
  } else if constexpr (takes_path<Filter, leaves>) {
    espalier::tree_visit_with_path(
        [&]<class L>(const path_view& path, L&& leaf, auto&... at) ESPALIER_INLINE_LAMBDA {
          const bool taken = filter(path, std::as_const(leaf));
          put(taken, static_cast<L&&>(leaf), at...);
        },
        static_cast<Tree&&>(tree), beside...);
  } else if constexpr (is_mask<std::remove_const_t<Filter>>()) {
    espalier::tree_visit(
        [&]<class L>(L&& leaf, bool taken, auto&... at)
            ESPALIER_INLINE_LAMBDA { put(taken, static_cast<L&&>(leaf), at...); },
        static_cast<Tree&&>(tree),
        detail::broadcast_prefix("tree_partition, tree_filter (the mask is the first tree, what is parted is tree 2)",
                                 filter, tree),
        beside...);
  } else {
    static_assert(sizeof(no_filter<types<Filter, std::remove_cvref_t<Tree>>>));
  }
}

// The tree's structure with None at every leaf.
template <class T> ESPALIER_INLINE constexpr auto nothing_of(const T& tree) {
  const auto none = [](const auto&) -> std::optional<leaf_value_t<T>> { return std::nullopt; };
  using Part = decltype(espalier::tree_map(none, tree));
  if constexpr (is_leaf_array<Part>) {
    return Part(Part::structure_of(tree));
  } else {
    return espalier::tree_map(none, tree);
  }
}

}  // namespace detail

// The tree's structure with the leaves that the filter takes, and None elsewhere. The filter is a function f(leaf) or
// f(const path_view&, leaf); of_type<Leaf...>; or a tree of bools, which may be a prefix of the tree. Leaves are copied,
// or moved out of an rvalue; no allocation where T is a static structure.
template <class Tree, class Filter> ESPALIER_INLINE constexpr auto tree_filter(Tree&& tree, Filter&& filter) {
  using T = std::remove_cvref_t<Tree>;
  static_assert(detail::require_trees<T>());
  auto selected = detail::nothing_of(tree);
  detail::sift(
      []<class L>(bool taken, L&& leaf, std::optional<leaf_value_t<T>>& at) {
        if (taken) at.emplace(static_cast<L&&>(leaf));
      },
      static_cast<Tree&&>(tree), filter, selected);
  return selected;
}

// The same without copies: a leaf_array of pointers into the tree, to the leaves that the filter takes, null elsewhere.
// The tree's leaves have one type.
template <class Tree, class Filter> ESPALIER_INLINE constexpr auto tree_filter_view(Tree& tree, Filter&& filter) {
  using T = std::remove_const_t<Tree>;
  static_assert(detail::require_trees<T>());
  static_assert(detail::size_of_list<detail::leaf_types<T>> == 1,
                "espalier: tree_filter_view: the leaves of this tree do not have one type, so there is no one type of "
                "pointers to them; use tree_filter, which copies");
  using Leaf = std::conditional_t<std::is_const_v<Tree>, const leaf_value_t<T>, leaf_value_t<T>>;
  leaf_array<T, Leaf*> view{treedef<T>(tree)};
  detail::sift(
      [](bool taken, Leaf& leaf, Leaf*& at) {
        if (taken) at = std::addressof(leaf);
      },
      tree, filter, view);
  return view;
}

// Two such trees: of the leaves that the filter takes, and of the others. The filter is asked once for each leaf.
template <class Tree, class Filter> ESPALIER_INLINE constexpr auto tree_partition(Tree&& tree, Filter&& filter) {
  using T = std::remove_cvref_t<Tree>;
  using Part = decltype(detail::nothing_of(tree));
  using Value = std::optional<leaf_value_t<T>>;
  static_assert(detail::require_trees<T>());
  partitioned<Part> parts{detail::nothing_of(tree), detail::nothing_of(tree)};
  detail::sift(
      []<class L>(bool taken, L&& leaf, Value& selected, Value& rest) ESPALIER_INLINE_LAMBDA {
        if constexpr (std::is_assignable_v<leaf_value_t<T>&, L>) {
          (taken ? selected : rest) = static_cast<L&&>(leaf);
        } else {
          (taken ? selected : rest).emplace(static_cast<L&&>(leaf));
        }
      },
      static_cast<Tree&&>(tree), filter, parts.selected, parts.rest);
  return parts;
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
template <class First, class... Rest> ESPALIER_INLINE constexpr auto tree_combine(First&& first, Rest&&... rest) {
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
    if constexpr (!detail::is_leaf_array<Part>) {
      return espalier::tree_map(traits::leaf, choose, static_cast<First&&>(first), static_cast<Rest&&>(rest)...);
    } else if constexpr (detail::is_variant<Value>) {
      auto combined = espalier::tree_map(choose, static_cast<First&&>(first), static_cast<Rest&&>(rest)...);
      return combined.structure().unflatten(std::move(combined));  // checks the alternatives; moves the values
    } else {
      const detail::leaf_call<false, decltype(choose), First, Rest...> call{choose};
      const detail::typed_call<decltype(call)> leaf{call};
      return detail::walk_together(
          "tree_combine",
          [&](auto& structure, auto&&... parts) {
            return detail::make_tree<typename traits::tree>(leaf, structure, parts...);
          },
          first, rest...);
    }
  }
}

}  // namespace espalier
