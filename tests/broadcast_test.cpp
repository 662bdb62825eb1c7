// tree_broadcast_prefix and tree_broadcast_common. Expected values are what jax.tree.broadcast and
// optree.tree_broadcast_common answer for the same trees.

#include <espalier/broadcast.hpp>
#include <espalier/flatten.hpp>

#include "corpus.hpp"

namespace {

using namespace espalier;
using corpus::linear, corpus::model, corpus::point, corpus::segment;

struct rates {
  double from, to;
  bool operator==(const rates&) const = default;
};

TEST(broadcast_prefix, repeats_each_leaf_below_it) {
  constexpr segment full = tree_broadcast_prefix(rates{1, 2}, segment{});
  static_assert(full == segment{{1, 1}, {2, 2}});
  static_assert(tree_broadcast_prefix(3.0, segment{}) == segment{{3, 3}, {3, 3}}, "a leaf is a prefix of every tree");
}

TEST(broadcast_prefix, follows_containers) {
  const model m{{{{1, 2}, 3.0}, {{4}, {}}}, 0.5};
  struct prefix {
    std::vector<double> layers;
    double temperature;
  };
  EXPECT_TRUE(tree_broadcast_prefix(prefix{{10, 20}, 30}, m) == (model{{{{10, 10}, 10.0}, {{20}, {}}}, 30}));
}

TEST(broadcast_prefix, of_another_type_gives_what_a_map_gives) {
  struct names {
    int from, to;
  };
  const auto table = tree_broadcast_prefix(names{1, 2}, segment{});
  static_assert(std::is_same_v<decltype(table["from.x"_path]), const int&>);
  EXPECT_EQ(table["from.x"_path], 1);
  EXPECT_EQ(table["from.y"_path], 1);
  EXPECT_EQ(table["to.y"_path], 2);
  const auto rebound = tree_broadcast_prefix('c', std::vector<double>(2));
  static_assert(std::is_same_v<decltype(rebound), const std::vector<char>>);
  EXPECT_EQ(rebound, (std::vector<char>{'c', 'c'}));
}

TEST(broadcast_prefix, a_leaf_array_is_a_prefix) {
  const auto flags = tree_map([](double x) { return x > 1; }, rates{1, 2});
  const auto mask = tree_broadcast_prefix(flags, segment{});
  static_assert(std::is_same_v<decltype(mask["from.x"_path]), const bool&>);
  EXPECT_FALSE(mask["from.x"_path] || mask["from.y"_path]);
  EXPECT_TRUE(mask["to.x"_path] && mask["to.y"_path]);
}

TEST(broadcast_prefix, several_leaf_types_in_the_prefix) {
  const auto table = tree_broadcast_prefix(std::pair(1, 2.5), std::pair(point{}, std::vector<double>(2)));
  static_assert(std::is_same_v<decltype(table)::value_type, std::variant<int, double>>);
  EXPECT_EQ(table.size(), 4u);
  EXPECT_EQ(table.data()[1], (std::variant<int, double>(1)));
  EXPECT_EQ(table.data()[3], (std::variant<int, double>(2.5)));
}

template <class T> struct broadcast_laws : testing::Test {};
TYPED_TEST_SUITE(broadcast_laws, corpus::types);

TYPED_TEST(broadcast_laws, a_leaf_broadcasts_to_the_structure_of_every_tree) {
  for (const TypeParam& tree : corpus::examples<TypeParam>()) {
    const auto table = tree_broadcast_prefix(short{7}, tree);
    EXPECT_TRUE(tree_structure(tree_map([](const auto& leaf, short) { return corpus::increase()(leaf); }, tree,
                                        table)) == tree_structure(tree));
    tree_visit([](const auto&, short x) { EXPECT_EQ(x, 7); }, tree, table);
  }
}

TEST(broadcast_prefix, what_is_no_prefix_is_refused_by_path) {
  try {
    (void)tree_broadcast_prefix(std::vector<double>{1, 2}, std::vector<point>(3));
    FAIL();
  } catch (const structure_error& e) {
    EXPECT_EQ(e.differences, (std::vector<mismatch>{{"", "2 elements", "3 elements"}}));
  }
}

TEST(broadcast_common, each_tree_may_be_the_deeper_one) {
  // optree.tree_broadcast_common((1, [2, 3]), ([4, 5], 6)) == (([1, 1], [2, 3]), ([4, 5], [6, 6]))
  using list = std::vector<int>;
  const auto [a, b] = tree_broadcast_common(std::pair(1, list{2, 3}), std::pair(list{4, 5}, 6));
  EXPECT_EQ(a, std::pair(list({1, 1}), list({2, 3})));
  EXPECT_EQ(b, std::pair(list({4, 5}), list({6, 6})));
}

TEST(broadcast_common, structs_below_containers) {
  const auto [a, b] = tree_broadcast_common(std::array{rates{1, 2}}, std::array{segment{{3, 4}, {5, 6}}});
  static_assert(std::is_same_v<decltype(a), const std::array<segment, 1>>);
  EXPECT_EQ(a[0], (segment{{1, 1}, {2, 2}}));
  EXPECT_EQ(b[0], (segment{{3, 4}, {5, 6}}));
}

TEST(broadcast_common, is_a_constant_expression) {
  constexpr auto both = tree_broadcast_common(std::tuple(1.0, point{2, 3}), std::tuple(point{4, 5}, 6.0));
  static_assert(both.first == std::tuple(point{1, 1}, point{2, 3}));
  static_assert(both.second == std::tuple(point{4, 5}, point{6, 6}));
}

TEST(broadcast_common, differences_are_named_by_path) {
  using list = std::vector<double>;
  try {
    (void)tree_broadcast_common(std::pair(1.0, list{2, 3}), std::pair(list{4, 5}, list{6}));
    FAIL();
  } catch (const structure_error& e) {
    EXPECT_EQ(e.differences, (std::vector<mismatch>{{"[1]", "2 elements", "1 element"}}));
  }
}

}  // namespace
