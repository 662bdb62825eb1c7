// The operations that give leaves, their paths, and their names.
#pragma once

#include <espalier/dotted_names.hpp>
#include <espalier/flatten.hpp>
#include <espalier/leaf_if.hpp>
#include <espalier/paths.hpp>
#include <espalier/visit.hpp>
#include <string>
#include <vector>

#include "../notation.hpp"

namespace peers {

template <class T> std::string tree_leaves(const T& tree) { return write_each(espalier::tree_leaves(tree)); }

template <class... Stop, class T> std::string tree_leaves(espalier::leaf_if_t<Stop...> stops, const T& tree) {
  std::vector<std::string> leaves;
  espalier::tree_visit(stops, [&](const auto& leaf) { leaves.push_back(write(leaf)); }, tree);
  return list(leaves);
}

template <class T> std::string tree_paths(const T& tree) {
  std::vector<std::string> paths;
  for (const espalier::key_path& path : espalier::tree_paths(tree)) paths.push_back(path.to_string());
  return write_each(paths);
}

template <class T> std::string dotted_names(const T& tree) {
  std::vector<std::string> names;
  for (const espalier::key_path& path : espalier::tree_paths(tree)) names.push_back(path.dotted());
  return write_each(names);
}

template <class T> std::string dotted_round_trip(const T& tree) {
  return write(espalier::tree_unflatten_names(espalier::tree_structure(tree), espalier::tree_flatten_names(tree)));
}

}  // namespace peers
