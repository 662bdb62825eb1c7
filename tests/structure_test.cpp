// Structures: equality, hashes and their encoding, counts, printing. CASES 1, 2, 4, 5.

#include <espalier/flatten.hpp>
#include <espalier/structure.hpp>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>

#include "corpus.hpp"

namespace {

using namespace espalier;
using corpus::point;

template <class T> std::string encoding(const T& tree) { return treedef<T>(tree).encoding(); }
template <class T> std::uint64_t hash(const T& tree) { return treedef<T>(tree).hash(); }
template <class T> std::string printed(const T& tree) { return treedef<T>(tree).to_string(); }

// --- Laws. ---

template <class T> struct structure_laws : testing::Test {};
TYPED_TEST_SUITE(structure_laws, corpus::types);

TYPED_TEST(structure_laws, equal_structure_is_equal_encoding_is_equal_hash) {
  const auto trees = corpus::examples<TypeParam>();
  const auto again = corpus::examples<TypeParam>();
  for (std::size_t i = 0; i < trees.size(); ++i) {
    for (std::size_t j = 0; j < trees.size(); ++j) {
      const treedef<TypeParam> a(trees[i]);
      const treedef<TypeParam> b(again[j]);
      EXPECT_EQ(a == b, i == j) << a << " and " << b;
      EXPECT_EQ(a.encoding() == b.encoding(), i == j) << a << " and " << b;
      EXPECT_EQ(a.hash() == b.hash(), i == j) << a << " and " << b;
    }
  }
}

TYPED_TEST(structure_laws, a_copy_is_equal_and_outlives_the_original) {
  for (const TypeParam& tree : corpus::examples<TypeParam>()) {
    std::optional<treedef<TypeParam>> first(treedef<TypeParam>{tree});
    const treedef<TypeParam> copy = *first;
    first.reset();
    EXPECT_TRUE(copy == treedef<TypeParam>(tree));
    EXPECT_EQ(copy.to_string(), printed(tree));
  }
}

TYPED_TEST(structure_laws, a_static_structure_is_an_empty_class_with_one_value) {
  if constexpr (static_structure<TypeParam>) {
    static_assert(std::is_empty_v<treedef<TypeParam>>);
    static_assert(treedef<TypeParam>().hash() == structure_hash_v<TypeParam>);
    EXPECT_EQ(corpus::examples<TypeParam>().size(), 1u);
  } else {
    EXPECT_FALSE(std::is_default_constructible_v<treedef<TypeParam>>);
  }
}

TYPED_TEST(structure_laws, flattening_up_to_its_own_structure_gives_the_leaves_back) {
  for (TypeParam& tree : corpus::examples<TypeParam>()) {
    const treedef<TypeParam> def(tree);
    const TypeParam again = def.unflatten(def.flatten_up_to(std::move(tree)));
    EXPECT_TRUE(tree_structure(again) == def);
    const auto whole = treedef<double>().flatten_up_to(std::move(const_cast<TypeParam&>(again)));
    ASSERT_EQ(whole.size(), 1u);
    EXPECT_TRUE(tree_structure(whole[0]) == def);
  }
}

TYPED_TEST(structure_laws, a_structure_and_a_leaf_are_prefixes_of_it) {
  for (const TypeParam& tree : corpus::examples<TypeParam>()) {
    EXPECT_TRUE(tree_structure(tree).is_prefix_of(tree_structure(tree)));
    EXPECT_TRUE(treedef<double>().is_prefix_of(tree_structure(tree)));
    EXPECT_EQ(tree_structure(tree).is_prefix_of(treedef<double>()), detail::kind_of<TypeParam> == node_kind::leaf);
  }
}

// --- What counts for the static hash, and what does not. ---

struct renamed {
  double x, z;
};
struct reordered {
  double y, x;
};
struct longer {
  double x, y, z;
};
struct twin {
  std::string x;
  int y;
};
struct constant {
  const double x;
  double y;
};
static_assert(structure_hash_v<point> == structure_hash_v<twin>, "struct name and leaf types do not count");
static_assert(structure_hash_v<point> == structure_hash_v<constant>, "const does not count");
static_assert(structure_hash_v<point> == structure_hash_v<const point>);
static_assert(structure_hash_v<point> != structure_hash_v<renamed>);
static_assert(structure_hash_v<point> != structure_hash_v<reordered>);
static_assert(structure_hash_v<point> != structure_hash_v<longer>);

struct x_aux {
  aux<double> x;
  double y;
};
struct y_aux {
  double x;
  aux<double> y;
};
static_assert(structure_hash_v<point> != structure_hash_v<y_aux>);
static_assert(structure_hash_v<x_aux> != structure_hash_v<y_aux>);

using triple = std::tuple<point, point, point>;
TEST(structure_hash, kinds_of_nodes_and_arities_differ) {
  const std::set<std::uint64_t> hashes{
      structure_hash_v<double>,
      structure_hash_v<std::vector<double>>,
      structure_hash_v<std::array<double, 0>>,
      structure_hash_v<std::array<double, 1>>,
      structure_hash_v<std::array<double, 2>>,
      structure_hash_v<std::tuple<>>,
      structure_hash_v<std::tuple<double>>,
      structure_hash_v<std::tuple<double, double>>,
      structure_hash_v<std::optional<double>>,
      structure_hash_v<std::variant<double>>,
      structure_hash_v<std::variant<double, double>>,
      structure_hash_v<std::map<int, double>>,
      structure_hash_v<std::map<std::string, double>>,
      structure_hash_v<corpus::interval>,
      structure_hash_v<corpus::empty>,
      structure_hash_v<point>,
      structure_hash_v<std::vector<point>>,
      structure_hash_v<std::array<point, 3>>,
      structure_hash_v<triple>,
      structure_hash_v<std::tuple<std::tuple<double>, double>>,
      structure_hash_v<std::tuple<std::tuple<double, double>>>,
      structure_hash_v<std::tuple<double, std::tuple<double>>>,
  };
  EXPECT_EQ(hashes.size(), 22u);
}

TEST(structure_hash, what_means_the_same_to_a_tree_has_the_same_structure) {
  static_assert(structure_hash_v<std::pair<double, int>> == structure_hash_v<std::tuple<double, int>>);
  static_assert(structure_hash_v<std::optional<double>> == structure_hash_v<std::unique_ptr<double>>);
  static_assert(structure_hash_v<std::map<int, double>> == structure_hash_v<std::map<long, float>>);
  EXPECT_TRUE(tree_structure(std::pair(1.0, 2)) == tree_structure(std::tuple(3.f, 4.f)));
  EXPECT_TRUE(tree_structure(std::optional(1.0)) == tree_structure(std::make_unique<int>(3)));
}

TEST(structure_hash, all_structures_of_the_corpus_differ) {
  std::set<std::uint64_t> hashes;
  std::size_t types = 0;
  const auto add = [&]<template <class...> class List, class... T>(List<T...>) {
    ((++types, hashes.insert(structure_hash_v<T>)), ...);
  };
  add(corpus::types());
  // double, std::string and token are leaves; polynomial and stack_of have one child, a vector, and aux data.
  EXPECT_EQ(hashes.size(), types - 3);
}

struct named_pair {
  double x, y;
};
struct other_named_pair {
  double x, y;
};
}  // namespace
template <> inline constexpr std::string_view espalier::pytree_name<named_pair> = "pair";
template <> inline constexpr std::string_view espalier::pytree_name<other_named_pair> = "other";
namespace {
static_assert(structure_hash_v<named_pair> != structure_hash_v<point>);
static_assert(structure_hash_v<named_pair> != structure_hash_v<other_named_pair>);

// The three spellings of aux data.
struct by_type {
  double keys;
  aux<int> step;
};
struct by_member_list {
  double keys;
  int step;
  static constexpr auto tree_aux = fields<&by_member_list::step>;
};
struct by_trait {
  double keys;
  int step;
};
}  // namespace
template <> inline constexpr auto espalier::aux_fields<by_trait> = espalier::fields<&by_trait::step>;
namespace {

TEST(structure, three_spellings_of_aux_data_mean_the_same) {
  static_assert(structure_hash_v<by_type> == structure_hash_v<by_member_list>);
  static_assert(structure_hash_v<by_type> == structure_hash_v<by_trait>);
  EXPECT_TRUE(tree_structure(by_type{1, 3}) == tree_structure(by_member_list{2, 3}));
  EXPECT_TRUE(tree_structure(by_type{1, 3}) == tree_structure(by_trait{2, 3}));
  EXPECT_FALSE(tree_structure(by_type{1, 3}) == tree_structure(by_trait{1, 4}));
  EXPECT_EQ(hash(by_type{1, 3}), hash(by_trait{1, 3}));
  EXPECT_EQ(hash(by_type{1, 3}), hash(by_member_list{1, 3}));
  EXPECT_EQ(printed(by_type{1, 3}), printed(by_trait{1, 3}));
}

// --- CASES 1: shapes that were taken for one another. ---

struct x_of_y_then_z {
  struct inner {
    double y;
  };
  inner x;
  double z;
};
struct x_of_y_and_z {
  struct inner {
    double y, z;
  };
  inner x;
};
static_assert(structure_hash_v<x_of_y_then_z> != structure_hash_v<x_of_y_and_z>);

TEST(structure, lists_of_lists_are_told_apart) {
  using lists = std::vector<std::vector<double>>;
  const lists together{{1, 2}};
  const lists apart{{1}, {2}};
  EXPECT_FALSE(tree_structure(together) == tree_structure(apart));
  EXPECT_NE(encoding(together), encoding(apart));
  EXPECT_NE(hash(together), hash(apart));
}

TEST(structure, nestings_of_maps_optionals_and_variants_are_told_apart) {
  using maps = std::map<std::string, std::map<std::string, double>>;
  const std::set<std::string> map_shapes{
      encoding(maps{{"x", {{"y", 1}}}, {"z", {}}}), encoding(maps{{"x", {{"y", 1}, {"z", 1}}}}),
      encoding(maps{{"x", {{"z", 1}}}, {"y", {}}}), encoding(maps{{"x", {}}, {"z", {{"y", 1}}}}),
      encoding(maps{{"xy", {}}, {"z", {{"", 1}}}}), encoding(maps{{"xy", {{"", 1}}}, {"z", {}}})};
  EXPECT_EQ(map_shapes.size(), 6u);

  using optionals = std::vector<std::optional<std::optional<double>>>;
  const std::set<std::string> optional_shapes{encoding(optionals{std::nullopt}),
                                              encoding(optionals{std::optional<double>()}),
                                              encoding(optionals{std::optional<double>(1)}), encoding(optionals{})};
  EXPECT_EQ(optional_shapes.size(), 4u);

  using variants = std::vector<std::variant<double, std::vector<double>>>;
  const std::set<std::string> variant_shapes{encoding(variants{1.0, std::vector<double>()}),
                                             encoding(variants{std::vector<double>(), 1.0}), encoding(variants{1.0}),
                                             encoding(variants{std::vector{1.0}}), encoding(variants{})};
  EXPECT_EQ(variant_shapes.size(), 5u);
}

// --- CASES 2 and 3: aux data is exact in type and bits, and hashed. ---

template <class A> struct with_aux {
  double x;
  aux<A> a;
};
template <class A> std::string aux_encoding(A value) { return encoding(with_aux<A>{0, std::move(value)}); }

TEST(structure, aux_data_is_exact_in_type_and_bits) {
  const std::set<std::string> all{aux_encoding(true),
                                  aux_encoding(false),
                                  aux_encoding(1),
                                  aux_encoding(1L),
                                  aux_encoding(1u),
                                  aux_encoding(1.0),
                                  aux_encoding(1.f),
                                  aux_encoding(-1),
                                  aux_encoding(-2),
                                  aux_encoding(char(1)),
                                  aux_encoding(0.0),
                                  aux_encoding(-0.0),
                                  aux_encoding(0),
                                  aux_encoding(-1L),
                                  aux_encoding(std::string("1")),
                                  aux_encoding(corpus::color::green)};
  EXPECT_EQ(all.size(), 16u);
}

TEST(structure, nan_as_aux_data_equals_itself) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const with_aux<double> a{1, nan};
  EXPECT_TRUE(tree_structure(a) == tree_structure(with_aux<double>{2, nan}));
  EXPECT_EQ(hash(a), hash(with_aux<double>{2, nan}));
  EXPECT_FALSE(tree_structure(with_aux<double>{1, 0.0}) == tree_structure(with_aux<double>{1, -0.0}));
}

TEST(structure, a_thousand_aux_values_have_a_thousand_hashes) {
  std::set<std::uint64_t> hashes;
  for (int i = 0; i < 1000; ++i) hashes.insert(hash(with_aux<int>{0, i}));
  EXPECT_EQ(hashes.size(), 1000u);
}

TEST(structure, structures_of_different_types_are_unequal_where_aux_types_differ) {
  EXPECT_FALSE(tree_structure(with_aux<int>{0, 1}) == tree_structure(with_aux<long>{0, 1}));
  EXPECT_TRUE(tree_structure(with_aux<int>{0, 1}) == tree_structure(with_aux<int>{5, 1}));
}

// --- CASES 4 and 5. ---

TEST(structure, an_optional_that_engages_changes_the_structure) {
  std::array<std::optional<double>, 2> both;
  const auto none = tree_structure(both);
  both[0] = 1;
  const auto first = tree_structure(both);
  both[0].reset();
  both[1] = 1;
  const auto second = tree_structure(both);
  EXPECT_FALSE(none == first);
  EXPECT_FALSE(first == second);
  EXPECT_NE(first.hash(), second.hash());
}

TEST(structure, empty_containers_are_structure) {
  using lists = std::vector<std::vector<double>>;
  EXPECT_FALSE(tree_structure(lists{}) == tree_structure(lists{{}}));
  EXPECT_FALSE(tree_structure(lists{{}}) == tree_structure(lists{{}, {}}));
}

// --- Subtrees, prefixes, keys. ---

// jax.tree.structure({'a': [1, 2], 'b': (3, None)}), with a struct for the dict, whose children are of two types.
struct like_jax {
  std::vector<int> a;
  std::tuple<int, std::optional<int>> b;
};

TEST(structure, flatten_up_to_gives_subtrees_as_jax_does) {
  using deep = std::map<std::string, std::vector<std::pair<int, int>>>;
  using shallow = std::map<std::string, std::vector<int>>;
  const auto def = tree_structure(shallow{{"a", {1, 2}}, {"b", {3}}});
  const auto subtrees = def.flatten_up_to(deep{{"a", {{1, 9}, {2, 8}}}, {"b", {{3, 7}}}});
  EXPECT_EQ(subtrees, (std::vector<std::pair<int, int>>{{1, 9}, {2, 8}, {3, 7}}));
}

TEST(structure, flatten_up_to_gives_a_variant_where_subtrees_have_several_types) {
  const auto def = tree_structure(std::tuple(1, 2, 3));
  const auto subtrees = def.flatten_up_to(std::tuple(std::pair(1, 9), 2.5, std::pair(3, 4)));
  using value = std::variant<std::pair<int, int>, double>;
  EXPECT_EQ(subtrees, (std::vector<value>{std::pair(1, 9), 2.5, std::pair(3, 4)}));
}

TEST(structure, flatten_up_to_reports_every_mismatch) {
  const auto def = tree_structure(like_jax{{1, 2}, {3, {}}});
  try {
    (void)def.flatten_up_to(like_jax{{1}, {3, 4}});
    FAIL();
  } catch (const structure_error& e) {
    // jax: "List arity mismatch: 1 != 2; list: [1].", and "Expected None, got 4.": one at a time, without a path.
    EXPECT_EQ(e.differences, (std::vector<mismatch>{{".a", "2 elements", "1 element"}, {".b[1]", "None", "a value"}}));
    EXPECT_TRUE(std::string(e.what()).starts_with("espalier: flatten_up_to: the tree does not have this structure:"));
  }
}

TEST(structure, prefixes_end_at_leaves_and_need_the_same_sizes_and_aux_data) {
  EXPECT_TRUE(tree_structure(std::vector<double>(2)).is_prefix_of(tree_structure(std::vector<point>(2))));
  EXPECT_FALSE(tree_structure(std::vector<double>(2)).is_prefix_of(tree_structure(std::vector<point>(3))));
  EXPECT_FALSE(tree_structure(std::vector<point>(2)).is_prefix_of(tree_structure(std::vector<double>(2))));
  EXPECT_FALSE(tree_structure(corpus::cache{1, 3, {}}).is_prefix_of(tree_structure(corpus::cache{1, 4, {}})));
}

TEST(structure, entries_are_the_root_s_keys) {
  using kind = key_entry::kind;
  using entries = std::vector<key_entry>;
  const treedef<corpus::segment> fields;
  EXPECT_EQ(fields.entries(), (entries{{kind::attribute, "from"}, {kind::attribute, "to"}}));
  const auto keys = tree_structure(std::map<std::string, int>{{"1", 1}, {"01", 2}});
  EXPECT_EQ(keys.entries(), (entries{{kind::string_key, "01"}, {kind::string_key, "1"}}));
  const treedef<double> leaf;
  EXPECT_EQ(leaf.entries(), entries());
}

// --- The encoding, byte by byte, and its hash: the same wherever it is computed. ---

std::string number(std::uint64_t n) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(n >> (8 * i));
  return bytes;
}

TEST(structure, the_encoding_is_made_of_our_own_tokens) {
  EXPECT_EQ(encoding(point{1, 2}), "{" + number(2) + "c" + number(1) + "x*" + "c" + number(1) + "y*");
  EXPECT_EQ(encoding(std::vector<double>(3)), "[*" + number(3));
}

TEST(structure, the_hash_is_that_of_the_encodings_bytes) {
  const std::string bytes = encoding(point{1, 2});
  boost::hash2::xxhash_64 state;
  state.update(bytes.data(), bytes.size());
  EXPECT_EQ(structure_hash_v<point>, state.result());
  const auto dynamic = tree_structure(corpus::examples<corpus::model>()[0]);
  const std::string dynamic_bytes = dynamic.encoding();
  boost::hash2::xxhash_64 dynamic_state;
  dynamic_state.update(dynamic_bytes.data(), dynamic_bytes.size());
  EXPECT_EQ(dynamic.hash(), dynamic_state.result());
}

TEST(structure, std_hash_works) {
  EXPECT_EQ(std::hash<treedef<point>>()(treedef<point>()), static_cast<std::size_t>(structure_hash_v<point>));
}

// --- Recursive types. ---

TEST(structure, recursive_types_have_a_hash_that_ends) {
  struct other_rose {
    double value;
    std::vector<other_rose> children;
  };
  struct other_chain {
    int value;
    std::unique_ptr<other_chain> next;
  };
  static_assert(structure_hash_v<corpus::rose> == structure_hash_v<other_rose>);
  static_assert(structure_hash_v<corpus::chain> == structure_hash_v<other_chain>);
  static_assert(structure_hash_v<corpus::chain> != structure_hash_v<corpus::rose>);
}

struct odd;
struct even {
  std::vector<odd> below;
};
struct odd {
  double value;
  std::unique_ptr<even> below;
};

TEST(structure, mutually_recursive_types_are_trees) {
  even tree;
  tree.below.push_back({1, nullptr});
  tree.below.push_back({2, std::make_unique<even>()});
  tree.below[1].below->below.push_back({3, nullptr});
  const treedef<even> def(tree);
  EXPECT_EQ(def.num_leaves(), 3u);
  EXPECT_EQ(def.paths()[2].to_string(), ".below[1].below.below[0].value");
  EXPECT_EQ(def.unflatten(std::vector<double>{4, 5, 6}).below[1].below->below[0].value, 6);
}

// --- Counts and printing. ---

TEST(structure, counts_leaves_and_nodes) {
  static_assert(treedef<corpus::segment>().num_leaves() == 4);
  static_assert(treedef<corpus::segment>().num_nodes() == 7);
  static_assert(treedef<double>().num_nodes() == 1);
  const auto def = tree_structure(corpus::model{{{{1, 2}, 3.0}, {{4}, {}}}, 0.5});
  EXPECT_EQ(def.num_leaves(), 5u);
  // 5 leaves; the model, its vector, two layers, and for each of them a vector and an optional.
  EXPECT_EQ(def.num_nodes(), 13u);
}

TEST(structure, prints_leaves_as_stars_none_as_none_and_aux_with_an_equals_sign) {
  EXPECT_EQ(printed(1.0), "*");
  EXPECT_EQ(printed(point{1, 2}), "{.x: *, .y: *}");
  EXPECT_EQ(printed(corpus::linear{{1, 2}, {}}), "{.weight: [*, *], .bias: None}");
  EXPECT_EQ(printed(corpus::linear{{}, 1.0}), "{.weight: [], .bias: *}");
  EXPECT_EQ(printed(std::tuple(1, std::pair(2, 3))), "(*, (*, *))");
  EXPECT_EQ(printed(std::map<std::string, double>{{"a", 1}, {"b", 2}}), "{'a': *, 'b': *}");
  EXPECT_EQ(printed(std::map<int, double>{{-1, 1}, {2, 2}}), "{-1: *, 2: *}");
  EXPECT_EQ(printed(corpus::cache{1, 3, std::string("nhwc")}), "{.keys: *, .step=3, .layout='nhwc'}");
  EXPECT_EQ(printed(std::variant<int, point>(point{1, 2})), "1:{.x: *, .y: *}");
  EXPECT_EQ(printed(corpus::empty()), "{}");
}

}  // namespace
