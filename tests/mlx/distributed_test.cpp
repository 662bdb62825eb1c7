// Trees that go between ranks, and MLX's distributed operations inside compiled functions: in a group of one, and in two
// processes over the ring back end.
#include <gtest/gtest.h>
#include <mlx/mlx.h>
#include <mlx/primitives.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <espalier/espalier.hpp>
#include <espalier/mlx/mlx.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "distributed_ranks.hpp"

namespace mx = mlx::core;
namespace dist = mx::distributed;

namespace {

struct train_state {
  mx::array weight;
  mx::array steps;
};

std::vector<float> values_of(mx::array a) {
  a = mx::contiguous(a);
  a.eval();
  return {a.data<float>(), a.data<float>() + a.size()};
}

// --- A group of one. -------------------------------------------------------------------------------------------------

TEST(Distributed, InAGroupOfOneReductionsAreTheIdentity) {
  auto step = espalier::compile([](train_state& state, const mx::array& x) {
    const dist::Group group = dist::init(false);
    state.weight = state.weight + dist::all_sum(x, group);
    state.steps = dist::all_max(state.steps, group);
    return dist::all_gather(x, group);
  });
  train_state state{mx::array({0.0f, 0.0f}), mx::array(7.0f)};
  for (const float v : {1.0f, 2.0f, 3.0f}) {
    const mx::array gathered = step(state, mx::array({v, 10 * v}));
    espalier::eval(state, gathered);
    EXPECT_EQ(values_of(gathered), (std::vector{v, 10 * v}));
  }
  EXPECT_EQ(values_of(state.weight), (std::vector{6.0f, 60.0f}));
  EXPECT_EQ(values_of(state.steps), std::vector{7.0f});
  EXPECT_EQ(step.stats().traces, 1u);
  EXPECT_EQ(step.stats().hits, 2u);
}

TEST(Distributed, WhatMlxRefusesInAGroupOfOneArrivesAndLeavesNoTrace) {
  auto send = espalier::compile([](const mx::array& x) { return dist::send(x, 0, dist::init(false)); });
  EXPECT_THROW(send(mx::array(1.0f)), std::invalid_argument);
  EXPECT_EQ(send.stats().entries, 0u);
}

// --- What each of two processes does. They communicate in one order: each operation needs the one before. ------------

// send and recv, all_sum, all_gather, and state, in one function.
void every_operation(int rank) {
  auto step = espalier::compile([](train_state& state, const mx::array& x, int own_rank) {
    const mx::array of_rank_0 = own_rank == 0 ? dist::send(x, 1) : dist::recv_like(x, 0);
    state.weight = state.weight + dist::all_sum(x * of_rank_0);
    state.steps = state.steps + mx::array(1.0f);
    return dist::all_gather(state.weight + x);
  });
  train_state state{mx::array({0.0f, 0.0f}), mx::array(0.0f)};
  float sum = 0;
  for (const float x0 : {1.0f, 2.0f, 3.0f, 4.0f, 5.0f}) {
    const float x1 = 10 * x0 + 3;
    const mx::array gathered = step(state, mx::full({2}, rank == 0 ? x0 : x1), rank);
    espalier::eval(state, gathered);
    sum += x0 * x0 + x1 * x0;
    EXPECT_EQ(values_of(gathered), (std::vector{sum + x0, sum + x0, sum + x1, sum + x1}));
    EXPECT_EQ(values_of(state.weight), (std::vector{sum, sum}));
    EXPECT_EQ(values_of(state.steps), std::vector{x0});
  }
  EXPECT_EQ(step.stats().traces, 1u);
  EXPECT_EQ(step.stats().hits, 4u);
}

// Messages that look the same are not merged: a merged receipt would count twice, and leave a message to the next call.
void every_message(int rank) {
  auto sum_of_messages = espalier::compile([](const mx::array& x, const mx::array& y, int own_rank) {
    const auto pass = [&](const mx::array& a) { return own_rank == 0 ? dist::send(a, 1) : dist::recv_like(a, 0); };
    return mx::sum(mx::concatenate({pass(x), pass(y), pass(x)}));
  });
  for (const float v : {1.0f, 2.0f, 3.0f}) {
    const float own = rank == 0 ? v : 0;  // rank 1 has only what it receives
    EXPECT_EQ(sum_of_messages(mx::array({own}), mx::array({100 * own}), rank).item<float>(), 102 * v);
  }
  EXPECT_EQ(sum_of_messages.stats().traces, 1u);
  EXPECT_EQ(sum_of_messages.stats().hits, 2u);
}

// Data-parallel training, the gradient taken inside: both processes go the way of one that has both batches.
void shared_gradient(int rank) {
  auto step = espalier::compile([](mx::array& weight, const mx::array& x) {
    const auto loss = [](const mx::array& w, const mx::array& b) { return mx::sum(mx::square(w - b)); };
    const auto [value, gradient] = espalier::value_and_grad(loss)(weight, x);
    weight = weight - mx::array(0.125f) * dist::all_sum(gradient);
    return value;
  });
  mx::array weight(0.0f);
  float expected = 0;
  for (const float x0 : {8.0f, 16.0f, 24.0f, 32.0f, 40.0f}) {  // all numbers are small multiples of 1/16: exact
    const float x1 = 64, own = rank == 0 ? x0 : x1;
    const mx::array value = step(weight, mx::array(own));
    espalier::eval(weight, value);
    EXPECT_EQ(value.item<float>(), (expected - own) * (expected - own));
    expected -= 0.125f * (2 * (expected - x0) + 2 * (expected - x1));
    EXPECT_EQ(weight.item<float>(), expected);
  }
  EXPECT_EQ(step.stats().traces, 1u);
  EXPECT_EQ(step.stats().hits, 4u);
}

// --- Trees in a group of one, and what can be seen of the graph alone. -----------------------------------------------

struct layer {
  mx::array weight;
  mx::array bias;
};
struct model {
  layer first;
  mx::array half;
  mx::array counts;  // no parameter
  double rate = 0;   // no parameter, beside arrays
};

model make_model(float x) {
  return {{mx::full({2, 3}, x), mx::full({3}, 10 * x)}, mx::full({4}, x, mx::float16), mx::array({1, 2}), x};
}

TEST(Distributed, AGroupOfOneKeepsItsTrees) {
  const model m = make_model(1);
  const model averaged = espalier::average_gradients(m);
  const model sent = espalier::broadcast(m);
  EXPECT_EQ(averaged.first.weight.id(), m.first.weight.id());
  EXPECT_EQ(sent.first.weight.id(), m.first.weight.id());
  EXPECT_EQ(sent.rate, 1);
}

TEST(Distributed, AGroupOfOneGathersItsOwnTree) {
  const std::vector<model> of_all = espalier::all_gather(make_model(5));
  ASSERT_EQ(of_all.size(), 1u);
  EXPECT_EQ(values_of(of_all[0].first.bias), std::vector(3, 50.0f));
  EXPECT_EQ(of_all[0].rate, 5);
}

// How many messages a graph sends.
std::size_t messages(const mx::array& a, std::set<std::uintptr_t>& seen) {
  if (!seen.insert(a.id()).second || !a.has_primitive()) return 0;
  std::size_t n = std::string(a.primitive().name()) == "Sum AllReduce" ? 1 : 0;
  for (const mx::array& input : a.inputs()) n += messages(input, seen);
  return n;
}
std::size_t messages(const model& m) {
  std::set<std::uintptr_t> seen;
  std::size_t n = 0;
  espalier::tree_visit(
      [&]<class L>(const L& leaf) {
        if constexpr (std::is_same_v<L, mx::array>) n += messages(leaf, seen);
      },
      m);
  return n;
}

TEST(Distributed, GradientsShareBucketsOfTheirDtype) {
  const model m = make_model(1);  // 24 and 12 bytes of float32, 8 of float16
  const auto sent = [&](std::size_t bucket_bytes) {
    return messages(espalier::average_gradients(m, {.group = ranks::pretended(1, 4), .bucket_bytes = bucket_bytes}));
  };
  EXPECT_EQ(sent(espalier::default_bucket_bytes), 2u);
  EXPECT_EQ(sent(36), 2u);
  EXPECT_EQ(sent(25), 2u) << "a bucket is closed when it is full, not before it would be too full, as in Python";
  EXPECT_EQ(sent(24), 3u);
  EXPECT_EQ(sent(0), 3u);
}

TEST(Distributed, MessagesNeedEachOtherSoThatAllRanksSendInOneOrder) {
  const model sent = espalier::average_gradients(make_model(1), {.group = ranks::pretended(0, 2), .bucket_bytes = 0});
  std::set<std::uintptr_t> seen;
  EXPECT_EQ(messages(sent.half, seen), 3u) << "the last message comes after both others";
}

TEST(Distributed, WrongArgumentsAreRefused) {
  EXPECT_THROW(espalier::broadcast(make_model(1), 1), espalier::distributed_error);
  EXPECT_THROW(espalier::broadcast(make_model(1), -1, ranks::pretended(0, 2)), espalier::distributed_error);
  EXPECT_THROW(
      espalier::average_gradients(make_model(1), {.group = ranks::pretended(0, 2), .communication_dtype = mx::int32}),
      espalier::distributed_error);
}

// --- What each of two processes does with trees. Rank 0 has 1 where rank 1 has 4. ------------------------------------

float own_value(int rank) { return rank == 0 ? 1.0f : 4.0f; }

void expect_full(const mx::array& a, mx::Dtype dtype, const mx::Shape& shape, float value) {
  EXPECT_EQ(a.dtype(), dtype);
  EXPECT_EQ(a.shape(), shape);
  EXPECT_EQ(values_of(mx::astype(a, mx::float32)), std::vector(a.size(), value));
}

void expect_averaged(const model& m, int rank) {
  expect_full(m.first.weight, mx::float32, {2, 3}, 2.5f);
  expect_full(m.first.bias, mx::float32, {3}, 25.0f);
  expect_full(m.half, mx::float16, {4}, 2.5f);
  EXPECT_EQ(m.counts.dtype(), mx::int32);
  EXPECT_EQ(m.rate, own_value(rank)) << "numbers beside arrays are no parameters";
}

void averages(int rank) {
  const model m = make_model(own_value(rank));
  for (const std::size_t bucket_bytes : {espalier::default_bucket_bytes, std::size_t{24}, std::size_t{0}}) {
    expect_averaged(espalier::average_gradients(m, {.bucket_bytes = bucket_bytes}), rank);
  }
  expect_averaged(espalier::average_gradients(m, {.communication_dtype = mx::bfloat16}), rank);

  // 1 + 2^-10 is not a bfloat16: it is seen to travel as 1.
  const mx::array rounded =
      espalier::average_gradients(mx::array({1 + 0x1p-10f, 3 + 0x1p-10f, 1.0f}), {.communication_dtype = mx::bfloat16});
  EXPECT_EQ(values_of(rounded), (std::vector{1.0f, 3.0f, 1.0f}));

  // 40000 + 40000 is no float16, their mean is: it is taken in the dtype that travels.
  const mx::array large =
      espalier::average_gradients(mx::full({2}, 40000.0f, mx::float16), {.communication_dtype = mx::float32});
  expect_full(large, mx::float16, {2}, 40000.0f);

  auto [complex, empty] = espalier::average_gradients(
      std::pair(mx::array(mx::complex64_t(own_value(rank), 2.0f)), mx::zeros({0, 3}, mx::float32)));
  EXPECT_EQ(complex.item<mx::complex64_t>(), mx::complex64_t(2.5f, 2.0f));
  EXPECT_EQ(empty.shape(), (mx::Shape{0, 3}));
}

// One trace, replayed; the loss goes along with the gradients; both ranks go the way of one that has both batches.
void compiled_averages(int rank) {
  auto step = espalier::compile([](layer& l, const mx::array& x) {
    const auto squares = [](const layer& at, const mx::array& b) {
      return mx::sum(mx::square(mx::sum(at.weight) - b)) + mx::sum(at.bias * b);
    };
    const auto [value, gradient] =
        espalier::average_gradients(espalier::value_and_grad(squares)(l, x), {.bucket_bytes = 8});
    l.weight = l.weight - mx::array(0.125f) * gradient.weight;
    l.bias = l.bias - mx::array(0.125f) * gradient.bias;
    return value;
  });
  layer l{mx::array({0.0f, 0.0f}), mx::array(0.0f)};
  float weight = 0, bias = 0;  // by hand; all numbers are small multiples of powers of two: exact
  for (const float x0 : {8.0f, 16.0f, 24.0f}) {
    const float x1 = 64;
    const mx::array value = step(l, mx::array(rank == 0 ? x0 : x1));
    espalier::eval(l, value);
    const auto loss = [&](float x) { return (2 * weight - x) * (2 * weight - x) + bias * x; };
    EXPECT_EQ(value.item<float>(), (loss(x0) + loss(x1)) / 2);
    weight -= 0.125f * (2 * (2 * weight - x0) + 2 * (2 * weight - x1)) / 2;
    bias -= 0.125f * (x0 + x1) / 2;
    EXPECT_EQ(values_of(l.weight), (std::vector{weight, weight}));
    EXPECT_EQ(l.bias.item<float>(), bias);
  }
  EXPECT_EQ(step.stats().traces, 1u);
  EXPECT_EQ(step.stats().hits, 2u);
}

enum class colour : unsigned char { red, green };

struct everything {
  mx::array floats;
  mx::array bools;
  mx::array halves;
  mx::array bytes;
  mx::array longs;
  mx::array scalar;
  mx::array empty;
  std::vector<double> numbers;
  std::uint64_t seed;
  bool flag;
  colour hue;
};

void broadcasts(int rank) {
  const float minus_zero = -0.0f, odd_nan = std::bit_cast<float>(0x7fc12345u);
  const everything of_rank_1{mx::array({minus_zero, odd_nan, 1.5f}),
                             mx::array({true, false, true}),
                             mx::array({1.5f, minus_zero, 3.0f}, mx::float16),
                             mx::array({-128, 127, 1, 0, 5}, mx::int8),
                             mx::array({std::int64_t{-1}, std::int64_t{1} << 60}, mx::int64),
                             mx::array(mx::complex64_t(1.0f, -2.0f)),
                             mx::zeros({2, 0}),
                             {0.1, -0.0},
                             0xfedcba9876543210u,
                             true,
                             colour::green};
  const everything of_rank_0{mx::full({3}, 7.0f),
                             mx::array({false, true, false}),
                             mx::full({3}, 7.0f, mx::float16),
                             mx::full({5}, 7, mx::int8),
                             mx::full({2}, 7, mx::int64),
                             mx::array(mx::complex64_t(7.0f, 7.0f)),
                             mx::zeros({2, 0}),
                             {7, 7},
                             7,
                             false,
                             colour::red};
  const everything sent = espalier::broadcast(rank == 0 ? of_rank_0 : of_rank_1, 1);
  const auto bits = [](const mx::array& a) {
    mx::array words = mx::contiguous(mx::view(a, mx::uint32));
    words.eval();
    return std::vector(words.data<std::uint32_t>(), words.data<std::uint32_t>() + words.size());
  };
  EXPECT_EQ(bits(sent.floats), bits(of_rank_1.floats)) << "minus zero and NaN keep their bits";
  EXPECT_TRUE(mx::array_equal(mx::view(sent.halves, mx::uint16), mx::view(of_rank_1.halves, mx::uint16)).item<bool>());
  for (const auto& [found, expected] :
       {std::pair(sent.bools, of_rank_1.bools), std::pair(sent.bytes, of_rank_1.bytes),
        std::pair(sent.longs, of_rank_1.longs), std::pair(sent.scalar, of_rank_1.scalar)}) {
    EXPECT_TRUE(espalier::tree_equal(found, expected)) << espalier::describe_value(expected);
  }
  EXPECT_EQ(sent.empty.shape(), (mx::Shape{2, 0}));
  EXPECT_EQ(sent.numbers, (std::vector{0.1, -0.0}));
  EXPECT_TRUE(std::signbit(sent.numbers[1]));
  EXPECT_EQ(sent.seed, 0xfedcba9876543210u);
  EXPECT_TRUE(sent.flag);
  EXPECT_EQ(sent.hue, colour::green);

  const everything from_rank_0 = espalier::broadcast(rank == 0 ? of_rank_0 : of_rank_1);
  EXPECT_EQ(values_of(from_rank_0.floats), std::vector(3, 7.0f));
}

struct metrics {
  double loss;
  int hits;
  bool good;
};

void gathers(int rank) {
  const std::vector<metrics> of_all = espalier::all_gather(metrics{0.1 + rank, 3 - 5 * rank, rank == 1});
  ASSERT_EQ(of_all.size(), 2u);
  EXPECT_EQ(of_all[0].loss, 0.1) << "as a double, not as float32";
  EXPECT_EQ(of_all[1].loss, 1.1);
  EXPECT_EQ(of_all[0].hits, 3);
  EXPECT_EQ(of_all[1].hits, -2);
  EXPECT_FALSE(of_all[0].good);
  EXPECT_TRUE(of_all[1].good);

  // Of several shapes and sizes of elements, and none.
  const std::tuple<mx::array, layer, mx::array> tree{
      mx::full({3}, rank, mx::int8),
      {mx::full({2, 2}, own_value(rank)), mx::array(10 * own_value(rank))},
      mx::zeros({0, 2})};
  const auto both = espalier::all_gather(tree);
  for (const int of : {0, 1}) {
    const auto& [bytes, floats, empty] = both.at(static_cast<std::size_t>(of));
    EXPECT_TRUE(mx::array_equal(bytes, mx::full({3}, of, mx::int8)).item<bool>());
    expect_full(floats.weight, mx::float32, {2, 2}, own_value(of));
    expect_full(floats.bias, mx::float32, {}, 10 * own_value(of));
    EXPECT_EQ(empty.shape(), (mx::Shape{0, 2}));
  }
}

// Rank 1 dies. (Not with messages that the ring sends both ways round, of 512 KiB and more for each rank: after a failure
// MLX 0.32.4 may then wait for a thread that has ended. docs/distributed.md.)
void loses_rank_1(int rank) {
  const auto average = [&] { espalier::average_gradients(mx::full({1000}, own_value(rank))).eval(); };
  average();
  if (rank == 1) std::raise(SIGKILL);
  const auto expect_lost = [&] {
    try {
      average();
      ADD_FAILURE() << "rank 1 is dead, and nobody said so";
    } catch (const std::exception& e) {
      EXPECT_NE(std::string(e.what()).find("connection to a peer was lost"), std::string::npos) << e.what();
    }
  };
  expect_lost();
  if (dist::init().size() == 2) expect_lost();  // now it is known that nobody is there, and sending would raise SIGPIPE
}

// --- Starting them. --------------------------------------------------------------------------------------------------

TEST(Distributed, TwoProcessesReplayEveryOperation) { ranks::expect_success("every_operation"); }
TEST(Distributed, TwoProcessesReplayEveryMessage) { ranks::expect_success("every_message"); }
TEST(Distributed, TwoProcessesShareAGradient) { ranks::expect_success("shared_gradient"); }
TEST(Distributed, TwoProcessesAverageTheirParametersAndNothingElse) { ranks::expect_success("averages"); }
TEST(Distributed, AveragesAreReplayedInCompiledFunctions) { ranks::expect_success("compiled_averages"); }
TEST(Distributed, ABroadcastBringsEveryBit) { ranks::expect_success("broadcasts"); }
TEST(Distributed, EveryRankGathersTheLeavesOfAll) { ranks::expect_success("gathers"); }

void expect_told_of_rank_1s_death(int count) {
  if (!dist::is_available("ring")) GTEST_SKIP() << "this MLX was built without the ring back end";
  const std::vector<int> ends = ranks::run("loses_rank_1", count);
  if (ends.empty()) GTEST_SKIP() << "127.0.0.1 cannot be used here";
  std::vector<int> expected(static_cast<std::size_t>(count), EXIT_SUCCESS);
  expected[1] = 128 + SIGKILL;
  EXPECT_EQ(ends, expected) << "141: SIGPIPE; 142: hung";
}

TEST(Distributed, ADeadRankIsAnErrorOfTheOther) { expect_told_of_rank_1s_death(2); }
// Rank 3 has no connection with rank 1: it hears of it when its neighbours end.
TEST(Distributed, ADeadRankIsAnErrorOfAllRanksOfARing) { expect_told_of_rank_1s_death(4); }

}  // namespace

int main(int argc, char** argv) {
  return ranks::run_tests_or_rank(argc, argv,
                                  {{"every_operation", every_operation},
                                   {"every_message", every_message},
                                   {"shared_gradient", shared_gradient},
                                   {"averages", averages},
                                   {"compiled_averages", compiled_averages},
                                   {"broadcasts", broadcasts},
                                   {"gathers", gathers},
                                   {"loses_rank_1", loses_rank_1}});
}
