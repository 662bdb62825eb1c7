// mlx::core::array as a leaf: what makes MLX's arrays known to trees.
#pragma once

#include <mlx/array.h>
#include <mlx/ops.h>
#include <mlx/utils.h>

#include <espalier/describe.hpp>
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
  static std::size_t elements(const ::mlx::core::array& a) { return a.size(); }
  static std::size_t bytes(const ::mlx::core::array& a) { return a.nbytes(); }
};

// Equal shapes, dtypes and elements. Evaluates both.
template <> struct leaf_equality<::mlx::core::array> {
  static bool equal(const ::mlx::core::array& a, const ::mlx::core::array& b) {
    return a.dtype() == b.dtype() && a.shape() == b.shape() && ::mlx::core::array_equal(a, b).item<bool>();
  }
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
