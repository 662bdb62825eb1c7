// Muon: momentum whose matrices are made orthogonal.
//
//   constexpr espalier::optim::muon opt{.learning_rate = 0.02};          // for the matrices: see partitioned.hpp
#pragma once

#include <algorithm>
#include <cmath>
#include <espalier/optim/math.hpp>

namespace espalier::optim {

// The running mean of the gradients, and the steps taken where the learning rate is a schedule.
template <class Params, class Count = empty_state> struct muon_state {
  Params mu;
  Count count;
};

// Jordan et al., "Muon: An optimizer for hidden layers in neural networks", kellerjordan.github.io/posts/muon, 2024, as
// mlx.optimizers.Muon:
//   g = g + weight_decay p,   mu = momentum mu + (1 - momentum) g,
//   u = (1 - momentum) g + momentum mu (without nesterov: mu),   update = -learning_rate s orthogonal(u),
// where orthogonal(u) is what ns_steps of a Newton-Schulz iteration give, a matrix of about u's singular vectors and
// singular values near 1, and s = sqrt(max(1, rows / columns)). Arrays of three axes or more are taken as matrices of
// the first by all others (s by their last two); numbers, scalars and vectors are not made orthogonal, and s is 1: better
// leave them, and complex arrays, to another optimizer (partitioned.hpp). (optax.muon decays weights as adamw does: add_decayed_weights behind it, and
// weight_decay = 0.) Half precision, where momentum and iteration are float32, and the learning rate: as adam.
template <class Rate> struct muon {
  Rate learning_rate;
  double momentum = 0.95;
  double weight_decay = 0.01;
  bool nesterov = true;
  int ns_steps = 5;

  // Zero moments: of half-precision parameters in float32. Leaves that are not parameters, and aux data, are copied,
  // and stay as they are.
  template <class Params> muon_state<Params, rate_count_t<Rate, Params>> init(const Params& params) const {
    return {detail::zero_moments(params), detail::zero_rate_count<Rate, Params>()};
  }

  // Throws structure_error if the structure of the gradients or of the moments is not the parameters' (aux data may
  // differ).
  template <class Grads, class Params>
  void check(const Grads& grads, const muon_state<Params, rate_count_t<Rate, Params>>& state,
             const Params& params) const {
    detail::check_update<"muon">(params, grads, state.mu);
  }

  // The updates, in the dtypes of the parameters; `state` is updated in place. Leaves that are not parameters, and aux
  // data, are those of `params`. Throws what check throws, before any change.
  template <class Grads, class Params>
  Params update(const Grads& grads, muon_state<Params, rate_count_t<Rate, Params>>& state, const Params& params) const {
    check(grads, state, params);
    const auto rate = detail::rate_at(learning_rate, state.count);
    detail::advance(state.count);
    detail::update_parameters([this](const auto& mu, const auto& g,
                                     const auto& p) { return detail::decayed(momentum, mu, with_decay(g, p, mu)); },
                              state.mu, grads, params);
    return detail::map_parameters(
        [&](const auto& p, const auto& g, const auto& mu) {
          using math = detail::math_of<decltype(p)>;
          const auto u = nesterov ? detail::decayed(momentum, mu, with_decay(g, p, mu)) : mu;
          return math::as(-math::as(rate, u) * orthogonal(u), p);
        },
        params, grads, state.mu);
  }

 private:
  template <class Gradient, class Parameter, class Leaf>
  Leaf with_decay(const Gradient& g, const Parameter& p, const Leaf& like) const {
    using math = detail::math_of<Leaf>;
    if (weight_decay == 0) return math::as(g, like);
    return math::as(g, like) + math::as(weight_decay, like) * math::as(p, like);
  }

  // s orthogonal(u).
  template <class Leaf> Leaf orthogonal(const Leaf& u) const {
    using math = detail::math_of<Leaf>;
    if constexpr (math::has_axes) {
      if (math::ndim(u) >= 2) {
        const Leaf matrix = math::ndim(u) == 2 ? u : math::as_matrix(u);
        const bool tall = math::dim(matrix, 0) > math::dim(matrix, 1);
        const Leaf near = newton_schulz(tall ? math::transpose(matrix) : matrix);
        const double ratio = static_cast<double>(math::dim(u, -2)) / static_cast<double>(math::dim(u, -1));
        const double scale = std::sqrt(std::max(1.0, ratio));
        return math::as(scale, u) * math::reshaped_like(tall ? math::transpose(near) : near, u);
      }
    }
    return u;
  }

  // Of a matrix that is not tall. The coefficients are the paper's.
  template <class Leaf> Leaf newton_schulz(const Leaf& matrix) const {
    using math = detail::math_of<Leaf>;
    constexpr double a = 3.4445;
    constexpr double b = -4.7750;
    constexpr double c = 2.0315;
    const auto norm = math::sqrt(math::sum_of_squares(matrix));
    Leaf x = matrix / math::as(norm + math::as(1e-7, norm), matrix);
    for (int step = 0; step < ns_steps; ++step) {
      const Leaf square = math::matmul(x, math::transpose(x));
      const Leaf polynomial = math::add_matmul(math::as(b, square) * square, c, square, square);
      x = math::add_matmul(math::as(a, x) * x, 1, polynomial, x);
    }
    return x;
  }
};

}  // namespace espalier::optim
