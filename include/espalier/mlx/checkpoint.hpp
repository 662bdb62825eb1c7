// Less memory for more arithmetic, as jax.checkpoint: what the function computes on the way is not kept for its
// derivative but computed again.
//
//   constexpr auto block = [](const Block& b, const mx::array& x) { … };
//   x = espalier::checkpoint(block)(weights, x);
#pragma once

#include <mlx/array.h>

#include <espalier/mlx/detail/array_transforms.hpp>
#include <espalier/mlx/detail/arrays.hpp>
#include <espalier/mlx/detail/call.hpp>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace espalier {

namespace detail {

template <class F> struct checkpointed {
  F f;

  template <class... T> auto operator()(const T&... arguments) const {
    if constexpr (require_call<const F, std::tuple<T...>>()) {
      using R = call_result_t<const F, std::tuple<T...>>;
      // The function outlives this call, in the graph; only its first run is the one that the result is of.
      std::optional<R> result;
      const auto first = std::make_shared<std::optional<R>*>(&result);
      const auto trees = std::make_shared<const std::tuple<T...>>(arguments...);
      const mlx_function of_arrays = [g = f, first, trees](const std::vector<::mlx::core::array>& x) {
        R value = call_with(g, scattered(x, every_array{}, *trees));
        std::vector<::mlx::core::array> arrays = gathered(every_array{}, value);
        if (*first) (*first)->emplace(std::move(value));
        return arrays;
      };
      const std::vector<::mlx::core::array> outputs = recomputed(of_arrays)(gathered(every_array{}, arguments...));
      *first = nullptr;
      return scattered(outputs, every_array{}, *result);
    }
  }
};

}  // namespace detail

// A function that does what f does, and whose derivative runs f again instead of keeping f's intermediate arrays:
// memory of f's arguments and results, and one more run of f. Arguments by value or const reference, any trees; the
// result any tree with arrays. f captures nothing: MLX would lose the gradients of arrays that it captured.
template <class F> auto checkpoint(F f) {
  static_assert(detail::captures_nothing<F>,
                "espalier: checkpoint: the function captures, and gradients of what it captured would be lost. Pass "
                "that as an argument");
  return detail::checkpointed<F>{std::move(f)};
}

}  // namespace espalier
