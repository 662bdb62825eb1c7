#include "options.hpp"

#include <limits>
#include <utility>

namespace train_digits {
namespace {

std::string joined(const std::vector<int>& numbers) {
  std::string text;
  for (int n : numbers) text.append(text.empty() ? "" : ",").append(std::to_string(n));
  return text;
}

// Whole numbers, separated by commas.
examples::option widths(std::string name, std::vector<int>& field, std::string help) {
  return {name, "A,B,..", std::move(help), joined(field), [name, &field](const std::string& given) {
            std::vector<int> result;
            for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
              end = given.find(',', begin);
              const std::string width = given.substr(begin, end == std::string::npos ? end : end - begin);
              try {
                result.push_back(static_cast<int>(examples::parse_whole_number(name, width, 1, 65'536)));
              } catch (const option_error&) {
                examples::refuse(name, "whole numbers separated by commas, each from 1 to 65536", "'" + given + "'");
              }
            }
            field = result;
          }};
}

std::vector<examples::option> options_of(options& o) {
  using namespace examples;
  constexpr std::uint64_t many = 1'000'000;
  return {
      file("--data", o.data, "digits to learn from: 64 pixels (0 to 16) and a label (0 to 9) a line"),
      whole_number("--epochs", o.epochs, 1, many, "passes over the training set; with --resume, this many more"),
      whole_number("--batch-size", o.batch_size, 1, many,
                   "images in a mini-batch, of all processes; the last one of an epoch may be smaller"),
      positive_number("--learning-rate", o.learning_rate, "step size of the optimizer"),
      widths("--hidden", o.hidden, "widths of the hidden layers, from the image to the answer"),
      whole_number("--seed", o.seed, 0, std::numeric_limits<std::uint64_t>::max(),
                   "start of all randomness: split, first weights, order of the batches"),
      file("--checkpoint", o.checkpoint, "where the trained state is written after each epoch, and read with --resume"),
      flag("--resume", o.resume, "go on from the checkpoint instead of starting anew"),
      file("--curve", o.curve, "where the picture of loss and accuracy is written (SVG)"),
      flag("--help", o.help, "print this and stop; -h does the same"),
  };
}

}  // namespace

options parse_options(const std::vector<std::string>& arguments, const options& defaults) {
  options chosen = defaults;
  chosen.help = examples::asks_for_help(arguments);
  if (!chosen.help) examples::parse("train_digits", options_of(chosen), arguments);
  return chosen;
}

std::string help_text(const options& defaults) {
  options shown = defaults;
  return "Usage: train_digits [options]\n\n"
         "Trains a multilayer perceptron on handwritten digits. Prints progress and the accuracy on digits that it\n"
         "was not trained on; writes a checkpoint and a picture of the learning curve. A checkpoint that is there\n"
         "already is kept as FILE.previous, unless it is resumed. Of several processes (mlx.launch -n 2 -- "
         "train_digits)\n"
         "each takes its share of every mini-batch, and the first one prints and writes.\n\nOptions:\n" +
         examples::options_text(options_of(shown)) +
         "\nA value in [brackets] is used where the option is not given.\n\n"
         "Examples:\n"
         "  train_digits                                      train with the defaults\n"
         "  train_digits --resume --epochs 10                 ten epochs more, from the checkpoint\n"
         "  train_digits --hidden 32 --learning-rate 0.01     one small hidden layer, larger steps\n";
}

}  // namespace train_digits
