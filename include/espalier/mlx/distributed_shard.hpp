// Data for several ranks: which rows of an epoch are this one's.
//
//   const auto mine = espalier::shard(std::span(shuffled));   // the permutation is the same on every rank
#pragma once

#include <mlx/distributed/distributed.h>

#include <cstddef>
#include <espalier/mlx/distributed.hpp>
#include <iterator>
#include <numeric>
#include <ranges>
#include <vector>

namespace espalier {

// This rank's share of rows: every ranks-th of them, from its own rank on. All ranks get equally many, so that all make
// the same number of steps and the mean of their means is the mean; the n % ranks last rows are nobody's. Dealt out in
// this way, the ranks' i-th batches of b / ranks rows are together the i-th batch of b rows of one process, where ranks
// divides b. One allocation.
template <std::ranges::random_access_range Rows>
std::vector<std::ranges::range_value_t<Rows>> shard(
    const Rows& rows, const ::mlx::core::distributed::Group& group = distributed_group()) {
  const auto ranks = static_cast<std::size_t>(group.size());
  const std::size_t share = std::ranges::size(rows) / ranks;
  std::vector<std::ranges::range_value_t<Rows>> mine;
  mine.reserve(share);
  auto next = static_cast<std::size_t>(group.rank());
  for (; mine.size() < share; next += ranks) {
    mine.push_back(std::ranges::begin(rows)[static_cast<std::ranges::range_difference_t<Rows>>(next)]);
  }
  return mine;
}

// The same of the rows 0 .. n-1.
inline std::vector<std::size_t> shard(std::size_t n,
                                      const ::mlx::core::distributed::Group& group = distributed_group()) {
  return espalier::shard(std::views::iota(std::size_t{0}, n), group);
}

}  // namespace espalier
