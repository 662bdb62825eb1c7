// Compiled functions inside other transformations, and other transformations inside compiled functions. Expected values
// are those of calculus, or of the same function without compile.
#include <gtest/gtest.h>
#include <mlx/mlx.h>

#include <cstddef>
#include <espalier/mlx/engine.hpp>
#include <espalier/mlx/grad.hpp>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mx = mlx::core;
using espalier::compile;
using espalier::compile_options;

namespace {

// For functions that count their runs.
constexpr compile_options runs_once{.check_captures = false};

using unary = std::function<mx::array(const mx::array&)>;
using function_of_arrays = std::function<std::vector<mx::array>(const std::vector<mx::array>&)>;

float value_of(mx::array a) { return a.item<float>(); }
float sum_of(const mx::array& a) { return value_of(mx::sum(a)); }

mx::array cube(const mx::array& x) { return x * x * x; }
auto compiled_cube = compile<&cube>();

mx::array compiled_cube_of(const mx::array& x) { return compiled_cube(x); }
std::vector<mx::array> cubes(const std::vector<mx::array>& x) { return {compiled_cube(x[0])}; }
std::vector<mx::array> plain_cubes(const std::vector<mx::array>& x) { return {cube(x[0])}; }

// --- Of a compiled function. -----------------------------------------------------------------------------------------

class ComposeOfCompiled : public ::testing::Test {
 protected:
  // A compiled function that has traces of its own must not use them inside a transformation.
  void SetUp() override {
    compiled_cube.clear();
    EXPECT_EQ(value_of(compiled_cube(mx::array(2.0f))), 8.0f);
    traces_ = compiled_cube.stats().traces;
  }
  void TearDown() override {
    EXPECT_EQ(compiled_cube.stats().traces, traces_) << "traced inside a transformation";
    EXPECT_EQ(value_of(compiled_cube(mx::array(3.0f))), 27.0f);
    EXPECT_EQ(compiled_cube.stats().traces, traces_);
  }

 private:
  std::size_t traces_ = 0;
};

TEST_F(ComposeOfCompiled, Grad) {
  EXPECT_EQ(value_of(mx::grad(unary(compiled_cube_of))(mx::array(2.0f))), 12.0f);
  EXPECT_EQ(value_of(mx::grad(mx::grad(unary(compiled_cube_of)))(mx::array(2.0f))), 12.0f);  // 6 x
  const auto [value, gradient] =
      espalier::value_and_grad([](const mx::array& x) { return compiled_cube(x); })(mx::array(2.0f));
  EXPECT_EQ(value_of(value), 8.0f);
  EXPECT_EQ(value_of(gradient), 12.0f);
}

TEST_F(ComposeOfCompiled, VjpAndJvp) {
  const auto [values, vjps] = mx::vjp(cubes, {mx::array({1.0f, 2.0f})}, {mx::array({10.0f, 100.0f})});
  EXPECT_EQ(sum_of(values[0]), 9.0f);
  EXPECT_EQ(sum_of(vjps[0]), 30.0f + 1200.0f);
  const auto [same, jvps] = mx::jvp(cubes, {mx::array({1.0f, 2.0f})}, {mx::array({10.0f, 100.0f})});
  EXPECT_EQ(sum_of(same[0]), 9.0f);
  EXPECT_EQ(sum_of(jvps[0]), 30.0f + 1200.0f);
}

TEST_F(ComposeOfCompiled, Vmap) {
  const auto mapped = mx::vmap(unary(compiled_cube_of));
  EXPECT_EQ(sum_of(mapped(mx::array({1.0f, 2.0f, 3.0f}))), 36.0f);
  const auto gradients = mx::vmap(mx::grad(unary(compiled_cube_of)));
  EXPECT_EQ(sum_of(gradients(mx::array({1.0f, 2.0f}))), 3.0f + 12.0f);
}

TEST_F(ComposeOfCompiled, Checkpoint) {
  const auto [values, vjps] = mx::vjp(mx::checkpoint(function_of_arrays(cubes)), {mx::array(2.0f)}, {mx::array(1.0f)});
  EXPECT_EQ(value_of(values[0]), 8.0f);
  EXPECT_EQ(value_of(vjps[0]), 12.0f);
}

TEST_F(ComposeOfCompiled, CustomVjp) {
  const auto halved =
      mx::custom_vjp(cubes, [](const std::vector<mx::array>& primals, const std::vector<mx::array>&,
                               const std::vector<mx::array>&) { return std::vector{compiled_cube(primals[0])}; });
  const auto [values, vjps] = mx::vjp(halved, {mx::array(2.0f)}, {mx::array(1.0f)});
  EXPECT_EQ(value_of(values[0]), 8.0f);
  EXPECT_EQ(value_of(vjps[0]), 8.0f) << "the rule that was given";
}

TEST_F(ComposeOfCompiled, Compile) {
  static int runs = 0;
  runs = 0;
  auto outer = compile<runs_once>([](const mx::array& x) {
    ++runs;
    return compiled_cube(x) + compiled_cube(x + x);
  });
  for (const float v : {1.0f, 2.0f}) EXPECT_EQ(value_of(outer(mx::array(v))), 9 * v * v * v);
  EXPECT_EQ(runs, 1);
  const auto mlx_compiled = mx::compile(function_of_arrays(cubes));
  EXPECT_EQ(value_of(mlx_compiled({mx::array(2.0f)})[0]), 8.0f);
}

// --- In-out state inside transformations. ----------------------------------------------------------------------------

TEST(Compose, StateIsReboundInsideATransformation) {
  struct state {
    mx::array total;
    int calls = 0;
  };
  auto add = compile([](state& s, const mx::array& x) {
    ++s.calls;
    s.total = s.total + x * x;
  });
  const auto twice = [&](const mx::array& x) {
    state s{mx::array(0.0f)};
    add(s, x);
    add(s, x);
    EXPECT_EQ(s.calls, 2);
    return s.total;
  };
  EXPECT_EQ(value_of(mx::grad(unary(twice))(mx::array(3.0f))), 12.0f);
  EXPECT_EQ(add.stats().traces, 0u);
  EXPECT_EQ(value_of(twice(mx::array(3.0f))), 18.0f);
}

TEST(Compose, InputsInsideATransformationAreCopies) {
  auto square = compile([](mx::array x) {
    x = x * x;
    return x;
  });
  auto generic = compile([](auto&& x) {
    x = x * x;
    return x;
  });
  const auto fourth = [&](const mx::array& x) {
    mx::array mine = x;
    return square(mine) * generic(mine);
  };
  EXPECT_EQ(value_of(mx::grad(unary(fourth))(mx::array(2.0f))), 32.0f);
  EXPECT_EQ(value_of(fourth(mx::array(2.0f))), 16.0f);
}

// --- Inside a compiled function. -------------------------------------------------------------------------------------

struct layer {
  mx::array weight;
  std::optional<mx::array> bias;
};
struct model {
  std::vector<layer> layers;
  float scale = 1;
};
struct train_state {
  model net;
  mx::array steps;
};

model make_model() {
  return {{{mx::array({0.5f, -0.25f, 0.75f, 1.0f}, {2, 2}), mx::array({0.1f, -0.2f})},
           {mx::array({1.5f, 0.5f, -0.5f, 0.25f}, {2, 2}), std::nullopt}},
          0.5f};
}

mx::array loss_of(const model& net, const mx::array& x) {
  mx::array h = x;
  for (const layer& l : net.layers) {
    h = mx::matmul(h, l.weight);
    if (l.bias) h = h + *l.bias;
    h = mx::tanh(h);
  }
  return mx::mean(mx::square(h)) * net.scale;
}
auto compiled_loss = compile<&loss_of>();

template <class Loss> mx::array train(Loss&& loss, train_state& state, const mx::array& x) {
  auto [value, gradient] = espalier::value_and_grad(loss)(state.net, x);
  state.net = espalier::tree_map_parameters([](const mx::array& p, const mx::array& g) { return p - g * 0.1f; },
                                            state.net, gradient);
  state.steps = state.steps + mx::array(1.0f);
  return value;
}

TEST(Compose, ACompiledLossInsideACompiledStep) {
  auto step = compile([](train_state& state, const mx::array& x) {
    return train([](const model& net, const mx::array& batch) { return compiled_loss(net, batch); }, state, x);
  });
  train_state compiled{make_model(), mx::array(0.0f)};
  train_state plain = compiled;
  const mx::array x({1.0f, -1.0f, 0.5f, 2.0f}, {2, 2});
  for (int i = 0; i < 5; ++i) {
    const float loss = value_of(step(compiled, x));
    EXPECT_FLOAT_EQ(loss, value_of(train(loss_of, plain, x)));
    EXPECT_NEAR(loss, value_of(compiled_loss(plain.net, x)), 0.05f);
  }
  for (std::size_t l = 0; l < 2; ++l) {
    EXPECT_TRUE(mx::allclose(compiled.net.layers[l].weight, plain.net.layers[l].weight).item<bool>());
  }
  EXPECT_TRUE(mx::allclose(*compiled.net.layers[0].bias, *plain.net.layers[0].bias).item<bool>());
  EXPECT_EQ(value_of(compiled.steps), 5.0f);
  EXPECT_EQ(step.stats().traces, 1u);
}

TEST(Compose, EveryTransformationInsideACompiledFunction) {
  const mx::array x({1.0f, 2.0f});
  auto gradient = compile(
      [](const mx::array& a) { return mx::grad(unary([](const mx::array& b) { return mx::sum(cube(b)); }))(a); });
  auto second = compile([](const mx::array& a) {
    const auto once = mx::grad(unary([](const mx::array& b) { return mx::sum(compiled_cube(b)); }));
    return mx::grad(unary([&](const mx::array& b) { return mx::sum(once(b)); }))(a);
  });
  auto vjp = compile([](const mx::array& a) { return mx::vjp(plain_cubes, {a}, {a}).second[0]; });
  auto jvp = compile([](const mx::array& a) { return mx::jvp(cubes, {a}, {a}).second[0]; });
  auto vmap = compile([](const mx::array& a) { return mx::vmap(unary(cube))(a); });
  auto vmap_grad = compile([](const mx::array& a) { return mx::vmap(mx::grad(unary(cube)))(a); });
  auto checkpoint = compile([](const mx::array& a) {
    return mx::vjp(mx::checkpoint(function_of_arrays(cubes)), {a}, {mx::ones_like(a)}).second[0];
  });
  for (int call = 0; call < 2; ++call) {
    EXPECT_EQ(sum_of(gradient(x)), 3.0f + 12.0f);
    EXPECT_EQ(sum_of(second(x)), 6.0f + 12.0f);
    EXPECT_EQ(sum_of(vjp(x)), 3.0f + 24.0f);
    EXPECT_EQ(sum_of(jvp(x)), 3.0f + 24.0f);
    EXPECT_EQ(sum_of(vmap(x)), 9.0f);
    EXPECT_EQ(sum_of(vmap_grad(x)), 15.0f);
    EXPECT_EQ(sum_of(checkpoint(x)), 15.0f);
  }
  for (const auto& stats : {gradient.stats(), second.stats(), vjp.stats(), jvp.stats(), vmap.stats(), vmap_grad.stats(),
                            checkpoint.stats()}) {
    EXPECT_EQ(stats.traces, 1u);
    EXPECT_EQ(stats.hits, 1u);
  }
}

TEST(Compose, MlxCompileInsideACompiledFunction) {
  auto outer = compile(
      [](const mx::array& x) { return mx::compile(function_of_arrays(plain_cubes))({x})[0] + mx::array(1.0f); });
  EXPECT_EQ(value_of(outer(mx::array(2.0f))), 9.0f);
  EXPECT_EQ(value_of(outer(mx::array(3.0f))), 28.0f);
}

TEST(Compose, AFunctionCompiledInsideATracedFunction) {
  auto outer = compile([](const mx::array& x) {
    auto inner = compile([](const mx::array& y) { return y + y; });
    return inner(inner(x));
  });
  for (const float v : {1.0f, 2.0f}) EXPECT_EQ(value_of(outer(mx::array(v))), 4 * v);
  EXPECT_EQ(outer.stats().traces, 1u);
}

// --- A function that calls its own compiled form. --------------------------------------------------------------------

mx::array countdown(const mx::array& x, int depth);
auto compiled_countdown = compile<&countdown>();
mx::array countdown(const mx::array& x, int depth) {
  return depth == 0 ? x : compiled_countdown(x + x, depth - 1);  // the same shape, another constant
}

TEST(Compose, AFunctionMayCallItsCompiledFormWithOtherConstants) {
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(value_of(compiled_countdown(mx::array(1.0f), 0)), 1.0f);
    EXPECT_EQ(value_of(compiled_countdown(mx::array(1.0f), 5)), 32.0f);
    EXPECT_EQ(value_of(compiled_countdown(mx::array(3.0f), 2)), 12.0f);
  }
  EXPECT_EQ(compiled_countdown.stats().traces, 3u) << "only outermost calls are traced";
}

mx::array folded(const mx::array& x);
auto compiled_folded = compile<&folded>();
mx::array folded(const mx::array& x) {
  if (x.size() == 1) return mx::sum(x);
  const std::vector<mx::array> halves = mx::split(x, 2);
  return compiled_folded(halves[0]) + compiled_folded(halves[1]);  // other shapes
}

TEST(Compose, AFunctionMayCallItsCompiledFormWithOtherShapes) {
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(value_of(compiled_folded(mx::arange(8.0f))), 28.0f);
    EXPECT_EQ(value_of(compiled_folded(mx::arange(4.0f))), 6.0f);
  }
  EXPECT_EQ(compiled_folded.stats().traces, 2u);
}

int calls_to_go = 0;
mx::array repeated(const mx::array& x);
auto compiled_repeated = compile<&repeated, runs_once>();
mx::array repeated(const mx::array& x) {
  return calls_to_go-- > 0 ? compiled_repeated(x) * 2.0f : x;  // the very same key
}

TEST(Compose, AFunctionMayCallItsCompiledFormWithTheSameKey) {
  calls_to_go = 3;
  EXPECT_EQ(value_of(compiled_repeated(mx::array(1.0f))), 8.0f);
  EXPECT_EQ(value_of(compiled_repeated(mx::array(2.0f))), 16.0f);
  EXPECT_EQ(compiled_repeated.stats().traces, 1u);
}

struct recursive_sum {
  std::vector<mx::array> values;
  mx::array operator()(const mx::array& x) const {
    if (values.empty()) return x;
    recursive_sum rest{{values.begin() + 1, values.end()}};
    return compile(std::move(rest))(x + values.front());
  }
};

TEST(Compose, AFunctorMayCompileASmallerOneOfItsType) {
  auto sum = compile(recursive_sum{{mx::array(1.0f), mx::array(2.0f), mx::array(3.0f)}});
  EXPECT_EQ(value_of(sum(mx::array(10.0f))), 16.0f);
  EXPECT_EQ(value_of(sum(mx::array(20.0f))), 26.0f);
  EXPECT_EQ(sum.stats().traces, 1u);
}

// --- Callables. ------------------------------------------------------------------------------------------------------

mx::array scaled_by(const mx::array& x, const model& net) { return x * net.scale; }
mx::array in_place(mx::array& x, float by) {
  x = x + mx::array(by);
  return x * 2.0f;
}
mx::array not_throwing(mx::array x) noexcept { return x + x; }

TEST(Compose, FunctionsAsTemplateArguments) {
  auto scaled = compile<&scaled_by>();
  EXPECT_EQ(value_of(scaled(mx::array(4.0f), make_model())), 2.0f);
  auto stateful = compile<&in_place, compile_options{.max_traces = 2}>();
  mx::array x(1.0f);
  EXPECT_EQ(value_of(stateful(x, 1)), 4.0f);
  EXPECT_EQ(value_of(stateful(x, 2)), 8.0f);
  EXPECT_EQ(value_of(x), 4.0f);
  EXPECT_THROW(stateful(x, 3), espalier::retrace_error);
  EXPECT_EQ(value_of(compile<&not_throwing>()(mx::array(2.0f))), 4.0f);
}

struct predictor {
  model net;
  std::map<std::string, mx::array> offsets;
  mx::array operator()(const mx::array& x) const {
    mx::array y = loss_of(net, x);
    for (const auto& [name, value] : offsets) y = y + value;
    return y;
  }
};

TEST(Compose, FieldsOfAFunctorMayBeTrees) {
  predictor plain{make_model(), {{"a", mx::array(1.0f)}}};
  auto compiled = compile(plain);
  const mx::array x({1.0f, -1.0f}, {1, 2});
  EXPECT_FLOAT_EQ(value_of(compiled(x)), value_of(plain(x)));
  for (predictor* p : {&plain, &compiled.function()}) p->net.layers[1].weight = mx::ones({2, 2});
  EXPECT_FLOAT_EQ(value_of(compiled(x)), value_of(plain(x)));
  EXPECT_EQ(compiled.stats().traces, 1u) << "arrays are inputs";
  for (predictor* p : {&plain, &compiled.function()}) p->offsets.insert_or_assign("b", mx::array(10.0f));
  EXPECT_FLOAT_EQ(value_of(compiled(x)), value_of(plain(x)));
  for (predictor* p : {&plain, &compiled.function()}) p->net.layers.pop_back();
  EXPECT_FLOAT_EQ(value_of(compiled(x)), value_of(plain(x)));
  EXPECT_EQ(compiled.stats().traces, 3u) << "structure is a constant";

  // Inside a gradient it runs as it is, with the fields that it has now.
  const auto gradient = mx::grad(unary([&](const mx::array& a) { return compiled(a); }))(x);
  const auto expected = mx::grad(unary([&](const mx::array& a) { return plain(a); }))(x);
  EXPECT_TRUE(mx::allclose(gradient, expected).item<bool>());
}

struct trainer {
  train_state state;
  std::vector<mx::array> history;
  mx::array operator()(const mx::array& x) {
    const mx::array loss = train(loss_of, state, x);
    if (history.size() < 2) history.push_back(loss);
    return loss;
  }
};

TEST(Compose, FieldsOfAFunctorThatChangesThemMayBeTrees) {
  trainer plain{{make_model(), mx::array(0.0f)}, {}};
  auto compiled = compile(plain);
  const mx::array x({1.0f, -1.0f}, {1, 2});
  for (int i = 0; i < 4; ++i) EXPECT_FLOAT_EQ(value_of(compiled(x)), value_of(plain(x)));
  EXPECT_EQ(value_of(compiled.function().state.steps), 4.0f);
  ASSERT_EQ(compiled.function().history.size(), 2u);
  EXPECT_FLOAT_EQ(value_of(compiled.function().history[1]), value_of(plain.history[1]));
  EXPECT_EQ(compiled.stats().traces, 3u);
}

mx::array endless(const mx::array& x);
auto compiled_endless = compile<&endless>();
mx::array endless(const mx::array& x) { return compiled_endless(x) + x; }

TEST(Compose, AFunctionThatCallsItsCompiledFormWithoutEndIsAnError) {
  EXPECT_THROW(compiled_endless(mx::array(1.0f)), espalier::trace_error);
  EXPECT_EQ(compiled_endless.stats().entries, 0u);
}

}  // namespace
