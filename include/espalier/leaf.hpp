// What a leaf is: a value that traversal stops at. Numbers, enums, strings and complex numbers are leaves; engines add
// their arrays, and users their own types:
//
//   template <> inline constexpr bool espalier::is_leaf_type<Timestamp> = true;
#pragma once

#include <espalier/detail/types.hpp>
#include <espalier/reflect/annotations.hpp>
#include <string>
#include <type_traits>

namespace espalier {

#if ESPALIER_HAS_STD_META
namespace detail {
template <class T>
inline constexpr bool is_annotated_leaf = std::is_class_v<T> && reflect::detail::is_annotated(^^T, leaf);
}  // namespace detail
#endif

// True where T is a leaf whatever it looks like. Specialise it, before the type is first used in a tree, to make a
// type of your own a leaf; with C++26, `struct [[=espalier::leaf]] timestamp` says so too.
template <class T>
inline constexpr bool is_leaf_type =
#if ESPALIER_HAS_STD_META
    detail::is_annotated_leaf<T> ||
#endif
    std::is_arithmetic_v<T> || std::is_enum_v<T>;

template <class C, class Traits, class Allocator>
inline constexpr bool is_leaf_type<std::basic_string<C, Traits, Allocator>> = true;

namespace detail {

// std::complex<T>, told without its header, which takes 168 ms to compile.
template <class T> inline constexpr bool is_complex = false;
template <template <class> class Complex, class T>
  requires std::is_floating_point_v<T> && requires(const Complex<T>& z) {
    requires std::is_same_v<typename Complex<T>::value_type, T>;
    requires std::is_same_v<decltype(z.real()), T>;
    requires std::is_same_v<decltype(conj(z)), Complex<T>>;
    requires is_of_std<Complex<T>>();
  }
inline constexpr bool is_complex<Complex<T>> = true;

}  // namespace detail

template <class T>
  requires detail::is_complex<T>
inline constexpr bool is_leaf_type<T> = true;

// How two leaves are compared by tree_equal. Specialise `equal` for a type whose == does not answer with a bool.
template <class Leaf> struct leaf_equality {
  static constexpr bool equal(const Leaf& a, const Leaf& b) { return a == b; }
};

// What tells whether two leaves are one object, changed together: of handles, `static const void* of(const Leaf&)`, null
// for a handle to nothing. Specialise it for such a type; leaves that hold their values have none.
template <class Leaf> struct leaf_identity;

}  // namespace espalier
