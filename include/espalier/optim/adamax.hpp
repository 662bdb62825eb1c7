// Adamax: Adam by the infinity norm.
//
//   constexpr espalier::optim::adamax opt{.learning_rate = 2e-3};
#pragma once

#include <espalier/optim/adam.hpp>
#include <espalier/optim/math.hpp>

namespace espalier::optim {

// Kingma & Ba, "Adam: A method for stochastic optimization", ICLR 2015, algorithm 2:
//   mu = b1 mu + (1 - b1) g,   nu = max(b2 nu, |g|),   t = t + 1,
//   update = -learning_rate / (1 - b1^t) mu / (nu + eps).
// mlx.optimizers.Adamax leaves out the division by 1 - b1^t, which makes the first step a tenth as long as the learning
// rate: bias_correction = false does as it does. (optax.adamax has eps in the maximum.) State, half precision and the
// learning rate: as adam.
template <class Rate> struct adamax {
  Rate learning_rate;
  double b1 = 0.9;
  double b2 = 0.999;
  double eps = 1e-8;
  bool bias_correction = true;

  // As adam's.
  template <class Params> adam_state<Params> init(const Params& params) const { return detail::adam_init(params); }

  // As adam's.
  template <class Grads, class Params>
  void check(const Grads& grads, const adam_state<Params>& state, const Params& params) const {
    detail::check_update<"adamax">(params, grads, state.mu, state.nu);
  }

  // As adam's.
  template <class Grads, class Params>
  Params update(const Grads& grads, adam_state<Params>& state, const Params& params) const {
    check(grads, state, params);
    detail::update_parameters([this](const auto& mu, const auto& g) { return detail::decayed(b1, mu, g); }, state.mu,
                              grads);
    detail::update_parameters(
        [this](const auto& nu, const auto& g) {
          using math = detail::math_of<decltype(nu)>;
          const auto size = detail::math_of<decltype(g)>::magnitude(g);
          return math::maximum(math::as(b2, nu) * nu, math::as(size, nu));
        },
        state.nu, grads);
    const auto rate = detail::rate_at(learning_rate, state.count);
    state.count = state.count + 1;
    const auto correction = detail::shared_math<Params>::bias_correction(bias_correction ? b1 : 0, state.count);
    return detail::map_parameters(
        [&](const auto& p, const auto& mu, const auto& nu) {
          using math = detail::math_of<decltype(p)>;
          const auto step = math::as(rate, mu) / math::as(correction, mu);
          return math::as(-step * (mu / (nu + math::as(eps, nu))), p);
        },
        params, state.mu, state.nu);
  }
};

}  // namespace espalier::optim
