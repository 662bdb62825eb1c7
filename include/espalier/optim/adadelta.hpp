// AdaDelta: gradients in units of the steps before them, so that no learning rate need be found.
//
//   constexpr espalier::optim::adadelta opt{.learning_rate = 1.0};
#pragma once

#include <espalier/optim/math.hpp>

namespace espalier::optim {

// The running means of the squared magnitudes of the gradients and of the steps, and the steps taken where the learning
// rate is a schedule.
template <class Params, class Count = empty_state> struct adadelta_state {
  Params e_g;
  Params e_x;
  Count count;
};

// Zeiler, "ADADELTA: an adaptive learning rate method", arXiv:1212.5701, 2012, algorithm 1, as mlx.optimizers.AdaDelta
// and optax.adadelta:
//   e_g = rho e_g + (1 - rho) |g|²,   x = g sqrt(e_x + eps) / sqrt(e_g + eps),
//   e_x = rho e_x + (1 - rho) |x|²,   update = -learning_rate x.
// Half precision and the learning rate: as adam.
template <class Rate> struct adadelta {
  Rate learning_rate;
  double rho = 0.9;
  double eps = 1e-6;

  // Zero moments: of half-precision parameters in float32. Leaves that are not parameters, and aux data, are copied,
  // and stay as they are.
  template <class Params> adadelta_state<Params, rate_count_t<Rate, Params>> init(const Params& params) const {
    return {detail::zero_magnitudes(params), detail::zero_magnitudes(params), detail::zero_rate_count<Rate, Params>()};
  }

  // Throws structure_error if the structure of the gradients or of the moments is not the parameters' (aux data may
  // differ).
  template <class Grads, class Params>
  void check(const Grads& grads, const adadelta_state<Params, rate_count_t<Rate, Params>>& state,
             const Params& params) const {
    detail::check_update<"adadelta">(params, grads, state.e_g, state.e_x);
  }

  // The updates, in the dtypes of the parameters; `state` is updated in place. Leaves that are not parameters, and aux
  // data, are those of `params`. Throws what check throws, before any change.
  template <class Grads, class Params>
  Params update(const Grads& grads, adadelta_state<Params, rate_count_t<Rate, Params>>& state,
                const Params& params) const {
    check(grads, state, params);
    const auto rate = detail::rate_at(learning_rate, state.count);
    detail::advance(state.count);
    detail::update_parameters(
        [this](const auto& e_g, const auto& g) { return detail::decayed(rho, e_g, detail::squared(g, e_g)); },
        state.e_g, grads);
    const Params steps = detail::map_parameters(
        [this](const auto& p, const auto& g, const auto& e_g, const auto& e_x) {
          using math = detail::math_of<decltype(p)>;
          const auto wide = math::widen(detail::in_place_of(p, g));
          const auto added = math::as(eps, e_g);
          return math::as(math::sqrt(e_x + added) / math::sqrt(e_g + added), wide) * wide;
        },
        params, grads, state.e_g, state.e_x);
    detail::update_parameters(
        [this](const auto& e_x, const auto& x) { return detail::decayed(rho, e_x, detail::squared(x, e_x)); },
        state.e_x, steps);
    return detail::map_parameters(
        [&](const auto& p, const auto& x) {
          using math = detail::math_of<decltype(p)>;
          return math::as(-math::as(rate, x) * x, p);
        },
        params, steps);
  }
};

}  // namespace espalier::optim
