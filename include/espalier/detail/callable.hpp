// What a callable says by its signature: which arguments are inputs, which are in-out state, and which engine's arrays
// they hold.
#pragma once

#include <cstddef>
#include <espalier/detail/survey.hpp>
#include <espalier/detail/types.hpp>
#include <espalier/parameters.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace espalier::detail {

// --- The callable. ---------------------------------------------------------------------------------------------------

// A function as an empty callable: compile<&train_step>().
template <auto Function> struct function_constant {
  template <class... A> decltype(auto) operator()(A&&... a) const { return Function(std::forward<A>(a)...); }
};

// (Boost.CallableTraits knows more kinds of functions than can be compiled, and takes 110 ms to include.)
template <class R, class... P, bool N> types<P...> parameters(R (*)(P...) noexcept(N));
template <class F, class R, class... P, bool N> types<P...> parameters(R (F::*)(P...) noexcept(N));
template <class F, class R, class... P, bool N> types<P...> parameters(R (F::*)(P...) const noexcept(N));

// The parameter types of a callable that has one signature, else void.
template <class F> struct parameters_of {
  using type = void;
};
template <class F>
  requires requires { detail::parameters(&F::operator()); }
struct parameters_of<F> {
  using type = decltype(detail::parameters(&F::operator()));
};
template <auto Function> struct parameters_of<function_constant<Function>> {
  using type = decltype(detail::parameters(Function));
};

// The callable's type as the compiler spells it, for messages only.
template <class F> std::string callable_name() {
  const std::string_view all = __PRETTY_FUNCTION__;
  const std::size_t begin = all.find("F = ");
  if (begin == std::string_view::npos) return "the function";
  const std::size_t end = all.find_first_of(";]", begin + 4);
  return std::string(all.substr(begin + 4, end == std::string_view::npos ? end : end - begin - 4));
}

template <class F> consteval bool require_callable() {
  if constexpr (std::is_pointer_v<F>) {
    static_assert(always_false<F>, "espalier: compile: name a function as a template argument, compile<&function>()");
  } else if constexpr (!std::is_empty_v<F> && !std::is_aggregate_v<F>) {
    static_assert(
        always_false<F>,
        "espalier: compile: the callable captures values, which would be frozen at their first value. Pass them "
        "as arguments, or make them fields of an aggregate with an operator(), whose fields are inputs");
  }
  return true;
}

// --- The arguments. --------------------------------------------------------------------------------------------------

// An argument as a compiled function sees it: a tree, and whether it is in-out state.
template <class T, bool InOut> struct argument {
  using tree = T;
  static constexpr bool in_out = InOut;
  std::conditional_t<InOut, T, const T>& value;
};

// What the caller passes for a parameter of type P: in-out state as it is, inputs by const reference.
template <class P> struct passed_as {
  using type = const std::remove_cvref_t<P>&;
};
template <class T> struct passed_as<T&> {
  using type = T&;
};
template <class T> struct passed_as<T&&> {
  using type = T&&;
};

template <class P>
inline constexpr bool is_in_out = std::is_lvalue_reference_v<P> && !std::is_const_v<std::remove_reference_t<P>>;

// Of a generic callable: whether argument I, passed as a non-const lvalue, is refused as an rvalue. The others stay as
// passed.
template <class F, std::size_t I, class... A> consteval bool refuses_rvalue() {
  return []<std::size_t... J>(std::index_sequence<J...>) {
    return !std::is_invocable_v<F&, std::conditional_t<I == J, std::remove_cvref_t<A>&&, A>...>;
  }(std::index_sequence_for<A...>{});
}

// Whether F has an operator() with these parameter types and result.
template <class F, class R, class... P>
concept has_overload = requires { static_cast<R (F::*)(P...) const>(&F::operator()); } ||
                       requires { static_cast<R (F::*)(P...)>(&F::operator()); };

// Whether F has an operator() whose parameters are `Fixed...` and then any of T, T&, const T&, T&& for each further tree.
template <class F, class R, class... Fixed> consteval bool has_overload_with(types<Fixed...>, types<>) {
  return has_overload<F, R, Fixed...>;
}
template <class F, class R, class... Fixed, class Fixing, class... More>
consteval bool has_overload_with(types<Fixed...>, types<Fixing, More...>) {
  if constexpr (std::is_reference_v<Fixing>) {  // the parameter in question, as it is
    return has_overload_with<F, R>(types<Fixed..., Fixing>{}, types<More...>{});
  } else {
    return has_overload_with<F, R>(types<Fixed..., Fixing>{}, types<More...>{}) ||
           has_overload_with<F, R>(types<Fixed..., Fixing&>{}, types<More...>{}) ||
           has_overload_with<F, R>(types<Fixed..., const Fixing&>{}, types<More...>{}) ||
           has_overload_with<F, R>(types<Fixed..., Fixing&&>{}, types<More...>{});
  }
}

// Whether argument I, a non-const lvalue that F takes as an rvalue too, is taken by an overload of its own as an lvalue: then
// the call that the user wrote and the one that would be traced are different functions. (`auto&&` takes both, as one.)
template <class F, std::size_t I, class... A> consteval bool overloaded_on_constness() {
  using R = std::invoke_result_t<F&, A...>;
  return []<std::size_t... J>(std::index_sequence<J...>) {
    return has_overload_with<F, R>(
               types<>{}, types<std::conditional_t<I == J, std::remove_cvref_t<A>&, std::remove_cvref_t<A>>...>{}) &&
           !has_overload_with<F, R>(
               types<>{}, types<std::conditional_t<I == J, std::remove_cvref_t<A>&&, std::remove_cvref_t<A>>...>{});
  }(std::index_sequence_for<A...>{});
}

template <class F, std::size_t I, class... A> consteval bool generic_in_out() {
  using P = std::tuple_element_t<I, std::tuple<A...>>;
  if constexpr (!is_in_out<P>) {
    static_assert(!refuses_rvalue<F, I, A...>(),
                  "espalier: compile: the callable takes in-out state (auto&) where a const or temporary argument is "
                  "passed, which is an input. Take inputs as const auto&, or pass an lvalue that is not const");
    return false;
  } else if constexpr (refuses_rvalue<F, I, A...>()) {
    return true;
  } else {
    // A closure, which is no aggregate, has one operator().
    if constexpr (std::is_aggregate_v<F> && sizeof...(A) <= 4) {
      static_assert(!overloaded_on_constness<F, I, A...>(),
                    "espalier: compile: the callable is overloaded on constness, so that an argument may be input or "
                    "in-out state. Give it one signature, or compile a lambda that names the one that is meant");
    }
    return false;
  }
}

template <class F, class... A, std::size_t... I> consteval auto generic_arguments(std::index_sequence<I...>) {
  return types<argument<std::remove_cvref_t<A>, generic_in_out<F, I, A...>()>...>{};
}

// The types that the callable is called with: in-out state as an lvalue, inputs as rvalues.
template <class Argument>
using call_type = std::conditional_t<Argument::in_out, typename Argument::tree&, typename Argument::tree&&>;

// --- The engine of a call: that of the first array type among its trees. ---------------------------------------------

template <class... Leaf> consteval auto engine_of_leaves(types<Leaf...>) { return type_tag<void>{}; }
template <class First, class... Leaf> consteval auto engine_of_leaves(types<First, Leaf...>) {
  if constexpr (engine_array<First>) {
    return type_tag<typename array_traits<First>::engine>{};
  } else {
    return engine_of_leaves(types<Leaf...>{});
  }
}

template <class... Tree> consteval auto find_engine() { return engine_of_leaves(leaf_types<std::tuple<Tree...>>{}); }

}  // namespace espalier::detail
