// The reverse derivative of a function of trees, as jax.vjp: the value, and a function from a cotangent of the value to
// cotangents of the arguments.
//
//   auto [value, pullback] = espalier::vjp(f, model, x);
//   auto [of_model, of_x] = pullback(cotangent);       // of the arguments' types; of one argument, that type alone
#pragma once

#include <mlx/array.h>

#include <espalier/mlx/detail/array_transforms.hpp>
#include <espalier/mlx/detail/arrays.hpp>
#include <espalier/mlx/detail/call.hpp>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace espalier {

// What vjp returns; for `auto [value, pullback] = …`.
template <class Value, class Pullback> struct value_and_vjp {
  Value value;
  Pullback pullback;
};

namespace detail {

template <class Where> struct cotangent_of_another_type {
  static_assert(always_false<Where>,
                "espalier: vjp: a cotangent has the type of the function's value (both are named beside this message)");
};

template <class Value, class... T> class pullback_of {
 public:
  pullback_of(Value skeleton, std::tuple<T...> primals, mlx_pullback arrays)
      : skeleton_(std::move(skeleton)), primals_(std::move(primals)), arrays_(std::move(arrays)) {}

  template <class Cotangent> auto operator()(const Cotangent& cotangent) const {
    if constexpr (!std::is_same_v<Cotangent, Value>) {
      static_assert(sizeof(cotangent_of_another_type<types<Cotangent, Value>>));
    } else {
      require_signatures("vjp: the cotangent does not fit the value", every_parameter{}, skeleton_, cotangent);
      std::vector<::mlx::core::array> given;
      // The value's parameters say which; the cotangent's have their dtypes.
      gather(given, every_parameter{}, cotangent);
      return one_or_all(scattered(arrays_(given), every_parameter{}, primals_));
    }
  }

 private:
  Value skeleton_;
  std::tuple<T...> primals_;
  mlx_pullback arrays_;
};

}  // namespace detail

// f's value at these arguments, and its pullback: pullback(cotangent) is the cotangent times f's Jacobian. f takes each
// argument by value or const reference and gives back any tree with arrays; it may capture. The cotangent has the
// value's type, and its parameters' shapes and dtypes (else a structure_error, by key path); what of it is no parameter
// is not looked at. A gradient's leaves that are no parameters are the argument's own. f runs once; the pullback keeps
// what it needs of that run alive, and a call copies the part of its graph that depends on the cotangent. Works inside
// compiled functions and other transformations.
template <class F, class... T> auto vjp(F f, const T&... primals) {
  using Primals = std::tuple<T...>;
  if constexpr (detail::require_call<F, Primals>()) {
    using R = detail::call_result_t<F, Primals>;
    std::optional<R> value;
    Primals trees(primals...);
    const auto of_arrays = [&](const std::vector<::mlx::core::array>& x) {
      value.emplace(detail::call_with(f, detail::scattered(x, detail::every_parameter{}, trees)));
      return detail::gathered(detail::every_parameter{}, *value);
    };
    detail::mlx_pullback pullback(of_arrays, detail::gathered(detail::every_parameter{}, primals...));
    using Pullback = detail::pullback_of<R, T...>;
    R copy = *value;
    return value_and_vjp<R, Pullback>{std::move(copy),
                                      Pullback(*std::move(value), std::move(trees), std::move(pullback))};
  }
}

}  // namespace espalier
