// tree_at: places by path, by member and by function; replaced, changed, several at once. As equinox.tree_at.

#include <espalier/at.hpp>
#include <memory>
#include <optional>

#include "corpus.hpp"
#include "messages.hpp"

namespace {

// Structs whose members cannot be assigned.
struct versioned {
  const espalier::aux<int> version;
  double x;
  bool operator==(const versioned&) const = default;
};
struct in_const {
  const versioned inner;
  std::map<std::string, versioned> named;
  bool operator==(const in_const&) const = default;
};
struct listed {
  double x;
  const int bits;
  static constexpr auto tree_aux = espalier::fields<&listed::bits>;
  bool operator==(const listed&) const = default;
};
struct const_layers {
  const std::vector<double> layers;
  double z;
  bool operator==(const const_layers&) const = default;
};
struct const_token {
  const double mean;
  corpus::token token;
};
struct immovable {
  const std::unique_ptr<double> mean;
  double scale;
};
// A leaf with a part.
struct opaque {
  const int part;
};

}  // namespace

template <> inline constexpr bool espalier::is_leaf_type<opaque> = true;

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

TEST(at, a_function_that_is_applied_may_have_state) {
  EXPECT_EQ(tree_at(point{}, "y"_path, "x"_path).apply([n = 0](double) mutable { return ++n; }), (point{2, 1}));
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

TEST(at, const_containers_are_rebuilt) {
  EXPECT_EQ(tree_at(const_layers{{1, 2}, 3}, "layers.0"_path).replace(9.0), (const_layers{{9, 2}, 3}));
  EXPECT_EQ(
      tree_at(const_layers{{1, 2}, 3}, "layers"_path, "layers.1"_path, "z"_path).replace(std::vector{4., 5.}, 6, 7),
      (const_layers{{4, 6}, 7}));
}

TEST(at, what_is_rebuilt_is_moved_out_of_an_rvalue) {
  const const_token changed = tree_at(const_token{1, corpus::token(2)}, "mean"_path).replace(10);
  EXPECT_EQ(changed.mean, 10);
  EXPECT_EQ(changed.token.value(), 2);
}

TEST(at, trees_that_cannot_be_moved_are_rebuilt) {
  const immovable tree{std::make_unique<double>(1), 2};
  const immovable changed = tree_at(tree, "mean"_path, "scale"_path).replace(std::make_unique<double>(10), 20);
  EXPECT_EQ(*changed.mean, 10);
  EXPECT_EQ(changed.scale, 20);
  EXPECT_EQ(*tree_at(tree, [](auto& t) -> auto& { return *t.mean; }).apply([](double x) { return -x; }).mean, -1);
}

// The law of lenses: what has been put at a place stands there, and the rest is as it was.
TEST(at, aux_data_that_is_const_is_rebuilt) {
  const versioned tree{1, 2};
  EXPECT_EQ(tree_at(tree, &versioned::version).replace(5), (versioned{5, 2}));
  EXPECT_EQ(tree_at(tree, [](auto& t) -> auto& { return t.version.value; }).replace(5), (versioned{5, 2}));
  EXPECT_EQ(tree_at(listed{1, 2}, &listed::bits).apply([](int bits) { return 2 * bits; }), (listed{1, 4}));
  static_assert(tree_at(listed{1, 2}, &listed::bits, "x"_path).replace(8, 9) == listed{9, 8});
}

TEST(at, aux_data_is_reached_by_functions_that_give_back_const) {
  using std::string;
  const corpus::cache tree{1, 2, string("a")};
  EXPECT_EQ(tree_at(tree, [](const auto& c) -> const auto& { return c.step.value; }).replace(5),
            (corpus::cache{1, 5, string("a")}));
  EXPECT_EQ(tree_at(tree, [](const auto& c) -> const auto& { return c.layout; }).replace(string("b")),
            (corpus::cache{1, 2, string("b")}));
}

TEST(at, aux_data_in_const_nodes_is_rebuilt) {
  const in_const tree{{1, 2}, {{"a", {3, 4}}, {"b", {5, 6}}}};
  EXPECT_EQ(tree_at(tree, [](auto& t) -> auto& { return t.inner.version; }).replace(7),
            (in_const{{7, 2}, {{"a", {3, 4}}, {"b", {5, 6}}}}));
  EXPECT_EQ(tree_at(tree, [](auto& t) -> auto& { return t.named.at("b").version.value; }).replace(7),
            (in_const{{1, 2}, {{"a", {3, 4}}, {"b", {7, 6}}}}));
}

TEST(at, a_const_place_that_rebuilding_does_not_meet_is_an_error) {
  const auto part = [](auto& t) -> auto& { return t[0].part; };
  EXPECT_EQ(
      message_of<path_error>([&] { (void)tree_at(std::vector{opaque{1}}, "0"_path, part).replace(opaque{2}, 3); }),
      "espalier: tree_at: place 1 is const, or cannot be assigned, so that the tree has to be rebuilt with the "
      "new value: expected a node, a leaf, or aux data of a struct, found a reference to something else. Give "
      "back a reference that is not const (`-> auto&`), or one to the leaf or node that this is a part of");
  EXPECT_EQ(tree_at(std::vector{opaque{1}}, "0"_path).replace(opaque{2})[0].part, 2) << "what the message proposes";

  static const double outside = 1;
  std::vector<double> tree{1, 2};
  EXPECT_THROW((void)tree_at(std::move(tree), [](auto&) -> auto& { return outside; }).replace(3), path_error);
  EXPECT_EQ(tree, (std::vector<double>{1, 2})) << "nothing has been moved out";
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

template <class T, detail::fixed_string Text, detail::path_end End = detail::path_end::leaf>
constexpr bool proposes(std::string_view nearest) {
  return detail::nearest_path<T, Text, End>().view() == nearest;
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

TEST(nearest_path, ends_at_a_node_where_a_node_will_do) {
  static_assert(proposes<model, "layers.0.wieght", detail::path_end::any>("layers.0.weight"));
  static_assert(proposes<model, "layer.0", detail::path_end::any>("layers.0"));
  static_assert(proposes<segment, "from.x.y", detail::path_end::any>("from.x"));
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
