// The key paths of a tree's leaves.
#pragma once

#include <espalier/path.hpp>
#include <espalier/visit.hpp>
#include <vector>

namespace espalier {

// The key paths of the leaves, in order (the paths of jax.tree.leaves_with_path).
template <class Tree> std::vector<key_path> tree_paths(const Tree& tree) {
  std::vector<key_path> paths;
  espalier::tree_visit_with_path([&](const path_view& path, const auto&) { paths.push_back(path.own()); }, tree);
  return paths;
}

}  // namespace espalier
