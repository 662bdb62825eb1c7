// leaf_array: what tree_map gives when leaves change their type; read by path, and a rest tree like any other. (With C++26
// reflection, a map of a struct gives a mapped_t, of which everything here that names no type holds as well.)

#include <espalier/flatten.hpp>
#include <espalier/leaf_array.hpp>
#include <espalier/map.hpp>
#include <espalier/paths.hpp>
#include <espalier/visit.hpp>
#include <memory>
#include <optional>
#include <sstream>

#include "corpus.hpp"

namespace {

using namespace espalier;
using corpus::linear, corpus::model, corpus::point, corpus::segment;

template <class T> struct leaf_array_laws : testing::Test {};
TYPED_TEST_SUITE(leaf_array_laws, corpus::types);

// Where each leaf is; of a type that no leaf of the corpus has.
struct place {
  std::size_t index = 0;
  bool operator==(const place&) const = default;
};
struct number_leaves {
  std::size_t* next;
  place operator()(const auto&) const { return {(*next)++}; }
};

template <class T> leaf_array<T, place> places(const T& tree) {
  std::vector<place> values;
  for (std::size_t i = 0; i < tree_structure(tree).num_leaves(); ++i) values.push_back({i});
  return {tree_structure(tree), values};
}

TYPED_TEST(leaf_array_laws, stands_beside_its_tree_in_the_order_of_the_leaves) {
  for (const TypeParam& tree : corpus::examples<TypeParam>()) {
    const auto table = places(tree);
    std::size_t next = 0;
    tree_visit([&](const auto&, const place& p) { EXPECT_EQ(p.index, next++); }, tree, table);
    EXPECT_EQ(next, table.size());
    const TypeParam mapped =
        tree_map([](const auto& leaf, const place&) { return corpus::increase()(leaf); }, tree, table);
    EXPECT_TRUE(mapped == tree_map(corpus::increase(), tree));
  }
}

TYPED_TEST(leaf_array_laws, in_front_of_its_tree_it_sees_every_leaf) {
  if constexpr (!std::is_same_v<leaf_value_t<TypeParam>, std::monostate>) {
    for (const TypeParam& tree : corpus::examples<TypeParam>()) {
      const auto table = places(tree);
      std::size_t visited = 0;
      tree_visit([&](const place& p, const auto&) { EXPECT_EQ(p.index, visited++); }, table, tree);
      EXPECT_EQ(visited, table.size());
      const auto doubled = tree_map([](const place& p, const auto&) { return 2 * int(p.index); }, table, tree);
      static_assert(std::is_same_v<decltype(doubled), const leaf_array<TypeParam, int>>);
      for (std::size_t i = 0; i < visited; ++i) EXPECT_EQ(doubled.data()[i], 2 * int(i));
      EXPECT_TRUE(doubled.structure() == tree_structure(tree));
    }
  }
}

TEST(leaf_array, is_what_a_map_to_another_type_gives) {
  const auto mask = tree_map([](double x) { return x > 2; }, std::pair(point{1, 2}, point{3, 4}));
  static_assert(std::is_same_v<decltype(mask), const leaf_array<std::pair<point, point>, bool>>);
  EXPECT_EQ(std::vector<bool>(mask.begin(), mask.end()), (std::vector<bool>{false, false, true, true}));
  EXPECT_EQ(mask.size(), 4u);
}

TEST(leaf_array, is_read_and_written_by_path_in_a_static_tree) {
  auto table = tree_map([](double x) { return int(x); }, segment{{1, 2}, {3, 4}});
  EXPECT_EQ(table["from.x"_path], 1);
  EXPECT_EQ(table["to.y"_path], 4);
  table["to.x"_path] = 30;
  EXPECT_EQ(table["to.x"_path], 30);
  const auto tuples =
      tree_map([](auto x) { return char(x); }, std::tuple(1, std::array{point{2, 3}, point{4, 5}}, 6.0));
  EXPECT_EQ(tuples["1.1.x"_path], 4);
  EXPECT_EQ(tuples["2"_path], 6);
  EXPECT_EQ(tuples.data()[4], 5);
}

TEST(leaf_array, is_read_by_path_in_a_dynamic_tree) {
  const model m{{{{1, 2}, 3.0}, {{4}, {}}}, 5};
  const auto table = tree_map([](double x) { return int(x); }, m);
  EXPECT_EQ(table["layers.0.weight.1"_path], 2);
  EXPECT_EQ(table["layers.0.bias"_path], 3);
  EXPECT_EQ(table["layers.1.weight.0"_path], 4);
  EXPECT_EQ(table["temperature"_path], 5);
}

TEST(leaf_array, a_path_that_this_tree_lacks_throws_and_is_named) {
  const model m{{{{1, 2}, 3.0}, {{4}, {}}}, 5};
  const auto table = tree_map([](double x) { return int(x); }, m);
  EXPECT_THROW((void)table["layers.1.bias"_path], path_error);
  EXPECT_THROW((void)table["layers.2.weight.0"_path], path_error);
  try {
    (void)table["layers.1.bias"_path];
    FAIL();
  } catch (const path_error& e) {
    EXPECT_NE(std::string(e.what()).find("layers.1.bias"), std::string::npos) << e.what();
  }
}

TEST(leaf_array, map_keys_are_part_of_paths) {
  using maps = std::map<std::string, std::map<int, double>>;
  const auto table = tree_map([](double x) { return int(x); },
                              std::pair(maps{{"a.b", {{-1, 1}, {10, 2}}}, {"a", {{1, 3}}}}, point{4, 5}));
  EXPECT_EQ(table["0.a.b.-1"_path], 1);
  EXPECT_EQ(table["0.a.b.10"_path], 2);
  EXPECT_EQ(table["0.a.1"_path], 3);
  EXPECT_EQ(table["1.y"_path], 5);
  EXPECT_THROW((void)table["0.a.b.1"_path], path_error);
}

TEST(leaf_array, variants_pointers_and_recursive_trees_have_paths) {
  const auto rose = tree_map([](double x) { return int(x); }, corpus::examples<corpus::rose>()[0]);
  EXPECT_EQ(rose["children.0.children.0.value"_path], 3);
  const auto choice = tree_map([](auto x) { return char(x); }, corpus::choice{point{1, 2}});
  EXPECT_EQ(choice["held.y"_path], 2);
  EXPECT_THROW((void)choice["held.0"_path], path_error);
  const auto owner = tree_map([](double x) { return int(x); }, corpus::owner{std::make_unique<point>(point{1, 2})});
  EXPECT_EQ(owner["at.y"_path], 2);
}

TEST(leaf_array, a_mask_selects_leaves_beside_or_in_front_of_a_tree) {
  const model m{{{{1, 2}, 3.0}, {{4}, {}}}, 5};
  const auto is_weight = tree_map_with_path(
      [](const path_view& path, double) { return path.to_string().find("weight") != std::string::npos; }, m);
  const model beside = tree_map([](double x, bool yes) { return yes ? x : 0.0; }, m, is_weight);
  EXPECT_TRUE(beside == (model{{{{1, 2}, 0.0}, {{4}, {}}}, 0}));
  const auto in_front = tree_map([](bool yes, double x) { return yes ? x : 0.0; }, is_weight, m);
  static_assert(std::is_same_v<decltype(in_front["temperature"_path]), const double&>);
  EXPECT_EQ(in_front["layers.0.bias"_path], 0);
  EXPECT_EQ(in_front["layers.0.weight.1"_path], 2);
}

TEST(leaf_array, several_of_them_with_and_without_a_tree) {
  using points = std::pair<point, point>;
  const points s{{1, 2}, {3, 4}};
  const auto a = tree_map([](double x) { return int(x); }, s);
  const auto b = tree_map([](double x) { return char(10 * x); }, s);
  const points sum = tree_map([](double x, int y, char z) { return x + y + z; }, s, a, b);
  EXPECT_EQ(sum, (points{{12, 24}, {36, 48}}));
  const auto product = tree_map([](int y, char z) { return y * z; }, a, b);
  static_assert(std::is_same_v<decltype(product), const leaf_array<points, int>>);
  EXPECT_EQ(product["1.y"_path], 160);
}

TEST(leaf_array, is_visited_and_updated_in_place) {
  auto table = tree_map([](double x) { return int(x); }, segment{{1, 2}, {3, 4}});
  tree_visit([](int& x, double y) { x += int(y); }, table, segment{{10, 20}, {30, 40}});
  EXPECT_EQ(table["to.y"_path], 44);
  segment s{};
  tree_visit([](double& x, int y) { x = y; }, s, table);
  EXPECT_EQ(s, (segment{{11, 22}, {33, 44}}));
}

TEST(leaf_array, paths_are_those_of_the_tree) {
  const auto table = tree_map([](double x) { return int(x); }, segment{{1, 2}, {3, 4}});
  std::string text;
  tree_visit_with_path([&](const path_view& path, int x) { text += path.to_string() + "=" + std::to_string(x) + " "; },
                       table);
  EXPECT_EQ(text, ".from.x=1 .from.y=2 .to.x=3 .to.y=4 ");
}

TEST(leaf_array, moves_its_values_out_of_an_rvalue) {
  auto table = tree_map([](double x) { return corpus::token(int(x)); }, point{1, 2});
  const auto moved = tree_map([](corpus::token&& t) { return std::move(t); }, std::move(table));
  EXPECT_EQ(moved["y"_path].value(), 2);
}

TEST(leaf_array, a_structure_of_another_size_is_refused_with_every_path) {
  const model m{{{{1, 2}, 3.0}, {{4}, {}}}, 5};
  const auto table = tree_map([](double x) { return int(x); }, m);
  model other = m;
  other.layers[0].weight.pop_back();
  other.layers[1].bias = 1;
  try {
    (void)tree_map([](double x, int) { return x; }, other, table);
    FAIL();
  } catch (const structure_error& e) {
    ASSERT_EQ(e.differences.size(), 2u);
    EXPECT_EQ(e.differences[0].path, ".layers[0].weight");
    EXPECT_EQ(e.differences[1].path, ".layers[1].bias");
  }
}

TEST(leaf_array, compares_structure_and_values) {
  const auto table = [](std::vector<double> values) {
    return tree_map([](double x) { return int(x); }, std::vector{linear{std::move(values), {}}});
  };
  EXPECT_TRUE(table({1, 2}) == table({1, 2}));
  EXPECT_FALSE(table({1, 2}) == table({1, 3}));
  EXPECT_FALSE(table({1, 2}) == table({1}));
}

TEST(leaf_array, a_wrong_number_of_values_is_refused) {
  EXPECT_THROW((leaf_array<linear, int>(tree_structure(linear{{1, 2}, {}}), {1, 2, 3})), leaf_error);
  EXPECT_THROW((leaf_array<point, int>(treedef<point>(), {1})), leaf_error);
}

TEST(leaf_array, more_values_than_leaves_are_refused_before_they_are_stored) {
  EXPECT_THROW((leaf_array<point, int>(treedef<point>(), {1, 2, 3, 4, 5, 6, 7, 8})), leaf_error);
  EXPECT_THROW((leaf_array<point, std::string>(treedef<point>(), {"a", "b", "c"})), leaf_error);
}

TEST(leaf_array, begins_with_value_initialised_values) {
  const leaf_array<linear, std::optional<int>> nothing(tree_structure(linear{{1, 2}, {}}));
  ASSERT_EQ(nothing.size(), 2U);
  EXPECT_EQ(nothing.data()[0], std::nullopt);
  EXPECT_EQ((leaf_array<point, int>(treedef<point>())), (leaf_array<point, int>(treedef<point>(), {0, 0})));
}

TEST(leaf_array, a_large_structure_is_not_printed_whole_in_errors) {
  const std::map<std::string, std::vector<double>> tree{{"a", std::vector<double>(500)}};
  try {
    (void)tree_map([](double x) { return x > 0; }, tree)["b.0"_path];
    FAIL();
  } catch (const path_error& e) {
    EXPECT_LT(std::string(e.what()).size(), 300U);
  }
}

TEST(leaf_array, prints_paths_and_values) {
  std::ostringstream out;
  out << tree_map([](double x) { return x > 1; }, linear{{1, 2}, {}});
  EXPECT_EQ(out.str(), "{.weight[0]: false, .weight[1]: true}");
}

TEST(leaf_array, allocates_nothing_over_a_static_structure) {
  using storage = leaf_array<segment, bool>::storage_type;
  static_assert(sizeof(leaf_array<segment, bool>) == sizeof(storage), "and its structure takes no room");
  static_assert(std::is_trivially_copyable_v<storage>, "and its values are in it");
}

}  // namespace
