// The arithmetic of gradient transformations on MLX arrays: include it to use espalier::optim with them.
#pragma once

#include <mlx/ops.h>

#include <cmath>
#include <espalier/mlx/array.hpp>
#include <espalier/optim/math.hpp>
#include <type_traits>

namespace espalier::optim {

// Numbers take part in the dtype of the array beside them, as in Python. Lazy, as all of MLX: nothing is
// evaluated.
template <> struct leaf_math<::mlx::core::array> {
  using array = ::mlx::core::array;
  using count_type = array;
  using sum_type = array;

  static array zero_count() { return array(0, ::mlx::core::int32); }
  static array zero_sum() { return array(0.0F); }

  static array zeros_like(const array& a) { return ::mlx::core::zeros_like(a); }

  template <class Value> static array as(const Value& value, const array& like) {
    if constexpr (std::is_arithmetic_v<Value>) {
      return array(value, like.dtype());
    } else {
      return ::mlx::core::astype(value, like.dtype());
    }
  }

  static array widen(const array& a) {
    const bool half = a.dtype() == ::mlx::core::float16 || a.dtype() == ::mlx::core::bfloat16;
    return half ? ::mlx::core::astype(a, ::mlx::core::float32) : a;
  }

  static array sqrt(const array& a) { return ::mlx::core::sqrt(a); }

  static array squared_magnitude(const array& a) {
    const bool complex = ::mlx::core::issubdtype(a.dtype(), ::mlx::core::complexfloating);
    return ::mlx::core::square(complex ? ::mlx::core::abs(a) : a);
  }

  static array sum_of_squares(const array& a) { return ::mlx::core::sum(squared_magnitude(widen(a))); }

  static array select(const array& condition, const array& yes, const array& no) {
    return ::mlx::core::where(condition, yes, no);
  }

  // In float32, for float64 parameters too: not every device has float64.
  static array bias_correction(double decay, const array& count) {
    const array steps = ::mlx::core::astype(count, ::mlx::core::float32);
    return -::mlx::core::expm1(steps * array(std::log(decay), ::mlx::core::float32));
  }
};

}  // namespace espalier::optim
