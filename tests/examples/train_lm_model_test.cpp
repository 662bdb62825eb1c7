// The model of examples/train_lm: what has to hold whatever the weights are.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <espalier/mlx/array.hpp>
#include <espalier/visit.hpp>
#include <espalier/zeros_like.hpp>
#include <vector>

#include "../../examples/train_lm/decode.hpp"
#include "../../examples/train_lm/training.hpp"

namespace {

using namespace train_lm;

constexpr int characters = 11, context = 8;

language_model small_model(int blocks = 2) { return make_model({characters, 16, 2, blocks}, 3); }

mx::array tokens_of(const std::vector<std::int32_t>& row) {
  return mx::array(row.begin(), {1, static_cast<int>(row.size())});
}

double distance(const mx::array& a, const mx::array& b) { return mx::max(mx::abs(a - b)).item<float>(); }

TEST(model, gives_scores_for_each_place) {
  const mx::array s = scores(small_model(), mx::zeros({3, 5}, mx::int32));
  EXPECT_EQ(s.shape(), (mx::Shape{3, 5, characters}));
}

TEST(model, a_place_does_not_see_those_behind_it) {
  const language_model m = small_model();
  const mx::array one = scores(m, tokens_of({1, 2, 3, 4, 5})), other = scores(m, tokens_of({1, 2, 3, 9, 0}));
  const auto until = [](const mx::array& s, int n) { return mx::slice(s, {0, 0, 0}, {1, n, characters}); };
  EXPECT_LT(distance(until(one, 3), until(other, 3)), 1e-6);
  EXPECT_GT(distance(until(one, 4), until(other, 4)), 1e-3);
}

TEST(model, knows_the_order_of_what_it_sees) {
  const language_model m = small_model();
  const auto last = [&](const std::vector<std::int32_t>& row) {
    return mx::slice(scores(m, tokens_of(row)), {0, 2, 0}, {1, 3, characters});
  };
  EXPECT_GT(distance(last({1, 2, 3}), last({2, 1, 3})), 1e-4);
}

TEST(model, without_weights_every_character_costs_the_log_of_their_number) {
  const language_model zero = espalier::tree_zeros_like(small_model());
  const batch b{mx::zeros({2, 4}, mx::int32), mx::ones({2, 4}, mx::int32)};
  EXPECT_NEAR(loss(zero, b, precision::float32).item<float>(), std::log(double{characters}), 1e-5);
}

TEST(model, in_half_precision_is_near_the_same) {
  const language_model m = small_model();
  const batch b{tokens_of({1, 2, 3, 4, 5, 6}), tokens_of({2, 3, 4, 5, 6, 7})};
  const float whole = loss(m, b, precision::float32).item<float>(),
              half = loss(m, b, precision::bfloat16).item<float>();
  EXPECT_NE(whole, half);
  EXPECT_NEAR(whole, half, 0.02);
}

TEST(model, the_seed_decides_the_weights) {
  const auto first_weight = [](std::uint64_t seed) {
    return make_model({characters, 16, 2, 1}, seed).blocks[0].attend.query;
  };
  EXPECT_EQ(distance(first_weight(3), first_weight(3)), 0);
  EXPECT_GT(distance(first_weight(3), first_weight(4)), 0.01);
  const language_model m = small_model();
  EXPECT_GT(distance(m.blocks[0].attend.query, m.blocks[0].attend.key), 0.01) << "no two weights are one draw";
}

TEST(decoding, character_by_character_gives_the_scores_of_the_whole_row) {
  const language_model m = small_model();
  const std::vector<std::int32_t> row{1, 7, 3, 0, 10, 2, 2, 5};
  const mx::array whole = scores(m, tokens_of(row));
  decode_state state = make_decode_state(m, context, 1);
  for (int i = 0; i < context; ++i) {
    const mx::array one = read_token(state, m, tokens_of({row[static_cast<std::size_t>(i)]}));
    EXPECT_LT(distance(one, mx::slice(whole, {0, i, 0}, {1, i + 1, characters})), 1e-5) << i;
  }
}

TEST(decoding, behind_the_context_the_last_characters_count) {
  // With one block, scores depend on the last `context` characters alone, and on their distances, not their places.
  const language_model m = small_model(1);
  decode_state state = make_decode_state(m, context, 1);
  const std::vector<std::int32_t> row{4, 4, 4, 1, 7, 3, 0, 10, 2, 2, 5};
  mx::array last = mx::array(0.0f);
  for (const std::int32_t token : row) last = read_token(state, m, tokens_of({token}));
  const mx::array window = scores(m, tokens_of({row.end() - context, row.end()}));
  EXPECT_LT(distance(last, mx::slice(window, {0, context - 1, 0}, {1, context, characters})), 1e-5);
}

TEST(decoding, a_compiled_step_is_traced_once_and_writes_what_the_seed_says) {
  const language_model m = small_model();
  auto next = espalier::compile<&next_token>();
  const auto text = [&](std::uint64_t seed) {
    decode_state state = make_decode_state(m, context, seed);
    std::vector<std::int32_t> written{1};
    for (int i = 0; i < 20; ++i)
      written.push_back(next(state, m, tokens_of({written.back()}), 1.0f).item<std::int32_t>());
    return written;
  };
  const auto one = text(1);
  EXPECT_EQ(one, text(1));
  EXPECT_NE(one, text(2));
  EXPECT_EQ(next.stats().traces, 1u);
}

settings tiny() {
  settings s;
  s.steps = 100;
  s.warmup_steps = 5;
  return s;
}

train_state fresh(const settings& s) {
  language_model m = small_model();
  auto moments = make_optimizer(s).init(m);
  return {std::move(m), std::move(moments)};
}

std::vector<batch> rows(const std::vector<std::vector<std::int32_t>>& all) {
  std::vector<batch> batches;
  for (const auto& row : all) {
    batches.push_back({tokens_of({row.begin(), row.end() - 1}), tokens_of({row.begin() + 1, row.end()})});
  }
  return batches;
}

TEST(training, accumulated_micro_batches_make_the_step_of_the_whole_batch) {
  const settings s = tiny();
  train_state parts = fresh(s), whole = fresh(s);
  const auto micro = rows({{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}});
  const std::vector<batch> one{{mx::concatenate({micro[0].inputs, micro[1].inputs}, 0),
                                mx::concatenate({micro[0].targets, micro[1].targets}, 0)}};
  for (int i = 0; i < 3; ++i) {
    const step_report a = train_step(parts, micro, s), b = train_step(whole, one, s);
    EXPECT_LT(distance(a.loss, b.loss), 1e-5);
    EXPECT_LT(distance(a.gradient_norm, b.gradient_norm), 1e-5);
  }
  espalier::tree_visit([](const mx::array& a, const mx::array& b) { EXPECT_LT(distance(a, b), 1e-4); }, parts.model,
                       whole.model);
}

TEST(training, learns_a_row_by_heart) {
  settings s = tiny();
  s.peak_rate = 1e-2;
  train_state state = fresh(s);
  const auto row = rows({{1, 7, 3, 0, 10, 2, 2, 5, 1}});
  auto step = espalier::compile<&train_step>();
  float last = 0;
  for (int i = 0; i < 100; ++i) {
    const step_report r = step(state, row, s);
    espalier::eval(state, r);
    last = r.loss.item<float>();
  }
  EXPECT_LT(last, 0.1f);
  EXPECT_EQ(step.stats().traces, 1u);
}

TEST(training, only_matrices_decay) {
  settings s = tiny();
  s.weight_decay = 1e3;  // a decayed parameter changes sign at once, whatever its gradient is
  train_state state = fresh(s);
  for (int i = 0; i < 2; ++i) (void)train_step(state, rows({{1, 2, 3, 4}}), s);  // (the first rate is zero)
  EXPECT_GT(mx::min(state.model.norm).item<float>(), 0.9f);
  EXPECT_GT(mx::min(state.model.blocks[1].attention_norm).item<float>(), 0.9f);
  const mx::array before = small_model().blocks[0].feed.up, now = state.model.blocks[0].feed.up;
  // rate(1) = 3e-3 / 5: p - 6e-4 (1e3 p + direction) = 0.4 p, up to |direction| of about 1.
  EXPECT_LT(distance(now, 0.4f * before), 2e-3);
}

}  // namespace
