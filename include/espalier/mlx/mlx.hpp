// All of Espalier's MLX engine.
#pragma once

#include <espalier/mlx/accumulate.hpp>
#include <espalier/mlx/array.hpp>
#include <espalier/mlx/checkpoint.hpp>
#include <espalier/mlx/checkpoint_manager.hpp>
#include <espalier/mlx/custom_vjp.hpp>
#include <espalier/mlx/distributed.hpp>
#include <espalier/mlx/distributed_check.hpp>
#include <espalier/mlx/distributed_shard.hpp>
#include <espalier/mlx/dynamic.hpp>
#include <espalier/mlx/engine.hpp>
#include <espalier/mlx/eval.hpp>
#include <espalier/mlx/gguf.hpp>
#include <espalier/mlx/grad.hpp>
#include <espalier/mlx/init.hpp>
#include <espalier/mlx/jacobian.hpp>
#include <espalier/mlx/jvp.hpp>
#include <espalier/mlx/math.hpp>
#include <espalier/mlx/random.hpp>
#include <espalier/mlx/safetensors.hpp>
#include <espalier/mlx/scan.hpp>
#include <espalier/mlx/trainable.hpp>
#include <espalier/mlx/vjp.hpp>
#include <espalier/mlx/vmap.hpp>
