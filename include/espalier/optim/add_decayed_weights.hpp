// Weight decay as a transformation of gradients: before an optimizer in a chain L2 regularisation, behind it decoupled.
//
//   espalier::optim::chain(espalier::optim::add_decayed_weights{.weight_decay = 1e-4},
//                          espalier::optim::sgd{.learning_rate = 0.1, .momentum = 0.9})
#pragma once

#include <espalier/optim/labels.hpp>
#include <espalier/optim/math.hpp>

namespace espalier::optim {

// g + weight_decay p for the parameters that `mask` takes (masked.hpp), g for the others: optax.add_decayed_weights.
template <class Mask = every_parameter> struct add_decayed_weights {
  double weight_decay;
  Mask mask = {};

  template <class Params> empty_state init(const Params&) const { return {}; }

  // Throws structure_error if the gradients' structure is not the parameters' (aux data may differ).
  template <class Grads, class Params> void check(const Grads& grads, const empty_state&, const Params& params) const {
    detail::check_update<"add_decayed_weights">(params, grads);
  }

  // In the gradients' dtypes. Leaves that are not parameters, and aux data, are those of `params`. Throws what check
  // throws.
  template <class Grads, class Params>
  Params update(const Grads& grads, empty_state& state, const Params& params) const {
    check(grads, state, params);
    detail::mask_reader decays(mask, params);
    return detail::map_parameters(
        [&](const auto& p, const auto& g) {
          using math = detail::math_of<decltype(p)>;
          if (!decays.next()) return detail::in_place_of(p, g);
          const auto wide = math::widen(detail::in_place_of(p, g));
          return math::as(wide + math::as(weight_decay, wide) * math::as(p, wide), detail::in_place_of(p, g));
        },
        params, grads);
  }
};

}  // namespace espalier::optim
