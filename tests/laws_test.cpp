// The laws of flattening, mapping, structures and names, on random trees.

#include <algorithm>
#include <espalier/any_treedef.hpp>
#include <espalier/dotted_names.hpp>
#include <espalier/equal.hpp>
#include <espalier/errors.hpp>
#include <espalier/flatten.hpp>
#include <espalier/map.hpp>
#include <espalier/parse_path.hpp>
#include <espalier/paths.hpp>
#include <espalier/ravel.hpp>
#include <espalier/structure.hpp>
#include <espalier/treedef_json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "random_trees.hpp"

namespace {

using namespace espalier;
using random_trees::a_tree, random_trees::check, random_trees::copied, random_trees::copy;

// True if f throws an E; any other exception breaks the law.
template <class E, class F> bool throws(F f) {
  try {
    f();
  } catch (const E&) {
    return true;
  }
  return false;
}

template <class T> struct laws : testing::Test {};
TYPED_TEST_SUITE(laws, corpus::types);

// --- Flattening and mapping. -----------------------------------------------------------------------------------------

template <class T> void round_trip() {
  const auto tree = a_tree<T>();
  auto [leaves, structure] = tree_flatten(copy(*tree));
  RC_ASSERT(leaves.size() == structure.num_leaves());
  RC_ASSERT(tree_unflatten(structure, std::move(leaves)) == *tree);
}
TYPED_TEST(laws, unflatten_undoes_flatten) { check(round_trip<TypeParam>); }

template <class T> void functor() {
  const auto tree = a_tree<T>();
  RC_ASSERT(tree_map(copied(), *tree) == *tree);
  const auto both = [](const auto& leaf) { return corpus::increase()(corpus::twice()(leaf)); };
  RC_ASSERT(tree_map(both, *tree) == tree_map(corpus::increase(), tree_map(corpus::twice(), *tree)));
  RC_ASSERT(tree_structure(tree_map(both, *tree)) == tree_structure(*tree));
}
TYPED_TEST(laws, map_is_a_functor) { check(functor<TypeParam>); }

template <class T> void side_by_side() {
  const auto a = a_tree<T>();
  const auto b = a_tree<T>();
  const auto first = [](const auto& leaf, const auto&) { return copied()(leaf); };
  const bool prefix = tree_structure(*a).is_prefix_of(tree_structure(*b));
  RC_ASSERT(throws<structure_error>([&] { (void)tree_map(first, *a, *b); }) == !prefix);
  RC_ASSERT(tree_map(first, *a, *a) == *a);
}
TYPED_TEST(laws, trees_map_side_by_side_if_and_only_if_one_is_a_prefix) { check(side_by_side<TypeParam>); }

template <class T> void numbers() {
  if constexpr (tree_of_numbers<T>) {
    const auto tree = a_tree<T>();
    const auto [flat, unravel] = tree_ravel(*tree);
    RC_ASSERT(flat.size() == tree_structure(*tree).num_leaves());
    RC_ASSERT(unravel(flat) == *tree);
  }
}
TYPED_TEST(laws, unravel_undoes_ravel) { check(numbers<TypeParam>); }

// --- Structure. ------------------------------------------------------------------------------------------------------

template <class T> void equalities() {
  const auto a = a_tree<T>();
  const auto b = a_tree<T>();
  const auto x = tree_structure(*a);
  const auto y = tree_structure(*b);
  const any_treedef any_x = x;
  const any_treedef any_y = y;
  const bool equal = x.encoding() == y.encoding();
  RC_ASSERT((x == y) == equal);
  RC_ASSERT((any_x == any_y) == equal);
  RC_ASSERT((x.hash() == y.hash()) == equal);
  RC_ASSERT(structure_differences(any_x, any_y).empty() == equal);
  RC_ASSERT(tree_equal(*a, *b) == (equal && *a == *b));
  RC_ASSERT(tree_equal(*a, copy(*a)));
}
TYPED_TEST(laws, structures_are_equal_if_and_only_if_encodings_hashes_and_differences_say_so) {
  check(equalities<TypeParam>);
}

template <class T> void kinds_of_treedef() {
  const auto tree = a_tree<T>();
  const auto structure = tree_structure(*tree);
  const any_treedef any = structure;
  RC_ASSERT(any.encoding() == structure.encoding());
  RC_ASSERT(any.hash() == structure.hash());
  RC_ASSERT(any.to_string() == structure.to_string());
  RC_ASSERT(any.num_leaves() == structure.num_leaves());
  RC_ASSERT(any.num_nodes() == structure.num_nodes());
  RC_ASSERT(any.paths() == structure.paths());
}
TYPED_TEST(laws, a_treedef_says_the_same_with_and_without_its_type) { check(kinds_of_treedef<TypeParam>); }

template <class T> void json() {
  const any_treedef structure = tree_structure(*a_tree<T>());
  const any_treedef again = treedef_from_json(treedef_to_json(structure));
  RC_ASSERT(again == structure);
  RC_ASSERT(again.hash() == structure.hash());
  RC_ASSERT(again.to_string() == structure.to_string());
}
TYPED_TEST(laws, a_treedef_is_read_as_it_was_written) { check(json<TypeParam>); }

template <class T> void composition() {
  const any_treedef a = tree_structure(*a_tree<T>());
  const any_treedef b = tree_structure(*a_tree<std::vector<corpus::optional_point>>());
  const any_treedef c = tree_structure(*a_tree<corpus::alternatives>());
  const any_treedef leaf = tree_structure(0);
  const any_treedef ab = a.compose(b);
  RC_ASSERT(ab.num_leaves() == a.num_leaves() * b.num_leaves());
  RC_ASSERT(ab.num_nodes() == a.num_nodes() + a.num_leaves() * (b.num_nodes() - 1));
  RC_ASSERT(a.is_prefix_of(ab));
  RC_ASSERT(a.compose(leaf) == a);
  RC_ASSERT(leaf.compose(a) == a);
  RC_ASSERT(ab.compose(c) == a.compose(b.compose(c)));
}
TYPED_TEST(laws, composing_multiplies_leaves_and_is_associative) { check(composition<TypeParam>); }

// --- Names. ----------------------------------------------------------------------------------------------------------

template <class T> void key_paths() {
  std::set<std::string> different;
  const std::vector<key_path> paths = tree_paths(*a_tree<T>());
  for (const key_path& path : paths) {
    RC_ASSERT(parse_path(path.to_string()).to_string() == path.to_string());
    different.insert(path.to_string());
  }
  RC_ASSERT(different.size() == paths.size());
}
TYPED_TEST(laws, key_paths_differ_and_parse_to_themselves) { check(key_paths<TypeParam>); }

template <class T> void dotted_names() {
  const auto tree = a_tree<T>();
  std::set<std::string> different;
  for (const key_path& path : tree_paths(*tree)) different.insert(path.dotted());
  const auto structure = tree_structure(*tree);
  const auto round_trip = [&] {
    auto named = tree_flatten_names(copy(*tree));
    std::reverse(named.begin(), named.end());
    RC_ASSERT(tree_unflatten_names(structure, std::move(named)) == *tree);
  };
  RC_ASSERT(throws<structure_error>(round_trip) == (different.size() < structure.num_leaves()));
}
TYPED_TEST(laws, dotted_names_name_the_tree_unless_two_are_the_same) { check(dotted_names<TypeParam>); }

}  // namespace
