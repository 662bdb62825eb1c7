// The last step of an optimizer: adding updates to parameters, in place.
//
//   espalier::optim::apply_updates(params, opt.update(grads, state, params));
#pragma once

#include <espalier/optim/math.hpp>

namespace espalier::optim {

// parameter += update, for every parameter of `params`; every other leaf stays. The sum is taken in float32
// for half precision and rounded to the parameter's dtype (optax.apply_updates, which gives back a new tree).
// Throws structure_error, before any change, if the structures differ (aux data may). Allocates nothing on trees of
// numbers.
template <class Params, class Updates> void apply_updates(Params& params, const Updates& updates) {
  detail::require_structure(params, updates, "apply_updates: the updates do not have the structure of the parameters");
  detail::update_parameters(
      [](const auto& p, const auto& u) {
        using math = detail::math_of<decltype(p)>;
        return math::as(math::widen(p) + math::widen(u), p);
      },
      params, updates);
}

}  // namespace espalier::optim
