// Classes described for Boost.Describe: the fields, and the trees, which are those of plain structs with the same fields.

#include <espalier/reflect/describe.hpp>

#include <array>
#include <espalier/equal.hpp>
#include <espalier/flatten.hpp>
#include <espalier/map.hpp>
#include <espalier/reflect/names.hpp>
#include <espalier/structure.hpp>
#include <espalier/visit.hpp>
#include <espalier/visit_update.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "../names_and_paths.hpp"

namespace model {

using espalier::aux;

// --- The plain structs that the classes below must equal. ---

struct plain_point {
  double x, y;
};
struct plain_particle {
  double x, y;
  float mass;
};
struct plain_cache {
  int layer_;
  std::string kind;
  std::vector<double> keys_;
  std::optional<double> scale_;
  aux<int> step_;
};
struct plain_run {
  double loss;
  aux<int> epoch;
  double rate;
};
struct plain_mixed {
  double a, b, c, d;
};

// --- Aggregates. ---

struct point {
  double x, y;
};
BOOST_DESCRIBE_STRUCT(point, (), (x, y))

struct nothing {};
BOOST_DESCRIBE_STRUCT(nothing, (), ())

template <class T> struct box {
  T value;
  std::vector<box> inner;
  BOOST_DESCRIBE_CLASS(box, (), (value, inner), (), ())
};

struct owner {
  const double fixed;
  std::unique_ptr<double> owned;
};
BOOST_DESCRIBE_STRUCT(owner, (), (fixed, owned))

struct particle : point {
  float mass;
};
BOOST_DESCRIBE_STRUCT(particle, (point), (mass))

// --- Private members and bases, as the caches of mlx-lm have them. ---

class layer_state {
 public:
  int layer() const { return layer_; }
  virtual ~layer_state() = default;

 protected:
  layer_state() = default;
  explicit layer_state(int layer) : layer_(layer) {}

 private:
  int layer_ = 0;
  BOOST_DESCRIBE_CLASS(layer_state, (), (), (), (layer_))
};

struct named {
  std::string kind;
};
BOOST_DESCRIBE_STRUCT(named, (), (kind))

class cache : public layer_state, private named {
 public:
  cache(int layer, std::string kind_of, std::vector<double> keys, std::optional<double> scale, int step)
      : layer_state(layer), named{std::move(kind_of)}, keys_(std::move(keys)), scale_(scale), step_(step) {}
  using named::kind;
  const std::vector<double>& keys() const { return keys_; }
  int step() const { return step_; }
  static int instances;

 private:
  std::vector<double> keys_;
  std::optional<double> scale_;
  aux<int> step_;
  BOOST_DESCRIBE_CLASS(cache, (layer_state, named), (instances, keys), (), (keys_, scale_, step_))
};

// Members of different access, and a note that is no part of the tree.
class mixed {
 public:
  double a = 1;
  double sum() const { return a + b + c + d; }
  std::string note = "new";

 private:
  double b = 2;

 public:
  double c = 3;

 protected:
  double d = 4;
  BOOST_DESCRIBE_CLASS(mixed, (), (c, a), (d), (b))
};

// A constructor takes what the fields are, and means something else.
class range {
 public:
  range() = default;
  range(double first, double size) : first_(first), last_(first + size) {}
  double last() const { return last_; }

 private:
  double first_ = 0, last_ = 0;
  BOOST_DESCRIBE_CLASS(range, (), (), (), (first_, last_))
};

// --- Aux data by pointers to members. ---

class run {
 public:
  run(double l, int e, double r) : loss(l), epoch(e), rate(r) {}
  int at() const { return epoch; }

 private:
  double loss;
  int epoch;
  double rate;
  BOOST_DESCRIBE_CLASS(run, (), (), (), (loss, epoch, rate))

 public:
  static constexpr auto tree_aux = espalier::fields<&run::epoch>;
};
struct foreign_run {
  double loss;
  int epoch;
  double rate;
};
BOOST_DESCRIBE_STRUCT(foreign_run, (), (loss, epoch, rate))

struct clock {
  int tick;
};
BOOST_DESCRIBE_STRUCT(clock, (), (tick))
class timed : clock {
 public:
  timed(int t, double v) : clock{t}, value(v) {}
  int at() const { return tick; }

 private:
  double value;
  BOOST_DESCRIBE_CLASS(timed, (clock), (), (), (value))

 public:
  static constexpr auto tree_aux = espalier::fields<&timed::tick>;
};
struct plain_timed {
  aux<int> tick;
  double value;
};

// --- What is something else although it is described. ---

struct registered {
  double x, y;
};
BOOST_DESCRIBE_STRUCT(registered, (), (x, y))

struct with_protocol {
  double x, y;
  auto tree_children() const { return std::tie(y); }
  static with_protocol tree_unflatten(std::tuple<>, double y) { return {0, y}; }
};
BOOST_DESCRIBE_STRUCT(with_protocol, (), (x, y))

struct date {
  int year, day;
};
BOOST_DESCRIBE_STRUCT(date, (), (year, day))

// Converts from everything, as an engine's array does.
struct array {
  double value = 0;
  template <class T> array(T from) : value(static_cast<double>(from)) {}
};
struct linear {
  array weight;
  std::optional<array> bias;
};
BOOST_DESCRIBE_STRUCT(linear, (), (weight, bias))

// As many members as one list takes, and more in a base.
#define TEN(x) x##0, x##1, x##2, x##3, x##4, x##5, x##6, x##7, x##8, x##9
struct sixty_two {
  int TEN(a), TEN(b), TEN(c), TEN(d), TEN(e), TEN(f), g0, g1;
};
BOOST_DESCRIBE_STRUCT(sixty_two, (), (TEN(a), TEN(b), TEN(c), TEN(d), TEN(e), TEN(f), g0, g1))
struct more : sixty_two {
  int TEN(h);
};
BOOST_DESCRIBE_STRUCT(more, (sixty_two), (TEN(h)))

}  // namespace model

template <>
inline constexpr auto espalier::reflect::constructed_by<model::range> =
    espalier::reflect::construction::default_and_assign;
template <>
inline constexpr auto espalier::aux_fields<model::foreign_run> = espalier::fields<&model::foreign_run::epoch>;
template <> struct espalier::pytree_node<model::registered> {
  static auto children(auto& r) { return std::tie(r.y, r.x); }
  static model::registered unflatten(std::tuple<>, double y, double x) { return {x, y}; }
};
template <> inline constexpr bool espalier::is_leaf_type<model::date> = true;
template <> inline constexpr bool espalier::is_leaf_type<model::array> = true;

namespace {

using namespace espalier;
using namespace model;
using reflect::construct;
using reflect::constructed_by;
using reflect::construction;
using reflect::field_count_v;
using reflect::field_names_v;
using reflect::field_t;
using reflect::reflectable;

using strings = std::vector<std::string>;

constexpr auto same = []<class V>(V v) { return v; };
constexpr auto twice = [](auto x) {
  if constexpr (std::is_arithmetic_v<decltype(x)>)
    return 2 * x;
  else
    return x;
};

static_assert(reflectable<point> && reflectable<const cache> && !reflectable<std::string>);
static_assert(field_count_v<nothing> == 0 && field_count_v<particle> == 3 && field_count_v<cache> == 5);
static_assert(std::is_same_v<field_t<cache, 3>, std::optional<double>> &&
              std::is_same_v<field_t<const cache, 0>, const int> && std::is_same_v<field_t<owner, 0>, const double>);

static_assert(structure_hash_v<point> == structure_hash_v<plain_point>);
static_assert(structure_hash_v<particle> == structure_hash_v<plain_particle>);
static_assert(structure_hash_v<cache> == structure_hash_v<plain_cache>);
static_assert(structure_hash_v<mixed> == structure_hash_v<plain_mixed>);
static_assert(structure_hash_v<run> == structure_hash_v<plain_run>);
static_assert(structure_hash_v<foreign_run> == structure_hash_v<plain_run>);
static_assert(structure_hash_v<range> != structure_hash_v<point>);

TEST(described_fields, have_the_names_and_the_order_of_declaration_bases_first) {
  EXPECT_EQ(names_of<point>(), (strings{"x", "y"}));
  EXPECT_EQ(names_of<particle>(), (strings{"x", "y", "mass"}));
  EXPECT_EQ(names_of<cache>(), (strings{"layer_", "kind", "keys_", "scale_", "step_"}));
  EXPECT_EQ(names_of<mixed>(), (strings{"a", "b", "c", "d"}));
  EXPECT_EQ(names_of<box<int>>(), (strings{"value", "inner"}));
}

TEST(described_fields, are_the_members_themselves) {
  particle p{{1, 2}, 3};
  reflect::with_fields(p, [&](double& x, double& y, float& mass) {
    EXPECT_EQ(&x, &p.x);
    EXPECT_EQ(&y, &p.y);
    EXPECT_EQ(&mass, &p.mass);
  });
  const cache c(1, "k", {2, 3}, {}, 4);
  reflect::with_fields(c, [&](const int&, const std::string& kind, const std::vector<double>& keys, auto&, auto&) {
    EXPECT_EQ(&kind, &c.kind);
    EXPECT_EQ(&keys, &c.keys());
  });
}

TEST(described_construction, is_by_braces_a_constructor_or_assignment) {
  static_assert(constructed_by<point> == construction::braces && constructed_by<particle> == construction::braces &&
                constructed_by<cache> == construction::fields &&
                constructed_by<mixed> == construction::default_and_assign);
  static_assert(construct<particle>(same, 3.0, 4.0, 5.0F).y == 4);
  const auto made =
      construct<cache>(same, 1, std::string("k"), std::vector<double>{2}, std::optional<double>(), aux<int>(3));
  EXPECT_EQ(made.layer(), 1);
  EXPECT_EQ(made.kind, "k");
  EXPECT_EQ(made.step(), 3);
  EXPECT_EQ(construct<mixed>(same, 3.0, 4.0, 5.0, 6.0).sum(), 18);
  EXPECT_EQ(*construct<owner>(same, 1.0, std::make_unique<double>(2)).owned, 2);
  construct<nothing>(same);
}

TEST(described_construction, can_be_chosen) { EXPECT_EQ(construct<range>(same, 3.0, 5.0).last(), 5); }

TEST(described_construction, leaves_what_is_not_listed_to_the_constructor) {
  mixed m;
  m.note = "seen";
  EXPECT_EQ(tree_map(twice, m).note, "new");
  tree_visit_update(twice, m);
  EXPECT_EQ(m.note, "seen");
  EXPECT_EQ(m.sum(), 20);
}

TEST(described_tree, is_that_of_the_plain_struct) {
  const plain_cache plain{1, "k", {2, 3}, 4.0, 7};
  const cache described(5, "l", {6, 7}, 8.0, 7);
  EXPECT_TRUE(tree_structure(plain) == tree_structure(described));
  EXPECT_EQ(tree_structure(plain).hash(), tree_structure(described).hash());
  EXPECT_EQ(paths_of(described), (strings{".layer_", ".kind", ".keys_[0]", ".keys_[1]", ".scale_"}));
  EXPECT_FALSE(tree_structure(described) == tree_structure(cache(5, "l", {6, 7}, 8.0, 9)));
}

TEST(described_tree, is_mapped_updated_and_rebuilt) {
  cache tree(1, "k", {2, 3}, 4.0, 7);
  const cache mapped = tree_map(twice, tree);
  EXPECT_EQ(mapped.layer(), 2);
  EXPECT_EQ(mapped.kind, "k");
  EXPECT_EQ(mapped.keys(), (std::vector<double>{4, 6}));
  EXPECT_EQ(mapped.step(), 7);
  tree_visit_update(twice, tree);
  EXPECT_TRUE(tree_equal(tree, mapped));
  const auto [leaves, structure] = tree_flatten(mapped);
  EXPECT_TRUE(tree_equal(tree_unflatten(structure, leaves), mapped));
  const auto sum = tree_map([](auto a, auto b) { return a + b; }, tree, plain_cache{10, "l", {10, 10}, 10.0, 7});
  EXPECT_EQ(sum.keys(), (std::vector<double>{14, 16}));
  EXPECT_EQ(sum.kind, "kl");
}

TEST(described_tree, stands_anywhere_in_a_tree) {
  std::map<std::string, std::vector<box<point>>> tree;
  tree["a"].push_back({{1, 2}, {{{3, 4}, {}}}});
  EXPECT_EQ(paths_of(tree), (strings{"['a'][0].value.x", "['a'][0].value.y", "['a'][0].inner[0].value.x",
                                     "['a'][0].inner[0].value.y"}));
  EXPECT_EQ(tree_leaves(tree_map(twice, tree)), (std::vector<double>{2, 4, 6, 8}));
  EXPECT_EQ(paths_of(nothing()), strings());
  EXPECT_EQ(paths_of(linear{1, array(2)}), (strings{".weight", ".bias"}));
}

TEST(described_aux, is_named_by_pointers_to_members_private_ones_too) {
  const run tree(1, 2, 3);
  EXPECT_EQ(paths_of(tree), (strings{".loss", ".rate"}));
  EXPECT_TRUE(tree_structure(tree) == tree_structure(plain_run{0, 2, 0}));
  EXPECT_TRUE(tree_structure(tree) == tree_structure(foreign_run{0, 2, 0}));
  EXPECT_EQ(tree_map(twice, tree).at(), 2);
}

TEST(described_aux, can_be_a_member_of_a_private_base) {
  const timed tree(1, 2);
  EXPECT_EQ(paths_of(tree), (strings{".value"}));
  EXPECT_TRUE(tree_structure(tree) == tree_structure(plain_timed{1, 0}));
  EXPECT_EQ(tree_map(twice, tree).at(), 1);
}

TEST(described_class, that_is_registered_or_a_leaf_stays_so) {
  EXPECT_EQ(tree_leaves(registered{1, 2}), (std::array{2.0, 1.0}));
  EXPECT_EQ(tree_leaves(with_protocol{1, 2}), (std::array{2.0}));
  EXPECT_EQ(paths_of(std::pair(date{1, 2}, 3)), (strings{"[0]", "[1]"}));
}

TEST(described_fields, are_at_most_62_in_a_list_and_any_number_with_bases) {
  static_assert(field_count_v<sixty_two> == 62 && field_count_v<more> == 72 && field_names_v<more>[71] == "h9");
  more tree{};
  int next = 0;
  reflect::with_fields(tree, [&](auto&... field) { ((field = next++), ...); });
  EXPECT_EQ(tree.g1, 61);
  EXPECT_EQ(tree_map(twice, tree).h9, 142);
}

}  // namespace
