// Asks Espalier what answers.json says that jax, equinox, optree and mlx.utils answer: README.md.

#include <gtest/gtest.h>

#include <boost/json/src.hpp>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <espalier/errors.hpp>

#include "notation.hpp"
#include "questions.hpp"

namespace peers {
namespace {

namespace json = boost::json;

std::string text_of(const json::value& value) {
  std::vector<std::string> parts;
  if (const auto* object = value.if_object()) {
    for (const auto& [name, member] : *object) parts.push_back(write_string(name) + ": " + text_of(member));
    return join(parts, "{", "}");
  }
  if (const auto* array = value.if_array()) {
    for (const json::value& element : *array) parts.push_back(text_of(element));
    return list(parts);
  }
  if (value.is_double()) return write_number(value.get_double());
  if (value.is_string()) return write_string(std::string_view(value.get_string()));
  return json::serialize(value);
}

// Structures that any_treedef gives do not know the names of structs.
json::value without_names(const json::value& notation) {
  json::value result = notation;
  if (auto* array = result.if_array()) {
    for (json::value& part : *array) part = without_names(part);
    static const std::set<std::string_view> kinds{"list", "tuple", "dict", "int_dict"};
    if (array->size() == 2 && array->at(1).is_object() && !kinds.contains(array->at(0).as_string())) {
      array->at(0) = "struct";
    }
  } else if (auto* object = result.if_object()) {
    for (auto& member : *object) member.value() = without_names(member.value());
  }
  return result;
}

bool is_error(const json::value& answer) { return answer.is_object() && answer.as_object().contains("error"); }

// What the answer is in C++.
std::string expected_text(const std::string& operation, const json::value& answer) {
  static const std::set<std::string> nameless{"children", "child", "compose"};
  if (is_error(answer)) return error;
  return text_of(nameless.contains(operation) ? without_names(answer) : answer);
}

// A number of an answer: true is 1.
double number_of(const std::string& text) { return text == "true" ? 1 : text == "false" ? 0 : std::stod(text); }

bool agree(const std::string& operation, const std::string& expected, const std::string& found) {
  static const std::set<std::string> numbers{"tree_sum", "tree_max", "tree_min", "tree_reduce",
                                             "tree_reduce_associative"};
  if (expected == found) return true;
  if (!numbers.contains(operation) || expected == error || found == error) return false;
  return number_of(expected) == number_of(found);
}

std::string answer(const question& asked) {
  try {
    return asked.answer();
  } catch (const espalier::error&) {
    return error;
  }
}

json::array stored_answers() {
  std::ifstream file(ESPALIER_PEERS_ANSWERS, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  json::parse_options options;
  options.numbers = json::number_precision::precise;
  return json::parse(text, {}, options).at("answers").as_array();
}

TEST(Peers, GiveTheSameAnswers) {
  std::map<std::string, const question*, std::less<>> known;
  for (const question& asked : questions()) known.emplace(asked.text, &asked);
  std::size_t compared = 0;
  std::map<std::string, std::size_t> not_asked;
  const json::array lines = stored_answers();
  for (const json::value& line : lines) {
    const json::object& object = line.as_object();
    json::object text;
    for (const auto& [name, value] : object) {
      if (name == "answer") break;  // what stands before it is the question
      text.emplace(name, value);
    }
    const auto found = known.find(text_of(text));
    if (found == known.end()) {
      ADD_FAILURE() << "no answer in C++ to " << text_of(text) << "; write_cpp.py has not been run";
      continue;
    }
    const question& asked = *found->second;
    if (asked.answer == nullptr) {
      ++not_asked[std::string(asked.not_asked)];
      continue;
    }
    const std::string operation(object.at("operation").as_string());
    const json::value* espalier = object.if_contains("espalier");
    const std::string expected = expected_text(operation, espalier != nullptr ? *espalier : object.at("answer"));
    const std::string given = answer(asked);
    EXPECT_TRUE(agree(operation, expected, given))
        << asked.text << "\n  expected " << expected << "\n  found    " << given;
    ++compared;
  }
  EXPECT_EQ(known.size(), lines.size()) << "questions of which answers.json knows nothing";
  std::cout << compared << " answers compared\n";
  for (const auto& [reason, count] : not_asked) std::cout << count << " not asked: " << reason << '\n';
}

}  // namespace
}  // namespace peers
