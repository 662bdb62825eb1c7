// Gradients with respect to whole trees, as jax.value_and_grad: the gradient has the type of the argument.
//
//   auto [loss, gradient] = espalier::value_and_grad(loss_fn)(model, batch);          // gradient is a Model
//   auto [value, both] = espalier::value_and_grad<2, 0>(loss_fn)(model, batch, critic);  // a tuple, as asked
//   auto head = espalier::grad(loss_fn, espalier::trainable(mask))(model, batch);        // trainable.hpp
//
// Only parameters are differentiated (espalier/parameters.hpp: MLX arrays of floating-point or complex
// dtype). Every other leaf of a gradient (numbers, strings, integer arrays) is the argument's own, unchanged,
// and so is its aux data.
#pragma once

#include <mlx/array.h>
#include <mlx/transforms.h>

#include <cstddef>
#include <espalier/describe_value.hpp>
#include <espalier/detail/types.hpp>
#include <espalier/errors.hpp>
#include <espalier/mlx/array.hpp>
#include <espalier/mlx/detail/arrays.hpp>
#include <espalier/parameters.hpp>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace espalier {

// A function cannot be differentiated: its loss is no scalar, or an argument has nothing to differentiate.
struct gradient_error : error {
  using error::error;
};

// What a function that value_and_grad made returns; for `auto [value, gradient] = …`.
template <class Value, class Gradient> struct value_and_gradient {
  Value value;        // what the function returned: the loss, or a pair or tuple of the loss and its aux outputs
  Gradient gradient;  // of the argument's type; of several arguments, a std::tuple
};

namespace detail {

template <class R> inline constexpr bool returns_loss = std::is_same_v<R, ::mlx::core::array>;
template <class First, class... Aux>
inline constexpr bool returns_loss<std::tuple<First, Aux...>> =
    std::is_same_v<std::remove_cvref_t<First>, ::mlx::core::array>;
template <class First, class Aux>
inline constexpr bool returns_loss<std::pair<First, Aux>> =
    std::is_same_v<std::remove_cvref_t<First>, ::mlx::core::array>;

template <class R> const ::mlx::core::array& loss_of(const R& result) {
  if constexpr (std::is_same_v<R, ::mlx::core::array>) {
    return result;
  } else {
    return std::get<0>(result);
  }
}

inline void require_loss(const ::mlx::core::array& loss) {
  if (loss.ndim() != 0 || !::mlx::core::issubdtype(loss.dtype(), ::mlx::core::floating)) {
    throw gradient_error(
        "espalier: value_and_grad: the loss must be a floating-point scalar, such as float32[]; found " +
        describe_value(loss) +
        ". Reduce it with mean() or sum(), and return other arrays beside it: "
        "std::pair(loss, outputs)");
  }
}

// Of which arrays the gradient is taken where nothing is said: of all parameters. A filter (trainable.hpp) is another
// such function of the tree.
struct all_trainable {
  template <class T> every_parameter operator()(const T&) const { return {}; }
};

// Appends the trainable parameters of argument `position`.
template <class Takes, class T>
void gather_trainable(std::vector<::mlx::core::array>& arrays, const Takes& takes, std::size_t position,
                      const T& argument) {
  const std::size_t before = arrays.size();
  gather(arrays, takes, argument);
  if (arrays.size() == before) {
    throw gradient_error(
        "espalier: value_and_grad: argument " + std::to_string(position) +
        (std::is_same_v<Takes, every_parameter>
             ? " has no parameters to differentiate: none of its arrays is of a floating-point or complex dtype"
             : " has nothing to train: trainable takes none of its arrays of floating-point or complex dtype"));
  }
}

// The gradient of a tree: zeros where a parameter is frozen. (One zero, seen in the parameter's shape.)
template <class Takes, class T> T scatter_gradient(const ::mlx::core::array*& next, const Takes& takes, const T& tree) {
  if constexpr (std::is_same_v<Takes, every_parameter>) {
    return scatter(next, takes, tree);
  } else {
    const auto frozen = [train = takes](const ::mlx::core::array& a) mutable {
      return !train(a) && every_parameter{}(a);
    };
    std::vector<::mlx::core::array> zeros = gathered(frozen, tree);
    for (auto& a : zeros) a = ::mlx::core::broadcast_to(::mlx::core::array(0, a.dtype()), a.shape());
    return scatter(next, takes, scattered(zeros, frozen, tree));
  }
}

// Where `position` is among the asked indices; their number if it is not.
template <std::size_t... I> consteval std::size_t rank_of(std::size_t position) {
  std::size_t rank = 0;
  (void)((I == position || (++rank, false)) || ...);
  return rank;
}

template <std::size_t... I> consteval bool all_distinct() {
  std::size_t j = 0;
  return ((rank_of<I...>(I) == j++) && ...);
}

// (Which: all_trainable, or a filter for each index, or one for all.)
template <class F, class Which, std::size_t... I> class differentiated {
 public:
  differentiated(F f, Which which) : f_(std::move(f)), which_(std::move(which)) {}

  // (Two overloads, for functions whose call operator changes them.)
  template <class... Args> auto operator()(Args&&... args) const {
    return call(f_, which_, std::make_index_sequence<sizeof...(Args)>{}, std::forward<Args>(args)...);
  }
  template <class... Args> auto operator()(Args&&... args) {
    return call(f_, which_, std::make_index_sequence<sizeof...(Args)>{}, std::forward<Args>(args)...);
  }

 private:
  // What the function gets at position J: the tree to differentiate, over tracers; else the argument as it
  // was passed.
  template <std::size_t J, class Trees, class Arguments>
  static constexpr decltype(auto) argument(Trees& trees, Arguments& arguments) {
    constexpr std::size_t rank = rank_of<I...>(J);
    if constexpr (rank < sizeof...(I)) {
      return std::get<rank>(std::move(trees));
    } else {
      return std::get<J>(std::move(arguments));
    }
  }

  template <class G, std::size_t... J, class... Args>
  static auto call(G& f, const Which& which, std::index_sequence<J...>, Args&&... args) {
    static_assert(((I < sizeof...(Args)) && ...),
                  "espalier: value_and_grad: an argument index is out of range: the function is called with "
                  "fewer arguments. Indices count from 0");
    static_assert(all_distinct<I...>(), "espalier: value_and_grad: an argument index is named twice; name each once");
    if constexpr (((I < sizeof...(Args)) && ...) && all_distinct<I...>()) {
      using arguments_type = std::tuple<Args&&...>;
      using trees_type = std::tuple<std::remove_cvref_t<std::tuple_element_t<I, arguments_type>>...>;
      static_assert((has_engine_arrays<std::tuple_element_t<rank_of<I...>(I), trees_type>> && ...),
                    "espalier: value_and_grad: an argument to differentiate holds no mlx::core::array. Name "
                    "the index of the argument that does, as in value_and_grad<1>(f)");
      constexpr bool callable =
          std::is_invocable_v<G&,
                              decltype(argument<J>(std::declval<trees_type&>(), std::declval<arguments_type&>()))...>;
      static_assert(callable,
                    "espalier: value_and_grad: the function cannot be called with these arguments. It must take the "
                    "arguments that are differentiated by value or by const reference");
      if constexpr (callable) {
        arguments_type arguments(std::forward<Args>(args)...);
        return run<trees_type, J...>(f, which, arguments);
      }
    }
  }

  template <std::size_t Rank> static const auto& filter(const Which& which) {
    return std::get < std::tuple_size_v<Which> == 1 ? 0 : Rank > (which);
  }

  template <class Trees, std::size_t... J, class G, class Arguments>
  static auto run(G& f, const Which& which, Arguments& arguments) {
    namespace mx = ::mlx::core;
    using R = std::remove_cvref_t<
        std::invoke_result_t<G&, decltype(argument<J>(std::declval<Trees&>(), std::declval<Arguments&>()))...>>;
    static_assert(returns_loss<R>,
                  "espalier: value_and_grad: the function must return its loss, an mlx::core::array, or a std::pair or "
                  "std::tuple whose first element is the loss, followed by aux outputs");
    if constexpr (returns_loss<R>) {
      std::vector<mx::array> parameters;
      const std::tuple takes{filter<rank_of<I...>(I)>(which)(std::as_const(std::get<I>(arguments)))...};
      (gather_trainable(parameters, std::get<rank_of<I...>(I)>(takes), I, std::get<I>(arguments)), ...);
      // The result leaves the function beside MLX, not through it: an aux output of any type is kept whole,
      // and an outer gradient goes through it, where MLX's own value_and_grad would stop it.
      std::optional<R> result;
      const auto [losses, gradients] = mx::vjp(
          [&](const std::vector<mx::array>& tracers) {
            const mx::array* next = tracers.data();
            Trees trees{scatter(next, std::get<rank_of<I...>(I)>(takes), std::as_const(std::get<I>(arguments)))...};
            result.emplace(std::invoke(f, argument<J>(trees, arguments)...));
            require_loss(loss_of(*result));
            return std::vector<mx::array>{loss_of(*result)};
          },
          parameters, {mx::array(1.0f)});
      const mx::array* next = gradients.data();
      Trees trees{scatter_gradient(next, std::get<rank_of<I...>(I)>(takes), std::as_const(std::get<I>(arguments)))...};
      if constexpr (sizeof...(I) == 1) {
        return value_and_gradient<R, std::tuple_element_t<0, Trees>>{*std::move(result), std::get<0>(std::move(trees))};
      } else {
        return value_and_gradient<R, Trees>{*std::move(result), std::move(trees)};
      }
    }
  }

  [[no_unique_address]] F f_;
  [[no_unique_address]] Which which_;
};

template <class F> class gradient_only {
 public:
  explicit gradient_only(F f) : f_(std::move(f)) {}  // (no aggregate: g++ 12 dies of one with an empty member)

  template <class... Args> auto operator()(Args&&... args) const { return f_(std::forward<Args>(args)...).gradient; }
  template <class... Args> auto operator()(Args&&... args) { return f_(std::forward<Args>(args)...).gradient; }

 private:
  [[no_unique_address]] F f_;
};

}  // namespace detail

// A function that calls f and gives back value_and_gradient{value, gradient}: what f returned, and the
// gradient of its loss with respect to argument I; with respect to several, a tuple in the order asked;
// without an index, to argument 0.
//
// f takes any arguments (those that are differentiated by value or by const reference) and returns a
// floating-point scalar, or a pair or tuple (loss, aux outputs…) of any types. It may capture: nothing is
// cached, f runs once at each call. Works inside compiled functions and inside f of another gradient. As in
// JAX, an outer gradient goes through the aux outputs too. Throws gradient_error if the loss is no such
// scalar or an argument has no parameter; nothing is evaluated. Costs one run of f, MLX's vjp, and two copies
// of each differentiated tree (arrays are references).
//
// trainable(filter) behind f, one for all or one for each argument, says which parameters are trained. The others reach
// f as they are, cost nothing, and have gradient zero, as behind jax.lax.stop_gradient.
template <std::size_t... I, class F, class... Trainable> auto value_and_grad(F f, Trainable... trainable) {
  constexpr std::size_t filters = sizeof...(Trainable);
  constexpr bool fits = filters <= 1 || filters == sizeof...(I);
  static_assert(fits,
                "espalier: value_and_grad: give trainable(filter) once, or once for each argument to differentiate");
  if constexpr (fits) {
    using Which = std::conditional_t<filters == 0, std::tuple<detail::all_trainable>, std::tuple<Trainable...>>;
    if constexpr (sizeof...(I) == 0) {
      return detail::differentiated<F, Which, 0>(std::move(f), Which{std::move(trainable)...});
    } else {
      return detail::differentiated<F, Which, I...>(std::move(f), Which{std::move(trainable)...});
    }
  }
}

// The same for the gradient alone; f's value and aux outputs are dropped.
template <std::size_t... I, class F, class... Trainable> auto grad(F f, Trainable... trainable) {
  using inner = decltype(value_and_grad<I...>(std::move(f), std::move(trainable)...));
  return detail::gradient_only<inner>(value_and_grad<I...>(std::move(f), std::move(trainable)...));
}

}  // namespace espalier
