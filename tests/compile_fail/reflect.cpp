// Structs whose fields cannot be read, through espalier/reflect/fields.hpp.
#include <espalier/reflect/fields.hpp>

using espalier::reflect::field_count_v;

struct plain {
  int a;
  double b;
};
static_assert(field_count_v<plain> == 2);

struct holds_c_array {
  int a[3];
  double b;
};

struct holds_reference {
  int& a;
  double b;
};

struct derived : plain {
  int c;
};

struct holds_array_of_one {
  int a[1];
};

struct reference_last {
  double a;
  const plain& b;
};

struct holds_bit_field {
  int a : 3;
  int b : 5;
};

struct holds_unnamed_union {
  union {
    int a;
    float b;
  };
  int c;
};

struct empty_base {};
struct derived_from_empty : empty_base {
  int c;
};

struct takes_anything {
  template <class T> takes_anything(T);
};
struct holds_takes_anything {
  takes_anything a;
  int b;
};

#define TEN(x) x##0, x##1, x##2, x##3, x##4, x##5, x##6, x##7, x##8, x##9
#define HUNDRED(x) \
  TEN(x##0), TEN(x##1), TEN(x##2), TEN(x##3), TEN(x##4), TEN(x##5), TEN(x##6), TEN(x##7), TEN(x##8), TEN(x##9)
struct two_hundred {
  int HUNDRED(a), HUNDRED(b);
};
static_assert(field_count_v<two_hundred> == 200);
struct two_hundred_and_one {
  int HUNDRED(a), HUNDRED(b), last;
};

#ifdef CASE_two_hundred_and_one
static_assert(field_count_v<two_hundred_and_one> == 201);
#endif
#ifdef CASE_reference_last
static_assert(field_count_v<reference_last> == 2);
#endif
#ifdef CASE_c_array
static_assert(field_count_v<holds_c_array> == 2);
#endif
#ifdef CASE_reference
static_assert(field_count_v<holds_reference> == 2);
#endif
#ifdef CASE_base
static_assert(field_count_v<derived> == 3);
#endif
#ifdef CASE_array_of_one
static_assert(field_count_v<holds_array_of_one> == 1);
#endif
#ifdef CASE_bit_field
static_assert(field_count_v<holds_bit_field> == 2);
#endif
#ifdef CASE_unnamed_union
static_assert(field_count_v<holds_unnamed_union> == 2);
#endif
#ifdef CASE_empty_base
static_assert(field_count_v<derived_from_empty> == 1);
#endif
#ifdef CASE_takes_anything
static_assert(field_count_v<holds_takes_anything> == 2);
#endif
#ifdef CASE_construct_with_too_few
const auto made = espalier::reflect::construct<plain>([](int v) { return v; }, 1);
#endif
