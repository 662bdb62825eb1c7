// Writing text, one character after the other. Keys and values of the characters before are kept, so that a step costs one
// character and not the whole text.
#pragma once

#include <espalier/mlx/dynamic.hpp>

#include "model.hpp"

namespace train_lm {

struct kept {
  mx::array keys, values;  // 1 x heads x context x head width
};

// A plain struct, and in-out state of the compiled step.
struct decode_state {
  std::vector<kept> blocks;
  mx::array place;  // characters read so far, int32
  mx::array key;    // of the random numbers
};

inline decode_state make_decode_state(const language_model& m, int context, std::uint64_t seed) {
  const int width = m.embedding.shape(1);
  const mx::array none = mx::zeros({1, m.heads, context, width / m.heads}, m.embedding.dtype());
  return {std::vector<kept>(m.blocks.size(), kept{none, none}), mx::array(0), mx::random::key(seed)};
}

// Reads one token (1 x 1) and gives back the scores of the next one, 1 x 1 x characters. Keys and values stand in a ring:
// behind `context` characters the oldest is overwritten, and text of any length can be written.
inline mx::array read_token(decode_state& s, const language_model& m, const mx::array& token) {
  const int context = s.blocks.at(0).keys.shape(2);
  const mx::array slot = mx::reshape(mx::remainder(s.place, mx::array(context)), {1});
  const mx::array written = mx::less_equal(mx::arange(context), s.place);
  const mx::array result =
      scores(m, token, [&](std::size_t i, const mx::array& q, const mx::array& k, const mx::array& v) {
        auto& [keys, values] = s.blocks[i];
        keys = mx::slice_update(keys, rotated(k, s.place), slot, {2});
        values = mx::slice_update(values, v, slot, {2});
        const float scale = 1.0f / std::sqrt(static_cast<float>(q.shape(3)));
        return mx::fast::scaled_dot_product_attention(rotated(q, s.place), keys, values, scale, "array", written);
      });
  s.place = s.place + 1;
  return result;
}

// Reads one token and draws the next one, 1 x 1: the lower the temperature, the likelier the likeliest.
inline mx::array next_token(decode_state& s, const language_model& m, const mx::array& token,
                            espalier::dynamic<float> temperature) {
  const mx::array next = mx::astype(read_token(s, m, token), mx::float32) / *temperature;
  const auto [key, here] = mx::random::split(s.key);
  s.key = key;
  return mx::astype(mx::random::categorical(next, -1, here), mx::int32);
}

}  // namespace train_lm
