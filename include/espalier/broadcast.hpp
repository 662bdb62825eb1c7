// Broadcasting: a shallow tree repeated to the structure of a deeper one. `tree_broadcast_prefix`, as
// jax.tree.broadcast; `tree_broadcast_common`, as optree.tree_broadcast_common.
//
//   struct rates { double encoder, decoder; };
//   auto table = espalier::tree_broadcast_prefix(rates{1e-3, 1e-4}, model);     // a rate for every leaf
#pragma once

#include <espalier/leaf_array.hpp>
#include <espalier/map.hpp>
#include <espalier/visit.hpp>
#include <utility>

namespace espalier {

namespace detail {

// --- The type of the result: Full's structure with what the prefix has, by the rules of tree_map. --------------------

template <class Leaf, class Zip> inline constexpr bool has_only = false;
template <class... L, class Leaf> inline constexpr bool has_only<Leaf, types<L...>> = (std::is_same_v<L, Leaf> && ...);

template <class Zip> inline constexpr bool fills_with_own_type = false;
template <class Leaf, class Below>
inline constexpr bool fills_with_own_type<types<Leaf, Below>> = has_only<Leaf, leaf_types<Below>>;

template <class Prefix, class Full> consteval auto broadcast_result() {
  if constexpr (is_leaf_array<Prefix>) {
    return type_tag<leaf_array<Full, typename leaf_array_parts<Prefix>::leaf>>{};
  } else {
    return []<class... Zip, class... L>(types<Zip...>, types<L...>) {
      if constexpr ((fills_with_own_type<Zip> && ...)) {
        return type_tag<Full>{};
      } else {
        return map_result<Full>(types<L...>{}, types<std::conditional_t<true, leaf_value_t<Prefix>, L>...>{});
      }
    }(leaf_zips<Prefix, Full>{}, leaf_types<Full>{});
  }
}

template <class To, class Prefix, class Full> constexpr To broadcast(const Prefix& prefix, const Full& full) {
  if constexpr (kind_of<Prefix> == node_kind::leaf) {
    auto leaf = [&]<class L>(type_tag<L>, const auto&, const auto&) -> L { return prefix; };
    return make_tree<To>(leaf, full);
  } else {
    return rebuild<To>([]<class Child>(type_tag<Child>, const auto&, const auto& below,
                                       const auto& above) -> Child { return broadcast<Child>(above, below); },
                       full, prefix);
  }
}

template <class Prefix, class Full> consteval bool require_prefix() {
  if constexpr (is_leaf_array<Prefix>) {
    return require_trees<Full>();
  } else {
    return require_trees<Prefix, Full>();
  }
}

// tree_broadcast_prefix, in the words of another operation where the structures differ.
template <class Prefix, class Full>
constexpr auto broadcast_prefix(const char* operation, const Prefix& prefix, const Full& full) {
  if constexpr (require_prefix<Prefix, Full>()) {
    using Result = typename decltype(broadcast_result<Prefix, Full>())::type;
    if constexpr (is_leaf_array<Result>) {
      return Result(written_in_place{}, Result::structure_of(full), [&](const auto& put) {
        const auto repeat = [&](const auto& leaf, const auto& below) {
          auto one = [&](const auto&, const auto&) { put(typename Result::value_type(leaf)); };
          visit_tree(one, no_path{}, below);
        };
        visit_leaves<false, types<>>(operation, repeat, prefix, full);
      });
    } else {
      require_match(operation, 1, prefix, full);
      return broadcast<Result>(prefix, full);
    }
  }
}

}  // namespace detail

// A tree with the structure of `full` that has, at each leaf, a copy of the leaf of `prefix` that stands there or above.
// The same struct type where the leaves' types agree; otherwise what tree_map gives: the struct rebound, or a
// leaf_array over it. `prefix` can be a leaf_array. Throws structure_error if it is no prefix of `full`.
template <class Prefix, class Full> constexpr auto tree_broadcast_prefix(const Prefix& prefix, const Full& full) {
  return detail::broadcast_prefix("tree_broadcast_prefix", prefix, full);
}

namespace detail {

// --- The common structure of two trees, each of which may be the deeper one at different places. ---------------------

template <class Where> struct no_common_structure {
  static_assert(
      always_false<Where>,
      "espalier: tree_broadcast_common: these nodes differ, and no type is known that has the structure of both (the "
      "types are named beside this message). At each struct one tree must be a prefix of the other; below tuples, "
      "arrays, vectors, maps and optionals each may be the deeper one");
};

template <class A, class B> consteval auto common_type();
template <class A, class B> using common_tree_t = typename decltype(common_type<A, B>())::type;

template <class A, class B> struct common_node {
  using type = no_common_structure<types<A, B>>;
};
template <template <class...> class Tuple, class... A, class... B>
  requires(kind_of<Tuple<A...>> == node_kind::tuple && sizeof...(A) == sizeof...(B))
struct common_node<Tuple<A...>, Tuple<B...>> {
  using type = Tuple<common_tree_t<A, B>...>;
};
template <class A, class B>
  requires std::is_same_v<typename node_of<A>::template with_element<char>,
                          typename node_of<B>::template with_element<char>>
struct common_node<A, B> {
  using common = common_tree_t<typename node_of<A>::element, typename node_of<B>::element>;
  using type = typename node_of<A>::template with_element<common>;
};

template <class A, class B> inline constexpr bool is_prefix_type = std::is_void_v<typename survey_of<A, B>::faulty>;

template <class A, class B> consteval auto common_type() {
  if constexpr (is_prefix_type<A, B>) {
    return type_tag<B>{};
  } else if constexpr (is_prefix_type<B, A>) {
    return type_tag<A>{};
  } else {
    return type_tag<typename common_node<A, B>::type>{};
  }
}

template <class A, class B> constexpr common_tree_t<A, B> common_tree(const A& a, const B& b) {
  if constexpr (is_prefix_type<A, B>) {
    return copy_tree(b);
  } else if constexpr (is_prefix_type<B, A>) {
    return copy_tree(a);
  } else {
    return rebuild<common_tree_t<A, B>>([]<class Child>(type_tag<Child>, const auto&, const auto& x,
                                                        const auto& y) -> Child { return common_tree(x, y); },
                                        a, b);
  }
}

}  // namespace detail

// Both trees repeated to the structure that both are a prefix of: where one has a leaf, the other's subtree. A pair of
// the two. Throws structure_error if there is no such structure.
template <class A, class B> constexpr auto tree_broadcast_common(const A& a, const B& b) {
  static_assert(detail::require_trees<A>() && detail::require_trees<B>());
  if constexpr (sizeof(detail::common_tree_t<A, B>) > 0) {
    detail::require_match("tree_broadcast_common", 1, a, b);
    const auto common = detail::common_tree(a, b);
    return std::pair(espalier::tree_broadcast_prefix(a, common), espalier::tree_broadcast_prefix(b, common));
  }
}

}  // namespace espalier
