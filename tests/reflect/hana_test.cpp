// Classes adapted for Boost.Hana: the fields, and the trees, which are those of plain structs with the same fields.

#include <espalier/reflect/hana.hpp>

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
#include <string_view>
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
struct plain_cache {
  int layer_;
  std::vector<double> keys_;
  std::optional<double> scale_;
  aux<int> step_;
};
struct plain_run {
  double loss;
  aux<int> epoch;
  double rate;
};

// --- BOOST_HANA_DEFINE_STRUCT. ---

struct point {
  BOOST_HANA_DEFINE_STRUCT(point, (double, x), (double, y));
};
struct nothing {
  BOOST_HANA_DEFINE_STRUCT(nothing);
};
template <class T> struct box {
  BOOST_HANA_DEFINE_STRUCT(box, (T, value), (std::vector<box>, inner));
};
struct owner {
  BOOST_HANA_DEFINE_STRUCT(owner, (const double, fixed), (std::unique_ptr<double>, owned));
};
class polymorphic {
 public:
  virtual ~polymorphic() = default;
  BOOST_HANA_DEFINE_STRUCT(polymorphic, (double, x), (float, y));
};

// --- Private members and a base, as the caches of mlx-lm have them. ---

class layer_state {
 protected:
  explicit layer_state(int layer) : layer_(layer) {}
  int layer_;

  friend struct boost::hana::accessors_impl<class cache>;
};

class cache : public layer_state {
 public:
  cache(int layer, std::vector<double> keys, std::optional<double> scale, int step)
      : layer_state(layer), keys_(std::move(keys)), scale_(scale), step_(step) {}
  int layer() const { return layer_; }
  const std::vector<double>& keys() const { return keys_; }
  int step() const { return step_; }
  static int instances;

 private:
  friend struct boost::hana::accessors_impl<cache>;
  std::vector<double> keys_;
  std::optional<double> scale_;
  aux<int> step_;
};

// No constructor takes its fields. The members are listed in another order than they are declared in, and one of them
// is not listed.
class counter {
 public:
  counter() = default;
  double total() const { return first_ + second_; }
  void note(std::string text) { note_ = std::move(text); }
  const std::string& note() const { return note_; }
  double first_ = 1;

 private:
  friend struct boost::hana::accessors_impl<counter>;
  std::string note_ = "new";
  double second_ = 2;
};
struct plain_counter {
  double first_, second_;
};

// A constructor takes what the fields are, and means something else.
class range {
 public:
  range() = default;
  range(double first, double size) : first_(first), last_(first + size) {}
  double last() const { return last_; }

 private:
  friend struct boost::hana::accessors_impl<range>;
  double first_ = 0, last_ = 0;
};

// --- Aux data by pointers to members. ---

class run {
 public:
  run(double l, int e, double r) : loss(l), epoch(e), rate(r) {}
  int at() const { return epoch; }

 private:
  friend struct boost::hana::accessors_impl<run>;
  double loss;
  int epoch;
  double rate;

 public:
  static constexpr auto tree_aux = espalier::fields<&run::epoch>;
};
struct foreign_run {
  double loss;
  int epoch;
  double rate;
};

class clock {
 protected:
  int tick = 0;
};
class timed : clock {
 public:
  timed(int t, double v) : value(v) { tick = t; }
  int at() const { return tick; }

 private:
  friend struct boost::hana::accessors_impl<timed>;
  double value;

 public:
  static constexpr auto tree_aux = espalier::fields<&timed::tick>;
};
struct plain_timed {
  aux<int> tick;
  double value;
};

// --- What is something else although it is adapted. ---

struct registered {
  BOOST_HANA_DEFINE_STRUCT(registered, (double, x), (double, y));
};
struct with_protocol {
  BOOST_HANA_DEFINE_STRUCT(with_protocol, (double, x), (double, y));
  auto tree_children() const { return std::tie(y); }
  static with_protocol tree_unflatten(std::tuple<>, double y) { return {0, y}; }
};
struct date {
  BOOST_HANA_DEFINE_STRUCT(date, (int, year), (int, day));
};

// Converts from everything, as an engine's array does.
struct array {
  double value = 0;
  template <class T> array(T from) : value(static_cast<double>(from)) {}
};
struct linear {
  BOOST_HANA_DEFINE_STRUCT(linear, (array, weight), (std::optional<array>, bias));
};

}  // namespace model

BOOST_HANA_ADAPT_STRUCT(model::cache, layer_, keys_, scale_, step_);
BOOST_HANA_ADAPT_STRUCT(model::counter, second_, first_);
BOOST_HANA_ADAPT_STRUCT(model::range, first_, last_);
BOOST_HANA_ADAPT_STRUCT(model::run, loss, epoch, rate);
BOOST_HANA_ADAPT_STRUCT(model::timed, tick, value);
BOOST_HANA_ADAPT_STRUCT(model::foreign_run, loss, epoch, rate);

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
constexpr auto twice = [](auto x) { return 2 * x; };

static_assert(reflectable<point> && reflectable<const cache> && !reflectable<layer_state> && !reflectable<std::string>);
static_assert(field_count_v<nothing> == 0 && field_count_v<point> == 2 && field_count_v<cache> == 4);
static_assert(std::is_same_v<field_t<cache, 2>, std::optional<double>> &&
              std::is_same_v<field_t<const cache, 0>, const int> && std::is_same_v<field_t<owner, 0>, const double>);

static_assert(structure_hash_v<point> == structure_hash_v<plain_point>);
static_assert(structure_hash_v<polymorphic> == structure_hash_v<plain_point>);
static_assert(structure_hash_v<cache> == structure_hash_v<plain_cache>);
static_assert(structure_hash_v<counter> == structure_hash_v<plain_counter>);
static_assert(structure_hash_v<run> == structure_hash_v<plain_run>);
static_assert(structure_hash_v<foreign_run> == structure_hash_v<plain_run>);
static_assert(structure_hash_v<range> != structure_hash_v<point>);

TEST(hana_fields, have_the_names_and_the_order_of_declaration) {
  EXPECT_EQ(names_of<point>(), (strings{"x", "y"}));
  EXPECT_EQ(names_of<cache>(), (strings{"layer_", "keys_", "scale_", "step_"}));
  EXPECT_EQ(names_of<counter>(), (strings{"first_", "second_"}));
  EXPECT_EQ(names_of<box<int>>(), (strings{"value", "inner"}));
}

TEST(hana_fields, are_the_members_themselves) {
  point p{1, 2};
  reflect::with_fields(p, [&](double& x, double& y) {
    EXPECT_EQ(&x, &p.x);
    EXPECT_EQ(&y, &p.y);
  });
  const cache c(1, {2, 3}, {}, 4);
  reflect::with_fields(
      c, [&](const int&, const std::vector<double>& keys, auto&, const aux<int>&) { EXPECT_EQ(&keys, &c.keys()); });
}

TEST(hana_construction, is_by_braces_a_constructor_or_assignment) {
  static_assert(constructed_by<point> == construction::braces && constructed_by<cache> == construction::fields &&
                constructed_by<counter> == construction::default_and_assign &&
                constructed_by<polymorphic> == construction::default_and_assign);
  static_assert(construct<point>(same, 3.0, 4.0).y == 4);
  EXPECT_EQ(construct<cache>(same, 1, std::vector<double>{2}, std::optional<double>(), 3).layer(), 1);
  EXPECT_EQ(construct<counter>(same, 3.0, 4.0).total(), 7);
  EXPECT_EQ(construct<polymorphic>(same, 3.0, 4.0F).y, 4);
  EXPECT_EQ(*construct<owner>(same, 1.0, std::make_unique<double>(2)).owned, 2);
  construct<nothing>(same);
}

TEST(hana_construction, can_be_chosen) { EXPECT_EQ(construct<range>(same, 3.0, 5.0).last(), 5); }

TEST(hana_construction, leaves_what_is_not_listed_to_the_constructor) {
  counter c;
  c.note("seen");
  EXPECT_EQ(tree_map(twice, c).note(), "new");
  tree_visit_update(twice, c);
  EXPECT_EQ(c.note(), "seen");
  EXPECT_EQ(c.total(), 6);
}

TEST(hana_tree, is_that_of_the_plain_struct) {
  const plain_cache plain{1, {2, 3}, 4.0, 7};
  const cache adapted(5, {6, 7}, 8.0, 7);
  EXPECT_TRUE(tree_structure(plain) == tree_structure(adapted));
  EXPECT_EQ(tree_structure(plain).hash(), tree_structure(adapted).hash());
  EXPECT_EQ(paths_of(adapted), (strings{".layer_", ".keys_[0]", ".keys_[1]", ".scale_"}));
  EXPECT_FALSE(tree_structure(adapted) == tree_structure(cache(5, {6, 7}, 8.0, 9)));
}

TEST(hana_tree, is_mapped_updated_and_rebuilt) {
  cache tree(1, {2, 3}, 4.0, 7);
  const cache mapped = tree_map(twice, tree);
  EXPECT_EQ(mapped.layer(), 2);
  EXPECT_EQ(mapped.keys(), (std::vector<double>{4, 6}));
  EXPECT_EQ(mapped.step(), 7);
  tree_visit_update(twice, tree);
  EXPECT_TRUE(tree_equal(tree, mapped));
  const auto [leaves, structure] = tree_flatten(mapped);
  EXPECT_TRUE(tree_equal(tree_unflatten(structure, leaves), mapped));
  const auto sum = tree_map([](auto a, auto b) { return a + b; }, tree, plain_cache{10, {10, 10}, 10.0, 7});
  EXPECT_EQ(sum.keys(), (std::vector<double>{14, 16}));
}

TEST(hana_tree, stands_anywhere_in_a_tree) {
  std::map<std::string, std::vector<box<point>>> tree;
  tree["a"].push_back({{1, 2}, {{{3, 4}, {}}}});
  EXPECT_EQ(paths_of(tree), (strings{"['a'][0].value.x", "['a'][0].value.y", "['a'][0].inner[0].value.x",
                                     "['a'][0].inner[0].value.y"}));
  EXPECT_EQ(tree_leaves(tree_map(twice, tree)), (std::vector<double>{2, 4, 6, 8}));
  EXPECT_EQ(paths_of(nothing()), strings());
  EXPECT_EQ(paths_of(linear{1, array(2)}), (strings{".weight", ".bias"}));
}

TEST(hana_aux, is_named_by_pointers_to_members_private_ones_too) {
  const run tree(1, 2, 3);
  EXPECT_EQ(paths_of(tree), (strings{".loss", ".rate"}));
  EXPECT_TRUE(tree_structure(tree) == tree_structure(plain_run{0, 2, 0}));
  EXPECT_TRUE(tree_structure(tree) == tree_structure(foreign_run{0, 2, 0}));
  EXPECT_EQ(tree_map(twice, tree).at(), 2);
}

TEST(hana_aux, can_be_a_member_of_a_private_base) {
  const timed tree(1, 2);
  EXPECT_EQ(paths_of(tree), (strings{".value"}));
  EXPECT_TRUE(tree_structure(tree) == tree_structure(plain_timed{1, 0}));
  EXPECT_EQ(tree_map(twice, tree).at(), 1);
}

TEST(hana_class, that_is_registered_or_a_leaf_stays_so) {
  EXPECT_EQ(tree_leaves(registered{1, 2}), (std::array{2.0, 1.0}));
  EXPECT_EQ(tree_leaves(with_protocol{1, 2}), (std::array{2.0}));
  EXPECT_EQ(paths_of(std::pair(date{1, 2}, 3)), (strings{"[0]", "[1]"}));
}

// As many members as Hana's macros take.
#define FIVE(x) (int, x##0), (int, x##1), (int, x##2), (int, x##3), (int, x##4)
#define TWENTY_FIVE(x) FIVE(x##0), FIVE(x##1), FIVE(x##2), FIVE(x##3), FIVE(x##4)
struct wide {
  BOOST_HANA_DEFINE_STRUCT(wide, TWENTY_FIVE(a), TWENTY_FIVE(b), (int, c0), (int, c1), (int, c2), (int, c3));
};
TEST(hana_fields, are_at_most_54) {
  static_assert(field_count_v<wide> == 54 && field_names_v<wide>[53] == "c3");
  wide tree{};
  int next = 0;
  reflect::with_fields(tree, [&](auto&... field) { ((field = next++), ...); });
  EXPECT_EQ(tree.a13, 8);
  EXPECT_EQ(tree_map(twice, tree).c3, 106);
}

}  // namespace
