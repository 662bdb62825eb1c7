// mapped_t: a struct with the same fields and other leaves. For compilers with C++26 reflection.

#include <espalier/flatten.hpp>
#include <espalier/map.hpp>
#include <espalier/mapped.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace espalier;

struct linear {
  double weight;
  std::optional<double> bias;
};
struct model {
  std::vector<linear> layers;
  std::map<std::string, float> scales;
  aux<int> step;
  std::tuple<double, int> pair;
  [[= aux_field]] std::string name;
  std::array<linear, 2> heads;
  std::variant<double, linear> either;
};
static_assert(structure_hash_v<mapped_t<model, bool>> == structure_hash_v<model>);
static_assert(std::is_same_v<decltype(mapped_t<linear, bool>::weight), bool> &&
              std::is_same_v<decltype(mapped_t<linear, bool>::bias), std::optional<bool>>);
static_assert(std::is_same_v<decltype(mapped_t<model, bool>::step), aux<int>> &&
              std::is_same_v<decltype(mapped_t<model, bool>::name), std::string>);
static_assert(std::is_same_v<mapped_t<std::vector<double>, int>, std::vector<int>>);

TEST(mapped, has_the_fields_by_name_and_stands_beside_the_tree) {
  const linear tree{2, 3};
  mapped_t<linear, bool> mask{true, false};
  EXPECT_TRUE(mask.weight);
  EXPECT_FALSE(*mask.bias);
  EXPECT_TRUE(tree_structure(mask) == tree_structure(tree));
  const linear masked = tree_map([](double x, bool on) { return on ? x : 0.0; }, tree, mask);
  EXPECT_EQ(masked.weight, 2);
  EXPECT_EQ(masked.bias, 0);
}

TEST(mapped, is_filled_by_name) {
  mapped_t<model, int> counts{};
  counts.layers.resize(1);
  counts.layers[0].weight = 7;
  counts.scales["a"] = 8;
  counts.name = "n";
  const model tree{{{1, {}}}, {{"a", 1.0F}}, 0, {1, 2}, "n", {}, 0.0};
  EXPECT_TRUE(tree_structure(counts) == tree_structure(tree));
  EXPECT_EQ(tree_leaves(counts)[1], 8);
  const auto doubled = tree_map([](int n) { return 2 * n; }, counts);
  EXPECT_EQ(doubled.layers[0].weight, 14);
}

struct rose {
  double value;
  std::vector<rose> children;
  std::unique_ptr<rose> next;
};
TEST(mapped, a_struct_can_contain_itself) {
  static_assert(structure_hash_v<mapped_t<rose, char>> == structure_hash_v<rose>);
  mapped_t<rose, char> tree;
  tree.value = 'a';
  tree.children.emplace_back().value = 'b';
  EXPECT_EQ(tree_leaves(tree), (std::vector{'a', 'b'}));
}

}  // namespace
