// Espalier's transformations against MLX's in Python: what tests/peers/transforms.py has written.
#include <gtest/gtest.h>
#include <mlx/mlx.h>

#include <boost/json/src.hpp>
#include <cmath>
#include <cstdint>
#include <espalier/mlx/init.hpp>
#include <espalier/mlx/jacobian.hpp>
#include <espalier/mlx/vmap.hpp>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

namespace mx = ::mlx::core;
namespace init = espalier::init;
namespace json = boost::json;

struct linear {
  mx::array weight;
  std::optional<mx::array> bias;
};
struct model {
  std::vector<linear> layers;
  mx::array gain;
};

mx::array ramp(const mx::Shape& shape, double scale, double shift) {
  std::size_t size = 1;
  for (const int n : shape) size *= static_cast<std::size_t>(n);
  std::vector<float> values;
  for (std::size_t i = 0; i < size; ++i) {
    values.push_back(static_cast<float>(scale * std::sin(shift + static_cast<double>(i))));
  }
  return mx::array(values.begin(), shape);
}

model make_model(double scale, double shift) {
  return {{{ramp({5, 3}, scale, shift), ramp({5}, scale, shift + 1)}, {ramp({2, 5}, scale, shift + 2), std::nullopt}},
          mx::array(static_cast<float>(scale))};
}

mx::array forward(const model& m, const mx::array& x) {
  const mx::array hidden = mx::tanh(mx::matmul(x, mx::transpose(m.layers[0].weight)) + *m.layers[0].bias);
  return m.gain * mx::matmul(hidden, mx::transpose(m.layers[1].weight));
}
mx::array loss(const model& m, const mx::array& x) { return mx::mean(mx::square(forward(m, x))); }

const model params = make_model(0.5, 0.25);
const model direction = make_model(0.3, 2.5);
const mx::array x = ramp({4, 3}, 1.0, 0.5);
const mx::array dx = ramp({4, 3}, 0.7, 1.5);

const json::object& answers() {
  static const json::object stored = [] {
    std::ifstream file(ESPALIER_TRANSFORMS_ANSWERS);
    return json::parse(std::string(std::istreambuf_iterator<char>(file), {})).as_object();
  }();
  return stored;
}

mx::array expected(const std::string& name) {
  const json::object& answer = answers().at(name).as_object();
  mx::Shape shape;
  for (const json::value& n : answer.at("shape").as_array()) shape.push_back(n.to_number<int>());
  std::vector<float> values;
  for (const json::value& v : answer.at("values").as_array()) values.push_back(v.to_number<float>());
  return mx::array(values.begin(), shape);
}

void expect_answer(const std::string& name, const mx::array& found) {
  const mx::array wanted = expected(name);
  ASSERT_EQ(found.shape(), wanted.shape()) << name;
  EXPECT_TRUE(mx::allclose(found, wanted, 1e-5, 1e-6).item<bool>()) << name << found << wanted;
}
void expect_exactly(const std::string& name, const mx::array& found) {
  const mx::array wanted = expected(name);
  ASSERT_EQ(found.shape(), wanted.shape()) << name;
  EXPECT_TRUE(mx::array_equal(found, wanted).item<bool>()) << name << found << wanted;
}
void expect_answers(const std::string& what, const model& found) {
  expect_answer(what + ".layers.0.weight", found.layers[0].weight);
  expect_answer(what + ".layers.0.bias", *found.layers[0].bias);
  expect_answer(what + ".layers.1.weight", found.layers[1].weight);
  expect_answer(what + ".gain", found.gain);
}

TEST(TransformsPeer, Gradients) {
  expect_answer("forward", forward(params, x));
  const auto [value, gradient] = espalier::value_and_grad(loss)(params, x);
  expect_answer("loss", value);
  expect_answers("grad", gradient);
}

TEST(TransformsPeer, VjpAndJvp) {
  const auto [of_params, of_x] = espalier::vjp(forward, params, x).pullback(ramp({4, 2}, 0.9, 3.0));
  expect_answers("vjp", of_params);
  expect_answer("vjp.x", of_x);
  expect_answer("jvp", espalier::jvp(forward, std::tuple(params, x), std::tuple(direction, dx)).tangent);
}

TEST(TransformsPeer, HessianVectorProduct) {
  expect_answers("hvp", espalier::hvp([](const model& m) { return loss(m, x); }, params, direction));
}

// A batch of first weights along their last axis, and one of examples along axis 1; the other parameters are shared.
TEST(TransformsPeer, Vmap) {
  struct linear_axes {
    std::optional<int> weight, bias;
  };
  struct axes {
    std::vector<linear_axes> layers;
    std::optional<int> gain;
  };
  std::vector<mx::array> weights;
  for (int i = 1; i <= 4; ++i) weights.push_back(params.layers[0].weight * mx::array(static_cast<float>(i)));
  model batch = params;
  batch.layers[0].weight = mx::stack(weights, -1);
  const auto one = [](const model& m, const mx::array& v) { return mx::squeeze(forward(m, mx::expand_dims(v, 0)), 0); };
  const axes in{{{-1, std::nullopt}, {std::nullopt, std::nullopt}}, std::nullopt};
  expect_answer("vmap", espalier::vmap(one, std::tuple(in, 1), 1)(batch, mx::transpose(x)));

  const auto of_weight = [&](const mx::array& w, const mx::array& v) {
    model m = params;
    m.layers[0].weight = w;
    return mx::sum(mx::square(one(m, v)));
  };
  expect_answer("vmap_of_grad",
                espalier::vmap(espalier::grad(of_weight), std::tuple(std::nullopt, 0))(params.layers[0].weight, x));
}

// Exactly what mlx.nn.init draws after mx.random.seed(11); scaling may be rounded otherwise.
TEST(TransformsPeer, Initialisers) {
  const espalier::random_key key = espalier::split(espalier::random_key(11)).second;
  const mx::array a = mx::zeros({6, 4});
  expect_exactly("init.normal", init::normal(0.5, 2)(key, a));
  expect_exactly("init.uniform", init::uniform(-1, 3)(key, a));
  expect_exactly("init.glorot_normal", init::glorot_normal()(key, a));
  expect_exactly("init.glorot_uniform", init::glorot_uniform()(key, a));
  expect_exactly("init.he_normal", init::he_normal()(key, a));
  expect_exactly("init.he_uniform", init::he_uniform()(key, a));
  expect_answer("init.orthogonal", init::orthogonal(2)(key, a));
  expect_exactly("init.he_uniform_fan_out", init::he_uniform(init::fan::out, 1.5)(key, mx::zeros({6, 2, 3, 4})));
}

TEST(TransformsPeer, DropoutAndKeys) {
  const espalier::random_key key = espalier::split(espalier::random_key(11)).second;
  expect_exactly("dropout", espalier::dropout(key, 0.25, ramp({6, 4}, 1.0, 0.5)));
  const mx::array keys = *espalier::split(espalier::random_key((std::uint64_t{1} << 40) + 3), 3);
  const json::array& stored = answers().at("key").as_object().at("values").as_array();
  ASSERT_EQ(keys.size(), stored.size());
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(mx::take(keys, i).item<std::uint32_t>(), stored[static_cast<std::size_t>(i)].to_number<std::uint32_t>());
  }
}

}  // namespace
