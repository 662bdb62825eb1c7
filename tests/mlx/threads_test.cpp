// Compiled functions, threads and lifetime: what threads share, what each traces for itself, and that nothing is stale,
// leaked or left when a thread, a function or the process ends. MLX's streams belong to threads, so every thread
// evaluates what it called for.
#include <gtest/gtest.h>
#include <mlx/memory.h>
#include <mlx/mlx.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <array>
#include <atomic>
#include <cstddef>
#include <espalier/mlx/engine.hpp>
#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace mx = mlx::core;
using espalier::compile;

namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int scale = 10;  // sanitizers make everything that much slower
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
constexpr int scale = 10;
#else
constexpr int scale = 1;
#endif
#else
constexpr int scale = 1;
#endif

float value_of(mx::array a) { return a.item<float>(); }

// Runs f on a new thread to its end.
template <class F> void on_a_thread(F&& f) { std::thread(std::forward<F>(f)).join(); }

// Runs f(0), …, f(count - 1), each on a thread of its own, all at once.
template <class F> void on_threads(int count, F&& f) {
  std::latch start(count);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      f(i);
    });
  }
  for (std::thread& t : threads) t.join();
}

struct state {
  mx::array x;
  std::vector<mx::array> sums;
};
struct rate {
  float by;
};

// (Sums between the elementwise operations: what MLX fuses it compiles with the system's compiler, which takes a second
// for each new kernel.)
constexpr auto advance = [](state& s, const mx::array& y, const rate& r) {
  s.x = s.x + mx::sum(y * r.by);
  for (mx::array& sum : s.sums) sum = sum + mx::sum(y);
  return mx::sum(s.x);
};

// --- Calls from many threads. ----------------------------------------------------------------------------------------

TEST(CompileOnThreads, FourThreadsCallOneFunctionWithArraysOfTheirOwn) {
  constexpr int calls = 1000 / (scale == 1 ? 1 : 5);
  auto step = compile(advance);
  std::atomic<int> wrong = 0;
  on_threads(4, [&](int thread) {
    const auto id = static_cast<float>(thread + 1);
    state s{mx::zeros({2}), {mx::array(0.0f), mx::array(id)}};
    const mx::array y = mx::full({2}, id);
    for (int call = 1; call <= calls; ++call) {
      const auto n = static_cast<float>(call);
      if (value_of(step(s, y, {0.5f})) != 2 * id * n) ++wrong;
      if (value_of(s.sums[1]) != id + 2 * id * n) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(step.stats().traces, 4u) << "one on each thread";
  EXPECT_EQ(step.stats().hits, static_cast<std::size_t>(4 * (calls - 1)));
}

TEST(CompileOnThreads, ThreadsMayDifferInShapesAndConstants) {
  constexpr int calls = 300 / (scale == 1 ? 1 : 5);
  auto step = compile(advance);
  std::atomic<int> wrong = 0;
  on_threads(4, [&](int thread) {
    for (int call = 0; call < calls; ++call) {
      const int size = 1 + (thread + call) % 3;
      const auto by = static_cast<float>(call % 4);
      state s{mx::zeros({size}), {}};
      const float sum = 2 * static_cast<float>(size);
      if (value_of(step(s, mx::full({size}, 2.0f), {by})) != sum * by * static_cast<float>(size)) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(step.stats().traces, 4u * 3 * 4);
}

TEST(CompileOnThreads, TheFirstCallOnEachThreadTracesOnce) {  // CASES 14
  auto twice = compile([](const mx::array& x) { return x + x; });
  std::size_t expected = 0;
  const auto call_three_times = [&] {
    for (int call = 0; call < 3; ++call) EXPECT_EQ(value_of(twice(mx::array(2.0f))), 4.0f);
    EXPECT_EQ(twice.stats().traces, ++expected);
  };
  call_three_times();
  for (int i = 0; i < 3; ++i) on_a_thread(call_three_times);
}

TEST(CompileOnThreads, ThreadsMayEndInAnyOrder) {
  auto twice = compile([](const mx::array& x) { return x + x; });
  for (const std::array<int, 4>& order : {std::array{0, 1, 2, 3}, std::array{3, 2, 1, 0}, std::array{2, 0, 3, 1}}) {
    std::vector<std::unique_ptr<std::latch>> may_end;
    for (int i = 0; i < 4; ++i) may_end.push_back(std::make_unique<std::latch>(1));
    std::latch called(4);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        const auto x = static_cast<float>(i);
        EXPECT_EQ(value_of(twice(mx::array(x))), 2 * x);
        called.arrive_and_wait();
        EXPECT_EQ(value_of(twice(mx::array(x))), 2 * x);
        may_end[i]->wait();
      });
    }
    for (const int i : order) {
      may_end[static_cast<std::size_t>(i)]->count_down();
      threads[static_cast<std::size_t>(i)].join();
      EXPECT_EQ(value_of(twice(mx::array(5.0f))), 10.0f);
    }
  }
}

TEST(CompileOnThreads, ClearAndStatsWhileOthersCall) {
  constexpr int calls = 300 / (scale == 1 ? 1 : 5);
  auto step = compile(advance);
  std::atomic<int> wrong = 0;
  on_threads(4, [&](int thread) {
    state s{mx::zeros({1}), {mx::array(0.0f)}};
    for (int call = 1; call <= calls; ++call) {
      if (thread == 0 && call % 5 == 0) step.clear();
      if (thread == 1 && step.stats().entries > 4) ++wrong;
      if (value_of(step(s, mx::full({1}, 1.0f), {2.0f})) != 2.0f * static_cast<float>(call)) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(CompileOnThreads, GenericFunctionsMakeTheirSlotsOnManyThreads) {
  auto sum = compile([](const auto& tree) { return mx::sum(std::get<0>(tree)); });
  std::atomic<int> wrong = 0;
  on_threads(4, [&](int thread) {
    const mx::array x = mx::full({3}, static_cast<float>(thread));
    const auto expected = 3.0f * static_cast<float>(thread);
    for (int call = 0; call < 20; ++call) {
      if (value_of(sum(std::tuple(x))) != expected) ++wrong;
      if (value_of(sum(std::tuple(x, 1))) != expected) ++wrong;
      if (value_of(sum(std::pair(x, x))) != expected) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(sum.stats().traces, 12u);
}

TEST(CompileOnThreads, AThrowOnOneThreadDoesNotDisturbTheOthers) {
  auto step = compile([](const mx::array& x, bool fails) {
    if (fails) throw std::domain_error("the user's own");
    return x + x;
  });
  std::atomic<int> wrong = 0;
  on_threads(4, [&](int thread) {
    for (int call = 0; call < 100; ++call) {
      try {
        if (value_of(step(mx::array(3.0f), thread == 0)) != 6.0f || thread == 0) ++wrong;
      } catch (const std::domain_error&) {
        if (thread != 0) ++wrong;
      }
    }
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(step.stats().traces, 3u);
}

// --- Compiled here, called there, destroyed elsewhere. ---------------------------------------------------------------

// 2 · constant · xᴺ of an array of two x. (sort() is there to part the operations that MLX would fuse.)
template <int N> struct monomial {
  int constant;
  mx::array operator()(const mx::array& x) const {
    mx::array y({static_cast<float>(constant), static_cast<float>(constant)});
    for (int i = 0; i < N; ++i) y = mx::sort(y * x);
    return mx::sum(y);
  }
  float expected(float x) const {
    auto y = 2 * static_cast<float>(constant);
    for (int i = 0; i < N; ++i) y *= x;
    return y;
  }
};

template <int N> void build_here_call_there_destroy_here(int round) {
  const monomial<N> function{round};
  auto compiled = compile(function);
  on_a_thread([&] { EXPECT_EQ(value_of(compiled(mx::full({2}, 2.0f))), function.expected(2.0f)); });
}

TEST(CompileOnThreads, FunctionsBuiltHereCalledThereAndDestroyedHereAreNeverMixedUp) {  // CASES 9
  for (int round = 1; round <= 10; ++round) {
    build_here_call_there_destroy_here<0>(round);
    build_here_call_there_destroy_here<1>(round);
    build_here_call_there_destroy_here<2>(round);
    build_here_call_there_destroy_here<3>(round);
    build_here_call_there_destroy_here<4>(round);
  }
}

TEST(CompileOnThreads, TheSameOnOneThreadThatLives) {  // CASES 9
  // The second thread lives through all rounds, so that what it cached would be found again.
  std::atomic<int> ready = 0, done = 0;
  std::function<float()> work;
  float result = 0;
  constexpr int rounds = 50;
  std::thread second([&] {
    for (int round = 1; round <= rounds; ++round) {
      ready.wait(round - 1);
      result = work();
      done = round;
      done.notify_one();
    }
  });
  const auto round_of = [&]<int N>(std::integral_constant<int, N>, int round) {
    const monomial<N> function{round};
    auto compiled = compile(function);
    work = [&] { return value_of(compiled(mx::full({2}, 2.0f))); };
    ready = round;
    ready.notify_one();
    done.wait(round - 1);
    EXPECT_EQ(result, function.expected(2.0f)) << "round " << round;
  };
  for (int round = 1; round <= rounds; ++round) {
    switch (round % 3) {
      case 0:
        round_of(std::integral_constant<int, 1>{}, round);
        break;
      case 1:
        round_of(std::integral_constant<int, 2>{}, round);
        break;
      default:
        round_of(std::integral_constant<int, 3>{}, round);
    }
  }
  second.join();
}

TEST(CompileOnThreads, FunctionsMayBeDestroyedAnywhere) {
  for (const bool tracer_lives : {true, false}) {
    for (int round = 0; round < 10; ++round) {
      const monomial<2> function{round};
      std::optional compiled(compile(function));
      const auto call = [&] { EXPECT_EQ(value_of((*compiled)(mx::full({2}, 3.0f))), function.expected(3.0f)); };
      call();
      if (tracer_lives) {
        std::latch called(1), destroyed(1);
        std::thread tracer([&] {
          call();
          called.count_down();
          destroyed.wait();
        });
        called.wait();
        on_a_thread([&] { compiled.reset(); });
        destroyed.count_down();
        tracer.join();
      } else {
        on_a_thread(call);
        on_a_thread([moved = std::move(*compiled)] { (void)moved; });
      }
    }
  }
}

// --- Static and thread-local functions: the test is that the process exits with 0. ------------------------------------

struct offset {
  float by;
  mx::array operator()(const mx::array& x) const { return x + mx::array(by); }
};
auto at_namespace_scope = compile(offset{1.0f});
thread_local auto thread_local_at_namespace_scope = compile(offset{2.0f});

TEST(CompileOnThreads, StaticAndThreadLocalFunctionsEndCleanly) {
  const auto call_all = [] {
    static auto function_static = compile(offset{3.0f});
    thread_local auto function_thread_local = compile(offset{4.0f});
    // Results that end after, or before, the functions that made them.
    thread_local std::vector<mx::array> kept;
    const mx::array x(10.0f);
    kept = {at_namespace_scope(x), thread_local_at_namespace_scope(x), function_static(x), function_thread_local(x)};
    EXPECT_EQ(value_of(kept[0] + kept[1] + kept[2] + kept[3]), 50.0f);
    kept.push_back(function_static(kept[1]));  // never evaluated
  };
  call_all();
  on_threads(4, [&](int) { call_all(); });
  call_all();
}

// --- Nothing leaks. --------------------------------------------------------------------------------------------------

// Bytes in use on the heap; 0 where the allocator does not say (other systems, sanitizers).
std::size_t heap_in_use() {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
  return mallinfo2().uordblks;
#else
  return 0;
#endif
}

// Runs f `warm_up` times, then `times` more: MLX's memory must be as before, and the heap grow by less than `bytes` per
// run.
template <class F> void expect_flat(int warm_up, int times, double bytes, F&& f) {
  for (int i = 0; i < warm_up; ++i) f(i);
  mx::synchronize();
  const std::size_t active = mx::get_active_memory();
  const std::size_t heap = heap_in_use();
  for (int i = 0; i < times; ++i) f(i);
  mx::synchronize();
  EXPECT_LE(mx::get_active_memory(), active);
  const double grown = static_cast<double>(heap_in_use()) - static_cast<double>(heap);
  EXPECT_LT(grown / times, bytes) << "the heap grew by " << grown << " bytes over " << times << " runs";
}

TEST(CompileOnThreads, TenThousandFunctionsCompiledAndDroppedDoNotLeak) {
  mx::array y(0.0f);
  expect_flat(500 / scale, 10000 / scale, 10, [&](int i) {
    auto compiled = compile(monomial<2>{i});
    y = compiled(mx::full({2}, 1.0f));
    if (i % 100 == 0) {
      EXPECT_EQ(value_of(y), 2 * static_cast<float>(i));
    }
    y = mx::array(0.0f);
  });
}

TEST(CompileOnThreads, AHundredThousandCallsDoNotLeak) {
  auto step = compile([](state& s, const mx::array& y) { s.x = s.x + y; });
  state s{mx::zeros({64}), {mx::array(0.0f)}};
  const mx::array y = mx::full({64}, 1.0f);
  mx::eval(s.x, s.sums[0], y);
  int calls = 0;
  expect_flat(1000 / scale, 100000 / scale, 1, [&](int) {
    step(s, y);
    if (++calls % 50 == 0) mx::eval(s.x);
  });
  EXPECT_EQ(value_of(mx::max(s.x)), static_cast<float>(calls));
  EXPECT_EQ(step.stats().traces, 1u);
  EXPECT_EQ(step.stats().hits, static_cast<std::size_t>(calls) - 1);
}

TEST(CompileOnThreads, RetracesAndClearsDoNotLeak) {
  auto step = compile(advance);
  const mx::array y = mx::full({4}, 1.0f);
  mx::eval(y);
  expect_flat(100 / scale, 2000 / scale, 20, [&](int i) {
    state s{y, {}};
    step(s, y, {static_cast<float>(i)});
    if (i % 5 == 4) step.clear();
    EXPECT_LE(step.stats().entries, 4u);
  });
}

TEST(CompileOnThreads, FunctionsThatOtherThreadsTracedDoNotLeak) {
  // (A thread itself costs MLX a stream, which it keeps.)
  std::atomic<int> turn = 0;
  std::optional<decltype(compile(monomial<1>{}))> compiled;
  constexpr int rounds = 2100 / scale;
  std::thread second([&] {
    for (int round = 0; round < rounds; ++round) {
      turn.wait(2 * round);
      EXPECT_EQ(value_of((*compiled)(mx::full({2}, 1.0f))), 2 * static_cast<float>(round));
      ++turn;
      turn.notify_one();
    }
  });
  int round = 0;
  const auto one_round = [&](int) {
    compiled.emplace(compile(monomial<1>{round}));
    turn = 2 * round + 1;
    turn.notify_one();
    turn.wait(2 * round + 1);
    compiled.reset();
    ++round;
  };
  expect_flat(100 / scale, rounds - 100 / scale, 20, one_round);
  second.join();
}

}  // namespace
