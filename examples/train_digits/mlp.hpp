// The model: a multilayer perceptron as plain structs. Nothing here knows of trees; Espalier finds the fields.
#pragma once

#include <mlx/mlx.h>

#include <cmath>
#include <optional>
#include <vector>

namespace train_digits {

namespace mx = mlx::core;

struct linear {
  mx::array weight;               // inputs x outputs
  std::optional<mx::array> bias;  // outputs; the last layer has none
};

struct mlp {
  std::vector<linear> layers;
};

struct batch {
  mx::array images;  // n x 64, float32
  mx::array labels;  // n, int32
};

// Weights from He et al., "Delving deep into rectifiers", 2015: normal, variance 2 / inputs; biases are zero.
inline mlp make_mlp(const std::vector<int>& widths, std::uint64_t seed) {
  mx::array key = mx::random::key(seed);
  mlp model;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    const auto [next, here] = mx::random::split(key);
    key = next;
    const float deviation = std::sqrt(2.0f / static_cast<float>(widths[i]));
    mx::array weight = mx::random::normal({widths[i], widths[i + 1]}, mx::float32, 0.0f, deviation, here);
    const bool last = i + 2 == widths.size();
    model.layers.push_back({std::move(weight), last ? std::nullopt : std::optional(mx::zeros({widths[i + 1]}))});
  }
  return model;
}

// n x 10.
inline mx::array logits(const mlp& model, mx::array h) {
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const auto& [weight, bias] = model.layers[i];
    if (i > 0) h = mx::maximum(h, mx::array(0.0f));
    h = mx::matmul(h, weight);
    if (bias) h = h + *bias;
  }
  return h;
}

// Mean cross-entropy with label smoothing 0.1 (Szegedy et al., "Rethinking the Inception architecture", 2016): a tenth
// of each target is spread over all ten digits, so a perfect model has a loss of 0.50, not 0.
inline mx::array loss(const mlp& model, const batch& b) {
  constexpr float smoothing = 0.1f;
  const mx::array scores = logits(model, b.images);
  const mx::array log_probabilities = scores - mx::logsumexp(scores, 1, true);
  const mx::array of_label = mx::take_along_axis(log_probabilities, mx::expand_dims(b.labels, 1), 1);
  return -((1.0f - smoothing) * mx::mean(of_label) + smoothing * mx::mean(log_probabilities));
}

// How many images are recognised.
inline mx::array hits(const mlp& model, const batch& b) {
  return mx::sum(mx::equal(mx::argmax(logits(model, b.images), 1), b.labels));
}

}  // namespace train_digits
