// Trees whose types contain themselves: traversed down to a limit, and refused below it.

#include <espalier/equal.hpp>
#include <espalier/errors.hpp>
#include <espalier/flatten.hpp>
#include <espalier/map.hpp>
#include <espalier/print.hpp>
#include <espalier/visit.hpp>
#include <espalier/visit_update.hpp>
#include <memory>
#include <string>

#include "corpus.hpp"

namespace {

using namespace espalier;

// A value in `depth` vectors.
corpus::rose nested_rose(int depth) {
  corpus::rose tree{0, {}};
  for (int i = 0; i < depth; ++i) {
    std::vector<corpus::rose> children;
    children.push_back(std::move(tree));
    tree = {static_cast<double>(i), std::move(children)};
  }
  return tree;
}
// A list of depth + 1 values; its end is no container.
corpus::chain nested_chain(int depth) {
  corpus::chain tree{0, nullptr};
  for (int i = 0; i < depth; ++i) tree = {i, std::make_unique<corpus::chain>(std::move(tree))};
  return tree;
}

template <class Tree> void every_operation(const Tree& tree) {
  auto copy = tree_map([](auto x) { return x; }, tree);
  (void)tree_map([](auto x, auto) { return x; }, tree, copy);
  tree_visit([](auto) {}, tree);
  tree_visit_with_path([](const path_view&, auto) {}, tree);
  tree_visit_update([](auto x) { return x; }, copy);
  const auto [leaves, structure] = tree_flatten(tree);
  EXPECT_TRUE(tree_equal(structure.unflatten(leaves), tree));
  EXPECT_NE(structure.hash(), 0u);
  (void)structure.to_string();
  (void)tree_print(tree, 1 << 20);
}

// (The leaf of a rose is beside its vector, and the last vector is empty: a rose of depth n is nested n + 1 deep.)
TEST(depth, down_to_the_limit_every_operation_works) {
  every_operation(nested_rose(ESPALIER_MAX_DEPTH - 1));
  every_operation(nested_chain(ESPALIER_MAX_DEPTH - 1));
}

template <class Tree> void expect_refused(const Tree& tree, const Tree& other) {
  EXPECT_THROW((void)tree_map([](auto x) { return x; }, tree), depth_error);
  EXPECT_THROW((void)tree_map([](auto x, auto) { return x; }, tree, other), depth_error);
  EXPECT_THROW(tree_visit([](auto) {}, tree), depth_error);
  EXPECT_THROW((void)tree_leaves(tree), depth_error);
  EXPECT_THROW((void)tree_structure(tree), depth_error);
  EXPECT_THROW((void)tree_equal(tree, other), depth_error);
  EXPECT_THROW((void)tree_print(tree), depth_error);
}

TEST(depth, below_it_they_throw) {
  for (int depth : {ESPALIER_MAX_DEPTH, 10 * ESPALIER_MAX_DEPTH}) {
    expect_refused(nested_rose(depth), nested_rose(depth));
    expect_refused(nested_chain(depth), nested_chain(depth));
  }
}

TEST(depth, the_error_names_the_limit_and_where_paths_are_asked_for_the_way) {
  try {
    tree_visit_with_path([](const path_view&, double) {}, nested_rose(ESPALIER_MAX_DEPTH));
    FAIL();
  } catch (const depth_error& e) {
    EXPECT_NE(std::string(e.what()).find(".children[0].children[0]"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find(std::to_string(ESPALIER_MAX_DEPTH)), std::string::npos) << e.what();
  }
}

TEST(depth, breadth_is_not_depth) {
  EXPECT_EQ(tree_leaves(corpus::rose{1, std::vector<corpus::rose>(3 * ESPALIER_MAX_DEPTH)}).size(),
            3u * ESPALIER_MAX_DEPTH + 1);
}

TEST(depth, is_counted_per_branch) {
  corpus::rose tree{1, {}};
  for (int i = 0; i < 5; ++i) tree.children.push_back(nested_rose(ESPALIER_MAX_DEPTH - 2));
  EXPECT_EQ(tree_leaves(tree).size(), 5u * (ESPALIER_MAX_DEPTH - 1) + 1);
}

}  // namespace
