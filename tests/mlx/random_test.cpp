#include <espalier/mlx/random.hpp>

#include <gtest/gtest.h>
#include <mlx/mlx.h>

#include <array>
#include <cstdint>
#include <espalier/mlx/engine.hpp>
#include <espalier/mlx/grad.hpp>
#include <espalier/mlx/scan.hpp>
#include <espalier/mlx/vmap.hpp>
#include <espalier/paths.hpp>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "../messages.hpp"
#include "arrays.hpp"

namespace {

namespace mx = ::mlx::core;
using espalier::fold_in;
using espalier::random_key;
using espalier::split;

std::uint64_t bits_of(const random_key& key) {
  const mx::array both = mx::contiguous(*key);
  mx::eval(both);
  return static_cast<std::uint64_t>(both.data<std::uint32_t>()[0]) << 32 | both.data<std::uint32_t>()[1];
}

TEST(RandomKey, IsMlxsKey) {
  expect_equal(*random_key(7), mx::random::key(7));
  const auto [a, b] = split(random_key(7));
  const auto [x, y] = mx::random::split(mx::random::key(7));
  expect_equal(*a, x);
  expect_equal(*b, y);
  expect_equal(*split(random_key(7), 3), mx::random::split(mx::random::key(7), 3));
  const std::array<random_key, 3> three = split<3>(random_key(7));
  for (int i = 0; i < 3; ++i) {
    expect_equal(*three[static_cast<std::size_t>(i)], mx::take(mx::random::split(mx::random::key(7), 3), i, 0));
  }
}

TEST(RandomKey, IsALeafOfItsState) {
  struct state {
    random_key key;
    int step;
  };
  const auto paths = espalier::tree_paths(state{random_key(1), 0});
  ASSERT_EQ(paths.size(), 2u);
  EXPECT_EQ(paths[0].to_string(), ".key.data");
}

TEST(RandomKey, FoldInGivesAKeyForEachNumber) {
  std::set<std::uint64_t> seen;
  const auto add = [&](const random_key& key) { EXPECT_TRUE(seen.insert(bits_of(key)).second); };
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const random_key key(seed);
    add(key);
    add(split(key).first);
    add(split(key).second);
    for (const random_key& k : split<4>(key)) add(k);
    for (std::uint64_t number = 0; number < 8; ++number) add(fold_in(key, number));
    add(fold_in(key, std::uint64_t{1} << 32));
    add(fold_in(fold_in(key, 1), 2));
    add(fold_in(fold_in(key, 2), 1));
  }
  EXPECT_EQ(bits_of(fold_in(random_key(3), 5)), bits_of(fold_in(random_key(3), mx::array(5))));
  EXPECT_EQ(bits_of(fold_in(random_key(3), 5)), bits_of(fold_in(random_key(3), mx::array(5, mx::uint64))));
  EXPECT_THROW(fold_in(random_key(3), mx::array(5.0f)), espalier::random_error);
  EXPECT_THROW(fold_in(random_key(3), mx::array({5, 6})), espalier::random_error);
}

struct noisy_state {
  mx::array x;
  random_key key;
};

void add_noise(noisy_state& s) {
  const auto [next, now] = split(s.key);
  s.x = s.x + mx::random::normal({2}, mx::float32, *now);
  s.key = next;
}

// CASES 17: numbers inside a compiled step do not repeat, and are those of the plain step. (A step that draws from
// MLX's own state is named in compile_test.cpp.)
TEST(RandomKey, AsStateOfACompiledStepGivesNewNumbersInEachCall) {
  noisy_state compiled{mx::zeros({2}), random_key(5)};
  noisy_state plain = compiled;
  auto step = espalier::compile<&add_noise>();
  for (int i = 0; i < 4; ++i) {
    const mx::array before = compiled.x;
    step(compiled);
    const mx::array noise = compiled.x - before;
    add_noise(plain);
    expect_near(compiled.x, plain.x, 1e-6);
    expect_equal(*compiled.key, *plain.key);
    static mx::array last = mx::zeros({2});
    EXPECT_FALSE(mx::array_equal(noise, last).item<bool>());
    last = noise;
  }
  EXPECT_EQ(step.stats().traces, 1u);
}

// A run that stops and goes on from its state is the run that does not stop.
TEST(RandomKey, AResumedRunGivesTheSameNumbers) {
  noisy_state whole{mx::zeros({2}), random_key(5)};
  for (int i = 0; i < 4; ++i) add_noise(whole);
  noisy_state first{mx::zeros({2}), random_key(5)};
  for (int i = 0; i < 2; ++i) add_noise(first);
  mx::eval(first.x);
  const std::uint64_t stored = bits_of(first.key);
  noisy_state second{
      first.x, random_key(mx::array({static_cast<std::uint32_t>(stored >> 32), static_cast<std::uint32_t>(stored)}))};
  for (int i = 0; i < 2; ++i) add_noise(second);
  expect_equal(second.x, whole.x);
}

TEST(RandomKey, ManyKeysAreABatch) {
  const auto draw = [](const random_key& key) { return mx::random::normal({3}, mx::float32, *key); };
  const random_key keys = split(random_key(1), 4);
  const mx::array all = espalier::vmap(draw)(keys);
  const auto scanned = espalier::scan(
      [&](const mx::array& c, const random_key& key) { return std::pair(c, draw(key)); }, mx::array(0.0f), keys);
  ASSERT_EQ(all.shape(), (mx::Shape{4, 3}));
  for (int i = 0; i < 4; ++i) {
    const mx::array expected = draw(random_key(mx::take(*keys, i, 0)));
    expect_near(mx::take(all, i, 0), expected);
    expect_equal(mx::take(scanned.outputs, i, 0), expected);
  }
}

TEST(RandomKey, IsNoParameter) {  // CASES 21
  const auto loss = [](const noisy_state& s) { return mx::sum(s.x * mx::random::normal({2}, mx::float32, *s.key)); };
  const noisy_state gradient = espalier::grad(loss)(noisy_state{mx::zeros({2}), random_key(5)});
  expect_equal(*gradient.key, mx::random::key(5));
  expect_equal(gradient.x, mx::random::normal({2}, mx::float32, mx::random::key(5)));
}

TEST(Dropout, KeepsTheExpectedValue) {
  const mx::array y = espalier::dropout(random_key(1), 0.25, mx::ones({100, 100}));
  const float zeros = mx::mean(mx::astype(y == mx::array(0.0f), mx::float32)).item<float>();
  EXPECT_NEAR(zeros, 0.25f, 0.02f);  // 4.6 standard deviations
  EXPECT_NEAR(mx::mean(y).item<float>(), 1.0f, 0.03f);
  EXPECT_NEAR(mx::max(y).item<float>(), 1 / 0.75f, 1e-6f);
}

TEST(Dropout, OfATreeHasAKeyForEachArray) {
  const std::vector<mx::array> ones{mx::ones({64}), mx::ones({64}), mx::array({1, 2})};
  const auto dropped = espalier::dropout(random_key(1), 0.5, ones);
  const auto keys = split<2>(random_key(1));
  for (std::size_t i = 0; i < 2; ++i) expect_equal(dropped[i], espalier::dropout(keys[i], 0.5, ones[i]));
  EXPECT_FALSE(mx::array_equal(dropped[0], dropped[1]).item<bool>());
  EXPECT_EQ(dropped[2].id(), ones[2].id());
}

TEST(Dropout, OfNothingIsNothingAndKeepsThePrecision) {
  const mx::array x = mx::ones({4}, mx::bfloat16);
  EXPECT_EQ(espalier::dropout(random_key(1), 0, x).id(), x.id());
  EXPECT_EQ(espalier::dropout(random_key(1), 0.5, x).dtype(), mx::bfloat16);
  for (const double p : {-0.1, 1.0, 1.5}) {
    EXPECT_TRUE(
        contains(message_of<espalier::random_error>([&] { espalier::dropout(random_key(1), p, x); }), "[0, 1)"));
  }
}

}  // namespace
