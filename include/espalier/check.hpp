// Checking a tree before it is trained: `tree_check`. A tree has no sharing: a leaf that stands at two places would
// become two leaves at the first update. (equinox.tree_check looks for shared nodes, which trees here cannot have.)
//
//   espalier::tree_check(model);      // throws: ".decoder.embedding: expected a leaf of its own, found that of …"
#pragma once

#include <espalier/errors.hpp>
#include <espalier/leaf.hpp>
#include <espalier/path.hpp>
#include <espalier/visit.hpp>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace espalier {

// A shared_ptr that has been made a leaf.
template <class T> struct leaf_identity<std::shared_ptr<T>> {
  static const void* of(const std::shared_ptr<T>& leaf) { return leaf.get(); }
};

// Throws structure_error if a leaf stands at several places, naming each but the first. Leaves are told apart by
// leaf_identity: engine arrays and other handles are one if they refer to one object; leaves that hold their values
// never are. One allocation for each such handle.
template <class Tree> void tree_check(const Tree& tree) {
  std::unordered_map<const void*, key_path> seen;
  std::vector<mismatch> shared;
  espalier::tree_visit_with_path(
      [&]<class L>(const path_view& path, const L& leaf) {
        if constexpr (requires { leaf_identity<L>::of(leaf); }) {
          const void* identity = leaf_identity<L>::of(leaf);
          if (!identity) return;
          const auto [first, is_new] = seen.try_emplace(identity, path.own());
          if (!is_new)
            shared.push_back({path.to_string(), "a leaf of its own", "that of " + first->second.to_string()});
        }
      },
      tree);
  if (!shared.empty()) {
    throw structure_error(
        "espalier: tree_check: leaves are shared; copy them, or keep one and use it at both places of the model:",
        std::move(shared));
  }
}

}  // namespace espalier
