// Hyper-parameters as leaves of the state: seen, stored and changed while training. `inject_hyperparams`, as optax's.
//
//   constexpr espalier::optim::inject_hyperparams opt{espalier::optim::adam{.learning_rate = 1e-3}};
//   auto state = opt.init(params);
//   state.hyperparams.learning_rate = mx::array(5e-4F);                          // of numbers: = 5e-4
#pragma once

#include <espalier/optim/math.hpp>
#include <espalier/reflect/fields.hpp>
#include <type_traits>

namespace espalier::optim {

// The optimizer as it stands, the learning rate as a number or a scalar array; its state; and the steps taken, where the
// learning rate was given as a schedule.
template <class Hyperparams, class State, class Count = empty_state> struct inject_hyperparams_state {
  Hyperparams hyperparams;
  State inner;
  Count count;
};

namespace detail {

template <class Optimizer, class Rate> struct with_rate;
template <template <class...> class Optimizer, class Old, class... Rest, class Rate>
struct with_rate<Optimizer<Old, Rest...>, Rate> {
  using type = Optimizer<Rate, Rest...>;

  static type of(const Optimizer<Old, Rest...>& optimizer, Rate rate) {
    return reflect::with_fields(optimizer, [&](const auto&, const auto&... others) { return type{rate, others...}; });
  }
};

}  // namespace detail

// An optimizer whose hyper-parameters are read from its state. The learning rate of a tree of arrays is a scalar float32
// array there, an input of compiled steps: changing it does not retrace. The others are numbers: changing one retraces,
// once. A learning rate that is a schedule is asked at every step, and what it says stands in the state.
template <class Optimizer> struct inject_hyperparams {
  static_assert(
      requires(const Optimizer& optimizer) { optimizer.learning_rate; },
      "espalier: inject_hyperparams: give an optimizer with a learning rate, as adam{.learning_rate = 1e-3}");

  Optimizer inner;

  template <class Params> auto init(const Params& params) const {
    const auto now = with_number<Params>();
    using Count = rate_count_t<decltype(inner.learning_rate), Params>;
    return inject_hyperparams_state<std::remove_const_t<decltype(now)>, decltype(now.init(params)), Count>{
        now, now.init(params), detail::zero_rate_count<decltype(inner.learning_rate), Params>()};
  }

  // Throws what the optimizer's check throws.
  template <class Grads, class State, class Params>
  void check(const Grads& grads, const State& state, const Params& params) const {
    state.hyperparams.check(grads, state.inner, params);
  }

  // Throws what the optimizer throws.
  template <class Grads, class State, class Params>
  Params update(const Grads& grads, State& state, const Params& params) const {
    check(grads, state, params);
    if constexpr (!std::is_same_v<decltype(state.count), empty_state>) {
      state.hyperparams.learning_rate = number<Params>(inner.learning_rate(state.count));
      detail::advance(state.count);
    }
    return state.hyperparams.update(grads, state.inner, params);
  }

 private:
  template <class Params, class Rate> static auto number(const Rate& rate) {
    using shared = detail::shared_math<Params>;
    return shared::as(rate, shared::zero_sum());
  }

  template <class Params> auto with_number() const {
    const auto rate = number<Params>(detail::rate_at(inner.learning_rate, detail::shared_math<Params>::zero_count()));
    return detail::with_rate<Optimizer, std::remove_const_t<decltype(rate)>>::of(inner, rate);
  }
};

}  // namespace espalier::optim
