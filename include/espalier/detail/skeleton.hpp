// A tree's structure as a tree: the same nodes, with empty values for leaves. What a treedef holds; every algorithm
// traverses it like the tree itself. It is empty where the type alone knows the structure.
#pragma once

#include <espalier/detail/walk.hpp>
#include <espalier/encode.hpp>
#include <map>
#include <tuple>
#include <vector>

namespace espalier::detail {

// Where a leaf of type L goes.
template <class L> struct leaf_slot {};

// A product or array of static structure: an empty class.
template <class T> struct static_skeleton {};

// A product that has something to remember below it, or aux data.
template <class T> struct product_skeleton;

// A vector of n elements that all have the same, static structure.
template <class Skeleton> struct repeated {
  std::size_t n = 0;
};

// What a pointer holds, copyable; of an incomplete type, too. (A vector of one or none: it has all of that.)
template <class Skeleton> struct box {
  std::vector<Skeleton> value;

  explicit operator bool() const { return !value.empty(); }
  Skeleton& operator*() { return value.front(); }
  const Skeleton& operator*() const { return value.front(); }
};

template <class T> consteval auto skeleton_type();

template <class T> using skeleton = typename decltype(skeleton_type<T>())::type;

template <class T> struct container_skeleton {
  using type = typename node_of<T>::template with_element<skeleton<typename node_of<T>::element>>;
};
template <class T>
  requires(kind_of<T> == node_kind::map)
struct container_skeleton<T> {  // in key order, also of an unordered map
  using type = std::map<typename node_of<T>::key, skeleton<typename node_of<T>::element>, typename node_of<T>::compare>;
};
template <class T>
  requires is_unique_ptr<T>
struct container_skeleton<T> {
  using type = box<skeleton<typename node_of<T>::element>>;
};
template <template <class...> class Variant, class... T>
  requires is_variant<Variant<T...>>
struct container_skeleton<Variant<T...>> {
  using type = Variant<skeleton<T>...>;
};

template <class T> inline constexpr bool has_static_elements = false;
template <class T, class A> inline constexpr bool has_static_elements<std::vector<T, A>> = is_static<T>;

template <class T> consteval auto skeleton_type() {
  if constexpr (kind_of<T> == node_kind::leaf) {
    return type_tag<leaf_slot<T>>{};
  } else if constexpr (is_static<T>) {
    return type_tag<static_skeleton<T>>{};
  } else if constexpr (is_product<T>) {
    return type_tag<product_skeleton<T>>{};
  } else if constexpr (has_static_elements<T>) {
    return type_tag<repeated<skeleton<typename node_of<T>::element>>>{};
  } else {
    return type_tag<typename container_skeleton<T>::type>{};
  }
}

template <class T, class Indices = std::make_index_sequence<node_of<T>::arity>> struct child_skeletons;
template <class T, std::size_t... I> struct child_skeletons<T, std::index_sequence<I...>> {
  using type = std::tuple<skeleton<typename child_at<T, I>::type>...>;
};

template <class> struct values_of;
template <class... A> struct values_of<std::tuple<A...>> {
  using type = std::tuple<std::remove_cvref_t<A>...>;
};
template <class T> using aux_values = typename values_of<decltype(node_of<T>::aux(std::declval<const T&>()))>::type;

template <class T> struct product_skeleton {
  aux_values<T> aux;
  typename child_skeletons<T>::type children;
};

// One object that stands for every skeleton of an empty type.
template <class Skeleton> inline constexpr Skeleton only_skeleton{};

template <class Skeleton> struct repeated_elements {
  constexpr const Skeleton& operator[](std::size_t) const { return only_skeleton<Skeleton>; }
};

// --- Skeletons as nodes. ---------------------------------------------------------------------------------------------

template <class L> inline constexpr bool is_slot<leaf_slot<L>> = true;

template <class T, bool Product = is_product<T>> struct static_skeleton_node {
  static constexpr node_kind kind = kind_of<T>;
  static constexpr std::size_t arity = node_of<T>::arity;
  static constexpr bool has_aux = false;

  template <std::size_t I> using child = skeleton<typename child_at<T, I>::type>;
  static constexpr key_entry key(std::size_t i) { return node_of<T>::key(i); }
  static constexpr auto children(const static_skeleton<T>&) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return ref_pack<std::index_sequence<I...>, const child<I>...>{{only_skeleton<child<I>>}...};
    }(std::make_index_sequence<arity>{});
  }
  static constexpr std::tuple<> aux(const static_skeleton<T>&) { return {}; }
  template <class Aux, class Make> static constexpr static_skeleton<T> assemble(const Aux&, Make&&) { return {}; }
};

template <class T> struct static_skeleton_node<T, false> {
  static constexpr node_kind kind = node_kind::array;
  static constexpr std::size_t extent = node_of<T>::extent;
  using element = skeleton<typename node_of<T>::element>;

  static constexpr repeated_elements<element> data(const static_skeleton<T>&) { return {}; }
  static constexpr std::size_t size(const static_skeleton<T>&) { return extent; }
  template <class Make> static constexpr static_skeleton<T> assemble(std::size_t, Make&&) { return {}; }
};

template <class T> struct container_node<static_skeleton<T>> : static_skeleton_node<T> {};

template <class T> struct container_node<product_skeleton<T>> {
  static constexpr node_kind kind = kind_of<T>;
  static constexpr std::size_t arity = node_of<T>::arity;
  static constexpr bool has_aux = node_of<T>::has_aux;

  template <std::size_t I> using child = skeleton<typename child_at<T, I>::type>;
  static constexpr key_entry key(std::size_t i) { return node_of<T>::key(i); }
  template <std::size_t I>
  static constexpr key_entry aux_key()
    requires requires { node_of<T>::template aux_key<I>(); }
  {
    return node_of<T>::template aux_key<I>();
  }
  static constexpr auto& children(auto& self) { return self.children; }
  static constexpr const auto& aux(const product_skeleton<T>& self) { return self.aux; }
  template <class Aux, class Make> static constexpr product_skeleton<T> assemble(const Aux& aux_of_tree, Make&& make) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return product_skeleton<T>{aux_values<T>(aux_of_tree), {make(index<I>{})...}};
    }(std::make_index_sequence<arity>{});
  }
};

template <class S> struct container_node<repeated<S>> {
  static constexpr node_kind kind = node_kind::sequence;
  using element = S;

  static constexpr repeated_elements<S> data(const repeated<S>&) { return {}; }
  static constexpr std::size_t size(const repeated<S>& self) { return self.n; }
  template <class Make> static constexpr repeated<S> assemble(std::size_t n, Make&&) { return {n}; }
};

template <class S> struct container_node<box<S>> {
  static constexpr node_kind kind = node_kind::maybe;
  using element = S;

  template <class Make> static box<S> assemble(bool engaged, Make&& make) {
    box<S> result;
    if (engaged) result.value.push_back(make());
    return result;
  }
};

}  // namespace espalier::detail

template <class L> inline constexpr bool espalier::is_leaf_type<espalier::detail::leaf_slot<L>> = true;
