// Float32 copies of half-precision parameters, so that small updates add up instead of being rounded away.
//
//   constexpr espalier::optim::master_weights opt{espalier::optim::adamw{.learning_rate = 3e-4}};
#pragma once

#include <espalier/optim/apply_updates.hpp>
#include <espalier/optim/math.hpp>

namespace espalier::optim {

// The parameters in the precision of moments, and inner's state.
template <class Params, class State> struct master_weights_state {
  Params master;
  State inner;
};

// `inner` on float32 copies of the half-precision parameters, whose rounded values the parameters become. Micikevicius et
// al., "Mixed precision training", ICLR 2018, section 3.1. Outermost, or inside loss scaling: what changes the updates
// behind it does not change the copies.
template <class Transformation> struct master_weights {
  Transformation inner;

  // The copies begin as the parameters; other parameters, other leaves and aux data are copied.
  template <class Params> auto init(const Params& params) const {
    const Params master =
        detail::map_parameters([](const auto& p) { return detail::math_of<decltype(p)>::widen(p); }, params);
    return master_weights_state<Params, decltype(inner.init(master))>{master, inner.init(master)};
  }

  // Throws structure_error if the structure of the gradients or of the copies is not the parameters' (aux data may
  // differ), and what inner's check throws.
  template <class Grads, class State, class Params>
  void check(const Grads& grads, const State& state, const Params& params) const {
    detail::check_update<"master_weights">(params, grads, state.master);
    detail::check_if_any(inner, grads, state.inner, state.master);
  }

  // Updates that apply_updates makes the rounded copies of: they are float32. Throws what check and inner throw.
  template <class Grads, class State, class Params>
  Params update(const Grads& grads, State& state, const Params& params) const {
    check(grads, state, params);
    apply_updates(state.master, inner.update(grads, state.inner, state.master));
    return detail::map_parameters(
        [](const auto& p, const auto& m) { return m - detail::math_of<decltype(p)>::widen(p); }, params, state.master);
  }
};

}  // namespace espalier::optim
