#include <gtest/gtest.h>
#include <mlx/mlx.h>

#include <espalier/mlx/eval.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace {

namespace mx = ::mlx::core;

struct layer {
  mx::array weight;
  std::optional<mx::array> bias;
  int stride;
};

struct state {
  std::vector<layer> layers;
  std::map<std::string, mx::array> named;
  std::string note;
};

// Arrays that have to be computed.
mx::array pending() { return mx::add(mx::array(1.0f), mx::array(2.0f)); }

state pending_state() {
  state s{.layers = {}, .named = {}, .note = "n"};
  s.layers.push_back(layer{.weight = pending(), .bias = pending(), .stride = 1});
  s.layers.push_back(layer{.weight = pending(), .bias = std::nullopt, .stride = 2});
  s.named.emplace("a", pending());
  return s;
}

bool all_available(const state& s) {
  bool all = true;
  espalier::tree_visit(
      [&]<class Leaf>(const Leaf& leaf) {
        if constexpr (std::is_same_v<Leaf, mx::array>) all = all && leaf.is_available();
      },
      s);
  return all;
}

TEST(Eval, EvaluatesEveryArrayOfEveryTree) {
  const state a = pending_state();
  const state b = pending_state();
  const mx::array loss = pending();
  ASSERT_FALSE(all_available(a));
  espalier::eval(a, loss, b, 3);
  EXPECT_TRUE(all_available(a));
  EXPECT_TRUE(all_available(b));
  EXPECT_TRUE(loss.is_available());
}

TEST(Eval, TakesTreesWithoutArrays) {
  espalier::eval(1, std::string("x"), std::vector<double>{1, 2});
  espalier::async_eval(std::vector<mx::array>{});
}

TEST(AsyncEval, StartsWhatWaitingThenFinds) {
  state s = pending_state();
  espalier::async_eval(s);
  espalier::tree_visit(
      []<class Leaf>(Leaf& leaf) {
        if constexpr (std::is_same_v<Leaf, mx::array>) {
          leaf.wait();
          EXPECT_EQ(leaf.template item<float>(), 3.0f);
        }
      },
      s);
}

TEST(Eval, WithoutANamespaceIsNeverAmbiguousWithMlx) {
  using namespace espalier;
  state s = pending_state();
  eval(s);
  EXPECT_TRUE(all_available(s));

  mx::array a = pending();
  const mx::array b = pending();
  std::vector<mx::array> several{pending(), pending()};
  const std::vector<mx::array> fixed{pending()};
  eval(a);
  eval(b);
  eval(a, b);
  eval(pending());
  eval(several);
  eval(fixed);
  eval(std::vector<mx::array>{pending()});
  async_eval(a);
  async_eval(b);
  async_eval(several, fixed);
  std::optional<mx::array> maybe = pending();
  std::map<std::string, mx::array> named{{"x", pending()}};
  eval(maybe, named, s, a);
  EXPECT_TRUE(a.is_available() && b.is_available() && several[1].is_available() && fixed[0].is_available());
  EXPECT_TRUE(maybe->is_available() && named.at("x").is_available());
}

TEST(Eval, WithBothNamespacesIsNeverAmbiguous) {
  using namespace espalier;
  using namespace mlx::core;
  state s = pending_state();
  array a = pending();
  const array b = pending();
  std::vector<array> several{pending()};
  eval(s);
  eval(a);
  eval(b);
  eval(a, b, pending());
  eval(several);
  eval(s, a, several);
  async_eval(s, a);
  EXPECT_TRUE(all_available(s) && a.is_available() && b.is_available() && several[0].is_available());
}

}  // namespace
