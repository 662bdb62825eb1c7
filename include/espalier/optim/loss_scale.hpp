// Loss scaling: gradients of half precision kept from underflow by a factor on the loss, which the optimizer takes out.
//
//   constexpr espalier::optim::dynamic_loss_scale opt{espalier::optim::adam{.learning_rate = 1e-3}};
//   auto state = opt.init(params);
//   … the gradients of opt.scaled(loss, state) …
//   espalier::optim::apply_updates(params, opt.update(grads, state, params));
#pragma once

#include <cstdint>
#include <espalier/optim/apply_if_finite.hpp>
#include <espalier/optim/math.hpp>

namespace espalier::optim {

namespace detail {

// The gradients divided by the scale, in the precision of moments.
template <class Grads, class Params, class Scale>
Params unscaled(const Grads& grads, const Params& params, const Scale& scale) {
  return map_parameters(
      [&scale](const auto& p, const auto& g) {
        using math = math_of<decltype(p)>;
        const auto wide = math::widen(in_place_of(p, g));
        return wide / math::as(scale, wide);
      },
      params, grads);
}

}  // namespace detail

// `inner`, with gradients of a loss that was multiplied by a fixed `scale`. Micikevicius et al., "Mixed precision
// training", ICLR 2018, section 3.2. The state is inner's.
template <class Transformation> struct static_loss_scale {
  Transformation inner;
  double scale;

  template <class Params> auto init(const Params& params) const { return inner.init(params); }

  // The loss to differentiate.
  template <class Loss, class State> Loss scaled(const Loss& loss, const State&) const {
    using math = detail::math_of<Loss>;
    return loss * math::as(scale, loss);
  }

  // Throws structure_error if the gradients' structure is not the parameters' (aux data may differ), and what inner's
  // check throws.
  template <class Grads, class State, class Params>
  void check(const Grads& grads, const State& state, const Params& params) const {
    detail::check_update<"static_loss_scale">(params, grads);
    detail::check_if_any(inner, grads, state, params);
  }

  // Throws what check and inner throw.
  template <class Grads, class State, class Params>
  Params update(const Grads& grads, State& state, const Params& params) const {
    check(grads, state, params);
    return inner.update(detail::unscaled(grads, params, scale), state, params);
  }
};

// The scale at present, a number or a scalar float32 array; finite steps since it last changed; and inner's state.
template <class State, class Scale, class Count> struct dynamic_loss_scale_state {
  Scale scale;
  Count counter;
  State inner;
};

// The same with a scale that finds itself: a step whose gradients are not all finite is left out (as apply_if_finite) and
// divides it by `factor`, down to min_scale; `period` finite steps in a row multiply it by `factor`, while it stays finite
// (as jmp.DynamicLossScale, whose defaults these are). Costs what apply_if_finite does.
template <class Transformation> struct dynamic_loss_scale {
  Transformation inner;
  double initial_scale = 32768;
  std::int64_t period = 2000;
  double factor = 2;
  double min_scale = 1;

  template <class Params> auto init(const Params& params) const {
    using shared = detail::shared_math<Params>;
    return dynamic_loss_scale_state<decltype(inner.init(params)), typename shared::sum_type, step_count_t<Params>>{
        shared::as(initial_scale, shared::zero_sum()), shared::zero_count(), inner.init(params)};
  }

  // The loss to differentiate.
  template <class Loss, class State> Loss scaled(const Loss& loss, const State& state) const {
    using math = detail::math_of<Loss>;
    return loss * math::as(state.scale, loss);
  }

  // As static_loss_scale's.
  template <class Grads, class State, class Params>
  void check(const Grads& grads, const State& state, const Params& params) const {
    detail::check_update<"dynamic_loss_scale">(params, grads);
    detail::check_if_any(inner, grads, state.inner, params);
  }

  // As static_loss_scale's.
  template <class Grads, class State, class Params>
  Params update(const Grads& grads, State& state, const Params& params) const {
    check(grads, state, params);
    using shared = detail::shared_math<Params>;
    const Params wide = detail::unscaled(grads, params, state.scale);
    const auto finite = all_finite(wide);
    Params updates = detail::update_if(finite, inner, wide, state.inner, params);

    const auto number = [&](double x) { return shared::as(x, state.scale); };
    const auto larger = state.scale * number(factor);
    const auto below = state.counter < shared::count(period - 1);  // the period, with this step
    const auto grown = detail::chosen(shared::all_finite(larger), larger, state.scale);
    const auto after_finite = detail::chosen(below, state.scale, grown);
    state.scale =
        detail::chosen(finite, after_finite, shared::maximum(state.scale / number(factor), number(min_scale)));
    state.counter = detail::chosen(finite && below, state.counter + 1, shared::zero_count());
    return updates;
  }
};

}  // namespace espalier::optim
