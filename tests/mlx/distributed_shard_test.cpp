// Which rows are whose.
#include <gtest/gtest.h>

#include <algorithm>
#include <espalier/mlx/distributed_shard.hpp>
#include <numeric>
#include <set>
#include <vector>

#include "distributed_ranks.hpp"

namespace {

TEST(Shard, AGroupOfOneHasAllRowsInTheirOrder) {
  const std::vector<std::size_t> rows{4, 2, 7};
  EXPECT_EQ(espalier::shard(rows), rows);
  EXPECT_EQ(espalier::shard(3), (std::vector<std::size_t>{0, 1, 2}));
}

TEST(Shard, EveryRankHasEquallyManyRowsAndNoTwoTheSame) {
  for (const int size : {1, 2, 3, 8}) {
    for (const std::size_t n : {0u, 1u, 7u, 8u, 1437u}) {
      std::multiset<std::size_t> all;
      for (int rank = 0; rank < size; ++rank) {
        const auto mine = espalier::shard(n, ranks::pretended(rank, size));
        EXPECT_EQ(mine.size(), n / static_cast<std::size_t>(size));
        all.insert(mine.begin(), mine.end());
      }
      const std::set<std::size_t> distinct(all.begin(), all.end());
      EXPECT_EQ(distinct.size(), all.size());
      EXPECT_EQ(all.size(), n - n % static_cast<std::size_t>(size));
      if (all.empty()) continue;
      EXPECT_EQ(*all.rbegin(), all.size() - 1) << "what is left out are the last rows";
    }
  }
}

// 12 rows in batches of 6 by one process, or of 2 by each of three.
TEST(Shard, TheRanksBatchesAreTogetherTheBatchesOfOneProcess) {
  const std::vector<int> rows{50, 41, 32, 23, 14, 5, 106, 97, 88, 79, 60, 51};
  for (std::size_t batch = 0; batch < 2; ++batch) {
    std::set<int> joined;
    for (int rank = 0; rank < 3; ++rank) {
      const auto mine = espalier::shard(rows, ranks::pretended(rank, 3));
      joined.insert({mine.at(2 * batch), mine.at(2 * batch + 1)});
    }
    const auto first = rows.begin() + static_cast<std::ptrdiff_t>(6 * batch);
    EXPECT_EQ(joined, std::set<int>(first, first + 6));
  }
}

}  // namespace
