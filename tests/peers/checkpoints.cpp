// What checkpoints.py asks of Espalier: the model and the optimizer of mlx.nn as plain structs, trained on and saved.
//
//   test.checkpoints train FOLDER STEPS    reads weights.safetensors and optimizer.safetensors there, and data.safetensors;
//                                          trains; writes trained_weights.safetensors and trained_optimizer.safetensors
//   test.checkpoints churn FILE            saves a tree whose arrays are all of one value, over and over, until it is killed
//   test.checkpoints write FILE            writes every dtype, leaf and container that there is, for Python to read
#include <mlx/mlx.h>

#include <cstdio>
#include <espalier/aux.hpp>
#include <espalier/mlx/eval.hpp>
#include <espalier/mlx/grad.hpp>
#include <espalier/mlx/math.hpp>
#include <espalier/mlx/safetensors.hpp>
#include <espalier/optim/adam.hpp>
#include <espalier/optim/apply_updates.hpp>
#include <exception>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace mx = mlx::core;

struct linear {
  mx::array weight;
  std::optional<mx::array> bias;
};
struct layer_norm {
  mx::array weight, bias;
};
struct mlp {
  std::vector<linear> layers;
  layer_norm norm;
  int seed;  // these two are not in Python's files, and Python does not see them in ours
  espalier::aux<std::string> named;
};
struct batch {
  mx::array x, y;
};

mlp make_mlp() {
  const auto layer = [](int in, int out, bool biased) {
    return linear{mx::zeros({out, in}), biased ? std::optional(mx::zeros({out})) : std::nullopt};
  };
  return {{layer(3, 5, true), layer(5, 2, false)}, {mx::zeros({5}), mx::zeros({5})}, 11, std::string("mlp")};
}

mx::array loss(const mlp& m, const batch& data) {
  const linear& first = m.layers[0];
  mx::array h = mx::addmm(*first.bias, data.x, mx::transpose(first.weight));
  h = mx::fast::layer_norm(mx::maximum(h, mx::array(0.0f)), m.norm.weight, m.norm.bias, 1e-5f);
  return mx::mean(mx::square(mx::matmul(h, mx::transpose(m.layers[1].weight)) - data.y));
}

// mlx.optimizers keeps m and v below each parameter, Espalier a tree of each.
const espalier::name_rules adam_names = {
    {"learning_rate", std::nullopt}, {"step", "count"}, {"*.m", "mu.*"}, {"*.v", "nu.*"}};

void train(const std::filesystem::path& folder, int steps) {
  mlp model = make_mlp();
  constexpr espalier::optim::adam optimizer{.learning_rate = 0.01};
  auto state = optimizer.init(model);
  batch data{mx::zeros({4, 3}), mx::zeros({4, 2})};
  espalier::load_safetensors(folder / "data.safetensors", data);
  espalier::load_safetensors(folder / "weights.safetensors", model);
  // Python counts in uint64.
  espalier::load_safetensors(folder / "optimizer.safetensors", state, {.rules = adam_names, .cast = true});
  for (int i = 0; i < steps; ++i) {
    const auto [value, gradient] = espalier::value_and_grad(loss)(model, data);
    espalier::optim::apply_updates(model, optimizer.update(gradient, state, model));
    espalier::eval(model, state);
  }
  espalier::save_safetensors(folder / "trained_weights.safetensors", model);
  espalier::save_safetensors(folder / "trained_optimizer.safetensors", state, adam_names);
}

[[noreturn]] void churn(const std::filesystem::path& file) {
  for (int n = 0;; ++n) {
    espalier::save_safetensors(file, std::vector<mx::array>(4, mx::full({1 << 18}, static_cast<float>(n))));
    if (n == 0) std::puts("saved"), std::fflush(stdout);
  }
}

struct everything {
  std::map<std::string, mx::array> by_dtype;
  std::vector<mx::array> empty;
  mx::array none, scalar;
  std::optional<mx::array> absent;
  bool on;
  double rate;
};

void write(const std::filesystem::path& file) {
  everything e{{}, {}, mx::zeros({0, 3}), mx::array(2.5f), std::nullopt, true, 0.1};
  for (const auto& [name, dtype] :
       {std::pair("bfloat16", mx::bfloat16), std::pair("float16", mx::float16), std::pair("float32", mx::float32),
        std::pair("complex64", mx::complex64), std::pair("bool", mx::bool_), std::pair("int8", mx::int8),
        std::pair("int16", mx::int16), std::pair("int32", mx::int32), std::pair("int64", mx::int64),
        std::pair("uint8", mx::uint8), std::pair("uint16", mx::uint16), std::pair("uint32", mx::uint32),
        std::pair("uint64", mx::uint64)}) {
    e.by_dtype.emplace(name, mx::array({0, 1, 0, 1, 1, 0}, {2, 3}, dtype));
  }
  e.by_dtype.emplace("transposed", mx::transpose(mx::reshape(mx::arange(6), {2, 3})));
  espalier::save_safetensors(file, e);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    if (arguments.size() == 3 && arguments[0] == "train") {
      train(arguments[1], std::stoi(arguments[2]));
    } else if (arguments.size() == 2 && arguments[0] == "churn") {
      churn(arguments[1]);
    } else if (arguments.size() == 2 && arguments[0] == "write") {
      write(arguments[1]);
    } else {
      std::fprintf(stderr, "usage: %s train FOLDER STEPS | churn FILE | write FILE\n", argv[0]);
      return 2;
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
