#include <gtest/gtest.h>
#include <mlx/mlx.h>

#include <cstdint>
#include <espalier/aux.hpp>
#include <espalier/equal.hpp>
#include <espalier/mlx/safetensors.hpp>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../scratch_folder.hpp"

namespace {

namespace fs = std::filesystem;
namespace mx = ::mlx::core;
using espalier::checkpoint_error;
using espalier::load_options;
using espalier::load_safetensors;
using espalier::mismatch;
using espalier::save_safetensors;
using espalier::tree_equal;
using differences = std::vector<mismatch>;

class LoadOptions : public ::testing::Test {
 protected:
  // What a load says, which must fail and leave the tree as it is.
  template <class T> checkpoint_error load_error(T& tree, const load_options& options) {
    const T before = tree;
    try {
      load_safetensors(file, tree, options);
    } catch (const checkpoint_error& e) {
      EXPECT_TRUE(tree_equal(tree, before));
      return e;
    }
    ADD_FAILURE() << "nothing was thrown";
    return checkpoint_error("");
  }

  scratch_folder scratch;
  fs::path folder = scratch.path;
  fs::path file = folder / "tree.safetensors";
};

struct linear {
  mx::array weight;
  std::optional<mx::array> bias;
};
struct attention {
  linear query, key;
};
struct model {
  std::vector<attention> layers;
  linear head;
  int heads;
};

model make_model(float x) {
  const auto layer = [](float y) { return linear{mx::full({2, 3}, y), mx::full({2}, y)}; };
  return {{{layer(x), layer(x + 1)}, {layer(x + 2), layer(x + 3)}}, {layer(x + 4).weight, std::nullopt}, 2};
}

// As a program in Python with other names would have it.
void write_foreign(const fs::path& file, const model& m) {
  std::unordered_map<std::string, mx::array> arrays;
  for (std::size_t i = 0; i < m.layers.size(); ++i) {
    const std::string prefix = "model.layers." + std::to_string(i) + ".self_attn.";
    for (const auto& [name, layer] : {std::pair("q_proj", m.layers[i].query), std::pair("k_proj", m.layers[i].key)}) {
      arrays.emplace(prefix + name + ".weight", mx::transpose(layer.weight));
      arrays.emplace(prefix + name + ".bias", *layer.bias);
    }
    arrays.emplace(prefix + "rotary_emb.inv_freq", mx::zeros({4}));
  }
  arrays.emplace("lm_head.weight", m.head.weight);
  mx::save_safetensors(file.string(), arrays, {{"format", "pt"}});
}

const espalier::name_rules foreign = {{"*.rotary_emb.inv_freq", std::nullopt},
                                      {"model.layers.{}.self_attn.q_proj.weight", "layers.{}.query.weight", {1, 0}},
                                      {"model.layers.{}.self_attn.k_proj.weight", "layers.{}.key.weight", {1, 0}},
                                      {"model.layers.{}.self_attn.q_proj.*", "layers.{}.query.*"},
                                      {"model.layers.{}.self_attn.k_proj.*", "layers.{}.key.*"},
                                      {"lm_head.*", "head.*"}};

// --- Rules. -----------------------------------------------------------------------------------------------------------

TEST_F(LoadOptions, AForeignCheckpointIsReadByRules) {
  write_foreign(file, make_model(10));
  model target = make_model(0);
  EXPECT_TRUE(load_safetensors(file, target, {.rules = foreign}).empty());
  EXPECT_TRUE(tree_equal(target, make_model(10)));
}

TEST_F(LoadOptions, WhatRulesWroteTheyRead) {
  model saved = make_model(10);
  saved.heads = 7;
  saved.layers[0].query.weight = mx::reshape(mx::arange(6.0f), {2, 3});
  save_safetensors(file, saved, foreign);
  const auto [arrays, metadata] = mx::load_safetensors(file.string());
  EXPECT_TRUE(mx::array_equal(arrays.at("model.layers.0.self_attn.q_proj.weight"),
                              mx::array({0.0f, 3.0f, 1.0f, 4.0f, 2.0f, 5.0f}, {3, 2}))
                  .item<bool>());
  EXPECT_EQ(arrays.count("lm_head.weight"), 1U);
  model target = make_model(0);
  load_safetensors(file, target, {.rules = foreign});
  EXPECT_TRUE(tree_equal(target, saved));
  EXPECT_EQ(target.heads, 7);
}

// CASES 25.
TEST_F(LoadOptions, DifferencesAreReportedWithBothNames) {
  model other = make_model(10);
  other.layers[0].query.weight = mx::zeros({5, 7});
  other.head.bias = mx::zeros({2});
  other.layers.push_back(other.layers[1]);
  write_foreign(file, other);
  model target = make_model(0);
  target.head.bias = mx::zeros({2});
  target.layers[1].key.weight = mx::zeros({2});
  const auto e = load_error(target, {.rules = foreign});
  EXPECT_EQ(
      e.differences,
      (differences{
          {"layers.0.query.weight", "float32[2, 3]",
           "float32[5, 7] ('model.layers.0.self_attn.q_proj.weight' in the file)"},
          {"layers.1.key.weight", "float32[2]", "float32[2, 3] ('model.layers.1.self_attn.k_proj.weight' in the file)"},
          {"head.bias", "float32[2]", "nothing ('lm_head.bias' in the file)"},
          {"layers.2.key.bias", "nothing", "float32[2] ('model.layers.2.self_attn.k_proj.bias' in the file)"},
          {"layers.2.key.weight", "nothing", "float32[2, 3] ('model.layers.2.self_attn.k_proj.weight' in the file)"},
          {"layers.2.query.bias", "nothing", "float32[2] ('model.layers.2.self_attn.q_proj.bias' in the file)"},
          {"layers.2.query.weight", "nothing",
           "float32[2, 3] ('model.layers.2.self_attn.q_proj.weight' in the file)"}}))
      << e.what();
}

TEST_F(LoadOptions, TwoEntriesOfOneNameAreRefused) {
  mx::save_safetensors(file.string(), {{"a.w", mx::array(1.0f)}, {"w", mx::array(2.0f)}});
  std::map<std::string, mx::array> target{{"w", mx::array(0.0f)}};
  const auto e = load_error(target, {.rules = {{"a.*", "*"}}});
  ASSERT_EQ(e.differences.size(), 1U) << e.what();
  EXPECT_EQ(e.differences[0].path, "w");
  EXPECT_NE(e.differences[0].found.find("a second one"), std::string::npos);
}

TEST_F(LoadOptions, AxesOfAnotherNumberOfDimensionsAreRefused) {
  mx::save_safetensors(file.string(), {{"w", mx::array({1.0f, 2.0f})}});
  std::map<std::string, mx::array> target{{"w", mx::zeros({2})}};
  const load_options options{.rules = {{"w", "w", {1, 0}}}};
  EXPECT_EQ(load_error(target, options).differences,
            (differences{
                {"w", "an array of 2 dimensions, for the rule that transposes it", "float32[2] ('w' in the file)"}}));
  EXPECT_THROW(save_safetensors(file, target, options.rules), checkpoint_error);
}

TEST_F(LoadOptions, RulesThatDoNotLeadBackAreRefusedWhenSaving) {
  const std::map<std::string, int> tree{{"a", 1}, {"b", 2}};
  try {
    save_safetensors(file, tree, {{"a", "b"}});  // `a` would be read as `b`
    FAIL();
  } catch (const checkpoint_error& e) {
    EXPECT_EQ(
        e.differences,
        (differences{{"['a']", "rules that lead from its name in the file, 'a', back", "that they lead to 'b'"}}));
  }
  EXPECT_THROW(save_safetensors(file, tree, {{"a", std::nullopt}}), checkpoint_error);
  EXPECT_FALSE(fs::exists(file));
}

// --- strict = false. --------------------------------------------------------------------------------------------------

TEST_F(LoadOptions, APartOfATreeIsLoadedAndTheRestSaid) {
  mx::save_safetensors(file.string(), {{"head.weight", mx::full({2, 3}, 9.0f)}, {"extra", mx::array(1)}});
  model target = make_model(0);
  const differences left_out = load_safetensors(file, target, {.strict = false});
  model expected = make_model(0);
  expected.head.weight = mx::full({2, 3}, 9.0f);
  EXPECT_TRUE(tree_equal(target, expected));
  ASSERT_EQ(left_out.size(), 9U);
  EXPECT_EQ(left_out.front(), (mismatch{"layers.0.query.weight", "float32[2, 3]", "nothing"}));
  EXPECT_EQ(left_out.back(), (mismatch{"extra", "nothing", "int32[]"}));
}

TEST_F(LoadOptions, AnotherShapeIsAnErrorAlsoInAPart) {
  mx::save_safetensors(file.string(), {{"head.weight", mx::zeros({3, 2})}});
  model target = make_model(0);
  EXPECT_EQ(load_error(target, {.strict = false}).differences,
            (differences{{"head.weight", "float32[2, 3]", "float32[3, 2]"}}));
}

struct whole {
  model encoder;
  std::vector<linear> decoder;
  espalier::aux<int> version;
};

TEST_F(LoadOptions, OneSubtreeOfAFileIsLoadedIntoATreeOfItsOwn) {
  whole saved{make_model(10), {linear{mx::zeros({1}), std::nullopt}}, 3};
  saved.encoder.heads = 8;
  save_safetensors(file, saved);
  model target = make_model(0);
  const differences left_out = load_safetensors(file, target, {.rules = {{"encoder.*", "*"}}, .strict = false});
  EXPECT_TRUE(tree_equal(target, saved.encoder));
  EXPECT_EQ(target.heads, 8);
  EXPECT_EQ(left_out, (differences{{"decoder.0.weight", "nothing", "float32[1]"},
                                   {"version", "nothing", "the aux value i32:3"}}));
}

TEST_F(LoadOptions, ALongerTreeTakesWhatAShorterOneSaved) {
  model shorter = make_model(10);
  shorter.layers.pop_back();
  save_safetensors(file, shorter);
  model target = make_model(0);
  EXPECT_THROW(load_safetensors(file, target), checkpoint_error);
  EXPECT_EQ(load_safetensors(file, target, {.strict = false}).size(), 4U);
  EXPECT_TRUE(tree_equal(target.layers[0], make_model(10).layers[0]));
  EXPECT_TRUE(tree_equal(target.layers[1], make_model(0).layers[1]));
}

// --- cast. ------------------------------------------------------------------------------------------------------------

TEST_F(LoadOptions, FloatsAreRoundedOnlyWhereThatIsAsked) {
  mx::save_safetensors(file.string(), {{"a", mx::array({1.5f, 0.1f})}, {"b", mx::array({1.5f, 2.0f}, mx::bfloat16)}});
  std::map<std::string, mx::array> target{{"a", mx::zeros({2}, mx::bfloat16)}, {"b", mx::zeros({2})}};
  EXPECT_EQ(load_error(target, {}).differences,
            (differences{{"a", "bfloat16[2]", "float32[2]"}, {"b", "float32[2]", "bfloat16[2]"}}));
  load_safetensors(file, target, {.cast = true});
  // 0.1 between the bfloat16 numbers 0.09960938 and 0.1000977, to the nearest.
  EXPECT_EQ(target.at("a").dtype(), mx::bfloat16);
  EXPECT_TRUE(mx::array_equal(target.at("a"), mx::array({1.5f, 0.10009765625f})).item<bool>());
  EXPECT_TRUE(mx::array_equal(target.at("b"), mx::array({1.5f, 2.0f})).item<bool>());
  EXPECT_EQ(target.at("b").dtype(), mx::float32);
}

TEST_F(LoadOptions, IntegersAreConvertedIfAllOfThemFit) {
  const auto loads = [&](const mx::array& from, mx::Dtype to) {
    mx::save_safetensors(file.string(), {{"n", from}});
    std::map<std::string, mx::array> target{{"n", mx::zeros(from.shape(), to)}};
    try {
      load_safetensors(file, target, {.cast = true});
    } catch (const checkpoint_error& e) {
      EXPECT_EQ(e.differences.size(), 1U);
      EXPECT_TRUE(mx::array_equal(target.at("n"), mx::zeros(from.shape(), to)).item<bool>());
      return false;
    }
    EXPECT_EQ(target.at("n").dtype(), to);
    return mx::array_equal(mx::astype(target.at("n"), from.dtype()), from).item<bool>();
  };
  EXPECT_TRUE(loads(mx::array(std::uint64_t{5}), mx::int32));
  EXPECT_TRUE(loads(mx::array({-128, 127}), mx::int8));
  EXPECT_TRUE(loads(mx::array(-3), mx::int64));
  EXPECT_FALSE(loads(mx::array({-128, 128}), mx::int8));
  EXPECT_FALSE(loads(mx::array(-1), mx::uint32));
  EXPECT_FALSE(loads(mx::array(-1), mx::uint64));
  EXPECT_FALSE(loads(mx::array(~std::uint64_t{0}), mx::int64));
  EXPECT_FALSE(loads(mx::array(std::uint64_t{1} << 32), mx::int32));
  EXPECT_FALSE(loads(mx::array(1), mx::float32));
  EXPECT_FALSE(loads(mx::array(1.0f), mx::int32));
  EXPECT_FALSE(loads(mx::array(true), mx::int32));
}

}  // namespace
