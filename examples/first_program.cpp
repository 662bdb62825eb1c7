// The README's first program: a straight line, fitted by gradient descent in one compiled step.
#include <mlx/mlx.h>

#include <espalier/espalier.hpp>
#include <espalier/mlx/mlx.hpp>
#include <iostream>

namespace mx = mlx::core;

struct line {
  mx::array slope, offset;
};
struct train_state {
  line model;
  espalier::optim::adam_state<line> optimizer;
};
struct points {
  mx::array x, y;
};

mx::array loss(const line& m, const points& p) { return mx::mean(mx::square(m.slope * p.x + m.offset - p.y)); }

int main() {
  static constexpr espalier::optim::adam adam{.learning_rate = 0.1};
  const line start{mx::array(0.0f), mx::array(0.0f)};
  train_state state{start, adam.init(start)};
  const points data{mx::array({0.0f, 1.0f, 2.0f, 3.0f}), mx::array({1.0f, 3.0f, 5.0f, 7.0f})};

  auto step = espalier::compile([](train_state& s, const points& p) {
    auto [value, gradient] = espalier::value_and_grad(loss)(s.model, p);  // gradient is a line
    espalier::optim::apply_updates(s.model, adam.update(gradient, s.optimizer, s.model));
    return value;
  });
  for (int i = 0; i < 300; ++i) espalier::eval(step(state, data), state);

  espalier::tree_visit_with_path(
      [](const auto& path, mx::array parameter) { std::cout << path << " = " << parameter.item<float>() << '\n'; },
      state.model);
  std::cout << step.stats().traces << " trace, " << step.stats().hits << " hits\n";
}
