// Aux data on plain structs, in its three spellings.

#include <espalier/equal.hpp>
#include <espalier/flatten.hpp>
#include <espalier/map.hpp>
#include <espalier/visit.hpp>
#include <espalier/visit_update.hpp>
#include <optional>
#include <set>

#include "corpus.hpp"

namespace {

using namespace espalier;

TEST(aux, converts_to_and_from_its_value) {
  aux<int> step = 3;
  const int read = step;
  EXPECT_EQ(read, 3);
  int& writable = step;
  writable = 4;
  EXPECT_EQ(*step, 4);
  step = 5;
  EXPECT_EQ(step.value, 5);
  const aux<std::string> name(std::string("text"));
  EXPECT_EQ(name->size(), 4u);
}

TEST(aux, compares_with_its_value_and_with_what_its_value_compares_with) {
  const aux<int> step = 3;
  EXPECT_TRUE(step == 3);
  EXPECT_TRUE(3 == step);
  EXPECT_TRUE(step != 4L);
  EXPECT_TRUE(step == aux<int>(3));
  EXPECT_TRUE(step == aux<long>(3));
  EXPECT_TRUE(step < 4);
  EXPECT_TRUE(step + 1 == 4);
  EXPECT_TRUE(aux<std::string>(std::string("a")) == "a");
}

struct by_type {
  double keys;
  aux<int> step;
  double values;
  aux<std::string> layout;
};
struct by_list {
  double keys;
  int step;
  double values;
  std::string layout;
  static constexpr auto tree_aux = fields<&by_list::step, &by_list::layout>;
};
struct by_trait {
  double keys;
  int step;
  double values;
  std::string layout;
};
// Both spellings in one struct.
struct by_both {
  double keys;
  aux<int> step;
  double values;
  std::string layout;
  static constexpr auto tree_aux = fields<&by_both::layout>;
};

}  // namespace

template <> inline constexpr auto espalier::aux_fields<by_trait> = espalier::fields<&by_trait::step, &by_trait::layout>;

namespace {

template <class T> struct spellings : testing::Test {
  static T make(double a, int step, double b, const char* layout) { return T{a, {step}, b, {std::string(layout)}}; }
};
using all_spellings = testing::Types<by_type, by_list, by_trait, by_both>;
TYPED_TEST_SUITE(spellings, all_spellings);

TYPED_TEST(spellings, have_one_structure) {
  const TypeParam tree = this->make(1, 3, 2, "nhwc");
  const by_list other{5, 3, 6, "nhwc"};
  static_assert(structure_hash_v<TypeParam> == structure_hash_v<by_list>);
  EXPECT_TRUE(tree_structure(tree) == tree_structure(other));
  EXPECT_EQ(tree_structure(tree).hash(), tree_structure(other).hash());
  EXPECT_EQ(tree_structure(tree).encoding(), tree_structure(other).encoding());
  EXPECT_EQ(tree_structure(tree).to_string(), "{.keys: *, .values: *, .step=3, .layout='nhwc'}");
}

TYPED_TEST(spellings, aux_data_is_no_leaf) {
  const TypeParam tree = this->make(1, 3, 2, "nhwc");
  EXPECT_EQ(tree_leaves(tree), (std::vector<double>{1, 2}));
  const auto paths = tree_structure(tree).paths();
  EXPECT_EQ(paths[0].to_string(), ".keys");
  EXPECT_EQ(paths[1].to_string(), ".values");
}

TYPED_TEST(spellings, aux_data_survives_maps_updates_and_round_trips) {
  TypeParam tree = this->make(1, 3, 2, "nhwc");
  const TypeParam mapped = tree_map([](double x) { return -x; }, tree);
  EXPECT_EQ(std::string(mapped.layout), "nhwc");
  EXPECT_EQ(int(mapped.step), 3);
  EXPECT_EQ(mapped.values, -2);
  auto [leaves, structure] = tree_flatten(mapped);
  const TypeParam again = tree_unflatten(structure, leaves);
  EXPECT_EQ(std::string(again.layout), "nhwc");
  tree_visit_update([](double x) { return 2 * x; }, tree);
  EXPECT_EQ(int(tree.step), 3);
}

TYPED_TEST(spellings, stand_beside_one_another) {
  const TypeParam sum =
      tree_map([](double a, double b) { return a + b; }, this->make(1, 3, 2, "nhwc"), by_trait{10, 3, 20, "nhwc"});
  EXPECT_EQ(sum.values, 22);
  EXPECT_THROW(
      (void)tree_map([](double a, double) { return a; }, this->make(1, 3, 2, "nhwc"), by_trait{10, 4, 20, "nhwc"}),
      structure_error);
}

TYPED_TEST(spellings, different_aux_data_is_different_structure) {
  const TypeParam tree = this->make(1, 3, 2, "nhwc");
  EXPECT_FALSE(tree_structure(tree) == tree_structure(this->make(1, 4, 2, "nhwc")));
  EXPECT_FALSE(tree_equal(tree, this->make(1, 3, 2, "nchw")));
  EXPECT_TRUE(tree_equal(tree, this->make(1, 3, 2, "nhwc")));
}

struct settings {
  std::vector<int> sizes;
  std::optional<float> rate;
  std::map<std::string, bool> flags;
  bool operator==(const settings&) const = default;
};
struct configured {
  std::vector<double> weights;
  aux<settings> config;
};

TEST(aux, aggregates_and_containers_are_aux_data_by_value) {
  const configured a{{1}, settings{{1, 2}, 0.5f, {{"x", true}}}};
  configured b = a;
  EXPECT_TRUE(tree_structure(a) == tree_structure(b));
  b.config->flags["x"] = false;
  EXPECT_FALSE(tree_structure(a) == tree_structure(b));
  EXPECT_NE(tree_structure(a).hash(), tree_structure(b).hash());
  EXPECT_TRUE(*tree_map([](double x) { return x; }, a).config == *a.config);
}

// Nothing but aux data.
struct only_aux {
  aux<int> a;
};
TEST(aux, a_struct_of_nothing_but_aux_data_has_no_leaves) {
  const std::vector<only_aux> tree{{1}, {2}};
  EXPECT_EQ(tree_structure(tree).num_leaves(), 0u);
  EXPECT_FALSE(tree_structure(tree) == tree_structure(std::vector<only_aux>{{1}, {3}}));
}

// Two fields of one type, listed by address: the right one.
struct alike {
  int a, b, c;
  static constexpr auto tree_aux = fields<&alike::b>;
};
TEST(aux, the_listed_field_is_the_one) { EXPECT_EQ(tree_leaves(alike{1, 2, 3}), (std::vector{1, 3})); }

// An empty member shares the address of the listed one.
struct marker {};
struct beside_an_empty_member {
  [[no_unique_address]] marker empty;
  int a;
  double b;
  static constexpr auto tree_aux = fields<&beside_an_empty_member::a>;
};
TEST(aux, an_empty_member_at_the_address_of_the_listed_field_is_not_it) {
  EXPECT_EQ(tree_leaves(beside_an_empty_member{{}, 1, 2}), (std::vector{2.0}));
  EXPECT_EQ(tree_structure(beside_an_empty_member{{}, 1, 2}).to_string(), "{.empty: {}, .b: *, .a=1}");
}

// A user's own encoder makes a class aux data.
class opaque {
 public:
  explicit opaque(int value) : value_(value) {}
  int value() const { return value_; }

 private:
  int value_;
};

}  // namespace

template <> struct espalier::value_encoder<opaque> {
  static void encode(auto& sink, const opaque& o) { espalier::encode(sink, o.value()); }
};

namespace {

struct with_opaque {
  double x;
  opaque o;
  static constexpr auto tree_aux = fields<&with_opaque::o>;
};
TEST(aux, a_users_encoder_is_its_equality) {
  EXPECT_TRUE(tree_structure(with_opaque{1, opaque(3)}) == tree_structure(with_opaque{2, opaque(3)}));
  EXPECT_FALSE(tree_structure(with_opaque{1, opaque(3)}) == tree_structure(with_opaque{1, opaque(4)}));
}

}  // namespace
