// Whether two trees are equal up to rounding: `tree_allclose`, as numpy.allclose leaf by leaf.
//
//   assert(espalier::tree_allclose(model, restored, 1e-6));
#pragma once

#include <espalier/detail/agree.hpp>
#include <espalier/leaf.hpp>
#include <espalier/parameters.hpp>
#include <espalier/promote.hpp>
#include <limits>

namespace espalier {

namespace detail {

struct closeness {
  double rtol, atol;
  bool equal_nan;
};

template <class X> constexpr bool is_infinite(const X& x) {
  if constexpr (std::is_floating_point_v<X>) {
    return x == std::numeric_limits<X>::infinity() || x == -std::numeric_limits<X>::infinity();
  } else if constexpr (is_complex<X>) {
    return is_infinite(x.real()) || is_infinite(x.imag());
  } else {
    return false;
  }
}

// Two unequal numbers.
template <class N> ESPALIER_INLINE constexpr bool close_numbers(N a, N b, const closeness& within) {
  if (is_infinite(a) || is_infinite(b)) return false;
  if (a != a || b != b) return within.equal_nan && a != a && b != b;
  const auto magnitude = [](N x) {
    if constexpr (is_complex<N>) {
      return abs(x);  // std::abs, found by its argument
    } else {
      return x < 0 ? -x : x;
    }
  };
  return static_cast<double>(magnitude(a - b)) <= within.atol + within.rtol * static_cast<double>(magnitude(b));
}

struct close_leaves {
  closeness within;

  template <class A, class B> ESPALIER_INLINE constexpr bool operator()(bool so_far, const A& a, const B& b) const {
    return so_far && close(a, b);
  }

 private:
  template <class A, class B> ESPALIER_INLINE constexpr bool close(const A& a, const B& b) const {
    if constexpr (number<A> && number<B>) {
      // In the type in which they meet, or in double if that is wider.
      using met = promoted_t<A, B, float>;
      using wide = typename with_real<met, std::common_type_t<double, typename real_of<met>::type>>::type;
      return static_cast<wide>(a) == static_cast<wide>(b) ||
             close_numbers(static_cast<wide>(a), static_cast<wide>(b), within);
    } else if constexpr (!std::is_same_v<A, B>) {
      return false;
    } else if constexpr (engine_array<A>) {
      return array_traits<A>::allclose(a, b, within.rtol, within.atol, within.equal_nan);
    } else {
      return leaf_equality<A>::equal(a, b);
    }
  }
};

}  // namespace detail

// Whether two trees have equal structure and close leaves: numbers, also of two types, where |a - b| <= atol + rtol |b|,
// as numpy.allclose (an infinity is close to itself alone, NaN to NaN if equal_nan); arrays of an engine as
// array_traits<Array>::allclose says; other leaves where they are equal (leaf_equality). Trees of different structure are
// not close. No allocation; compares no leaf behind the first that differs.
template <class A, class B>
ESPALIER_INLINE constexpr bool tree_allclose(const A& a, const B& b, double rtol = 1e-5, double atol = 1e-8,
                                             bool equal_nan = false) {
  return detail::leaves_agree(a, b, detail::close_leaves{{rtol, atol, equal_nan}});
}

}  // namespace espalier
