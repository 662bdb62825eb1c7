#include "options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <locale>
#include <sstream>
#include <string_view>

namespace train_digits {
namespace {

// One option: how --help shows it, and how its value is taken over and shown. A flag has no value.
struct option {
  std::string name, value, help;
  void (*set)(options&, const option&, const std::string&);
  std::string (*shown)(const options&);
};

std::string in_quotes(std::string_view text) { return std::string(1, '\'').append(text).append(1, '\''); }

[[noreturn]] void fail(const option& o, const std::string& expected, const std::string& found) {
  throw option_error("option " + o.name + ": expected " + expected + ", found " + found + ". See train_digits --help.");
}

std::uint64_t whole_number(const option& o, std::string_view text, std::uint64_t lowest, std::uint64_t highest,
                           const std::string& kind, std::string_view found) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc{} || stop != end || value < lowest || value > highest) {
    fail(o, kind + " from " + std::to_string(lowest) + " to " + std::to_string(highest), in_quotes(found));
  }
  return value;
}

std::size_t count(const option& o, const std::string& text) {
  return static_cast<std::size_t>(whole_number(o, text, 1, 1'000'000, "a whole number", text));
}

std::vector<int> widths(const option& o, const std::string& text) {
  std::vector<int> result;
  for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find(',', begin);
    const auto width = std::string_view(text).substr(begin, end == std::string::npos ? end : end - begin);
    const auto value = whole_number(o, width, 1, 65'536, "whole numbers separated by commas, each", text);
    result.push_back(static_cast<int>(value));
  }
  return result;
}

double positive(const option& o, const std::string& text) {
  std::istringstream in(text);
  in.imbue(std::locale::classic());
  double value = 0;
  if (!(in >> std::noskipws >> value) || in.peek() != std::char_traits<char>::eof() || !std::isfinite(value) ||
      value <= 0) {
    fail(o, "a number above 0, e.g. 0.001 or 1e-3", in_quotes(text));
  }
  return value;
}

std::string joined(const std::vector<int>& numbers) {
  std::string text;
  for (int n : numbers) text.append(text.empty() ? "" : ",").append(std::to_string(n));
  return text;
}

std::string plain(double x) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << x;
  return out.str();
}

const std::vector<option>& all_options() {
  using o = option;
  using s = std::string;
  static const std::vector<option> all = {
      {"--data", "FILE", "digits to learn from: 64 pixels (0 to 16) and a label (0 to 9) a line",
       [](options& x, const o&, const s& v) { x.data = v; }, [](const options& x) { return x.data.string(); }},
      {"--epochs", "N", "passes over the training set; with --resume, this many more",
       [](options& x, const o& me, const s& v) { x.epochs = count(me, v); },
       [](const options& x) { return std::to_string(x.epochs); }},
      {"--batch-size", "N", "images in a mini-batch; the last one of an epoch may be smaller",
       [](options& x, const o& me, const s& v) { x.batch_size = count(me, v); },
       [](const options& x) { return std::to_string(x.batch_size); }},
      {"--learning-rate", "X", "step size of the optimizer",
       [](options& x, const o& me, const s& v) { x.learning_rate = positive(me, v); },
       [](const options& x) { return plain(x.learning_rate); }},
      {"--hidden", "A,B,..", "widths of the hidden layers, from the image to the answer",
       [](options& x, const o& me, const s& v) { x.hidden = widths(me, v); },
       [](const options& x) { return joined(x.hidden); }},
      {"--seed", "N", "start of all randomness: split, first weights, order of the batches",
       [](options& x, const o& me, const s& v) {
         x.seed = whole_number(me, v, 0, std::numeric_limits<std::uint64_t>::max(), "a whole number", v);
       },
       [](const options& x) { return std::to_string(x.seed); }},
      {"--checkpoint", "FILE", "where the trained state is written after each epoch, and read with --resume",
       [](options& x, const o&, const s& v) { x.checkpoint = v; },
       [](const options& x) { return x.checkpoint.string(); }},
      {"--resume", "", "go on from the checkpoint instead of starting anew",
       [](options& x, const o&, const s&) { x.resume = true; }, nullptr},
      {"--curve", "FILE", "where the picture of loss and accuracy is written (SVG)",
       [](options& x, const o&, const s& v) { x.curve = v; }, [](const options& x) { return x.curve.string(); }},
      {"--help", "", "print this and stop; -h does the same", [](options& x, const o&, const s&) { x.help = true; },
       nullptr},
  };
  return all;
}

const option& find_option(const std::string& name) {
  const auto& all = all_options();
  const auto found = std::find_if(all.begin(), all.end(), [&](const option& o) { return o.name == name; });
  if (found != all.end()) return *found;
  std::string names;
  for (const option& o : all) names.append(names.empty() ? "" : ", ").append(o.name);
  throw option_error("unknown option " + in_quotes(name) + ": expected one of " + names + ". See train_digits --help.");
}

}  // namespace

options parse_options(const std::vector<std::string>& arguments, const options& defaults) {
  options chosen = defaults;
  chosen.help =
      std::any_of(arguments.begin(), arguments.end(), [](const auto& a) { return a == "--help" || a == "-h"; });
  if (chosen.help) return chosen;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto equals = arguments[i].find('=');
    const option& o = find_option(arguments[i].substr(0, equals));
    std::string value;
    if (o.value.empty()) {
      if (equals != std::string::npos) fail(o, "no value", in_quotes(arguments[i].substr(equals + 1)));
    } else if (equals != std::string::npos) {
      value = arguments[i].substr(equals + 1);
    } else {
      if (i + 1 == arguments.size()) fail(o, "a value (" + o.value + ")", "the end of the command line");
      value = arguments[++i];
      if (value.starts_with("--")) fail(o, "a value (" + o.value + ")", "the option " + in_quotes(value));
    }
    if (!o.value.empty() && value.empty()) fail(o, "a value (" + o.value + ")", "an empty one");
    o.set(chosen, o, value);
  }
  return chosen;
}

std::string help_text(const options& defaults) {
  std::string text =
      "Usage: train_digits [options]\n\n"
      "Trains a multilayer perceptron on handwritten digits. Prints progress and the accuracy on digits that it\n"
      "was not trained on; writes a checkpoint and a picture of the learning curve. A checkpoint that is there\n"
      "already is kept as FILE.previous, unless it is resumed.\n\nOptions:\n";
  for (const option& o : all_options()) {
    std::string left = "  " + o.name + (o.value.empty() ? "" : " " + o.value);
    left.resize(std::max<std::size_t>(left.size() + 2, 22), ' ');
    text += left + o.help;
    if (o.shown) {
      const std::string shown = " [" + o.shown(defaults) + "]";
      const bool fits = left.size() + o.help.size() + shown.size() <= 100;
      text += fits ? shown : "\n" + std::string(21, ' ') + shown;
    }
    text += '\n';
  }
  return text +
         "\nA value in [brackets] is used where the option is not given.\n\n"
         "Examples:\n"
         "  train_digits                                      train with the defaults\n"
         "  train_digits --resume --epochs 10                 ten epochs more, from the checkpoint\n"
         "  train_digits --hidden 32 --learning-rate 0.01     one small hidden layer, larger steps\n";
}

}  // namespace train_digits
