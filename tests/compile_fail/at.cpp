// tree_at: paths that lead nowhere, places that are none, and values that do not fit.
#include <espalier/at.hpp>
#include <vector>

using namespace espalier;

struct layer {
  std::vector<double> weight;
  double bias;
};
struct model {
  double rate;
  std::vector<layer> layers;
};

void use() {
  const model m{};
  (void)tree_at(m, "layers.0.weight"_path).replace(std::vector<double>(3));
  (void)tree_at(m, &model::rate, "layers.0.bias"_path).replace(1, 2);
#ifdef CASE_misspelt
  (void)tree_at(m, "layers.0.wieght"_path).replace(std::vector<double>(3));
#endif
#ifdef CASE_below_a_leaf
  (void)tree_at(m, "rate.scale"_path).replace(1.0);
#endif
#ifdef CASE_trailing_dot
  (void)tree_at(m, "rate."_path).get();
#endif
#ifdef CASE_no_place
  (void)tree_at(m).replace();
#endif
#ifdef CASE_copy_of_a_place
  (void)tree_at(m, [](const model& x) { return x.rate; }).replace(1.0);
#endif
#ifdef CASE_too_few_values
  (void)tree_at(m, &model::rate, "layers.0.bias"_path).replace(1.0);
#endif
#ifdef CASE_too_many_functions
  (void)tree_at(m, &model::rate).apply([](double x) { return x; }, [](double x) { return x; });
#endif
#ifdef CASE_value_of_another_type
  (void)tree_at(m, "layers.0"_path).replace(1.0);
#endif
#ifdef CASE_references_into_a_temporary
  (void)tree_at(model{}, &model::rate).get();
#endif
}
