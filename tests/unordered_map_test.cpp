// std::unordered_map: a node whose children come in the order of its keys.
#include <gtest/gtest.h>

#include <espalier/espalier.hpp>
#include <espalier/visit_update.hpp>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

using namespace espalier;

namespace {

using weights = std::unordered_map<std::string, std::vector<double>>;

struct model {
  std::unordered_map<int, double> rates;
  weights layers;
};

struct holder {
  std::unordered_map<std::string, std::unique_ptr<int>> owned;
};

TEST(unordered_map, is_visited_and_changed_in_key_order) {
  model m{{{10, 1.0}, {-2, 2.0}, {3, 3.0}}, {{"b", {4.0}}, {"a", {5.0, 6.0}}}};
  EXPECT_EQ(tree_leaves(m), (std::vector<double>{2.0, 3.0, 1.0, 5.0, 6.0, 4.0}));
  EXPECT_EQ(tree_paths(m)[3].to_string(), ".layers['a'][0]");
  double next = 0;
  tree_visit([&](double& x) { x = next++; }, m);
  EXPECT_EQ(m.rates.at(10), 2.0);
  tree_visit_update([](double x, double y) { return x + y; }, m, m);
  EXPECT_EQ(m.layers.at("b"), (std::vector<double>{10.0}));
  EXPECT_EQ(tree_at(m, "layers.b.0"_path).get(), 10.0);
  EXPECT_TRUE(tree_equal(tree_unflatten(tree_structure(m), tree_leaves(m)), m));
}

TEST(unordered_map, has_the_structure_of_a_map_with_its_keys) {
  const std::unordered_map<std::string, int> a{{"x", 1}, {"y", 2}};
  const std::map<std::string, int> b{{"x", 10}, {"y", 20}};
  EXPECT_EQ(tree_structure(a), tree_structure(b));
  EXPECT_EQ(tree_structure(a).hash(), tree_structure(b).hash());
  EXPECT_EQ(tree_map([](int x, int y) { return x + y; }, a, b),
            (std::unordered_map<std::string, int>{{"x", 11}, {"y", 22}}));
  EXPECT_EQ(tree_map([](int x, int y) { return x + y; }, b, a), (std::map<std::string, int>{{"x", 11}, {"y", 22}}));
  const std::map<std::string, int> c{{"x", 10}, {"z", 20}};
  try {
    (void)tree_map([](int x, int) { return x; }, a, c);
    FAIL();
  } catch (const structure_error& fault) {
    ASSERT_EQ(fault.differences.size(), 2U);
    EXPECT_EQ(fault.differences[0].path, "['y']");
    EXPECT_EQ(fault.differences[1].path, "['z']");
  }
}

TEST(unordered_map, is_rebound_merged_and_moved) {
  const std::unordered_map<std::string, int> a{{"x", 1}, {"y", 2}};
  const std::unordered_map<std::string, double> halves = tree_map([](int x) { return x / 2.0; }, a);
  EXPECT_EQ(halves.at("x"), 0.5);
  const std::unordered_map<std::string, int> b{{"z", 3}};
  EXPECT_EQ(tree_merge(a, b), (std::unordered_map<std::string, int>{{"x", 1}, {"y", 2}, {"z", 3}}));
  holder h;
  h.owned["b"] = std::make_unique<int>(2);
  h.owned["a"] = nullptr;
  const holder again = tree_map([](int x) { return 2 * x; }, h);
  EXPECT_EQ(*again.owned.at("b"), 4);
  EXPECT_EQ(tree_structure(h).to_string(), "{.owned: {'a': None, 'b': *}}");
  const auto parts = tree_transpose(std::vector{a, a});
  EXPECT_EQ(parts.at("y"), (std::vector{2, 2}));
}

struct seeded {
  std::size_t seed = 0;
  std::size_t operator()(int key) const { return std::hash<int>()(key) ^ seed; }
};

TEST(unordered_map, keeps_its_hash_function_and_not_only_its_type) {
  const std::unordered_map<int, double, seeded> map(8, seeded{42});
  EXPECT_EQ(tree_map([](double x) { return x; }, map).hash_function().seed, 42U);
  EXPECT_EQ(tree_map([](double) { return 1.0F; }, map).hash_function().seed, 42U);
}

}  // namespace
