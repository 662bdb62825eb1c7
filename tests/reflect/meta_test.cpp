// The std::meta back end, on what no other reads: bases, private members, C arrays, bit-fields, anonymous structs, a
// thousand fields, annotations. For compilers with C++26 reflection.

#include <espalier/reflect/fields.hpp>
#include <espalier/reflect/names.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace espalier::reflect;
using names = std::vector<std::string_view>;

template <class T> names names_of() { return {field_names_v<T>.begin(), field_names_v<T>.end()}; }

struct point {
  double x, y;
};

// --- Bases. ---

struct tag {};
struct named {
  std::string label;
};
struct placed : tag, named, point {
  int z;
};
struct deeper : placed {
  const float w;
  std::unique_ptr<int> owned;
};
static_assert(field_count_v<placed> == 4 && field_count_v<deeper> == 6);
static_assert(std::is_same_v<field_t<deeper, 0>, std::string> && std::is_same_v<field_t<deeper, 1>, double> &&
              std::is_same_v<field_t<deeper, 3>, int> && std::is_same_v<field_t<deeper, 4>, const float> &&
              std::is_same_v<field_t<const deeper, 3>, const int>);

TEST(bases, come_first_and_in_their_order) {
  EXPECT_EQ(names_of<placed>(), (names{"label", "x", "y", "z"}));
  EXPECT_EQ(names_of<deeper>(), (names{"label", "x", "y", "z", "w", "owned"}));
  placed value{{}, {"a"}, {1, 2}, 3};
  with_fields(value, [&](std::string& label, double& x, double& y, int& z) {
    EXPECT_EQ(&label, &value.label);
    EXPECT_EQ(&x, &value.x);
    EXPECT_EQ(&y, &value.y);
    EXPECT_EQ(&z, &value.z);
  });
}

TEST(bases, are_made_from_their_share_of_the_fields_from_left_to_right) {
  std::vector<std::string> order;
  const auto make = [&]<class V>(V&& v) -> std::remove_cvref_t<V> {
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<V>>) order.push_back(std::to_string(static_cast<int>(v)));
    return std::forward<V>(v);
  };
  const auto made = construct<deeper>(make, std::string("a"), 1.0, 2.0, 3, 4.0F, std::make_unique<int>(5));
  EXPECT_EQ(made.label, "a");
  EXPECT_EQ(made.y, 2);
  EXPECT_EQ(made.z, 3);
  EXPECT_EQ(made.w, 4);
  EXPECT_EQ(*made.owned, 5);
  EXPECT_EQ(order, (std::vector<std::string>{"1", "2", "3", "4"}));
}

// --- Classes that opted in. ---

class[[= espalier::tree]] cache {
 public:
  cache(std::vector<double> keys, std::optional<double> scale) : keys_(std::move(keys)), scale_(scale) {}
  const std::vector<double>& keys() const { return keys_; }
  std::optional<double> scale() const { return scale_; }
  static int instances;

 private:
  std::vector<double> keys_;
  [[= espalier::name("scale")]] std::optional<double> scale_;
};
static_assert(reflectable<cache> && constructed_by<cache> == construction::fields);

class[[= espalier::tree]] counter {
 public:
  int total() const { return first_ + second_; }

 private:
  int first_ = 1;
  int second_ = 2;
};
static_assert(constructed_by<counter> == construction::default_and_assign);

template <class T> class[[= espalier::tree]] boxed {
 public:
  explicit boxed(T value) : value_(std::move(value)) {}
  virtual ~boxed() = default;
  const T& get() const { return value_; }

 protected:
  T value_;
};

// The base opted in for itself; inheritance may be private.
class[[= espalier::tree]] labelled : boxed<int>, private named {
 public:
  labelled(int value, std::string text, bool on) : boxed<int>(value), named{std::move(text)}, on_(on) {}
  using boxed<int>::get;
  using named::label;
  bool on() const { return on_; }

 private:
  bool on_;
};

class closed {
  [[maybe_unused]] int hidden_ = 0;
};
static_assert(!reflectable<closed> && !reflectable<std::string> && !reflectable<std::vector<int>>);

class foreign {
 public:
  foreign() = default;
  int both() const { return a_ * 10 + b_; }

 private:
  int a_ = 0, b_ = 0;
};

// Its constructor takes what the fields are, and means something else.
class[[= espalier::tree]] range {
 public:
  range() = default;
  range(int first, int size) : first_(first), last_(first + size) {}
  int last() const { return last_; }

 private:
  int first_ = 0, last_ = 0;
};

}  // namespace

template <> inline constexpr bool espalier::reflect::opt_in<foreign> = true;
template <>
inline constexpr auto espalier::reflect::constructed_by<range> = espalier::reflect::construction::default_and_assign;

namespace {

constexpr auto same = []<class V>(V v) { return v; };

TEST(opted_in, private_fields_are_read_and_static_ones_are_not) {
  cache value({1, 2}, 3.0);
  EXPECT_EQ(names_of<cache>(), (names{"keys_", "scale"}));
  with_fields(value, [](std::vector<double>& keys, std::optional<double>& scale) {
    keys[0] = 7;
    scale.reset();
  });
  EXPECT_EQ(value.keys()[0], 7);
  EXPECT_FALSE(value.scale());
  with_fields(std::as_const(value),
              [](auto& keys, auto&) { static_assert(std::is_same_v<decltype(keys), const std::vector<double>&>); });
}

TEST(opted_in, an_object_is_made_by_the_constructor_that_takes_the_fields) {
  const auto made = construct<cache>(same, std::vector<double>{4, 5}, std::optional<double>(6));
  EXPECT_EQ(made.keys(), (std::vector<double>{4, 5}));
  EXPECT_EQ(made.scale(), 6);
}

TEST(opted_in, or_by_the_default_constructor_and_assignment) {
  EXPECT_EQ(construct<counter>(same, 3, 4).total(), 7);
  EXPECT_EQ(construct<foreign>(same, 1, 2).both(), 12);
}

TEST(opted_in, the_choice_of_constructor_can_be_overruled) { EXPECT_EQ(construct<range>(same, 3, 5).last(), 5); }

TEST(opted_in, templates_polymorphic_classes_and_private_bases_are_read) {
  EXPECT_EQ(construct<boxed<std::string>>(same, std::string("a")).get(), "a");
  static_assert(field_count_v<labelled> == 3);
  EXPECT_EQ(names_of<labelled>(), (names{"value_", "label", "on_"}));
  const auto made = construct<labelled>(same, 1, std::string("a"), true);
  EXPECT_EQ(made.get(), 1);
  EXPECT_EQ(made.label, "a");
  EXPECT_TRUE(with_fields(made, [](const int& value, const std::string&, const bool& on) { return on && value == 1; }));
}

// --- C arrays, bit-fields, anonymous structs. ---

struct filter {
  double taps[3];
  const char* source;
  int table[2][2];
};
static_assert(field_count_v<filter> == 3 && constructed_by<filter> == construction::default_and_assign);
static_assert(std::is_same_v<field_t<filter, 0>, double[3]> &&
              std::is_same_v<field_t<const filter, 0>, const double[3]>);
static_assert(std::is_same_v<field_value_t<field_t<filter, 2>>, std::array<std::array<int, 2>, 2>>);

TEST(c_arrays, are_fields_that_are_made_from_std_arrays) {
  filter value{{1, 2, 3}, "", {{1, 2}, {3, 4}}};
  with_fields(value, [&](double(&taps)[3], auto&...) { EXPECT_EQ(&taps, &value.taps); });
  const auto made =
      construct<filter>(same, std::array{4.0, 5.0, 6.0}, "b", std::array{std::array{1, 2}, std::array{3, 4}});
  EXPECT_EQ(made.taps[2], 6);
  EXPECT_EQ(made.table[1][0], 3);
}

struct packed {
  unsigned bits : 4;
  int sign : 2;
  int : 3;
  double scale;
};
static_assert(field_count_v<packed> == 3);

TEST(bit_fields, are_passed_as_constant_copies) {
  packed value{9, -1, 0.5};
  EXPECT_EQ(names_of<packed>(), (names{"bits", "sign", "scale"}));
  with_fields(value, [&](auto& bits, auto& sign, auto& scale) {
    static_assert(std::is_same_v<decltype(bits), const unsigned&> && std::is_same_v<decltype(scale), double&>);
    EXPECT_EQ(bits, 9U);
    EXPECT_EQ(sign, -1);
    EXPECT_EQ(&scale, &value.scale);
  });
  EXPECT_EQ(construct<packed>(same, 5U, 1, 2.0).bits, 5U);
}

struct packed_taps {
  double taps[2];
  unsigned bits : 4;
};

TEST(bit_fields, beside_c_arrays_are_assigned) {
  const auto made = construct<packed_taps>(same, std::array{1.0, 2.0}, 5U);
  EXPECT_EQ(made.taps[1], 2.0);
  EXPECT_EQ(made.bits, 5U);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
struct grouped {
  int a;
  struct {
    int b;
    struct {
      double c;
    };
  };
  int d;
};
#pragma GCC diagnostic pop
static_assert(field_count_v<grouped> == 4);

TEST(anonymous_structs, have_their_fields_in_the_struct_around_them) {
  EXPECT_EQ(names_of<grouped>(), (names{"a", "b", "c", "d"}));
  const auto made = construct<grouped>(same, 1, 2, 3.0, 4);
  EXPECT_EQ(made.b, 2);
  EXPECT_EQ(made.c, 3);
  EXPECT_EQ(made.d, 4);
  with_fields(made, [&](auto&, auto&, auto& c, auto&) { EXPECT_EQ(&c, &made.c); });
}

// --- Many fields. ---

#define TEN(x) x##0, x##1, x##2, x##3, x##4, x##5, x##6, x##7, x##8, x##9
#define HUNDRED(x) \
  TEN(x##0), TEN(x##1), TEN(x##2), TEN(x##3), TEN(x##4), TEN(x##5), TEN(x##6), TEN(x##7), TEN(x##8), TEN(x##9)
struct huge {
  int HUNDRED(a), HUNDRED(b), HUNDRED(c), HUNDRED(d), HUNDRED(e), HUNDRED(f), HUNDRED(g), HUNDRED(h), HUNDRED(i),
      HUNDRED(j);
  int last;
};
static_assert(field_count_v<huge> == 1001);

TEST(fields, are_all_thousand_there) {
  huge value{};
  int next = 0;
  with_fields(value, [&](auto&... field) { ((field = next++), ...); });
  EXPECT_EQ(value.a00, 0);
  EXPECT_EQ(value.c42, 242);
  EXPECT_EQ(value.last, 1000);
  EXPECT_EQ(field_names_v<huge>[242], "c42");
}

// --- Annotated names. ---

struct renamed {
  [[= espalier::name("weight")]] double w;
  [[= espalier::name("w")]] double bias;
};
static_assert(field_names_v<renamed>[0] == "weight" && field_names_v<renamed>[1] == "w");

}  // namespace
