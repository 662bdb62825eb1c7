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

#ifdef CASE_c_array
static_assert(field_count_v<holds_c_array> == 2);
#endif
#ifdef CASE_reference
static_assert(field_count_v<holds_reference> == 2);
#endif
#ifdef CASE_base
static_assert(field_count_v<derived> == 3);
#endif
