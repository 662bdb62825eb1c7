// Leaves by dotted name: the names of mlx.utils.tree_flatten, and a tree from them with every difference. CASES 24.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <espalier/dotted_names.hpp>
#include <espalier/equal.hpp>
#include <espalier/path.hpp>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "corpus.hpp"
#include "messages.hpp"

namespace {

using namespace espalier;
using corpus::point;

template <class T> struct dotted_names_laws : testing::Test {};
TYPED_TEST_SUITE(dotted_names_laws, corpus::types);

TYPED_TEST(dotted_names_laws, unflatten_undoes_flatten_in_any_order) {
  auto trees = corpus::examples<TypeParam>();
  const auto expected = corpus::examples<TypeParam>();
  for (std::size_t n = 0; n < trees.size(); ++n) {
    const treedef<TypeParam> def(trees[n]);
    const std::vector<key_path> paths = def.paths();
    auto named = tree_flatten_names(std::move(trees[n]));
    ASSERT_EQ(named.size(), paths.size());
    for (std::size_t i = 0; i < paths.size(); ++i) EXPECT_EQ(named[i].first, paths[i].dotted());
    std::reverse(named.begin(), named.end());
    EXPECT_TRUE(tree_equal(tree_unflatten_names(def, std::move(named)), expected[n]));
  }
}

struct layer {
  int weight, bias;
  bool operator==(const layer&) const = default;
};
struct network {
  std::vector<layer> layers;
  int rate;
  bool operator==(const network&) const = default;
};

// mlx.utils.tree_flatten({"layers": [{"weight": 1, "bias": 2}, {"weight": 3, "bias": 4}], "rate": 5})
TEST(dotted_names, are_those_of_mlx) {
  const std::vector<std::pair<std::string, int>> expected{
      {"layers.0.weight", 1}, {"layers.0.bias", 2}, {"layers.1.weight", 3}, {"layers.1.bias", 4}, {"rate", 5}};
  EXPECT_EQ(tree_flatten_names(network{{{1, 2}, {3, 4}}, 5}), expected);
  using nested = std::vector<std::vector<std::vector<int>>>;
  EXPECT_EQ(tree_flatten_names(nested{{{0}}}), (std::vector<std::pair<std::string, int>>{{"0.0.0", 0}}));
  EXPECT_EQ(tree_flatten_names(7), (std::vector<std::pair<std::string, int>>{{"", 7}}));
}

TEST(dotted_names, find_their_leaves) {
  const auto def = tree_structure(network{{{}, {}}, 0});
  const std::map<std::string, int> named{
      {"rate", 5}, {"layers.1.bias", 4}, {"layers.0.bias", 2}, {"layers.1.weight", 3}, {"layers.0.weight", 1}};
  EXPECT_EQ(tree_unflatten_names(def, named), (network{{{1, 2}, {3, 4}}, 5}));
  EXPECT_EQ(tree_unflatten_names(treedef<int>(), std::map<std::string_view, int>{{"", 7}}), 7);
}

TEST(dotted_names, every_missing_unexpected_and_repeated_name_is_reported) {
  const auto def = tree_structure(network{{{}, {}}, 0});
  const std::vector<std::pair<std::string, int>> named{
      {"rate", 5}, {"layers.0.weight", 1}, {"layers.0.weigth", 1}, {"layers.2.bias", 1}, {"rate", 6}};
  EXPECT_EQ(mismatches_of([&] { (void)tree_unflatten_names(def, named); }),
            (std::vector<mismatch>{{"layers.0.bias", "a leaf", "no such name"},
                                   {"layers.1.weight", "a leaf", "no such name"},
                                   {"layers.1.bias", "a leaf", "no such name"},
                                   {"layers.0.weigth", "no such name", "a leaf"},
                                   {"layers.2.bias", "no such name", "a leaf"},
                                   {"rate", "one leaf", "another of the same name"}}));
}

TEST(dotted_names, a_leaf_of_another_type_is_reported_by_name) {
  using tree = std::tuple<int, std::string>;
  auto named = tree_flatten_names(tree(1, "a"));
  std::swap(named[0].second, named[1].second);
  EXPECT_EQ(mismatches_of([&] { (void)tree_unflatten_names(treedef<tree>(), named); }),
            (std::vector<mismatch>{{"0", "a leaf of the structure's type", "a leaf of another type"},
                                   {"1", "a leaf of the structure's type", "a leaf of another type"}}));
}

// --- Leaves of another type: C++'s conversions, where nothing is cut off. ---

TEST(dotted_names, numbers_are_converted_where_the_leaf_can_hold_them) {
  struct numbers {
    int n;
    float x;
    bool on;
    std::uint8_t byte;
    bool operator==(const numbers&) const = default;
  };
  const auto def = treedef<numbers>();
  EXPECT_EQ(tree_unflatten_names(def, std::map<std::string, double>{{"n", -2}, {"x", 0.1}, {"on", 1}, {"byte", 255}}),
            (numbers{-2, 0.1f, true, 255}));
  EXPECT_EQ(tree_unflatten_names(def, std::map<std::string, long>{{"n", -2}, {"x", 1}, {"on", 0}, {"byte", 7}}),
            (numbers{-2, 1.0f, false, 7}));
  // Infinity and NaN are floating-point numbers of every type.
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(tree_unflatten_names(treedef<float>(), std::map<std::string, double>{{"", -infinity}}), -infinity);
  EXPECT_TRUE(std::isnan(tree_unflatten_names(treedef<float>(), std::map<std::string, double>{{"", std::nan("")}})));
}

TEST(dotted_names, a_number_that_does_not_survive_the_conversion_is_reported_by_name) {
  struct numbers {
    int n;
    std::uint8_t byte;
    bool on;
    float x;
  };
  EXPECT_EQ(mismatches_of([] {
              const std::map<std::string, double> named{{"n", 2.7}, {"byte", 256}, {"on", 2}, {"x", 1e39}};
              (void)tree_unflatten_names(treedef<numbers>(), named);
            }),
            (std::vector<mismatch>{{"n", "a whole number from -2147483648 to 2147483647", "2.7"},
                                   {"byte", "a whole number from 0 to 255", "256"},
                                   {"on", "a whole number from 0 to 1", "2"},
                                   {"x", "a number no larger than 3.4028235e+38", "1e+39"}}));
  EXPECT_EQ(mismatches_of([] {
              const std::map<std::string, long> named{{"n", 1L << 31}, {"byte", -1}, {"on", -1}, {"x", 0}};
              (void)tree_unflatten_names(treedef<numbers>(), named);
            }).size(),
            3u);
}

template <class Leaf, class Given> bool survives(Given given) {
  try {
    (void)tree_unflatten_names(treedef<Leaf>(), std::map<std::string, Given>{{"", given}});
    return true;
  } catch (const structure_error&) {
    return false;
  }
}
TEST(dotted_names, the_largest_integers_are_told_from_one_more) {
  const double two_to_63 = 0x1p63;
  EXPECT_TRUE(survives<std::int64_t>(-two_to_63));
  EXPECT_TRUE(survives<std::int64_t>(std::nextafter(two_to_63, 0)));
  EXPECT_FALSE(survives<std::int64_t>(two_to_63));
  EXPECT_TRUE(survives<std::uint64_t>(two_to_63));
  EXPECT_FALSE(survives<std::uint64_t>(2 * two_to_63));
  EXPECT_FALSE(survives<std::uint64_t>(-1.0));
  EXPECT_FALSE(survives<std::uint64_t>(std::int64_t(-1)));
  EXPECT_FALSE(survives<std::int64_t>(~std::uint64_t(0)));
  EXPECT_FALSE(survives<int>(std::nan("")));
  EXPECT_FALSE(survives<int>(std::numeric_limits<float>::infinity()));
}

// --- CASES 24. mlx.utils keeps "1" and "01" too; of two leaves of one name its tree_unflatten never returns. ---

TEST(dotted_names, keys_one_and_zero_one_stay_two_keys_and_digits_stay_keys) {
  using tree = std::map<std::string, int>;
  const tree keys{{"1", 3}, {"01", 4}, {"0", 5}};
  const auto named = tree_flatten_names(keys);
  EXPECT_EQ(named, (std::vector<std::pair<std::string, int>>{{"0", 5}, {"01", 4}, {"1", 3}}));
  EXPECT_EQ(tree_unflatten_names(tree_structure(keys), named), keys);
}

TEST(dotted_names, keys_with_dots_are_kept_as_they_are) {
  using tree = std::map<std::string, int>;
  const tree flat{{"layers.0.weight", 1}, {"layers.0.bias", 2}};
  EXPECT_EQ(tree_unflatten_names(tree_structure(flat), tree_flatten_names(flat)), flat);
}

TEST(dotted_names, two_leaves_of_one_name_are_an_error_that_names_both) {
  using tree = std::map<std::string, std::map<std::string, int>>;
  const tree keys{{"a", {{"b.c", 1}}}, {"a.b", {{"c", 2}}}};
  const std::vector<mismatch> expected{
      {"['a.b']['c']", "a dotted name of its own (rename a key)", "'a.b.c', which ['a']['b.c'] has too"}};
  EXPECT_EQ(mismatches_of([&] { (void)tree_flatten_names(keys); }), expected);
  EXPECT_EQ(mismatches_of([&] { (void)tree_unflatten_names(tree_structure(keys), std::map<std::string, int>()); }),
            expected);
}

TEST(dotted_names, a_tree_that_cannot_be_named_is_not_moved_from) {
  using tree = std::map<std::string, std::map<std::string, std::string>>;
  tree keys{{"a", {{"b.c", "one"}}}, {"a.b", {{"c", "two"}}}};
  EXPECT_THROW((void)tree_flatten_names(std::move(keys)), structure_error);
  EXPECT_EQ(keys["a"]["b.c"], "one");  // NOLINT(bugprone-use-after-move): that is the point
}

}  // namespace
