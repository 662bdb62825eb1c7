// Dotted names: a tree by its names is the tree, and no other names are taken for its own. An input is lines: map keys
// of two levels with a tab between, an empty line, and names to be asked for.

#include <algorithm>
#include <espalier/dotted_names.hpp>
#include <espalier/errors.hpp>
#include <espalier/flatten.hpp>
#include <map>
#include <optional>
#include <utility>

#include "fuzz.hpp"

namespace {

struct named {
  std::map<std::string, std::map<std::string, int>> strings;
  std::map<int, std::vector<std::optional<int>>> numbers;
  bool operator==(const named&) const = default;
};

using names = std::vector<std::pair<std::string, int>>;

names sorted(names list) {
  std::sort(list.begin(), list.end());
  return list;
}

}  // namespace

bool fuzz::read(std::string_view input) {
  named tree;
  names asked;
  int value = 0;
  bool in_keys = true;
  while (!input.empty()) {
    const std::string line(input.substr(0, input.find('\n')));
    input.remove_prefix(std::min(line.size() + 1, input.size()));
    if (line.empty() && in_keys) {
      in_keys = false;
    } else if (!in_keys) {
      asked.emplace_back(line, ++value);
    } else if (const std::size_t tab = line.find('\t'); tab != std::string::npos) {
      tree.strings[line.substr(0, tab)][line.substr(tab + 1)] = ++value;
    } else {
      auto& list = tree.numbers[static_cast<int>(line.size() % 5) - 2];
      list.emplace_back(line.front() == '?' ? std::nullopt : std::optional(++value));
    }
  }
  const auto structure = espalier::tree_structure(tree);
  names own;
  try {
    own = espalier::tree_flatten_names(tree);
  } catch (const espalier::structure_error& e) {
    require(!e.differences.empty(), "names that are shared are named");
    return false;
  }
  require(espalier::tree_unflatten_names(structure, own) == tree, "a tree by its names is the tree");
  bool accepted = true;
  try {
    const names found = espalier::tree_flatten_names(espalier::tree_unflatten_names(structure, asked));
    require(sorted(found) == sorted(asked), "each leaf is that of its name");
  } catch (const espalier::structure_error& e) {
    require(!e.differences.empty(), "names that do not fit are named");
    accepted = false;
  }
  const auto only_names = [](names list) {
    for (auto& entry : list) entry.second = 0;
    return sorted(std::move(list));
  };
  require(accepted == (only_names(own) == only_names(asked)), "only the tree's own names are accepted");
  return accepted;
}

std::vector<std::string> fuzz::seeds() {
  return {"", "a\tb\n\nstrings.a.b", "1\tx\n01\tx\n\nstrings.01.x\nstrings.1.x",
          "a.b\tc\na\tb\nx\n?\nxx\nxxxx\n\nstrings.a.b\nstrings.a.b.c\nnumbers.-1.0\nnumbers.0.0\nnumbers.2.0",
          "\t\n\nstrings.."};
}

std::vector<std::string> fuzz::tokens() {
  return {"\n",     "\n\n",     "\t",       ".",
          "..",     "a",        "b",        "a.b",
          "0",      "1",        "01",       "-1",
          "?",      "strings.", "numbers.", "strings.a.b\n",
          "a\tb\n", "a.b\tc\n", "a\tb.c\n", "strings.a.b.c\n",
          "a\t\n",  "\ta\n"};
}
