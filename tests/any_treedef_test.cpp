// Structures as values: the same as the treedef<T> they are made from, taken apart and composed as jax's PyTreeDef is.

#include <algorithm>
#include <array>
#include <espalier/any_treedef.hpp>
#include <espalier/flatten.hpp>
#include <espalier/map.hpp>
#include <espalier/path.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "corpus.hpp"
#include "messages.hpp"

namespace {

using namespace espalier;
using corpus::point;

template <class T> any_treedef structure(const T& tree) { return tree_structure(tree); }

template <class T> std::vector<std::string> printed_paths(const T& def) {
  std::vector<std::string> result;
  for (const key_path& path : def.paths()) result.push_back(path.to_string());
  return result;
}

// --- Laws. ---

template <class T> struct any_treedef_laws : testing::Test {};
TYPED_TEST_SUITE(any_treedef_laws, corpus::types);

TYPED_TEST(any_treedef_laws, says_of_a_tree_what_the_typed_structure_says) {
  for (const TypeParam& tree : corpus::examples<TypeParam>()) {
    const treedef<TypeParam> typed(tree);
    const any_treedef erased = typed;
    EXPECT_EQ(erased.encoding(), typed.encoding()) << typed;
    EXPECT_EQ(erased.hash(), typed.hash());
    EXPECT_EQ(erased.to_string(), typed.to_string());
    EXPECT_EQ(erased.num_leaves(), typed.num_leaves());
    EXPECT_EQ(erased.num_nodes(), typed.num_nodes());
    EXPECT_TRUE(erased.paths() == typed.paths());
    EXPECT_TRUE(erased.entries() == typed.entries());
    EXPECT_TRUE(erased == typed);
  }
}

TYPED_TEST(any_treedef_laws, different_structures_differ_and_are_no_prefixes_of_each_other_unless_equal) {
  const auto trees = corpus::examples<TypeParam>();
  for (std::size_t i = 0; i < trees.size(); ++i) {
    for (std::size_t j = 0; j < trees.size(); ++j) {
      const treedef<TypeParam> a(trees[i]);
      const treedef<TypeParam> b(trees[j]);
      EXPECT_EQ(structure(trees[i]) == structure(trees[j]), i == j);
      EXPECT_EQ(structure(trees[i]).is_prefix_of(b), a.is_prefix_of(b)) << a << " and " << b;
      if (i == j) {
        EXPECT_TRUE(a.is_prefix_of(b));
      }
    }
  }
}

TYPED_TEST(any_treedef_laws, a_leaf_is_a_prefix_of_everything) {
  for (const TypeParam& tree : corpus::examples<TypeParam>()) {
    EXPECT_TRUE(structure(0.0).is_prefix_of(structure(tree)));
    EXPECT_TRUE(treedef<double>().is_prefix_of(tree_structure(tree)));
  }
}

TYPED_TEST(any_treedef_laws, children_count_what_the_node_counts) {
  for (const TypeParam& tree : corpus::examples<TypeParam>()) {
    const any_treedef def = structure(tree);
    std::size_t nodes = 1;
    std::size_t leaves = def.is_leaf() ? 1 : 0;
    for (std::size_t i = 0; i < def.num_children(); ++i) {
      EXPECT_TRUE(def.child(i) == def.children()[i]);
      nodes += def.child(i).num_nodes();
      leaves += def.child(i).num_leaves();
    }
    EXPECT_EQ(def.children().size(), def.num_children());
    EXPECT_EQ(nodes, def.num_nodes());
    EXPECT_EQ(leaves, def.num_leaves());
    EXPECT_EQ(def.entries().size(), def.num_children());
    EXPECT_THROW((void)def.child(def.num_children()), path_error);
  }
}

TYPED_TEST(any_treedef_laws, composing_multiplies_leaves_and_a_leaf_is_neutral) {
  for (const TypeParam& tree : corpus::examples<TypeParam>()) {
    const any_treedef def = structure(tree);
    for (const any_treedef& inner : {structure(point{}), structure(std::vector<double>{1, 2, 3}), structure(0.0),
                                     structure(corpus::examples<corpus::rose>()[0]), structure(std::tuple<>())}) {
      const any_treedef composed = def.compose(inner);
      EXPECT_EQ(composed.num_leaves(), def.num_leaves() * inner.num_leaves());
      EXPECT_EQ(composed.num_nodes(), def.num_nodes() - def.num_leaves() + def.num_leaves() * inner.num_nodes());
      EXPECT_TRUE(def.is_prefix_of(composed));
      EXPECT_EQ(composed.to_string().size() + def.num_leaves(),
                def.to_string().size() + def.num_leaves() * inner.to_string().size());
    }
    EXPECT_TRUE(def.compose(structure(0.0)) == def);
    EXPECT_TRUE(structure(0.0).compose(def) == def);
  }
}

// --- Composition is what a template over its leaf is. ---

TEST(any_treedef, composed_structures_are_those_of_trees_of_trees) {
  const auto inner = tree_structure(point{});
  EXPECT_TRUE(structure(std::vector<double>(3)).compose(inner) == tree_structure(std::vector<point>(3)));
  EXPECT_TRUE(structure(std::vector<double>(2)).compose(tree_structure(std::vector<double>(3))) ==
              tree_structure(std::vector(2, std::vector<double>(3))));
  EXPECT_TRUE(structure(corpus::over<double>{1, {2, 3}}).compose(inner) ==
              tree_structure(corpus::over<point>{{}, {{}, {}}}));
  EXPECT_TRUE(structure(std::optional<double>()).compose(inner) == tree_structure(std::optional<point>()));
}

template <class L> struct rose_of {
  L value;
  std::vector<rose_of> children;
};
TEST(any_treedef, recursive_structures_compose) {
  const rose_of<double> outer{1, {{2, {}}, {3, {{4, {}}}}}};
  const rose_of<double> inner{1, {{2, {}}}};
  const auto nested = tree_map([&](double) { return inner; }, outer);
  static_assert(std::is_same_v<decltype(nested), const rose_of<rose_of<double>>>);
  EXPECT_TRUE(structure(outer).compose(structure(inner)) == tree_structure(nested));
}

// --- Children of recursive and mutually recursive types: their structure is that of a tree of the child's type. ---

struct below_both;
struct two_ways {
  std::optional<std::vector<below_both>> first;
  std::optional<std::vector<below_both>> second;
};
struct below_both {
  std::vector<two_ways> up;
  double value;
};

TEST(any_treedef, a_child_has_the_structure_of_a_tree_of_its_own) {
  const corpus::rose rose{1, {{2, {{3, {}}}}, {4, {}}}};
  EXPECT_TRUE(structure(rose).child(1) == tree_structure(rose.children));
  EXPECT_TRUE(structure(rose).child(1).child(0) == tree_structure(rose.children[0]));
  EXPECT_TRUE(structure(rose).child(1).child(0).child(1) == tree_structure(rose.children[0].children));
  below_both twice{std::vector<two_ways>(2), 1};
  twice.up[0].first.emplace(1);
  twice.up[1].second.emplace(1);
  const any_treedef def = structure(twice);
  EXPECT_TRUE(def.child(0) == tree_structure(twice.up));
  EXPECT_TRUE(def.child(0).child(0) == tree_structure(twice.up[0]));
  EXPECT_TRUE(def.child(0).child(0).child(0) == tree_structure(twice.up[0].first));
  EXPECT_TRUE(def.child(0).child(1).child(1) == tree_structure(twice.up[1].second));
  EXPECT_TRUE(def.child(0).child(1).child(1).child(0) == tree_structure(*twice.up[1].second));
  EXPECT_TRUE(def.child(0).child(1).child(1).child(0).child(0) == tree_structure(twice.up[1].second->front()));
}

TEST(any_treedef, children_of_maps_optionals_variants_and_registered_nodes) {
  const std::map<std::string, std::optional<double>> map{{"a", 1.0}, {"b", {}}};
  EXPECT_TRUE(structure(map).child(0) == tree_structure(std::optional(1.0)));
  EXPECT_TRUE(structure(map).child(1) == tree_structure(std::optional<double>()));
  EXPECT_EQ(structure(map).child(1).num_children(), 0u);
  const std::variant<int, point> held = point{};
  EXPECT_TRUE(structure(held).child(0) == treedef<point>());
  const corpus::quantized q{{1, 2}, 0.5, 4};
  EXPECT_TRUE(structure(q).child(0) == tree_structure(q.packed));
}

// --- jax and optree. ---

// jax.tree.structure({'a': [1, 2], 'b': (3, None)}); a struct stands for what a static type cannot be: a dict of
// children of several types.
struct like_jax {
  std::vector<int> a;
  std::tuple<int, std::optional<int>> b;
};
TEST(any_treedef, counts_and_children_are_jax_s) {
  const any_treedef def = structure(like_jax{{1, 2}, {3, {}}});
  EXPECT_EQ(def.num_leaves(), 3u);
  EXPECT_EQ(def.num_nodes(), 7u);
  EXPECT_EQ(def.to_string(), "{.a: [*, *], .b: (*, None)}");
  EXPECT_EQ(def.child(0).to_string(), "[*, *]");
  EXPECT_EQ(def.child(1).to_string(), "(*, None)");
  EXPECT_EQ(def.compose(structure(std::pair(1, 2))).to_string(), "{.a: [(*, *), (*, *)], .b: ((*, *), None)}");
}

TEST(any_treedef, prefixes_need_the_same_kinds_sizes_keys_and_aux_data) {
  using list = std::vector<double>;
  const any_treedef two = structure(list{1, 2});
  EXPECT_TRUE(two.is_prefix_of(structure(std::vector<point>(2))));
  EXPECT_FALSE(two.is_prefix_of(structure(std::vector<point>(3))));
  EXPECT_FALSE(two.is_prefix_of(structure(std::array<double, 2>{})));
  EXPECT_FALSE(two.is_prefix_of(structure(0.0)));
  EXPECT_FALSE(structure(std::vector<point>(2)).is_prefix_of(two));
  EXPECT_FALSE(structure(point{}).is_prefix_of(structure(corpus::interval(1, 2))));
  using map = std::map<std::string, double>;
  EXPECT_TRUE(structure(map{{"a", 1}}).is_prefix_of(structure(std::map<std::string, point>{{"a", {}}})));
  EXPECT_FALSE(structure(map{{"a", 1}}).is_prefix_of(structure(map{{"b", 1}})));
  EXPECT_FALSE(structure(map{{"1", 1}}).is_prefix_of(structure(std::map<int, double>{{1, 1}})));
  const auto cache = [](int step) { return structure(corpus::cache{1, step, std::string("nhwc")}); };
  EXPECT_TRUE(cache(3).is_prefix_of(cache(3)));
  EXPECT_FALSE(cache(3).is_prefix_of(cache(4)));
  // None is a prefix of None only (jax and optree, unless none_is_leaf).
  EXPECT_FALSE(structure(std::optional<double>()).is_prefix_of(structure(std::optional(1.0))));
}

TEST(any_treedef, entries_are_the_root_s_keys) {
  using kind = key_entry::kind;
  using entries = std::vector<key_entry>;
  const any_treedef fields = structure(like_jax{});
  EXPECT_EQ(fields.entries(), (entries{{kind::attribute, "a"}, {kind::attribute, "b"}}));
  const any_treedef keys = structure(std::map<std::string, int>{{"1", 1}, {"01", 2}});
  EXPECT_EQ(keys.entries(), (entries{{kind::string_key, "01"}, {kind::string_key, "1"}}));
  const any_treedef elements = structure(std::vector{1, 2});
  EXPECT_EQ(elements.entries(), (entries{{kind::index, {}, 0}, {kind::index, {}, 1}}));
  const any_treedef large = structure(std::map<std::uint64_t, int>{{UINT64_MAX, 1}});
  EXPECT_EQ(large.entries(), (entries{{kind::unsigned_key, {}, -1}}));
  EXPECT_EQ(structure(std::optional(1)).compose(structure(0)).paths(), structure(0).paths());
}

// --- Differences. ---

TYPED_TEST(any_treedef_laws, there_are_differences_if_and_only_if_structures_differ) {
  const auto trees = corpus::examples<TypeParam>();
  for (std::size_t i = 0; i < trees.size(); ++i) {
    for (std::size_t j = 0; j < trees.size(); ++j) {
      EXPECT_EQ(structure_differences(structure(trees[i]), structure(trees[j])).empty(), i == j);
    }
    EXPECT_EQ(structure_differences(structure(0.0), structure(trees[i])).empty(), structure(trees[i]).is_leaf());
  }
}

TEST(any_treedef, every_difference_is_named_by_path) {
  struct old_layer {
    std::vector<double> weight;
    std::optional<double> bias;
    std::map<std::string, double> named;
    aux<int> step;
    double rate;
  };
  struct new_layer {
    std::array<double, 2> weight;
    std::optional<double> bias;
    std::map<std::string, double> named;
    aux<long> step;
    std::tuple<double, double> range;
  };
  const old_layer before{{1, 2}, 0.5, {{"1", 1}, {"01", 2}}, 3, 0.1};
  const new_layer after{{1, 2}, {}, {{"01", 1}, {"it's", 2}}, 3, {}};
  EXPECT_EQ(structure_differences(structure(before), structure(after)),
            (std::vector<mismatch>{{".step", "aux 3", "aux 3 of another type"},
                                   {".rate", "a leaf", "no such child"},
                                   {".range", "no such child", "a tuple of 2"},
                                   {".weight", "a sequence of 2", "an array of 2"},
                                   {".bias", "a value", "None"},
                                   {".named['1']", "this key", "no such key"},
                                   {".named[\"it's\"]", "no such key", "this key"}}));
}

// The differences that tree_map reports of two trees of one type.
template <class T> std::vector<mismatch> mapped_differences(const T& a, const T& b) {
  return mismatches_of([&] { (void)tree_map([](double x, double y) { return x + y; }, a, b); });
}

TEST(any_treedef, differences_are_told_in_the_words_of_tree_map) {
  const std::map<std::string, double> keys{{"a", 1}, {"b", 2}};
  const std::map<std::string, double> others{{"b", 1}, {"c", 2}};
  EXPECT_EQ(structure_differences(structure(keys), structure(others)), mapped_differences(keys, others));
  const std::vector<std::vector<double>> lists{{1, 2}, {3}};
  const std::vector<std::vector<double>> longer{{1}, {3}, {4}};
  EXPECT_EQ(structure_differences(structure(lists), structure(longer)), mapped_differences(lists, longer));
  const std::optional<double> none;
  const std::optional<double> some = 1;
  EXPECT_EQ(structure_differences(structure(none), structure(some)), mapped_differences(none, some));
  const std::variant<double, point> first = 1.0;
  const std::variant<double, point> second = point{};
  EXPECT_EQ(structure_differences(structure(first), structure(second)), mapped_differences(first, second));
}

TEST(any_treedef, the_type_of_elements_that_are_not_there_counts) {
  struct holder {
    std::vector<double> list;
    std::map<std::string, point> map;
    std::optional<point> value;
  };
  struct other_holder {
    std::vector<point> list;
    std::map<int, point> map;
    std::optional<std::vector<double>> value;
  };
  EXPECT_EQ(structure_differences(structure(holder{}), structure(other_holder{})),
            (std::vector<mismatch>{{".list", "an empty sequence of leaves", "an empty sequence of structs"},
                                   {".map", "an empty map of structs", "an empty map of structs of another type"},
                                   {".value", "an empty optional of structs", "an empty optional of containers"}}));
  EXPECT_EQ(
      structure_differences(structure(std::vector<corpus::over<double>>()), structure(std::vector<point>())),
      (std::vector<mismatch>{{"", "an empty sequence of structs", "an empty sequence of structs of another type"}}));
}

struct renamed {
  double x, y;
};
struct reordered {
  double y, x;
};
}  // namespace
template <> inline constexpr std::string_view espalier::pytree_name<renamed> = "renamed";
namespace {

TEST(any_treedef, names_and_the_order_of_fields_count) {
  EXPECT_EQ(structure_differences(structure(point{}), structure(renamed{})),
            (std::vector<mismatch>{{"", "no pytree_name", "the pytree_name 'renamed'"}}));
  EXPECT_EQ(structure_differences(structure(std::vector<point>(1)), structure(std::vector<reordered>(1))),
            (std::vector<mismatch>{
                {"", "the same types",
                 "types that differ in the order of their fields or keys, or in what no node here shows"}}));
}

// --- As a value. ---

TEST(any_treedef, structures_of_different_trees_live_in_one_set) {
  std::unordered_set<any_treedef> seen;
  seen.insert(structure(point{}));
  seen.insert(structure(std::vector<double>{1, 2}));
  seen.insert(structure(std::vector<int>{3, 4}));
  seen.insert(structure(std::vector<int>{3}));
  EXPECT_EQ(seen.size(), 3u);
  EXPECT_TRUE(seen.contains(treedef<point>()));
}

TEST(any_treedef, outlives_the_tree_and_is_copied) {
  std::optional<any_treedef> first;
  {
    const std::map<std::string, double> tree{{"a key that is long enough to be allocated", 1}};
    first = structure(tree);
  }
  const any_treedef copy = *first;
  first.reset();
  EXPECT_EQ(printed_paths(copy), std::vector<std::string>{"['a key that is long enough to be allocated']"});
}

}  // namespace
