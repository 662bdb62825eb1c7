// A function of one example made a function of a batch, as jax.vmap. Which axis of each array counts the examples is
// said by in_axes, a prefix tree of the arguments:
//
//   auto losses = espalier::vmap(loss, std::tuple(std::nullopt, 0))(model, examples);    // one model, many examples
//   auto out = espalier::vmap(f, std::tuple(layer_axes{.weight = 0, .bias = std::nullopt}, 1), 0)(layer, x);
#pragma once

#include <mlx/array.h>
#include <mlx/ops.h>
#include <mlx/transforms.h>

#include <cstddef>
#include <espalier/mlx/detail/array_transforms.hpp>
#include <espalier/mlx/detail/arrays.hpp>
#include <espalier/mlx/detail/call.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace espalier {

// The arrays given to vmap have no such axis, or disagree on the number of examples.
struct vmap_error : error {
  using error::error;
};

namespace detail {

using optional_axis = std::optional<int>;

template <class Where> struct no_axes {
  static_assert(
      always_false<Where>,
      "espalier: vmap: axes are an int, std::nullopt, a std::optional<int>, or a tree of these that is a prefix "
      "of the argument or the result (the axes' type is named beside this message)");
};
template <class Where> struct another_number_of_axes {
  static_assert(
      always_false<Where>,
      "espalier: vmap: in_axes is a std::tuple with axes for each argument, in their order; one int, for all, "
      "stands outside of a tuple");
};

// The types at which a tree of axes ends, beside int.
template <class Axes> consteval auto axis_stops() {
  if constexpr (std::is_same_v<Axes, int> || !is_in<types<optional_axis>, leaf_zips_with<types<optional_axis>, Axes>>) {
    return types<>{};
  } else {
    return types<optional_axis>{};
  }
}
template <class Axes> using axis_stops_t = decltype(axis_stops<Axes>());

template <class... Zip> consteval bool are_axes(types<Zip...>) {
  return ((std::is_same_v<Zip, types<int>> || std::is_same_v<Zip, types<optional_axis>>) && ...);
}

// Appends the axis for each array of the tree. A tree of axes is its prefix.
template <class Axes, class T> void append_axes(std::vector<optional_axis>& all, const Axes& axes, const T& tree) {
  const auto repeat = [&](const optional_axis& axis, const auto& below) {
    all.resize(all.size() + gathered(every_array{}, below).size(), axis);
  };
  if constexpr (std::is_convertible_v<Axes, optional_axis>) {
    repeat(axes, tree);
  } else if constexpr (!pytree<Axes>) {
    static_assert(sizeof(no_axes<Axes>));
  } else if constexpr (!are_axes(leaf_zips_with<axis_stops_t<Axes>, Axes>{})) {
    static_assert(sizeof(no_axes<Axes>));
  } else {
    visit_leaves<false, axis_stops_t<Axes>>("vmap (the axes are the first tree, what they are for is tree 2)", repeat,
                                            axes, tree);
  }
}

template <class Axes, class... T>
void append_axes_of_all(std::vector<optional_axis>& all, const Axes& axes, const T&... arguments) {
  if constexpr (std::is_convertible_v<Axes, optional_axis>) {
    (append_axes(all, axes, arguments), ...);
  } else {
    std::apply([&](const auto&... each) { (append_axes(all, each, arguments), ...); }, axes);
  }
}

// The key path of the n-th array of some arguments.
template <class... T> std::string place_of_array(std::size_t n, const T&... arguments) {
  std::string place;
  std::size_t argument = 0;
  std::size_t i = 0;
  const auto look = [&]<class Leaf>(const path_view& path, const Leaf& leaf) {
    if constexpr (std::is_same_v<Leaf, ::mlx::core::array>) {
      if (i++ != n) return;
      const std::string below = path.to_string();
      place =
          "argument " + std::to_string(argument) + (below.empty() ? "" : " at " + below) + ", " + describe_value(leaf);
    }
  };
  ((espalier::tree_visit_with_path(look, arguments), ++argument), ...);
  return place;
}

// As MLX wants them: counted from the front, -1 for None. Throws where an array has no such axis, or they disagree.
template <class... T>
std::vector<int> mlx_axes(const std::vector<optional_axis>& axes, const std::vector<::mlx::core::array>& arrays,
                          const T&... arguments) {
  std::vector<int> result;
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (!axes[i]) {
      result.push_back(-1);
      continue;
    }
    const int rank = static_cast<int>(arrays[i].ndim());
    const int axis = *axes[i] < 0 ? *axes[i] + rank : *axes[i];
    if (axis < 0 || axis >= rank) {
      throw vmap_error("espalier: vmap: " + place_of_array(i, arguments...) + ", has no axis " +
                       std::to_string(*axes[i]) + ". Give its axis of examples, or std::nullopt if all share it");
    }
    result.push_back(axis);
    if (!first) first = i;
    const auto size = [&](std::size_t j) { return arrays[j].shape(result[j]); };
    if (size(i) != size(*first)) {
      throw vmap_error("espalier: vmap: the numbers of examples differ: " + std::to_string(size(*first)) +
                       " along axis " + std::to_string(result[*first]) + " of " + place_of_array(*first, arguments...) +
                       "; " + std::to_string(size(i)) + " along axis " + std::to_string(axis) + " of " +
                       place_of_array(i, arguments...));
    }
  }
  if (!first) {
    throw vmap_error(
        "espalier: vmap: no array has an axis of examples; give at least one an axis that is not std::nullopt");
  }
  return result;
}

template <class F, class InAxes, class OutAxes> class vmapped {
 public:
  vmapped(F f, InAxes in, OutAxes out) : f_(std::move(f)), in_axes_(std::move(in)), out_axes_(std::move(out)) {}

  template <class... T> auto operator()(const T&... arguments) const { return call(f_, arguments...); }
  template <class... T> auto operator()(const T&... arguments) { return call(f_, arguments...); }

 private:
  template <class G, class... T> auto call(G& f, const T&... arguments) const {
    using Trees = std::tuple<T...>;
    if constexpr (!std::is_convertible_v<InAxes, optional_axis> && !has_size<InAxes, sizeof...(T)>()) {
      static_assert(sizeof(another_number_of_axes<types<InAxes, Trees>>));
    } else if constexpr (require_call<G, Trees>()) {
      return run<call_result_t<G, Trees>>(f, arguments...);
    }
  }

  template <class Tuple, std::size_t N> static consteval bool has_size() {
    if constexpr (requires { std::tuple_size<Tuple>::value; }) {
      return std::tuple_size_v<Tuple> == N;
    } else {
      return false;
    }
  }

  template <class R, class G, class... T> R run(G& f, const T&... arguments) const {
    namespace mx = ::mlx::core;
    std::vector<optional_axis> asked;
    append_axes_of_all(asked, in_axes_, arguments...);
    const std::vector<mx::array> arrays = gathered(every_array{}, arguments...);
    const std::vector<int> axes = mlx_axes(asked, arrays, arguments...);

    std::optional<R> result;
    std::vector<optional_axis> out_axes;
    std::vector<mx::array> shared;  // results that all examples have in common
    const auto one = [&](const std::vector<mx::array>& x) {
      result.emplace(call_with(f, scattered(x, every_array{}, std::tuple<T...>(arguments...))));
      append_axes(out_axes, out_axes_, *result);
      std::vector<mx::array> outputs = gathered(every_array{}, *result);
      require_shared(out_axes, outputs, x, axes, *result);
      return outputs;
    };
    std::vector<mx::array> outputs = mx::vmap(mlx_function(one), axes)(arrays);
    const std::vector<mx::array> of_one = gathered(every_array{}, *result);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (!out_axes[i]) {
        outputs[i] = of_one[i];
      } else if (*out_axes[i] != 0) {
        const int rank = static_cast<int>(outputs[i].ndim());
        if (*out_axes[i] >= rank || *out_axes[i] < -rank) {
          throw vmap_error("espalier: vmap: the batched result has no axis " + std::to_string(*out_axes[i]) +
                           " for the examples: " + describe_value(outputs[i]));
        }
        outputs[i] = mx::moveaxis(outputs[i], 0, *out_axes[i]);
      }
    }
    return scattered(outputs, every_array{}, *result);
  }

  // What has no axis of examples in the result must not depend on the example.
  template <class R>
  static void require_shared(const std::vector<optional_axis>& out_axes, const std::vector<::mlx::core::array>& outputs,
                             const std::vector<::mlx::core::array>& inputs, const std::vector<int>& axes,
                             const R& result) {
    std::vector<::mlx::core::array> examples;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (axes[i] >= 0) examples.push_back(inputs[i]);
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (out_axes[i] || !depends_on(outputs[i], examples)) continue;
      throw vmap_error("espalier: vmap: out_axes is std::nullopt for a result that depends on the example (" +
                       place_of_array(i, result).replace(0, 10, "result") + "). Give it an axis");
    }
  }

  [[no_unique_address]] F f_;
  InAxes in_axes_;
  OutAxes out_axes_;
};

}  // namespace detail

// A function of batches that does for each example what f does for one, in one graph. in_axes says where each
// argument's arrays count the examples: an axis for all arrays of all arguments, or a std::tuple with axes for each
// argument: an axis or a tree of axes that is a prefix of the argument. An axis is an int (from the back if negative),
// or std::nullopt: the array has none, all examples share it. out_axes says the same of the result, as one axis or a
// tree that is a prefix of it; what is std::nullopt there must not depend on the example. f takes each argument by
// value or const reference, gives back any tree with arrays, may capture, and runs once; leaves that are no arrays are
// shared. Throws vmap_error, by key path, where an array has no such axis or the numbers of examples differ, and
// structure_error where axes are no prefix.
template <class F, class InAxes = int, class OutAxes = int> auto vmap(F f, InAxes in_axes = 0, OutAxes out_axes = 0) {
  return detail::vmapped<F, InAxes, OutAxes>(std::move(f), std::move(in_axes), std::move(out_axes));
}

}  // namespace espalier
