// tree_partition, tree_filter, tree_combine: what is no filter, and what are no parts.
#include <espalier/partition.hpp>
#include <string>
#include <vector>

using namespace espalier;

struct layer {
  std::vector<double> weight;
  std::string name;
};
struct point {
  double x, y;
};

void use() {
  const auto parts = tree_partition(point{}, [](double x) { return x > 0; });
  (void)tree_combine(parts.selected, parts.rest);
#ifdef CASE_filter_cannot_take_every_leaf
  (void)tree_filter(layer{}, [](double x) { return x > 0; });
#endif
#ifdef CASE_mask_of_no_bools
  (void)tree_partition(layer{}, std::string("weight"));
#endif
#ifdef CASE_mask_of_another_structure
  (void)tree_filter(point{}, std::pair(true, false));
#endif
#ifdef CASE_combine_of_whole_trees
  (void)tree_combine(point{}, point{});
#endif
#ifdef CASE_combine_of_parts_of_two_types
  (void)tree_combine(parts.selected, tree_filter(std::pair(1.0, 2.0), true));
#endif
#ifdef CASE_of_type_that_no_leaf_has
  (void)tree_filter(point{}, of_type<float>);
#endif
#ifdef CASE_view_of_several_types
  const layer tree{};
  (void)tree_filter_view(tree, of_type<double>);
#endif
}
