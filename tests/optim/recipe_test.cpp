// Optimizers inside espalier::compile: one trace for a whole run, and the numbers of the plain call. The usual recipe is
// that of docs/optimizers.md.
#include <gtest/gtest.h>
#include <mlx/mlx.h>

#include <array>
#include <espalier/mlx/mlx.hpp>
#include <espalier/optim/optim.hpp>
#include <optional>
#include <string>
#include <utility>

#include "every_optimizer.hpp"

namespace mx = mlx::core;
namespace optim = espalier::optim;

namespace {

struct linear {
  mx::array weight, bias;
};
template <class State> struct training {
  linear model;
  State optimizer;
};

linear start() { return {mx::array({1.0F, -2.0F, 0.5F, 3.0F, -1.0F, 2.0F}, {3, 2}), mx::array({0.5F, -0.5F})}; }

// Compiled functions capture nothing: the optimizer stands beside it.
template <class Optimizer> struct step {
  using state = training<decltype(std::declval<const Optimizer&>().init(std::declval<const linear&>()))>;
  static inline std::optional<Optimizer> optimizer;

  mx::array operator()(state& s, const mx::array& slope) const {
    const linear gradient{slope * s.model.weight, slope * s.model.bias};
    optim::apply_updates(s.model, optimizer->update(gradient, s.optimizer, s.model));
    return mx::sum(s.model.weight);
  }
};

TEST(optim_recipe, every_optimizer_has_one_trace_and_the_numbers_of_the_plain_call) {
  every_optimizer([]<class Optimizer>(const std::string& name, const Optimizer& opt) {
    using step_type = step<Optimizer>;
    using state = typename step_type::state;
    step_type::optimizer.emplace(opt);
    state plain{start(), opt.init(start())};
    state replayed{start(), opt.init(start())};
    auto compiled = espalier::compile(step_type{});
    for (int t = 0; t < 6; ++t) {
      const mx::array slope(0.5F + 0.1F * static_cast<float>(t));
      step_type{}(plain, slope);
      espalier::eval(compiled(replayed, slope), replayed);
    }
    EXPECT_EQ(compiled.stats().traces, 1U) << name;
    EXPECT_TRUE(mx::allclose(plain.model.weight, replayed.model.weight, 1e-5, 1e-6).template item<bool>()) << name;
    EXPECT_TRUE(mx::allclose(plain.model.bias, replayed.model.bias, 1e-5, 1e-6).template item<bool>()) << name;
  });
}

constexpr auto is_matrix = [](const mx::array& p) { return p.ndim() >= 2; };
constexpr optim::warmup_cosine_decay rate{.peak = 0.05, .warmup_steps = 20, .decay_steps = 200, .end = 0.005};
constexpr auto recipe = optim::chain(optim::clip_by_global_norm{.max_norm = 1.0},
                                     optim::adamw{.learning_rate = rate, .weight_decay = 0.5, .mask = is_matrix});

// With zero gradients only weights decay, in step t by the factor 1 - rate(t) weight_decay: the rate of every step is
// seen in the replays.
TEST(optim_recipe, a_run_of_the_usual_recipe_is_one_trace_and_follows_its_schedule) {
  using state = training<decltype(recipe.init(start()))>;
  state s{start(), recipe.init(start())};
  auto compiled = espalier::compile([](state& now, const mx::array& slope) {
    const linear gradient{slope * now.model.weight, slope * now.model.bias};
    optim::apply_updates(now.model, recipe.update(gradient, now.optimizer, now.model));
    return mx::sum(now.model.weight);
  });
  double factor = 1;
  for (int t = 0; t < 220; ++t) {
    espalier::eval(compiled(s, mx::array(0.0F)), s);
    factor *= 1 - rate(t) * 0.5;
  }
  EXPECT_EQ(compiled.stats().traces, 1U);
  EXPECT_EQ(compiled.stats().hits, 219U);
  EXPECT_TRUE(
      mx::allclose(s.model.weight, mx::array(static_cast<float>(factor)) * start().weight, 1e-4, 0.0).item<bool>());
  EXPECT_TRUE(mx::array_equal(s.model.bias, start().bias).item<bool>());
}

constexpr optim::inject_hyperparams injected{optim::sgd{.learning_rate = 0.5}};

TEST(optim_recipe, a_learning_rate_that_is_changed_by_hand_does_not_retrace) {
  using state = training<decltype(injected.init(start()))>;
  state s{start(), injected.init(start())};
  auto compiled = espalier::compile([](state& now, const mx::array& slope) {
    const linear gradient{mx::zeros_like(now.model.weight), slope * mx::ones_like(now.model.bias)};
    optim::apply_updates(now.model, injected.update(gradient, now.optimizer, now.model));
    return mx::sum(now.model.bias);
  });
  const mx::array slope(1.0F);
  EXPECT_EQ(compiled(s, slope).item<float>(), 0 - 2 * 0.5F);
  s.optimizer.hyperparams.learning_rate = mx::array(0.25F);
  EXPECT_EQ(compiled(s, slope).item<float>(), -1 - 2 * 0.25F);
  EXPECT_EQ(compiled.stats().traces, 1U);
}

}  // namespace
