// Gradient descent, with momentum where asked for.
//
//   constexpr espalier::optim::sgd opt{.learning_rate = 0.1, .momentum = 0.9};
//   auto state = opt.init(params);
//   espalier::optim::apply_updates(params, opt.update(grads, state, params));
#pragma once

#include <espalier/optim/math.hpp>
#include <optional>

namespace espalier::optim {

// The accumulated gradients; empty without momentum, so that it costs no memory.
template <class Params> struct sgd_state {
  std::optional<Params> velocity;
};

// v = momentum v + g; the update is -learning_rate v, with nesterov -learning_rate (g + momentum v), without
// momentum -learning_rate g. Momentum and Nesterov's as in Sutskever, Martens, Dahl & Hinton, "On the
// importance of initialization and momentum in deep learning", ICML 2013, with the learning rate outside of v
// (as optax.sgd and mlx.optimizers.SGD). The learning rate is a number, or a scalar array of the engine where
// it changes from step to step; leaving it out does not compile.
template <class Rate> struct sgd {
  Rate learning_rate;
  double momentum = 0;
  bool nesterov = false;

  // Zero velocity: of half-precision parameters in float32. Leaves that are not parameters, and aux data, are
  // copied, and stay as they are.
  template <class Params> sgd_state<Params> init(const Params& params) const {
    if (momentum == 0) return {};
    return {tree_map_parameters(
        [](const auto& p) {
          using math = detail::math_of<decltype(p)>;
          return math::zeros_like(math::widen(p));
        },
        params)};
  }

  // Throws structure_error if the structure of the gradients or of the velocity is not the parameters' (aux data may
  // differ).
  template <class Grads, class Params>
  void check(const Grads& grads, const sgd_state<Params>& state, const Params& params) const {
    detail::require_structure(params, grads, "sgd.update: the gradients do not have the structure of the parameters");
    if (state.velocity) {
      detail::require_structure(params, *state.velocity,
                                "sgd.update: the state's velocity does not have the structure of the parameters, which "
                                "has changed since init (call init again)");
    }
  }

  // The updates, in the dtypes of the parameters; `state` is updated in place. Leaves that are not parameters, and aux
  // data, are those of `params`. Throws what check throws, before any change.
  template <class Grads, class Params>
  Params update(const Grads& grads, sgd_state<Params>& state, const Params& params) const {
    check(grads, state, params);
    if (!state.velocity) {
      return detail::map_parameters(
          [this](const auto& p, const auto& g) {
            using math = detail::math_of<decltype(p)>;
            const auto wide = math::widen(g);
            return math::as(-math::as(learning_rate, wide) * wide, p);
          },
          params, grads);
    }
    detail::update_parameters(
        [this](const auto& v, const auto& g) {
          using math = detail::math_of<decltype(v)>;
          return math::as(momentum, v) * v + math::as(g, v);
        },
        *state.velocity, grads);
    return detail::map_parameters(
        [this](const auto& p, const auto& g, const auto& v) {
          using math = detail::math_of<decltype(p)>;
          const auto rate = math::as(learning_rate, v);
          if (!nesterov) return math::as(-rate * v, p);
          return math::as(-rate * (math::as(g, v) + math::as(momentum, v) * v), p);
        },
        params, grads, *state.velocity);
  }
};

}  // namespace espalier::optim
