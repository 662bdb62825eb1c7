// Whether all ranks hold the same kind of tree, asked before the first step: ranks that do not would wait for each other
// for ever, or add what does not belong together.
//
//   espalier::require_same_structure(state);
//   // throws, on every rank: ".layers[1].weight: expected float32[128, 64] as on rank 0, found float32[128, 32] on rank 1"
#pragma once

#include <mlx/distributed/distributed.h>

#include <cstddef>
#include <cstdint>
#include <espalier/describe_value.hpp>
#include <espalier/detail/match.hpp>
#include <espalier/detail/outline.hpp>
#include <espalier/detail/walk.hpp>
#include <espalier/mlx/array.hpp>
#include <espalier/mlx/distributed.hpp>
#include <espalier/parameters.hpp>
#include <espalier/path_view.hpp>
#include <espalier/structure.hpp>
#include <string>
#include <tuple>
#include <utility>

namespace espalier {

namespace detail {

// What a rank tells of its tree: of every node and leaf its path and what stands there, each ended by a zero.
struct rank_report {
  std::uint64_t structure_hash = 0;
  std::string entries = {};

  void add(const std::string& path, const std::string& what) {
    entries.append(path).push_back('\0');
    entries.append(what).push_back('\0');
  }
};

// Of leaves their dtypes and shapes: values may differ.
template <class Leaf> std::string leaf_kind(const Leaf& leaf) {
  if constexpr (engine_array<Leaf>) {
    return describe_value(leaf);
  } else {
    const std::string number = number_type<Leaf>();
    return number.empty() ? "a leaf" : number;
  }
}

template <class T> void report_tree(rank_report& report, const path_view& path, const T& tree) {
  using N = node_of<T>;
  if constexpr (N::kind == node_kind::leaf) {
    report.add(path.to_string(), leaf_kind(tree));
  } else {
    if constexpr (N::kind == node_kind::sequence) {
      report.add(path.to_string(), count_text(N::size(tree), "element"));
    } else if constexpr (N::kind == node_kind::map) {
      report.add(path.to_string(), count_text(map_entries(tree).size(), "key"));
    } else if constexpr (N::kind == node_kind::maybe) {
      report.add(path.to_string(), tree ? "a value" : "None");
    } else if constexpr (N::kind == node_kind::variant) {
      report.add(path.to_string(), "alternative " + std::to_string(tree.index()));
    }
    if constexpr (is_product<T>) {
      if constexpr (N::has_aux) {
        outline node;
        add_aux(node, tree);
        for (const auto& [name, value] : node.aux) report.add(path.to_string() + name, "aux " + value);
      }
    }
    for_each_child([&](const auto& key, const auto& child) { report_tree(report, path / key, child); }, tree);
  }
}

void require_same(const rank_report& mine, const ::mlx::core::distributed::Group& group);

}  // namespace detail

// Throws structure_error, on every rank and with the same words, unless all ranks hold trees of one structure (its hash
// is compared), with the same shapes and dtypes of arrays: names the ranks, what each holds, and the first key path at
// which each differs from rank 0. Values of leaves may differ. Costs one small message between the ranks; more only if
// there is something to tell.
template <class Tree>
void require_same_structure(const Tree& tree, const ::mlx::core::distributed::Group& group = distributed_group()) {
  static_assert(detail::require_trees<Tree>());
  if (group.size() == 1) return;
  detail::rank_report report{treedef<Tree>(tree).hash()};
  detail::report_tree(report, path_view{}, tree);
  detail::require_same(report, group);
}

}  // namespace espalier
