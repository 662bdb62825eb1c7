// Randomness as data: a key is a leaf of the state, so that the same seed gives the same numbers, in a compiled
// function or not, in a run that was resumed or not.
//
//   espalier::random_key key(42);
//   auto [next, now] = espalier::split(key);        // use a key once: split it, keep one, use the other
//   auto noise = mx::random::normal({3}, mx::float32, *now);
#pragma once

#include <mlx/array.h>
#include <mlx/ops.h>
#include <mlx/random.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <espalier/errors.hpp>
#include <espalier/mlx/array.hpp>
#include <espalier/mlx/detail/arrays.hpp>
#include <espalier/node.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace espalier {

// A probability that is none, or an array that a random initialiser cannot fill.
struct random_error : error {
  using error::error;
};

// A key of MLX's random functions: an array, uint32[2]; of n keys one above the other, uint32[n, 2], as vmap and scan
// take them. A node with one leaf, which may stand wherever a tree may; no parameter, so gradients and optimizers leave
// it alone.
class random_key {
 public:
  // As mlx.core.random.key(seed).
  explicit random_key(std::uint64_t seed) : data_(::mlx::core::random::key(seed)) {}
  explicit random_key(::mlx::core::array data) : data_(std::move(data)) {}

  // What MLX's random functions take.
  const ::mlx::core::array& operator*() const { return data_; }
  ::mlx::core::array& operator*() { return data_; }

 private:
  ::mlx::core::array data_;
};

template <> struct pytree_node<random_key> {
  static constexpr std::array<std::string_view, 1> names{"data"};

  static auto children(auto& key) { return std::tie(*key); }
  static random_key unflatten(std::tuple<>, ::mlx::core::array data) { return random_key(std::move(data)); }
};

// Two new keys, as mlx.core.random.split(key); the key itself is used up.
inline std::pair<random_key, random_key> split(const random_key& key) {
  auto [first, second] = ::mlx::core::random::split(*key);
  return {random_key(std::move(first)), random_key(std::move(second))};
}

// n new keys in one, one above the other: for vmap, scan and accumulate_gradients.
inline random_key split(const random_key& key, int n) { return random_key(::mlx::core::random::split(*key, n)); }

namespace detail {

inline random_key nth_key(const random_key& keys, int n) { return random_key(::mlx::core::take(*keys, n, 0)); }

}  // namespace detail

// N new keys, to be taken apart: auto [a, b, c] = split<3>(key).
template <std::size_t N> std::array<random_key, N> split(const random_key& key) {
  const random_key keys = split(key, static_cast<int>(N));
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<random_key, N>{detail::nth_key(keys, static_cast<int>(I))...};
  }(std::make_index_sequence<N>{});
}

// A new key from a key and a number, such as a step or a layer, as jax.random.fold_in (other values: MLX has no such
// function). An array is a scalar of integers, of which the lower 32 bits count, so that a traced step counter can be
// folded in. The key may be split or folded again.
inline random_key fold_in(const random_key& key, const ::mlx::core::array& number) {
  namespace mx = ::mlx::core;
  if (number.ndim() != 0 || !mx::issubdtype(number.dtype(), mx::integer)) {
    throw random_error("espalier: fold_in: expected a scalar of integers, found " + describe_value(number));
  }
  // Where no split leads: a key with some bits turned over, and behind it one with the number's.
  const mx::array apart = mx::bitwise_xor(*key, mx::array({0x65737061u, 0x6c696572u}));
  const mx::array low = mx::astype(number, mx::uint32);
  const mx::array high = number.itemsize() == 8
                             ? mx::astype(mx::right_shift(number, mx::array(32, number.dtype())), mx::uint32)
                             : mx::zeros_like(low);
  return random_key(mx::random::bits({2}, 4, mx::bitwise_xor(mx::random::bits({2}, 4, apart), mx::stack({high, low}))));
}
inline random_key fold_in(const random_key& key, std::uint64_t number) {
  return fold_in(key, ::mlx::core::array(number, ::mlx::core::uint64));
}

// A key for each array that takes part, in the order of the leaves: split(key, how many).
namespace detail {

template <class Takes, class F, class T>
T map_with_keys(const random_key& key, const Takes& takes, const T& tree, const F& f) {
  std::vector<::mlx::core::array> arrays = gathered(takes, tree);
  if (arrays.empty()) return scattered(arrays, takes, tree);
  const random_key keys = split(key, static_cast<int>(arrays.size()));
  for (std::size_t i = 0; i < arrays.size(); ++i) arrays[i] = f(nth_key(keys, static_cast<int>(i)), arrays[i]);
  return scattered(arrays, takes, tree);
}

}  // namespace detail

// Inverted dropout, as mlx.nn.Dropout: each element is zero with this probability, and the others are divided by
// 1 - probability, so that the expected value stays. Lazy; probability is in [0, 1), else random_error.
inline ::mlx::core::array dropout(const random_key& key, double probability, const ::mlx::core::array& x) {
  namespace mx = ::mlx::core;
  if (!(probability >= 0 && probability < 1)) {
    throw random_error("espalier: dropout: the probability must be in [0, 1), found " + std::to_string(probability));
  }
  if (probability == 0) return x;
  const auto keep = static_cast<float>(1 - probability);
  const mx::array kept = mx::random::bernoulli(mx::array(keep), x.shape(), *key);
  return kept * x * mx::array(static_cast<float>(1 / (1 - probability)), x.dtype());
}

// The same for the parameters of a tree, each with a key of its own: the i-th of n gets the i-th of split(key, n).
template <class T>
  requires(!std::is_same_v<T, ::mlx::core::array>)
T dropout(const random_key& key, double probability, const T& tree) {
  return detail::map_with_keys(
      key, detail::every_parameter{}, tree,
      [&](const random_key& own, const ::mlx::core::array& x) { return espalier::dropout(own, probability, x); });
}

}  // namespace espalier
