// mapped_t: a struct with the same fields and other leaves. For compilers with C++26 reflection.

#include <espalier/flatten.hpp>
#include <espalier/leaf_array.hpp>
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

TEST(mapped, is_what_a_map_to_another_leaf_type_gives) {
  const model tree{{{1, 2.0}}, {{"a", 3.0F}}, 5, {6, 7}, "n", {{{8, {}}, {9, {}}}}, linear{10, {}}};
  const auto large = tree_map([](auto x) { return x > 5; }, tree);
  static_assert(std::is_same_v<decltype(large), const mapped_t<model, bool>>);
  EXPECT_TRUE(tree_structure(large) == tree_structure(tree));
  EXPECT_FALSE(large.layers[0].weight);
  EXPECT_TRUE(std::get<1>(large.pair));
  EXPECT_EQ(large.step, 5);
  EXPECT_EQ(large.name, "n");
  EXPECT_TRUE(std::get<1>(large.either).weight);
}

TEST(mapped, is_read_and_written_by_path) {
  mapped_t<model, int> table{};
  table.layers.resize(2);
  table["layers.1.weight"_path] = 7;
  EXPECT_EQ(table.layers[1].weight, 7);
  EXPECT_EQ(std::as_const(table)["layers.1.weight"_path], 7);
  EXPECT_THROW((void)table["layers.2.weight"_path], path_error);
  EXPECT_THROW((void)table["layers.1.bias"_path], path_error);
}

TEST(mapped, mapping_back_gives_the_struct_itself) {
  static_assert(std::is_same_v<mapped_t<linear, double>, linear>);
  static_assert(std::is_same_v<mapped_t<mapped_t<model, bool>, int>, mapped_t<model, int>>);
  const auto mask = tree_map([](double x) { return x > 2; }, linear{2, 3});
  const linear weights = tree_map([](bool on) { return on ? 1.0 : 0.5; }, mask);
  EXPECT_EQ(weights.weight, 0.5);
  EXPECT_EQ(weights.bias, 1.0);
}

}  // namespace

struct registered {
  double value;
};
template <> struct espalier::pytree_node<registered> {
  static auto children(auto&& r) { return std::tie(r.value); }
  static registered unflatten(auto, double value) { return {value}; }
};

namespace {

struct holds_registered {
  registered inner;
  double value;
};
struct holds_numbers {
  std::vector<double> values;
};
struct renamed {
  [[= name("class")]] double value;
};
struct renamed_well {
  [[= name("weight")]] double value;
};

TEST(mapped, what_it_cannot_be_made_for_maps_to_a_leaf_array) {
  const auto positive = [](double x) { return x > 0; };
  static_assert(std::is_same_v<decltype(tree_map(positive, holds_registered())), leaf_array<holds_registered, bool>>);
  static_assert(std::is_same_v<decltype(tree_map(positive, holds_numbers())), leaf_array<holds_numbers, bool>>,
                "a vector<bool> is no tree");
  static_assert(std::is_same_v<decltype(tree_map(positive, renamed())), leaf_array<renamed, bool>>,
                "no member is called `class`");
  static_assert(
      std::is_same_v<decltype(tree_map(positive, std::vector<linear>())), leaf_array<std::vector<linear>, bool>>,
      "a container is read by path");
  static_assert(std::is_same_v<decltype(tree_map([](double x) { return std::optional(x); }, renamed_well())),
                               leaf_array<renamed_well, std::optional<double>>>,
                "values that are trees stay whole");
  const auto mapped = tree_map(positive, renamed_well{1});
  EXPECT_TRUE(mapped.weight);
}

class[[= tree]] counter {
 public:
  counter(double count, int step) : count_(count), step_(step) {}

 private:
  double count_;
  [[= aux_field]] int step_;
};
struct base {
  double weight;
};
struct derived : base {
  std::array<float, 2> scales;
  int matrix[2][2];
};

TEST(mapped, classes_that_opted_in_and_bases_become_plain_structs) {
  const auto counted = tree_map([](double x) { return static_cast<int>(x); }, counter(2.5, 7));
  static_assert(std::is_same_v<decltype(counted), const mapped_t<counter, int>>);
  EXPECT_EQ(counted.count_, 2);
  EXPECT_EQ(counted.step_, 7);
  const auto flat = tree_map([](auto x) { return x > 1; }, derived{{2}, {1, 2}, {{0, 1}, {2, 3}}});
  EXPECT_TRUE(flat.weight);
  EXPECT_TRUE(flat.scales[1]);
  EXPECT_FALSE(flat.matrix[0][1]);
  EXPECT_TRUE(flat.matrix[1][0]);
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
  rose grown{1, {}, {}};
  grown.children.push_back({2, {}, {}});
  const auto letters = tree_map([](double x) { return static_cast<char>('a' + static_cast<int>(x)); }, grown);
  static_assert(std::is_same_v<decltype(letters), const mapped_t<rose, char>>);
  EXPECT_EQ(letters.children[0].value, 'c');
}

}  // namespace
