// All of espalier::optim, one after the other, for what is true of each.
#pragma once

#include <mlx/mlx.h>

#include <espalier/optim/optim.hpp>
#include <tuple>
#include <utility>

namespace optim = espalier::optim;

inline constexpr auto matrices = [](const mlx::core::array& p) { return p.ndim() == 2; };
inline constexpr optim::adamw adamw{.learning_rate = 0.1, .weight_decay = 0.05};

// Not in a template: clang 19 deduces no type from designated initialisers there.
inline constexpr std::tuple optimizers{
    std::pair{"sgd", optim::sgd{.learning_rate = 0.1}},
    std::pair{"sgd with momentum", optim::sgd{.learning_rate = 0.1, .momentum = 0.9, .nesterov = true}},
    std::pair{"rmsprop", optim::rmsprop{.learning_rate = 0.1}},
    std::pair{"adagrad", optim::adagrad{.learning_rate = 0.1}},
    std::pair{"adadelta", optim::adadelta{.learning_rate = 1.0}},
    std::pair{"adam", optim::adam{.learning_rate = 0.1}},
    std::pair{"adam with a schedule",
              optim::adam{.learning_rate = optim::cosine_decay{.init = 0.1, .decay_steps = 100}}},
    std::pair{"adamw", adamw},
    std::pair{"adamax", optim::adamax{.learning_rate = 0.1}},
    std::pair{"lion", optim::lion{.learning_rate = 0.1, .weight_decay = 0.05}},
    std::pair{"adafactor", optim::adafactor{.b1 = 0.9, .weight_decay = 0.05}},
    std::pair{"muon", optim::muon{.learning_rate = 0.1}},
    std::pair{"partitioned", optim::partitioned(matrices, adamw, optim::muon{.learning_rate = 0.1})},
    std::pair{"masked", optim::chain(optim::masked{adamw, matrices}, optim::sgd{.learning_rate = 0.1})},
    std::pair{"clip_by_global_norm", optim::chain(optim::clip_by_global_norm{.max_norm = 0.5}, adamw)},
    std::pair{"clip", optim::chain(optim::clip{.max_delta = 0.5}, adamw)},
    std::pair{"clip_by_block_rms", optim::chain(optim::clip_by_block_rms{.threshold = 0.5}, adamw)},
    std::pair{"add_decayed_weights",
              optim::chain(optim::add_decayed_weights{.weight_decay = 0.1}, optim::sgd{.learning_rate = 0.1})},
    std::pair{"ema", optim::chain(optim::ema{.decay = 0.9}, optim::sgd{.learning_rate = 0.1})},
    std::pair{"inject_hyperparams", optim::inject_hyperparams{adamw}},
    std::pair{"apply_if_finite", optim::apply_if_finite{adamw}},
    std::pair{"static_loss_scale", optim::static_loss_scale{adamw, 1024}},
    std::pair{"dynamic_loss_scale", optim::dynamic_loss_scale{adamw}},
    std::pair{"master_weights", optim::master_weights{adamw}}};

// Calls f(name, optimizer) for each.
template <class F> void every_optimizer(const F& f) {
  std::apply([&f](const auto&... each) { (f(each.first, each.second), ...); }, optimizers);
}
