// tree_transpose and tree_transpose_map: types of the result, jax's examples, and that transposing twice is nothing.

#include <espalier/flatten.hpp>
#include <espalier/transpose.hpp>
#include <optional>

#include "corpus.hpp"

namespace {

using namespace espalier;
using corpus::linear, corpus::over, corpus::point, corpus::segment, corpus::token;

template <class T> struct transpose_laws : testing::Test {};
TYPED_TEST_SUITE(transpose_laws, corpus::types);

// Two equal trees in a vector, and that vector turned inside out and back.
TYPED_TEST(transpose_laws, twice_is_the_identity) {
  using L = leaf_value_t<TypeParam>;
  if constexpr (!detail::is_variant<L> && !std::is_same_v<L, std::monostate> && !std::is_same_v<L, TypeParam> &&
                !detail::contains_itself<TypeParam>) {
    const auto two = [](std::size_t i) {
      std::vector<TypeParam> result;
      for (int n = 0; n < 2; ++n) result.push_back(std::move(corpus::examples<TypeParam>()[i]));
      return result;
    };
    for (std::size_t i = 0; i < corpus::examples<TypeParam>().size(); ++i) {
      auto turned = tree_transpose(two(i));
      const std::vector<TypeParam> back = tree_transpose(tree_structure(std::vector<L>(2)), std::move(turned));
      EXPECT_TRUE(back == two(i));
    }
  }
}

TEST(transpose, a_vector_of_structs_becomes_vectors_by_path) {
  const auto columns = tree_transpose(std::vector{segment{{1, 2}, {3, 4}}, segment{{5, 6}, {7, 8}}});
  static_assert(std::is_same_v<decltype(columns), const leaf_array<segment, std::vector<double>>>);
  EXPECT_EQ(columns["from.x"_path], (std::vector<double>{1, 5}));
  EXPECT_EQ(columns["to.y"_path], (std::vector<double>{4, 8}));
}

TEST(transpose, a_template_over_its_leaf_is_rebound) {
  const auto columns = tree_transpose(std::vector{over<double>{1, {2, 3}}, over<double>{4, {5, 6}}});
  static_assert(std::is_same_v<decltype(columns), const over<std::vector<double>>>);
  EXPECT_EQ(columns.low, (std::vector<double>{1, 4}));
  EXPECT_EQ(columns.many, (std::vector<std::vector<double>>{{2, 5}, {3, 6}}));
}

template <class L> struct plane {
  L x, y;
  bool operator==(const plane&) const = default;
};
template <class L> struct ends {
  L from, to;
  bool operator==(const ends&) const = default;
};

TEST(transpose, a_struct_of_structs) {
  // jax.tree.transpose(outer, inner, {'from': {'x': 1, 'y': 2}, 'to': {'x': 3, 'y': 4}})
  //   == {'x': {'from': 1, 'to': 3}, 'y': {'from': 2, 'to': 4}}
  constexpr auto turned = tree_transpose(treedef<plane<int>>(), ends<plane<int>>{{1, 2}, {3, 4}});
  static_assert(turned == plane<ends<int>>{{1, 3}, {2, 4}});
  static_assert(tree_transpose(treedef<ends<int>>(), turned) == ends<plane<int>>{{1, 2}, {3, 4}});
}

TEST(transpose, a_plain_struct_outside_needs_a_type_for_its_slices) {
  struct rates {
    double from, to;
  };
  const auto turned = tree_transpose<rates>(treedef<point>(), segment{{1, 2}, {3, 4}});
  static_assert(std::is_same_v<decltype(turned), const leaf_array<point, rates>>);
  EXPECT_EQ(turned["y"_path].from, 2);
  EXPECT_EQ(turned["y"_path].to, 4);
}

TEST(transpose, tuples_of_dictionaries) {
  // The example of jax.tree.transpose: [(1, 2, 3), (4, 5, 6)] turns into ([1, 4], [2, 5], [3, 6]).
  const auto turned = tree_transpose(std::vector{std::array{1, 2, 3}, std::array{4, 5, 6}});
  EXPECT_EQ(turned, (std::array<std::vector<int>, 3>{{{1, 4}, {2, 5}, {3, 6}}}));
}

TEST(transpose, maps_and_optionals_inside_and_outside) {
  using inner = std::map<std::string, std::optional<int>>;
  const std::map<int, inner> tree{{1, {{"a", 10}, {"b", {}}}}, {2, {{"a", 20}, {"b", {}}}}};
  const auto turned = tree_transpose(tree);
  static_assert(std::is_same_v<decltype(turned), const std::map<std::string, std::optional<std::map<int, int>>>>);
  EXPECT_EQ(*turned.at("a"), (std::map<int, int>{{1, 10}, {2, 20}}));
  EXPECT_FALSE(turned.at("b"));
}

TEST(transpose, variants_inside) {
  using inner = std::variant<int, std::vector<int>>;
  const auto turned = tree_transpose(std::vector<inner>{std::vector<int>{1, 2}, std::vector<int>{3, 4}});
  EXPECT_EQ(tree_leaves(turned), (std::vector<int>{1, 3, 2, 4}));
}

TEST(transpose, leaves_of_several_types_give_a_variant_of_slices) {
  struct sample {
    double x;
    int label;
  };
  const auto batch = tree_transpose(std::vector{sample{0.5, 1}, sample{1.5, 0}});
  static_assert(
      std::is_same_v<decltype(batch), const leaf_array<sample, std::variant<std::vector<double>, std::vector<int>>>>);
  EXPECT_EQ(std::get<1>(batch["label"_path]), (std::vector<int>{1, 0}));
}

TEST(transpose, twice_is_the_identity) {
  const std::vector<segment> tree{{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}};
  EXPECT_EQ(tree_transpose(tree_transpose(tree)), tree);
  const std::vector<linear> dynamic{{{1, 2}, 3.0}, {{4, 5}, 6.0}};
  EXPECT_EQ(tree_transpose(tree_transpose(dynamic)), dynamic);
  const std::array<std::map<int, double>, 2> maps{{{{1, 2}, {3, 4}}, {{1, 5}, {3, 6}}}};
  EXPECT_EQ(tree_transpose(tree_transpose(maps)), maps);
  const std::vector<corpus::quantized> registered{{{1}, 0, 4}, {{3}, 0, 4}};
  EXPECT_EQ(tree_structure(registered).num_leaves(), 4u);
}

TEST(transpose, keeps_aux_data) {
  const std::vector<corpus::cache> tree{{1, 3, std::string("nhwc")}, {2, 3, std::string("nhwc")}};
  EXPECT_TRUE(tree_transpose(tree_transpose(tree)) == tree);
}

TEST(transpose, moves_leaves_of_an_rvalue) {
  std::vector<std::array<token, 2>> tree;
  tree.push_back({token(1), token(2)});
  tree.push_back({token(3), token(4)});
  const std::array<std::vector<token>, 2> turned = tree_transpose(std::move(tree));
  EXPECT_EQ(turned[1][0].value(), 2);
  EXPECT_EQ(turned[0][1].value(), 3);
}

TEST(transpose, an_empty_tree_needs_the_inner_structure_unless_the_type_tells_it) {
  EXPECT_EQ(tree_transpose(std::vector<point>())["x"_path], std::vector<double>());
  EXPECT_THROW((void)tree_transpose(std::vector<linear>()), structure_error);
  const auto turned = tree_transpose(tree_structure(linear{{1, 2}, {}}), std::vector<linear>());
  EXPECT_EQ(turned["weight.1"_path], std::vector<double>());
}

TEST(transpose, inner_trees_that_differ_are_named) {
  try {
    (void)tree_transpose(std::vector<linear>{{{1, 2}, 3.0}, {{1}, {}}, {{4, 5}, {}}});
    FAIL();
  } catch (const structure_error& e) {
    EXPECT_EQ(e.differences, (std::vector<mismatch>{{"[1].weight", "2 elements", "1 element"},
                                                    {"[1].bias", "a value", "None"},
                                                    {"[2].bias", "a value", "None"}}));
  }
}

TEST(transpose_map, gives_a_tree_of_trees) {
  // optree.tree_transpose_map(lambda x: {'x': x, 'y': 2 * x}, (1, 2)) == {'x': (1, 2), 'y': (2, 4)}
  const auto both = [](int x) { return plane<int>{x, 2 * x}; };
  EXPECT_EQ(tree_transpose_map(both, std::pair(1, 2)), (plane<std::pair<int, int>>{{1, 2}, {2, 4}}));
  const auto of_struct = tree_transpose_map([](double x) { return plane<double>{x, 2 * x}; }, segment{{1, 2}, {3, 4}});
  static_assert(std::is_same_v<decltype(of_struct), const plane<segment>>);
  EXPECT_EQ(of_struct, (plane<segment>{{{1, 2}, {3, 4}}, {{2, 4}, {6, 8}}}));
}

TEST(transpose_map, with_rest_trees) {
  const auto sum_and_difference = [](double a, double b) { return std::pair(a + b, a - b); };
  const auto [sum, difference] = tree_transpose_map(sum_and_difference, point{3, 4}, point{1, 1});
  EXPECT_EQ(sum, (point{4, 5}));
  EXPECT_EQ(difference, (point{2, 3}));
}

}  // namespace
