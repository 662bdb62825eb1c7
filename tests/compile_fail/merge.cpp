// Trees that cannot be merged.
#include <espalier/merge.hpp>
#include <optional>

using namespace espalier;

struct point {
  double x, y;
};
struct settings {
  std::optional<double> rate;
};
struct other_settings {
  std::optional<double> rate;
};

const auto last = [](double, double b) { return b; };

void use() {
  (void)tree_merge(point{}, point{}, last);
  (void)tree_merge(settings{}, settings{});
#ifdef CASE_leaves_always_clash
  (void)tree_merge(point{}, point{});
#endif
#ifdef CASE_function_of_mutable_leaves
  (void)tree_merge(settings{}, settings{}, [](auto&, auto& b) { return b; });
#endif
#ifdef CASE_function_of_leaves_of_a_const_tree
  const point one{};
  (void)tree_merge(one, one, [](double& a, double&) { return a; });
#endif
#ifdef CASE_function_that_gives_nothing_back
  (void)tree_merge(settings{}, settings{}, [](double, double) {});
#endif
#ifdef CASE_different_types
  (void)tree_merge(settings{}, other_settings{}, last);
#endif
}
