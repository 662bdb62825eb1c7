// The training step, and what a checkpoint holds.
#pragma once

#include <espalier/mlx/engine.hpp>
#include <espalier/mlx/eval.hpp>
#include <espalier/mlx/grad.hpp>
#include <espalier/mlx/math.hpp>
#include <espalier/norm.hpp>
#include <espalier/optim/adam.hpp>
#include <espalier/optim/apply_updates.hpp>
#include <espalier/optim/chain.hpp>
#include <espalier/optim/clip.hpp>
#include <espalier/optim/schedules.hpp>

#include "model.hpp"

namespace train_lm {

namespace optim = espalier::optim;

// Biases and norms do not decay; here all parameters of one axis are norms.
struct is_matrix {
  bool operator()(const mx::array& parameter) const { return parameter.ndim() >= 2; }
};
using rate_schedule = optim::warmup_cosine_decay;
using optimizer = optim::chained<optim::clip_by_global_norm, optim::adamw<rate_schedule, is_matrix>>;

inline rate_schedule make_schedule(const settings& s) {
  return {.peak = s.peak_rate, .warmup_steps = s.warmup_steps, .decay_steps = s.steps, .end = s.peak_rate / 10};
}

inline optimizer make_optimizer(const settings& s) {
  const optim::adamw<rate_schedule, is_matrix> adamw{
      .learning_rate = make_schedule(s), .b2 = 0.99, .weight_decay = s.weight_decay};
  return optim::chain(optim::clip_by_global_norm{.max_norm = s.clip}, adamw);
}

using optimizer_state = decltype(std::declval<optimizer>().init(std::declval<language_model>()));

// What a step changes, and what a checkpoint holds.
struct train_state {
  language_model model;
  optimizer_state optimizer;
};
struct checkpoint {
  train_state state;
  std::int64_t step;  // steps that are done
  settings run;
};

// What a step tells.
struct step_report {
  mx::array loss;                 // of before the step, mean over the micro-batches
  mx::array gradient_norm;        // of all parameters together, before it is clipped
  language_model gradient_norms;  // of each
};

// The whole training step: forward and backward of every micro-batch, then one update by the mean of their gradients.
// `state` is in-out because it is not const; the settings are constants of the trace.
inline step_report train_step(train_state& state, const std::vector<batch>& micro_batches, const settings& s) {
  const auto of_one = [&](const batch& b) { return espalier::value_and_grad(loss)(state.model, b, s.dtype); };
  auto [total, sum] = of_one(micro_batches.at(0));
  for (std::size_t i = 1; i < micro_batches.size(); ++i) {
    const auto [value, gradient] = of_one(micro_batches[i]);
    total = total + value;
    sum = espalier::tree_map_parameters([](const mx::array& a, const mx::array& b) { return a + b; }, sum, gradient);
  }
  const auto n = static_cast<float>(micro_batches.size());
  const language_model gradient = espalier::tree_map_parameters([n](const mx::array& a) { return a / n; }, sum);
  optim::apply_updates(state.model, make_optimizer(s).update(gradient, state.optimizer, state.model));
  return {total / n, espalier::tree_norm(gradient), espalier::tree_norms(gradient)};
}

}  // namespace train_lm
