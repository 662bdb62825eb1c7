// The problem of expected.py, over a plain struct of doubles with leaves that no optimizer may touch.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <espalier/aux.hpp>
#include <espalier/errors.hpp>
#include <espalier/optim/apply_updates.hpp>
#include <optional>
#include <string>
#include <vector>

struct Layer {
  std::vector<double> weight;
  std::optional<double> bias;
};

struct Model {
  std::vector<Layer> layers;
  int version;
  std::string name;
};

inline Model start() { return {{{{1.0, -2.0}, 0.5}}, 7, "tiny"}; }

// The non-parameter leaves are nonsense on purpose.
inline Model gradients(const Model& m, int t) {
  const auto& w = m.layers[0].weight;
  const double s = t;
  return {{{{0.5 * w[0] + 0.01 * s, 0.6 * w[1] + 0.01 * s}, 0.3 * *m.layers[0].bias - 0.02 * s}}, -1, "gradient"};
}

// Expects the parameters that a peer ends with after ten steps, everything else untouched.
template <class Transformation>
void expect_ten_steps(const Transformation& opt, const std::array<double, 3>& expected, double tolerance) {
  Model m = start();
  auto state = opt.init(m);
  for (int t = 0; t < 10; ++t) espalier::optim::apply_updates(m, opt.update(gradients(m, t), state, m));
  EXPECT_NEAR(m.layers[0].weight[0], expected[0], tolerance);
  EXPECT_NEAR(m.layers[0].weight[1], expected[1], tolerance);
  EXPECT_NEAR(*m.layers[0].bias, expected[2], tolerance);
  EXPECT_EQ(m.version, 7);
  EXPECT_EQ(m.name, "tiny");
}

// The message of the structure_error that `f` throws.
template <class F> std::string structure_error_of(const F& f) {
  try {
    f();
  } catch (const espalier::structure_error& e) {
    return e.what();
  }
  return "no structure_error was thrown";
}

// Expects ten steps that take every parameter where `formula`, of one parameter, takes it: its next value is f(p, g), f a
// copy of `formula` for each of them.
template <class Transformation, class Formula>
void expect_formula(const Transformation& opt, const Formula& formula, double tolerance = 1e-12) {
  Formula f0 = formula;
  Formula f1 = formula;
  Formula f2 = formula;
  Model m = start();
  for (int t = 0; t < 10; ++t) {
    const Model g = gradients(m, t);
    auto& [w, b] = m.layers[0];
    w = {f0(w[0], g.layers[0].weight[0]), f1(w[1], g.layers[0].weight[1])};
    b = f2(*b, *g.layers[0].bias);
  }
  expect_ten_steps(opt, {m.layers[0].weight[0], m.layers[0].weight[1], *m.layers[0].bias}, tolerance);
}

// Expects that the optimizer refuses gradients of another structure and a state from before the parameters grew, in its
// own name, and that zero gradients give no step of single precision that is not finite.
template <class Transformation> void expect_usual_errors(const Transformation& opt, const std::string& name) {
  Model m = start();
  auto state = opt.init(m);
  EXPECT_TRUE(structure_error_of([&] {
                opt.update(Model{}, state, m);
              }).starts_with("espalier: " + name + ".update: the gradients do not have the structure"));
  m.layers.push_back(m.layers[0]);
  EXPECT_TRUE(structure_error_of([&] {
                opt.update(m, state, m);
              }).starts_with("espalier: " + name + ".update: the state's moments do not have the structure"));

  std::array<float, 2> numbers{1, 0};
  auto state_of_numbers = opt.init(numbers);
  for (const float u : opt.update(std::array<float, 2>{}, state_of_numbers, numbers)) EXPECT_TRUE(std::isfinite(u));
}

// Expects that a hundred steps down a quadratic bowl end at its lowest point.
template <class Transformation> void expect_convergence(const Transformation& opt) {
  std::array<double, 2> x{3.0, -4.0};
  auto state = opt.init(x);
  for (int t = 0; t < 100; ++t) {
    const std::array<double, 2> gradient{2 * (x[0] - 1), 4 * (x[1] + 2)};
    espalier::optim::apply_updates(x, opt.update(gradient, state, x));
  }
  EXPECT_NEAR(x[0], 1, 0.02);
  EXPECT_NEAR(x[1], -2, 0.02);
}

// A number to train beside a position that moves: aux data.
struct Cached {
  double weight;
  std::vector<double> keys;
  espalier::aux<int> position;
};
