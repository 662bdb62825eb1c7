// tree_map and its relatives: laws over the corpus, results of other types, rest trees, mismatches. CASES 6.

#include <espalier/equal.hpp>
#include <espalier/flatten.hpp>
#include <espalier/leaf_array.hpp>
#include <espalier/map.hpp>
#include <espalier/path.hpp>
#include <espalier/paths.hpp>
#include <map>
#include <memory>
#include <optional>

#include "corpus.hpp"
#include "messages.hpp"

namespace {

using namespace espalier;
using corpus::counted, corpus::linear, corpus::model, corpus::point, corpus::token;

// --- Laws. ---

template <class T> struct map_laws : testing::Test {};
TYPED_TEST_SUITE(map_laws, corpus::types);

TYPED_TEST(map_laws, map_of_the_identity_is_the_identity) {
  auto trees = corpus::examples<TypeParam>();
  const auto expected = corpus::examples<TypeParam>();
  for (std::size_t i = 0; i < trees.size(); ++i) {
    auto mapped = tree_map(corpus::identity(), std::move(trees[i]));
    static_assert(std::is_same_v<decltype(mapped), TypeParam>);
    EXPECT_TRUE(mapped == expected[i]);
  }
}

TYPED_TEST(map_laws, map_of_a_composition_is_the_composition_of_maps) {
  const corpus::increase f;
  const corpus::twice g;
  for (const TypeParam& tree : corpus::examples<TypeParam>()) {
    const TypeParam at_once = tree_map([&](const auto& leaf) { return f(g(leaf)); }, tree);
    const TypeParam one_by_one = tree_map(f, tree_map(g, tree));
    EXPECT_TRUE(at_once == one_by_one);
    if (tree_structure(tree).num_leaves() > 0) {
      EXPECT_FALSE(at_once == tree_map(g, tree_map(f, tree)));  // the law is not void
    }
  }
}

TYPED_TEST(map_laws, the_structure_is_kept) {
  for (const TypeParam& tree : corpus::examples<TypeParam>()) {
    EXPECT_TRUE(tree_structure(tree_map(corpus::increase(), tree)) == tree_structure(tree));
  }
}

TYPED_TEST(map_laws, paths_come_in_the_order_of_the_leaves) {
  for (const TypeParam& tree : corpus::examples<TypeParam>()) {
    std::vector<key_path> seen;
    const auto order = tree_map_with_path(
        [&](const path_view& path, const auto&) {
          seen.push_back(path.own());
          return short(seen.size());
        },
        tree);
    EXPECT_TRUE(seen == tree_paths(tree));
    (void)order;
  }
}

TYPED_TEST(map_laws, a_tree_beside_itself_gives_equal_leaves) {
  for (const TypeParam& tree : corpus::examples<TypeParam>()) {
    const TypeParam doubled = tree_map(
        [](const auto& a, const auto& b) {
          EXPECT_TRUE(&a == &b);
          return corpus::increase()(b);
        },
        tree, tree);
    EXPECT_TRUE(doubled == tree_map(corpus::increase(), tree));
  }
}

// --- Leaves. ---

struct pair_of_ints {
  int x, y;
};

TEST(map, moves_leaves_of_an_rvalue_and_copies_none) {
  struct two {
    counted a;
    std::array<counted, 2> b;
  };
  two tree{counted(1), {counted(2), counted(3)}};
  counted::reset();
  const two mapped = tree_map([](counted&& c) { return std::move(c); }, std::move(tree));
  EXPECT_EQ(counted::copies, 0);
  EXPECT_EQ(counted::moves, 3);  // each result is built in its place
  EXPECT_EQ(mapped.b[1].value, 3);
}

TEST(map, hands_out_leaves_of_an_lvalue_by_reference) {
  const std::array<counted, 2> tree{counted(1), counted(2)};
  counted::reset();
  const auto mapped = tree_map([](const counted& c) { return counted(c.value + 1); }, tree);
  EXPECT_EQ(counted::copies, 0);
  EXPECT_EQ(counted::moves, 0);
  EXPECT_EQ(mapped[1].value, 3);
}

TEST(map, keeps_pointers_identity_of_move_only_leaves) {
  corpus::tokens tree = std::move(corpus::examples<corpus::tokens>()[0]);
  const corpus::tokens mapped = tree_map(
      []<class L>(L&& leaf) {
        static_assert(!std::is_lvalue_reference_v<L>);
        return std::move(leaf);
      },
      std::move(tree));
  EXPECT_TRUE(mapped == corpus::examples<corpus::tokens>()[0]);
}

TEST(map, is_a_constant_expression) {
  constexpr corpus::segment mapped = tree_map([](double x) { return 2 * x; }, corpus::segment{{1, 2}, {3, 4}});
  static_assert(mapped == corpus::segment{{2, 4}, {6, 8}});
  constexpr point sum =
      tree_map([](double a, double b, int c) { return a + b + c; }, point{1, 2}, point{10, 20}, pair_of_ints{100, 200});
  static_assert(sum == point{111, 222});
}

TEST(map, copies_aux_data_from_the_first_tree) {
  const corpus::cache tree{1, 3, std::string("nhwc")};
  const corpus::cache mapped = tree_map([](double x) { return -x; }, tree);
  EXPECT_TRUE(mapped == (corpus::cache{-1, 3, std::string("nhwc")}));
  const corpus::quantized q{{1, 2}, 0.5, 4};
  EXPECT_TRUE(tree_map(corpus::increase(), q) == (corpus::quantized{{2, 3}, 1.5, 4}));
}

TEST(map, a_function_with_state_keeps_it) {
  struct counter {
    int calls = 0;
    double operator()(double x) {
      ++calls;
      return x;
    }
  } count;
  (void)tree_map(count, corpus::segment{});
  EXPECT_EQ(count.calls, 4);
}

TEST(map, a_tree_without_leaves_maps_to_itself) {
  const std::vector<corpus::empty> tree(3);
  EXPECT_TRUE(tree_map([](auto) { return 1; }, tree) == tree);
}

// --- The type of the result. ---

TEST(map, one_other_type_rebinds_what_is_a_template_over_its_leaf) {
  const auto is_positive = [](double x) { return x > 0; };
  const auto to_int = [](double x) { return int(x); };
  static_assert(std::is_same_v<decltype(tree_map(to_int, std::vector<double>())), std::vector<int>>);
  static_assert(std::is_same_v<decltype(tree_map(to_int, std::array<double, 2>())), std::array<int, 2>>);
  static_assert(std::is_same_v<decltype(tree_map(to_int, std::pair<double, double>())), std::pair<int, int>>);
  static_assert(std::is_same_v<decltype(tree_map(to_int, std::map<int, double>())), std::map<int, int>>);
  static_assert(std::is_same_v<decltype(tree_map(to_int, std::optional<double>())), std::optional<int>>);
  static_assert(
      std::is_same_v<decltype(tree_map(is_positive, corpus::over<double>())), leaf_array<corpus::over<double>, bool>>,
      "a vector<bool> is no container, so this one is not rebound");
  const corpus::over<int> mapped = tree_map(to_int, corpus::over<double>{1.5, {2.5, 3.5}});
  EXPECT_TRUE(mapped == (corpus::over<int>{1, {2, 3}}));
}

template <class L> struct nest {
  corpus::over<L> inner;
  std::map<std::string, std::optional<L>> named;
  aux<int> width;
};

TEST(map, rebinding_reaches_nested_templates_and_keeps_aux_data) {
  const nest<double> tree{{1.5, {2.5}}, {{"a", 3.5}, {"b", {}}}, 8};
  const auto mapped = tree_map([](double x) { return std::to_string(int(x)); }, tree);
  static_assert(std::is_same_v<decltype(mapped), const nest<std::string>>);
  EXPECT_EQ(mapped.inner.many[0], "2");
  EXPECT_EQ(mapped.named.at("a"), "3");
  EXPECT_FALSE(mapped.named.at("b").has_value());
  EXPECT_EQ(mapped.width, 8);
}

template <std::floating_point L> struct strict {
  L value;
};

// What a map to leaves of type U gives for a T that cannot be rebound.
#if ESPALIER_HAS_STD_META
template <class T, class U> using unbound = mapped_t<T, U>;
#else
template <class T, class U> using unbound = leaf_array<T, U>;
#endif

TEST(map, what_cannot_be_rebound_gives_a_struct_of_the_same_fields_or_a_leaf_array) {
  const auto to_int = [](double x) { return int(x); };
  static_assert(std::is_same_v<decltype(tree_map(to_int, point())), unbound<point, int>>);
  static_assert(std::is_same_v<decltype(tree_map(to_int, strict<double>())), unbound<strict<double>, int>>);
  static_assert(std::is_same_v<decltype(tree_map([](auto) { return 'c'; }, std::tuple<int, double>())),
                               leaf_array<std::tuple<int, double>, char>>,
                "several leaf types");
  const auto mapped = tree_map(to_int, point{1.5, 2.5});
  EXPECT_EQ(mapped["x"_path], 1);
  EXPECT_EQ(mapped["y"_path], 2);
}

TEST(map, results_that_are_no_leaves_stay_whole_in_a_leaf_array) {
  const auto present = [](double x) { return std::optional(x); };
  static_assert(std::is_same_v<decltype(tree_map(present, point())), leaf_array<point, std::optional<double>>>);
}

TEST(map, a_result_by_reference_is_a_value) {
  const point p = tree_map([](const double& x) -> const double& { return x; }, point{1, 2});
  EXPECT_EQ(p, (point{1, 2}));
}

// --- Rest trees. ---

TEST(map, rest_trees_match_by_names_not_by_struct) {
  struct other {
    float x;
    int y;
  };
  const point sum = tree_map([](double a, auto b) { return a + b; }, point{1, 2}, other{3, 4});
  EXPECT_EQ(sum, (point{4, 6}));
}

TEST(map, three_trees_of_dynamic_structure) {
  const model m{{{{1, 2}, 3.0}, {{4}, {}}}, 0.5};
  const model sum = tree_map([](double a, double b, double c) { return a + b * c; }, m, m, m);
  EXPECT_TRUE(sum == (model{{{{2, 6}, 12.0}, {{20}, {}}}, 0.75}));
}

TEST(map, a_rest_tree_may_be_deeper) {
  struct rates {
    double from, to;
  };
  const rates r = tree_map([](double rate, const point& p) { return rate * (p.x + p.y); }, rates{2, 3},
                           corpus::segment{{1, 2}, {3, 4}});
  EXPECT_EQ(r.from, 6);
  EXPECT_EQ(r.to, 21);
}

TEST(map, deeper_rest_trees_may_be_containers_of_any_size) {
  const std::vector<double> rates{1, 2};
  const std::vector<linear> layers{{{1, 2, 3}, {}}, {{}, 1.0}};
  const auto sizes =
      tree_map([](double rate, const linear& l) { return rate * double(l.weight.size()); }, rates, layers);
  EXPECT_EQ(sizes, (std::vector{3.0, 0.0}));
}

TEST(map, the_whole_rest_tree_stands_beside_a_single_leaf) {
  EXPECT_EQ(tree_map([](double x, const model& m) { return x + double(m.layers.size()); }, 1.0, model{{{}, {}}, 0}),
            3.0);
}

TEST(map, leaves_of_an_rvalue_rest_tree_arrive_as_rvalues) {
  std::vector<std::string> rest{"a long string that is not kept in place"};
  const char* text = rest[0].data();
  const auto mapped = tree_map([](std::string&, std::string&& s) { return std::move(s); },
                               *std::make_unique<std::vector<std::string>>(1), std::move(rest));
  EXPECT_EQ(mapped[0].data(), text);
}

TEST(map, recursive_trees_side_by_side) {
  const corpus::rose tree = corpus::examples<corpus::rose>()[0];
  EXPECT_TRUE(tree_map([](double a, double b) { return a + b; }, tree, tree) == tree_map(corpus::twice(), tree));
}

// --- Mismatches. ---

template <class T> std::vector<mismatch> differences(const T& first, const T& second) {
  int calls = 0;
  auto found = mismatches_of([&] {
    (void)tree_map(
        [&](const auto& a, const auto&) {
          ++calls;
          return a;
        },
        first, second);
  });
  EXPECT_EQ(calls, 0) << "nothing is called before the mismatch is found";
  return found;
}

using list = std::vector<mismatch>;

TEST(mismatch, lists_every_differing_path_and_nothing_else) {
  const model a{{{{1, 2}, 3.0}, {{4}, {}}, {{5}, {}}}, 0.5};
  const model b{{{{1}, {}}, {{4}, 1.0}, {{5}, {}}}, 0.5};
  EXPECT_EQ(differences(a, b), (list{{".layers[0].weight", "2 elements", "1 element"},
                                     {".layers[0].bias", "a value", "None"},
                                     {".layers[1].bias", "None", "a value"}}));
}

TEST(mismatch, sizes_do_not_hide_differences_in_the_elements_that_both_have) {
  const model a{{{{1, 2}, 3.0}, {{4}, {}}}, 0.5};
  const model b{{{{1}, 3.0}}, 0.5};
  EXPECT_EQ(differences(a, b),
            (list{{".layers", "2 elements", "1 element"}, {".layers[0].weight", "2 elements", "1 element"}}));
}

TEST(mismatch, map_keys_on_either_side_and_below_common_keys) {
  using maps = std::map<std::string, std::vector<double>>;
  const maps a{{"a", {1}}, {"b", {1}}, {"d", {1}}};
  const maps b{{"a", {1, 2}}, {"c", {1}}, {"d", {1}}};
  EXPECT_EQ(differences(a, b), (list{{"['a']", "1 element", "2 elements"},
                                     {"['b']", "this key", "no such key"},
                                     {"['c']", "no such key", "this key"}}));
}

TEST(mismatch, integer_keys) {
  const std::map<int, double> a{{-1, 0}, {3, 0}};
  EXPECT_EQ(differences(a, {{3, 0}, {4, 0}}),
            (list{{"[-1]", "this key", "no such key"}, {"[4]", "no such key", "this key"}}));
}

TEST(mismatch, variants_at_the_root) {
  const std::variant<double, point> a = 1.0;
  EXPECT_EQ(differences(a, std::variant<double, point>(point())), (list{{"", "alternative 0", "alternative 1"}}));
}

TEST(mismatch, the_root_is_named) {
  try {
    (void)tree_map([](double a, double) { return a; }, std::vector<double>(2), std::vector<double>(3));
    FAIL();
  } catch (const structure_error& e) {
    EXPECT_NE(std::string(e.what()).find("(root)"), std::string::npos);
  }
}

TEST(mismatch, aux_data_by_field_with_both_values) {
  const corpus::cache a{1, 3, std::string("nhwc")};
  const corpus::cache b{1, 4, std::string("nchw")};
  EXPECT_EQ(differences(a, b), (list{{".step", "aux 3", "aux 4"}, {".layout", "aux 'nhwc'", "aux 'nchw'"}}));
}

TEST(mismatch, aux_data_that_differs_and_children_that_differ) {
  const corpus::listed_cache a{8, {1}, 0.0};
  const corpus::listed_cache b{4, {1, 2}, 0.0};
  EXPECT_EQ(differences(a, b), (list{{".bits", "aux 8", "aux 4"}, {".keys", "1 element", "2 elements"}}));
}

TEST(mismatch, minus_zero_as_aux_data_differs) {
  EXPECT_EQ(differences(corpus::listed_cache{8, {1}, 0.0}, corpus::listed_cache{8, {1}, -0.0}).size(), 1u);
}

TEST(mismatch, aux_data_of_registered_nodes) {
  const corpus::quantized a{{1}, 0.5, 4};
  const corpus::quantized b{{1, 2}, 0.5, 8};
  const auto found = differences(a, b);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0], (mismatch{"", "aux 4", "aux 8"}));
  EXPECT_EQ(found[1], (mismatch{".packed", "1 element", "2 elements"}));
}

TEST(mismatch, of_a_deeper_rest_tree_down_to_the_first_trees_leaves) {
  // What jax's prefix_errors reports: the difference in the prefix, and nothing of what is below its leaves.
  const std::pair<std::vector<double>, std::optional<double>> prefix{{1, 2}, {}};
  const std::pair<std::vector<linear>, std::optional<point>> tree{{{{1, 2, 3}, {}}}, point{1, 2}};
  EXPECT_EQ(mismatches_of([&] { (void)tree_map([](double a, const auto&) { return a; }, prefix, tree); }),
            (list{{"[0]", "2 elements", "1 element"}, {"[1]", "None", "a value"}}));
}

TEST(mismatch, inside_recursive_trees) {
  const auto trees = corpus::examples<corpus::rose>();
  EXPECT_EQ(differences(trees[0], trees[1]), (list{{".children[0].children", "1 element", "0 elements"},
                                                   {".children[1].children", "0 elements", "1 element"}}));
}

TEST(mismatch, says_which_tree) {
  const std::vector<double> two(2);
  const std::vector<double> three(3);
  try {
    (void)tree_map([](double a, double, double) { return a; }, two, two, three);
    FAIL();
  } catch (const structure_error& e) {
    EXPECT_NE(std::string(e.what()).find("tree 3"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("tree_map"), std::string::npos) << e.what();
  }
}

TEST(mismatch, of_a_leaf_array_beside_a_tree) {
  const linear two{{1, 2}, {}};
  const auto mask = tree_map([](double x) { return x > 0; }, two);
  EXPECT_EQ(mismatches_of([&] { (void)tree_map([](double x, bool) { return x; }, linear{{1}, {}}, mask); }),
            (list{{".weight", "1 element", "2 elements"}}));
}

// The spellings of aux data may stand beside one another.
struct by_type {
  double keys;
  aux<int> step;
};
struct by_list {
  double keys;
  int step;
  static constexpr auto tree_aux = fields<&by_list::step>;
};
TEST(mismatch, the_spelling_of_aux_data_is_none) {
  const by_type sum = tree_map([](double a, double b) { return a + b; }, by_type{1, 3}, by_list{2, 3});
  EXPECT_EQ(sum.keys, 3);
  EXPECT_EQ(mismatches_of([] { (void)tree_map([](double a, double) { return a; }, by_type{1, 3}, by_list{2, 4}); }),
            (list{{".step", "aux 3", "aux 4"}}));
}

TEST(map, a_map_keeps_its_comparator) {
  using descending = std::map<int, double, bool (*)(int, int)>;
  const descending values({{1, 1.0}, {2, 2.0}}, [](int a, int b) { return a > b; });
  const descending doubled = espalier::tree_map([](double x) { return 2 * x; }, values);
  EXPECT_EQ(doubled.begin()->first, 2);
  EXPECT_EQ(doubled.at(1), 2.0);
}

}  // namespace
