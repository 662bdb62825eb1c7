// The arithmetic of gradient transformations on MLX arrays: include it to use espalier::optim with them.
#pragma once

#include <mlx/ops.h>

#include <cmath>
#include <cstdint>
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
  using condition_type = array;
  static constexpr bool has_axes = true;

  static array count(std::int64_t steps) { return array(steps, ::mlx::core::int32); }
  static array zero_count() { return count(0); }
  static array zero_sum() { return array(0.0F); }
  static array condition(bool value) { return array(value); }

  static array zeros_like(const array& a) { return ::mlx::core::zeros_like(a); }

  static array hidden() { return array(false); }

  template <class Value> static array as(const Value& value, const array& like) {
    if constexpr (std::is_arithmetic_v<Value>) {
      return array(value, like.dtype());
    } else {
      return ::mlx::core::astype(value, like.dtype());
    }
  }

  static array widen(const array& a) { return array_traits<array>::widened(a); }

  static array sqrt(const array& a) { return ::mlx::core::sqrt(a); }

  static array cos(const array& a) { return ::mlx::core::cos(a); }
  static array floor(const array& a) { return ::mlx::core::floor(a); }
  static array power(const array& base, const array& exponent) { return ::mlx::core::power(base, exponent); }
  static array maximum(const array& a, const array& b) { return ::mlx::core::maximum(a, b); }
  static array minimum(const array& a, const array& b) { return ::mlx::core::minimum(a, b); }
  static array magnitude(const array& a) { return ::mlx::core::abs(a); }
  static array sign(const array& a) { return ::mlx::core::sign(a); }
  static array all_finite(const array& a) { return ::mlx::core::all(::mlx::core::isfinite(a)); }

  static array squared_magnitude(const array& a) {
    const bool complex = ::mlx::core::issubdtype(a.dtype(), ::mlx::core::complexfloating);
    return ::mlx::core::square(complex ? ::mlx::core::abs(a) : a);
  }

  static array sum_of_squares(const array& a) { return ::mlx::core::sum(squared_magnitude(widen(a))); }

  static array mean_of_squares(const array& a) { return ::mlx::core::mean(squared_magnitude(a)); }

  static int ndim(const array& a) { return static_cast<int>(a.ndim()); }
  static int dim(const array& a, int axis) { return a.shape(axis); }
  static array mean(const array& a, int axis) { return ::mlx::core::mean(a, axis); }
  static array expand_dims(const array& a, int axis) { return ::mlx::core::expand_dims(a, axis); }
  static array as_matrix(const array& a) { return ::mlx::core::reshape(a, {a.shape(0), -1}); }
  static array reshaped_like(const array& a, const array& like) { return ::mlx::core::reshape(a, like.shape()); }
  static array transpose(const array& a) { return ::mlx::core::transpose(a); }
  static array matmul(const array& a, const array& b) { return ::mlx::core::matmul(a, b); }
  static array add_matmul(const array& c, double factor, const array& a, const array& b) {
    return ::mlx::core::addmm(c, a, b, static_cast<float>(factor));
  }

  static array select(const array& condition, const array& yes, const array& no) {
    return ::mlx::core::where(condition, yes, no);
  }

  static array real(const array& count) { return ::mlx::core::astype(count, ::mlx::core::float32); }

  // In float32, for float64 parameters too: not every device has float64.
  static array bias_correction(double decay, const array& count) {
    return -::mlx::core::expm1(real(count) * array(std::log(decay), ::mlx::core::float32));
  }
};

}  // namespace espalier::optim
