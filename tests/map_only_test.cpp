// tree_map_only and leaf_if: traversals of some leaves, and those that end above the leaves.

#include <espalier/leaf_array.hpp>
#include <espalier/map_only.hpp>
#include <espalier/visit.hpp>
#include <memory>

#include "corpus.hpp"

namespace {

using namespace espalier;
using corpus::linear, corpus::model, corpus::point, corpus::segment, corpus::token;

TEST(map_only, maps_the_named_types_and_passes_the_others_on) {
  const corpus::mixed tree = corpus::examples<corpus::mixed>()[0];
  const corpus::mixed mapped = tree_map_only<int, double>([](auto x) { return x + x; }, tree);
  EXPECT_EQ(mapped.count, 2 * tree.count);
  EXPECT_EQ(mapped.rate, 2 * tree.rate);
  EXPECT_EQ(mapped.on, tree.on);
  EXPECT_EQ(mapped.name, tree.name);
}

TEST(map_only, moves_the_other_leaves_of_an_rvalue) {
  std::tuple<token, int> tree(3, 4);
  const auto mapped = tree_map_only<int>([](int x) { return x + 1; }, std::move(tree));
  EXPECT_EQ(std::get<0>(mapped).value(), 3);
  EXPECT_EQ(std::get<1>(mapped), 5);
}

TEST(map_only, takes_rest_trees) {
  const std::tuple<std::string, double> tree("a", 1.0);
  const auto sum = tree_map_only<double>([](double a, double b) { return a + b; }, tree, tree);
  EXPECT_EQ(sum, (std::tuple<std::string, double>("a", 2.0)));
}

TEST(map_only, of_a_leaf_array_the_values_types_are_meant) {
  const auto table = tree_map([](double x) { return int(x); }, point{1, 2});
  const auto mapped = tree_map_only<int>([](int x) { return -x; }, table);
  EXPECT_EQ(mapped["y"_path], -2);
}

const model two_layers{{{{1, 2}, 3.0}, {{4}, {}}}, 0.5};

TEST(map_only, gives_nodes_of_a_type_as_a_whole) {
  const model mapped = tree_map_only<linear>(
      [](const linear& l) { return linear{std::vector<double>(l.weight.size() + 1), l.bias}; }, two_layers);
  EXPECT_TRUE(mapped == (model{{{{0, 0, 0}, 3.0}, {{0, 0}, {}}}, 0.5}));
}

TEST(map_only, beside_a_node_stands_the_rest_trees_node_whatever_is_in_it) {
  model other = two_layers;
  other.layers[0].weight = {};
  const model mapped = tree_map_only<linear>([](const linear&, const linear& b) { return b; }, two_layers, other);
  EXPECT_TRUE(mapped == other);
}

// --- leaf_if. ---

TEST(leaf_if, the_function_gets_the_node_where_a_map_stops) {
  constexpr segment mapped =
      tree_map(leaf_if<point>, [](const point& p) { return point{p.y, p.x}; }, segment{{1, 2}, {3, 4}});
  static_assert(mapped == segment{{2, 1}, {4, 3}});
}

TEST(leaf_if, of_a_container_the_result_may_be_of_another_type) {
  // jax.tree.map(lambda l: len(l.weight), layers, is_leaf=lambda l: isinstance(l, Linear)) == [2, 1]
  const auto sizes = tree_map(leaf_if<linear>, [](const linear& l) { return l.weight.size(); }, two_layers.layers);
  static_assert(std::is_same_v<decltype(sizes), const std::vector<std::size_t>>);
  EXPECT_EQ(sizes, (std::vector<std::size_t>{2, 1}));
}

TEST(leaf_if, the_root_may_be_where_it_stops) {
  EXPECT_EQ(tree_map(leaf_if<point>, [](const point& p) { return p.x; }, point{1, 2}), 1);
}

TEST(leaf_if, a_result_may_be_a_tree) {
  const auto ends =
      tree_map(leaf_if<segment>, [](const segment& s) { return s.to; }, std::array{segment{{1, 2}, {3, 4}}});
  static_assert(std::is_same_v<decltype(ends), const std::array<point, 1>>);
  EXPECT_EQ(ends[0], (point{3, 4}));
}

TEST(leaf_if, a_visit_gets_nodes_and_the_other_leaves_in_order) {
  std::string text;
  tree_visit_with_path(
      leaf_if<linear>,
      [&]<class X>(const path_view& path, const X&) {
        text += path.to_string() + (std::is_same_v<X, linear> ? ":linear " : ":leaf ");
      },
      two_layers);
  EXPECT_EQ(text, ".layers[0]:linear .layers[1]:linear .temperature:leaf ");
}

TEST(leaf_if, nodes_are_changed_in_place_where_a_visit_stops) {
  model m = two_layers;
  tree_visit(
      leaf_if<linear>,
      [](auto& x) {
        if constexpr (std::is_same_v<decltype(x), linear&>) x.weight.clear();
      },
      m);
  EXPECT_TRUE(m == (model{{{{}, 3.0}, {{}, {}}}, 0.5}));
}

TEST(leaf_if, several_types_end_at_the_first_one_met) {
  int segments = 0;
  int points = 0;
  tree_visit(
      leaf_if<point, segment>,
      [&](const auto& x) { ++(std::is_same_v<decltype(x), const segment&> ? segments : points); },
      std::tuple(point{}, segment{}, std::vector<point>(2)));
  EXPECT_EQ(segments, 1);
  EXPECT_EQ(points, 3);
}

TEST(leaf_if, makes_a_leaf_of_what_is_no_tree) {
  struct handle {
    std::shared_ptr<int> held;
    double x;
  };
  int sum = 0;
  tree_visit(
      leaf_if<std::shared_ptr<int>>,
      [&](const auto& leaf) {
        if constexpr (std::is_same_v<decltype(leaf), const double&>) {
          sum += int(leaf);
        } else {
          sum += *leaf;
        }
      },
      handle{std::make_shared<int>(3), 4});
  EXPECT_EQ(sum, 7);
}

TEST(leaf_if, structures_need_to_agree_only_down_to_where_it_stops) {
  const std::vector<linear> a{{{1, 2}, 3.0}};
  const std::vector<linear> b{{{1}, {}}};
  const auto count = [](const linear& x, const linear& y) { return int(x.weight.size() + y.weight.size()); };
  EXPECT_EQ(tree_map(leaf_if<linear>, count, a, b), (std::vector<int>{3}));
  try {
    (void)tree_map(leaf_if<linear>, count, a, std::vector<linear>(2));
    FAIL();
  } catch (const structure_error& e) {
    EXPECT_EQ(e.differences, (std::vector<mismatch>{{"", "1 element", "2 elements"}}));
  }
}

TEST(leaf_if, moves_nodes_out_of_an_rvalue) {
  std::vector<corpus::owner> tree(1);
  tree[0].at = std::make_unique<point>(point{1, 2});
  const auto* at = tree[0].at.get();
  const auto moved = tree_map(leaf_if<corpus::owner>, [](corpus::owner&& o) { return std::move(o); }, std::move(tree));
  EXPECT_EQ(moved[0].at.get(), at);
}

TEST(leaf_if, recursive_trees_stop_at_their_first_node) {
  const auto tree = corpus::examples<corpus::rose>()[0];
  const auto values = tree_map(leaf_if<corpus::rose>, [](const corpus::rose& r) { return r.value; }, tree.children);
  EXPECT_EQ(values, (std::vector<double>{2, 4}));
}

}  // namespace
