// Adam and AdamW.
//
//   constexpr espalier::optim::adam opt{.learning_rate = 1e-3};
//   auto state = opt.init(params);                                               // a plain struct, a pytree
//   espalier::optim::apply_updates(params, opt.update(grads, state, params));    // state changes in place
#pragma once

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
  return {shared_math<Params>::zero_count(),
          tree_map_parameters(
              [](const auto& p) {
                using math = math_of<decltype(p)>;
                return math::zeros_like(math::widen(p));
              },
              params),
          tree_map_parameters(
              [](const auto& p) {
                using math = math_of<decltype(p)>;
                return math::zeros_like(math::squared_magnitude(math::widen(p)));
              },
              params)};
}

// `gradients` and `moments`: what to say of them.
template <class Grads, class Params>
void adam_check(const char* gradients, const char* moments, const Grads& grads, const adam_state<Params>& state,
                const Params& params) {
  require_structure(params, grads, gradients);
  require_structure(params, state.mu, moments);
  require_structure(params, state.nu, moments);
}

// Of trees that have been checked.
template <class Adam, class Grads, class Params>
Params adam_update(const Adam& opt, double weight_decay, const Grads& grads, adam_state<Params>& state,
                   const Params& params) {
  update_parameters(
      [&](const auto& mu, const auto& g) {
        using math = math_of<decltype(mu)>;
        return math::as(opt.b1, mu) * mu + math::as(1 - opt.b1, mu) * math::as(g, mu);
      },
      state.mu, grads);
  update_parameters(
      [&](const auto& nu, const auto& g) {
        using math = math_of<decltype(nu)>;
        return math::as(opt.b2, nu) * nu +
               math::as(1 - opt.b2, nu) * math::as(math::squared_magnitude(math::widen(g)), nu);
      },
      state.nu, grads);
  state.count = state.count + 1;
  const auto correction1 = shared_math<Params>::bias_correction(opt.b1, state.count);
  const auto correction2 = shared_math<Params>::bias_correction(opt.b2, state.count);
  return map_parameters(
      [&](const auto& p, const auto& mu, const auto& nu) {
        using math = math_of<decltype(p)>;
        const auto scale = math::sqrt(nu / math::as(correction2, nu)) + math::as(opt.eps, nu);
        const auto rate = math::as(opt.learning_rate, mu);
        const auto direction = mu / math::as(correction1, mu) / scale;
        if (weight_decay == 0) return math::as(-rate * direction, p);
        return math::as(-rate * (direction + math::as(weight_decay, mu) * math::widen(p)), p);
      },
      params, state.mu, state.nu);
}

}  // namespace detail

// Kingma & Ba, "Adam: A method for stochastic optimization", ICLR 2015, algorithm 1, as optax.adam:
//   mu = b1 mu + (1 - b1) g,   nu = b2 nu + (1 - b2) |g|²,   t = t + 1,
//   update = -learning_rate (mu / (1 - b1^t)) / (sqrt(nu / (1 - b2^t)) + eps).
// (mlx.optimizers.Adam leaves out the two corrections unless told `bias_correction=True`.)
// Moments of half-precision parameters are float32, and so is the arithmetic: in half precision eps is zero,
// and so is the square of a small gradient, which made 0 / 0. The learning rate is a number, or a scalar
// array of the engine where it changes from step to step: a compiled step then takes it as an input and does
// not retrace. Leaving it out does not compile.
template <class Rate> struct adam {
  Rate learning_rate;
  double b1 = 0.9;
  double b2 = 0.999;
  double eps = 1e-8;

  // No steps, zero moments. Leaves that are not parameters, and aux data, are copied into both, and stay as they are.
  template <class Params> adam_state<Params> init(const Params& params) const { return detail::adam_init(params); }

  // Throws structure_error if the structure of the gradients or of the moments is not the parameters' (aux data may
  // differ).
  template <class Grads, class Params>
  void check(const Grads& grads, const adam_state<Params>& state, const Params& params) const {
    detail::adam_check(
        "adam.update: the gradients do not have the structure of the parameters",
        "adam.update: the state's moments do not have the structure of the parameters, which has changed "
        "since init (call init again)",
        grads, state, params);
  }

  // The updates, in the dtypes of the parameters; `state` is updated in place. Leaves that are not parameters, and aux
  // data, are those of `params`. Throws what check throws, before any change.
  template <class Grads, class Params>
  Params update(const Grads& grads, adam_state<Params>& state, const Params& params) const {
    check(grads, state, params);
    return detail::adam_update(*this, 0, grads, state, params);
  }
};

// Adam with decoupled weight decay: Loshchilov & Hutter, "Decoupled weight decay regularization", ICLR 2019,
// as optax.adamw: adam's update - learning_rate weight_decay p. The default weight_decay is optax's
// (mlx.optimizers.AdamW: 0.01).
template <class Rate> struct adamw {
  Rate learning_rate;
  double b1 = 0.9;
  double b2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 1e-4;

  // As adam's.
  template <class Params> adam_state<Params> init(const Params& params) const { return detail::adam_init(params); }

  // As adam's.
  template <class Grads, class Params>
  void check(const Grads& grads, const adam_state<Params>& state, const Params& params) const {
    detail::adam_check(
        "adamw.update: the gradients do not have the structure of the parameters",
        "adamw.update: the state's moments do not have the structure of the parameters, which has changed "
        "since init (call init again)",
        grads, state, params);
  }

  // As adam's.
  template <class Grads, class Params>
  Params update(const Grads& grads, adam_state<Params>& state, const Params& params) const {
    check(grads, state, params);
    return detail::adam_update(*this, weight_decay, grads, state, params);
  }
};

}  // namespace espalier::optim
