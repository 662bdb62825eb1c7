// The command line of train_lm.
//
//   options chosen;
//   examples::parse("train_lm", options_of(chosen), {argv + 1, argv + argc});
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "../common/command_line.hpp"
#include "settings.hpp"

namespace train_lm {

// What a run is told; the values here are the defaults.
struct options {
  std::filesystem::path data = "examples/train_lm/data/shakespeare.txt";
  settings run = {};
  int width = 96;
  int heads = 3;
  int blocks = 3;
  std::int64_t evaluate_every = 25;
  std::int64_t stop_at = 0;  // 0: at the end
  std::filesystem::path checkpoint = "train_lm.safetensors";
  bool resume = false;
  std::filesystem::path curve = "train_lm.svg";
  std::filesystem::path metrics = "train_lm.csv";
  std::filesystem::path tensorboard = {};  // empty: none
  std::string prompt = "\n";
  std::size_t sample = 400;
  double temperature = 0.8;
  bool profile = false;
  bool help = false;
};

// The options, bound to the fields of `o`.
std::vector<examples::option> options_of(options& o);

// Throws option_error for values that do not fit together.
void require_consistent(const options& o);

// What --help prints.
std::string help_text(options defaults = {});

}  // namespace train_lm
