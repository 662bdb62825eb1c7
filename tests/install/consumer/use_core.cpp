// A pytree of plain doubles, mapped: enough to see that the headers arrive and agree with each other.
#include <espalier/espalier.hpp>
#include <vector>

struct layer {
  double weight;
  std::vector<double> bias;
};

int main() {
  const layer twice = espalier::tree_map([](double x) { return 2 * x; }, layer{1.5, {1.0, 2.0}});
  return twice.weight == 3.0 && twice.bias == std::vector{2.0, 4.0} ? 0 : 1;
}
