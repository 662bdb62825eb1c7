// All of espalier::optim: gradient transformations over any pytree.
#pragma once

#include <espalier/optim/adam.hpp>
#include <espalier/optim/apply_updates.hpp>
#include <espalier/optim/chain.hpp>
#include <espalier/optim/clip.hpp>
#include <espalier/optim/sgd.hpp>
