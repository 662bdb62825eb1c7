// Turning a tree of trees inside out: `tree_transpose`, as jax.tree.transpose.
//
//   std::vector<Grads> per_example = …;
//   auto grads = espalier::tree_transpose(per_example);        // leaf_array<Grads, std::vector<double>>
//   std::vector<double>& slopes = grads["slope"_path];
//
// The outer tree is what stands above the inner trees; of the result it stands at the leaves, as a slice.
#pragma once

#include <espalier/detail/inner_way.hpp>
#include <espalier/leaf_array.hpp>
#include <espalier/map.hpp>
#include <espalier/visit.hpp>
#include <type_traits>
#include <utility>

namespace espalier {

namespace detail {

// --- Types. ----------------------------------------------------------------------------------------------------------

struct found_by_itself {};

template <class Where> struct no_slice_type {
  static_assert(
      always_false<Where>,
      "espalier: tree_transpose: no type has the outer structure with one leaf in place of each inner tree (the outer "
      "tree, the inner tree and the leaf are named beside this message). Every leaf of the outer tree must be an inner "
      "tree; and the outer tree a container, a tuple, a template over the inner one; or name a type that fits: "
      "tree_transpose<Slice>(…)");
};
template <class Where> struct no_inner_tree {
  static_assert(
      always_false<Where>,
      "espalier: tree_transpose: this tree (named beside this message) is no container of trees; say what the inner "
      "trees are: tree_transpose(treedef<Inner>(), tree)");
};
template <class Where> struct recursive_inner_tree {
  static_assert(always_false<Where>,
                "espalier: tree_transpose: the inner trees' type (named beside this message) contains itself, so their "
                "leaves are not in places that the type knows; transpose trees that do not");
};

// The outer structure with leaves of type L.
template <class Slice, class Outer, class Inner, class L> consteval auto slice_type() {
  if constexpr (is_leaf_array<Outer>) {
    using T = typename leaf_array_parts<Outer>::tree;
    if constexpr (std::is_same_v<leaf_types<T>, types<L>>) {
      return type_tag<T>{};
    } else {
      return type_tag<leaf_array<T, L>>{};
    }
  } else if constexpr (std::is_same_v<Slice, found_by_itself>) {
    using candidate = typename rebound<Outer, Inner, L>::type;
    if constexpr (std::is_same_v<Inner, L> || is_rebound<Outer, candidate, Inner, L, types<Inner>>()) {
      return type_tag<candidate>{};
    } else {
      return type_tag<no_slice_type<types<Outer, Inner, L>>>{};
    }
  } else if constexpr (is_rebound<Outer, Slice, Inner, L, types<Inner>>()) {
    return type_tag<Slice>{};
  } else {
    return type_tag<no_slice_type<types<Outer, Inner, L>>>{};
  }
}
template <class Slice, class Outer, class Inner, class L>
using slice_t = typename decltype(slice_type<Slice, Outer, Inner, L>())::type;

// The type of the result.
template <class Slice, class Outer, class Inner, class Leaves> struct transposed;
template <class Slice, class Outer, class Inner, class... L> struct transposed<Slice, Outer, Inner, types<L...>> {
  static_assert((sizeof(slice_t<Slice, Outer, Inner, L>) && ...));
  using value = typename leaf_value_of<types<slice_t<Slice, Outer, Inner, L>...>>::type;
  using type =
      typename decltype(map_result<Inner>(types<L...>{}, types<std::conditional_t<true, value, L>...>{}))::type;
};

template <class Node> consteval bool is_recursive_node() {
  if constexpr (requires { typename node_of<Node>::element; }) {
    return is_recursive_container<Node>;
  } else {
    return false;
  }
}
template <class... Node> consteval bool any_recursive_node(types<types<Node>...>) {
  return (is_recursive_node<Node>() || ...);
}
template <class T> inline constexpr bool contains_itself = any_recursive_node(typename survey_of<T>::nodes{});

// --- The transposition. ----------------------------------------------------------------------------------------------

template <class Outer, class Inner>
using stop_at_inner = std::conditional_t<is_leaf_array<Outer>, leaf_if_t<>, leaf_if_t<Inner>>;

// The outer tree with what each inner tree has at the end of the way.
template <class Slice, class Inner, class Tree, class Way> constexpr Slice slice(Tree&& outer, const Way& way) {
  using Outer = std::remove_cvref_t<Tree>;
  if constexpr (is_leaf_array<Slice>) {
    return Slice(written_in_place{}, outer.structure(), [&](const auto& put) {
      for (auto& inner : outer) put(typename Slice::value_type(forward_leaf<Tree>(way(inner))));
    });
  } else if constexpr (is_leaf_array<Outer>) {
    auto leaf = [&]<class L>(type_tag<L>, const auto&, const auto&, auto& inner) -> L {
      return forward_leaf<Tree>(way(take(inner)));
    };
    auto inner = walked(outer);
    return make_tree<Slice>(leaf, outer.structure().tree(), inner);
  } else {
    const auto get = [&]<class L>(type_tag<L>, const auto&, auto& inner) -> L {
      return forward_leaf<Tree>(way(inner));
    };
    stopping<types<Inner>, decltype(get)> leaf{get};
    return make_tree<Slice>(leaf, outer);
  }
}

template <class Inner, class Outer>
[[noreturn, gnu::noinline, gnu::cold]] void throw_inner_mismatches(const treedef<Inner>& inner, const Outer& outer) {
  std::vector<mismatch> found;
  espalier::tree_visit_with_path(
      stop_at_inner<Outer, Inner>{},
      [&](const path_view& path, const auto& tree) {
        all_mismatches report{found};
        match(report, path, inner.tree(), tree);
      },
      outer);
  throw structure_error(
      "espalier: tree_transpose: the inner trees do not all have the structure that was given, or "
      "that the first one has:",
      std::move(found));
}

template <class Slice, class Inner, class Tree> constexpr auto transpose(const treedef<Inner>& inner, Tree&& outer) {
  using Outer = std::remove_cvref_t<Tree>;
  if constexpr (contains_itself<Inner>) {
    static_assert(sizeof(recursive_inner_tree<types<Inner>>));
  } else {
    using Result = typename transposed<Slice, Outer, Inner, leaf_types<Inner>>::type;
    if constexpr (!static_structure<Inner>) {
      bool same = true;
      const auto check = [&](const auto& tree) {
        any_mismatch quick;
        same = same && match(quick, no_path{}, inner.tree(), tree);
      };
      espalier::tree_visit(stop_at_inner<Outer, Inner>{}, check, std::as_const(outer));
      if (!same) throw_inner_mismatches(inner, outer);
    }
    const auto slice_at = [&]<class Way>(const Way& way) {
      using L = std::remove_cvref_t<decltype(way(std::declval<const Inner&>()))>;
      return slice<slice_t<Slice, Outer, Inner, L>, Inner>(static_cast<Tree&&>(outer), way);
    };
    if constexpr (is_leaf_array<Result>) {
      return Result(written_in_place{}, inner, [&](const auto& put) {
        auto add = [&](const auto& way) { put(typename Result::value_type(slice_at(way))); };
        each_way(inner.tree(), inner_root{}, add);
      });
    } else {
      auto leaf = [&]<class L>(type_tag<L>, const auto& way) -> L { return slice_at(way); };
      return rebuild_from_ways<Result>(inner.tree(), inner_root{}, leaf);
    }
  }
}

// The structure of the first inner tree.
template <class Inner, class Outer> constexpr treedef<Inner> first_inner_structure(const Outer& outer) {
  if constexpr (static_structure<Inner>) {
    return {};
  } else {
    const Inner* first = nullptr;
    const auto find = [&](const Inner& inner) {
      if (!first) first = &inner;
    };
    espalier::tree_visit(stop_at_inner<Outer, Inner>{}, find, outer);
    if (!first) {
      throw structure_error(
          "espalier: tree_transpose: an empty tree does not tell the structure of what is in it; give it, as in "
          "tree_transpose(treedef, tree):",
          {{"", "at least one inner tree", "none"}});
    }
    return treedef<Inner>(*first);
  }
}

template <class Outer> consteval auto inner_type() {
  if constexpr (is_leaf_array<Outer>) {
    return type_tag<typename leaf_array_parts<Outer>::leaf>{};
  } else if constexpr (requires { typename node_of<Outer>::element; }) {
    return type_tag<typename element_at<Outer>::type>{};
  } else {
    return type_tag<no_inner_tree<types<Outer>>>{};
  }
}

}  // namespace detail

// A tree of the inner trees' structure, whose leaves have the outer tree's structure. `tree` has an inner tree of type
// Inner at each leaf, and all of them have the structure `inner`. Slices are the outer type rebound to the leaf (or the
// type Slice, if named); the result is the inner type rebound to the slices, or else a leaf_array over it, of a variant
// of slices if the inner trees have leaves of several types. Leaves are copied, or moved out of an rvalue. Throws
// structure_error if the inner trees differ, naming every place. No allocation beyond the containers of the result.
template <class Slice = detail::found_by_itself, class Inner, class Tree>
constexpr auto tree_transpose(const treedef<Inner>& inner, Tree&& tree) {
  return detail::transpose<Slice, Inner>(inner, static_cast<Tree&&>(tree));
}

// The same of a container of trees (a vector, array, map, optional, or a leaf_array of trees). The first inner tree's
// structure is that of all; throws structure_error if there is none, and the type does not tell it.
template <class Tree> constexpr auto tree_transpose(Tree&& tree) {
  using Inner = typename decltype(detail::inner_type<std::remove_cvref_t<Tree>>())::type;
  if constexpr (sizeof(Inner) > 0 && detail::require_trees<Inner>()) {
    return detail::transpose<detail::found_by_itself, Inner>(detail::first_inner_structure<Inner>(tree),
                                                             static_cast<Tree&&>(tree));
  }
}

// tree_map with a function that gives a tree for each leaf, then transposed: a tree of those trees' structure, whose
// leaves have the first tree's structure (as optree.tree_transpose_map).
template <class F, class First, class... Rest> constexpr auto tree_transpose_map(F&& f, First&& first, Rest&&... rest) {
  auto mapped = espalier::tree_map(f, static_cast<First&&>(first), static_cast<Rest&&>(rest)...);
  if constexpr (detail::is_leaf_array<decltype(mapped)>) {
    return espalier::tree_transpose(std::move(mapped));
  } else {
    using Inner = typename decltype([]<class Zip, class... More>(detail::types<Zip, More...>) {
      using call = detail::call_at<false, detail::types<First, Rest...>, Zip>;
      return detail::type_tag<std::remove_cvref_t<typename call::template result<F>>>{};
    }(detail::leaf_zips<std::remove_cvref_t<First>, std::remove_cvref_t<Rest>...>{}))::type;
    return espalier::tree_transpose(detail::first_inner_structure<Inner>(mapped), std::move(mapped));
  }
}

}  // namespace espalier
