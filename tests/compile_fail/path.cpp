// Path literals that lead to no leaf.
#include <espalier/espalier.hpp>

using namespace espalier;

struct layer {
  std::vector<double> weight;
  double bias;
};
struct model {
  double rate;
  std::vector<layer> layers;
};
struct point {
  double x, y;
};

const auto negative = [](double x) { return x < 0; };

void use() {
  const auto mask = tree_map(negative, model{});
  const auto flat = tree_map(negative, std::tuple(point{}, 1.0));
  (void)mask["layers.0.weight.1"_path];
  (void)flat["0.x"_path];
#ifdef CASE_misspelt
  (void)flat["0.z"_path];
#endif
#ifdef CASE_misspelt_below_a_vector
  (void)mask["layers.0.wieght.1"_path];
#endif
#ifdef CASE_no_index
  (void)mask["layers.first.bias"_path];
#endif
#ifdef CASE_a_node
  (void)mask["layers.0"_path];
#endif
#ifdef CASE_below_a_leaf
  (void)flat["1.x"_path];
#endif
#ifdef CASE_index_with_a_leading_zero
  (void)mask["layers.00.bias"_path];
#endif
#ifdef CASE_index_beyond_an_array
  (void)tree_map(negative, std::array<point, 2>{})["2.x"_path];
#endif
#ifdef CASE_several_misspelt
  (void)mask["layer.0.baias"_path];
#endif
#ifdef CASE_index_out_of_range
  (void)flat["2"_path];
#endif
}
