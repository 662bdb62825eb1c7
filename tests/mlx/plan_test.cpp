#include <gtest/gtest.h>
#include <mlx/mlx.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <espalier/mlx/engine.hpp>
#include <espalier/mlx/plan.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <ostream>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace mx = ::mlx::core;
using array_function = espalier::array_function<mx::array>;
using espalier::detail::captured_array;
using espalier::detail::captures_arrays;
using espalier::detail::escaped_array;
using espalier::detail::mlx_plan;
using origin = captured_array::origin;
using arrays = std::vector<mx::array>;

std::vector<const mx::array*> pointers(const arrays& a) {
  std::vector<const mx::array*> p;
  for (const auto& x : a) p.push_back(&x);
  return p;
}

arrays replayed(const mlx_plan& plan, const std::vector<const mx::array*>& inputs) {
  arrays values;
  plan.replay(inputs, values);
  EXPECT_EQ(values.size(), plan.num_values());
  arrays outputs;
  for (const auto& [is_input, index] : plan.outputs()) outputs.push_back(is_input ? *inputs[index] : values[index]);
  return outputs;
}
arrays replayed(const mlx_plan& plan, const arrays& inputs) { return replayed(plan, pointers(inputs)); }

mx::array normal(mx::Shape shape, std::uint64_t seed) {
  return mx::random::normal(std::move(shape), mx::float32, mx::random::key(seed));
}

// Same shape, dtype and bits.
void expect_same(const arrays& got, const arrays& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    auto a = mx::contiguous(got[i]);
    auto b = mx::contiguous(expected[i]);
    mx::eval(a, b);
    ASSERT_EQ(a.shape(), b.shape()) << "output " << i;
    ASSERT_EQ(a.dtype(), b.dtype()) << "output " << i;
    if (a.nbytes() == 0) continue;
    EXPECT_EQ(std::memcmp(a.data<char>(), b.data<char>(), a.nbytes()), 0) << "output " << i << "\n" << a << b;
  }
}

struct graph {
  const char* name;
  std::function<arrays(std::uint64_t seed)> inputs;  // other values and the same shapes for every seed
  array_function f;
};

void PrintTo(const graph& g, std::ostream* out) { *out << g.name; }

std::function<arrays(std::uint64_t)> normals(std::vector<mx::Shape> shapes) {
  return [shapes](std::uint64_t seed) {
    arrays a;
    for (const auto& s : shapes) a.push_back(normal(s, seed * 100 + a.size()));
    return a;
  };
}

mx::array positive_definite(const mx::array& a) {
  return mx::add(mx::matmul(a, mx::transpose(a)), mx::eye(a.shape(0)));
}

const mx::Device cpu{mx::Device::cpu};

const std::vector<graph> graphs = {
    {"elementwise_chain", normals({{3, 4}, {4}}),
     [](const arrays& x) { return arrays{mx::tanh(mx::exp(x[0]) * x[1] + x[0]) - mx::array(0.5f)}; }},
    {"broadcast_and_branches", normals({{3, 1}, {4}}),
     [](const arrays& x) {
       const auto s = x[0] + x[1];
       return arrays{s * s, mx::maximum(s, x[0]), mx::where(s > x[1], s, x[1])};
     }},
    {"matmul", normals({{3, 4}, {4, 5}}), [](const arrays& x) { return arrays{mx::matmul(x[0], x[1])}; }},
    {"matmul_by_its_own_transpose", normals({{3, 4}}),
     [](const arrays& x) { return arrays{mx::matmul(x[0], mx::transpose(x[0]))}; }},
    {"reductions", normals({{3, 4}}),
     [](const arrays& x) {
       return arrays{mx::sum(x[0]), mx::max(x[0], 1), mx::mean(x[0], 0, true), mx::argmin(x[0]), mx::logsumexp(x[0])};
     }},
    {"split", normals({{6, 2}}),
     [](const arrays& x) {
       const auto parts = mx::split(x[0], 3);
       return arrays{parts[2], parts[0], mx::sort(parts[1], 0)};
     }},
    {"split_with_one_part_used", normals({{6, 2}}), [](const arrays& x) { return arrays{mx::split(x[0], 3)[1]}; }},
    {"sibling_used_twice_in_one_op", normals({{6, 6}}),
     [](const arrays& x) {
       const auto parts = mx::split(x[0], 2, 1);
       return arrays{mx::matmul(mx::transpose(parts[1]), parts[1]), parts[0]};
     }},
    {"divmod", normals({{5}, {5}}), [](const arrays& x) { return mx::divmod(x[0], mx::abs(x[1])); }},
    {"svd", normals({{4, 3}}), [](const arrays& x) { return mx::linalg::svd(x[0], true, cpu); }},
    {"inverse_and_cholesky", normals({{3, 3}}),
     [](const arrays& x) {
       const auto a = positive_definite(x[0]);
       return arrays{mx::linalg::inv(a, cpu), mx::linalg::cholesky(a, false, cpu)};
     }},
    {"random_with_a_key_input", [](std::uint64_t seed) { return arrays{mx::random::key(seed)}; },
     [](const arrays& x) {
       const auto [k1, k2] = mx::random::split(x[0]);
       return arrays{mx::random::normal({3, 2}, mx::float32, k1), mx::random::bernoulli(0.5f, {7}, k2), k1};
     }},
    {"rms_norm_and_layer_norm", normals({{3, 8}, {8}}),
     [](const arrays& x) {
       return arrays{mx::fast::rms_norm(x[0], x[1], 1e-5f), mx::fast::layer_norm(x[0], x[1], std::nullopt, 1e-5f)};
     }},
    {"attention", normals({{1, 2, 5, 8}, {1, 2, 5, 8}}),
     [](const arrays& x) { return arrays{mx::fast::scaled_dot_product_attention(x[0], x[1], x[1], 0.3f, "causal")}; }},
    {"gather_and_scatter",
     [](std::uint64_t seed) { return arrays{normal({5, 3}, seed), mx::array({4, 0, static_cast<int>(seed % 4)})}; },
     [](const arrays& x) {
       const auto rows = mx::take(x[0], x[1], 0);
       return arrays{rows, mx::scatter_add(x[0], x[1], mx::expand_dims(rows, 1), 0)};
     }},
    {"slice_and_slice_update", normals({{5, 3}, {2, 3}}),
     [](const arrays& x) {
       return arrays{mx::slice_update(x[0], x[1], mx::Shape{1, 0}, mx::Shape{3, 3}),
                     mx::slice(x[0], {0, 1}, {5, 3}, {2, 1})};
     }},
    {"slice_update_at_a_dynamic_index",
     [](std::uint64_t seed) {
       return arrays{normal({5, 3}, seed), normal({1, 3}, seed + 1), mx::array({static_cast<int>(seed % 5)})};
     },
     [](const arrays& x) { return arrays{mx::slice_update(x[0], x[1], x[2], {0})}; }},
    {"sort_and_cumsum", normals({{4, 5}}),
     [](const arrays& x) { return arrays{mx::sort(x[0]), mx::argsort(x[0], 0), mx::cumsum(x[0], 1)}; }},
    {"softmax", normals({{4, 5}}), [](const arrays& x) { return arrays{mx::softmax(x[0], -1)}; }},
    {"conv2d", normals({{1, 5, 5, 2}, {3, 2, 2, 2}}), [](const arrays& x) { return arrays{mx::conv2d(x[0], x[1])}; }},
    {"quantized_matmul", normals({{2, 64}, {8, 64}}),
     [](const arrays& x) {
       const auto q = mx::quantize(x[1], 32, 4);
       return arrays{mx::quantized_matmul(x[0], q[0], q[1], q[2], true, 32, 4), q[0], q[2]};
     }},
    {"fft", normals({{8}}), [](const arrays& x) { return arrays{mx::fft::rfft(x[0])}; }},
    {"dtypes", normals({{4}}),
     [](const arrays& x) {
       return arrays{mx::astype(x[0], mx::bfloat16), mx::astype(x[0], mx::int8), x[0] > mx::array(0.0f),
                     mx::view(x[0], mx::uint32)};
     }},
    {"value_and_grad", normals({{4, 3}, {3}, {4}}),
     [](const arrays& x) {
       const auto loss = [](const arrays& p) {
         return arrays{mx::mean(mx::square(mx::tanh(mx::matmul(p[0], p[1])) - p[2]))};
       };
       auto [values, gradients] = mx::value_and_grad(loss, std::vector<int>{0, 1})(x);
       values.insert(values.end(), gradients.begin(), gradients.end());
       return values;
     }},
    {"custom_vjp", normals({{4}}),
     [](const arrays& x) {
       const auto f = mx::custom_vjp([](const arrays& p) { return arrays{mx::square(p[0])}; },
                                     [](const arrays& p, const arrays& cotangents, const arrays&) {
                                       return arrays{cotangents[0] * p[0] * mx::array(3.0f)};
                                     });
       return arrays{f(x)[0], mx::grad([f](const arrays& p) { return mx::sum(f(p)[0]); })(x)[0]};
     }},
    {"checkpoint", normals({{4}}),
     [](const arrays& x) {
       const auto f = mx::checkpoint([](const arrays& p) { return arrays{mx::sum(mx::square(mx::square(p[0])))}; });
       return arrays{f(x)[0], mx::grad([f](const arrays& p) { return f(p)[0]; })(x)[0]};
     }},
    {"vmap", normals({{4, 3}}),
     [](const arrays& x) { return arrays{mx::vmap([](const mx::array& row) { return mx::cumsum(row, 0); })(x[0])}; }},
    {"compiled_function_inside", normals({{4}}),
     [](const arrays& x) { return mx::compile([](const arrays& y) { return arrays{mx::abs(y[0]) + y[0]}; })(x); }},
    {"pass_through_swapped", normals({{4}, {4}, {}}), [](const arrays& x) { return arrays{x[1], x[2], x[0]}; }},
    {"pass_through_and_used", normals({{4}, {4}}), [](const arrays& x) { return arrays{x[0], x[0] + x[1], x[1]}; }},
    {"stop_gradient_of_an_input", normals({{4}}), [](const arrays& x) { return arrays{mx::stop_gradient(x[0])}; }},
    {"same_output_twice", normals({{4}}),
     [](const arrays& x) {
       const auto y = mx::sort(x[0]);
       return arrays{y, mx::flatten(y), y, mx::cumsum(y, 0)};
     }},
    {"equal_expressions", normals({{4}}),
     [](const arrays& x) { return arrays{mx::sort(x[0]), mx::sort(x[0]), mx::sort(x[0]) + mx::sort(x[0])}; }},
    {"same_input_twice_in_one_op", normals({{3, 3}}),
     [](const arrays& x) {
       const auto y = mx::sort(x[0]);
       return arrays{x[0] + x[0], mx::matmul(y, y), mx::concatenate({x[0], y, x[0], y})};
     }},
    {"constant_outputs", normals({{}}),
     [](const arrays& x) {
       const mx::array one(1.0f);
       return arrays{one, mx::array(1.0f), x[0] + one, one, mx::array({1, 2, 3}), mx::zeros({2, 2}), mx::arange(4)};
     }},
    {"constants_evaluated_in_the_trace", normals({{4}}),
     [](const arrays& x) {
       auto c = mx::exp(mx::array({1.0f, 2.0f, 3.0f, 4.0f}));
       c.eval();
       return arrays{c, c + x[0]};
     }},
    {"unused_inputs", normals({{4}, {4}, {4}}), [](const arrays& x) { return arrays{mx::cumsum(x[1], 0)}; }},
    {"no_outputs", normals({{4}}), [](const arrays&) { return arrays{}; }},
    {"no_inputs", normals({}), [](const arrays&) { return arrays{mx::arange(3), mx::array(2)}; }},
    {"zero_size", normals({{0, 3}, {3}}),
     [](const arrays& x) { return arrays{x[0] + x[1], mx::sum(x[0], 0), mx::concatenate({x[0], x[0]}), x[0]}; }},
    {"shapes_of_rank_12", normals({{1, 2, 1, 1, 2, 1, 1, 1, 1, 1, 1, 2}}),
     [](const arrays& x) { return arrays{mx::transpose(x[0]), mx::sort(x[0])}; }},
};

class plan_replays : public testing::TestWithParam<graph> {};

TEST_P(plan_replays, the_bits_of_the_uncompiled_function) {
  const auto& [name, inputs, f] = GetParam();
  const auto plan = mlx_plan::record(pointers(inputs(1)), f);
  EXPECT_EQ(plan.num_inputs(), inputs(1).size());
  for (std::uint64_t seed = 2; seed < 4; ++seed) {
    const auto x = inputs(seed);
    const auto got = replayed(plan, x);
    EXPECT_EQ(got.size(), plan.outputs().size());
    expect_same(got, f(x));
  }
}

TEST_P(plan_replays, the_bits_of_the_uncompiled_function_with_compilation_disabled) {
  struct disabled {
    disabled() { mx::disable_compile(); }
    ~disabled() { mx::enable_compile(); }
  };
  const auto& [name, inputs, f] = GetParam();
  const auto plan = [&, d = disabled()] { return mlx_plan::record(pointers(inputs(1)), f); }();
  const auto x = inputs(2);
  expect_same(replayed(plan, x), f(x));
}

INSTANTIATE_TEST_SUITE_P(graphs, plan_replays, testing::ValuesIn(graphs),
                         [](const auto& test) { return std::string(test.param.name); });

arrays add(const arrays& x) { return {x[0] + x[1]}; }

TEST(plan, keeps_the_same_array_given_twice_as_two_inputs) {
  const auto a = normal({3}, 1);
  const auto f = [](const arrays& x) { return arrays{x[0] - x[1] - x[1]}; };
  const auto plan = mlx_plan::record(std::array{&a, &a}, f);
  const arrays other = {normal({3}, 2), normal({3}, 3)};
  expect_same(replayed(plan, other), f(other));
}

TEST(plan, ends_at_inputs_which_are_unevaluated_graphs) {
  const auto a = normal({3}, 1);
  const auto b = mx::sort(a);  // b's graph contains a
  const arrays inputs = {b, a};
  const auto plan = mlx_plan::record(pointers(inputs), add);
  EXPECT_EQ(plan.num_steps(), 1U);
  expect_same(replayed(plan, inputs), add(inputs));
  const arrays other = {normal({3}, 2), normal({3}, 3)};
  expect_same(replayed(plan, other), add(other));
}

TEST(plan, keeps_the_fusion_of_mlx) {
  const auto f = [](const arrays& x) { return arrays{mx::tanh(mx::exp(mx::sin(x[0])) * x[0])}; };
  const arrays inputs = {normal({3}, 1)};
  EXPECT_EQ(mlx_plan::record(pointers(inputs), f).num_steps(), 1U);
}

TEST(plan, keeps_a_lazy_load_as_a_constant) {
  const auto file = (std::filesystem::temp_directory_path() / "espalier_plan_test.npy").string();
  const auto saved = normal({3}, 1);
  mx::save(file, saved);
  const arrays inputs = {normal({3}, 2)};
  const auto plan = mlx_plan::record(pointers(inputs),
                                     [&](const arrays& x) { return arrays{mx::load(file), mx::load(file) - x[0]}; });
  const auto first = replayed(plan, inputs);
  expect_same(first, {saved, saved - inputs[0]});
  std::filesystem::remove(file);
  expect_same(replayed(plan, inputs), {saved, saved - inputs[0]});
}

TEST(plan, tells_outputs_that_pass_an_input_through) {
  const arrays x = {normal({3}, 1), normal({3}, 2), normal({3}, 3)};
  const auto plan = mlx_plan::record(
      pointers(x), [](const arrays& y) { return arrays{y[2], y[0] + y[1], mx::array(5.0f), y[1], y[1]}; });
  const auto outputs = plan.outputs();
  using output = espalier::plan_output;
  ASSERT_EQ(outputs.size(), 5U);
  EXPECT_EQ(outputs[0], (output{true, 2}));
  EXPECT_FALSE(outputs[1].is_input);
  EXPECT_FALSE(outputs[2].is_input);
  EXPECT_EQ(outputs[3], (output{true, 1}));
  EXPECT_EQ(outputs[4], (output{true, 1}));
  EXPECT_EQ(plan.num_values(), 2U);
  expect_same(replayed(plan, x), {x[2], x[0] + x[1], mx::array(5.0f), x[1], x[1]});
}

TEST(plan, traces_once_on_a_thread_without_a_default_stream) {
  int traces = 0;
  std::thread([&] {
    const arrays x = {mx::array({1.0f}), mx::array({2.0f})};
    const auto plan = mlx_plan::record(pointers(x), [&](const arrays& y) {
      ++traces;
      return add(y);
    });
    for (int i = 0; i < 3; ++i) replayed(plan, x);
  }).join();
  EXPECT_EQ(traces, 1);
}

// MLX keys a function pointer by its address, and would never free that entry.
TEST(plan, traces_again_for_every_recording_of_a_function_pointer) {
  static int traces;
  traces = 0;
  const array_function f = +[](const arrays& x) {
    ++traces;
    return add(x);
  };
  const arrays x = {normal({3}, 1), normal({3}, 2)};
  for (int i = 0; i < 3; ++i) expect_same(replayed(mlx_plan::record(pointers(x), f), x), add(x));
  EXPECT_EQ(traces, 3);
}

TEST(plan, throws_what_the_function_throws_and_keeps_nothing) {
  struct our_error {};
  const arrays x = {normal({3}, 1), normal({3}, 2)};
  auto constant = normal({3}, 3);
  constant.eval();
  bool fail = true;
  const array_function f = [&](const arrays& y) {
    const arrays z = {(y[0] + y[1]) * constant};
    if (fail) throw our_error();
    return z;
  };
  for (int i = 0; i < 3; ++i) EXPECT_THROW(mlx_plan::record(pointers(x), f), our_error);
  EXPECT_TRUE(constant.is_donatable());  // no trace holds it
  fail = false;
  expect_same(replayed(mlx_plan::record(pointers(x), f), x), f(x));
  EXPECT_THROW(mlx_plan::record(pointers(x), [](const arrays& y) { return arrays{mx::matmul(y[0], mx::eye(5))}; }),
               std::invalid_argument);
}

TEST(plan, refuses_to_evaluate_a_placeholder) {
  const arrays x = {mx::array(1.0f), normal({4}, 1)};
  const array_function readers[] = {
      [](const arrays& y) {
        auto a = y[0];
        return arrays{y[1] * mx::array(a.item<float>())};
      },
      [](const arrays& y) {
        auto a = y[0] + y[0];
        return arrays{y[1] * mx::array(a.item<float>())};
      },
      [](const arrays& y) {
        const auto a = y[0] + y[0];
        return arrays{y[1] * mx::array(a.item<float>())};
      },
      [](const arrays& y) {
        mx::eval(y);
        return y;
      },
      [](const arrays& y) {
        mx::eval(mx::split(y[1], 2));
        return y;
      },
      [](const arrays& y) {
        mx::async_eval(y[0] + y[0]);
        return y;
      },
      [](const arrays& y) {
        return arrays{mx::value_and_grad([](const mx::array& z) {
                        auto s = mx::sum(z);
                        return s * mx::array(s.item<float>());
                      })(y[1])
                          .first};
      },
  };
  for (const auto& f : readers) {
    EXPECT_THROW(mlx_plan::record(pointers(x), f), std::invalid_argument);
    mx::disable_compile();
    EXPECT_THROW(mlx_plan::record(pointers(x), f), std::exception);
    mx::enable_compile();
  }
  expect_same(replayed(mlx_plan::record(pointers(x), add), x), add(x));
}

TEST(plan, names_an_array_that_escaped_another_trace) {
  const arrays x = {mx::array(1.0f), mx::array(2.0f)};
  arrays kept;
  mlx_plan::record(pointers(x), [&](const arrays& y) { return kept = {y[0], y[0] + y[1]}; });
  for (const auto& k : kept) {
    try {
      mlx_plan::record(pointers(x), [&](const arrays& y) { return arrays{y[0] * k}; });
      ADD_FAILURE() << "did not throw";
    } catch (const escaped_array& e) {
      EXPECT_NE(std::string(e.what()).find("function was traced"), std::string::npos) << e.what();
    }
  }
}

TEST(plan, keeps_no_reference_to_inputs_or_outputs) {
  arrays x = {normal({3}, 1), normal({3}, 2), normal({3}, 3)};
  mx::eval(x);
  const auto plan = mlx_plan::record(pointers(x), [](const arrays& y) {
    const auto parts = mx::split(mx::sort(y[0]), 3);
    return arrays{y[1], y[2], parts[0] + y[1], parts[2]};
  });
  auto out = replayed(plan, x);
  mx::eval(out);
  out.clear();
  for (const auto& a : x) EXPECT_TRUE(a.is_donatable());
}

TEST(plan, lets_mlx_update_dropped_state_in_place) {
  constexpr int n = 1 << 22;  // 16 MiB
  constexpr std::size_t bytes = n * sizeof(float);
  mx::array x = mx::zeros({n});
  const mx::array one(1.0f);
  mx::eval(x);
  const auto plan = mlx_plan::record(std::array<const mx::array*, 2>{&x, &one}, [](const arrays& y) {
    return arrays{mx::slice_update(mx::abs(y[0]) + y[1], mx::expand_dims(y[1], 0), mx::Shape{0}, mx::Shape{1})};
  });
  const auto step = [&] {
    x = replayed(plan, {&x, &one})[0];
    mx::eval(x);
  };
  step();
  mx::clear_cache();
  mx::reset_peak_memory();
  const auto before = mx::get_active_memory();
  for (int i = 0; i < 5; ++i) step();
  EXPECT_LT(mx::get_peak_memory(), before + bytes / 2);

  const auto kept = x;
  step();
  EXPECT_GE(mx::get_peak_memory(), before + bytes);  // so the measure above measures something
  EXPECT_EQ(mx::sum(mx::slice(x, {1}, {3})).item<float>(), 14.0f);
  EXPECT_EQ(mx::sum(mx::slice(kept, {1}, {3})).item<float>(), 12.0f);
}

std::size_t heap_in_use() {
#if defined(__GLIBC__)
  return mallinfo2().uordblks;
#else
  return 0;
#endif
}

TEST(plan, does_not_grow_memory_in_10000_replays_or_in_300_recordings) {
  const arrays x = {normal({64, 64}, 1), normal({64, 64}, 2)};
  const array_function f = [](const arrays& y) {
    const auto parts = mx::split(mx::matmul(y[0], y[1]), 2);
    return arrays{parts[0], mx::sort(parts[1]), y[0], mx::array(3.0f)};
  };
  const auto plan = mlx_plan::record(pointers(x), f);
  const auto replay = [&](int times, int evaluate_every) {
    for (int i = 0; i < times; ++i) {
      arrays out = replayed(plan, x);
      if (i % evaluate_every == 0) mx::eval(out);
    }
  };
  const auto record = [&](int times) {
    for (int i = 0; i < times; ++i) mlx_plan::record(pointers(x), f);
  };
  replay(100, 10);
  record(10);
  const auto arrays_before = mx::get_active_memory();
  const auto heap_before = heap_in_use();
  replay(10000, 10);
  record(300);
  EXPECT_LE(mx::get_active_memory(), arrays_before);
  EXPECT_LT(heap_in_use(), heap_before + 64 * 1024);
}

TEST(plan, replays_on_four_threads_each_with_its_own_plan) {
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&wrong, t] {
      arrays x = {mx::full({8}, static_cast<float>(t)), mx::array(1.0f)};
      const auto plan = mlx_plan::record(
          pointers(x), [](const arrays& y) { return arrays{mx::cumsum(mx::sort(y[0]), 0) * y[1], y[1] + y[1]}; });
      for (int i = 0; i < 200; ++i) {
        arrays out = replayed(plan, x);
        mx::eval(out);
        wrong += out[0].data<float>()[7] != 8.0f * static_cast<float>(t) || out[1].item<float>() != 2.0f;
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST(plan, builds_concurrently_from_one_plan) {
  const arrays x = {normal({3}, 1), normal({3}, 2)};
  const auto plan = mlx_plan::record(pointers(x), [](const arrays& y) {
    const auto parts = mx::split(y[0] + y[1], 3);
    return arrays{parts[0], parts[1] * mx::array({2.0f})};
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) replayed(plan, x);
    });
  }
  for (auto& t : threads) t.join();
  expect_same(replayed(plan, x),
              {mx::slice(x[0] + x[1], {0}, {1}), mx::slice(x[0] + x[1], {1}, {2}) * mx::array(2.0f)});
}

arrays long_chain(const arrays& x, int length) {
  auto y = x[0];
  for (int i = 0; i < length; ++i) y = mx::matmul(y, x[1]);
  return {y};
}

TEST(plan, lists_60000_steps_one_after_the_other) {
  const arrays x = {mx::array({1.0f, 2.0f}, {1, 2}), mx::array({0.0f, 1.0f, 1.0f, 0.0f}, {2, 2})};  // swaps
  int traces = 0;
  const auto plan = mlx_plan::record(pointers(x), [&](const arrays& y) {
    ++traces;
    return long_chain(y, 60001);
  });
  EXPECT_EQ(traces, 1);
  EXPECT_EQ(plan.num_steps(), 60001U);
  expect_same(replayed(plan, x), {mx::array({2.0f, 1.0f}, {1, 2})});
}

TEST(plan, lists_60000_steps_side_by_side) {
  const arrays x = {mx::arange(30)};
  const auto f = [](const arrays& y) {
    arrays out;
    for (int i = 0; i < 30; ++i) {
      out.push_back(mx::slice(y[0], {i}, {i + 1}));
      for (int j = 0; j < 2000; ++j) out.back() = mx::cumsum(out.back(), 0);
    }
    return out;
  };
  const auto plan = mlx_plan::record(pointers(x), f);
  EXPECT_EQ(plan.num_steps(), 60030U);
  const auto out = replayed(plan, x);
  expect_same({mx::concatenate(out)}, x);
}

// --- One plan for all shapes. ----------------------------------------------------------------------------------------

// MLX's own shapeless functions crash on the CPU where an axis that was reduced in the trace has length 1 (0.32.4): no
// such shape here.
TEST(shapeless_plan, replays_other_shapes_with_the_bits_of_the_uncompiled_function) {
  const array_function f = [](const arrays& x) {
    const auto y = mx::tanh(mx::matmul(x[0], x[1])) * x[2] + x[2];
    return arrays{y, mx::sum(y, 1), mx::softmax(y, -1), mx::transpose(x[0]), x[2], mx::sort(x[1], 0)};
  };
  const auto inputs = [](int n, int m, int k) { return arrays{normal({n, m}, 1), normal({m, k}, 2), normal({k}, 3)}; };
  const auto plan = mlx_plan::record(pointers(inputs(2, 3, 4)), f, {.shapeless = true});
  EXPECT_TRUE(plan.shapeless());
  EXPECT_EQ(plan.outputs()[4], (espalier::plan_output{true, 2}));
  for (const auto& x : {inputs(2, 3, 4), inputs(5, 3, 4), inputs(7, 1, 9), inputs(1, 8, 3), inputs(0, 3, 2)}) {
    expect_same(replayed(plan, x), f(x));
  }
}

TEST(shapeless_plan, replays_what_mlx_compiles_shapeless) {
  const array_function f = [](const arrays& x) {
    const auto qr = mx::divmod(x[0], mx::abs(x[1]));  // several outputs
    const auto loss = [](const arrays& p) { return arrays{mx::sum(mx::square(p[0] * p[1]))}; };
    const auto gradients = mx::value_and_grad(loss, std::vector<int>{0, 1})(x).second;
    return arrays{qr[0], qr[1], gradients[0], gradients[1]};
  };
  const arrays small = {normal({2, 3}, 1), normal({2, 3}, 2)};
  const arrays large = {normal({4, 7}, 3), normal({4, 7}, 4)};
  const auto plan = mlx_plan::record(pointers(small), f, {.shapeless = true});
  const auto peer = mx::compile(f, true);
  for (const auto& x : {small, large}) expect_same(replayed(plan, x), peer(x));
}

TEST(shapeless_plan, throws_what_mlx_says_of_an_operation_without_shape_inference) {
  const arrays x = {normal({4, 4}, 1)};
  const array_function f = [](const arrays& y) { return mx::linalg::svd(y[0], true, cpu); };
  EXPECT_NO_THROW(mlx_plan::record(pointers(x), f));
  std::string expected;
  try {
    mx::compile(f, true)(x);
  } catch (const std::exception& e) {
    expected = e.what();
  }
  EXPECT_NE(expected.find("SVD"), std::string::npos) << expected;
  try {
    mlx_plan::record(pointers(x), f, {.shapeless = true});
    ADD_FAILURE() << "did not throw";
  } catch (const std::exception& e) {
    EXPECT_EQ(e.what(), expected);
  }
}

TEST(shapeless_plan, refuses_to_be_recorded_without_compilation) {
  const arrays x = {normal({1, 2}, 1), normal({2, 2}, 2)};
  mx::disable_compile();
  EXPECT_THROW(mlx_plan::record(pointers(x), add, {.shapeless = true}), std::invalid_argument);
  mx::enable_compile();
  EXPECT_THROW(mlx_plan::record(pointers(x), [](const arrays& y) { return long_chain(y, 20002); }, {.shapeless = true}),
               std::invalid_argument);
}

// --- The graph as text. ----------------------------------------------------------------------------------------------

struct dot_graph {
  std::map<std::string, std::string> nodes;  // id -> label
  std::vector<std::pair<std::string, std::string>> edges;
};

// Reads the part of the DOT language that to_dot() may use, and fails on anything else.
dot_graph read_dot(const std::string& dot) {
  static const std::regex node_line(R"re(  (\w+) \[label="((?:[^"\\]|\\["\\n])*)", shape=\w+\];)re");
  static const std::regex edge_line(R"re(  (\w+) -> (\w+)(?: \[label="\d+"\])?;)re");
  dot_graph graph;
  std::istringstream text(dot);
  std::string line;
  std::getline(text, line);
  EXPECT_EQ(line, "digraph plan {");
  std::getline(text, line);
  EXPECT_EQ(line, "  node [shape=box];");
  while (std::getline(text, line) && line != "}") {
    std::smatch match;
    if (std::regex_match(line, match, edge_line)) {
      EXPECT_TRUE(graph.nodes.contains(match[1])) << line;
      EXPECT_TRUE(graph.nodes.contains(match[2])) << line;
      graph.edges.emplace_back(match[1], match[2]);
    } else if (std::regex_match(line, match, node_line)) {
      EXPECT_TRUE(graph.nodes.emplace(match[1], match[2]).second) << line;
    } else {
      ADD_FAILURE() << line;
    }
  }
  EXPECT_EQ(line, "}");
  return graph;
}

TEST(plan_dot, shows_inputs_constants_steps_and_outputs) {
  const arrays x = {normal({4, 3}, 1), normal({3, 2}, 2), mx::array(1)};
  const auto plan = mlx_plan::record(pointers(x), [](const arrays& y) {
    return arrays{mx::matmul(mx::matmul(y[0], y[1]), mx::ones({2, 5})), y[2], mx::array({7, 8})};
  });
  const auto graph = read_dot(plan.to_dot());
  EXPECT_EQ(graph.nodes.at("input0"), "input 0\\nfloat32[4, 3]");
  EXPECT_EQ(graph.nodes.at("input2"), "input 2\\nint32[]");
  EXPECT_EQ(graph.nodes.at("step0"), "Matmul\\nfloat32[4, 2]");
  EXPECT_EQ(graph.nodes.at("output2"), "output 2");
  using edge = std::pair<std::string, std::string>;
  for (const auto& e : {edge{"input0", "step0"}, {"input1", "step0"}, {"input2", "output1"}}) {
    EXPECT_EQ(std::count(graph.edges.begin(), graph.edges.end(), e), 1) << e.first << " -> " << e.second;
  }
  EXPECT_TRUE(std::any_of(graph.nodes.begin(), graph.nodes.end(),
                          [](const auto& node) { return node.second == "constant\\nint32[2]"; }));
}

TEST(plan_dot, numbers_the_outputs_of_a_step_with_several) {
  const arrays x = {normal({6, 2}, 1)};
  const auto dot = mlx_plan::record(pointers(x), [](const arrays& y) {
                     const auto parts = mx::split(y[0], 3);
                     return arrays{parts[2], parts[0]};
                   }).to_dot();
  EXPECT_NE(dot.find("Split\\n0: float32[2, 2]\\n1: float32[2, 2]\\n2: float32[2, 2]"), std::string::npos) << dot;
  EXPECT_NE(dot.find("step0 -> output0 [label=\"2\"];"), std::string::npos) << dot;
  EXPECT_NE(dot.find("step0 -> output1 [label=\"0\"];"), std::string::npos) << dot;
}

TEST_P(plan_replays, a_graph_that_reads_as_dot) {
  const auto& [name, inputs, f] = GetParam();
  const auto plan = mlx_plan::record(pointers(inputs(1)), f);
  const auto graph = read_dot(plan.to_dot());
  const auto count = [&](const std::string& kind) {
    return static_cast<std::size_t>(std::count_if(graph.nodes.begin(), graph.nodes.end(),
                                                  [&](const auto& node) { return node.first.rfind(kind, 0) == 0; }));
  };
  EXPECT_EQ(count("input"), plan.num_inputs());
  EXPECT_EQ(count("step"), plan.num_steps());
  EXPECT_EQ(count("output"), plan.outputs().size());
}

// --- What a function captures. ---------------------------------------------------------------------------------------

std::vector<captured_array> find_captured(const std::vector<const mx::array*>& inputs, const array_function& f) {
  try {
    mlx_plan::record(inputs, f, {.check_captures = true});
  } catch (const captures_arrays& found) {
    return found.arrays;
  }
  return {};
}

TEST(captured, nothing_of_a_function_of_its_arguments) {
  for (const auto& g : graphs) {
    const auto x = g.inputs(1);
    for (const auto& c : find_captured(pointers(x), g.f)) ADD_FAILURE() << g.name << ": " << c.to_string();
  }
}

TEST(captured, arrays_with_data_once_each_with_their_user) {
  const arrays x = {normal({3}, 1), normal({3, 4}, 2)};
  auto weights = normal({4, 5}, 3);
  const mx::array bias({1.0f, 2.0f, 3.0f});
  mx::eval(weights);
  int runs = 0;
  const auto captured = find_captured(pointers(x), [&](const arrays& y) {
    ++runs;
    return arrays{mx::matmul(y[1], weights), mx::matmul(y[1], weights), mx::exp(y[0] + bias), bias};
  });
  EXPECT_EQ(runs, 2);
  ASSERT_EQ(captured.size(), 2U);
  EXPECT_EQ(captured[0].from, origin::data);
  EXPECT_EQ(captured[0].shape, (mx::Shape{4, 5}));
  EXPECT_EQ(captured[0].dtype, mx::float32);
  EXPECT_EQ(captured[0].used_by, "Matmul");
  EXPECT_EQ(captured[0].input, std::nullopt);
  EXPECT_EQ(captured[0].to_string(), "float32[4, 5] array, used by Matmul");
  EXPECT_EQ(captured[1].to_string(), "float32[3] array, used by Add");
}

TEST(captured, a_pending_graph_as_one_array) {
  const arrays x = {normal({3}, 1)};
  const auto pending = mx::sort(mx::exp(mx::array({1.0f, 2.0f, 3.0f})));
  const auto captured = find_captured(pointers(x), [&](const arrays& y) { return arrays{y[0] * pending}; });
  ASSERT_EQ(captured.size(), 1U);
  EXPECT_EQ(captured[0].from, origin::pending);
  EXPECT_EQ(captured[0].to_string(), "unevaluated float32[3] array, used by Multiply");
}

TEST(captured, the_input_that_is_reached_around_the_argument) {
  const arrays x = {normal({2}, 1), normal({3}, 2)};
  mx::eval(x);
  const auto captured = find_captured(pointers(x), [&](const arrays& y) { return arrays{y[1], x[1]}; });
  ASSERT_EQ(captured.size(), 1U);
  EXPECT_EQ(captured[0].input, 1U);
  EXPECT_EQ(captured[0].to_string(), "float32[3] array, which is also input 1, returned");
}

TEST(captured, draws_from_the_global_random_state_as_one_key) {
  const arrays x = {normal({3}, 1)};
  const array_function f = [](const arrays& y) {
    return arrays{y[0] + mx::random::normal({3}), mx::random::bernoulli(0.5f, {7})};
  };
  const auto check = [&] {
    const auto captured = find_captured(pointers(x), f);
    ASSERT_EQ(captured.size(), 1U);
    EXPECT_EQ(captured[0].from, origin::random_state);
    EXPECT_EQ(captured[0].to_string(), "the key of MLX's global random state, used by RandomBits");
  };
  mx::random::seed(7);
  check();
  mx::random::normal({2}).eval();  // now the state is a pending graph
  check();
  // Weights that were drawn outside are an array like others.
  const auto weights = mx::random::normal({3});
  const auto captured = find_captured(pointers(x), [&](const arrays& y) { return arrays{y[0] * weights}; });
  ASSERT_EQ(captured.size(), 1U);
  EXPECT_EQ(captured[0].from, origin::pending);
}

TEST(captured, leaves_the_global_random_state_as_it_was) {
  const arrays x = {normal({3}, 1)};
  mx::random::seed(7);
  const auto expected = mx::random::normal({3});
  mx::random::seed(7);
  EXPECT_FALSE(
      find_captured(pointers(x), [](const arrays& y) { return arrays{y[0] + mx::random::normal({3})}; }).empty());
  expect_same({mx::random::normal({3})}, {expected});
}

// The draws of a run that is only there to be compared do not count.
TEST(captured, draws_that_no_output_depends_on_advance_the_random_state_once) {
  const arrays x = {normal({3}, 1)};
  const array_function draws = [](const arrays& y) {
    mx::random::normal({3});
    return arrays{y[0] + y[0]};
  };
  mx::random::seed(7);
  mlx_plan::record(pointers(x), draws);
  const auto expected = mx::random::normal({3});
  mx::random::seed(7);
  EXPECT_TRUE(find_captured(pointers(x), draws).empty());
  expect_same({mx::random::normal({3})}, {expected});
}

TEST(captured, an_array_of_another_run_is_refused) {
  const arrays x = {normal({3}, 1)};
  std::optional<mx::array> kept;
  EXPECT_THROW(find_captured(pointers(x),
                             [&](const arrays& y) {
                               if (!kept) kept = mx::exp(y[0]);
                               return arrays{*kept + y[0]};
                             }),
               escaped_array);
}

TEST(captured, refuses_to_evaluate_a_placeholder) {
  const arrays x = {mx::array(1.0f)};
  EXPECT_THROW(find_captured(pointers(x),
                             [](const arrays& y) {
                               mx::eval(y[0] + y[0]);
                               return y;
                             }),
               std::invalid_argument);
}

// --- Memory of a compiled step. --------------------------------------------------------------------------------------

// 256 MiB of arrays; the first half are parameters, the others their momenta.
arrays large_state(int count) {
  const int n = (1 << 26) / count;
  arrays state;
  for (int i = 0; i < count; ++i) state.push_back(mx::full({n}, static_cast<float>(i % 5)));
  mx::eval(state);
  return state;
}
constexpr double state_bytes = 256.0 * (1 << 20);

// Five steps, each evaluated.
template <class Step> double peak_memory(int count, Step step) {
  mx::clear_cache();
  arrays state = large_state(count);
  mx::reset_peak_memory();
  for (int i = 0; i < 5; ++i) {
    step(state);
    mx::eval(state);
  }
  return static_cast<double>(std::max(mx::get_peak_memory(), mx::get_active_memory()));  // 0 without allocations
}

TEST(compiled_step, over_256_MiB_of_state_takes_the_memory_of_mlx_code_that_moves_its_arrays) {
  const mx::array decay(0.5f);
  const mx::array one(1.0f);
  const auto by_hand = peak_memory(16, [&](arrays& state) {
    for (auto& a : state) a = mx::add(mx::multiply(std::move(a), decay), one);
  });
  auto compiled = espalier::compile([](arrays& state, const mx::array& keep, const mx::array& more) {
    for (auto& a : state) a = a * keep + more;
  });
  EXPECT_GE(by_hand, state_bytes);
  EXPECT_LE(peak_memory(16, [&](arrays& state) { compiled(state, decay, one); }), 1.1 * by_hand);
  EXPECT_EQ(compiled.stats().traces, 1U);

  arrays kept;
  const auto keeping = peak_memory(16, [&](arrays& state) {
    kept = state;
    compiled(state, decay, one);
  });
  EXPECT_GE(keeping, 1.9 * state_bytes);  // so the measure above measures something
}

void momentum(arrays& state, const mx::array& rate, const mx::array& decay) {
  const std::size_t half = state.size() / 2;
  for (std::size_t i = 0; i < half; ++i) {
    state[half + i] = state[half + i] * decay + state[i];
    state[i] = state[i] - state[half + i] * rate;
  }
}

// MLX fuses the update of a parameter with that of its momentum into one operation with two outputs.
TEST(compiled_step, takes_that_memory_also_where_mlx_fuses_several_outputs) {
  const mx::array rate(0.5f);
  const mx::array decay(0.25f);
  auto compiled = espalier::compile<&momentum>();
  for (const int count : {16, 128}) {
    const auto by_hand = peak_memory(count, [&](arrays& state) {
      const std::size_t half = state.size() / 2;
      for (std::size_t i = 0; i < half; ++i) {
        state[half + i] = mx::multiply(std::move(state[half + i]), decay) + state[i];
        state[i] = std::move(state[i]) - state[half + i] * rate;
      }
    });
    const auto ours = peak_memory(count, [&](arrays& state) { compiled(state, rate, decay); });
    EXPECT_LE(ours, 1.1 * by_hand);
    RecordProperty("compiled_mib_" + std::to_string(count), static_cast<int>(ours / (1 << 20)));
    RecordProperty("by_hand_mib_" + std::to_string(count), static_cast<int>(by_hand / (1 << 20)));
  }
}

// The same fused operation, into its inputs' buffers here and into new ones there.
TEST(fused_outputs, have_the_bits_of_mlx_when_they_take_their_inputs_buffers) {
  const array_function f = [](const arrays& x) {
    const auto m = x[0] * x[2] + x[1];
    const auto p = x[1] - m * x[3];
    return arrays{m, p, m * p, m > p, x[0] - x[1]};
  };
  const auto column_major = [](const mx::array& a) { return mx::transpose(mx::contiguous(mx::transpose(a))); };
  const auto every_second = [](const mx::array& a) { return mx::slice(mx::repeat(a, 2, 0), {0, 0}, {74, 53}, {2, 1}); };
  const auto row = [](const mx::array& a) { return mx::broadcast_to(mx::slice(a, {0, 0}, {1, 53}), {37, 53}); };
  const auto plain = [](const mx::array& a) { return a; };
  const std::vector<std::function<mx::array(const mx::array&)>> layouts = {plain, column_major, every_second, row};
  const auto peer = mx::compile(f);
  const auto inputs = [](const auto& first, const auto& second) {
    arrays x = {first(normal({37, 53}, 1)), second(normal({37, 53}, 2)), mx::array(0.9f), normal({37, 53}, 3)};
    mx::eval(x);
    return x;
  };
  for (const auto& first : layouts) {
    for (const auto& second : layouts) {
      const arrays kept = inputs(first, second);
      const auto expected = peer(kept);
      auto dropped = inputs(first, second);
      const auto plan = mlx_plan::record(pointers(dropped), f);
      EXPECT_LT(plan.num_steps(), 6U);
      auto got = replayed(plan, dropped);
      dropped.clear();
      std::swap(got[0], got[3]);  // evaluation may begin at any output
      mx::eval(got);
      std::swap(got[0], got[3]);
      expect_same(got, expected);
      const auto again = inputs(first, second);
      expect_same(replayed(plan, again), expected);
      expect_same(again, kept);  // inputs that are still held are left alone
    }
  }
}

TEST(fused_outputs, can_be_evaluated_one_after_the_other) {
  arrays state = {normal({8}, 1), normal({8}, 2)};
  const arrays constants = {mx::array(0.5f), mx::array(0.25f)};
  const array_function f = [](const arrays& x) {
    arrays y = {x[0], x[1]};
    momentum(y, x[2], x[3]);
    return y;
  };
  const arrays inputs = {state[0], state[1], constants[0], constants[1]};
  const auto plan = mlx_plan::record(pointers(inputs), f);
  const auto once = f(inputs);
  const auto expected = f({once[0], once[1], constants[0], constants[1]});
  auto out = replayed(plan, inputs);
  out = replayed(plan, {out[0], out[1], constants[0], constants[1]});
  out[1].eval();
  out[0].eval();
  expect_same(out, expected);
}

}  // namespace
