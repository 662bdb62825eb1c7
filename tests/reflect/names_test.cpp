// The names of fields, which are read off the definitions.

#include <espalier/reflect/names.hpp>

#include <any>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace named {

struct nothing {};
struct point {
  double x, y;
};
template <class T, auto N> struct templated {
  T first_value;
  point second;
};
struct refers {
  const char* text;
  int point::* member;
};

}  // namespace named

namespace {

using espalier::reflect::field_names_v;
using names = std::vector<std::string_view>;

template <class T> names of() { return {field_names_v<T>.begin(), field_names_v<T>.end()}; }

struct no_default {
  explicit no_default(int) {}
};
struct node {
  named::nothing empty;
  [[no_unique_address]] named::nothing also_empty;
  const int number;
  std::optional<no_default> maybe;
  std::vector<node> children;
  std::unique_ptr<node> next;
  std::map<std::string, node> by_name;
  std::any anything;
  std::mutex lock;
  no_default last;
};

struct awkward {
  int _;
  int __a1;
  int value, nowhere_object, to;
  int X9_;
  named::point operator_;
};

static_assert(field_names_v<named::point>[0] == "x" && field_names_v<named::point>[1] == "y");
static_assert(field_names_v<named::nothing>.empty());
static_assert(field_names_v<const named::point> == field_names_v<named::point>);

TEST(names, are_those_of_the_definition) {
  EXPECT_EQ(of<named::point>(), (names{"x", "y"}));
  EXPECT_EQ(of<named::refers>(), (names{"text", "member"}));
  EXPECT_EQ(of<node>(), (names{"empty", "also_empty", "number", "maybe", "children", "next", "by_name", "anything",
                               "lock", "last"}));
  EXPECT_EQ(of<awkward>(), (names{"_", "__a1", "value", "nowhere_object", "to", "X9_", "operator_"}));
}

TEST(names, do_not_depend_on_how_the_type_is_spelled) {
  struct local {
    int inside;
  };
  auto closure = [](int& a) { return a; };
  const names expected{"first_value", "second"};
  EXPECT_EQ(of<local>(), names{"inside"});
  EXPECT_EQ((of<named::templated<local, 3>>()), expected);
  EXPECT_EQ((of<named::templated<decltype(closure), 'x'>>()), expected);
  EXPECT_EQ((of<named::templated<char, '&'>>()), expected);
  EXPECT_EQ((of<named::templated<char, ')'>>()), expected);
  EXPECT_EQ((of<named::templated<int (*)(double&, named::point&&), &named::point::x>>()), expected);
  EXPECT_EQ((of<named::templated<std::map<std::string, std::vector<local>>, true>>()), expected);
  EXPECT_EQ((of<named::templated<named::templated<named::templated<int, 1>, 2>, 3>>()), expected);
}

TEST(names, of_a_local_type_inside_a_template_are_found) {
  auto check = []<class T>(T value) {
    struct inside {
      T held;
      int count;
    };
    EXPECT_EQ(of<inside>(), (names{"held", "count"}));
    return inside{value, 1}.count;
  };
  EXPECT_EQ(check(1.0), 1);
  EXPECT_EQ(check(std::string("a")), 1);
}

struct forty {
  int a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9;
  int c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, d0, d1, d2, d3, d4, d5, d6, d7, d8, d9;
};

TEST(names, are_found_for_many_fields) {
  const names all = of<forty>();
  for (std::size_t i = 0; i < 40; ++i) {
    const std::string expected{"abcd"[i / 10], "0123456789"[i % 10]};
    EXPECT_EQ(all[i], expected);
  }
}

}  // namespace
