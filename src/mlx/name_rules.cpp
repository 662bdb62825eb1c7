#include <algorithm>
#include <espalier/mlx/checkpoint_error.hpp>
#include <espalier/mlx/name_rules.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace espalier {

namespace {

// Where the next placeholder of a pattern is, and how long; npos and 0 if there is none.
struct placeholder {
  std::size_t at;
  std::size_t length;

  explicit placeholder(std::string_view pattern) : at(std::min(pattern.find("{}"), pattern.find('*'))) {
    length = at == std::string_view::npos ? 0 : pattern[at] == '*' ? 1 : 2;
  }
  explicit operator bool() const { return length != 0; }
};

std::string placeholders(std::string_view pattern) {
  std::string all;
  while (const placeholder next{pattern}) {
    all += pattern.substr(next.at, next.length);
    pattern.remove_prefix(next.at + next.length);
  }
  return all;
}

// Whether a name matches a pattern as a whole; then `captures` has what the placeholders stand for.
bool match(std::string_view pattern, std::string_view name, std::vector<std::string_view>& captures) {
  const placeholder next{pattern};
  if (!next) return pattern == name;
  if (!name.starts_with(pattern.substr(0, next.at))) return false;
  name.remove_prefix(next.at);
  const std::string_view rest = pattern.substr(next.at + next.length);
  const std::size_t longest = next.length == 2 ? std::min(name.find('.'), name.size()) : name.size();
  for (std::size_t n = 1; n <= longest; ++n) {
    captures.push_back(name.substr(0, n));
    if (match(rest, name.substr(n), captures)) return true;
    captures.pop_back();
  }
  return false;
}

// The name that one rule makes, in one of its directions; nothing where it does not match.
std::optional<std::string> rename(std::string_view from, std::string_view to, std::string_view name) {
  std::vector<std::string_view> captures;
  if (!match(from, name, captures)) return std::nullopt;
  std::string made;
  for (const std::string_view capture : captures) {
    const placeholder next{to};
    made.append(to.substr(0, next.at)).append(capture);
    to.remove_prefix(next.at + next.length);
  }
  return made.append(to);
}

std::vector<int> inverse(const std::vector<int>& axes) {
  std::vector<int> result(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) result[static_cast<std::size_t>(axes[i])] = static_cast<int>(i);
  return result;
}

void check(const name_rule& rule) {
  const auto fail = [&](const std::string& what) {
    throw checkpoint_error("espalier: name_rules: the rule from '" + rule.file + "' to " +
                           (rule.tree ? "'" + *rule.tree + "'" : "nothing") + " " + what);
  };
  if (rule.tree && placeholders(rule.file) != placeholders(*rule.tree)) {
    fail("does not have the same placeholders ({} or *) in the same order on both sides");
  }
  std::vector<int> sorted = rule.axes;
  std::sort(sorted.begin(), sorted.end());
  std::vector<int> all(sorted.size());
  std::iota(all.begin(), all.end(), 0);
  if (sorted != all) fail("has axes that are no permutation of 0, 1, …");
}

}  // namespace

name_rules::name_rules(std::vector<name_rule> rules) : rules_(std::move(rules)) {
  for (const name_rule& rule : rules_) check(rule);
}

name_rules::renamed name_rules::in_tree(std::string_view name) const {
  for (const name_rule& rule : rules_) {
    std::optional<std::string> made = rename(rule.file, rule.tree ? *rule.tree : rule.file, name);
    if (made) return rule.tree ? renamed{std::move(made), rule.axes} : renamed{};
  }
  return {std::string(name), {}};
}

name_rules::renamed name_rules::in_file(std::string_view name) const {
  for (const name_rule& rule : rules_) {
    if (!rule.tree) continue;
    std::optional<std::string> made = rename(*rule.tree, rule.file, name);
    if (made) return {std::move(made), inverse(rule.axes)};
  }
  return {std::string(name), {}};
}

}  // namespace espalier
