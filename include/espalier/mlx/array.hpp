// mlx::core::array as a leaf: what makes MLX's arrays known to trees.
#pragma once

#include <mlx/array.h>
#include <mlx/ops.h>
#include <mlx/utils.h>

#include <espalier/describe_value.hpp>
#include <espalier/leaf.hpp>
#include <espalier/parameters.hpp>
#include <sstream>
#include <string>

namespace espalier {

namespace engines {
struct mlx;
}

template <> inline constexpr bool is_leaf_type<::mlx::core::array> = true;

template <> struct array_traits<::mlx::core::array> {
  using engine = engines::mlx;

  // Floating-point and complex dtypes.
  static bool differentiable(const ::mlx::core::array& a) {
    return ::mlx::core::issubdtype(a.dtype(), ::mlx::core::inexact);
  }
  // Equal up to the rounding that reordering causes: relative 1e-5, in half precision 1e-2. Evaluates both.
  static bool close(const ::mlx::core::array& a, const ::mlx::core::array& b) {
    if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
    if (!differentiable(a)) return ::mlx::core::array_equal(a, b).item<bool>();
    const double tolerance = a.itemsize() == 2 ? 1e-2 : 1e-5;
    return ::mlx::core::allclose(a, b, tolerance, tolerance, true).item<bool>();
  }
  // Equal shapes, and elements as close as numpy.allclose asks. Evaluates both.
  static bool allclose(const ::mlx::core::array& a, const ::mlx::core::array& b, double rtol, double atol,
                       bool equal_nan) {
    return a.shape() == b.shape() && ::mlx::core::allclose(a, b, rtol, atol, equal_nan).item<bool>();
  }

  // For arithmetic on trees: lazy, as all of MLX. Half precision is summed in float32.
  static ::mlx::core::array scalar(double x) { return ::mlx::core::array(static_cast<float>(x)); }
  static ::mlx::core::array zeros_like(const ::mlx::core::array& a) { return ::mlx::core::zeros_like(a); }
  static ::mlx::core::array dot(const ::mlx::core::array& a, const ::mlx::core::array& b) {
    return ::mlx::core::sum(::mlx::core::conjugate(widened(a)) * widened(b));
  }
  static ::mlx::core::array sum_of_squares(const ::mlx::core::array& a) {
    const bool complex = ::mlx::core::issubdtype(a.dtype(), ::mlx::core::complexfloating);
    return ::mlx::core::sum(::mlx::core::square(complex ? ::mlx::core::abs(a) : widened(a)));
  }
  // In To's dtype if it has a floating-point dtype, else as it is.
  template <class To> static ::mlx::core::array cast(const ::mlx::core::array& a) {
    return ::mlx::core::issubdtype(a.dtype(), ::mlx::core::floating)
               ? ::mlx::core::astype(a, ::mlx::core::TypeToDtype<To>())
               : a;
  }

  static std::size_t elements(const ::mlx::core::array& a) { return a.size(); }
  static std::size_t bytes(const ::mlx::core::array& a) { return a.nbytes(); }

  // Half precision as float32, in which sums and moments survive; all else as it is.
  static ::mlx::core::array widened(const ::mlx::core::array& a) {
    const bool half = a.dtype() == ::mlx::core::float16 || a.dtype() == ::mlx::core::bfloat16;
    return half ? ::mlx::core::astype(a, ::mlx::core::float32) : a;
  }
};

// Equal shapes, dtypes and elements. Evaluates both.
template <> struct leaf_equality<::mlx::core::array> {
  static bool equal(const ::mlx::core::array& a, const ::mlx::core::array& b) {
    return a.dtype() == b.dtype() && a.shape() == b.shape() && ::mlx::core::array_equal(a, b).item<bool>();
  }
};

// Arrays are one leaf if they are one node of MLX's graph.
template <> struct leaf_identity<::mlx::core::array> {
  static const void* of(const ::mlx::core::array& a) { return reinterpret_cast<const void*>(a.id()); }
};

// `float32[3, 4]`; a scalar is `float32[]`.
template <> struct value_description<::mlx::core::array> {
  static std::string describe(const ::mlx::core::array& a) {
    std::ostringstream text;
    text << a.dtype() << '[';
    for (std::size_t i = 0; i < a.ndim(); ++i) text << (i == 0 ? "" : ", ") << a.shape()[i];
    text << ']';
    return text.str();
  }
};

}  // namespace espalier
