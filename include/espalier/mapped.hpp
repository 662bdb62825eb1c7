// A tree's struct with leaves of one other type, made by reflection: `mapped_t`, which is what tree_map gives where a
// function changes the leaves' type. For compilers with C++26 reflection; elsewhere this header is empty, and leaf_array
// (include espalier/leaf_array.hpp) has the same structure and is read by the same paths.
//
//   espalier::mapped_t<Linear, bool> trainable{true, false};
//   trainable.bias = true;                            // also trainable["bias"_path]
//   espalier::tree_map([](double x, bool on) { return on ? x : 0.0; }, linear, trainable);
#pragma once

#include <espalier/node.hpp>

#if ESPALIER_HAS_STD_META
#include <algorithm>
#include <espalier/detail/lookup.hpp>
#include <espalier/detail/survey.hpp>
#include <espalier/detail/walk.hpp>
#include <espalier/errors.hpp>
#include <string>

namespace espalier {

template <class T, class U> struct mapped;

namespace detail {

consteval bool is_identifier(std::string_view name) {
  try {
    (void)data_member_spec(^^int, {
                                      .name = name});
    return true;
  } catch (const std::meta::exception&) {
    return false;
  }
}

// Whether a struct can be made for a node: not for one that says itself what its children are, nor where a name that a
// field was given is no member's (`class`).
template <class Node> consteval bool is_mappable_node() {
  if constexpr (kind_of<Node> == node_kind::record) {
    return std::ranges::all_of(reflect::field_names_v<Node>, is_identifier);
  } else {
    return kind_of<Node> != node_kind::custom;
  }
}
template <class... Node> consteval bool are_mappable(types<types<Node>...>) {
  return (is_mappable_node<Node>() && ...);
}

template <class T, class U> struct mapping {
  static_assert(
      kind_of<T> == node_kind::leaf || (kind_of<T> == node_kind::record && is_mappable_node<T>()),
      "espalier: mapped_t: this node says itself what its children are (or is none at all, or has a field whose name "
      "is no identifier), so that no struct can be made for it with leaves of another type. Use espalier::leaf_array, "
      "or a template over the leaf.");
  static constexpr bool unchanged = std::is_same_v<leaf_types<T>, types<U>> || std::is_same_v<leaf_types<T>, types<>>;
  using type = std::conditional_t<kind_of<T> == node_kind::leaf, U, std::conditional_t<unchanged, T, mapped<T, U>>>;
};
template <class T, class U, class V> struct mapping<mapped<T, U>, V> : mapping<T, V> {};

}  // namespace detail

// T with U for every leaf: the same field names, aux data, containers (with their default allocators) and structure hash,
// so that it stands beside a T in every operation; T itself if all its leaves are U. Registered nodes do not compile. (A
// vector of leaves with U = bool is a std::vector<bool>, which is no tree: take char.)
template <class T, class U> using mapped_t = typename detail::mapping<T, U>::type;

namespace detail {

// Whether a map of T's leaves to U gives mapped_t<T, U>: of a struct, so that there are fields and paths to read it by,
// where that can be made, is a tree, and has U for its leaves. (Of a U that is a node itself, they would not be the
// values that the function gave.)
template <class T, class U> consteval bool is_mappable() {
  if constexpr (kind_of<T> == node_kind::record && kind_of<U> == node_kind::leaf) {
    if constexpr (are_mappable(typename survey_of<T>::nodes{})) return pytree<mapped_t<T, U>>;
  }
  return false;
}

template <class T, class U>
  requires requires { typename node_of<T>::element; }
struct mapping<T, U> {
  using type = typename node_of<T>::template with_element<mapped_t<typename node_of<T>::element, U>>;
};
// std::tuple, std::pair, std::variant.
template <template <class...> class Node, class... A, class U>
  requires(kind_of<Node<A...>> == node_kind::tuple || kind_of<Node<A...>> == node_kind::variant)
struct mapping<Node<A...>, U> {
  using type = Node<mapped_t<A, U>...>;
};

// The fields of mapped<T, U>.
template <class T, class U> struct mapped_fields {
  struct type;

  template <std::size_t F> static consteval std::meta::info field() {
    using layout = record_layout<T>;
    using value = reflect::field_value_t<reflect::field_t<T, F>>;
    const std::string_view name = reflect::field_names_v<T>[F];
    if constexpr (!layout::aux_flags[F]) {
      return data_member_spec(^^mapped_t<value, U>, {
                                                        .name = name});
    } else if constexpr (is_aux<value>) {
      return data_member_spec(^^value, {
                                           .name = name});
    } else {
      return data_member_spec(^^value, {
                                           .name = name, .annotations = {std::meta::reflect_constant(aux_field)}});
    }
  }

  consteval {
    []<std::size_t... F>(std::index_sequence<F...>) {
      define_aggregate(^^type, {
                                   field<F>()...});
    }(record_layout<T>::fields);
  }
};

// The leaf at a dotted path, or null. `Leaf` is the type of all leaves, const in a const tree.
template <class Leaf, class T> constexpr Leaf* find_leaf_at(T& tree, std::string_view path) {
  if constexpr (kind_of<T> == node_kind::leaf) {
    return path.empty() ? &tree : nullptr;
  } else {
    Leaf* found = nullptr;
    for_each_child(
        [&](const auto& key, auto& child) {
          std::string_view rest;
          if (!found && behind_key(path, key.entry(), rest)) found = find_leaf_at<Leaf>(child, rest);
        },
        tree);
    return found;
  }
}

// The same of a mapped_t of T, by a path that is checked against T.
template <class T, class Leaf, auto Text> constexpr Leaf& mapped_leaf(auto& tree, path_literal<Text>) {
  static_assert(kind_of<Leaf> == node_kind::leaf,
                "espalier: mapped_t: a path leads to a leaf, and this tree has trees in their place; read its members");
  if constexpr (!literal_fits<T, path_end::leaf>(Text.view())) {
    static_assert(sizeof(no_leaf_at_this_path<at_path<Text, T>, did_you_mean<nearest_path<T, Text>()>>));
  }
  if (Leaf* const leaf = find_leaf_at<Leaf>(tree, Text.view())) return *leaf;
  throw path_error("espalier: no leaf at \"" + std::string(Text.view()) +
                   "\": a container on this path has no such element, or holds nothing");
}

}  // namespace detail

// What mapped_t gives for a struct T. (A class of its own, so that structs can contain themselves. It has no members with
// names of its own, which would hide fields.)
template <class T, class U> struct mapped : detail::mapped_fields<T, U>::type {
  // The leaf at a path, as of a leaf_array. Names are checked at compile time; throws path_error if the tree has no such
  // element. U is a leaf. Costs a walk along the path; a member costs nothing.
  template <auto Text> constexpr U& operator[](path_literal<Text> path) {
    return detail::mapped_leaf<T, U>(*this, path);
  }
  template <auto Text> constexpr const U& operator[](path_literal<Text> path) const {
    return detail::mapped_leaf<T, const U>(*this, path);
  }
};

template <class T, class U> inline constexpr std::string_view pytree_name<mapped<T, U>> = pytree_name<T>;

}  // namespace espalier

#endif
