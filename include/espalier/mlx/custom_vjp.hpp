// A function with a reverse derivative of one's own, as jax.custom_vjp:
//
//   auto clipped = espalier::custom_vjp(
//       [](const mx::array& x) { return x; },
//       [](const mx::array& x) { return std::pair(x, std::tuple<>()); },    // value, residuals
//       [](const auto& residuals, const mx::array& g) { return mx::clip(g, mx::array(-1.0f), mx::array(1.0f)); });
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

namespace detail {

template <class Where> struct forward_of_another_type {
  static_assert(
      always_false<Where>,
      "espalier: custom_vjp: the forward function takes the arguments of the function and gives back "
      "std::pair(value, residuals), with its value's type (what it gives back, and that type, are named beside "
      "this message)");
};
template <class Where> struct backward_of_another_type {
  static_assert(
      always_false<Where>,
      "espalier: custom_vjp: the backward function takes the residuals and a cotangent of the value's type, and "
      "gives back the cotangent of the argument, of its type, or a std::tuple of those of all arguments (what "
      "it gives back, and what it should, are named beside this message)");
};

template <class P, class R> inline constexpr bool is_value_and_residuals = false;
template <class R, class Residuals> inline constexpr bool is_value_and_residuals<std::pair<R, Residuals>, R> = true;

template <class F, class Forward, class Trees> consteval bool require_forward() {
  if constexpr (!require_call<F, Trees>()) {
    return false;
  } else if constexpr (!call_result<Forward, Trees>::possible) {
    return sizeof(forward_of_another_type<types<void, call_result_t<F, Trees>>>) == 0;
  } else if constexpr (!is_value_and_residuals<call_result_t<Forward, Trees>, call_result_t<F, Trees>>) {
    return sizeof(forward_of_another_type<types<call_result_t<Forward, Trees>, call_result_t<F, Trees>>>) == 0;
  } else {
    return true;
  }
}
template <class Backward, class Forward, class Trees> consteval bool require_backward() {
  using P = call_result_t<Forward, Trees>;
  using call = call_result<Backward, std::tuple<typename P::second_type, typename P::first_type>>;
  if constexpr (!call::possible) {
    return sizeof(backward_of_another_type<types<void, one_or_all_t<Trees>>>) == 0;
  } else if constexpr (!std::is_same_v<typename call::type, one_or_all_t<Trees>>) {
    return sizeof(backward_of_another_type<types<typename call::type, one_or_all_t<Trees>>>) == 0;
  } else {
    return true;
  }
}

template <class F, class Forward, class Backward> struct with_custom_vjp {
  F f;
  Forward forward;
  Backward backward;

  template <class... T> auto operator()(const T&... arguments) const {
    using Trees = std::tuple<T...>;
    if constexpr (require_forward<const F, const Forward, Trees>()) {
      if constexpr (require_backward<const Backward, const Forward, Trees>()) {
        if (!transforming()) return call_with(f, Trees(arguments...));
        return run(std::make_shared<const Trees>(arguments...));
      }
    }
  }

 private:
  using arrays = std::vector<::mlx::core::array>;

  // The residuals leave the forward function as outputs of the operation that MLX records, beside the value.
  template <class Trees> auto run(std::shared_ptr<const Trees> trees) const {
    using Both = call_result_t<const Forward, Trees>;
    const auto both = std::make_shared<std::optional<Both>>();  // of the first run; later, what it holds beside arrays
    const mlx_function of_arrays = [g = forward, trees, both](const arrays& x) {
      Both now = call_with(g, scattered(x, every_array{}, *trees));
      arrays outputs = gathered(every_array{}, now.first, now.second);
      if (!*both) both->emplace(std::move(now));
      return outputs;
    };
    const auto rule = [g = backward, trees, both](const arrays& primals, const arrays& cotangents,
                                                  const arrays& outputs) {
      const ::mlx::core::array* output = outputs.data();
      (void)scatter(output, every_array{}, (*both)->first);
      auto residuals = scatter(output, every_array{}, (*both)->second);
      auto cotangent = scattered(cotangents, every_array{}, (*both)->first);
      auto found = std::invoke(g, std::move(residuals), std::move(cotangent));
      const auto expected = one_or_all(scattered(primals, every_array{}, *trees));
      require_signatures("custom_vjp: the backward function's cotangents do not fit the arguments", every_parameter{},
                         expected, found);
      return gathered(every_array{}, found);
    };
    const arrays outputs = with_vjp(of_arrays, rule)(gathered(every_array{}, *trees));
    return scattered(outputs, every_array{}, (*both)->first);
  }
};

}  // namespace detail

// A function that does what f does, with this reverse derivative: forward(arguments…) gives std::pair(value,
// residuals), the residuals any tree; backward(residuals, cotangent) gives the cotangent of the argument, of its type,
// or a std::tuple of those of all. Leaves of a cotangent that are no parameters do not matter; the others have the
// argument's shapes and dtypes, or a structure_error says where not. The functions take trees by value or const
// reference, and capture nothing. Inside a transformation (a gradient, vmap, a compiled function) forward runs in place
// of f: MLX does not say whether a derivative will be asked for, so the residuals are computed with the value. The rule
// holds under vmap too. A forward derivative (jvp) is that of forward.
template <class F, class Forward, class Backward> auto custom_vjp(F f, Forward forward, Backward backward) {
  static_assert(
      detail::captures_nothing<F> && detail::captures_nothing<Forward> && detail::captures_nothing<Backward>,
      "espalier: custom_vjp: the functions must not capture: gradients of what they captured would be lost. Pass that "
      "as an argument");
  return detail::with_custom_vjp<F, Forward, Backward>{std::move(f), std::move(forward), std::move(backward)};
}

}  // namespace espalier
