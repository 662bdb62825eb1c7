// Transformations of functions of arrays that MLX does not have as they are needed here; compiled once.
#pragma once

#include <mlx/array.h>

#include <espalier/engine.hpp>
#include <functional>
#include <vector>

namespace espalier::detail {

using mlx_function = array_function<::mlx::core::array>;

// A function's reverse derivative at a point, recorded once and applied as often as asked. MLX's vjp wants the
// cotangents together with the function, and would run it again for each; here the graph that it builds is kept, on
// placeholders for the cotangents, and a call copies the part of it that depends on them.
class mlx_pullback {
 public:
  // Runs f once, on tracers of the primals, inside MLX's vjp. Throws what f throws.
  mlx_pullback(const mlx_function& f, const std::vector<::mlx::core::array>& primals);

  // The vector-Jacobian products, one for each primal. The cotangents have the outputs' number, shapes and dtypes.
  std::vector<::mlx::core::array> operator()(const std::vector<::mlx::core::array>& cotangents) const;

 private:
  std::vector<::mlx::core::array> cotangents_;  // placeholders
  std::vector<::mlx::core::array> steps_;       // what depends on them, inputs first
  std::vector<::mlx::core::array> vjps_;
};

// Whether a transformation is under way: a gradient, vmap, or a trace.
bool transforming();

// Whether an array's graph reaches one of these.
bool depends_on(const ::mlx::core::array& a, const std::vector<::mlx::core::array>& inputs);

// Gives the cotangents of the primals, from (primals, cotangents of the outputs, outputs).
using mlx_vjp_rule = std::function<std::vector<::mlx::core::array>(const std::vector<::mlx::core::array>&,
                                                                   const std::vector<::mlx::core::array>&,
                                                                   const std::vector<::mlx::core::array>&)>;

// f with a derivative of its own, which it also keeps inside vmap (mlx::core::custom_vjp loses it there). f has an
// output.
mlx_function with_vjp(mlx_function f, mlx_vjp_rule rule);

// f that is run again where it is differentiated, instead of keeping what it computed. With mlx::core::checkpoint,
// f would also be differentiated by its integer inputs.
mlx_function recomputed(mlx_function f);

}  // namespace espalier::detail
