// tree_summary: a row for each leaf, and the totals.

#include <algorithm>
#include <espalier/summary.hpp>
#include <string>
#include <vector>

#include "corpus.hpp"

namespace {

using namespace espalier;

TEST(summary, has_a_row_for_each_leaf_and_one_of_totals) {
  EXPECT_EQ(tree_summary(corpus::model{{{{1, 2}, 3.0}, {{}, {}}}, 0.5}),
            "path                  leaf      parameters  bytes\n"
            ".layers[0].weight[0]  1                  1      8\n"
            ".layers[0].weight[1]  2                  1      8\n"
            ".layers[0].bias       3                  1      8\n"
            ".temperature          0.5                1      8\n"
            "total                 4 leaves           4     32\n");
}

TEST(summary, leaves_that_are_no_parameters_count_none_but_have_bytes) {
  EXPECT_EQ(tree_summary(std::pair(true, 2.0f)),
            "path   leaf      parameters  bytes\n"
            "[0]    true               0      1\n"
            "[1]    2                  1      4\n"
            "total  2 leaves           1      5\n");
}

TEST(summary, a_leaf_with_a_newline_keeps_its_row) {
  const std::string table = tree_summary(std::vector<std::string>{"a\nb"});
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 3) << table;
  EXPECT_NE(table.find("[0]    'a\\nb'  "), std::string::npos) << table;
}

TEST(summary, numbers_are_grouped_by_thousands) {
  EXPECT_TRUE(tree_summary(std::vector<double>(1000)).ends_with(" 1,000  8,000\n"));
}

TEST(summary, of_no_leaves_is_the_totals) {
  EXPECT_EQ(tree_summary(corpus::empty()), "path   leaf      parameters  bytes\ntotal  0 leaves           0      0\n");
}

}  // namespace
