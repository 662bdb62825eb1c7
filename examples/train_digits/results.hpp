// A run that diverges stops with advice.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "../common/results.hpp"

namespace train_digits {

using examples::training_error;

// Where and how a loss or a parameter stopped being a number.
struct divergence {
  std::string what;   // "the loss is nan"
  std::size_t epoch;  // counted from 1, as the run prints them
  std::size_t step;   // of the epoch, from 1
  double learning_rate;
  std::filesystem::path checkpoint;
  bool saved;  // whether the checkpoint is there, from an earlier epoch
};

// "epoch 3, step 12: the loss is nan, with --learning-rate 0.5. …"
training_error diverged(const divergence& d);

}  // namespace train_digits
