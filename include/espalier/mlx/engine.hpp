// MLX as an engine for espalier::compile.
#pragma once

#include <espalier/compile.hpp>
#include <espalier/mlx/array.hpp>
#include <espalier/mlx/plan.hpp>

namespace espalier {

namespace engines {

struct mlx {
  using array = ::mlx::core::array;
  using plan = detail::mlx_plan;

  struct signature {
    ::mlx::core::Shape shape;
    ::mlx::core::Dtype dtype;
  };
  // MLX's streams belong to threads, so each thread traces for itself.
  struct place {
    int device_type;
    int device_index;
    int stream;
    friend bool operator==(const place&, const place&) = default;
  };

  static place current_place();
  static signature signature_of(const array& a) { return {a.shape(), a.dtype()}; }
  // (A loop: for a few numbers the call of memcmp, which == becomes, costs more than they do.)
  static bool matches(const signature& s, const array& a) {
    const ::mlx::core::Shape& shape = a.shape();
    if (s.dtype != a.dtype() || s.shape.size() != shape.size()) return false;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (s.shape[i] != shape[i]) return false;
    }
    return true;
  }
  static std::uint64_t hash(std::uint64_t seed, const array& a);
  static std::uint64_t hash(std::uint64_t seed, const place& p);
  static bool transforming();
  static array blank() { return array(::mlx::core::Shape{}, ::mlx::core::float32, nullptr, {}); }
  static plan record(std::span<const array* const> inputs, const array_function<array>& f) {
    return plan::record(inputs, f);
  }
  static std::optional<std::string> explain(const std::exception& failure);
};

}  // namespace engines

extern template class detail::trace_cache<engines::mlx>;

}  // namespace espalier
