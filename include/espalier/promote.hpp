// The number type in which numbers of several types meet, as JAX promotes dtypes: what tree_ravel gives back, and
// tree_sum and tree_dot where it is at least int.
//
//   static_assert(std::is_same_v<espalier::promoted_t<int, float, double>, double>);
#pragma once

#include <cstdint>
#include <espalier/detail/survey.hpp>
#include <espalier/leaf.hpp>
#include <type_traits>

namespace espalier {

// A real or complex number.
template <class T>
concept number = std::is_arithmetic_v<T> || detail::is_complex<T>;

namespace detail {

// A 64-bit unsigned and a signed integer meet in a float of no fixed width: that of the other numbers, else double.
struct any_float {};

template <std::size_t Bytes>
using signed_of = std::conditional_t<
    Bytes == 1, std::int8_t,
    std::conditional_t<Bytes == 2, std::int16_t, std::conditional_t<Bytes == 4, std::int32_t, std::int64_t>>>;

template <class A, class B> consteval auto promote_integers() {
  if constexpr (std::is_signed_v<A> == std::is_signed_v<B>) {
    return type_tag<std::conditional_t<(sizeof(A) < sizeof(B)), B, A>>{};
  } else if constexpr (std::is_signed_v<B>) {
    return promote_integers<B, A>();
  } else if constexpr (sizeof(A) > sizeof(B)) {
    return type_tag<A>{};
  } else if constexpr (sizeof(B) < 8) {
    return type_tag<signed_of<2 * sizeof(B)>>{};
  } else {
    return type_tag<any_float>{};
  }
}

// (Everything but integers is handled with the wider kind in front.)
template <class T>
inline constexpr int promotion_rank = is_complex<T>                  ? 4
                                      : std::is_floating_point_v<T>  ? 3
                                      : std::is_same_v<T, any_float> ? 2
                                      : std::is_same_v<T, bool>      ? 0
                                                                     : 1;

template <class T> struct real_of {
  using type = T;
};
template <class T>
  requires is_complex<T>
struct real_of<T> {
  using type = typename T::value_type;
};

// N with numbers of type Real: itself, or the parts of the complex number that it is.
template <class N, class Real> struct with_real {
  using type = Real;
};
template <template <class> class Complex, class T, class Real>
  requires is_complex<Complex<T>>
struct with_real<Complex<T>, Real> {
  using type = Complex<Real>;
};

template <class A, class B> consteval auto promote_two() {
  if constexpr (promotion_rank<A> < promotion_rank<B>) {
    return promote_two<B, A>();
  } else if constexpr (std::is_same_v<A, B> || promotion_rank<B> == 0 || promotion_rank<A> == 2) {
    return type_tag<A>{};
  } else if constexpr (promotion_rank<A> == 1) {
    return promote_integers<A, B>();
  } else {
    using real = typename real_of<A>::type;
    using other = typename real_of<B>::type;
    using wider = std::conditional_t<std::is_floating_point_v<other> && (sizeof(other) > sizeof(real)), other, real>;
    return type_tag<typename with_real<A, wider>::type>{};
  }
}

template <class A, class B> constexpr auto operator+(type_tag<A>, type_tag<B>) { return promote_two<A, B>(); }

template <class... N> consteval auto promote_all(types<N...>) {
  using met = typename decltype((type_tag<bool>{} + ... + type_tag<N>{}))::type;
  if constexpr (sizeof...(N) == 0) {
    return type_tag<float>{};
  } else if constexpr (std::is_same_v<met, any_float>) {
    return type_tag<double>{};
  } else {
    return type_tag<met>{};
  }
}

template <class... L> consteval bool all_numbers(types<L...>) { return (number<L> && ...); }

}  // namespace detail

// jax.numpy.result_type of numbers of these types, with 64-bit types enabled. An integer beside a float gives the
// float, however wide; two integers give one that holds both, and a 64-bit unsigned beside a signed one a double. No
// number gives a float, as there. Characters count as the integers that they are.
template <number... N> using promoted_t = typename decltype(detail::promote_all(detail::types<N...>{}))::type;

// A tree whose leaves are all numbers.
template <class T>
concept tree_of_numbers = detail::all_numbers(detail::leaf_types<std::remove_cvref_t<T>>{});

// The type in which the leaves of a tree of numbers meet.
template <tree_of_numbers T>
using promoted_leaf_t = typename decltype(detail::promote_all(detail::leaf_types<std::remove_cvref_t<T>>{}))::type;

}  // namespace espalier
