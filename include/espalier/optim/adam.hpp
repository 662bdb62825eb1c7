// Adam and AdamW.
//
//   constexpr espalier::optim::adam opt{.learning_rate = 1e-3};
//   auto state = opt.init(params);                                               // a plain struct, a pytree
//   espalier::optim::apply_updates(params, opt.update(grads, state, params));    // state changes in place
#pragma once

#include <espalier/optim/labels.hpp>
#include <espalier/optim/math.hpp>

namespace espalier::optim {

// Steps taken, and the running means of the gradients and of their squared magnitudes. In key paths:
// `.count`, `.mu.layers[0].weight`, `.nu.layers[0].weight`.
template <class Params> struct adam_state {
  step_count_t<Params> count;
  Params mu;
  Params nu;
};

namespace detail {

template <class Params> adam_state<Params> adam_init(const Params& params) {
  return {shared_math<Params>::zero_count(), zero_moments(params), zero_magnitudes(params)};
}

// Of trees that have been checked. `with_decay(direction, p)` is a step's direction with its weight decay.
template <class Adam, class Grads, class Params, class Direction>
Params adam_update(const Adam& opt, const Grads& grads, adam_state<Params>& state, const Params& params,
                   const Direction& with_decay) {
  update_parameters([&](const auto& mu, const auto& g) { return decayed(opt.b1, mu, g); }, state.mu, grads);
  update_parameters([&](const auto& nu, const auto& g) { return decayed(opt.b2, nu, squared(g, nu)); }, state.nu,
                    grads);
  const auto rate_now = rate_at(opt.learning_rate, state.count);
  state.count = state.count + 1;
  const auto step = [&](const auto& mu_hat, const auto& nu_hat, const auto& p) {
    using math = math_of<decltype(p)>;
    const auto direction = mu_hat / (math::sqrt(nu_hat) + math::as(opt.eps, nu_hat));
    return math::as(-math::as(rate_now, direction) * with_decay(direction, p), p);
  };
  if (!opt.bias_correction) {
    return map_parameters([&](const auto& p, const auto& mu, const auto& nu) { return step(mu, nu, p); }, params,
                          state.mu, state.nu);
  }
  const auto correction1 = shared_math<Params>::bias_correction(opt.b1, state.count);
  const auto correction2 = shared_math<Params>::bias_correction(opt.b2, state.count);
  return map_parameters(
      [&](const auto& p, const auto& mu, const auto& nu) {
        using math = math_of<decltype(p)>;
        return step(mu / math::as(correction1, mu), nu / math::as(correction2, nu), p);
      },
      params, state.mu, state.nu);
}

}  // namespace detail

// Kingma & Ba, "Adam: A method for stochastic optimization", ICLR 2015, algorithm 1, as optax.adam:
//   mu = b1 mu + (1 - b1) g,   nu = b2 nu + (1 - b2) |g|²,   t = t + 1,
//   update = -learning_rate (mu / (1 - b1^t)) / (sqrt(nu / (1 - b2^t)) + eps).
// Without bias_correction the two divisors are left out, as mlx.optimizers.Adam does unless told otherwise.
// Moments of half-precision parameters are float32, and so is the arithmetic: in half precision eps is zero,
// and so is the square of a small gradient, which made 0 / 0. The learning rate is a number; a schedule
// (schedules.hpp), which is asked with the steps taken before; or a scalar array of the engine. With the latter two
// a compiled step takes it as an input and does not retrace. Leaving it out does not compile.
template <class Rate> struct adam {
  Rate learning_rate;
  double b1 = 0.9;
  double b2 = 0.999;
  double eps = 1e-8;
  bool bias_correction = true;

  // No steps, zero moments. Leaves that are not parameters, and aux data, are copied into both, and stay as they are.
  template <class Params> adam_state<Params> init(const Params& params) const { return detail::adam_init(params); }

  // Throws structure_error if the structure of the gradients or of the moments is not the parameters' (aux data may
  // differ).
  template <class Grads, class Params>
  void check(const Grads& grads, const adam_state<Params>& state, const Params& params) const {
    detail::check_update<"adam">(params, grads, state.mu, state.nu);
  }

  // The updates, in the dtypes of the parameters; `state` is updated in place. Leaves that are not parameters, and aux
  // data, are those of `params`. Throws what check throws, before any change.
  template <class Grads, class Params>
  Params update(const Grads& grads, adam_state<Params>& state, const Params& params) const {
    check(grads, state, params);
    return detail::adam_update(*this, grads, state, params,
                               [](const auto& direction, const auto&) { return direction; });
  }
};

// Adam with decoupled weight decay: Loshchilov & Hutter, "Decoupled weight decay regularization", ICLR 2019,
// as optax.adamw: adam's update - learning_rate weight_decay p, the latter for the parameters that `mask` takes (a mask
// as masked has: masked.hpp). The default weight_decay is optax's (mlx.optimizers.AdamW: 0.01).
template <class Rate, class Mask = every_parameter> struct adamw {
  Rate learning_rate;
  double b1 = 0.9;
  double b2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 1e-4;
  bool bias_correction = true;
  Mask mask = {};

  // As adam's.
  template <class Params> adam_state<Params> init(const Params& params) const { return detail::adam_init(params); }

  // As adam's.
  template <class Grads, class Params>
  void check(const Grads& grads, const adam_state<Params>& state, const Params& params) const {
    detail::check_update<"adamw">(params, grads, state.mu, state.nu);
  }

  // As adam's.
  template <class Grads, class Params>
  Params update(const Grads& grads, adam_state<Params>& state, const Params& params) const {
    check(grads, state, params);
    detail::mask_reader decays(mask, params);
    return detail::adam_update(*this, grads, state, params, [&](const auto& direction, const auto& p) {
      using math = detail::math_of<decltype(p)>;
      if (!decays.next() || weight_decay == 0) return direction;
      return direction + math::as(weight_decay, direction) * math::widen(p);
    });
  }
};

}  // namespace espalier::optim
