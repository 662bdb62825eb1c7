// tree_at: paths that lead nowhere, places that are none, and values that do not fit.
#include <espalier/at.hpp>
#include <optional>
#include <string>
#include <vector>

using namespace espalier;

struct layer {
  std::vector<double> weight;
  double bias;
};
struct model {
  double rate;
  std::vector<layer> layers;
  int seed;
  std::optional<int> limit;
  aux<int> version;
};

void use() {
  const model m{};
  (void)tree_at(m, "layers.0.weight"_path).replace(std::vector<double>(3));
  (void)tree_at(m, &model::rate, "layers.0.bias"_path).replace(1, 2);
  (void)tree_at(m, "seed"_path, "limit"_path, &model::version).replace(1, 'a', true);
#ifdef CASE_misspelt
  (void)tree_at(m, "layers.0.wieght"_path).replace(std::vector<double>(3));
#endif
#ifdef CASE_misspelt_node
  (void)tree_at(m, "layer.1"_path).replace(layer());
#endif
#ifdef CASE_aux_by_path
  (void)tree_at(m, "version"_path).replace(2);
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
#ifdef CASE_no_tree
  (void)tree_at(std::vector<int*>(1), "0"_path).replace(nullptr);
#endif
#ifdef CASE_string
  (void)tree_at(m, "rate").replace(1.0);
#endif
#ifdef CASE_string_object
  (void)tree_at(m, &model::seed, std::string("rate")).get();
#endif
#ifdef CASE_member_of_another_class
  (void)tree_at(m, &layer::bias).replace(1.0);
#endif
#ifdef CASE_function_of_another_tree
  (void)tree_at(m, [](layer& x) -> auto& { return x.bias; }).replace(1.0);
#endif
#ifdef CASE_mutable_reference_into_a_const_tree
  (void)tree_at(m, [](model& x) -> auto& { return x.rate; }).get();
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
#ifdef CASE_function_cannot_take_the_place
  (void)tree_at(m, "layers.0"_path).apply([](double x) { return -x; });
#endif
#ifdef CASE_function_changes_the_place
  (void)tree_at(m, &model::rate).apply([](double& x) { x = -x; });
#endif
#ifdef CASE_fraction_for_an_integer
  (void)tree_at(m, "seed"_path).replace(2.7);
#endif
#ifdef CASE_fraction_for_an_optional_integer
  (void)tree_at(m, "limit"_path).replace(2.7f);
#endif
#ifdef CASE_fraction_for_an_aux_integer
  (void)tree_at(m, &model::version).replace(2.7);
#endif
#ifdef CASE_fraction_from_a_function
  (void)tree_at(m, "seed"_path).apply([](int x) { return 0.5 * x; });
#endif
#ifdef CASE_references_into_a_temporary
  (void)tree_at(model{}, &model::rate).get();
#endif
}
