// dynamic<T>: a number that is an array input of a compiled function. A C++ number is a constant of the trace, and every new
// value a new trace; a dynamic one is not:
//
//   auto decode = espalier::compile([](cache& c, const token& t, espalier::dynamic<int> position) { … *position … });
//   decode(c, t, 17);
//   decode(c, t, 18);      // the same trace
#pragma once

#include <array>
#include <espalier/mlx/array.hpp>
#include <espalier/node.hpp>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace espalier {

// A scalar MLX array made from a number: int32 from int, float32 from float, as mlx::core::array(value) chooses. A node
// with one leaf, so it may stand wherever a tree may.
template <class T> class dynamic {
  static_assert(std::is_arithmetic_v<T>, "espalier: dynamic: give the type of a number");

 public:
  dynamic(T value) : value_(value) {}
  explicit dynamic(::mlx::core::array value) : value_(std::move(value)) {}

  const ::mlx::core::array& operator*() const { return value_; }
  ::mlx::core::array& operator*() { return value_; }

 private:
  ::mlx::core::array value_;
};

template <class T> struct pytree_node<dynamic<T>> {
  static constexpr std::array<std::string_view, 1> names{"value"};

  static auto children(auto& d) { return std::tie(*d); }
  static dynamic<T> unflatten(std::tuple<>, ::mlx::core::array value) { return dynamic<T>(std::move(value)); }
};

}  // namespace espalier
