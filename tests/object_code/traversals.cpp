// One tree, read by the back end that the macros name, and the traversals whose object code compare.py counts.
#include <array>
#include <espalier/flatten.hpp>
#include <espalier/map.hpp>
#include <espalier/reduce.hpp>
#include <espalier/visit_update.hpp>
#include <optional>
#include <vector>

struct linear {
  std::vector<double> weight;
  std::optional<double> bias;
};
struct model {
  double rate;
  linear first, second;
  std::array<double, 4> gains;
  espalier::aux<int> step;
};

#if defined(BACK_END_hana)
#include <espalier/reflect/hana.hpp>
BOOST_HANA_ADAPT_STRUCT(linear, weight, bias);
BOOST_HANA_ADAPT_STRUCT(model, rate, first, second, gains, step);
#elif defined(BACK_END_describe)
#include <espalier/reflect/describe.hpp>
BOOST_DESCRIBE_STRUCT(linear, (), (weight, bias))
BOOST_DESCRIBE_STRUCT(model, (), (rate, first, second, gains, step))
#endif

extern "C" {
double visit(const model& tree) {
  double sum = 0;
  espalier::tree_visit([&](double x) { sum += x; }, tree);
  return sum;
}

void update(model& tree, const model& gradient) {
  espalier::tree_visit_update([](double x, double g) { return x - 0.1 * g; }, tree, gradient);
}

void map(model* result, const model& tree) {
  new (result) model(espalier::tree_map([](double x) { return 2 * x; }, tree));
}

double reduce(const model& tree) {
  return espalier::tree_reduce([](double a, double b) { return a > b ? a : b; }, tree, 0.0);
}

void flatten(std::vector<double>* result, const model& tree) {
  new (result) std::vector<double>(espalier::tree_leaves(tree));
}
}
