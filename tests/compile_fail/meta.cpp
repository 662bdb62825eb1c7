// What the std::meta back end refuses: for compilers with C++26 reflection.
#include <espalier/map.hpp>
#include <espalier/mapped.hpp>
#include <espalier/visit.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

using espalier::reflect::field_count_v;
using espalier::reflect::field_names_v;

struct holds_reference {
  int& a;
  double b;
};

struct holds_unnamed_union {
  union {
    int a;
    float b;
  };
  int c;
};

struct plain {
  int a;
};
class[[= espalier::tree]] virtually_derived : virtual plain {
  int b_ = 0;
};

class closed {
 public:
  int read() const { return a_; }

 private:
  int a_ = 0;
};
struct derived_from_closed : closed {
  int b;
};

struct hides_a : plain {
  double a;
};

struct renamed_alike {
  [[= espalier::name("b")]] int a;
  int b;
};

struct holds_bit_field {
  double a;
  int b : 3;
};

struct has_annotated_leaf {
  [[= espalier::leaf]] plain a;
  int b;
};

// Neither a constructor from the field nor a default constructor.
class[[= espalier::tree]] unbuildable {
 public:
  unbuildable(int a, int b) : a_(a + b) {}

 private:
  int a_;
};

struct no_default {
  explicit no_default(double v) : value(v) {}
  double value;
};
template <> inline constexpr bool espalier::is_leaf_type<no_default> = true;
struct taps {
  no_default all[2];
};

struct registered {
  double a;
  auto tree_children() const { return std::tie(a); }
  static registered tree_unflatten(std::tuple<>, double a) { return {a}; }
};
struct holds_registered {
  registered only;
};

struct holds_all {
  std::vector<holds_unnamed_union> unions;
  std::map<std::string, holds_bit_field> bits;
};
struct holds_leaf_field {
  std::vector<has_annotated_leaf> leaves;
};
struct holds_bits {
  std::pair<int, std::vector<holds_bit_field>> bits;
};

constexpr auto same = [](auto x) { return x; };

#ifdef CASE_reference
static_assert(field_count_v<holds_reference> == 2);
#endif
#ifdef CASE_unnamed_union
static_assert(field_count_v<holds_unnamed_union> == 2);
#endif
#ifdef CASE_virtual_base
static_assert(field_count_v<virtually_derived> == 2);
#endif
#ifdef CASE_closed_base
static_assert(field_count_v<derived_from_closed> == 2);
#endif
#ifdef CASE_name_of_base
static_assert(field_names_v<hides_a>.size() == 2);
#endif
#ifdef CASE_same_names
static_assert(field_names_v<renamed_alike>.size() == 2);
#endif
#ifdef CASE_same_names_deep
struct holds_renamed {
  std::vector<renamed_alike> all;
};
void visit(const holds_renamed& tree) { espalier::tree_visit([](auto) {}, tree); }
#endif
#ifdef CASE_no_identifier
struct misnamed {
  [[= espalier::name("layers.0")]] int a;
};
#endif
#ifdef CASE_bit_field
void visit(const holds_bit_field& tree) {
  espalier::tree_visit([](auto) {}, tree);
}
#endif
#ifdef CASE_unnamed_union_deep
void visit(const holds_all& tree) {
  espalier::tree_visit([](auto) {}, tree);
}
#endif
#ifdef CASE_bit_field_deep
void visit(const holds_bits& tree) {
  espalier::tree_visit([](auto) {}, tree);
}
#endif
#ifdef CASE_leaf_field_deep
void visit(const holds_leaf_field& tree) {
  espalier::tree_visit([](auto) {}, tree);
}
#endif
#ifdef CASE_leaf_field
void visit(const has_annotated_leaf& tree) {
  espalier::tree_visit([](auto) {}, tree);
}
#endif
#ifdef CASE_unbuildable
unbuildable map(const unbuildable& tree) { return espalier::tree_map(same, tree); }
#endif
#ifdef CASE_c_array_without_default
taps map(const taps& tree) { return espalier::tree_map(same, tree); }
#endif
#ifdef CASE_mapped_registered
espalier::mapped_t<holds_registered, bool> mask;
#endif
#ifdef CASE_mapped_path
bool read(espalier::mapped_t<plain, bool>& mask) {
  using namespace espalier::literals;
  return mask["nope"_path];
}
#endif
