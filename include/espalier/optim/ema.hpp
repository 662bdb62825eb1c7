// An exponential moving average of parameters, to evaluate and to keep: it forgets the noise of the last steps.
//
//   constexpr espalier::optim::ema average{.decay = 0.999};
//   auto state = average.init(params);
//   Model smooth = average.update(params, state);                               // after each step
#pragma once

#include <espalier/optim/math.hpp>

namespace espalier::optim {

// How many trees were averaged, and their running mean.
template <class Params> struct ema_state {
  step_count_t<Params> count;
  Params ema;
};

// ema = decay ema + (1 - decay) x from zero on, and with debias divided by 1 - decay^t: optax.ema, the debiasing Adam's.
// The mean of half-precision arrays is float32.
struct ema {
  double decay;
  bool debias = true;

  template <class Params> ema_state<Params> init(const Params& params) const {
    return {detail::shared_math<Params>::zero_count(), detail::zero_moments(params)};
  }

  // Throws structure_error if the structure of the tree or of the mean is not the parameters' (aux data may differ).
  template <class Tree, class Params>
  void check(const Tree& tree, const ema_state<Params>& state, const Params& params) const {
    detail::check_update<"ema">(params, tree, state.ema);
  }

  // Takes the parameters into the average, and gives it, in their dtypes. Leaves that are not parameters, and aux data,
  // are those of `params`. Throws what check throws, before any change.
  template <class Params> Params update(const Params& params, ema_state<Params>& state) const {
    return update(params, state, params);
  }

  // The same of a tree beside the parameters: in a chain, of the gradients.
  template <class Tree, class Params>
  Params update(const Tree& tree, ema_state<Params>& state, const Params& params) const {
    check(tree, state, params);
    detail::update_parameters([this](const auto& mean, const auto& x) { return detail::decayed(decay, mean, x); },
                              state.ema, tree);
    state.count = state.count + 1;
    const auto correction = detail::shared_math<Params>::bias_correction(debias ? decay : 0, state.count);
    return detail::map_parameters(
        [&](const auto& p, const auto& mean) {
          using math = detail::math_of<decltype(p)>;
          return math::as(mean / math::as(correction, mean), p);
        },
        params, state.ema);
  }
};

}  // namespace espalier::optim
