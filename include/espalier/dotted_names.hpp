// Leaves by dotted name, as mlx.utils.tree_flatten and checkpoints name them, and a tree again from names and leaves.
//
//   auto named = espalier::tree_flatten_names(model);          // {"layers.0.weight", …}, {"layers.0.bias", …}, …
//   Model again = espalier::tree_unflatten_names(espalier::tree_structure(model), named);
//
// A name is key_path::dotted() of the leaf's key path: field names, indices and map keys with dots between, as they
// are, so that they are the names in everybody's files; a leaf that is the whole tree has the empty name. Keys are
// never taken for one another: "1" and "01" are two names, and where two leaves of a tree would get one name (the maps'
// ["a.b"]["c"] and ["a"]["b.c"]), that is an error that names both. Where such keys must be told apart, use key paths.
#pragma once

#include <algorithm>
#include <cstddef>
#include <espalier/errors.hpp>
#include <espalier/flatten.hpp>
#include <espalier/path.hpp>
#include <espalier/structure.hpp>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace espalier {

namespace detail {

// Apart, since it is rarely needed: every leaf whose name an earlier leaf has.
template <class T>
[[noreturn, gnu::noinline, gnu::cold]] void throw_shared_names(const char* operation, const T& tree) {
  std::unordered_map<std::string, std::string> first;  // the key path of each name
  std::vector<mismatch> found;
  auto leaf = [&](const path_view& path, const auto&) {
    const auto [other, is_new] = first.emplace(path.dotted(), path.to_string());
    if (is_new) return;
    found.push_back({path.to_string(), "a dotted name of its own (rename a key)",
                     "'" + other->first + "', which " + other->second + " has too"});
  };
  visit_tree(leaf, path_view{}, tree);
  throw structure_error("espalier: " + std::string(operation) + ": leaves of one name:", std::move(found));
}

// The names of a tree's leaves, or of its skeleton's, in order; all different.
template <class T> std::vector<std::string> leaf_names(const char* operation, const T& tree) {
  std::vector<std::string> names;
  auto leaf = [&](const path_view& path, const auto&) { names.push_back(path.dotted()); };
  visit_tree(leaf, path_view{}, tree);
  std::vector<std::string_view> sorted(names.begin(), names.end());
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) throw_shared_names(operation, tree);
  return names;
}

}  // namespace detail

// A leaf of T and its dotted name.
template <class T> using named_leaf = std::pair<std::string, leaf_value_t<T>>;

// The leaves of a tree with their dotted names, in order: copied, or moved out of an rvalue (as mlx.utils.tree_flatten).
// Throws structure_error if two leaves have one name; the tree is then untouched.
template <class Tree> auto tree_flatten_names(Tree&& tree) {
  using T = std::remove_cvref_t<Tree>;
  static_assert(detail::require_trees<T>());
  std::vector<std::string> names = detail::leaf_names("tree_flatten_names", tree);
  std::vector<named_leaf<T>> result;
  result.reserve(names.size());
  auto leaf = [&](const auto&, auto& value) {
    result.emplace_back(std::move(names[result.size()]), leaf_value_t<T>(detail::forward_leaf<Tree>(value)));
  };
  detail::visit_tree(leaf, detail::no_path{}, tree);
  return result;
}

// A tree of this structure from leaves found by name: a range of pairs (a vector of named_leaf, a std::map, …) in any
// order. Leaves of an rvalue container are moved. Throws structure_error with every name that is missing, unexpected,
// there twice, or whose leaf has another type than the structure has there (as an alternative of a variant); `path` of a
// mismatch is the name. Unlike mlx.utils.tree_unflatten, which makes lists and dicts up from the names alone, it needs
// the structure: names do not say what is a list, a dict or None.
template <class T, std::ranges::forward_range Named>
T tree_unflatten_names(const treedef<T>& structure, Named&& named) {
  const std::vector<std::string> names = detail::leaf_names("tree_unflatten_names", structure.tree());
  std::unordered_map<std::string_view, std::size_t> position;
  for (const std::string& name : names) position.emplace(name, position.size());

  using value = std::remove_reference_t<decltype((std::ranges::begin(named)->second))>;
  std::vector<value*> leaves(names.size(), nullptr);
  std::vector<mismatch> unexpected;
  for (auto& [name, leaf] : named) {
    const auto found = position.find(name);
    if (found == position.end()) {
      unexpected.push_back({std::string(name), "no such name", "a leaf"});
    } else if (leaves[found->second] != nullptr) {
      unexpected.push_back({std::string(name), "one leaf", "another of the same name"});
    } else {
      leaves[found->second] = &leaf;
    }
  }
  std::vector<mismatch> differences;
  std::size_t next = 0;
  auto check = [&]<class L>(const auto&, const detail::leaf_slot<L>&) {
    const value* const given = leaves[next];
    if (given == nullptr) {
      differences.push_back({names[next], "a leaf", "no such name"});
    } else if (!detail::holds_leaf<L>(*given)) {
      differences.push_back({names[next], "a leaf of the structure's type", "a leaf of another type"});
    }
    ++next;
  };
  detail::visit_tree(check, detail::no_path{}, structure.tree());
  differences.insert(differences.end(), unexpected.begin(), unexpected.end());
  if (!differences.empty()) {
    throw structure_error("espalier: tree_unflatten_names: the names are not those of the structure:",
                          std::move(differences));
  }

  next = 0;
  auto leaf = [&]<class L>(detail::type_tag<L>, const auto&, const auto&) -> L {
    if constexpr (std::is_lvalue_reference_v<Named> || std::ranges::view<std::remove_cvref_t<Named>>) {
      return detail::take_leaf<L>(*leaves[next++]);
    } else {
      return detail::take_leaf<L>(std::move(*leaves[next++]));
    }
  };
  return detail::map_tree<T>(leaf, detail::no_path{}, structure.tree());
}

}  // namespace espalier
