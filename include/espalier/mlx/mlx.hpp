// All of Espalier's MLX engine.
#pragma once

#include <espalier/mlx/array.hpp>
#include <espalier/mlx/checkpoint_manager.hpp>
#include <espalier/mlx/dynamic.hpp>
#include <espalier/mlx/engine.hpp>
#include <espalier/mlx/eval.hpp>
#include <espalier/mlx/gguf.hpp>
#include <espalier/mlx/grad.hpp>
#include <espalier/mlx/math.hpp>
#include <espalier/mlx/safetensors.hpp>
