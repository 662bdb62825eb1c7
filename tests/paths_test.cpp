// The paths of a tree's leaves.

#include <espalier/paths.hpp>
#include <memory>
#include <optional>

#include "corpus.hpp"

namespace {

using namespace espalier;

template <class T> std::vector<std::string> printed(const T& tree) {
  std::vector<std::string> result;
  for (const key_path& path : tree_paths(tree)) result.push_back(path.to_string());
  return result;
}
template <class T> std::vector<std::string> dotted(const T& tree) {
  std::vector<std::string> result;
  for (const key_path& path : tree_paths(tree)) result.push_back(path.dotted());
  return result;
}
using texts = std::vector<std::string>;

TEST(paths, fields_and_elements) {
  const corpus::model m{{{{1, 2}, 3.0}, {{4}, {}}}, 0.5};
  EXPECT_EQ(printed(m), (texts{".layers[0].weight[0]", ".layers[0].weight[1]", ".layers[0].bias",
                               ".layers[1].weight[0]", ".temperature"}));
  EXPECT_EQ(dotted(m),
            (texts{"layers.0.weight.0", "layers.0.weight.1", "layers.0.bias", "layers.1.weight.0", "temperature"}));
}

TEST(paths, map_keys) {
  EXPECT_EQ(printed(std::map<std::string, std::map<int, double>>{{"a", {{-1, 0}, {2, 0}}}}),
            (texts{"['a'][-1]", "['a'][2]"}));
}

TEST(paths, tuples_arrays_and_pairs_are_indexed) {
  EXPECT_EQ(printed(std::tuple(1, std::pair(2, 3), std::array{4, 5})),
            (texts{"[0]", "[1][0]", "[1][1]", "[2][0]", "[2][1]"}));
}

TEST(paths, optionals_pointers_and_variants_are_transparent) {
  EXPECT_EQ(printed(corpus::owner{std::make_unique<corpus::point>()}), (texts{".at.x", ".at.y"}));
  EXPECT_EQ(printed(corpus::choice{corpus::point{}}), (texts{".held.x", ".held.y"}));
  EXPECT_EQ(printed(std::optional(std::optional(1.0))), (texts{""}));
}

TEST(paths, a_leaf_has_the_empty_path_and_an_empty_tree_none) {
  EXPECT_EQ(printed(1.0), (texts{""}));
  EXPECT_EQ(printed(std::vector<double>()), texts{});
  EXPECT_EQ(printed(corpus::empty()), texts{});
}

TEST(paths, of_recursive_trees) {
  EXPECT_EQ(printed(corpus::examples<corpus::rose>()[0]),
            (texts{".value", ".children[0].value", ".children[0].children[0].value", ".children[1].value"}));
  EXPECT_EQ(printed(corpus::examples<corpus::chain>()[2]), (texts{".value", ".next.value", ".next.next.value"}));
}

TEST(paths, do_not_merge_keys_that_print_alike) {
  const std::map<std::string, double> tree{{"01", 1}, {"1", 2}};
  const auto paths = tree_paths(tree);
  EXPECT_FALSE(paths[0] == paths[1]);
  EXPECT_EQ(printed(tree), (texts{"['01']", "['1']"}));
}

TEST(paths, outlive_the_tree) {
  std::vector<key_path> paths;
  {
    const std::map<std::string, double> tree{{"a name that is long enough to be allocated", 1}};
    paths = tree_paths(tree);
  }
  EXPECT_EQ(paths[0].dotted(), "a name that is long enough to be allocated");
}

}  // namespace
