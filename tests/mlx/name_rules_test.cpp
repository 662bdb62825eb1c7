#include <gtest/gtest.h>

#include <espalier/mlx/checkpoint_error.hpp>
#include <espalier/mlx/name_rules.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using espalier::name_rules;

std::string in_tree(const name_rules& rules, const std::string& name) {
  return rules.in_tree(name).name.value_or("(left out)");
}

TEST(NameRules, WithoutRulesNamesStay) {
  EXPECT_EQ(in_tree({}, "layers.0.weight"), "layers.0.weight");
  EXPECT_EQ(*name_rules{}.in_file("layers.0.weight").name, "layers.0.weight");
  EXPECT_TRUE(name_rules{}.empty());
}

TEST(NameRules, BracesStandForOneKey) {
  const name_rules rules = {{"layers.{}.q.weight", "blocks.{}.query"}};
  EXPECT_EQ(in_tree(rules, "layers.0.q.weight"), "blocks.0.query");
  EXPECT_EQ(in_tree(rules, "layers.12.q.weight"), "blocks.12.query");
  for (const char* other : {"layers.0.1.q.weight", "layers..q.weight", "layers.0.q.weights", "xlayers.0.q.weight",
                            "layers.0.q", "layers.0.Q.weight", ""}) {
    EXPECT_EQ(in_tree(rules, other), other);
  }
  EXPECT_EQ(in_tree({{"block_{}.w", "{}.w"}}, "block_7.w"), "7.w");
}

TEST(NameRules, AStarStandsForTheRest) {
  const name_rules rules = {{"model.*", "*"}};
  EXPECT_EQ(in_tree(rules, "model.layers.0.weight"), "layers.0.weight");
  EXPECT_EQ(in_tree(rules, "model.model.x"), "model.x");
  EXPECT_EQ(in_tree(rules, "model."), "model.");
  EXPECT_EQ(in_tree(rules, "lm_head.weight"), "lm_head.weight");
  EXPECT_EQ(in_tree({{"*.gamma", "*.weight"}}, "a.b.gamma"), "a.b.weight");
  EXPECT_EQ(in_tree({{"*.self_attn.*", "*.attention.*"}}, "layers.3.self_attn.q.bias"), "layers.3.attention.q.bias");
}

TEST(NameRules, TheFirstPlaceholderTakesAsLittleAsItCan) {
  EXPECT_EQ(in_tree({{"*.*", "*/*"}}, "a.b.c"), "a/b.c");
  EXPECT_EQ(in_tree({{"*.x.*", "*/*"}}, "x.x.x.x"), "x/x.x");
  EXPECT_EQ(in_tree({{"{}_{}", "{}.{}"}}, "a_b_c"), "a.b_c");
}

TEST(NameRules, TheFirstRuleThatMatchesCounts) {
  const name_rules rules = {
      {"model.norm.*", "final.*"}, {"model.*", "*"}, {"model.head", "never"}, {"norm.*", "other.*"}};
  EXPECT_EQ(in_tree(rules, "model.norm.weight"), "final.weight");
  EXPECT_EQ(in_tree(rules, "model.head"), "head");
  EXPECT_EQ(in_tree(rules, "model.model.norm"), "model.norm");
  EXPECT_EQ(in_tree(rules, "norm.weight"), "other.weight");
  EXPECT_EQ(in_tree({{"a", "b"}, {"b", "a"}}, "a"), "b");
  EXPECT_EQ(in_tree({{"a", "b"}, {"b", "a"}}, "b"), "a");
}

TEST(NameRules, ANameMayBeLeftOut) {
  const name_rules rules = {{"*.inv_freq", std::nullopt}, {"*", "all.*"}};
  EXPECT_EQ(in_tree(rules, "rope.inv_freq"), "(left out)");
  EXPECT_EQ(in_tree(rules, "rope.scale"), "all.rope.scale");
  EXPECT_EQ(*rules.in_file("all.rope.inv_freq").name, "rope.inv_freq");
}

TEST(NameRules, FromTheTreeToTheFileIsTheOtherWayRound) {
  const name_rules rules = {{"*.inv_freq", std::nullopt},
                            {"model.layers.{}.self_attn.q_proj.weight", "layers.{}.attention.query"},
                            {"lm_head.*", "head.*"},
                            {"step", "count"},
                            {"*.m", "mu.*"},
                            {"model.*", "*"}};
  for (const auto& [file, tree] : std::vector<std::pair<std::string, std::string>>{
           {"model.layers.3.self_attn.q_proj.weight", "layers.3.attention.query"},
           {"model.layers.3.self_attn.k_proj.weight", "layers.3.self_attn.k_proj.weight"},
           {"lm_head.weight", "head.weight"},
           {"step", "count"},
           {"layers.0.bias.m", "mu.layers.0.bias"},
           {"model.norm.weight", "norm.weight"}}) {
    EXPECT_EQ(in_tree(rules, file), tree);
    EXPECT_EQ(*rules.in_file(tree).name, file);
  }
}

TEST(NameRules, AxesAreThoseOfTheRuleAndInvertedTheOtherWay) {
  const name_rules rules = {{"conv.weight", "w", {0, 2, 3, 1}}, {"x", "y", {1, 2, 0}}};
  EXPECT_TRUE(rules.in_tree("other").axes.empty());
  EXPECT_EQ(rules.in_tree("conv.weight").axes, (std::vector{0, 2, 3, 1}));
  EXPECT_EQ(rules.in_file("w").axes, (std::vector{0, 3, 1, 2}));
  EXPECT_EQ(rules.in_tree("x").axes, (std::vector{1, 2, 0}));
  EXPECT_EQ(rules.in_file("y").axes, (std::vector{2, 0, 1}));
}

std::string rule_error(const espalier::name_rule& rule) {
  try {
    (void)name_rules{rule};
  } catch (const espalier::checkpoint_error& e) {
    return e.what();
  }
  return "";
}

TEST(NameRules, RulesThatMeanNothingAreRefused) {
  for (const auto& [file, tree] : std::vector<std::pair<std::string, std::string>>{
           {"a.{}", "b"}, {"a", "b.*"}, {"a.{}", "b.*"}, {"{}.*", "*.{}"}, {"{}.{}", "{}"}}) {
    EXPECT_EQ(rule_error({file, tree}),
              "espalier: name_rules: the rule from '" + file + "' to '" + tree +
                  "' does not have the same placeholders ({} or *) in the same order on both sides");
  }
  for (const std::vector<int>& axes : {std::vector{1}, {0, 0}, {1, 2}, {-1, 0}}) {
    EXPECT_NE(rule_error({"a", "b", axes}).find("no permutation"), std::string::npos);
  }
  EXPECT_EQ(rule_error({"a.{}", "b.{}", {1, 0}}), "");
}

}  // namespace
