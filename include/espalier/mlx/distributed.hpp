// Training on several processes ("ranks"), over MLX's distributed engine: what goes between them are trees.
//
//   const auto group = espalier::distributed_group();            // first in main; without a launcher a group of one
//   model = espalier::broadcast(model);                          // every rank begins with rank 0's
//   gradient = espalier::average_gradients(gradient);            // inside the compiled step
//
// Every rank has to make the same calls in the same order. distributed_shard.hpp deals out data, distributed_check.hpp
// compares the ranks' trees before the first step; docs/distributed.md tells how to launch a program.
#pragma once

#include <mlx/array.h>
#include <mlx/distributed/distributed.h>
#include <mlx/utils.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <espalier/detail/types.hpp>
#include <espalier/errors.hpp>
#include <espalier/map.hpp>
#include <espalier/mlx/array.hpp>
#include <espalier/parameters.hpp>
#include <espalier/visit.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace espalier {

// Ranks disagree, or are asked for what they cannot do.
struct distributed_error : error {
  using error::error;
};

// The ranks of this program, as mlx::core::distributed::init finds them: a group of one where it was started alone. A
// back end that is named ("ring", "mpi", "nccl") has to be there. Throws what MLX throws. The first call in a group of
// several also does two things that a C++ program needs and MLX does not do: it ignores SIGPIPE, which would end the
// process without a word when another one dies (as Python does); and on ranks above 0 it sets TMPDIR to a folder of the
// rank's own below it, since MLX compiles kernels into files there, and ranks on one machine would get into each
// other's way. So call it before there are threads.
::mlx::core::distributed::Group distributed_group(const std::string& backend = "any");

// As mlx.nn.average_gradients: 32 MiB.
inline constexpr std::size_t default_bucket_bytes = std::size_t{32} << 20;

struct average_options {
  ::mlx::core::distributed::Group group = distributed_group();
  // Arrays go together until they are this many bytes or more; 0: each on its own.
  std::size_t bucket_bytes = default_bucket_bytes;
  // Real gradients are sent in this floating-point dtype, such as bfloat16, and come back in their own.
  std::optional<::mlx::core::Dtype> communication_dtype = std::nullopt;
  // Where to communicate; by default where the back end wants to.
  ::mlx::core::StreamOrDevice stream = {};
};

namespace detail {

using mlx_arrays = std::vector<::mlx::core::array>;

mlx_arrays average(const mlx_arrays& arrays, const average_options& options);
mlx_arrays broadcast(const mlx_arrays& arrays, int root, const ::mlx::core::distributed::Group& group);
std::vector<mlx_arrays> all_gather(const mlx_arrays& arrays, const ::mlx::core::distributed::Group& group);

template <class Leaf>
inline constexpr bool can_be_sent =
    std::is_same_v<Leaf, ::mlx::core::array> || std::is_arithmetic_v<Leaf> || std::is_enum_v<Leaf>;
template <class... Leaf> consteval bool all_can_be_sent(types<Leaf...>) { return (can_be_sent<Leaf> && ...); }

// A number as its bytes, and back.
template <class Leaf>::mlx::core::array bytes_of(const Leaf& leaf) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&leaf);
  return ::mlx::core::array(bytes, {static_cast<int>(sizeof(Leaf))}, ::mlx::core::uint8);
}
template <class Leaf> Leaf from_bytes(::mlx::core::array bytes) {
  bytes.eval();
  Leaf leaf;
  std::memcpy(&leaf, bytes.data<std::uint8_t>(), sizeof leaf);
  return leaf;
}

// A tree's leaves as arrays, and a tree of the same structure made of such arrays.
template <class Tree> mlx_arrays to_arrays(const Tree& tree) {
  mlx_arrays arrays;
  espalier::tree_visit(
      [&]<class Leaf>(const Leaf& leaf) {
        if constexpr (std::is_same_v<Leaf, ::mlx::core::array>) {
          arrays.push_back(leaf);
        } else {
          arrays.push_back(bytes_of(leaf));
        }
      },
      tree);
  return arrays;
}
template <class Tree> Tree from_arrays(const Tree& like, const mlx_arrays& arrays) {
  auto next = arrays.begin();
  return espalier::tree_map(
      [&]<class Leaf>(const Leaf&) -> Leaf {
        if constexpr (std::is_same_v<Leaf, ::mlx::core::array>) {
          return *next++;
        } else {
          return from_bytes<Leaf>(*next++);
        }
      },
      like);
}

}  // namespace detail

// The mean over the ranks of every parameter of the tree (parameters.hpp); other leaves are this rank's own. Lazy, and
// may be part of a compiled function, where a loss can go along: average_gradients(std::pair(loss, gradients)). As
// mlx.nn.average_gradients: flattened arrays travel together in buckets, filled in the tree's order; but each dtype has
// buckets of its own, where Python sends every array by itself if there are two dtypes. The order of the messages is
// part of the graph. In a group of one nothing is done. Throws distributed_error if communication_dtype is not
// floating-point. Trees have to be of one structure, with equal shapes and dtypes, on all ranks.
template <class Tree> Tree average_gradients(const Tree& gradients, const average_options& options = {}) {
  static_assert(
      has_engine_arrays<Tree>,
      "espalier: average_gradients: the tree holds no mlx::core::array. Give the gradients of a model of arrays");
  if constexpr (has_engine_arrays<Tree>) {
    if (options.group.size() == 1) return gradients;
    detail::mlx_arrays arrays;
    espalier::tree_visit(
        [&]<class Leaf>(const Leaf& leaf) {
          if constexpr (is_parameter_type<Tree, Leaf>) {
            if (is_parameter<Tree>(leaf)) arrays.push_back(leaf);
          }
        },
        gradients);
    arrays = detail::average(arrays, options);
    auto next = arrays.begin();
    return tree_map_parameters([&](const ::mlx::core::array&) { return *next++; }, gradients);
  } else {
    return gradients;
  }
}

// The tree of rank `root`, bit for bit: its arrays, lazily, and its numbers, for which the call waits, so a tree with
// numbers cannot be broadcast inside a compiled function. Aux data stays this rank's own: structure, shapes and dtypes
// have to be equal already (require_same_structure). Every rank sends zeros but the root, and all are summed: costs what
// average_gradients costs. Throws distributed_error if there is no rank `root`.
template <class Tree>
Tree broadcast(const Tree& tree, int root = 0, const ::mlx::core::distributed::Group& group = distributed_group()) {
  constexpr bool sendable = detail::all_can_be_sent(detail::leaf_types<Tree>{});
  static_assert(
      sendable,
      "espalier: broadcast: the tree has a leaf that is neither an mlx::core::array nor a number. Make it aux "
      "data, which all ranks have to have alike");
  if constexpr (sendable) {
    return detail::from_arrays(tree, detail::broadcast(detail::to_arrays(tree), root, group));
  } else {
    return tree;
  }
}

// The trees of all ranks, that of rank r at [r], bit for bit: metrics of a step or an epoch. Arrays lazily; for numbers
// the call waits, as broadcast does. Structure, shapes and dtypes have to be equal on all ranks.
//
//   struct metrics { double loss; int hits; };
//   for (const metrics& m : espalier::all_gather(metrics{loss, hits})) hits_of_all += m.hits;
template <class Tree>
std::vector<Tree> all_gather(const Tree& tree, const ::mlx::core::distributed::Group& group = distributed_group()) {
  constexpr bool sendable = detail::all_can_be_sent(detail::leaf_types<Tree>{});
  static_assert(
      sendable,
      "espalier: all_gather: the tree has a leaf that is neither an mlx::core::array nor a number. Gather the "
      "part of it that is");
  std::vector<Tree> of_ranks;
  if constexpr (sendable) {
    for (const detail::mlx_arrays& arrays : detail::all_gather(detail::to_arrays(tree), group)) {
      of_ranks.push_back(detail::from_arrays(tree, arrays));
    }
  }
  return of_ranks;
}

}  // namespace espalier
