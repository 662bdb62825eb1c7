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
