// tree_map_only and leaf_if: types that are not there, and results that fit nowhere.
#include <espalier/espalier.hpp>
#include <espalier/map_only.hpp>

using namespace espalier;

struct layer {
  std::vector<double> weight;
  std::string name;
};
struct model {
  double rate;
  std::vector<layer> layers;
};

const auto same = [](const auto& x) { return x; };
const auto width = [](const auto&) { return 1; };

void use() {
  (void)tree_map_only<double, layer>(same, model{});
  (void)tree_map(leaf_if<layer>, width, std::vector<layer>(2));
#ifdef CASE_of_nothing
  (void)tree_map_only<>(same, model{});
#endif
#ifdef CASE_type_that_is_nowhere
  (void)tree_map_only<float>(same, model{});
#endif
#ifdef CASE_node_that_is_nowhere
  (void)tree_map_only<std::vector<float>>(same, model{});
#endif
#ifdef CASE_stop_that_is_nowhere
  tree_visit(leaf_if<layer, model>, [](const auto&) {}, std::vector<model>(2));
#endif
#ifdef CASE_stopped_results_fit_no_struct
  (void)tree_map(leaf_if<layer>, width, model{});
#endif
#ifdef CASE_cannot_take_a_stopped_node
  tree_visit(leaf_if<layer>, [](double) {}, model{});
#endif
}
