// Count, types, access and construction of the fields of aggregates. Expected counts are read off the
// definitions.

#include <espalier/reflect/fields.hpp>

#include <any>
#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace {

using espalier::reflect::construct;
using espalier::reflect::field_count_v;
using espalier::reflect::field_t;
using espalier::reflect::reflectable;
using espalier::reflect::with_fields;

// As mlx::core::array: an unconstrained explicit constructor whose default argument is a hard error for a
// type that is no number, a constructor from an initializer_list, and no default constructor.
template <class T> struct dtype_of {
  static_assert(std::is_arithmetic_v<T>, "a probe must not get here");
  operator int() const { return 0; }
};
struct array {
  template <class T> explicit array(T value, int = dtype_of<T>()) : data(static_cast<double>(value)) {}
  template <class T>
  array(std::initializer_list<T> values, int = dtype_of<T>()) : data(static_cast<double>(*values.begin())) {}
  double data;
};

struct immovable {
  explicit immovable(int v) : value(v) {}
  immovable(immovable&&) = delete;
  int value;
};
struct no_default {
  explicit no_default(int v) : value(v) {}
  int value;
};
struct explicit_default {
  explicit explicit_default() = default;
  int value = 0;
};
struct takes_anything {
  template <class T> takes_anything(T&&) {}  // NOLINT
};

struct nothing {};
struct inner {
  double a;
  int b;
};
union either {
  int i;
  float f;
};

template <class... A> struct fields_are {
  template <class T, std::size_t... I> static constexpr bool check(std::index_sequence<I...>) {
    return (std::is_same_v<field_t<T, I>, A> && ...);
  }
  template <class T>
  static constexpr bool of = field_count_v<T> == sizeof...(A) && check<T>(std::make_index_sequence<sizeof...(A)>());
};

// Weights that may be missing (CASES 26).
struct linear {
  array weight;
  std::optional<array> bias;
};
static_assert(fields_are<array, std::optional<array>>::of<linear>);
struct optionals {
  std::optional<array> a;
  std::optional<std::any> b;
  std::optional<takes_anything> c;
  std::optional<std::optional<array>> d;
  std::optional<linear> e;
};
static_assert(field_count_v<optionals> == 5);
struct holders_of_arrays {
  std::pair<int, array> a;
  std::tuple<array> b;
  std::variant<std::monostate, array> c;
  std::vector<array> d;
  std::map<std::string, array> e;
  std::array<array, 2> f;
};
static_assert(field_count_v<holders_of_arrays> == 6);

struct owners {
  std::vector<std::unique_ptr<array>> a;
  std::unique_ptr<owners> b;
  std::vector<owners> c;
  std::map<std::string, owners> d;
  std::shared_ptr<owners> e;
};
static_assert(field_count_v<owners> == 5);
struct only_children {
  std::vector<only_children> children;
};
static_assert(fields_are<std::vector<only_children>>::of<only_children>);

struct erased {
  std::any a;
  std::function<void()> b;
  std::function<int(int)> c;
  void (*d)(int);
  int inner::* e;
  erased* f;
};
static_assert(field_count_v<erased> == 6);

// An aggregate inside is one field, not its own fields.
struct nested {
  double a;
  inner b;
  std::array<int, 3> c;
};
static_assert(fields_are<double, inner, std::array<int, 3>>::of<nested>);
struct nested_first {
  inner a;
  std::array<std::array<inner, 2>, 2> b;
  nested c;
};
static_assert(field_count_v<nested_first> == 3);

struct empties {
  nothing a;
  nothing b;
  int c;
  [[no_unique_address]] nothing d;
};
static_assert(field_count_v<empties> == 4);
struct only_empty {
  [[no_unique_address]] nothing a;
};
static_assert(field_count_v<only_empty> == 1);
static_assert(field_count_v<nothing> == 0);
struct nothing_derived : nothing {};
static_assert(field_count_v<nothing_derived> == 0);

// No default constructor, anywhere (CASES 29).
struct without_default_last {
  int a;
  no_default b;
};
struct without_default_first {
  no_default a;
  int b;
  double c;
};
struct without_default_all {
  no_default a, b, c, d, e, f, g, h;
};
struct explicit_default_inside {
  int a;
  explicit_default b;
  int c;
};
static_assert(field_count_v<without_default_last> == 2);
static_assert(field_count_v<without_default_first> == 3);
static_assert(field_count_v<without_default_all> == 8);
static_assert(field_count_v<explicit_default_inside> == 3);

struct unmovable {
  std::mutex a;
  std::atomic<int> b;
  immovable c;
  std::unique_ptr<int> d;
};
static_assert(field_count_v<unmovable> == 4);

struct with_const {
  const double a;
  float b;
  const std::unique_ptr<int> c;
};
static_assert(fields_are<const double, float, const std::unique_ptr<int>>::of<with_const>);
static_assert(fields_are<const double, const float, const std::unique_ptr<int>>::of<const with_const>);

struct with_initialisers {
  int a = 1;
  no_default b = no_default(2);
  std::optional<array> c = {};
  static int not_a_field() { return 3; }
  static constexpr int also_none = 3;
  int sum() const { return a + also_none; }
};
static_assert(field_count_v<with_initialisers> == 3);

// A named union is a value like another; what it means is for whoever registers it.
struct with_named_union {
  int a;
  either b;
};
static_assert(fields_are<int, either>::of<with_named_union>);

struct small_fields {
  bool a, b, c, d, e, f, g, h, i, j, k;
};
static_assert(field_count_v<small_fields> == 11);
struct one_large_field {
  std::array<double, 10'000> a;
  char b;
};
static_assert(field_count_v<one_large_field> == 2);

template <class T, int N> struct templated {
  T a;
  std::array<T, N> b;
  std::vector<templated> c;
};
static_assert(fields_are<float, std::array<float, 3>, std::vector<templated<float, 3>>>::of<templated<float, 3>>);

// Two hundred fields, in twenty rows of ten.
struct wide {
  double a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9;
  double c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, d0, d1, d2, d3, d4, d5, d6, d7, d8, d9;
  double e0, e1, e2, e3, e4, e5, e6, e7, e8, e9, f0, f1, f2, f3, f4, f5, f6, f7, f8, f9;
  double g0, g1, g2, g3, g4, g5, g6, g7, g8, g9, h0, h1, h2, h3, h4, h5, h6, h7, h8, h9;
  double i0, i1, i2, i3, i4, i5, i6, i7, i8, i9, j0, j1, j2, j3, j4, j5, j6, j7, j8, j9;
  double k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, l0, l1, l2, l3, l4, l5, l6, l7, l8, l9;
  double m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, n0, n1, n2, n3, n4, n5, n6, n7, n8, n9;
  double o0, o1, o2, o3, o4, o5, o6, o7, o8, o9, p0, p1, p2, p3, p4, p5, p6, p7, p8, p9;
  double q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, r0, r1, r2, r3, r4, r5, r6, r7, r8, r9;
  double s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, t0, t1, t2, t3, t4, t5, t6, t7, t8, t9;
};
static_assert(field_count_v<wide> == 200);

// reflectable answers for any type at all.
struct incomplete;
struct with_constructor {
  explicit with_constructor(int);
};
struct with_private {
  int read() const { return a; }

 private:
  int a = 0;
};
struct with_virtual {
  virtual ~with_virtual() = default;
};
struct with_c_array {
  int a[3];
};
struct with_base : inner {
  int c;
};
static_assert(reflectable<linear> && reflectable<const linear> && reflectable<nothing>);
static_assert(reflectable<with_c_array> && reflectable<with_base>, "so that our sentence says what is wrong");
static_assert(!reflectable<int> && !reflectable<void> && !reflectable<int[3]> && !reflectable<linear[2]>);
static_assert(!reflectable<linear&> && !reflectable<linear*> && !reflectable<void()> && !reflectable<incomplete>);
static_assert(!reflectable<either> && !reflectable<std::string> && !reflectable<std::vector<int>>);
static_assert(!reflectable<with_constructor> && !reflectable<with_private> && !reflectable<with_virtual>);
static_assert(!reflectable<decltype([] {})> && !reflectable<decltype([x = 1] { return x; })>);

struct point {
  double x, y;
};
constexpr point origin{1, 2};
static_assert(with_fields(origin, [](auto& x, auto& y) {
                return std::is_const_v<std::remove_reference_t<decltype(x)>> ? x + y : 0;
              }) == 3);
static_assert(construct<point>([](auto v) { return v; }, 3.0, 4.0).y == 4);
constexpr nothing empty;
static_assert(with_fields(empty, [](auto&... fields) { return sizeof...(fields); }) == 0);

TEST(fields, are_passed_by_reference_in_order_of_declaration) {
  nested value{1, {2, 3}, {4, 5, 6}};
  with_fields(value, [&](double& a, inner& b, std::array<int, 3>& c) {
    EXPECT_EQ(&a, &value.a);
    EXPECT_EQ(&b, &value.b);
    EXPECT_EQ(&c, &value.c);
    b.b = 7;
  });
  EXPECT_EQ(value.b.b, 7);
}

TEST(fields, of_a_const_value_are_const) {
  const with_const value{1, 2, nullptr};
  with_fields(value, [&](auto& a, auto& b, auto& c) {
    static_assert(std::is_same_v<decltype(a), const double&>);
    static_assert(std::is_same_v<decltype(b), const float&>);
    static_assert(std::is_same_v<decltype(c), const std::unique_ptr<int>&>);
    EXPECT_EQ(&b, &value.b);
  });
}

TEST(fields, pass_on_what_the_function_gives_back_with_its_reference) {
  point value{1, 2};
  double& y = with_fields(value, [](auto&, auto& second) -> double& { return second; });
  EXPECT_EQ(&y, &value.y);
}

TEST(fields, of_a_local_type_are_found) {
  struct local {
    array a;
    std::optional<array> b;
    int c;
  };
  local value{array(1.0), array(2.0), 3};
  EXPECT_EQ(field_count_v<local>, 3u);
  EXPECT_EQ(with_fields(value, [](array& a, std::optional<array>& b, int& c) { return a.data + b->data + c; }), 6);
}

TEST(fields, are_all_two_hundred_there) {
  wide value{};
  double next = 0;
  with_fields(value, [&](auto&... fields) { ((fields = next++), ...); });
  EXPECT_EQ(value.a0, 0);
  EXPECT_EQ(value.b0, 10);
  EXPECT_EQ(value.k7, 107);
  EXPECT_EQ(value.t9, 199);
}

TEST(construct, builds_in_place_without_move_or_default_constructor) {
  struct pinned {
    immovable a;
    immovable b;
  };
  pinned value = construct<pinned>([](int v) { return immovable(v); }, 1, 2);
  EXPECT_EQ(value.a.value, 1);
  EXPECT_EQ(value.b.value, 2);
}

TEST(construct, calls_the_function_from_left_to_right) {
  std::vector<int> order;
  const auto value = construct<nested>(
      [&](auto v) {
        order.push_back(static_cast<int>(order.size()));
        if constexpr (std::is_same_v<decltype(v), double>)
          EXPECT_EQ(order.size(), 1u);
        else if constexpr (std::is_same_v<decltype(v), inner>)
          EXPECT_EQ(order.size(), 2u);
        else
          EXPECT_EQ(order.size(), 3u);
        return v;
      },
      1.0, inner{2, 3}, std::array<int, 3>{4, 5, 6});
  EXPECT_EQ(value.b.b, 3);
  EXPECT_EQ(value.c[2], 6);
}

TEST(construct, rebuilds_structs_with_const_and_move_only_fields) {
  with_const value{1, 2, std::make_unique<int>(3)};
  with_const copy = with_fields(value, [](auto&... fields) {
    return construct<with_const>(
        [](auto& field) -> std::remove_cvref_t<decltype(field)> {
          if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(field)>>)
            return field;
          else
            return std::make_unique<int>(*field);
        },
        fields...);
  });
  EXPECT_EQ(copy.a, 1);
  EXPECT_EQ(*copy.c, 3);
  EXPECT_NE(copy.c, value.c);
}

}  // namespace
