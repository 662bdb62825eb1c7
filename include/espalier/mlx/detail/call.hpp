// Calling the functions that transformations are given: what they get, give back, and may not keep.
#pragma once

#include <mlx/array.h>

#include <espalier/detail/survey.hpp>
#include <espalier/mlx/array.hpp>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace espalier::detail {

template <class F, class Trees> struct call_result {
  static constexpr bool possible = false;
};
template <class F, class... T>
  requires std::is_invocable_v<F&, T...>
struct call_result<F, std::tuple<T...>> {
  static constexpr bool possible = true;
  using type = std::remove_cvref_t<std::invoke_result_t<F&, T...>>;
};

template <class Where> struct function_cannot_be_called {
  static_assert(always_false<Where>,
                "espalier: vjp, jvp, vmap, checkpoint, custom_vjp: the function cannot be called with these arguments "
                "(both are named beside this message). It must take each by value or by const reference");
};
template <class Where> struct function_gives_no_arrays {
  static_assert(always_false<Where>,
                "espalier: vjp, jvp, vmap, checkpoint, custom_vjp: the function's result holds no mlx::core::array");
};

// Stops the build unless F can be called with such trees, moved, and gives back a tree with arrays.
template <class F, class Trees> consteval bool require_call() {
  if constexpr (!call_result<F, Trees>::possible) {
    return sizeof(function_cannot_be_called<types<F, Trees>>) == 0;
  } else if constexpr (std::is_void_v<typename call_result<F, Trees>::type>) {
    return sizeof(function_gives_no_arrays<types<F, Trees>>) == 0;
  } else if constexpr (!has_engine_arrays<typename call_result<F, Trees>::type>) {
    return sizeof(function_gives_no_arrays<types<F, typename call_result<F, Trees>::type>>) == 0;
  } else {
    return true;
  }
}
template <class F, class Trees> using call_result_t = typename call_result<F, Trees>::type;

// Calls f with the trees, moved.
template <class F, class... T> auto call_with(F& f, std::tuple<T...> trees) {
  return std::apply([&](T&... tree) { return std::invoke(f, std::move(tree)...); }, trees);
}

// A function that keeps nothing: what it captured would be hidden from a derivative that is taken later.
template <class F>
inline constexpr bool captures_nothing = std::is_empty_v<F> || std::is_function_v<std::remove_pointer_t<F>>;

// One tree, or a std::tuple of several.
template <class Trees> constexpr auto one_or_all(Trees trees) {
  if constexpr (std::tuple_size_v<Trees> == 1) {
    return std::get<0>(std::move(trees));
  } else {
    return trees;
  }
}
template <class Trees> using one_or_all_t = decltype(one_or_all(std::declval<Trees>()));

}  // namespace espalier::detail
