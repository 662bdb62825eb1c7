// All of espalier::optim: gradient transformations over any pytree.
#pragma once

#include <espalier/optim/adadelta.hpp>
#include <espalier/optim/adafactor.hpp>
#include <espalier/optim/adagrad.hpp>
#include <espalier/optim/adam.hpp>
#include <espalier/optim/adamax.hpp>
#include <espalier/optim/add_decayed_weights.hpp>
#include <espalier/optim/apply_if_finite.hpp>
#include <espalier/optim/apply_updates.hpp>
#include <espalier/optim/chain.hpp>
#include <espalier/optim/clip.hpp>
#include <espalier/optim/ema.hpp>
#include <espalier/optim/inject_hyperparams.hpp>
#include <espalier/optim/labels.hpp>
#include <espalier/optim/lion.hpp>
#include <espalier/optim/loss_scale.hpp>
#include <espalier/optim/masked.hpp>
#include <espalier/optim/master_weights.hpp>
#include <espalier/optim/math.hpp>
#include <espalier/optim/muon.hpp>
#include <espalier/optim/partitioned.hpp>
#include <espalier/optim/rmsprop.hpp>
#include <espalier/optim/schedules.hpp>
#include <espalier/optim/sgd.hpp>
