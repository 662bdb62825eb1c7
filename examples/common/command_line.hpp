// The command line of an example: a list of options, each bound to the field that it sets.
//
//   options chosen;
//   const std::vector<option> all = {whole_number("--steps", chosen.steps, 1, 1'000'000, "steps to train"), …};
//   std::cout << options_text(all);                            // with the fields' values as defaults
//   parse("train_lm", all, {argv + 1, argv + argc});
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace examples {

// A command line that cannot be used. what() names the option, what was expected and what was found.
struct option_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct option {
  std::string name;   // "--steps"
  std::string value;  // what --help calls its value; empty: a flag, which has none
  std::string help;
  std::string shown;  // the default, as --help shows it
  std::function<void(const std::string&)> set;
};

// The fields must live as long as the options. Values that do not fit throw option_error.
option flag(std::string name, bool& field, std::string help);
option text(std::string name, std::string& field, std::string help);
option file(std::string name, std::filesystem::path& field, std::string help);
option positive_number(std::string name, double& field, std::string help);

// Throws option_error about the option of this name.
[[noreturn]] void refuse(const std::string& name, const std::string& expected, const std::string& found);

// The whole number from `lowest` to `highest` that the text is; throws option_error.
std::uint64_t parse_whole_number(const std::string& name, const std::string& text, std::uint64_t lowest,
                                 std::uint64_t highest);

template <std::integral Number>
option whole_number(std::string name, Number& field, std::uint64_t lowest, std::uint64_t highest, std::string help) {
  return {name, "N", std::move(help), std::to_string(field), [=, &field](const std::string& given) {
            field = static_cast<Number>(parse_whole_number(name, given, lowest, highest));
          }};
}

// One of several values by name.
template <class Value>
option one_of(std::string name, Value& field, std::vector<std::pair<std::string, Value>> choices, std::string help) {
  std::string now;
  for (const auto& [word, value] : choices) {
    if (value == field) now = word;
  }
  return {name, "NAME", std::move(help), now, [=, &field](const std::string& given) {
            std::string words;
            for (const auto& [word, value] : choices) {
              if (word == given) {
                field = value;
                return;
              }
              words.append(words.empty() ? "" : " or ").append(word);
            }
            refuse(name, words, "'" + given + "'");
          }};
}

// Whether --help or -h is there: it wins over all else, mistakes included.
bool asks_for_help(const std::vector<std::string>& arguments);

// Reads the arguments after the program's name, `--name value` or `--name=value`, and sets the fields; of an option given
// twice the last counts. Throws option_error.
void parse(const std::string& program, const std::vector<option>& all, const std::vector<std::string>& arguments);

// A line or two for each option, with its default.
std::string options_text(const std::vector<option>& all);

}  // namespace examples
