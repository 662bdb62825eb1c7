// Trees of what only std::meta reads, and the annotations: for compilers with C++26 reflection.

#include <espalier/dotted_names.hpp>
#include <espalier/equal.hpp>
#include <espalier/flatten.hpp>
#include <espalier/map.hpp>
#include <espalier/reduce.hpp>
#include <espalier/visit.hpp>
#include <espalier/visit_update.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "names_and_paths.hpp"

namespace {

using namespace espalier;

// The same tree, as a plain struct and as a class with a base, private members and annotations.
struct plain_cache {
  double keys;
  std::vector<double> values;
  aux<int> step;
  std::optional<double> scale;
};

struct key_holder {
  double keys;
};
class[[= tree]] class_cache : key_holder {
 public:
  class_cache(double key, std::vector<double> values, int step, std::optional<double> scale)
      : key_holder{key}, values_(std::move(values)), step_(step), scale_(scale) {}
  double first() const { return keys; }
  const std::vector<double>& values() const { return values_; }
  int step() const { return step_; }

 private:
  [[= name("values")]] std::vector<double> values_;
  [[ = aux_field, = name("step") ]] int step_;
  [[= name("scale")]] std::optional<double> scale_;
};

static_assert(pytree<class_cache> && detail::kind_of<class_cache> == node_kind::record);
static_assert(structure_hash_v<class_cache> == structure_hash_v<plain_cache>);

TEST(class_with_annotations, has_the_structure_of_the_plain_struct_with_its_names) {
  const plain_cache plain{1, {2, 3}, 7, 4.0};
  const class_cache annotated(5, {6, 7}, 7, 8.0);
  EXPECT_TRUE(tree_structure(plain) == tree_structure(annotated));
  EXPECT_EQ(tree_structure(plain).hash(), tree_structure(annotated).hash());
  EXPECT_EQ(paths_of(annotated), (std::vector<std::string>{".keys", ".values[0]", ".values[1]", ".scale"}));
  EXPECT_EQ(tree_structure(annotated).to_string(), "{.keys: *, .values: [*, *], .scale: *, .step=7}");
  EXPECT_FALSE(tree_structure(plain) == tree_structure(class_cache(5, {6, 7}, 8, 8.0)));
}

TEST(class_with_annotations, is_mapped_updated_and_rebuilt) {
  class_cache cache(1, {2, 3}, 7, 4.0);
  const class_cache mapped = tree_map([](double x) { return 2 * x; }, cache);
  EXPECT_EQ(mapped.first(), 2);
  EXPECT_EQ(mapped.values(), (std::vector<double>{4, 6}));
  EXPECT_EQ(mapped.step(), 7);
  tree_visit_update([](double x) { return -x; }, cache);
  EXPECT_EQ(cache.values(), (std::vector<double>{-2, -3}));
  const auto [leaves, structure] = tree_flatten(mapped);
  EXPECT_EQ(leaves, (std::vector<double>{2, 4, 6, 8}));
  EXPECT_TRUE(tree_equal(tree_unflatten(structure, leaves), mapped));
  const class_cache sum = tree_map([](double a, double b) { return a + b; }, cache, plain_cache{10, {10, 10}, 7, 10.0});
  EXPECT_EQ(sum.first(), 9);
}

// A class inside containers inside a class.
class[[= tree]] layers {
 public:
  std::map<std::string, class_cache>& caches() { return caches_; }

 private:
  std::map<std::string, class_cache> caches_;
  std::vector<layers> deeper_;
};
TEST(class_with_annotations, stands_anywhere_in_a_tree) {
  std::vector<layers> tree(2);
  tree[1].caches().emplace("a", class_cache(1, {}, 0, {}));
  EXPECT_EQ(paths_of(tree), (std::vector<std::string>{"[1].caches_['a'].keys"}));
  const auto mapped = tree_map([](double x) { return x + 1; }, tree);
  EXPECT_EQ(tree_leaves(mapped), (std::vector<double>{2}));
}

// --- Leaves. ---

struct[[= leaf]] timestamp {
  long seconds;
  int offset;
  bool operator==(const timestamp&) const = default;
};
struct event {
  timestamp at;
  double value;
};
static_assert(is_leaf_type<timestamp> && detail::kind_of<timestamp> == node_kind::leaf);
TEST(annotated_leaf, is_not_read) {
  EXPECT_EQ(paths_of(event{{1, 2}, 3}), (std::vector<std::string>{".at", ".value"}));
}

// --- What aggregates of C++20 refuse. ---

struct with_array {
  double taps[3];
  std::vector<float> rows[2];
  int grid[2][2];
};
struct with_std_array {
  std::array<double, 3> taps;
  std::array<std::vector<float>, 2> rows;
  std::array<std::array<int, 2>, 2> grid;
};
static_assert(structure_hash_v<with_array> == structure_hash_v<with_std_array>);

constexpr auto negate = [](auto x) { return -x; };

TEST(c_arrays, are_nodes_as_std_arrays_are) {
  with_array tree{{1, 2, 3}, {{4}, {5, 6}}, {{7, 8}, {9, 10}}};
  EXPECT_EQ(paths_of(tree),
            (std::vector<std::string>{".taps[0]", ".taps[1]", ".taps[2]", ".rows[0][0]", ".rows[1][0]", ".rows[1][1]",
                                      ".grid[0][0]", ".grid[0][1]", ".grid[1][0]", ".grid[1][1]"}));
  const with_array mapped = tree_map(negate, tree);
  EXPECT_EQ(mapped.taps[2], -3);
  EXPECT_EQ(mapped.rows[1][1], -6);
  EXPECT_EQ(mapped.grid[1][0], -9);
  tree_visit_update(negate, tree);
  EXPECT_TRUE(tree_equal(tree, mapped));
  EXPECT_TRUE(tree_structure(tree) == tree_structure(with_std_array{{}, {{{1}, {2, 3}}}, {}}));
  const auto [leaves, structure] = tree_flatten(mapped);
  EXPECT_EQ(leaves.size(), 10U);
  EXPECT_TRUE(tree_equal(tree_unflatten(structure, leaves), mapped));
}

struct packed {
  double scale;
  [[= aux_field]] unsigned bits : 4;
  [[= aux_field]] bool signs : 1;
  double zero;
};
struct unpacked {
  double scale;
  aux<unsigned> bits;
  aux<bool> signs;
  double zero;
};
static_assert(structure_hash_v<packed> == structure_hash_v<unpacked>);
TEST(bit_fields, are_aux_data) {
  const packed tree{1, 4, true, 2};
  EXPECT_TRUE(tree_structure(tree) == tree_structure(unpacked{5, 4U, true, 6}));
  EXPECT_FALSE(tree_structure(tree) == tree_structure(unpacked{5, 3U, true, 6}));
  const packed mapped = tree_map(negate, tree);
  EXPECT_EQ(mapped.bits, 4U);
  EXPECT_TRUE(mapped.signs);
  EXPECT_EQ(mapped.zero, -2);
  const auto [leaves, structure] = tree_flatten(tree);
  EXPECT_EQ(tree_unflatten(structure, leaves).bits, 4U);
}

struct position {
  double x, y;
};
struct particle : position {
  double mass;
};
TEST(bases, are_children_of_the_derived_struct) {
  const particle tree{{1, 2}, 3};
  EXPECT_EQ(paths_of(tree), (std::vector<std::string>{".x", ".y", ".mass"}));
  EXPECT_EQ(tree_map(negate, tree).y, -2);
}

}  // namespace
