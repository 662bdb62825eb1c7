// The forward derivative of a function of trees, as jax.jvp: the value, and its directional derivative along tangents.
//
//   auto [value, tangent] = espalier::jvp(f, x, dx);
//   auto [same, along] = espalier::jvp(g, std::tuple(model, x), std::tuple(dmodel, dx));     // of several arguments
#pragma once

#include <mlx/array.h>
#include <mlx/transforms.h>

#include <espalier/mlx/detail/arrays.hpp>
#include <espalier/mlx/detail/call.hpp>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace espalier {

// What jvp returns; for `auto [value, tangent] = …`.
template <class Value> struct value_and_tangent {
  Value value;
  Value tangent;
};

namespace detail {

template <class Where> struct tangents_of_another_type {
  static_assert(always_false<Where>,
                "espalier: jvp, hvp: the tangents have the type of the primals (both are named beside this message)");
};

template <class T> inline constexpr bool is_tuple = false;
template <class... T> inline constexpr bool is_tuple<std::tuple<T...>> = true;

// The arguments that a std::tuple of primals means, or one argument.
template <class Primals> using argument_list = std::conditional_t<is_tuple<Primals>, Primals, std::tuple<Primals>>;

}  // namespace detail

// f's value at the primals, and the tangent of the value: f's Jacobian times the tangents. The primals are one
// argument, or a std::tuple of all (so that an argument which is a tuple itself stands in one: std::tuple<T>(x)); the
// tangents have their type, and their parameters' shapes and dtypes (else a structure_error, by key path). What of them
// is no parameter is not looked at. The value's tangent has its type; leaves that are no parameters are the value's
// own. f takes each argument by value or const reference, gives back any tree with arrays, may capture, and runs once.
template <class F, class Primals, class Tangents> auto jvp(F f, const Primals& primals, const Tangents& tangents) {
  if constexpr (!std::is_same_v<Primals, Tangents>) {
    static_assert(sizeof(detail::tangents_of_another_type<detail::types<Primals, Tangents>>));
  } else {
    using Arguments = detail::argument_list<Primals>;
    if constexpr (detail::require_call<F, Arguments>()) {
      using R = detail::call_result_t<F, Arguments>;
      constexpr detail::every_parameter parameters;
      detail::require_signatures("jvp: the tangents do not fit the primals", parameters, primals, tangents);
      std::optional<R> value;
      const auto of_arrays = [&](const std::vector<::mlx::core::array>& x) {
        value.emplace(detail::call_with(f, Arguments(detail::scattered(x, parameters, primals))));
        return detail::gathered(parameters, *value);
      };
      const auto [values, along] =
          ::mlx::core::jvp(of_arrays, detail::gathered(parameters, primals), detail::gathered(parameters, tangents));
      R tangent = detail::scattered(along, parameters, *value);
      return value_and_tangent<R>{*std::move(value), std::move(tangent)};
    }
  }
}

}  // namespace espalier
