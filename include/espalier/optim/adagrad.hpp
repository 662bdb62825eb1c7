// Adagrad: gradients divided by the root of the sum of all their squares so far.
//
//   constexpr espalier::optim::adagrad opt{.learning_rate = 1e-2};
#pragma once

#include <espalier/optim/math.hpp>

namespace espalier::optim {

// The sum of the squared magnitudes of the gradients, and the steps taken where the learning rate is a
// schedule.
template <class Params, class Count = empty_state> struct adagrad_state {
  Params sum;
  Count count;
};

// Duchi, Hazan & Singer, "Adaptive subgradient methods for online learning and stochastic optimization", JMLR 12, 2011,
// as mlx.optimizers.Adagrad:
//   sum = sum + |g|²,   update = -learning_rate g / (sqrt(sum) + eps).
// (optax.adagrad begins with a sum of 0.1, and has eps under the root.) Half precision and the learning rate: as adam.
template <class Rate> struct adagrad {
  Rate learning_rate;
  double eps = 1e-8;

  // Zero sums: of half-precision parameters in float32. Leaves that are not parameters, and aux data, are copied,
  // and stay as they are.
  template <class Params> adagrad_state<Params, rate_count_t<Rate, Params>> init(const Params& params) const {
    return {detail::zero_magnitudes(params), detail::zero_rate_count<Rate, Params>()};
  }

  // Throws structure_error if the structure of the gradients or of the sums is not the parameters' (aux data may
  // differ).
  template <class Grads, class Params>
  void check(const Grads& grads, const adagrad_state<Params, rate_count_t<Rate, Params>>& state,
             const Params& params) const {
    detail::check_update<"adagrad">(params, grads, state.sum);
  }

  // The updates, in the dtypes of the parameters; `state` is updated in place. Leaves that are not parameters, and aux
  // data, are those of `params`. Throws what check throws, before any change.
  template <class Grads, class Params>
  Params update(const Grads& grads, adagrad_state<Params, rate_count_t<Rate, Params>>& state,
                const Params& params) const {
    check(grads, state, params);
    const auto rate = detail::rate_at(learning_rate, state.count);
    detail::advance(state.count);
    detail::update_parameters([](const auto& sum, const auto& g) { return sum + detail::squared(g, sum); }, state.sum,
                              grads);
    return detail::map_parameters(
        [&](const auto& p, const auto& g, const auto& sum) {
          using math = detail::math_of<decltype(p)>;
          const auto wide = math::widen(g);
          return math::as(-math::as(rate, wide) * wide / (math::sqrt(sum) + math::as(eps, sum)), p);
        },
        params, grads, state.sum);
  }
};

}  // namespace espalier::optim
