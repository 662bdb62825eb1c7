// Visiting and updating in place: order, references, const, prefixes, nodes that can only be rebuilt.

#include <algorithm>
#include <espalier/equal.hpp>
#include <espalier/flatten.hpp>
#include <espalier/leaf_array.hpp>
#include <espalier/map.hpp>
#include <espalier/visit.hpp>
#include <espalier/visit_update.hpp>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "corpus.hpp"

namespace {

using namespace espalier;
using corpus::counted, corpus::linear, corpus::model, corpus::point, corpus::token;

template <class T> struct visit_laws : testing::Test {};
TYPED_TEST_SUITE(visit_laws, corpus::types);

TYPED_TEST(visit_laws, visits_the_leaves_in_the_order_of_tree_leaves) {
  using leaf = leaf_value_t<TypeParam>;
  auto trees = corpus::examples<TypeParam>();
  auto again = corpus::examples<TypeParam>();
  for (std::size_t i = 0; i < trees.size(); ++i) {
    std::vector<leaf> visited;
    tree_visit([&](auto&& value) { visited.push_back(leaf(std::move(value))); }, std::move(trees[i]));
    const auto leaves = tree_leaves(std::move(again[i]));
    EXPECT_TRUE(std::equal(visited.begin(), visited.end(), leaves.begin(), leaves.end()));
  }
}

TYPED_TEST(visit_laws, updating_is_mapping_in_place) {
  for (TypeParam& tree : corpus::examples<TypeParam>()) {
    const TypeParam mapped = tree_map(corpus::increase(), tree);
    tree_visit_update(corpus::increase(), tree);
    EXPECT_TRUE(tree == mapped);
  }
}

TYPED_TEST(visit_laws, a_const_tree_gives_const_leaves) {
  for (const TypeParam& tree : corpus::examples<TypeParam>()) {
    tree_visit([]<class L>(L&&) { static_assert(std::is_const_v<std::remove_reference_t<L>>); }, tree);
  }
}

TYPED_TEST(visit_laws, leaves_of_an_rvalue_are_rvalues) {
  for (TypeParam& tree : corpus::examples<TypeParam>()) {
    std::size_t visited = 0;
    tree_visit(
        [&]<class L>(L&&) {
          static_assert(!std::is_lvalue_reference_v<L> || std::is_const_v<std::remove_reference_t<L>>);
          ++visited;
        },
        std::move(tree));
    EXPECT_GE(visited, 0u);
  }
}

TEST(visit, order_is_that_of_fields_elements_and_keys) {
  const model m{{{{1, 2}, 3.0}, {{4}, {}}}, 5};
  std::vector<double> seen;
  tree_visit([&](double x) { seen.push_back(x); }, m);
  EXPECT_EQ(seen, (std::vector<double>{1, 2, 3, 4, 5}));

  seen.clear();
  tree_visit([&](double x) { seen.push_back(x); }, std::map<std::string, double>{{"b", 2}, {"a", 1}});
  EXPECT_EQ(seen, (std::vector<double>{1, 2}));
}

TEST(visit, gives_references_into_the_tree) {
  model m{{{{1}, 3.0}}, 5};
  std::vector<double*> seen;
  tree_visit([&](double& x) { seen.push_back(&x); }, m);
  EXPECT_EQ(seen, (std::vector<double*>{&m.layers[0].weight[0], &*m.layers[0].bias, &m.temperature}));
  tree_visit([](double& x) { x = -x; }, m);
  EXPECT_TRUE(m == (model{{{{-1}, -3.0}}, -5}));
}

TEST(visit, a_const_pointer_does_not_make_a_hole_in_const) {
  const corpus::owner tree{std::make_unique<point>(point{1, 2})};
  tree_visit(
      []<class L>(L& x) {
        static_assert(std::is_const_v<L>, "as const as the tree");
        (void)x;
      },
      tree);
  tree_visit([](auto&& x) { static_assert(std::is_const_v<std::remove_reference_t<decltype(x)>>); },
             std::as_const(tree));
}

TEST(visit, neither_copies_nor_moves_leaves) {
  std::vector<counted> tree;
  tree.reserve(2);
  tree.emplace_back(1);
  tree.emplace_back(2);
  counted::reset();
  int sum = 0;
  tree_visit([&](counted& a, const counted& b) { sum += a.value + b.value; }, tree, tree);
  EXPECT_EQ(counted::copies + counted::moves, 0);
  EXPECT_EQ(sum, 6);
}

TEST(visit, moves_leaves_out_of_an_rvalue) {
  corpus::tokens tree = std::move(corpus::examples<corpus::tokens>()[0]);
  std::vector<token> all;
  tree_visit(
      [&]<class L>(L&& leaf) {
        if constexpr (std::is_same_v<L, token>) all.push_back(std::move(leaf));
      },
      std::move(tree));
  ASSERT_EQ(all.size(), 9u);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(all[std::size_t(i)].value(), i + 1);
}

TEST(visit, several_trees_in_place) {
  model params{{{{1, 2}, 3.0}}, 5};
  const model grads{{{{10, 20}, 30.0}}, 50};
  tree_visit([](double& p, const double& g) { p -= 0.5 * g; }, params, grads);
  EXPECT_TRUE(params == (model{{{{-4, -8}, -12.0}}, -20}));
}

TEST(visit, a_rest_tree_may_be_deeper_and_is_given_whole) {
  std::vector<std::size_t> sizes;
  tree_visit([&](double, const linear& l) { sizes.push_back(l.weight.size()); }, std::vector<double>{0, 0},
             std::vector<linear>{{{1, 2}, {}}, {{}, {}}});
  EXPECT_EQ(sizes, (std::vector<std::size_t>{2, 0}));
}

TEST(visit, a_mismatch_is_found_before_any_call) {
  int calls = 0;
  const std::vector<double> two(2);
  EXPECT_THROW(tree_visit([&](double, double) { ++calls; }, two, std::vector<double>(3)), structure_error);
  std::vector<double> target(2);
  EXPECT_THROW(tree_visit_update([&](double x, double) { return ++calls, x; }, target, std::vector<double>(3)),
               structure_error);
  EXPECT_EQ(calls, 0);
}

TEST(visit, with_paths_prints_them_as_jax_does) {
  std::vector<std::string> seen;
  const std::tuple<model, std::map<std::string, double>, std::map<int, double>> tree{
      {{{{1}, 2.0}}, 3}, {{"name", 4}}, {{-7, 5}}};
  tree_visit_with_path([&](const path_view& path, double) { seen.push_back(path.to_string()); }, tree);
  EXPECT_EQ(seen, (std::vector<std::string>{"[0].layers[0].weight[0]", "[0].layers[0].bias", "[0].temperature",
                                            "[1]['name']", "[2][-7]"}));
}

TEST(visit, with_paths_takes_several_trees) {
  std::string text;
  tree_visit_with_path(
      [&](const auto& path, double& a, double b) {
        text += path.dotted() + " ";
        a += b;
      },
      *std::make_unique<point>(), point{1, 2});
  EXPECT_EQ(text, "x y ");
}

TEST(visit, is_a_constant_expression) {
  constexpr double sum = [] {
    corpus::segment s{{1, 2}, {3, 4}};
    tree_visit_update([](double x) { return 2 * x; }, s);
    double total = 0;
    tree_visit([&](double& x) { total += x; }, s);
    return total;
  }();
  static_assert(sum == 20);
}

TEST(visit, loops_over_long_arrays) {
  std::array<double, 1000> tree{};
  std::size_t n = 0;
  tree_visit([&](double& x) { x = double(n++); }, tree);
  EXPECT_EQ(tree[999], 999);
}

TEST(visit, a_deep_recursive_tree) {
  corpus::chain tree{0, nullptr};
  for (int i = 1; i < 1000; ++i) tree = corpus::chain{i, std::make_unique<corpus::chain>(std::move(tree))};
  int sum = 0;
  tree_visit([&](int x) { sum += x; }, tree);
  EXPECT_EQ(sum, 999 * 1000 / 2);
}

// --- Nodes that can only be rebuilt. ---

TEST(visit_update, rebuilds_structs_with_const_members) {
  std::vector<corpus::frozen> tree;
  tree.push_back({1, 2});
  tree.push_back({3, 4});
  tree_visit_update([](double x) { return 10 * x; }, tree);
  EXPECT_EQ(tree[0].mean, 10);
  EXPECT_EQ(tree[1].scale, 40);
}

TEST(visit_update, rebuilds_immutable_registered_nodes_wherever_they_sit) {
  struct holder {
    std::map<std::string, std::optional<corpus::interval>> by_name;
    corpus::polynomial p;
  };
  holder tree{{{"a", corpus::interval(1, 2)}, {"b", {}}}, {"x", {1, 2}}};
  tree_visit_update([](double x) { return -x; }, tree);
  EXPECT_EQ(tree.by_name.at("a")->low(), -1);
  EXPECT_EQ(tree.by_name.at("a")->high(), -2);
  EXPECT_TRUE(tree.p == corpus::polynomial("x", {-1, -2}));
}

struct const_list {
  const std::array<double, 2> values;
  const aux<int> limit;
};

TEST(visit_update, keeps_the_aux_data_of_what_it_rebuilds) {
  std::vector<const_list> tree;
  tree.push_back({{1, 2}, {5}});
  tree_visit_update([](double x) { return x + 1; }, tree);
  EXPECT_EQ(tree[0].values, (std::array<double, 2>{2, 3}));
  EXPECT_EQ(tree[0].limit, 5);
}

TEST(visit_update, rebuilds_beside_rest_trees) {
  corpus::frozen tree{1, 2};
  tree_visit_update([](double a, double b) { return a + b; }, tree, corpus::frozen{10, 20});
  EXPECT_EQ(tree.mean, 11);
  EXPECT_EQ(tree.scale, 22);
}

struct const_owner {
  std::unique_ptr<const point> at;
  std::optional<const double> limit;
};

TEST(visit_update, replaces_what_containers_hold_as_const) {
  const_owner tree{std::make_unique<const point>(point{1, 2}), 3.0};
  tree_visit_update([](double x) { return x + 1; }, tree);
  EXPECT_EQ(*tree.at, (point{2, 3}));
  EXPECT_EQ(*tree.limit, 4);
}

TEST(visit_update, move_only_leaves) {
  corpus::tokens tree = std::move(corpus::examples<corpus::tokens>()[0]);
  tree_visit_update(corpus::increase(), tree);
  EXPECT_EQ(tree.by_id.at(5).value(), 51);
  EXPECT_EQ(std::get<0>(tree.mixed).value(), 10);
}

TEST(visit_update, an_exception_leaves_a_valid_tree) {
  std::vector<corpus::frozen> tree;
  tree.push_back({1, 2});
  tree.push_back({3, 4});
  const auto fail_at_three = [](double x) { return x == 3 ? throw std::runtime_error("three") : -x; };
  EXPECT_THROW(tree_visit_update(fail_at_three, tree), std::runtime_error);
  EXPECT_EQ(tree[0].mean, -1);
  EXPECT_EQ(tree[1].mean, 3);
  EXPECT_EQ(tree[1].scale, 4);
}

TEST(visit, the_last_key_of_an_optional_or_pointer_is_its_fields_name) {
  struct held {
    std::optional<double> bias;
    std::unique_ptr<double> scale;
    std::variant<double, int> rate;
  };
  const held h{1.0, std::make_unique<double>(2.0), 3.0};
  std::vector<std::string> names;
  espalier::tree_visit_with_path([&](const auto& path, const auto&) { names.emplace_back(path.back().name); }, h);
  EXPECT_EQ(names, (std::vector<std::string>{"bias", "scale", "rate"}));
}

TEST(visit, update_changes_a_leaf_array) {
  const std::tuple tree{1.0, 2.0F};
  auto values = espalier::tree_map([](auto v) { return static_cast<int>(v); }, tree);
  static_assert(std::is_same_v<decltype(values), espalier::leaf_array<std::tuple<double, float>, int>>);
  espalier::tree_visit_update([](int v) { return v + 10; }, values);
  EXPECT_EQ(values["0"_path], 11);
  EXPECT_EQ(values["1"_path], 12);
}

TEST(visit, update_changes_what_a_map_to_another_type_gave) {
  struct pair {
    double x, y;
  };
  auto values = espalier::tree_map([](double v) { return static_cast<int>(v); }, pair{1, 2});
  espalier::tree_visit_update([](int v) { return v + 10; }, values);
  EXPECT_EQ(values["x"_path], 11);
  EXPECT_EQ(values["y"_path], 12);
}

}  // namespace
