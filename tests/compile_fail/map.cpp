// Functions that do not fit the leaves, and results that make no tree.
#include <espalier/espalier.hpp>

using namespace espalier;

struct layer {
  std::vector<double> weight;
  std::string name;
};
struct model {
  double rate;
  std::vector<layer> layers;
};
struct pair {
  int n;
  double x;
};
struct arithmetic_only {
  template <class T>
    requires std::is_arithmetic_v<T>
  T operator()(T x) const {
    return x;
  }
};

void use() {
  (void)tree_map([](auto x) { return x; }, model{});
#ifdef CASE_cannot_take_a_leaf
  (void)tree_map(arithmetic_only(), model{});
#endif
#ifdef CASE_visit_cannot_take_a_leaf
  tree_visit([](double) {}, model{});
#endif
#ifdef CASE_path_function_cannot_take_a_leaf
  (void)tree_map_with_path([](const path_view&, double x) { return x; }, model{});
#endif
#ifdef CASE_mutable_reference_to_const
  const std::vector<double> tree(3);
  tree_visit([](double& x) { x = 1; }, tree);
#endif
#ifdef CASE_too_few_trees
  (void)tree_map([](double a, double b) { return a + b; }, std::vector<double>(3));
#endif
#ifdef CASE_void
  (void)tree_map([](double) {}, std::vector<double>(3));
#endif
#ifdef CASE_several_results
  (void)tree_map(
      [](auto x) {
        if constexpr (std::is_same_v<decltype(x), int>) {
          return 'a';
        } else {
          return 1.f;
        }
      },
      pair{});
#endif
}
