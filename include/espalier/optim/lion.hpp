// Lion: steps of one length, in the direction of the signs of a momentum.
//
//   constexpr espalier::optim::lion opt{.learning_rate = 1e-4, .weight_decay = 1e-2};
#pragma once

#include <espalier/optim/labels.hpp>
#include <espalier/optim/math.hpp>

namespace espalier::optim {

// The running mean of the gradients, and the steps taken where the learning rate is a schedule.
template <class Params, class Count = empty_state> struct lion_state {
  Params mu;
  Count count;
};

// Chen et al., "Symbolic discovery of optimization algorithms", arXiv:2302.06675, 2023, algorithm 2, as
// mlx.optimizers.Lion and optax.lion:
//   update = -learning_rate (sign(b1 mu + (1 - b1) g) + weight_decay p),   mu = b2 mu + (1 - b2) g,
// with weight decay for the parameters that `mask` takes (masked.hpp). The default weight_decay is MLX's (optax.lion:
// 1e-3). The sign of a complex number is the number divided by its magnitude. Half precision and the learning rate: as
// adam.
template <class Rate, class Mask = every_parameter> struct lion {
  Rate learning_rate;
  double b1 = 0.9;
  double b2 = 0.99;
  double weight_decay = 0;
  Mask mask = {};

  // Zero moments: of half-precision parameters in float32. Leaves that are not parameters, and aux data, are copied,
  // and stay as they are.
  template <class Params> lion_state<Params, rate_count_t<Rate, Params>> init(const Params& params) const {
    return {detail::zero_moments(params), detail::zero_rate_count<Rate, Params>()};
  }

  // Throws structure_error if the structure of the gradients or of the moments is not the parameters' (aux data may
  // differ).
  template <class Grads, class Params>
  void check(const Grads& grads, const lion_state<Params, rate_count_t<Rate, Params>>& state,
             const Params& params) const {
    detail::check_update<"lion">(params, grads, state.mu);
  }

  // The updates, in the dtypes of the parameters; `state` is updated in place. Leaves that are not parameters, and aux
  // data, are those of `params`. Throws what check throws, before any change.
  template <class Grads, class Params>
  Params update(const Grads& grads, lion_state<Params, rate_count_t<Rate, Params>>& state, const Params& params) const {
    check(grads, state, params);
    detail::mask_reader decays(mask, params);
    const auto rate = detail::rate_at(learning_rate, state.count);
    detail::advance(state.count);
    Params updates = detail::map_parameters(
        [&](const auto& p, const auto& g, const auto& mu) {
          using math = detail::math_of<decltype(p)>;
          auto direction = math::sign(detail::decayed(b1, mu, g));
          if (decays.next() && weight_decay != 0) direction = direction + math::as(weight_decay, mu) * math::widen(p);
          return math::as(-math::as(rate, mu) * direction, p);
        },
        params, grads, state.mu);
    detail::update_parameters([this](const auto& mu, const auto& g) { return detail::decayed(b2, mu, g); }, state.mu,
                              grads);
    return updates;
  }
};

}  // namespace espalier::optim
