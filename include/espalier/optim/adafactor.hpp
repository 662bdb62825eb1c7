// Adafactor: an Adam whose second moments of a matrix are a row and a column.
//
//   constexpr espalier::optim::adafactor opt{};                          // finds its own learning rate
//   constexpr espalier::optim::adafactor fixed{.learning_rate = 1e-3};
#pragma once

#include <espalier/optim/clip.hpp>
#include <espalier/optim/math.hpp>
#include <espalier/optim/schedules.hpp>
#include <optional>

namespace espalier::optim {

// Steps taken; the running means of the squared gradients, of arrays of two axes or more over their rows (v_row, without
// the last axis) and columns (v_col, without the last but one), of others whole (v), with a scalar zero where it is the
// other way; and with b1 the running mean of the updates.
template <class Params> struct adafactor_state {
  step_count_t<Params> count;
  Params v_row;
  Params v_col;
  Params v;
  std::optional<Params> mu;
};

// Adafactor's own learning rate, a schedule: min(1e-2, 1 / sqrt(t)) in step t = 1, 2, …; with warmup_init the first
// bound is 1e-6 t.
struct relative_step {
  bool warmup_init = false;

  template <step_count Count> auto operator()(const Count& count) const {
    using math = detail::schedule_math<Count>;
    const auto number = [&](double x) { return math::as(x, detail::real(count)); };
    const auto t = detail::real(count) + number(1);
    const auto bound = warmup_init ? number(1e-6) * t : number(1e-2);
    return math::minimum(bound, number(1) / math::sqrt(t));
  }
};

// Shazeer & Stern, "Adafactor: Adaptive learning rates with sublinear memory cost", ICML 2018, algorithms 4 and 5, as
// mlx.optimizers.Adafactor:
//   b2 = 1 - t^decay_rate,   v = b2 v + (1 - b2) (g² + eps)      (its means over rows and columns, where it is factored)
//   u = g / sqrt(v),   u = u / max(1, rms(u) / clip_threshold),   rate = learning_rate max(min_scale, rms(p)),
//   u = rate u,   mu = b1 mu + (1 - b1) u (without b1: mu = u),   update = -mu - weight_decay rate p,
// where v of a factored array is v_row / mean(v_row) times v_col, over its last two axes. Without scale_parameter the
// rate is the learning rate. (MLX's eps is the pair of eps and min_scale; its learning_rate = None is relative_step, and
// so is its relative_step = True, whatever the learning rate.) Numbers and arrays of fewer than two axes are not
// factored. Half precision and the learning rate: as adam; in half precision eps is zero, and 0 / sqrt(0) is what
// mlx.optimizers.Adafactor gives for a zero gradient.
template <class Rate = relative_step> struct adafactor {
  Rate learning_rate = {};
  double eps = 1e-30;
  double min_scale = 1e-3;
  double clip_threshold = 1;
  double decay_rate = -0.8;
  std::optional<double> b1 = std::nullopt;
  double weight_decay = 0;
  bool scale_parameter = true;

  // No steps, zero moments: of half-precision parameters in float32. Leaves that are not parameters, and aux data, are
  // copied, and stay as they are.
  template <class Params> adafactor_state<Params> init(const Params& params) const {
    return {detail::shared_math<Params>::zero_count(),
            detail::map_parameters([](const auto& p) { return zero_mean(p, -1); }, params),
            detail::map_parameters([](const auto& p) { return zero_mean(p, -2); }, params),
            detail::map_parameters(
                [](const auto& p) { return is_factored(p) ? scalar_zero(p) : detail::zero_magnitude(p); }, params),
            b1 ? std::optional<Params>(detail::zero_moments(params)) : std::nullopt};
  }

  // Throws structure_error if the structure of the gradients or of the moments is not the parameters' (aux data may
  // differ).
  template <class Grads, class Params>
  void check(const Grads& grads, const adafactor_state<Params>& state, const Params& params) const {
    detail::check_update<"adafactor">(params, grads, state.v_row, state.v_col, state.v);
    if (state.mu) detail::check_update<"adafactor">(params, grads, *state.mu);
  }

  // The updates, in the dtypes of the parameters; `state` is updated in place. Leaves that are not parameters, and aux
  // data, are those of `params`. Throws what check throws, before any change.
  template <class Grads, class Params>
  Params update(const Grads& grads, adafactor_state<Params>& state, const Params& params) const {
    check(grads, state, params);
    using shared = detail::shared_math<Params>;
    const auto rate_now = detail::rate_at(learning_rate, state.count);
    state.count = state.count + 1;
    const auto t = shared::real(state.count);
    const auto fresh = shared::power(t, shared::as(decay_rate, t));  // 1 - b2
    // Of an array that is factored, which it tells by its gradient; `axis` is the one that is left out.
    const auto mean_along = [&](int axis) {
      return [&, axis](const auto& v, const auto& g) {
        if constexpr (detail::math_of<decltype(v)>::has_axes) {
          using math = detail::math_of<decltype(v)>;
          if (is_factored(g)) return averaged(v, math::mean(with_eps(g), axis), fresh);
        }
        return v;
      };
    };
    detail::update_parameters(mean_along(-1), state.v_row, grads);
    detail::update_parameters(mean_along(-2), state.v_col, grads);
    detail::update_parameters(
        [&](const auto& v, const auto& g) { return is_factored(g) ? v : averaged(v, with_eps(g), fresh); }, state.v,
        grads);
    const auto rate_of = [&](const auto& p) {
      using math = detail::math_of<decltype(p)>;
      const auto rms = math::sqrt(math::mean_of_squares(math::widen(p)));
      const auto rate = math::as(rate_now, rms);
      return scale_parameter ? math::maximum(math::as(min_scale, rms), rms) * rate : rate;
    };
    Params steps = detail::map_parameters(
        [&](const auto& p, const auto& g, const auto& row, const auto& col, const auto& v) {
          using math = detail::math_of<decltype(p)>;
          const auto wide = math::widen(detail::in_place_of(p, g));
          const auto u = detail::clipped_by_rms(normalised(wide, row, col, v), clip_threshold);
          return math::as(rate_of(p), u) * u;
        },
        params, grads, state.v_row, state.v_col, state.v);
    if (state.mu) {
      detail::update_parameters([&](const auto& mu, const auto& u) { return detail::decayed(b1.value_or(0), mu, u); },
                                *state.mu, steps);
    }
    return detail::map_parameters(
        [&](const auto& p, const auto& u) {
          using math = detail::math_of<decltype(p)>;
          if (weight_decay == 0) return math::as(-u, p);
          return math::as(-u - math::as(weight_decay, u) * math::as(rate_of(p), u) * math::widen(p), p);
        },
        params, state.mu ? *state.mu : steps);
  }

 private:
  template <class Leaf> static bool is_factored(const Leaf& x) {
    if constexpr (detail::math_of<Leaf>::has_axes) {
      return detail::math_of<Leaf>::ndim(x) >= 2;
    } else {
      return false;
    }
  }

  template <class Leaf> static Leaf scalar_zero(const Leaf& p) {
    using math = detail::math_of<Leaf>;
    return math::zeros_like(math::mean_of_squares(math::widen(p)));
  }

  template <class Leaf> static Leaf zero_mean(const Leaf& p, int axis) {
    if constexpr (detail::math_of<Leaf>::has_axes) {
      using math = detail::math_of<Leaf>;
      if (is_factored(p)) return math::zeros_like(math::mean(detail::zero_magnitude(p), axis));
    }
    return scalar_zero(p);
  }

  template <class Leaf> Leaf with_eps(const Leaf& g) const {
    using math = detail::math_of<Leaf>;
    const auto squared = math::squared_magnitude(math::widen(g));
    return squared + math::as(eps, squared);
  }

  template <class Leaf, class Value, class Weight>
  static Leaf averaged(const Leaf& v, const Value& value, const Weight& fresh) {
    using math = detail::math_of<Leaf>;
    const auto weight = math::as(fresh, v);
    return (math::as(1.0, v) - weight) * v + weight * math::as(value, v);
  }

  // g / sqrt(v).
  template <class Gradient, class Leaf>
  static Gradient normalised(const Gradient& g, const Leaf& row, const Leaf& col, const Leaf& v) {
    using math = detail::math_of<Gradient>;
    if constexpr (math::has_axes) {
      if (is_factored(g)) {
        const auto shares = row / math::expand_dims(math::mean(row, -1), -1);
        return g / (math::expand_dims(math::sqrt(shares), -1) * math::expand_dims(math::sqrt(col), -2));
      }
    }
    return g / math::sqrt(math::as(v, g));
  }
};

}  // namespace espalier::optim
