// Parameters: the leaves that gradients and optimizers act on. They are the engine arrays of a tree that has any (those
// of differentiable dtype), else its floating-point leaves. Everything else passes through untouched.
//
//   Model halved = espalier::tree_map_parameters([](const auto& p) { return p * 0.5; }, model);
#pragma once

#include <espalier/map.hpp>
#include <type_traits>

namespace espalier {

// An engine's arrays are declared by a specialisation, of static members (`a` and `b` are const Array&):
//
//   using engine = …;                           which compiles functions of them (engine.hpp)
//   bool differentiable(a)                      whether it is a parameter: its dtype is floating-point, or complex
//   bool close(a, b)                            equal up to the rounding that reordering causes: compile_options::check
//   std::size_t elements(a), bytes(a)           how many numbers and bytes: tree_summary, tree_print, tree_html, …
//   bool allclose(a, b, rtol, atol, equal_nan)  as numpy.allclose: tree_allclose
//   Array dot(a, b)                             the sum of a's conjugate times b, a scalar array: tree_dot
//   Array sum_of_squares(a)                     the sum of squared magnitudes, a scalar array: tree_norm
//   Array scalar(double)                        a scalar array of that value: tree_dot, tree_norm
//   Array zeros_like(a)                         zeros in its shape and dtype: tree_zeros_like
//   Array cast<To>(a)                           in To's dtype if its own is floating-point, else as it is: tree_cast
//
// `differentiable` must be there; each of the others only for what is named behind it.
template <class Leaf> struct array_traits;

// A leaf that is an array of an engine.
template <class Leaf>
concept engine_array = requires { sizeof(array_traits<Leaf>); };

namespace detail {

template <class... Leaf> consteval bool any_engine_array(types<Leaf...>) { return (engine_array<Leaf> || ...); }

}  // namespace detail

// Whether some leaf type of T is an engine's array.
template <class T>
inline constexpr bool has_engine_arrays = detail::any_engine_array(detail::leaf_types<std::remove_cvref_t<T>>{});

// Whether a leaf of type Leaf can be a parameter of a tree T.
template <class T, class Leaf>
inline constexpr bool is_parameter_type = has_engine_arrays<T> ? engine_array<Leaf> : std::is_floating_point_v<Leaf>;

// Whether this leaf is a parameter of a tree T.
template <class T, class Leaf> constexpr bool is_parameter(const Leaf& leaf) {
  if constexpr (!is_parameter_type<T, Leaf>) {
    return false;
  } else if constexpr (engine_array<Leaf>) {
    return array_traits<Leaf>::differentiable(leaf);
  } else {
    return true;
  }
}

// tree_map over the parameters of the first tree; other leaves are passed on, copied or, from an rvalue, moved. f gives
// back the parameter's type.
template <class F, class First, class... Rest>
constexpr auto tree_map_parameters(F&& f, First&& first, Rest&&... rest) {
  using T = std::remove_cvref_t<First>;
  auto some = [&f]<class L, class... R>(L&& leaf, R&&... beside) -> std::remove_cvref_t<L> {
    if constexpr (is_parameter_type<T, std::remove_cvref_t<L>>) {
      if (is_parameter<T>(leaf)) return f(std::forward<L>(leaf), std::forward<R>(beside)...);
    }
    return std::forward<L>(leaf);
  };
  return detail::map_leaves<false>("tree_map_parameters", some, std::forward<First>(first),
                                   std::forward<Rest>(rest)...);
}

}  // namespace espalier
