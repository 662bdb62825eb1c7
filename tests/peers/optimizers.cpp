// Asks espalier::optim what optimizers.json says that mlx.optimizers answers. The problem: optimizers.py.
#include <gtest/gtest.h>
#include <mlx/mlx.h>

#include <array>
#include <boost/json/src.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <espalier/mlx/math.hpp>
#include <espalier/optim/optim.hpp>
#include <fstream>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mx = mlx::core;
namespace json = boost::json;
namespace optim = espalier::optim;

namespace {

using parameters = std::array<mx::array, 5>;
const std::array<mx::Shape, 5> shapes{mx::Shape{}, {3}, {3, 2}, {2, 4}, {2, 2, 2, 3}};

// For each shape k, an array whose element i is value(k, i).
template <class Value> parameters filled(Value value) {
  const auto array = [&](std::size_t k) {
    std::vector<float> values;
    const int size = std::accumulate(shapes[k].begin(), shapes[k].end(), 1, [](int a, int b) { return a * b; });
    for (int i = 0; i < size; ++i) values.push_back(static_cast<float>(value(static_cast<double>(k), i)));
    return mx::array(values.data(), shapes[k], mx::float32);
  };
  return {array(0), array(1), array(2), array(3), array(4)};
}

parameters start() {
  return filled([](double k, int i) { return std::sin(i + 1) + k / 4; });
}

parameters gradients(const parameters& at, int t) {
  const parameters slopes = filled([](double, int i) { return 0.5 + 0.1 * (i % 3); });
  const parameters offsets = filled([t](double k, int) { return 0.01 * t - 0.03 * k; });
  parameters g = at;
  for (std::size_t k = 0; k < g.size(); ++k) g[k] = slopes[k] * at[k] + offsets[k];
  return g;
}

// The stored answers, each of which is to be asked for once.
class optimizers : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::ifstream file(ESPALIER_PEERS_OPTIMIZERS);
    answers() = json::parse(std::string(std::istreambuf_iterator<char>(file), {})).as_object();
    for (const auto& [name, answer] : answers()) unasked().insert(name);
    unasked().erase("mlx");
    unasked().erase("counts");
  }
  static void TearDownTestSuite() {
    for (const std::string& name : unasked()) ADD_FAILURE() << "not asked: " << name;
  }

  static const json::array& answer(const std::string& name) {
    unasked().erase(name);
    return answers().at(name).as_array();
  }

  template <class Optimizer> static void expect_ten_steps(const std::string& name, const Optimizer& opt) {
    parameters params = start();
    auto state = opt.init(params);
    for (int t = 0; t < 10; ++t) optim::apply_updates(params, opt.update(gradients(params, t), state, params));
    const json::array& expected = answer(name);
    for (std::size_t k = 0; k < params.size(); ++k) {
      mx::eval(params[k]);
      ASSERT_EQ(params[k].size(), expected[k].as_array().size());
      for (std::size_t i = 0; i < params[k].size(); ++i) {
        EXPECT_NEAR(params[k].data<float>()[i], expected[k].at(i).to_number<double>(), 1e-6)
            << name << ", parameter " << k << ", element " << i;
      }
    }
  }

  template <class Schedule> static void expect_schedule(const std::string& name, const Schedule& schedule) {
    const json::array& counts = answers().at("counts").as_array();
    const json::array& expected = answer(name);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const auto count = counts[i].to_number<int>();
      const auto value = expected[i].to_number<double>();
      EXPECT_NEAR(schedule(count), value, 1e-7) << name << " at " << count;
      EXPECT_NEAR(schedule(mx::array(count)).template item<float>(), value, 1e-7) << name << " at " << count;
    }
  }

 private:
  static json::object& answers() {
    static json::object all;
    return all;
  }
  static std::set<std::string>& unasked() {
    static std::set<std::string> names;
    return names;
  }
};

TEST_F(optimizers, sgd) {
  const double rate = 0.1;
  expect_ten_steps("sgd", optim::sgd{.learning_rate = rate});
  expect_ten_steps("sgd_momentum", optim::sgd{.learning_rate = rate, .momentum = 0.9});
  expect_ten_steps("sgd_dampening", optim::sgd{.learning_rate = rate, .momentum = 0.9, .dampening = 0.2});
  expect_ten_steps("sgd_nesterov", optim::sgd{.learning_rate = rate, .momentum = 0.9, .nesterov = true});
  expect_ten_steps("sgd_weight_decay", optim::chain(optim::add_decayed_weights{.weight_decay = 0.05},
                                                    optim::sgd{.learning_rate = rate, .momentum = 0.9}));
  expect_ten_steps("sgd_schedule", optim::sgd{.learning_rate = optim::linear_schedule{0.2, 0.05, 6}});
}

TEST_F(optimizers, rmsprop) {
  expect_ten_steps("rmsprop", optim::rmsprop{.learning_rate = 0.05});
  expect_ten_steps("rmsprop_options", optim::rmsprop{.learning_rate = 0.05, .decay = 0.9, .eps = 1e-3});
}

TEST_F(optimizers, adagrad) { expect_ten_steps("adagrad", optim::adagrad{.learning_rate = 0.1}); }

TEST_F(optimizers, adadelta) {
  expect_ten_steps("adadelta", optim::adadelta{.learning_rate = 1.0});
  expect_ten_steps("adadelta_options", optim::adadelta{.learning_rate = 0.5, .rho = 0.8, .eps = 1e-3});
}

TEST_F(optimizers, adam) {
  expect_ten_steps("adam", optim::adam{.learning_rate = 0.01});
  expect_ten_steps("adam_uncorrected", optim::adam{.learning_rate = 0.1, .bias_correction = false});
  expect_ten_steps("adam_schedule",
                   optim::adam{.learning_rate = optim::cosine_decay{0.1, 8, 0.01}, .bias_correction = false});
}

TEST_F(optimizers, adamw) {
  expect_ten_steps("adamw", optim::adamw{.learning_rate = 0.01, .weight_decay = 0.05});
  expect_ten_steps(
      "adamw_uncorrected",
      optim::adamw{
          .learning_rate = 0.1, .b1 = 0.8, .b2 = 0.95, .eps = 1e-3, .weight_decay = 0.01, .bias_correction = false});
}

TEST_F(optimizers, adamax) {
  expect_ten_steps("adamax", optim::adamax{.learning_rate = 0.1, .bias_correction = false});
}

TEST_F(optimizers, lion) {
  expect_ten_steps("lion", optim::lion{.learning_rate = 0.01});
  expect_ten_steps("lion_weight_decay", optim::lion{.learning_rate = 0.01, .b1 = 0.8, .b2 = 0.95, .weight_decay = 0.1});
}

TEST_F(optimizers, adafactor) {
  expect_ten_steps("adafactor", optim::adafactor{});
  expect_ten_steps(
      "adafactor_warmup",
      optim::adafactor{.learning_rate = optim::relative_step{.warmup_init = true}, .b1 = 0.9, .weight_decay = 0.01});
  expect_ten_steps("adafactor_rate",
                   optim::adafactor{.learning_rate = 0.05, .clip_threshold = 0.5, .scale_parameter = false});
}

TEST_F(optimizers, muon) {
  expect_ten_steps("muon", optim::muon{.learning_rate = 0.02});
  expect_ten_steps(
      "muon_plain",
      optim::muon{.learning_rate = 0.02, .momentum = 0.9, .weight_decay = 0, .nesterov = false, .ns_steps = 3});
}

TEST_F(optimizers, partitioned) {
  const auto by_axes = [](const mx::array& p) { return p.ndim() == 2 ? 0 : p.ndim() == 4 ? 1 : 2; };
  expect_ten_steps("multi", optim::partitioned(by_axes, optim::muon{.learning_rate = 0.02},
                                               optim::lion{.learning_rate = 0.01}, optim::sgd{.learning_rate = 0.1}));
}

TEST_F(optimizers, schedules) {
  expect_schedule("linear_schedule", optim::linear_schedule{0.1, 0.02, 10});
  expect_schedule("exponential_decay", optim::exponential_decay{0.1, 0.9});
  expect_schedule("step_decay", optim::step_decay{0.1, 0.5, 5});
  expect_schedule("cosine_decay", optim::cosine_decay{0.1, 20, 0.01});
  expect_schedule("join_schedules",
                  optim::join_schedules({5, 15}, optim::linear_schedule{0.0, 0.1, 5}, optim::cosine_decay{0.1, 10},
                                        optim::exponential_decay{0.05, 0.8}));
}

}  // namespace
