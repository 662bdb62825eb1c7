// Derivatives of higher order or rank: Jacobians, as jax.jacrev and jacfwd, and the product of a Hessian and a vector.
//
//   auto jacobian = espalier::jacrev(f)(model);               // f's value with a Model for each array
//   Model product = espalier::hvp(loss, model, direction);    // the Hessian is never made
#pragma once

#include <mlx/array.h>
#include <mlx/ops.h>
#include <mlx/transforms.h>

#include <cstddef>
#include <espalier/leaf_array.hpp>
#include <espalier/mlx/detail/array_transforms.hpp>
#include <espalier/mlx/detail/arrays.hpp>
#include <espalier/mlx/detail/call.hpp>
#include <espalier/mlx/grad.hpp>
#include <espalier/mlx/jvp.hpp>
#include <espalier/mlx/vjp.hpp>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace espalier {

namespace detail {

template <class Where> struct jacobian_of_other_leaves {
  static_assert(always_false<Where>,
                "espalier: jacrev, jacfwd: every leaf of the function's value must be an mlx::core::array (the value's "
                "type is named beside this message). Give back the arrays alone");
};

// The rows of an identity matrix as trees: for each array, all of its unit vectors among zeros for the others.
// Its leading axis counts the elements of all arrays.
inline std::vector<::mlx::core::array> unit_vectors(const std::vector<::mlx::core::array>& arrays) {
  namespace mx = ::mlx::core;
  int size = 0;
  for (const mx::array& a : arrays) size += static_cast<int>(a.size());
  std::vector<mx::array> units;
  int begin = 0;
  for (const mx::array& a : arrays) {
    mx::Shape shape = a.shape();
    shape.insert(shape.begin(), size);
    units.push_back(mx::reshape(mx::eye(size, static_cast<int>(a.size()), -begin, a.dtype()), std::move(shape)));
    begin += static_cast<int>(a.size());
  }
  return units;
}

inline ::mlx::core::Shape joined_shape(const ::mlx::core::array& output, const ::mlx::core::array& input) {
  ::mlx::core::Shape shape = output.shape();
  shape.insert(shape.end(), input.shape().begin(), input.shape().end());
  return shape;
}

// The elements of an array from `begin` to `end` along an axis, in another shape.
inline ::mlx::core::array block_of(const ::mlx::core::array& a, std::size_t axis, int begin, int end,
                                   ::mlx::core::Shape shape) {
  ::mlx::core::Shape from(a.ndim(), 0);
  ::mlx::core::Shape to = a.shape();
  from[axis] = begin;
  to[axis] = end;
  return ::mlx::core::reshape(::mlx::core::slice(a, std::move(from), std::move(to)), std::move(shape));
}

// Value's structure with a T for each array, made by part(k) of the k-th.
template <class R, class T, class Part> auto jacobian_tree(const R& value, const T& primal, const Part& part) {
  std::size_t k = 0;
  return espalier::tree_map(
      [&](const ::mlx::core::array&) -> T {
        const std::vector<::mlx::core::array> blocks = part(k++);
        return scattered(blocks, every_parameter{}, primal);
      },
      value);
}

template <class F, class T> consteval bool require_jacobian() {
  if constexpr (!require_call<F, std::tuple<T>>()) {
    return false;
  } else if constexpr (!std::is_same_v<leaf_types<call_result_t<F, std::tuple<T>>>, types<::mlx::core::array>>) {
    return sizeof(jacobian_of_other_leaves<types<call_result_t<F, std::tuple<T>>>>) == 0;
  } else {
    return true;
  }
}

inline void require_differentiable(const std::vector<::mlx::core::array>& all,
                                   const std::vector<::mlx::core::array>& parameters) {
  if (all.size() != parameters.size()) {
    throw gradient_error(
        "espalier: jacrev, jacfwd: the function gives back an array of integers or bools, which has no derivative; "
        "give "
        "back arrays of floating-point or complex dtype");
  }
}

template <class F> struct reverse_jacobian {
  F f;

  template <class T> auto operator()(const T& primal) const {
    namespace mx = ::mlx::core;
    if constexpr (require_jacobian<const F, T>()) {
      using R = call_result_t<const F, std::tuple<T>>;
      std::optional<R> value;
      const std::vector<mx::array> inputs = gathered(every_parameter{}, primal);
      const mlx_pullback pullback(
          [&](const std::vector<mx::array>& x) {
            value.emplace(call_with(f, std::tuple<T>(scattered(x, every_parameter{}, primal))));
            return gathered(every_array{}, *value);
          },
          inputs);
      const std::vector<mx::array> outputs = gathered(every_array{}, *value);
      require_differentiable(outputs, gathered(every_parameter{}, *value));
      // A row for each element of the outputs.
      const std::vector<mx::array> rows =
          mx::vmap(mlx_function(pullback), std::vector<int>(outputs.size(), 0))(unit_vectors(outputs));
      int begin = 0;
      return jacobian_tree(*value, primal, [&](std::size_t k) {
        const int end = begin + static_cast<int>(outputs[k].size());
        std::vector<mx::array> blocks;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
          blocks.push_back(block_of(rows[i], 0, begin, end, joined_shape(outputs[k], inputs[i])));
        }
        begin = end;
        return blocks;
      });
    }
  }
};

template <class F> struct forward_jacobian {
  F f;

  template <class T> auto operator()(const T& primal) const {
    namespace mx = ::mlx::core;
    if constexpr (require_jacobian<const F, T>()) {
      using R = call_result_t<const F, std::tuple<T>>;
      std::optional<R> value;
      const std::vector<mx::array> inputs = gathered(every_parameter{}, primal);
      const auto of_arrays = [&](const std::vector<mx::array>& x) {
        value.emplace(call_with(f, std::tuple<T>(scattered(x, every_parameter{}, primal))));
        return gathered(every_array{}, *value);
      };
      // A column for each element of the inputs.
      const std::vector<mx::array> columns = mx::vmap(mlx_function([&](const std::vector<mx::array>& tangents) {
                                                        return mx::jvp(of_arrays, inputs, tangents).second;
                                                      }),
                                                      std::vector<int>(inputs.size(), 0))(unit_vectors(inputs));
      const std::vector<mx::array> outputs = gathered(every_array{}, *value);
      require_differentiable(outputs, gathered(every_parameter{}, *value));
      return jacobian_tree(*value, primal, [&](std::size_t k) {
        const mx::array last = mx::moveaxis(columns[k], 0, -1);
        std::vector<mx::array> blocks;
        int begin = 0;
        for (const mx::array& input : inputs) {
          const int end = begin + static_cast<int>(input.size());
          blocks.push_back(block_of(last, last.ndim() - 1, begin, end, joined_shape(outputs[k], input)));
          begin = end;
        }
        return blocks;
      });
    }
  }
};

}  // namespace detail

// A function of one tree that gives f's Jacobian there: f's value with, at each array y, a tree of the argument's type
// whose parameter x has become an array of shape y.shape + x.shape: dy/dx. The type is what tree_map gives: of an array
// the argument's type, of a tree the struct rebound or a leaf_array. Every leaf of f's value is an array of
// floating-point or complex dtype (else gradient_error); f may capture what else it needs. jacrev costs one run of f
// and a batch of pullbacks, one for each element of the value: for few outputs; jacfwd, one pushforward for each
// element of the argument: for few inputs.
template <class F> auto jacrev(F f) { return detail::reverse_jacobian<F>{std::move(f)}; }
template <class F> auto jacfwd(F f) { return detail::forward_jacobian<F>{std::move(f)}; }

// The Hessian of a loss at a tree, times a direction of the tree's type: the derivative of the gradient along it, as
// jax.jvp(jax.grad(f), (primal,), (tangent,)). Reverse over reverse (the Hessian is symmetric), since MLX has more
// reverse than forward derivatives of derivatives: an embedding's has none. Costs about two gradients. Throws as grad
// and vjp do.
template <class F, class T, class Tangent> T hvp(F f, const T& primal, const Tangent& tangent) {
  if constexpr (!std::is_same_v<T, Tangent>) {
    static_assert(sizeof(detail::tangents_of_another_type<detail::types<T, Tangent>>));
  } else {
    return espalier::vjp(espalier::grad(std::move(f)), primal).pullback(tangent);
  }
}

}  // namespace espalier
