// Initialisers of parameters, as mlx.nn.init, over whole trees with one key:
//
//   model = espalier::initialize(espalier::init::matrices(espalier::init::glorot_uniform(), espalier::init::zeros()),
//                                espalier::random_key(42), model);
#pragma once

#include <mlx/array.h>
#include <mlx/device.h>
#include <mlx/linalg.h>
#include <mlx/ops.h>
#include <mlx/random.h>

#include <algorithm>
#include <cmath>
#include <espalier/mlx/array.hpp>
#include <espalier/mlx/random.hpp>
#include <espalier/path_view.hpp>
#include <espalier/visit.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace espalier {

// An initialiser is a function (key, a) that gives back an array of a's shape and dtype; a's values do not matter.
// These are those of mlx.nn.init: what that draws after mx.random.seed(s), they draw with the key
// split(random_key(s)).second.
namespace init {

enum class fan : unsigned char { in, out };

}  // namespace init

namespace detail {

struct fans {
  double in;
  double out;
};

// Of a weight [out, …, in], where the axes between are the receptive field of a convolution.
inline fans fans_of(const char* initializer, const ::mlx::core::array& a) {
  if (a.ndim() < 2) {
    throw random_error(std::string("espalier: ") + initializer +
                       ": expected an array of at least 2 dimensions, found " + describe_value(a) +
                       ". Give init::matrices(weights, others) to initialise others in another way");
  }
  double field = 1;
  for (int axis = 1; axis + 1 < static_cast<int>(a.ndim()); ++axis) field *= a.shape(axis);
  return {a.shape(-1) * field, a.shape(0) * field};
}

inline ::mlx::core::array normal_like(const random_key& key, const ::mlx::core::array& a, double mean, double std) {
  return ::mlx::core::random::normal(a.shape(), a.dtype(), static_cast<float>(mean), static_cast<float>(std), *key);
}
inline ::mlx::core::array uniform_like(const random_key& key, const ::mlx::core::array& a, double low, double high) {
  return ::mlx::core::random::uniform(::mlx::core::array(static_cast<float>(low)),
                                      ::mlx::core::array(static_cast<float>(high)), a.shape(), a.dtype(), *key);
}

}  // namespace detail

namespace init {

// The same value everywhere.
inline auto constant(double value) {
  return [value](const random_key&, const ::mlx::core::array& a) {
    return ::mlx::core::full(a.shape(), static_cast<float>(value), a.dtype());
  };
}
inline auto zeros() { return constant(0); }
inline auto ones() { return constant(1); }

// Normal and uniform distributions; uniform in [low, high).
inline auto normal(double mean = 0, double std = 1) {
  return [mean, std](const random_key& key, const ::mlx::core::array& a) {
    return detail::normal_like(key, a, mean, std);
  };
}
inline auto uniform(double low = 0, double high = 1) {
  return [low, high](const random_key& key, const ::mlx::core::array& a) {
    return detail::uniform_like(key, a, low, high);
  };
}

// Glorot and Bengio 2010, "Understanding the difficulty of training deep feedforward neural networks": standard
// deviation gain sqrt(2 / (fan_in + fan_out)); uniform in ±gain sqrt(6 / (fan_in + fan_out)).
inline auto glorot_normal(double gain = 1) {
  return [gain](const random_key& key, const ::mlx::core::array& a) {
    const auto fans = detail::fans_of("glorot_normal", a);
    return detail::normal_like(key, a, 0, gain * std::sqrt(2 / (fans.in + fans.out)));
  };
}
inline auto glorot_uniform(double gain = 1) {
  return [gain](const random_key& key, const ::mlx::core::array& a) {
    const auto fans = detail::fans_of("glorot_uniform", a);
    const double limit = gain * std::sqrt(6 / (fans.in + fans.out));
    return detail::uniform_like(key, a, -limit, limit);
  };
}

// He et al. 2015, "Delving deep into rectifiers", as mlx.nn.init has it: standard deviation gain / sqrt(fan), uniform
// in ±gain sqrt(3 / fan). (For ReLU, their gain is sqrt(2).)
inline auto he_normal(fan mode = fan::in, double gain = 1) {
  return [mode, gain](const random_key& key, const ::mlx::core::array& a) {
    const auto fans = detail::fans_of("he_normal", a);
    return detail::normal_like(key, a, 0, gain / std::sqrt(mode == fan::in ? fans.in : fans.out));
  };
}
inline auto he_uniform(fan mode = fan::in, double gain = 1) {
  return [mode, gain](const random_key& key, const ::mlx::core::array& a) {
    const auto fans = detail::fans_of("he_uniform", a);
    const double limit = gain * std::sqrt(3 / (mode == fan::in ? fans.in : fans.out));
    return detail::uniform_like(key, a, -limit, limit);
  };
}

// A matrix with orthonormal rows or columns, whichever are fewer, times gain: the Q of a normal matrix, with signs that
// make it uniform (Saxe et al. 2014, "Exact solutions to the nonlinear dynamics of learning in deep linear neural
// networks"). Of a matrix only, else random_error.
inline auto orthogonal(double gain = 1) {
  return [gain](const random_key& key, const ::mlx::core::array& a) {
    namespace mx = ::mlx::core;
    if (a.ndim() != 2) {
      throw random_error("espalier: orthogonal: expected a matrix, found " + describe_value(a) +
                         ". Give init::matrices(weights, others) to initialise others in another way");
    }
    const int n = std::max(a.shape(0), a.shape(1));
    const auto [q, r] = mx::linalg::qr(mx::random::normal({n, n}, mx::float32, *key), mx::Device::cpu);
    const mx::array uniform = q * mx::sign(mx::diag(r));
    return mx::astype(mx::slice(uniform, {0, 0}, {a.shape(0), a.shape(1)}) * mx::array(static_cast<float>(gain)),
                      a.dtype());
  };
}

// One initialiser for arrays of at least 2 dimensions, another for the others: weights and biases.
template <class Weights, class Others> auto matrices(Weights weights, Others others) {
  return
      [weights = std::move(weights), others = std::move(others)](const random_key& key, const ::mlx::core::array& a) {
        return a.ndim() >= 2 ? ::mlx::core::array(weights(key, a)) : ::mlx::core::array(others(key, a));
      };
}

}  // namespace init

namespace detail {

template <class Where> struct no_initializer {
  static_assert(
      always_false<Where>,
      "espalier: initialize: an initialiser is a function (const random_key&, const mlx::core::array&), or one "
      "with the key path in front, that gives back an array (its type is named beside this message), as "
      "init::normal() is");
};

template <class F, class... A>
concept gives_array = std::is_invocable_r_v<::mlx::core::array, F&, A...>;

}  // namespace detail

// The tree with its parameters initialised, each with a key of its own: the i-th of n, in the order of the leaves, gets
// the i-th of split(key, n). Shapes, dtypes, and all that is no parameter are the tree's. An initialiser that wants to
// know which parameter it is takes its key path in front: f(const path_view&, key, a). Where an initialiser throws
// random_error, the key path is added. Lazy: the same in a compiled function.
template <class F, class T> T initialize(const F& initializer, const random_key& key, const T& tree) {
  using array = ::mlx::core::array;
  constexpr bool with_path = detail::gives_array<const F, const path_view&, const random_key&, const array&>;
  if constexpr (!with_path && !detail::gives_array<const F, const random_key&, const array&>) {
    static_assert(sizeof(detail::no_initializer<F>));
  } else {
    std::vector<array> arrays = detail::gathered(detail::every_parameter{}, tree);
    if (arrays.empty()) return detail::scattered(arrays, detail::every_parameter{}, tree);
    const random_key keys = split(key, static_cast<int>(arrays.size()));
    std::size_t i = 0;
    espalier::tree_visit_with_path(
        [&]<class Leaf>(const path_view& path, const Leaf& leaf) {
          if constexpr (std::is_same_v<Leaf, array>) {
            if (!detail::every_parameter{}(leaf)) return;
            const random_key own = detail::nth_key(keys, static_cast<int>(i));
            try {
              if constexpr (with_path) {
                arrays[i] = initializer(path, own, leaf);
              } else {
                arrays[i] = initializer(own, leaf);
              }
            } catch (const random_error& e) {
              throw random_error(std::string(e.what()) + " (at " + path.to_string() + ")");
            }
            ++i;
          }
        },
        tree);
    return detail::scattered(arrays, detail::every_parameter{}, tree);
  }
}

}  // namespace espalier
