// A loop over the leading axis that carries a tree along, as jax.lax.scan:
//
//   auto [last, outputs] = espalier::scan(step, state, inputs);    // step(state, input) gives std::pair(state, output)
#pragma once

#include <mlx/array.h>
#include <mlx/ops.h>

#include <cstddef>
#include <espalier/mlx/detail/arrays.hpp>
#include <espalier/mlx/detail/call.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace espalier {

// The arrays given to scan have no leading axis, or disagree on its length.
struct scan_error : error {
  using error::error;
};

// What scan returns; for `auto [carry, outputs] = …`.
template <class Carry, class Outputs> struct carry_and_outputs {
  Carry carry;      // after the last step
  Outputs outputs;  // of all steps, along a new leading axis
};

namespace detail {

template <class Where> struct step_of_another_type {
  static_assert(
      always_false<Where>,
      "espalier: scan: the function takes (carry, x) by value or const reference and gives back std::pair(carry, "
      "output), with the carry's own type (what it gives back, and the carry's type, are named beside this "
      "message)");
};
template <class Where> struct nothing_to_scan {
  static_assert(
      always_false<Where>,
      "espalier: scan: what is scanned holds no mlx::core::array, so there is no leading axis; give a tree of "
      "arrays, such as mlx::core::arange(n)");
};

template <class F, class Carry, class Xs> consteval bool require_step() {
  using call = call_result<F, std::tuple<Carry, Xs>>;
  if constexpr (!has_engine_arrays<Xs>) {
    return sizeof(nothing_to_scan<Xs>) == 0;
  } else if constexpr (!call::possible) {
    return sizeof(step_of_another_type<types<void, Carry>>) == 0;
  } else if constexpr (!requires { typename call::type::second_type; }) {
    return sizeof(step_of_another_type<types<typename call::type, Carry>>) == 0;
  } else if constexpr (!std::is_same_v<typename call::type::first_type, Carry>) {
    return sizeof(step_of_another_type<types<typename call::type, Carry>>) == 0;
  } else {
    return true;
  }
}

// The length of the leading axis that all arrays of a tree have.
template <class Xs> int leading_length(const char* operation, const Xs& xs) {
  std::optional<int> length;
  std::string wrong;
  espalier::tree_visit_with_path(
      [&]<class Leaf>(const path_view& path, const Leaf& leaf) {
        if constexpr (std::is_same_v<Leaf, ::mlx::core::array>) {
          if (!length && leaf.ndim() > 0) length = leaf.shape(0);
          if (leaf.ndim() > 0 && leaf.shape(0) == *length) return;
          const std::string at = path.to_string();
          wrong += "\n  " + (at.empty() ? "(root)" : at) + ": " + describe_value(leaf);
        }
      },
      xs);
  if (!length && wrong.empty()) wrong = "\n  no arrays";
  if (wrong.empty()) return *length;
  throw scan_error("espalier: " + std::string(operation) + ": every array needs a leading axis" +
                   (length ? " of length " + std::to_string(*length) + ", as the first has" : "") + "; found" + wrong);
}

// A tree for each step, without the leading axis.
template <class Xs> std::vector<Xs> unstacked(const Xs& xs, int length) {
  namespace mx = ::mlx::core;
  std::vector<std::vector<mx::array>> of_step(static_cast<std::size_t>(length));
  for (const mx::array& a : gathered(every_array{}, xs)) {
    // (split, not slices: the derivative of all of them is one concatenation.)
    const std::vector<mx::array> parts = mx::split(a, length, 0);
    for (std::size_t i = 0; i < parts.size(); ++i) of_step[i].push_back(mx::squeeze(parts[i], 0));
  }
  std::vector<Xs> trees;
  trees.reserve(of_step.size());
  for (const auto& arrays : of_step) trees.push_back(scattered(arrays, every_array{}, xs));
  return trees;
}

// One tree with the arrays of all, along a new leading axis; other leaves are the first tree's.
template <class Y> Y stacked(const std::vector<Y>& ys) {
  std::vector<std::vector<::mlx::core::array>> of_leaf;
  for (const Y& y : ys) {
    require_signatures("scan: the output of a step is not like that of the first", every_array{}, ys.front(), y);
    const std::vector<::mlx::core::array> arrays = gathered(every_array{}, y);
    of_leaf.resize(arrays.size());
    for (std::size_t k = 0; k < arrays.size(); ++k) of_leaf[k].push_back(arrays[k]);
  }
  std::vector<::mlx::core::array> all;
  for (const auto& arrays : of_leaf) all.push_back(::mlx::core::stack(arrays, 0));
  return scattered(all, every_array{}, ys.front());
}

// The outputs of no steps: what a step would give, of length 0.
template <class F, class Carry, class Xs> auto no_outputs(F& f, const Carry& carry, const Xs& xs) {
  std::vector<::mlx::core::array> arrays = gathered(every_array{}, xs);
  for (auto& a : arrays) {
    a = ::mlx::core::zeros(::mlx::core::Shape(a.shape().begin() + 1, a.shape().end()), a.dtype());
  }
  const auto [_, y] = call_with(f, std::tuple<Carry, Xs>(carry, scattered(arrays, every_array{}, xs)));
  arrays = gathered(every_array{}, y);
  for (auto& a : arrays) {
    ::mlx::core::Shape shape = a.shape();
    shape.insert(shape.begin(), 0);
    a = ::mlx::core::zeros(std::move(shape), a.dtype());
  }
  return scattered(arrays, every_array{}, y);
}

}  // namespace detail

// Calls f(carry, x) for each x along the leading axis of the arrays of xs, in order, with the carry that the call
// before gave; the first gets `carry`. f gives back std::pair(carry, output). The carry keeps its type, its structure,
// and its arrays' shapes and dtypes (else structure_error, by key path); the outputs are any trees of one structure,
// stacked; a std::tuple<> if there are none. Leaves of xs that are no arrays go to every step. No steps: the carry as
// it was, and outputs of length 0. MLX has no loop: the graph holds f once for each step, and so does a compiled
// function's trace.
template <class F, class Carry, class Xs> auto scan(F f, const Carry& carry, const Xs& xs) {
  if constexpr (detail::require_step<F, Carry, Xs>()) {
    using Y = typename detail::call_result_t<F, std::tuple<Carry, Xs>>::second_type;
    const int length = detail::leading_length("scan", xs);
    if (length == 0) return carry_and_outputs<Carry, Y>{carry, detail::no_outputs(f, carry, xs)};
    std::optional<Carry> now(carry);
    std::vector<Y> outputs;
    for (Xs& x : detail::unstacked(xs, length)) {
      auto [next, y] = detail::call_with(f, std::tuple<Carry, Xs>(*std::move(now), std::move(x)));
      detail::require_signatures("scan: the carry must stay as it is given", detail::every_array{}, carry, next);
      now.emplace(std::move(next));
      outputs.push_back(std::move(y));
    }
    return carry_and_outputs<Carry, Y>{*std::move(now), detail::stacked(outputs)};
  }
}

}  // namespace espalier
