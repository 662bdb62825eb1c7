// Gradient descent, with momentum where asked for.
//
//   constexpr espalier::optim::sgd opt{.learning_rate = 0.1, .momentum = 0.9};
//   auto state = opt.init(params);
//   espalier::optim::apply_updates(params, opt.update(grads, state, params));
#pragma once

#include <espalier/optim/math.hpp>
#include <optional>

namespace espalier::optim {

// The accumulated gradients; empty without momentum, so that it costs no memory. And the steps taken, where the learning
// rate is a schedule.
template <class Params, class Count = empty_state> struct sgd_state {
  std::optional<Params> velocity;
  Count count;
};

// v = momentum v + (1 - dampening) g; the update is -learning_rate v, with nesterov -learning_rate (g + momentum v), without
// momentum -learning_rate g. Momentum and Nesterov's as in Sutskever, Martens, Dahl & Hinton, "On the
// importance of initialization and momentum in deep learning", ICML 2013, with the learning rate outside of v
// (as optax.sgd and mlx.optimizers.SGD; weight decay is add_decayed_weights before it in a chain). The learning rate is
// a number, a schedule or a scalar array, as adam's; leaving it out does not compile.
template <class Rate> struct sgd {
  Rate learning_rate;
  double momentum = 0;
  bool nesterov = false;
  double dampening = 0;

  // Zero velocity: of half-precision parameters in float32. Leaves that are not parameters, and aux data, are
  // copied, and stay as they are.
  template <class Params> sgd_state<Params, rate_count_t<Rate, Params>> init(const Params& params) const {
    return {momentum == 0 ? std::nullopt : std::optional<Params>(detail::zero_moments(params)),
            detail::zero_rate_count<Rate, Params>()};
  }

  // Throws structure_error if the structure of the gradients or of the velocity is not the parameters' (aux data may
  // differ).
  template <class Grads, class Params>
  void check(const Grads& grads, const sgd_state<Params, rate_count_t<Rate, Params>>& state,
             const Params& params) const {
    detail::require_structure(params, grads, detail::other_gradients<"sgd">.text);
    if (state.velocity) {
      detail::require_structure(params, *state.velocity,
                                "sgd.update: the state's velocity does not have the structure of the parameters, which "
                                "has changed since init (call init again)");
    }
  }

  // The updates, in the dtypes of the parameters; `state` is updated in place. Leaves that are not parameters, and aux
  // data, are those of `params`. Throws what check throws, before any change.
  template <class Grads, class Params>
  Params update(const Grads& grads, sgd_state<Params, rate_count_t<Rate, Params>>& state, const Params& params) const {
    check(grads, state, params);
    const auto rate = detail::rate_at(learning_rate, state.count);
    detail::advance(state.count);
    if (!state.velocity) {
      return detail::map_parameters(
          [&](const auto& p, const auto& g) {
            using math = detail::math_of<decltype(p)>;
            const auto wide = math::widen(g);
            return math::as(-math::as(rate, wide) * wide, p);
          },
          params, grads);
    }
    detail::update_parameters(
        [this](const auto& v, const auto& g) {
          using math = detail::math_of<decltype(v)>;
          const auto fresh = math::as(g, v);
          return math::as(momentum, v) * v + (dampening == 0 ? fresh : math::as(1 - dampening, v) * fresh);
        },
        *state.velocity, grads);
    return detail::map_parameters(
        [&](const auto& p, const auto& g, const auto& v) {
          using math = detail::math_of<decltype(p)>;
          const auto step = nesterov ? math::as(g, v) + math::as(momentum, v) * v : v;
          return math::as(-math::as(rate, v) * step, p);
        },
        params, grads, *state.velocity);
  }
};

}  // namespace espalier::optim
