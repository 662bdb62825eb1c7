// RMSprop: gradients divided by the root of the running mean of their squares.
//
//   constexpr espalier::optim::rmsprop opt{.learning_rate = 1e-2};
#pragma once

#include <espalier/optim/math.hpp>

namespace espalier::optim {

// The running mean of the squared magnitudes of the gradients, and the steps taken where the learning rate is a
// schedule.
template <class Params, class Count = empty_state> struct rmsprop_state {
  Params nu;
  Count count;
};

// Tieleman & Hinton, "Lecture 6.5: rmsprop", Coursera, 2012, as mlx.optimizers.RMSprop (whose alpha is `decay`):
//   nu = decay nu + (1 - decay) |g|²,   update = -learning_rate g / (sqrt(nu) + eps).
// (optax.rmsprop has eps under the root, and a decay of 0.9.) Half precision and the learning rate: as adam.
template <class Rate> struct rmsprop {
  Rate learning_rate;
  double decay = 0.99;
  double eps = 1e-8;

  // Zero moments: of half-precision parameters in float32. Leaves that are not parameters, and aux data, are copied,
  // and stay as they are.
  template <class Params> rmsprop_state<Params, rate_count_t<Rate, Params>> init(const Params& params) const {
    return {detail::zero_magnitudes(params), detail::zero_rate_count<Rate, Params>()};
  }

  // Throws structure_error if the structure of the gradients or of the moments is not the parameters' (aux data may
  // differ).
  template <class Grads, class Params>
  void check(const Grads& grads, const rmsprop_state<Params, rate_count_t<Rate, Params>>& state,
             const Params& params) const {
    detail::check_update<"rmsprop">(params, grads, state.nu);
  }

  // The updates, in the dtypes of the parameters; `state` is updated in place. Leaves that are not parameters, and aux
  // data, are those of `params`. Throws what check throws, before any change.
  template <class Grads, class Params>
  Params update(const Grads& grads, rmsprop_state<Params, rate_count_t<Rate, Params>>& state,
                const Params& params) const {
    check(grads, state, params);
    const auto rate = detail::rate_at(learning_rate, state.count);
    detail::advance(state.count);
    detail::update_parameters(
        [this](const auto& nu, const auto& g) { return detail::decayed(decay, nu, detail::squared(g, nu)); }, state.nu,
        grads);
    return detail::map_parameters(
        [&](const auto& p, const auto& g, const auto& nu) {
          using math = detail::math_of<decltype(p)>;
          const auto wide = math::widen(g);
          return math::as(-math::as(rate, wide) * wide / (math::sqrt(nu) + math::as(eps, nu)), p);
        },
        params, grads, state.nu);
  }
};

}  // namespace espalier::optim
