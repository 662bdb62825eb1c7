// Plain structs and arrays whose leaves are numbers of one type, side by side in memory: which types are laid out so, and
// how such a tree is updated in blocks that compilers turn into vector instructions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <espalier/node.hpp>
#include <memory>
#include <type_traits>
#include <utility>

namespace espalier {

namespace detail {

// The type of the first number in a tree of structs and arrays; void if there is none.
template <class T> consteval auto first_number() {
  if constexpr (std::is_arithmetic_v<T> && kind_of<T> == node_kind::leaf) {
    return type_tag<T>{};
  } else if constexpr (kind_of<T> == node_kind::array) {
    return first_number<std::remove_cv_t<typename node_of<T>::element>>();
  } else if constexpr (kind_of<T> == node_kind::record) {
    if constexpr (node_of<T>::arity > 0)
      return first_number<typename node_of<T>::template child<0>>();
    else
      return type_tag<void>{};
  } else {
    return type_tag<void>{};
  }
}
template <class T> using first_number_t = typename decltype(first_number<T>())::type;

// How many leaves of type L there are in structs and arrays. Whatever else T holds takes room that they do not account
// for.
template <class L, class T> consteval std::size_t count_numbers() {
  if constexpr (std::is_same_v<T, L>) {
    return kind_of<T> == node_kind::leaf ? 1 : 0;
  } else if constexpr (kind_of<T> == node_kind::array) {
    return node_of<T>::extent * count_numbers<L, std::remove_cv_t<typename node_of<T>::element>>();
  } else if constexpr (kind_of<T> == node_kind::record) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (std::size_t(0) + ... + count_numbers<L, typename node_of<T>::template child<I>>());
    }(std::make_index_sequence<node_of<T>::arity>{});
  } else {
    return 0;
  }
}

template <class T> consteval std::size_t contiguous_count() {
  if constexpr (!std::is_trivially_copyable_v<T> || !std::is_standard_layout_v<T>) {
    return 0;
  } else if constexpr (std::is_void_v<first_number_t<T>>) {
    return 0;
  } else {
    constexpr std::size_t n = count_numbers<first_number_t<T>, T>();
    return n * sizeof(first_number_t<T>) == sizeof(T) ? n : 0;
  }
}

}  // namespace detail

// A struct or array, or several in one another, whose leaves are n numbers of one type in sizeof(T) == n sizeof(leaf):
// they stand in memory in the order in which they are visited, with nothing in between.
template <class T>
concept contiguous_tree = (detail::contiguous_count<std::remove_cv_t<T>>() > 0);

namespace detail {

// Leaf i of a contiguous tree. The address is computed in bytes, since an index may not run from one member of a struct
// into the next; what stands there is a number of this type. (Not for constant expressions; constexpr like all of
// traversal, so that CUDA compiles it for devices.)
template <class T> ESPALIER_INLINE constexpr auto& leaf_at(T& tree, std::size_t i) {
  using L = first_number_t<std::remove_cv_t<T>>;
  if constexpr (std::is_const_v<T>) {
    return *reinterpret_cast<const L*>(reinterpret_cast<const std::byte*>(std::addressof(tree)) + i * sizeof(L));
  } else {
    return *reinterpret_cast<L*>(reinterpret_cast<std::byte*>(std::addressof(tree)) + i * sizeof(L));
  }
}

// Whether R, which has T's structure down to T's leaves, ends where T ends.
template <class T, class R> consteval bool as_deep() {
  if constexpr (std::is_same_v<T, R>) {
    return true;
  } else if constexpr (kind_of<T> != kind_of<R>) {
    return false;
  } else if constexpr (kind_of<T> == node_kind::array) {
    return as_deep<std::remove_cv_t<typename node_of<T>::element>, std::remove_cv_t<typename node_of<R>::element>>();
  } else if constexpr (kind_of<T> == node_kind::record) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (as_deep<typename node_of<T>::template child<I>, typename node_of<R>::template child<I>>() && ...);
    }(std::make_index_sequence<node_of<T>::arity>{});
  } else {
    return kind_of<T> == node_kind::leaf;
  }
}

// Whether a tree can be updated in blocks, with these trees beside it.
template <class T, class... R> consteval bool updates_in_blocks() {
#if defined(__CUDA_ARCH__)  // A GPU thread keeps its struct in registers, which have no addresses.
  return false;
#else
  if constexpr ((contiguous_tree<T> && ... && contiguous_tree<R>)) {
    return contiguous_count<T>() > 1 && std::is_copy_assignable_v<T> && (as_deep<T, std::remove_cv_t<R>>() && ...);
  } else {
    return false;
  }
#endif
}

// Updates the leaves from `first` on, one for each I. The results are stored when all are there: no store stands between
// the loads that the compiler could not tell from a store to a tree beside.
template <std::size_t... I, class Leaf, class Path, class T, class... R>
ESPALIER_INLINE constexpr void update_block(std::index_sequence<I...>, Leaf& leaf, Path path, std::size_t first,
                                            T& tree, R&... rest) {
  const auto update = [&](std::size_t i)
                          ESPALIER_INLINE_LAMBDA { return leaf(path, leaf_at(tree, i), leaf_at(rest, i)...); };
  const first_number_t<T> results[] = {update(first + I)...};
  ((leaf_at(tree, first + I) = results[I]), ...);
}

// leaf i = leaf(path, leaf i, what stands beside it...), in order.
template <class Leaf, class Path, class T, class... R>
ESPALIER_INLINE constexpr void update_in_blocks(Leaf& leaf, Path path, T& tree, R&... rest) {
  constexpr std::size_t n = contiguous_count<T>();
  constexpr std::size_t block = std::min(n, 128 / std::min<std::size_t>(sizeof(first_number_t<T>), 8));
#if defined(__clang__)  // (g++ would unroll before it vectorises.)
#pragma clang loop unroll_count(4)
#endif
  for (std::size_t i = 0; i + block <= n; i += block)
    update_block(std::make_index_sequence<block>{}, leaf, path, i, tree, rest...);
  if constexpr (n % block > 0)
    update_block(std::make_index_sequence<n % block>{}, leaf, path, n - n % block, tree, rest...);
}

}  // namespace detail
}  // namespace espalier
