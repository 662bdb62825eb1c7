// A tree's struct with leaves of one other type, made by reflection: `mapped_t`. For compilers with C++26 reflection;
// elsewhere this header is empty, and leaf_array (include espalier/leaf_array.hpp) has the same structure.
//
//   espalier::mapped_t<Linear, bool> trainable{.weight = true, .bias = false};
//   espalier::tree_map([](double x, bool on) { return on ? x : 0.0; }, linear, trainable);
#pragma once

#include <espalier/node.hpp>

#if ESPALIER_HAS_STD_META

namespace espalier {

template <class T, class U> struct mapped;

namespace detail {

template <class T, class U> struct mapping {
  static_assert(
      kind_of<T> == node_kind::leaf || kind_of<T> == node_kind::record,
      "espalier: mapped_t: this node says itself what its children are (or is none at all), so that no struct "
      "can be made for it with leaves of another type. Use espalier::leaf_array, or a template over the leaf.");
  using type = std::conditional_t<kind_of<T> == node_kind::leaf, U, mapped<T, U>>;
};

}  // namespace detail

// T with U for every leaf: the same field names, aux data, containers (with their default allocators) and structure hash,
// so that it stands beside a T in every operation. Registered nodes do not compile. (A vector of leaves with U = bool is
// a std::vector<bool>, which is no tree: take char.)
template <class T, class U> using mapped_t = typename detail::mapping<T, U>::type;

namespace detail {

template <class T, class Allocator, class U>
  requires(kind_of<std::vector<T, Allocator>> == node_kind::sequence)
struct mapping<std::vector<T, Allocator>, U> {
  using type = std::vector<mapped_t<T, U>>;
};
template <class T, std::size_t N, class U>
  requires(kind_of<std::array<T, N>> == node_kind::array)
struct mapping<std::array<T, N>, U> {
  using type = std::array<mapped_t<T, U>, N>;
};
template <class K, class T, class Compare, class Allocator, class U>
  requires(kind_of<std::map<K, T, Compare, Allocator>> == node_kind::map)
struct mapping<std::map<K, T, Compare, Allocator>, U> {
  using type = std::map<K, mapped_t<T, U>, Compare>;
};
template <class K, class T, class Hash, class Equal, class Allocator, class U>
  requires(kind_of<std::unordered_map<K, T, Hash, Equal, Allocator>> == node_kind::map)
struct mapping<std::unordered_map<K, T, Hash, Equal, Allocator>, U> {
  using type = std::unordered_map<K, mapped_t<T, U>, Hash, Equal>;
};
template <class T, class U>
  requires(kind_of<std::optional<T>> == node_kind::maybe)
struct mapping<std::optional<T>, U> {
  using type = std::optional<mapped_t<T, U>>;
};
template <class T, class U>
  requires(kind_of<std::unique_ptr<T>> == node_kind::maybe)
struct mapping<std::unique_ptr<T>, U> {
  using type = std::unique_ptr<mapped_t<T, U>>;
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

}  // namespace detail

// What mapped_t gives for a struct T. (A class of its own, so that structs can contain themselves.)
template <class T, class U> struct mapped : detail::mapped_fields<T, U>::type {};

template <class T, class U> inline constexpr std::string_view pytree_name<mapped<T, U>> = pytree_name<T>;

}  // namespace espalier

#endif
