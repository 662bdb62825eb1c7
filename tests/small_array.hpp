// An engine's array of a few lines, for the operations that ask array_traits what to do with one.
#pragma once

#include <cmath>
#include <cstddef>
#include <espalier/parameters.hpp>
#include <string>
#include <vector>

namespace small {

// Floats or, of another dtype, integers in all but their C++ type.
struct array {
  std::vector<double> values;
  std::string dtype = "float64";
  friend bool operator==(const array&, const array&) = default;
};

inline array operator+(const array& a, const array& b) { return {{a.values.at(0) + b.values.at(0)}}; }
inline array sqrt(const array& a) { return {{std::sqrt(a.values.at(0))}}; }

}  // namespace small

template <> inline constexpr bool espalier::is_leaf_type<small::array> = true;

template <> struct espalier::array_traits<small::array> {
  using array = small::array;

  static bool differentiable(const array& a) { return a.dtype.starts_with("float"); }
  static std::size_t elements(const array& a) { return a.values.size(); }
  static std::size_t bytes(const array& a) { return 8 * a.values.size(); }

  static array scalar(double x) { return {{x}}; }
  static array zeros_like(const array& a) { return {std::vector<double>(a.values.size()), a.dtype}; }
  static array dot(const array& a, const array& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.values.size(); ++i) sum += a.values[i] * b.values.at(i);
    return {{sum}};
  }
  static array sum_of_squares(const array& a) { return dot(a, a); }
  static bool allclose(const array& a, const array& b, double rtol, double atol, bool) {
    if (a.dtype != b.dtype || a.values.size() != b.values.size()) return false;
    for (std::size_t i = 0; i < a.values.size(); ++i) {
      if (!(std::abs(a.values[i] - b.values[i]) <= atol + rtol * std::abs(b.values[i]))) return false;
    }
    return true;
  }
  template <class To> static array cast(const array& a) {
    return {a.values, differentiable(a) ? "float" + std::to_string(8 * sizeof(To)) : a.dtype};
  }
};
