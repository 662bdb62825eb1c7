// Draws how a training run went, as an SVG picture that needs nothing else: loss on a logarithmic axis on the
// left, test accuracy on the right, epochs along the bottom.
//
//   curve.batch_loss.push_back({epoch + done / total, loss});   curve.test_accuracy.push_back({epoch + 1,
//   0.97}); write_svg("train_digits.svg", curve);
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace train_digits {

struct curve_point {
  double epoch;  // may lie between two epochs
  double value;
};

// Points in order of epoch; any of the three may be empty. Points that cannot be drawn (not finite, a loss
// not above zero) break the line.
struct learning_curve {
  std::vector<curve_point> batch_loss;     // after each step; drawn faintly
  std::vector<curve_point> epoch_loss;     // mean over each epoch; stands best at the epoch's middle
  std::vector<curve_point> test_accuracy;  // 0 .. 1, after each epoch
};

// The picture as text.
std::string to_svg(const learning_curve& curve);

// Writes to_svg(curve). Throws std::runtime_error that names the file where it cannot be written.
void write_svg(const std::filesystem::path& file, const learning_curve& curve);

}  // namespace train_digits
