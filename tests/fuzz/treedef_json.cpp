// Structures as text: what is read is written, and read again to the same structure and text. The hash is looked at
// last, so inputs are read without it, or few would get past it.

#include <array>
#include <espalier/any_treedef.hpp>
#include <espalier/flatten.hpp>
#include <espalier/treedef_json.hpp>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <variant>

#include "fuzz.hpp"

namespace {

constexpr std::size_t max_nodes = 2000;

struct chain {
  int value;
  std::unique_ptr<chain> next;
};
struct rose {
  std::map<std::string, rose> children;
  espalier::aux<double> weight;
};
struct many {
  std::vector<std::optional<std::pair<int, float>>> list;
  std::map<int, std::variant<double, std::tuple<>, std::array<int, 3>>> by_id;
  espalier::aux<std::string> name;
  espalier::aux<bool> on;
};

}  // namespace

bool fuzz::read(std::string_view input) {
  std::optional<espalier::any_treedef> def;
  try {
    def.emplace(espalier::detail::treedef_reader(input, max_nodes).read());
  } catch (const espalier::treedef_text_error& e) {
    require(e.line > 0 && e.column > 0 && e.line + e.column <= input.size() + 2, "an error is inside the text");
    return false;
  }
  const std::string text = espalier::treedef_to_json(*def);
  const espalier::any_treedef again = espalier::treedef_from_json(text, max_nodes);
  require(again == *def && again.hash() == def->hash(), "what is written reads back equal");
  require(again.to_string() == def->to_string(), "and prints the same");
  require(espalier::treedef_to_json(again) == text, "and is written the same");
  require(def->paths().size() == def->num_leaves() && def->is_prefix_of(again), "its paths are those of its leaves");
  std::size_t nodes = 1;
  for (const espalier::any_treedef& child : def->children()) nodes += child.num_nodes();
  require(nodes == def->num_nodes(), "its nodes are its children's and one");
  return true;
}

std::vector<std::string> fuzz::seeds() {
  const auto text = [](const auto& tree) { return espalier::treedef_to_json(espalier::tree_structure(tree)); };
  rose parent{{}, 0.5};
  parent.children["a"] = rose{{}, -0.0};
  parent.children["it's"].children["\xc3\xbc"].weight = 1;
  many all{
      {std::pair(1, 2.f), {}}, {{-1, 1.0}, {2, std::tuple<>()}, {3, std::array<int, 3>{}}}, std::string("n"), true};
  return {text(1), text(std::vector<int>(3)), text(chain{1, std::make_unique<chain>(2, nullptr)}), text(parent),
          text(all)};
}

std::vector<std::string> fuzz::tokens() {
  return {"{",
          "}",
          "[",
          "]",
          ",",
          ":",
          "\"",
          "\\",
          "\\u0041",
          "\\ud83d\\ude00",
          "\\ud800",
          "0",
          "1",
          "2",
          "3",
          "100",
          "18446744073709551615",
          "18446744073709551616",
          "true",
          "false",
          "null",
          "\"aux\": true",
          "\"type\": 0",
          "\"type\": 1",
          "\"type\": 2",
          "\"size\": 2",
          "\"size\": 0",
          "{\"size\": 1}",
          "{\"engaged\": true}",
          "{\"engaged\": false}",
          "{\"held\": 0}",
          "{\"held\": 1}",
          "{\"keys\": []}",
          "\"name\": \"n\", ",
          "\"record\"",
          "\"tuple\"",
          "\"custom\"",
          "\"array\"",
          "\"sequence\"",
          "\"map\"",
          "\"maybe\"",
          "\"variant\"",
          "\"leaf\"",
          "{\"kind\": \"leaf\"}",
          "{\"kind\": \"sequence\", \"type\": 0}",
          "{\"type\": 0}",
          "\"fields\": []",
          "\"keys\": \"strings\"",
          "\"keys\": \"numbers\"",
          "\xff",
          "\xc3\xbc",
          "\x01",
          "\n",
          " "};
}
