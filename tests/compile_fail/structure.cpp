// Trees and leaves that do not fit a structure.
#include <espalier/dotted_names.hpp>
#include <espalier/structure.hpp>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

using namespace espalier;

struct layer {
  std::vector<double> weight;
  double bias;
};

void use() {
  const treedef<layer> def(layer{});
  (void)def.flatten_up_to(layer{});
  (void)tree_unflatten_names(def, std::map<std::string, double>());
#ifdef CASE_flatten_up_to_another_kind
  (void)def.flatten_up_to(std::pair(1.0, 2.0));
#endif
#ifdef CASE_named_leaves_of_another_type
  (void)tree_unflatten_names(def, std::map<std::string, std::string>());
#endif
#ifdef CASE_named_variants_without_the_leaf
  (void)tree_unflatten_names(def, std::map<std::string, std::variant<int, std::string>>());
#endif
#ifdef CASE_leaves_cut_off
  (void)treedef<std::pair<int, int>>().unflatten(std::vector<double>(2));
#endif
}
