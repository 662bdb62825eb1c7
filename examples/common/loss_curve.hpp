// Draws how a training run went, as an SVG picture that needs nothing else: loss on a logarithmic axis on the left, test
// accuracy, if there is any, on the right, epochs or steps along the bottom.
//
//   curve.batch_loss.push_back({epoch + done / total, loss});
//   curve.test_accuracy.push_back({epoch + 1, 0.97});
//   write_svg("train_digits.svg", curve);
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace examples {

struct curve_point {
  double at;  // an epoch, perhaps between two, or a step
  double value;
};

// A loss to compare with: a dashed line across the picture.
struct loss_level {
  double loss;
  std::string name;
};

// Points in their order along the bottom; any of the series may be empty. Points that cannot be drawn (not finite, a loss
// not above zero) break the line. Texts are written into the picture as they are.
struct learning_curve {
  std::vector<curve_point> batch_loss = {};     // after each step; drawn faintly
  std::vector<curve_point> epoch_loss = {};     // mean over each epoch; stands best at the epoch's middle
  std::vector<curve_point> test_accuracy = {};  // 0 .. 1, after each epoch
  std::vector<curve_point> held_out_loss = {};  // on what is not trained on
  std::vector<loss_level> levels = {};
  std::string title = "Training loss and test accuracy by epoch";
  std::string along = "Epoch";
  std::string loss = "Training loss (cross-entropy)";
};

// The picture as text.
std::string to_svg(const learning_curve& curve);

// Writes to_svg(curve). Throws std::runtime_error that names the file where it cannot be written.
void write_svg(const std::filesystem::path& file, const learning_curve& curve);

}  // namespace examples
