// All of Espalier but its engines.
#pragma once

#include <espalier/aux.hpp>
#include <espalier/compile.hpp>
#include <espalier/compile_options.hpp>
#include <espalier/describe.hpp>
#include <espalier/encode.hpp>
#include <espalier/engine.hpp>
#include <espalier/equal.hpp>
#include <espalier/errors.hpp>
#include <espalier/flatten.hpp>
#include <espalier/leaf.hpp>
#include <espalier/leaf_array.hpp>
#include <espalier/map.hpp>
#include <espalier/node.hpp>
#include <espalier/optim/optim.hpp>
#include <espalier/parameters.hpp>
#include <espalier/path.hpp>
#include <espalier/paths.hpp>
#include <espalier/reduce.hpp>
#include <espalier/structure.hpp>
#include <espalier/summary.hpp>
#include <espalier/typed_text.hpp>
#include <espalier/visit.hpp>
