// One compiled step over a struct of arrays: enough to see that the library links and finds MLX when it runs.
#include <mlx/mlx.h>
#include <espalier/compile.hpp>
#include <espalier/mlx/engine.hpp>

namespace mx = mlx::core;

struct state {
  mx::array weight;
};

int main() {
  auto step = espalier::compile([](state& s, const mx::array& x) {
    s.weight = s.weight + x;
    return mx::sum(s.weight);
  });
  state s{mx::array({1.0f, 2.0f})};
  return step(s, mx::array(1.0f)).item<float>() == 5.0f ? 0 : 1;
}
