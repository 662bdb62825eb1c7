// Gradient clipping, and the norm that it goes by.
//
//   constexpr auto opt = espalier::optim::chain(espalier::optim::clip_by_global_norm{.max_norm = 1.0},
//                                               espalier::optim::adam{.learning_rate = 1e-3});
#pragma once

#include <espalier/optim/math.hpp>

namespace espalier::optim {

// The square root of the sum of the squared magnitudes of all parameters of a tree (optax.global_norm): a
// double, or a scalar array of the engine. Half precision is summed in float32.
template <class Tree> auto global_norm(const Tree& tree) {
  using shared = detail::shared_math<Tree>;
  auto sum = shared::zero_sum();
  auto add = [&sum]<class L>(const L& leaf) {
    if constexpr (is_parameter_type<Tree, L>) {
      if (is_parameter<Tree>(leaf)) sum = sum + leaf_math<L>::sum_of_squares(leaf);
    }
  };
  espalier::tree_visit(add, tree);
  return shared::sqrt(sum);
}

namespace detail {

template <class Leaf> Leaf clipped_by_rms(const Leaf& x, double threshold) {
  using math = math_of<Leaf>;
  const auto rms = math::sqrt(math::mean_of_squares(x));
  return x / math::as(math::maximum(math::as(1.0, rms), rms / math::as(threshold, rms)), x);
}

}  // namespace detail

// g where the global norm of the gradients is less than max_norm, else g max_norm / norm: Pascanu, Mikolov &
// Bengio, "On the difficulty of training recurrent neural networks", ICML 2013, as optax.clip_by_global_norm.
// A norm that is not finite makes every gradient zero or NaN, as there.
struct clip_by_global_norm {
  double max_norm;

  template <class Params> empty_state init(const Params&) const { return {}; }

  // Throws structure_error if the gradients' structure is not the parameters' (aux data may differ).
  template <class Grads, class Params> void check(const Grads& grads, const empty_state&, const Params& params) const {
    detail::check_update<"clip_by_global_norm">(params, grads);
  }

  // The clipped gradients, in their own dtypes. Leaves that are not parameters, and aux data, are those of `params`.
  // Throws what check throws.
  template <class Grads, class Params>
  Params update(const Grads& grads, empty_state& state, const Params& params) const {
    check(grads, state, params);
    using shared = detail::shared_math<Grads>;
    const auto norm = global_norm(grads);
    const auto bound = shared::as(max_norm, norm);
    const auto factor = shared::select(norm < bound, shared::as(1.0, norm), bound / norm);
    return detail::map_parameters(
        [&factor](const auto&, const auto& g) {
          using math = detail::math_of<decltype(g)>;
          const auto wide = math::widen(g);
          return math::as(wide * math::as(factor, wide), g);
        },
        params, grads);
  }
};

// Every element of the gradients between -max_delta and max_delta (optax.clip), real ones; of a complex one, its
// magnitude is clipped.
struct clip {
  double max_delta;

  template <class Params> empty_state init(const Params&) const { return {}; }

  // As clip_by_global_norm's.
  template <class Grads, class Params> void check(const Grads& grads, const empty_state&, const Params& params) const {
    detail::check_update<"clip">(params, grads);
  }

  // As clip_by_global_norm's.
  template <class Grads, class Params>
  Params update(const Grads& grads, empty_state& state, const Params& params) const {
    check(grads, state, params);
    return detail::map_parameters(
        [this](const auto&, const auto& g) {
          using math = detail::math_of<decltype(g)>;
          const auto size = math::magnitude(g);
          return math::select(math::as(max_delta, size) < size, math::as(max_delta, g) * math::sign(g), g);
        },
        params, grads);
  }
};

// g / max(1, rms(g) / threshold) for every parameter by itself, rms the root of the mean of the squared magnitudes
// (optax.clip_by_block_rms): the clipping of Adafactor.
struct clip_by_block_rms {
  double threshold;

  template <class Params> empty_state init(const Params&) const { return {}; }

  // As clip_by_global_norm's.
  template <class Grads, class Params> void check(const Grads& grads, const empty_state&, const Params& params) const {
    detail::check_update<"clip_by_block_rms">(params, grads);
  }

  // As clip_by_global_norm's.
  template <class Grads, class Params>
  Params update(const Grads& grads, empty_state& state, const Params& params) const {
    check(grads, state, params);
    return detail::map_parameters(
        [this](const auto&, const auto& g) {
          using math = detail::math_of<decltype(g)>;
          return math::as(detail::clipped_by_rms(math::widen(g), threshold), g);
        },
        params, grads);
  }
};

}  // namespace espalier::optim
