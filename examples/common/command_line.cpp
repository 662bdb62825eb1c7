#include "command_line.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <locale>
#include <sstream>
#include <string_view>
#include <utility>

namespace examples {
namespace {

std::string in_quotes(std::string_view text) { return std::string(1, '\'').append(text).append(1, '\''); }

std::string plain(double x) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << x;
  return out.str();
}

double parse_positive(const std::string& name, const std::string& text) {
  std::istringstream in(text);
  in.imbue(std::locale::classic());
  double value = 0;
  if (!(in >> std::noskipws >> value) || in.peek() != std::char_traits<char>::eof() || !std::isfinite(value) ||
      value <= 0) {
    refuse(name, "a number above 0, e.g. 0.001 or 1e-3", in_quotes(text));
  }
  return value;
}

// Of one argument, and of the next one where the value stands there.
void parse_one(const std::vector<option>& all, const std::vector<std::string>& arguments, std::size_t& i) {
  const std::string& argument = arguments[i];
  const auto equals = argument.find('=');
  const std::string name = argument.substr(0, equals);
  const auto found = std::find_if(all.begin(), all.end(), [&](const option& o) { return o.name == name; });
  if (found == all.end()) {
    std::string names;
    for (const option& o : all) names.append(names.empty() ? "" : ", ").append(o.name);
    throw option_error("unknown option " + in_quotes(name) + ": expected one of " + names);
  }
  if (found->value.empty()) {
    if (equals != std::string::npos) refuse(name, "no value", in_quotes(argument.substr(equals + 1)));
    return found->set("");
  }
  const std::string expected = "a value (" + found->value + ")";
  std::string value;
  if (equals != std::string::npos) {
    value = argument.substr(equals + 1);
  } else {
    if (i + 1 == arguments.size()) refuse(name, expected, "the end of the command line");
    value = arguments[++i];
    if (value.starts_with("--")) refuse(name, expected, "the option " + in_quotes(value));
  }
  if (value.empty()) refuse(name, expected, "an empty one");
  found->set(value);
}

}  // namespace

option flag(std::string name, bool& field, std::string help) {
  return {std::move(name), "", std::move(help), "", [&field](const std::string&) { field = true; }};
}

option text(std::string name, std::string& field, std::string help) {
  return {std::move(name), "TEXT", std::move(help), field, [&field](const std::string& given) { field = given; }};
}

option file(std::string name, std::filesystem::path& field, std::string help) {
  return {std::move(name), "FILE", std::move(help), field.string(),
          [&field](const std::string& given) { field = given; }};
}

option positive_number(std::string name, double& field, std::string help) {
  return {name, "X", std::move(help), plain(field),
          [name, &field](const std::string& given) { field = parse_positive(name, given); }};
}

std::uint64_t parse_whole_number(const std::string& name, const std::string& text, std::uint64_t lowest,
                                 std::uint64_t highest) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc{} || stop != end || value < lowest || value > highest) {
    refuse(name, "a whole number from " + std::to_string(lowest) + " to " + std::to_string(highest), in_quotes(text));
  }
  return value;
}

void refuse(const std::string& name, const std::string& expected, const std::string& found) {
  throw option_error("option " + name + ": expected " + expected + ", found " + found);
}

bool asks_for_help(const std::vector<std::string>& arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [](const auto& a) { return a == "--help" || a == "-h"; });
}

void parse(const std::string& program, const std::vector<option>& all, const std::vector<std::string>& arguments) {
  try {
    for (std::size_t i = 0; i < arguments.size(); ++i) parse_one(all, arguments, i);
  } catch (const option_error& e) {
    throw option_error(e.what() + std::string(". See ") + program + " --help.");
  }
}

std::string options_text(const std::vector<option>& all) {
  constexpr std::size_t room = 24;
  std::string lines;
  for (const option& o : all) {
    std::string left = "  " + o.name + (o.value.empty() ? "" : " " + o.value);
    left.resize(std::max(left.size() + 2, room), ' ');
    lines += left + o.help;
    if (!o.shown.empty()) {
      const bool fits = left.size() + o.help.size() + o.shown.size() + 3 <= 110;
      lines += (fits ? "" : "\n" + std::string(room - 1, ' ')) + " [" + o.shown + "]";
    }
    lines += '\n';
  }
  return lines;
}

}  // namespace examples
