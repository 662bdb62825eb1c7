// tree_at: places by path, by member and by function; replaced, changed, several at once. As equinox.tree_at.

#include <espalier/at.hpp>
#include <memory>

#include "corpus.hpp"
#include "messages.hpp"

namespace {

using namespace espalier;
using corpus::linear, corpus::model, corpus::point, corpus::segment;

TEST(at, replaces_a_leaf_by_path_and_leaves_the_tree_alone) {
  constexpr segment tree{{1, 2}, {3, 4}};
  constexpr segment changed = tree_at(tree, "to.x"_path).replace(30);
  static_assert(changed == segment{{1, 2}, {30, 4}});
  static_assert(tree == segment{{1, 2}, {3, 4}});
}

TEST(at, replaces_a_node) {
  constexpr segment changed = tree_at(segment{{1, 2}, {3, 4}}, "to"_path).replace(point{5, 6});
  static_assert(changed == segment{{1, 2}, {5, 6}});
  static_assert(tree_at(point{1, 2}, ""_path).replace(point{3, 4}) == point{3, 4}, "the root");
}

TEST(at, a_place_may_be_a_member_or_a_function) {
  constexpr segment tree{{1, 2}, {3, 4}};
  static_assert(tree_at(tree, &segment::from).replace(point{}) == segment{{0, 0}, {3, 4}});
  static_assert(tree_at(tree, [](auto& s) -> auto& { return s.to.y; }).replace(40) == segment{{1, 2}, {3, 40}});
  EXPECT_EQ(tree_at(tree, [](const segment& s) -> const double& { return s.to.y; }).replace(40),
            (segment{{1, 2}, {3, 40}}));
}

TEST(at, applies_a_function) {
  // eqx.tree_at(lambda s: s.to.x, segment, replace_fn=lambda x: -x)
  static_assert(tree_at(segment{{1, 2}, {3, 4}}, "to.x"_path).apply([](double x) { return -x; }) ==
                segment{{1, 2}, {-3, 4}});
}

TEST(at, several_places_at_once) {
  constexpr segment tree{{1, 2}, {3, 4}};
  static_assert(tree_at(tree, "to.x"_path, &segment::from).replace(30, point{}) == segment{{0, 0}, {30, 4}});
  static_assert(tree_at(tree, "to.x"_path, "from.y"_path).apply([](double x) { return -x; }) ==
                segment{{1, -2}, {-3, 4}});
  const auto negative = [](double x) { return -x; };
  const auto swapped = [](const point& p) { return point{p.y, p.x}; };
  EXPECT_EQ(tree_at(tree, "to.x"_path, "from"_path).apply(negative, swapped), (segment{{2, 1}, {-3, 4}}));
}

TEST(at, reaches_into_containers) {
  const model m{{{{1, 2}, 3.0}, {{4}, {}}}, 0.5};
  EXPECT_TRUE(tree_at(m, "layers.0.weight.1"_path, "layers.0.bias"_path).replace(20, 30) ==
              (model{{{{1, 20}, 30.0}, {{4}, {}}}, 0.5}));
  EXPECT_TRUE(tree_at(m, "layers.1.weight"_path).replace(std::vector<double>{7, 8}) ==
              (model{{{{1, 2}, 3.0}, {{7, 8}, {}}}, 0.5}));
  EXPECT_TRUE(tree_at(m, [](auto& x) -> auto& { return x.layers.back(); }).apply([](linear l) {
    l.weight.clear();
    return l;
  }) == (model{{{{1, 2}, 3.0}, {{}, {}}}, 0.5}));
}

TEST(at, engages_and_empties_an_optional) {
  // eqx.tree_at(lambda l: l.bias, linear, 1.0, is_leaf=lambda x: x is None)
  EXPECT_TRUE(tree_at(linear{{1}, {}}, "bias"_path).replace(1.0) == (linear{{1}, 1.0}));
  EXPECT_TRUE(tree_at(linear{{1}, 1.0}, "bias"_path).replace(std::nullopt) == (linear{{1}, {}}));
}

TEST(at, reaches_through_optionals_pointers_variants_maps_and_tuples) {
  EXPECT_EQ(tree_at(std::optional<point>(point{1, 2}), "y"_path).replace(20), (point{1, 20}));
  EXPECT_TRUE(tree_at(corpus::owner{std::make_unique<point>(point{1, 2})}, "at.x"_path).replace(10) ==
              corpus::owner{std::make_unique<point>(point{10, 2})});
  EXPECT_TRUE(tree_at(corpus::choice{point{1, 2}}, "held.x"_path).replace(10) == (corpus::choice{point{10, 2}}));
  using map = std::map<std::string, std::map<int, double>>;
  const map tree{{"a.b", {{-1, 1}}}, {"c", {{2, 2}}}};
  EXPECT_EQ(tree_at(tree, "c.2"_path).replace(3).at("c").at(2), 3);
  EXPECT_EQ(tree_at(std::map<std::string, double>{{"a.b", 1}}, "a.b"_path).replace(3).at("a.b"), 3);
  EXPECT_EQ(tree_at(std::tuple(1, std::array{2.0, 3.0}), "1.1"_path).replace(4), std::tuple(1, std::array{2.0, 4.0}));
  EXPECT_EQ(tree_at(corpus::examples<corpus::rose>()[0], "children.0.children.0.value"_path).get(), 3);
}

TEST(at, trees_that_cannot_be_copied_are_rebuilt) {
  const corpus::owner tree{std::make_unique<point>(point{1, 2})};
  EXPECT_TRUE(tree_at(tree, "at.x"_path).replace(10) == corpus::owner{std::make_unique<point>(point{10, 2})});
}

TEST(at, nodes_that_cannot_be_assigned_are_rebuilt) {
  EXPECT_EQ(tree_at(corpus::frozen{1, 2}, "mean"_path).replace(10), (corpus::frozen{10, 2}));
  EXPECT_EQ(tree_at(std::vector{corpus::interval(1, 2), corpus::interval(3, 4)}, "1.0"_path).replace(30),
            (std::vector{corpus::interval(1, 2), corpus::interval(30, 4)}));
  EXPECT_EQ(tree_at(corpus::polynomial("x", {1, 2}), "0.1"_path).apply(corpus::twice()),
            corpus::polynomial("x", {1, 4}));
}

TEST(at, registered_names_are_names) {
  EXPECT_EQ(tree_at(corpus::quantized{{1, 2}, 0.5, 4}, "packed.1"_path).replace(20),
            (corpus::quantized{{1, 20}, 0.5, 4}));
}

TEST(at, gives_references_for_changes_in_place) {
  model m{{{{1, 2}, 3.0}, {{4}, {}}}, 0.5};
  tree_at(m, "layers.1.bias"_path).get() = 9;
  auto [weight, temperature] = tree_at(m, "layers.0.weight"_path, &model::temperature).get();
  weight.pop_back();
  temperature = 1;
  EXPECT_TRUE(m == (model{{{{1}, 3.0}, {{4}, 9.0}}, 1}));
  const model& constant = m;
  static_assert(std::is_same_v<decltype(tree_at(constant, "temperature"_path).get()), const double&>);
}

TEST(at, moves_out_of_an_rvalue) {
  std::vector<corpus::token> tree;
  tree.emplace_back(1);
  tree.emplace_back(2);
  const auto changed = tree_at(std::move(tree), "1"_path).replace(corpus::token(20));
  EXPECT_EQ(changed[0].value(), 1);
  EXPECT_EQ(changed[1].value(), 20);
}

// --- The path that a compile error proposes. ---

template <class T, detail::fixed_string Text> constexpr bool proposes(std::string_view nearest) {
  return detail::nearest_path<T, Text>().view() == nearest;
}

TEST(nearest_path, corrects_names_at_every_level) {
  static_assert(proposes<model, "layers.0.wieght.1">("layers.0.weight.1"));
  static_assert(proposes<model, "layer.0.baias">("layers.0.bias"));
  static_assert(proposes<model, "temprature">("temperature"));
  static_assert(proposes<corpus::quantized, "pakced.3">("packed.3"), "names of registered nodes");
}

TEST(nearest_path, corrects_indices_that_are_none) {
  static_assert(proposes<model, "layers.first.bias">("layers.0.bias"));
  static_assert(proposes<std::array<point, 2>, "2.x">("0.x"));
  static_assert(proposes<std::pair<point, double>, "2">("0.x"));
}

TEST(nearest_path, goes_on_to_a_leaf_and_not_beyond) {
  static_assert(proposes<model, "layers.0">("layers.0.weight.0"));
  static_assert(proposes<segment, "from.x.y">("from.x"));
  static_assert(proposes<corpus::family, "members">("members"), "a map's keys are not known");
}

TEST(nearest_path, of_the_alternatives_of_a_variant_it_takes_the_nearest) {
  static_assert(proposes<corpus::choice, "held.yy">("held.y"));
}

TEST(nearest_path, distance_counts_changed_missing_and_added_characters) {
  static_assert(detail::edit_distance("kitten", "sitting") == 3);
  static_assert(detail::edit_distance("", "abc") == 3);
  static_assert(detail::edit_distance("flaw", "lawn") == 2);
}

TEST(at, an_rvalue_that_lacks_a_place_is_left_as_it_was) {
  model m{{{{1, 2}, 3.0}}, 0.5};
  EXPECT_THROW((void)tree_at(std::move(m), &model::temperature, "layers.7.bias"_path).replace(1, 2), path_error);
  EXPECT_TRUE(m == (model{{{{1, 2}, 3.0}}, 0.5}));
}

TEST(at, what_this_tree_lacks_is_named) {
  const model m{{{{1, 2}, 3.0}}, 0.5};
  EXPECT_EQ(message_of<path_error>([&] { (void)tree_at(m, "layers.1.bias"_path).get(); }),
            "espalier: tree_at: nothing is at \"layers.1.bias\": \"layers\" has 1 element");
  EXPECT_EQ(message_of<path_error>([&] { (void)tree_at(std::map<int, int>(), "3"_path).replace(1); }),
            "espalier: tree_at: nothing is at \"3\": the tree has no key '3'");
  EXPECT_EQ(message_of<path_error>([&] { (void)tree_at(corpus::owner(), "at.x"_path).replace(1); }),
            "espalier: tree_at: nothing is at \"at.x\": \"at\" has no value");
  EXPECT_EQ(message_of<path_error>([&] { (void)tree_at(corpus::choice{1.0}, "held.x"_path).replace(1); }),
            "espalier: tree_at: nothing is at \"held.x\": \"held\" has alternative 0");
}

}  // namespace
