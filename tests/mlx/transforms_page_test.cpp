// The code of docs/transforms.md: every block of the page stands here, and does what the page says.
#include <gtest/gtest.h>
#include <mlx/mlx.h>

#include <cstddef>
#include <espalier/mlx/engine.hpp>
#include <espalier/mlx/mlx.hpp>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "arrays.hpp"

namespace {

namespace mx = mlx::core;

struct layer {
  mx::array weight;
  std::optional<mx::array> bias;
};
struct model {
  layer body;
  layer head;
};

mx::array predict(const model& m, const mx::array& x) {
  const mx::array hidden = mx::tanh(mx::matmul(m.body.weight, x) + *m.body.bias);
  return mx::matmul(m.head.weight, hidden) + *m.head.bias;
}
mx::array loss(const model& m, const mx::array& x, const mx::array& y) {
  return mx::mean(mx::square(predict(m, x) - y));
}

const model m = espalier::initialize(
    espalier::init::matrices(espalier::init::glorot_uniform(), espalier::init::zeros()), espalier::random_key(42),
    model{{mx::zeros({4, 3}), mx::zeros({4})}, {mx::zeros({1, 4}), mx::zeros({1})}});
const mx::array x({0.5f, -1.0f, 2.0f});
const mx::array y({1.0f});

TEST(TransformsPage, Gradients) {
  auto [value, gradient] = espalier::value_and_grad(loss)(m, x, y);  // gradient is a model
  auto [of_y, of_m] = espalier::grad<2, 0>(loss)(m, x, y);           // of the third argument and the first
  expect_near(gradient.head.weight, of_m.head.weight);
  expect_near(*gradient.head.bias, -of_y);
  EXPECT_EQ(value.ndim(), 0u);

  const auto head =
      espalier::trainable([](const auto& path, const auto&) { return path.dotted().starts_with("head"); });
  model of_head = espalier::grad(loss, head)(m, x, y);  // zero in the body
  expect_equal(of_head.body.weight, mx::zeros({4, 3}));
  expect_near(of_head.head.weight, gradient.head.weight);
}

TEST(TransformsPage, VjpAndJvp) {
  auto [value, pullback] = espalier::vjp(predict, m, x);
  auto [of_m, of_x] = pullback(mx::array({1.0f}));  // a model, and an array like x
  auto along_x = espalier::jvp([](const mx::array& at) { return predict(m, at); }, x, mx::ones({3}));
  expect_near(along_x.value, value);
  expect_near(along_x.tangent, mx::sum(of_x, true), 1e-5);
  EXPECT_EQ(of_m.body.weight.shape(), m.body.weight.shape());
}

TEST(TransformsPage, Vmap) {
  auto outputs = espalier::vmap(predict, std::tuple(std::nullopt, 1))(m, mx::ones({3, 5}));  // [5, 1]

  struct layer_axes {
    int weight;
    std::optional<int> bias;
  };
  auto apply = [](const layer& l, const mx::array& at) { return mx::matmul(l.weight, at) + *l.bias; };
  auto each = espalier::vmap(apply, std::tuple(layer_axes{.weight = 0, .bias = std::nullopt}, std::nullopt));
  auto of_weights = each(layer{mx::ones({6, 4, 3}), mx::zeros({4})}, x);  // [6, 4]
  EXPECT_EQ(outputs.shape(), (mx::Shape{5, 1}));
  expect_equal(of_weights, mx::full({6, 4}, 1.5f));
}

TEST(TransformsPage, HigherDerivatives) {
  auto f = [](const mx::array& at) { return mx::sum(at * at * at); };
  mx::array hessian = espalier::jacrev(espalier::grad(f))(x);  // [3, 3]: 6 x on the diagonal
  mx::array product = espalier::hvp(f, x, mx::ones({3}));      // 6 x
  expect_near(mx::sum(hessian, 1), product);
  expect_near(product, mx::array({3.0f, -6.0f, 12.0f}));
}

TEST(TransformsPage, CheckpointAndCustomVjp) {
  auto again = espalier::checkpoint(predict);  // keeps m and x, not what is between
  auto clipped = espalier::custom_vjp(
      [](const mx::array& at) { return at; },
      [](const mx::array& at) { return std::pair(at, std::tuple<>()); },  // the value, and no residuals
      [](std::tuple<>, const mx::array& g) { return mx::clip(g, mx::array(-1.0f), mx::array(1.0f)); });
  expect_near(again(m, x), predict(m, x));
  expect_equal(espalier::grad([&](const mx::array& at) { return clipped(at) * 5.0f; })(mx::array(2.0f)),
               mx::array(1.0f));
}

TEST(TransformsPage, ScanAndAccumulate) {
  auto running_sum = [](const mx::array& total, const mx::array& at) { return std::pair(total + at, total + at); };
  auto [total, sums] = espalier::scan(running_sum, mx::array(0.0f), x);  // 1.5 and {0.5, -0.5, 1.5}

  mx::array xs = mx::ones({4, 3}), ys = mx::zeros({4, 1});  // four micro-batches of one example
  auto [losses, mean] = espalier::accumulate_gradients(espalier::value_and_grad(loss), m, xs, ys);
  expect_equal(total, mx::array(1.5f));
  expect_equal(sums, mx::array({0.5f, -0.5f, 1.5f}));
  EXPECT_EQ(losses.shape(), mx::Shape{4});
  expect_near(mean.body.weight, espalier::grad(loss)(m, mx::ones({3}), mx::zeros({1})).body.weight);
}

struct noisy_state {
  mx::array position;
  espalier::random_key key;
};

void walk(noisy_state& s) {
  auto [next, now] = espalier::split(s.key);
  s.position = s.position + mx::random::normal({2}, mx::float32, *now);
  s.key = next;
}

TEST(TransformsPage, Randomness) {
  noisy_state plain{mx::zeros({2}), espalier::random_key(1)};
  noisy_state compiled = plain;
  auto step = espalier::compile<&walk>();
  for (int i = 0; i < 3; ++i) {
    walk(plain);
    step(compiled);
  }
  expect_near(plain.position, compiled.position);

  using namespace espalier;
  auto usual = init::matrices(init::glorot_uniform(), init::zeros());
  model drawn = initialize(usual, random_key(42), m);
  expect_equal(drawn.body.weight, m.body.weight);
}

std::string read(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Lines without the blanks that they begin with.
std::string without_indent(const std::string& text) {
  std::string result;
  bool begins = true;
  for (const char c : text) {
    if (begins && c == ' ') continue;
    result += c;
    begins = c == '\n';
  }
  return result;
}

TEST(TransformsPage, EveryBlockIsHere) {
  const std::string page = without_indent(read(ESPALIER_TRANSFORMS_PAGE));
  const std::string here = without_indent(read(__FILE__));
  const std::string fence = "```cpp\n";
  std::size_t blocks = 0;
  for (std::size_t at = page.find(fence); at != std::string::npos; at = page.find(fence, at + 1), ++blocks) {
    const std::size_t begin = at + fence.size();
    const std::string block = page.substr(begin, page.find("```", begin) - begin);
    EXPECT_NE(here.find(block), std::string::npos) << block;
  }
  EXPECT_EQ(blocks, 10u);
}

}  // namespace
