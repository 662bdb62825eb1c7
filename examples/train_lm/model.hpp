// The model: a GPT-style transformer over characters, as plain structs. Nothing here knows of trees; Espalier finds the
// fields.
#pragma once

#include <mlx/mlx.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <espalier/aux.hpp>
#include <espalier/parameters.hpp>
#include <utility>
#include <vector>

#include "settings.hpp"

namespace train_lm {

namespace mx = mlx::core;

struct attention {
  mx::array query, key, value, output;  // width x width
};
struct feed_forward {
  mx::array gate, up;  // width x inner width
  mx::array down;      // inner width x width
};
struct block {
  mx::array attention_norm;  // width
  attention attend;
  mx::array feed_forward_norm;  // width
  feed_forward feed;
};
struct language_model {
  mx::array embedding;  // characters x width; also the last layer
  std::vector<block> blocks;
  mx::array norm;            // width
  espalier::aux<int> heads;  // part of the structure, as a checkpoint and a compiled function know it
};

// How large a model is.
struct model_shape {
  int characters;
  int width;
  int heads;
  int blocks;
};

struct batch {
  mx::array inputs;   // rows x length, int32
  mx::array targets;  // the same, one character on
};

// Normal weights of variance 1 / inputs; those that are added to the residual stream of variance 1 / (2 blocks inputs), as
// in Radford et al., "Language models are unsupervised multitask learners", 2019.
inline language_model make_model(const model_shape& shape, std::uint64_t seed) {
  const int width = shape.width;
  const int inner = (width * 8 / 3 + 31) / 32 * 32;  // Shazeer, "GLU variants improve transformer", 2020
  mx::array key = mx::random::key(seed);
  const auto normal = [&key](int rows, int columns, float variance) {
    const auto [next, here] = mx::random::split(key);
    key = next;
    return mx::random::normal({rows, columns}, mx::float32, 0.0f, std::sqrt(variance), here);
  };
  const auto weight = [&](int inputs, int outputs, int shares = 1) {
    return normal(inputs, outputs, 1.0f / static_cast<float>(inputs * shares));
  };
  language_model model{normal(shape.characters, width, 4e-4f), {}, mx::ones({width}), shape.heads};
  for (int i = 0; i < shape.blocks; ++i) {
    const int shares = 2 * shape.blocks;
    // (Braces evaluate from left to right, so the seed decides which weight gets which numbers.)
    model.blocks.push_back(
        {mx::ones({width}),
         attention{weight(width, width), weight(width, width), weight(width, width), weight(width, width, shares)},
         mx::ones({width}), feed_forward{weight(width, inner), weight(width, inner), weight(inner, width, shares)}});
  }
  return model;
}

inline mx::array normalized(const mx::array& x, const mx::array& weight) {
  return mx::fast::rms_norm(x, weight, 1e-5f);
}

// Queries and keys turned by their place in the text: Su et al., "RoFormer", 2021. `place` is that of the first one.
template <class Place> mx::array rotated(const mx::array& x, const Place& place) {
  return mx::fast::rope(x, x.shape(3), false, 10000.0f, 1.0f, place);
}

// x: rows x length x width, and so is the result. look(queries, keys, values), each rows x heads x length x head width,
// says what every place takes from the others.
template <class Look> mx::array apply(const block& b, int heads, const mx::array& x, Look look) {
  const int rows = x.shape(0), length = x.shape(1), width = x.shape(2);
  const auto split = [&](const mx::array& y) {
    return mx::transpose(mx::reshape(y, {rows, length, heads, width / heads}), {0, 2, 1, 3});
  };
  const mx::array y = normalized(x, b.attention_norm);
  const mx::array seen = look(split(mx::matmul(y, b.attend.query)), split(mx::matmul(y, b.attend.key)),
                              split(mx::matmul(y, b.attend.value)));
  const mx::array joined = mx::reshape(mx::transpose(seen, {0, 2, 1, 3}), {rows, length, width});
  const mx::array h = x + mx::matmul(joined, b.attend.output);

  const mx::array z = normalized(h, b.feed_forward_norm);
  const mx::array gate = mx::matmul(z, b.feed.gate);
  return h + mx::matmul(gate * mx::sigmoid(gate) * mx::matmul(z, b.feed.up), b.feed.down);
}

// The scores of the next character, rows x length x characters; look(block's index, queries, keys, values).
template <class Look> mx::array scores(const language_model& m, const mx::array& tokens, Look look) {
  mx::array h = mx::take(m.embedding, tokens, 0);
  for (std::size_t i = 0; i < m.blocks.size(); ++i) {
    h = apply(m.blocks[i], m.heads, h,
              [&](const mx::array& q, const mx::array& k, const mx::array& v) { return look(i, q, k, v); });
  }
  return mx::matmul(normalized(h, m.norm), mx::transpose(m.embedding));
}

// Of whole rows: every place sees itself and those before it.
inline mx::array scores(const language_model& m, const mx::array& tokens) {
  return scores(m, tokens, [](std::size_t, const mx::array& q, const mx::array& k, const mx::array& v) {
    const float scale = 1.0f / std::sqrt(static_cast<float>(q.shape(3)));
    return mx::fast::scaled_dot_product_attention(rotated(q, 0), rotated(k, 0), v, scale, "causal");
  });
}

inline language_model in_precision(const language_model& m, precision p) {
  if (p == precision::float32) return m;
  return espalier::tree_map_parameters([](const mx::array& a) { return mx::astype(a, mx::bfloat16); }, m);
}

// Mean cross-entropy in nats per character. The model is computed in the given precision, its parameters and the loss are
// float32.
inline mx::array loss(const language_model& m, const batch& b, precision p) {
  const mx::array s = mx::astype(scores(in_precision(m, p), b.inputs), mx::float32);
  const mx::array of_target = mx::take_along_axis(s, mx::expand_dims(b.targets, 2), 2);
  return mx::mean(mx::logsumexp(s, 2, true) - of_target);
}

}  // namespace train_lm
