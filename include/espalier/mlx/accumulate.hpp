// Gradients of a batch that is too large for memory, from parts of it: the mean over micro-batches.
//
//   auto loss_and_grad = espalier::value_and_grad(loss);                       // a mean over its examples
//   auto [losses, gradient] = espalier::accumulate_gradients(loss_and_grad, model, batches);   // batches.x: [4, 8, …]
#pragma once

#include <mlx/array.h>
#include <mlx/ops.h>

#include <espalier/mlx/array.hpp>
#include <espalier/mlx/detail/arrays.hpp>
#include <espalier/mlx/detail/call.hpp>
#include <espalier/mlx/grad.hpp>
#include <espalier/mlx/scan.hpp>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace espalier {

namespace detail {

template <class Where> struct no_gradient_function {
  static_assert(always_false<Where>,
                "espalier: accumulate_gradients: give the function that value_and_grad made, then its first argument, "
                "then trees of micro-batches (what the function gave back for them is named beside this message)");
};
template <class R> inline constexpr bool is_value_and_gradient = false;
template <class V, class G> inline constexpr bool is_value_and_gradient<value_and_gradient<V, G>> = true;

}  // namespace detail

// Calls loss_and_grad(argument, batch…), which value_and_grad made, for each micro-batch: each of the trees `batches`
// without its leading axis, which all their arrays share (else scan_error, by key path). Gives back what each call
// returned, stacked (with a loss and aux outputs: the losses, and aux), and the mean of the gradients, of their dtypes.
// If the loss is a mean over examples and the micro-batches are of one size, it is the gradient of the joined batch.
// Beyond the gradients of one micro-batch, what is computed costs one tree of sums (float32 for half precision). Random
// keys are batches too: split(key, n).
template <class F, class T, class... Batch>
auto accumulate_gradients(F loss_and_grad, const T& argument, const Batch&... batches) {
  using Call = detail::call_result<F, std::tuple<T, Batch...>>;
  if constexpr (!Call::possible) {
    static_assert(sizeof(detail::no_gradient_function<detail::types<F, T, Batch...>>));
  } else if constexpr (!detail::is_value_and_gradient<typename Call::type>) {
    static_assert(sizeof(detail::no_gradient_function<typename Call::type>));
  } else {
    namespace mx = ::mlx::core;
    using Value = decltype(Call::type::value);
    using Gradient = decltype(Call::type::gradient);
    const std::tuple<Batch...> all(batches...);
    const int length = detail::leading_length("accumulate_gradients", all);
    if (length == 0) throw scan_error("espalier: accumulate_gradients: there are no micro-batches");
    std::vector<Value> values;
    std::vector<mx::array> sums;
    std::optional<Gradient> first;
    for (auto& batch : detail::unstacked(all, length)) {
      auto [value, gradient] =
          std::apply([&](auto&... each) { return loss_and_grad(argument, std::move(each)...); }, batch);
      const std::vector<mx::array> arrays = detail::gathered(detail::every_parameter{}, gradient);
      for (std::size_t i = 0; i < arrays.size(); ++i) {
        if (sums.size() == i) {
          sums.push_back(array_traits<mx::array>::widened(arrays[i]));
        } else {
          sums[i] = sums[i] + array_traits<mx::array>::widened(arrays[i]);
        }
      }
      values.push_back(std::move(value));
      if (!first) first.emplace(std::move(gradient));
    }
    const std::vector<mx::array> like = detail::gathered(detail::every_parameter{}, *first);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] = mx::astype(sums[i] * mx::array(1.0f / static_cast<float>(length), sums[i].dtype()), like[i].dtype());
    }
    return value_and_gradient<Value, Gradient>{detail::stacked(values),
                                               detail::scattered(sums, detail::every_parameter{}, *first)};
  }
}

}  // namespace espalier
