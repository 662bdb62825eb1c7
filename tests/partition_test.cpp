// tree_partition, tree_filter, tree_combine: by type, path, value and mask; and that combining undoes parting. As
// equinox.partition, filter, combine.

#include <espalier/equal.hpp>
#include <espalier/flatten.hpp>
#include <espalier/partition.hpp>
#include <optional>

#include "corpus.hpp"

struct fixed_id {
  const int id;
};
template <> inline constexpr bool espalier::is_leaf_type<fixed_id> = true;

namespace {

using namespace espalier;
using corpus::linear, corpus::model, corpus::point, corpus::segment, corpus::token;

template <class T> struct partition_laws : testing::Test {};
TYPED_TEST_SUITE(partition_laws, corpus::types);

// Takes every second leaf.
struct every_second {
  int next = 0;
  bool operator()(const auto&) { return next++ % 2 == 0; }
};

TYPED_TEST(partition_laws, combine_undoes_partition) {
  auto trees = corpus::examples<TypeParam>();
  const auto expected = corpus::examples<TypeParam>();
  if constexpr (!std::is_same_v<leaf_value_t<TypeParam>, std::monostate>) {
    for (std::size_t i = 0; i < trees.size(); ++i) {
      auto [selected, rest] = tree_partition(std::move(trees[i]), every_second());
      std::size_t both = 0;
      std::size_t taken = 0;
      const auto count = [&](const auto& a, const auto& b) {
        EXPECT_NE(a.has_value(), b.has_value());
        taken += a.has_value() ? 1 : 0;
        ++both;
      };
      tree_visit(detail::part_traits<decltype(selected)>::leaf, count, selected, rest);
      EXPECT_EQ(both, tree_structure(expected[i]).num_leaves());
      EXPECT_EQ(taken, (both + 1) / 2);
      auto again = tree_combine(std::move(selected), std::move(rest));
      static_assert(std::is_same_v<decltype(again), TypeParam>);
      EXPECT_TRUE(again == expected[i]);
    }
  }
}

TEST(partition, by_type) {
  const corpus::mixed tree = corpus::examples<corpus::mixed>()[0];
  const auto [numbers, others] = tree_partition(tree, of_type<int, double>);
  EXPECT_TRUE(numbers["count"_path].has_value());
  EXPECT_TRUE(numbers["rate"_path].has_value());
  EXPECT_FALSE(numbers["name"_path].has_value());
  EXPECT_FALSE(others["count"_path].has_value());
  EXPECT_EQ(std::get<std::string>(*others["name"_path]), tree.name);
  EXPECT_TRUE(tree_combine(numbers, others) == tree);
}

TEST(partition, by_value_in_a_constant_expression) {
  constexpr auto parts = tree_partition(std::array{1.0, -2.0, 3.0}, [](double x) { return x > 0; });
  using optionals = std::array<std::optional<double>, 3>;
  static_assert(parts.selected == optionals{1.0, std::nullopt, 3.0});
  static_assert(parts.rest == optionals{std::nullopt, -2.0, std::nullopt});
  static_assert(tree_combine(parts.selected, parts.rest) == std::array{1.0, -2.0, 3.0});
}

TEST(partition, by_path) {
  const model m{{{{1, 2}, 3.0}, {{4}, {}}}, 0.5};
  const auto is_bias = [](const path_view& path, double) { return path.back().name == "bias"; };
  const auto biases = tree_filter(m, is_bias);
  EXPECT_EQ(biases["layers.0.bias"_path], 3.0);
  EXPECT_EQ(biases["layers.0.weight.0"_path], std::nullopt);
  EXPECT_EQ(biases["temperature"_path], std::nullopt);
}

TEST(partition, by_a_tree_of_bools_or_a_prefix_of_it) {
  const segment tree{{1, 2}, {3, 4}};
  struct ends {
    bool from, to;
  };
  const auto to = tree_filter(tree, ends{false, true});
  EXPECT_EQ(to["from.x"_path], std::nullopt);
  EXPECT_EQ(to["to.y"_path], 4);
  const auto mask = tree_map([](double x) { return x == 2; }, tree);
  EXPECT_EQ(tree_filter(tree, mask)["from.y"_path], 2);
  EXPECT_EQ(tree_filter(tree, mask)["to.y"_path], std::nullopt);
  EXPECT_TRUE(tree_combine(tree_filter(tree, true)) == tree) << "one bool stands for all leaves";
}

TEST(partition, a_template_over_its_leaf_is_rebound) {
  const auto parts = tree_partition(corpus::over<double>{1, {2, 3}}, [](double x) { return x > 1; });
  static_assert(std::is_same_v<decltype(parts.selected), corpus::over<std::optional<double>>>);
  EXPECT_TRUE(parts.selected == (corpus::over<std::optional<double>>{std::nullopt, {2, 3}}));
  EXPECT_TRUE(parts.rest == (corpus::over<std::optional<double>>{1, {std::nullopt, std::nullopt}}));
}

TEST(partition, a_part_stands_beside_its_tree) {
  const segment tree{{1, 2}, {3, 4}};
  const auto large = tree_filter(tree, [](double x) { return x > 2; });
  const segment changed =
      tree_map([](double x, const std::optional<double>& y) { return y ? *y * 10 : x; }, tree, large);
  EXPECT_EQ(changed, (segment{{1, 2}, {30, 40}}));
}

TEST(partition, moves_the_leaves_of_an_rvalue) {
  std::vector<token> tree;
  tree.emplace_back(1);
  tree.emplace_back(2);
  auto parts = tree_partition(std::move(tree), [](const token& t) { return t.value() == 1; });
  EXPECT_EQ(parts.selected[0]->value(), 1);
  EXPECT_EQ(parts.rest[1]->value(), 2);
  const auto again = tree_combine(std::move(parts.selected), std::move(parts.rest));
  EXPECT_EQ(again[1].value(), 2);
}

TEST(partition, a_view_points_into_the_tree) {
  segment tree{{1, 2}, {3, 4}};
  const auto large = tree_filter_view(tree, [](double x) { return x > 2; });
  static_assert(std::is_same_v<decltype(large), const leaf_array<segment, double*>>);
  EXPECT_EQ(large["from.x"_path], nullptr);
  EXPECT_EQ(large["to.x"_path], &tree.to.x);
  tree_visit(
      [](double* x) {
        if (x) *x *= 10;
      },
      large);
  EXPECT_EQ(tree, (segment{{1, 2}, {30, 40}}));
}

TEST(partition, leaves_that_cannot_be_assigned) {
  const auto parts = tree_partition(std::array{fixed_id{1}, fixed_id{2}}, [](fixed_id x) { return x.id == 1; });
  EXPECT_EQ(parts.selected[0]->id, 1);
  EXPECT_EQ(parts.rest[1]->id, 2);
}

TEST(partition, a_view_over_a_template_is_a_leaf_array_too) {
  corpus::over<double> tree{1, {2, 3}};
  const auto large = tree_filter_view(tree, [](double x) { return x > 1.5; });
  static_assert(std::is_same_v<decltype(large), const leaf_array<corpus::over<double>, double*>>);
  EXPECT_EQ(large.data()[0], nullptr);
  EXPECT_NE(large.data()[1], nullptr);
}

TEST(partition, a_mask_that_does_not_fit_is_named_as_the_mask) {
  const std::vector<double> tree{1, 2, 3};
  try {
    (void)tree_partition(tree, std::vector<int>{1, 0});
    FAIL();
  } catch (const structure_error& e) {
    EXPECT_STREQ(e.what(),
                 "espalier: tree_partition, tree_filter (the mask is the first tree, what is parted is tree 2): tree 2 "
                 "does not have the structure of the first tree:\n  (root): expected 2 elements, found 3 elements");
  }
}

TEST(combine, takes_the_first_leaf_that_is_there) {
  // eqx.combine([None, 1, 2], [3, 4, None]) == [3, 1, 2]
  using part = std::vector<std::optional<int>>;
  EXPECT_EQ(tree_combine(part{{}, 1, 2}, part{3, 4, {}}), (std::vector{3, 1, 2}));
}

TEST(combine, leaves_that_no_part_has_are_named) {
  const segment tree{{1, 2}, {3, 4}};
  try {
    (void)tree_combine(tree_filter(tree, [](double x) { return x > 3; }),
                       tree_filter(tree, [](double x) { return x < 2; }));
    FAIL();
  } catch (const leaf_error& e) {
    EXPECT_STREQ(e.what(), "espalier: tree_combine: no part has a leaf at:\n  .from.y\n  .to.x");
  }
}

TEST(combine, parts_of_different_trees_are_refused) {
  using part = std::vector<std::optional<int>>;
  EXPECT_THROW((void)tree_combine(part{1}, part{1, 2}), structure_error);
}

}  // namespace
