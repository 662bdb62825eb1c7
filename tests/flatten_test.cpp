// Flattening and unflattening: laws over the corpus, move-only leaves, and what is refused.

#include <espalier/equal.hpp>
#include <espalier/flatten.hpp>
#include <espalier/map.hpp>
#include <espalier/paths.hpp>
#include <list>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <vector>

#include "corpus.hpp"

namespace {

using namespace espalier;
using corpus::counted, corpus::point, corpus::token;

template <class T> struct flatten_laws : testing::Test {};
TYPED_TEST_SUITE(flatten_laws, corpus::types);

TYPED_TEST(flatten_laws, unflatten_after_flatten_is_the_identity) {
  auto trees = corpus::examples<TypeParam>();
  const auto expected = corpus::examples<TypeParam>();
  for (std::size_t i = 0; i < trees.size(); ++i) {
    auto [leaves, structure] = tree_flatten(std::move(trees[i]));
    const TypeParam again = tree_unflatten(structure, std::move(leaves));
    EXPECT_TRUE(again == expected[i]) << structure;
    EXPECT_TRUE(tree_structure(again) == structure);
  }
}

TYPED_TEST(flatten_laws, unflatten_from_copied_leaves_is_the_identity) {
  if constexpr (std::is_copy_constructible_v<leaf_value_t<TypeParam>>) {
    for (const TypeParam& tree : corpus::examples<TypeParam>()) {
      const auto leaves = tree_leaves(tree);
      EXPECT_TRUE(tree_unflatten(tree_structure(tree), leaves) == tree);
    }
  }
}

TYPED_TEST(flatten_laws, there_are_as_many_leaves_as_paths_and_the_structure_knows_how_many) {
  for (TypeParam& tree : corpus::examples<TypeParam>()) {
    const auto structure = tree_structure(tree);
    const auto paths = tree_paths(tree);
    EXPECT_EQ(structure.num_leaves(), paths.size());
    EXPECT_TRUE(structure.paths() == paths);
    EXPECT_EQ(tree_leaves(std::move(tree)).size(), paths.size());
    for (std::size_t i = 0; i < paths.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(paths[i] == paths[j]) << paths[i];
    }
  }
}

TYPED_TEST(flatten_laws, one_leaf_more_or_less_is_refused) {
  using leaf = leaf_value_t<TypeParam>;
  for (TypeParam& tree : corpus::examples<TypeParam>()) {
    const auto structure = tree_structure(tree);
    auto leaves = tree_leaves(std::move(tree));
    if (std::size(leaves) == 0) continue;
    std::list<leaf> fewer;
    for (auto&& value : leaves) fewer.push_back(std::move(value));
    fewer.pop_back();
    EXPECT_THROW(structure.unflatten(std::move(fewer)), leaf_error);
  }
}

TEST(flatten, gives_an_array_of_the_leaf_type_for_a_static_structure) {
  auto [leaves, structure] = tree_flatten(point{1, 2});
  static_assert(std::is_same_v<decltype(leaves), std::array<double, 2>>);
  static_assert(std::is_empty_v<decltype(structure)>);
  EXPECT_EQ(leaves, (std::array{1.0, 2.0}));
}

TEST(flatten, gives_a_vector_where_sizes_vary) {
  static_assert(std::is_same_v<decltype(tree_leaves(corpus::linear{})), std::vector<double>>);
  EXPECT_EQ(tree_leaves(corpus::linear{{1, 2}, 3.0}), (std::vector{1.0, 2.0, 3.0}));
}

TEST(flatten, gives_variants_of_the_distinct_leaf_types_in_the_order_met) {
  const std::tuple<int, double, int> tree(1, 2.0, 3);
  const auto leaves = tree_leaves(tree);
  static_assert(std::is_same_v<decltype(leaves), const std::array<std::variant<int, double>, 3>>);
  EXPECT_EQ(std::get<int>(leaves[0]), 1);
  EXPECT_EQ(std::get<double>(leaves[1]), 2.0);
  EXPECT_EQ(std::get<int>(leaves[2]), 3);
}

TEST(flatten, is_a_constant_expression) {
  constexpr auto leaves = tree_leaves(corpus::segment{{1, 2}, {3, 4}});
  static_assert(leaves == std::array{1.0, 2.0, 3.0, 4.0});
  constexpr corpus::segment again = tree_unflatten(treedef<corpus::segment>(), leaves);
  static_assert(again == corpus::segment{{1, 2}, {3, 4}});
}

TEST(flatten, moves_leaves_out_of_an_rvalue_and_copies_none) {
  struct two {
    counted a;
    std::vector<counted> b;
  };
  two tree{counted(1), {}};
  tree.b.reserve(2);
  tree.b.emplace_back(2);
  tree.b.emplace_back(3);
  counted::reset();
  auto [leaves, structure] = tree_flatten(std::move(tree));
  const two again = tree_unflatten(structure, std::move(leaves));
  EXPECT_EQ(counted::copies, 0);
  EXPECT_EQ(again.b[1].value, 3);
}

TEST(flatten, copies_each_leaf_of_an_lvalue_once) {
  const std::array<counted, 2> tree{counted(1), counted(2)};
  counted::reset();
  const auto leaves = tree_leaves(tree);
  EXPECT_EQ(counted::copies, 2);
  EXPECT_EQ(leaves[1].value, 2);
}

TEST(flatten, empty_containers_survive) {
  const corpus::hollow tree{{{}, {}}, {{"a", {}}}, {}, {}, {}, std::vector<double>()};
  auto [leaves, structure] = tree_flatten(tree);
  EXPECT_TRUE(leaves.empty());
  const corpus::hollow again = tree_unflatten(structure, leaves);
  EXPECT_EQ(again.lists.size(), 2u);
  EXPECT_TRUE(again.named.contains("a"));
  ASSERT_TRUE(again.maybe.has_value());
  EXPECT_TRUE(again.maybe->empty());
}

TEST(unflatten, a_wrong_number_of_leaves_says_both_numbers) {
  const auto structure = tree_structure(corpus::linear{{1, 2}, 3.0});
  try {
    (void)tree_unflatten(structure, std::vector<double>{1, 2, 3, 4, 5});
    FAIL();
  } catch (const leaf_error& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("expected 3 leaves"), std::string::npos) << text;
    EXPECT_NE(text.find("found 5"), std::string::npos) << text;
  }
}

TEST(unflatten, a_wrong_alternative_names_the_leafs_path) {
  struct mixed {
    int count;
    double rate;
  };
  auto [leaves, structure] = tree_flatten(mixed{1, 2.0});
  std::swap(leaves[0], leaves[1]);
  try {
    (void)tree_unflatten(structure, leaves);
    FAIL();
  } catch (const leaf_error& e) {
    EXPECT_NE(std::string(e.what()).find(".count"), std::string::npos) << e.what();
  }
}

TEST(unflatten, takes_leaves_that_convert) {
  const point p = tree_unflatten(treedef<point>(), std::vector<int>{1, 2});
  EXPECT_EQ(p, (point{1, 2}));
}

TEST(unflatten, takes_any_forward_range) {
  const point p = tree_unflatten(treedef<point>(), std::list<double>{1, 2});
  EXPECT_EQ(p, (point{1, 2}));
}

TEST(unflatten, bool_leaves_of_varying_number_work_though_vector_bool_is_no_container) {
  const std::optional<bool> tree = true;
  auto [leaves, structure] = tree_flatten(tree);
  EXPECT_EQ(tree_unflatten(structure, leaves), tree);
}

TEST(unflatten, a_structure_outlives_its_tree) {
  std::optional<treedef<corpus::model>> structure;
  {
    const corpus::model m = corpus::examples<corpus::model>()[0];
    structure = tree_structure(m);
  }
  EXPECT_TRUE(structure->unflatten(std::vector<double>{1, 2, 3, 4, 0.5}) == corpus::examples<corpus::model>()[0]);
}

TEST(flatten, unflatten_of_a_view_leaves_its_elements_alone) {
  std::vector<std::string> names{"one", "two"};
  const espalier::treedef<std::vector<std::string>> def(names);
  EXPECT_EQ(def.unflatten(std::span(names)), names);
  EXPECT_EQ(def.unflatten(names | std::views::take(2)), names);
  EXPECT_EQ(names, (std::vector<std::string>{"one", "two"}));
}

TEST(leaves, stop_at_nodes_that_are_named) {
  // As jax.tree.leaves with is_leaf.
  const corpus::segment tree{{1, 2}, {3, 4}};
  EXPECT_EQ(tree_leaves(leaf_if<corpus::point>, tree), (std::vector<corpus::point>{{1, 2}, {3, 4}}));
  const std::pair mixed(corpus::point{1, 2}, 3.0);
  const std::vector<std::variant<corpus::point, double>> leaves = tree_leaves(leaf_if<corpus::point>, mixed);
  ASSERT_EQ(leaves.size(), 2U);
  EXPECT_EQ(std::get<corpus::point>(leaves[0]), mixed.first);
  EXPECT_EQ(std::get<double>(leaves[1]), 3.0);
}

}  // namespace
