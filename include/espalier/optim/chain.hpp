// Several gradient transformations, one after the other: `chain`, as optax.chain.
//
//   constexpr auto opt = espalier::optim::chain(espalier::optim::clip_by_global_norm{.max_norm = 1.0},
//                                               espalier::optim::sgd{.learning_rate = 0.1});
#pragma once

#include <cstddef>
#include <espalier/optim/math.hpp>
#include <tuple>
#include <utility>

namespace espalier::optim {

// What chain gives: itself a transformation, whose state is the tuple of the states.
template <class... Transformation> struct chained {
  std::tuple<Transformation...> transformations;

  template <class Params> auto init(const Params& params) const {
    return std::apply([&](const auto&... each) { return std::make_tuple(each.init(params)...); }, transformations);
  }

  // Throws what the transformations' checks throw; one that has none is not asked.
  template <class Grads, class State, class Params>
  void check(const Grads& grads, const State& state, const Params& params) const {
    check_from<0>(grads, state, params);
  }

  // Each transformation takes for gradients what the one before it gave. Throws what they throw; what their checks
  // throw, before any of them changes its state.
  template <class Grads, class State, class Params>
  Params update(const Grads& grads, State& state, const Params& params) const {
    check(grads, state, params);
    return update_from<0>(grads, state, params);
  }

 private:
  // What the later ones take has the structure of the parameters, which stand in for it.
  template <std::size_t I, class Grads, class State, class Params>
  void check_from(const Grads& grads, const State& state, const Params& params) const {
    detail::check_if_any(std::get<I>(transformations), grads, std::get<I>(state), params);
    if constexpr (I + 1 < sizeof...(Transformation)) check_from<I + 1>(params, state, params);
  }

  template <std::size_t I, class Grads, class State, class Params>
  Params update_from(const Grads& grads, State& state, const Params& params) const {
    Params updates = std::get<I>(transformations).update(grads, std::get<I>(state), params);
    if constexpr (I + 1 == sizeof...(Transformation)) {
      return updates;
    } else {
      return update_from<I + 1>(updates, state, params);
    }
  }
};

// The transformations in the order in which the gradients meet them.
template <class... Transformation> constexpr chained<Transformation...> chain(Transformation... transformation) {
  static_assert(sizeof...(Transformation) > 0, "espalier: chain: give at least one transformation");
  return {std::tuple<Transformation...>(std::move(transformation)...)};
}

}  // namespace espalier::optim
