// What decides the numbers of a run, beside the text and the model's size: part of a checkpoint, and constants of the
// compiled training step.
#pragma once

#include <cstdint>

namespace train_lm {

enum class precision { float32, bfloat16 };

struct settings {
  std::uint64_t seed = 1;
  std::int64_t steps = 300;  // of the whole schedule
  std::int64_t warmup_steps = 30;
  double peak_rate = 3e-3;       // of the optimizer; falls to a tenth
  double clip = 1;               // largest norm of the gradient
  double weight_decay = 0.1;     // of matrices
  std::int64_t batch_size = 16;  // rows of a micro-batch
  std::int64_t accumulate = 1;   // micro-batches to a step
  std::int64_t context = 64;     // characters of a row
  precision dtype = precision::float32;
};

}  // namespace train_lm
