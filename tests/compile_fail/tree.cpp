// Types that are no trees, and trees that do not fit.
#include <espalier/espalier.hpp>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

using namespace espalier;

struct point {
  double x, y;
};
struct layer {
  std::vector<point> points;
  std::shared_ptr<float> cache;
};
struct model {
  double rate;
  std::vector<layer> layers;
};
struct flags {
  std::vector<bool> on;
};
struct raw {
  std::tuple<int, point*> held;
};
struct view {
  std::map<std::string, std::string_view> names;
};
struct base {
  virtual ~base() = default;
};
struct owner {
  std::optional<std::unique_ptr<base>> held;
};
struct renamed {
  double x, z;
};
struct holds_point {
  int a;
  std::vector<point> p;
};
struct holds_renamed {
  int a;
  std::vector<renamed> p;
};
struct vectors {
  std::vector<double> a;
};
struct arrays {
  std::array<double, 2> a;
};
struct keyed {
  std::map<std::pair<int, int>, double> cells;
};
struct bad_children {
  double a, b;
};
template <> struct espalier::pytree_node<bad_children> {
  static auto children(auto&& b) { return std::tuple(b.a, b.b); }
  static bad_children unflatten(std::tuple<>, double a, double b) { return {a, b}; }
};
struct holds_bad_children {
  std::pair<int, std::vector<bad_children>> of;
};
struct inner_reference {
  double weight;
  double& bias;
};
struct outer_reference {
  std::map<std::string, std::vector<inner_reference>> blocks;
};
struct inner_c_array {
  int taps[3];
};
struct outer_c_array {
  std::optional<std::array<inner_c_array, 2>> filters;
};
struct derived : point {
  double z;
};
struct outer_derived {
  std::vector<derived> all;
};
struct const_list {
  const std::vector<double> values;
};

void use() {
  tree_visit([](auto&) {}, *std::make_unique<holds_point>());
#ifdef CASE_unknown_type
  tree_visit([](auto&) {}, model{});
#endif
#ifdef CASE_unknown_type_in_structure
  (void)structure_hash_v<model>;
#endif
#ifdef CASE_vector_bool
  (void)tree_leaves(flags{});
#endif
#ifdef CASE_raw_pointer
  (void)tree_structure(raw{});
#endif
#ifdef CASE_string_view
  (void)tree_structure(view{});
#endif
#ifdef CASE_polymorphic
  (void)tree_structure(owner{});
#endif
#ifdef CASE_function
  (void)tree_structure(std::tuple<int, std::function<void()>>());
#endif
#ifdef CASE_rest_names
  tree_visit([](auto&, const auto&) {}, *std::make_unique<holds_point>(), holds_renamed{});
#endif
#ifdef CASE_rest_kind
  (void)tree_map([](double a, double) { return a; }, vectors{}, arrays{});
#endif
#ifdef CASE_rest_shallower
  (void)tree_map([](double a, double) { return a; }, std::vector<point>(), std::vector<double>());
#endif
#ifdef CASE_unprintable_keys
  (void)tree_paths(keyed{});
#endif
#ifdef CASE_children_by_value
  (void)tree_structure(bad_children{});
#endif
#ifdef CASE_children_by_value_deep
  (void)tree_structure(holds_bad_children{});
#endif
#ifdef CASE_reference_deep
  tree_visit([](auto&) {}, *std::make_unique<outer_reference>());
#endif
#ifdef CASE_c_array_deep
  tree_visit([](auto&) {}, outer_c_array{});
#endif
#ifdef CASE_base_deep
  (void)structure_hash_v<outer_derived>;
#endif
#ifdef CASE_reference_in_a_rest_tree
  tree_visit([](auto&, const auto&) {}, *std::make_unique<std::vector<point>>(),
             *std::make_unique<std::vector<inner_reference>>());
#endif
#ifdef CASE_update_of_what_cannot_be_replaced
  const_list list{};
  tree_visit_update([](double x) { return x; }, list);
#endif
#ifdef CASE_unflatten_of_other_leaves
  (void)tree_unflatten(treedef<point>(), std::vector<std::string>{"1", "2"});
#endif
}
