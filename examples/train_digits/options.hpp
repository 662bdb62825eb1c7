// The command line of train_digits.
//
//   const options chosen = parse_options({argv + 1, argv + argc});
//   if (chosen.help) std::cout << help_text();
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "../common/command_line.hpp"

namespace train_digits {

using examples::option_error;

// What a run is told; the values here are the defaults.
struct options {
  std::filesystem::path data = "examples/train_digits/data/digits.csv";
  std::size_t epochs = 40;
  std::size_t batch_size = 64;
  double learning_rate = 0.002;
  std::vector<int> hidden = {128, 64};
  std::uint64_t seed = 1;
  std::filesystem::path checkpoint = "train_digits.safetensors";
  bool resume = false;
  std::filesystem::path curve = "train_digits.svg";
  bool help = false;
};

// Reads the arguments after the program's name, `--name value` or `--name=value`; of an option given twice
// the last counts. What is not named keeps its value from `defaults`. --help or -h anywhere wins over all
// else, mistakes included. Throws option_error.
options parse_options(const std::vector<std::string>& arguments, const options& defaults = {});

// What --help prints: what the program does, every option with its default, examples.
std::string help_text(const options& defaults = {});

}  // namespace train_digits
