// Steps that are left out where a gradient is infinite or NaN: `apply_if_finite`, as optax's.
//
//   constexpr espalier::optim::apply_if_finite opt{espalier::optim::adam{.learning_rate = 1e-3}};
#pragma once

#include <cstdint>
#include <espalier/map.hpp>
#include <espalier/optim/math.hpp>
#include <espalier/visit.hpp>
#include <type_traits>
#include <utility>

namespace espalier::optim {

// Whether all parameters of a tree are finite, every element of them: a bool, or a scalar array of the engine.
template <class Tree> auto all_finite(const Tree& tree) {
  auto finite = detail::shared_math<Tree>::condition(true);
  espalier::tree_visit(
      [&finite]<class L>(const L& leaf) {
        if constexpr (is_parameter_type<Tree, L>) {
          if (is_parameter<Tree>(leaf)) finite = finite && leaf_math<L>::all_finite(leaf);
        }
      },
      tree);
  return finite;
}

namespace detail {

// The one tree or the other of one type and structure: as a whole, or, where the condition is an array, by its arrays.
template <class Condition, class Tree>
Tree chosen(const Condition& condition, Tree yes, const std::type_identity_t<Tree>& no) {
  if constexpr (std::is_same_v<Condition, bool>) {
    return condition ? std::move(yes) : no;
  } else {
    return espalier::tree_map(
        [&condition]<class L>(const L& a, const L& b) -> L {
          if constexpr (engine_array<L>) {
            return leaf_math<L>::select(condition, a, b);
          } else {
            return a;
          }
        },
        yes, no);
  }
}

// What `inner` gives, and its state after it, where the condition holds; else zeros, and the state as it was.
template <class Condition, class Transformation, class Grads, class State, class Params>
Params update_if(const Condition& condition, const Transformation& inner, const Grads& grads, State& state,
                 const Params& params) {
  State next = state;
  const Params updates = inner.update(grads, next, params);
  state = chosen(condition, std::move(next), state);
  return map_parameters(
      [&condition](const auto&, const auto& u) {
        using math = math_of<decltype(u)>;
        return math::select(condition, u, math::zeros_like(u));
      },
      params, updates);
}

}  // namespace detail

// Steps left out in a row, whether the last gradients were finite, steps left out in all; and inner's state.
template <class State, class Count, class Condition> struct apply_if_finite_state {
  Count notfinite_count;
  Condition last_finite;
  Count total_notfinite;
  State inner;
};

// `inner` where all gradients are finite; where one is not, zero updates, and inner's state stays as it was. After
// max_consecutive_errors such steps in a row, the next ones are taken nevertheless, so that the fault shows. Costs a copy
// of inner's state (MLX arrays are shared) and, with arrays, a selection for each of them: nothing is evaluated.
template <class Transformation> struct apply_if_finite {
  Transformation inner;
  std::int64_t max_consecutive_errors = 5;

  template <class Params> auto init(const Params& params) const {
    using shared = detail::shared_math<Params>;
    return apply_if_finite_state<decltype(inner.init(params)), step_count_t<Params>, typename shared::condition_type>{
        shared::zero_count(), shared::condition(true), shared::zero_count(), inner.init(params)};
  }

  // Throws structure_error if the gradients' structure is not the parameters' (aux data may differ), and what inner's
  // check throws.
  template <class Grads, class State, class Params>
  void check(const Grads& grads, const State& state, const Params& params) const {
    detail::check_update<"apply_if_finite">(params, grads);
    detail::check_if_any(inner, grads, state.inner, params);
  }

  // Throws what check and inner throw.
  template <class Grads, class State, class Params>
  Params update(const Grads& grads, State& state, const Params& params) const {
    check(grads, state, params);
    using shared = detail::shared_math<Params>;
    const auto finite = all_finite(grads);
    state.last_finite = finite;
    state.total_notfinite = detail::chosen(finite, state.total_notfinite, state.total_notfinite + 1);
    state.notfinite_count = detail::chosen(finite, shared::zero_count(), state.notfinite_count + 1);
    const auto given_up = shared::count(max_consecutive_errors) < state.notfinite_count;
    return detail::update_if(finite || given_up, inner, grads, state.inner, params);
  }
};

}  // namespace espalier::optim
