// What a type is in a tree: the classification in its order, and every kind of node. CASES 5 and 7.

#include <espalier/equal.hpp>
#include <espalier/flatten.hpp>
#include <espalier/map.hpp>
#include <espalier/paths.hpp>
#include <limits>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "corpus.hpp"

// --- One type that could be several things: the first in order wins. ---

namespace ordered {

// Registered, has the member protocol, is a declared leaf, and an aggregate.
struct everything {
  double a, b, c;
  auto tree_children() const { return std::tie(a, b, c); }
  static everything tree_unflatten(std::tuple<>, double a, double b, double c) { return {a, b, c}; }
};
// Has the member protocol, is a declared leaf, and an aggregate.
struct protocol_first {
  double a, b;
  auto tree_children() const { return std::tie(a); }
  static protocol_first tree_unflatten(std::tuple<>, double a) { return {a, 0}; }
};
// A declared leaf and an aggregate.
struct leaf_first {
  double a, b;
  bool operator==(const leaf_first&) const = default;
};
// A registered template.
template <class T> struct boxed {
  T inside;
  int hidden;
};

}  // namespace ordered

using ordered::everything, ordered::protocol_first, ordered::leaf_first, ordered::boxed;

template <> struct espalier::pytree_node<everything> {
  static auto children(auto&& e) { return std::tie(e.a); }
  static everything unflatten(std::tuple<>, double a) { return {a, 0, 0}; }
};
template <> inline constexpr bool espalier::is_leaf_type<everything> = true;
template <> inline constexpr bool espalier::is_leaf_type<protocol_first> = true;
template <> inline constexpr bool espalier::is_leaf_type<leaf_first> = true;
template <> struct espalier::pytree_node<std::vector<unsigned>> {
  static auto children(auto&&) { return std::tuple<>(); }
  static auto aux(const std::vector<unsigned>& v) { return v; }
  static std::vector<unsigned> unflatten(std::vector<unsigned> v) { return v; }
};
// An array that is not of the standard's own: any type can be registered, a leaf of the standard as well.
template <> struct espalier::pytree_node<std::string_view> {
  static auto children(auto&&) { return std::tuple<>(); }
  static std::string aux(std::string_view s) { return std::string(s); }
  static std::string_view unflatten(const std::string&) { return "again"; }
};
template <class T> struct espalier::pytree_node<boxed<T>> {
  static auto children(auto&& b) { return std::tie(b.inside); }
  static boxed<T> unflatten(std::tuple<>, T inside) { return {std::move(inside), 7}; }
};

namespace {

using namespace espalier;
using corpus::point;

template <class T> constexpr node_kind kind = detail::kind_of<T>;

static_assert(kind<everything> == node_kind::custom);
static_assert(kind<protocol_first> == node_kind::custom);
static_assert(kind<leaf_first> == node_kind::leaf);
static_assert(kind<std::vector<unsigned>> == node_kind::custom, "registered wins over container");
static_assert(kind<std::string_view> == node_kind::custom);
static_assert(kind<std::string> == node_kind::leaf, "a leaf wins over a range");
static_assert(kind<corpus::quantized> == node_kind::custom, "registered wins over aggregate");
static_assert(kind<corpus::interval> == node_kind::custom && kind<corpus::polynomial> == node_kind::custom);
static_assert(kind<corpus::stack_of> == node_kind::custom,
              "a registered class derived from a container is what it says");

static_assert(kind<std::vector<double>> == node_kind::sequence);
static_assert(kind<std::array<double, 3>> == node_kind::array, "an array is an aggregate too");
static_assert(kind<std::tuple<double>> == node_kind::tuple && kind<std::pair<int, int>> == node_kind::tuple);
static_assert(kind<std::map<int, double>> == node_kind::map);
static_assert(kind<std::optional<double>> == node_kind::maybe && kind<std::unique_ptr<double>> == node_kind::maybe);
static_assert(kind<std::variant<int, double>> == node_kind::variant);
static_assert(kind<point> == node_kind::record && kind<corpus::empty> == node_kind::record);
static_assert(kind<const point> == node_kind::record);

struct polymorphic {
  virtual ~polymorphic() = default;
};
struct no_aggregate {
  no_aggregate() = default;
  explicit no_aggregate(int) {}
  int value = 0;
};
static_assert(kind<std::vector<bool>> == node_kind::unsupported);
static_assert(kind<std::shared_ptr<double>> == node_kind::unsupported);
static_assert(kind<double*> == node_kind::unsupported && kind<const char*> == node_kind::unsupported);
static_assert(kind<std::unique_ptr<polymorphic>> == node_kind::unsupported);
static_assert(kind<std::unique_ptr<double[]>> == node_kind::unsupported);
static_assert(kind<std::span<double>> == node_kind::unsupported);
static_assert(kind<no_aggregate> == node_kind::unsupported && kind<polymorphic> == node_kind::unsupported);

static_assert(pytree<corpus::model> && pytree<corpus::rose> && pytree<corpus::tokens> && pytree<const point&>);
static_assert(!pytree<std::vector<std::optional<std::shared_ptr<int>>>> && !pytree<std::tuple<point, no_aggregate>>);

static_assert(static_structure<point> && static_structure<corpus::segment> && static_structure<std::array<point, 3>> &&
              static_structure<std::tuple<int, point>> && static_structure<corpus::interval> &&
              static_structure<double>);
static_assert(!static_structure<std::vector<double>> && !static_structure<std::optional<double>> &&
              !static_structure<corpus::cache> && !static_structure<corpus::quantized> &&
              !static_structure<corpus::rose> && !static_structure<std::array<std::vector<int>, 2>>);

TEST(node, registration_is_looked_at_first) {
  EXPECT_EQ(tree_leaves(everything{1, 2, 3}), (std::array{1.0}));
  EXPECT_EQ(tree_leaves(protocol_first{1, 2}), (std::array{1.0}));
  EXPECT_EQ(tree_leaves(std::tuple(leaf_first{1, 2}, leaf_first{3, 4})).size(), 2u);
}

TEST(node, a_registered_class_derived_from_a_container_keeps_what_the_container_does_not_know) {
  corpus::stack_of s{1.0, 2.0};
  s.limit = 3;
  const corpus::stack_of mapped = tree_map([](double x) { return -x; }, s);
  EXPECT_EQ(mapped.limit, 3);
  EXPECT_EQ(mapped[1], -2);
  corpus::stack_of other = s;
  other.limit = 4;
  EXPECT_FALSE(tree_structure(s) == tree_structure(other));
}

TEST(node, a_registered_template_serves_all_of_its_types) {
  const boxed<std::vector<double>> tree{{1, 2}, 3};
  const auto mapped = tree_map([](double x) { return 2 * x; }, tree);
  EXPECT_EQ(mapped.inside, (std::vector<double>{2, 4}));
  EXPECT_EQ(mapped.hidden, 7) << "rebuilt by its unflatten";
}

TEST(node, one_registration_serves_const_mutable_and_moved_trees) {
  struct holder {
    boxed<corpus::token> box;
  };
  holder tree{{corpus::token(1), 0}};
  tree_visit([](corpus::token& t) { t = corpus::token(t.value() + 1); }, tree);
  tree_visit([](const corpus::token& t) { EXPECT_EQ(t.value(), 2); }, std::as_const(tree));
  const holder moved = tree_map([](corpus::token&& t) { return std::move(t); }, std::move(tree));
  EXPECT_EQ(moved.box.inside.value(), 2);
}

TEST(node, children_of_registered_nodes_are_keyed_by_name_or_index) {
  const auto named = tree_paths(corpus::quantized{{1, 2}, 0.5, 4});
  EXPECT_EQ(named[1].to_string(), ".packed[1]");
  EXPECT_EQ(named[2].to_string(), ".scale");
  const auto numbered = tree_paths(corpus::interval(1, 2));
  EXPECT_EQ(numbered[1].to_string(), "[1]");
}

TEST(node, children_are_rebuilt_in_order) {
  std::vector<double> order;
  (void)tree_map([&](double x) { return order.push_back(x), x; }, corpus::interval(1, 2));
  EXPECT_EQ(order, (std::vector<double>{1, 2}));
}

// Member protocol, both forms, with aux data of several values.
class windowed {
 public:
  windowed(double low, std::vector<double> values, int width, bool wrap)
      : low_(low), values_(std::move(values)), width_(width), wrap_(wrap) {}
  auto tree_children() { return std::tie(low_, values_); }
  auto tree_children() const { return std::tie(low_, values_); }
  auto tree_aux() const { return std::tuple(width_, wrap_); }
  static windowed tree_unflatten(std::tuple<int, bool> aux, double low, std::vector<double> values) {
    return {low, std::move(values), std::get<0>(aux), std::get<1>(aux)};
  }
  bool operator==(const windowed&) const = default;

 private:
  double low_;
  std::vector<double> values_;
  int width_;
  bool wrap_;
};

TEST(node, the_member_protocol_can_change_leaves_in_place) {
  windowed tree(1, {2, 3}, 4, true);
  tree_visit([](double& x) { x *= 10; }, tree);
  EXPECT_TRUE(tree == windowed(10, {20, 30}, 4, true));
  EXPECT_TRUE(tree_map([](double x) { return x + 1; }, tree) == windowed(11, {21, 31}, 4, true));
  EXPECT_FALSE(tree_structure(tree) == tree_structure(windowed(10, {20, 30}, 4, false)));
}

// --- Containers. ---

TEST(node, vectors_with_their_own_allocator_keep_it) {
  struct counting : std::allocator<double> {};
  static_assert(kind<std::vector<double, std::allocator<double>>> == node_kind::sequence);
}

TEST(node, maps_with_their_own_order_are_visited_in_it) {
  using map = std::map<int, double, std::greater<>>;
  const map tree{{1, 10}, {2, 20}};
  EXPECT_EQ(tree_leaves(tree), (std::vector<double>{20, 10}));
  EXPECT_EQ(tree_map([](double x) { return -x; }, tree), (map{{1, -10}, {2, -20}}));
  EXPECT_TRUE(tree_structure(tree) == tree_structure(tree));
  const map other{{1, 10}, {3, 20}};
  try {
    (void)tree_map([](double a, double) { return a; }, tree, other);
    FAIL();
  } catch (const structure_error& e) {
    EXPECT_EQ(e.differences.size(), 2u);
  }
}

TEST(node, maps_keyed_by_enums_and_unsigned_numbers) {
  const std::map<corpus::color, double> colors{{corpus::color::green, 1}};
  EXPECT_EQ(tree_paths(colors)[0].to_string(), "[1]");
  const std::map<std::uint64_t, double> large{{~std::uint64_t(0), 1}};
  EXPECT_EQ(tree_paths(large)[0].to_string(), "[18446744073709551615]");
  const std::map<std::int64_t, double> least{{std::numeric_limits<std::int64_t>::min(), 1}};
  EXPECT_EQ(tree_paths(least)[0].to_string(), "[-9223372036854775808]");
}

TEST(node, a_unique_ptr_is_a_child_or_none) {
  corpus::owner tree;
  EXPECT_EQ(tree_structure(tree).num_leaves(), 0u);
  EXPECT_EQ(tree_structure(tree).to_string(), "{.at: None}");
  tree.at = std::make_unique<point>(point{1, 2});
  const corpus::owner mapped = tree_map([](double x) { return -x; }, tree);
  EXPECT_EQ(*mapped.at, (point{-1, -2}));
  EXPECT_NE(mapped.at, tree.at);
}

// They have the members of std::optional, std::unique_ptr and std::complex, and mean something else.
template <class T> struct cell {
  using value_type = T;
  T held{};
  int uses = 0;
  T& value() { return held; }
  bool has_value() const { return uses > 0; }
  void reset() { uses = 0; }
  explicit operator bool() const { return has_value(); }
  T& operator*() { return held; }
};
struct from_pool {};
template <class T, class Deleter = from_pool> class pooled {
 public:
  using element_type = T;
  using deleter_type = Deleter;
  T* release();

 private:
  T* held_ = nullptr;
};
template <class T> struct sample {
  using value_type = T;
  T seen;
  double weight;
  T real() const { return seen; }
  friend sample conj(const sample& s) { return s; }
};
struct holds_lookalikes {
  cell<double> a;
  sample<double> b;
};

TEST(node, what_only_looks_like_a_standard_container_is_taken_for_what_it_is) {
  holds_lookalikes tree{{0.5, 7}, {2.0, 3.0}};
  EXPECT_EQ(tree_paths(tree).size(), 4U);
  EXPECT_EQ(tree_paths(tree)[1].to_string(), ".a.uses");
  EXPECT_EQ(tree_paths(tree)[2].to_string(), ".b.seen");
  const auto doubled = tree_map([](auto x) { return static_cast<decltype(x)>(2 * x); }, tree);
  EXPECT_EQ(doubled.a.held, 1.0);
  EXPECT_EQ(doubled.a.uses, 14);
  EXPECT_FALSE(pytree<pooled<double>>);
}

enum class day { monday, tuesday };

}  // namespace

template <> struct std::less<day> {
  bool operator()(day a, day b) const { return a > b; }
};

namespace {

TEST(node, a_map_keeps_the_order_that_std_less_of_its_key_means) {
  const std::map<day, int> map{{day::monday, 0}, {day::tuesday, 1}};
  const auto [leaves, structure] = tree_flatten(map);
  EXPECT_EQ(leaves, (std::vector{1, 0}));
  EXPECT_EQ(structure.unflatten(leaves), map);
}

TEST(node, maps_whose_keys_are_ordered_by_address_are_none) {
  EXPECT_FALSE((pytree<std::map<const char*, double>>));
  EXPECT_TRUE((pytree<std::map<std::string, double>>));
}

TEST(node, a_variant_is_the_child_it_holds) {
  corpus::choice tree{std::vector{1, 2}};
  const corpus::choice mapped = tree_map(corpus::increase(), tree);
  EXPECT_EQ(std::get<2>(mapped.held), (std::vector{2, 3}));
  EXPECT_EQ(tree_paths(tree)[1].to_string(), ".held[1]");
}

TEST(node, an_empty_class_is_a_node_without_children) {
  EXPECT_EQ(tree_structure(corpus::empty()).num_leaves(), 0u);
  static_assert(treedef<corpus::empty>().num_nodes() == 1);
}

TEST(node, arrays_longer_than_sixteen_of_leaves_without_default) {
  const auto build = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<corpus::token, sizeof...(I)>{corpus::token(int(I))...};
  };
  const auto mapped = tree_map(corpus::increase(), build(std::make_index_sequence<20>()));
  EXPECT_EQ(mapped[19].value(), 20);
}

}  // namespace
