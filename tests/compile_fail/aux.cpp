// Aux data that cannot be compared and hashed. CASES 8.
#include <espalier/espalier.hpp>
#include <memory>

using namespace espalier;

// Stands for an engine's array: its == gives no bool.
class array {
 public:
  friend array operator==(const array&, const array&) { return {}; }

 private:
  [[maybe_unused]] std::shared_ptr<int> data_;
};
template <> inline constexpr bool espalier::is_leaf_type<array> = true;

struct good {
  double x;
  aux<int> step;
};
struct array_in_list {
  double x;
  array mask;
  static constexpr auto tree_aux = fields<&array_in_list::mask>;
};
struct array_in_aux {
  double x;
  aux<std::vector<array>> masks;
};
struct deep {
  std::vector<std::optional<array_in_list>> caches;
};
struct registered {
  array a, b;
};
template <> struct espalier::pytree_node<registered> {
  static auto children(auto&& r) { return std::tie(r.a); }
  static auto aux(const registered& r) { return r.b; }
  static registered unflatten(array b, array a) { return {a, b}; }
};
struct long_double {
  double x;
  aux<long double> y;
};

void use() {
  (void)tree_structure(good{});
#ifdef CASE_listed
  (void)tree_structure(array_in_list{});
#endif
#ifdef CASE_container
  (void)tree_map([](double x) { return x; }, array_in_aux{});
#endif
#ifdef CASE_deep
  tree_visit([](double) {}, deep{});
#endif
#ifdef CASE_registered
  (void)tree_structure(registered{});
#endif
#ifdef CASE_long_double
  (void)tree_structure(long_double{});
#endif
}
