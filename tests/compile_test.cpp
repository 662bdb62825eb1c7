// The compiled-function cache over an engine that is not MLX (counting_engine.hpp): what is traced, what is replayed,
// what is kept and what is let go, by the engine's own counts.
#include <gtest/gtest.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <espalier/compile.hpp>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "counting_engine.hpp"
#include "messages.hpp"

using counting::array;
using counting::counts;
using espalier::compile;
using espalier::compile_options;

namespace {

// The same engine with every hash equal: what the cache gives back must not depend on hashes.
struct colliding_engine : counting::engine {};

}  // namespace

template <> std::uint64_t espalier::detail::call_key<colliding_engine>::hash() const { return 0; }

namespace {

static_assert(espalier::engine<counting::engine>);
static_assert(!espalier::engine<array>);

array row(std::vector<double> values) {
  const std::size_t size = values.size();
  return array({size}, std::move(values));
}

struct layer {
  array weight;
  std::optional<array> bias;
};
struct model {
  std::vector<layer> layers;
};

array forward(const model& net, array h) {
  for (const layer& l : net.layers) {
    h = h * l.weight;
    if (l.bias) h = h + *l.bias;
  }
  return h;
}

// Every test leaves no array and no trace behind.
class CompileWithCountingEngine : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(counts().live_arrays, 0);
    counts() = {};
    counting::device = 0;
  }
  void TearDown() override {
    EXPECT_EQ(counts().live_arrays, 0) << "arrays outlive the compiled functions that held them";
    EXPECT_EQ(counting::traces_under_way, 0);
  }
};
using Compile = CompileWithCountingEngine;

// --- Traces and hits. ------------------------------------------------------------------------------------------------

TEST_F(Compile, TracesOnceAndReplaysAfterwards) {
  auto compiled = compile([](const model& net, const array& x) { return forward(net, x); });
  const model net{{{row({2, 3}), array(1.0)}, {array(10.0), std::nullopt}}};
  for (const double v : {1.0, 5.0, 7.0}) {
    const array y = compiled(net, row({v, v}));
    EXPECT_EQ(y.values(), (std::vector<double>{(2 * v + 1) * 10, (3 * v + 1) * 10}));
  }
  EXPECT_EQ(counts().records, 1u);
  EXPECT_EQ(counts().replays, 3u);
  EXPECT_EQ(counts().signatures, 4u) << "one for each array of the call that was traced, none at hits";
  EXPECT_EQ(counts().eager_ops, 0u);
  EXPECT_EQ(compiled.stats().traces, 1u);
  EXPECT_EQ(compiled.stats().hits, 2u);
  EXPECT_EQ(compiled.stats().entries, 1u);
  EXPECT_EQ(compiled.stats().last_retrace, "");
}

TEST_F(Compile, ShapesAndPlaceAreKeys) {
  auto twice = compile([](const array& x) { return x + x; });
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(twice(row({1, 2})).values(), (std::vector<double>{2, 4}));
    EXPECT_EQ(twice(row({1, 2, 3})).values(), (std::vector<double>{2, 4, 6}));
  }
  EXPECT_EQ(counts().records, 2u);
  EXPECT_EQ(twice.stats().last_retrace, "  arg0: counting[2] became counting[3]");

  counting::device = 1;
  twice(row({1, 2, 3}));
  EXPECT_EQ(counts().records, 3u);
  EXPECT_EQ(twice.stats().last_retrace, "  another device or stream (each thread has its own)");
  counting::device = 0;
  twice(row({1, 2, 3}));
  EXPECT_EQ(counts().records, 3u);
}

TEST_F(Compile, ConstantsAreKeysAndArraysAreNot) {
  auto scale = compile([](const array& x, int factor, const std::string& name) {
    return x * array(factor) + array(static_cast<double>(name.size()));
  });
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(scale(array(1.0 + round), 2, "ab").value(), 2 * (1.0 + round) + 2);
    EXPECT_EQ(scale(array(1.0 + round), 3, "ab").value(), 3 * (1.0 + round) + 2);
    EXPECT_EQ(scale(array(1.0 + round), 3, "abc").value(), 3 * (1.0 + round) + 3);
  }
  EXPECT_EQ(counts().records, 3u);
  EXPECT_EQ(scale.stats().last_retrace, "  arg2: 'ab' became 'abc'");
}

TEST_F(Compile, DynamicStructureIsAKey) {
  using choice = std::variant<array, std::vector<array>>;
  auto sum = compile([](const std::map<std::string, choice>& m) {
    array total(0.0);
    for (const auto& [name, value] : m) {
      const array weight(name == "b" ? 100.0 : 1.0);
      if (const array* one = std::get_if<array>(&value)) {
        total = total + weight * *one;
      } else {
        for (const array& a : std::get<1>(value)) total = total + weight * a;
      }
    }
    return total;
  });
  using input = std::map<std::string, choice>;
  const array one(1.0), two(2.0);
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(sum(input{{"a", one}, {"b", two}}).value(), 201.0);
    EXPECT_EQ(sum(input{{"a", one}, {"c", two}}).value(), 3.0);
    EXPECT_EQ(sum(input{{"a", std::vector{one}}, {"c", two}}).value(), 3.0);
    EXPECT_EQ(sum(input{{"a", std::vector{one, two}}}).value(), 3.0);
    EXPECT_EQ(sum(input{}).value(), 0.0);
  }
  EXPECT_EQ(counts().records, 5u);
}

// All keys have one hash: only comparing them tells the entries apart.
TEST_F(Compile, EntriesWithEqualHashesAreToldApart) {
  auto poly = compile<colliding_engine>([](const std::vector<array>& powers, int factor) {
    array total(0.0);
    for (const array& p : powers) total = total * array(10.0) + p * array(factor);
    return total;
  });
  for (int round = 0; round < 3; ++round) {
    for (int factor = -3; factor < 3; ++factor) {
      EXPECT_EQ(poly({array(1.0), array(2.0)}, factor).value(), 12.0 * factor);
      EXPECT_EQ(poly({array(1.0), array(2.0), array(3.0)}, factor).value(), 123.0 * factor);
      EXPECT_EQ(poly({row({1, 2})}, factor).values(), (std::vector<double>{1.0 * factor, 2.0 * factor}));
      EXPECT_EQ(poly({row({1, 2, 3})}, factor).values().size(), 3u);
      EXPECT_EQ(poly({row({1, 2}), array(2.0)}, factor).values(), (std::vector<double>{12.0 * factor, 22.0 * factor}));
      EXPECT_EQ(poly({array(2.0), row({1, 2})}, factor).values(), (std::vector<double>{21.0 * factor, 22.0 * factor}));
    }
  }
  EXPECT_EQ(counts().records, 36u);
  EXPECT_EQ(poly.stats().entries, 36u);
  EXPECT_EQ(poly.stats().hits, 72u);
}

// --- In-out state and results. ---------------------------------------------------------------------------------------

TEST_F(Compile, RebindsInOutStateAndLeavesTheRest) {
  struct train_state {
    model net;
    array steps;
    array unused;
  };
  auto step = compile([](train_state& state, const array& gradient) {
    for (layer& l : state.net.layers) l.weight = l.weight + gradient;
    state.steps = state.steps + array(1.0);
    return state.net.layers[0].weight;
  });
  train_state state{{{{array(1.0), array(5.0)}, {array(2.0), std::nullopt}}}, array(0.0), array(9.0)};
  const auto* const unused = state.unused.id();
  const auto* const bias = state.net.layers[0].bias->id();
  for (int call = 1; call <= 3; ++call) {
    EXPECT_EQ(step(state, array(0.5)).value(), 1.0 + 0.5 * call);
    EXPECT_EQ(state.steps.value(), call);
    EXPECT_EQ(state.net.layers[1].weight.value(), 2.0 + 0.5 * call);
  }
  EXPECT_EQ(state.unused.id(), unused);
  EXPECT_EQ(state.net.layers[0].bias->id(), bias);
  EXPECT_EQ(counts().records, 1u);
}

TEST_F(Compile, StateMayChangeItsStructureAndItsConstants) {
  struct growing {
    std::vector<array> items;
    int count = 0;
    std::optional<array> last;
  };
  auto step = compile([](growing& g, const array& x) {
    g.items.push_back(x * array(++g.count));
    g.last = g.items.back() + array(0.5);
  });
  for (int run = 0; run < 2; ++run) {
    growing g;
    for (int i = 1; i <= 3; ++i) {
      step(g, array(10.0 * i));
      EXPECT_EQ(g.count, i);
      ASSERT_EQ(g.items.size(), static_cast<std::size_t>(i));
      EXPECT_EQ(g.items.back().value(), 10.0 * i * i);
      EXPECT_EQ(g.last->value(), 10.0 * i * i + 0.5);
    }
    EXPECT_EQ(g.items.front().value(), 10.0);
  }
  EXPECT_EQ(counts().records, 3u);
}

TEST_F(Compile, SwapsLeaves) {
  auto swap = compile([](std::pair<array, array>& p) { std::swap(p.first, p.second); });
  std::pair p{array(1.0), array(2.0)};
  swap(p);
  swap(p);
  swap(p);
  EXPECT_EQ(p.first.value(), 2.0);
  EXPECT_EQ(p.second.value(), 1.0);
  EXPECT_EQ(counts().records, 1u);
}

TEST_F(Compile, ReturnsPytrees) {
  struct outputs {
    array doubled;
    std::map<std::string, std::vector<array>> more;
    std::string label;
    std::optional<array> none;
    array constant;
  };
  auto compiled = compile(
      [](const array& x) { return outputs{x + x, {{"squares", {x * x, x}}}, "text", std::nullopt, array(7.0)}; });
  for (const double v : {3.0, 5.0}) {
    const outputs o = compiled(array(v));
    EXPECT_EQ(o.doubled.value(), 2 * v);
    EXPECT_EQ(o.more.at("squares").at(0).value(), v * v);
    EXPECT_EQ(o.more.at("squares").at(1).value(), v);
    EXPECT_EQ(o.label, "text");
    EXPECT_FALSE(o.none.has_value());
    EXPECT_EQ(o.constant.value(), 7.0);
  }
  EXPECT_EQ(counts().records, 1u);
}

TEST_F(Compile, ResultsMayHaveAStructureOfTheirOwnPerEntry) {
  auto compiled = compile([](const array& x, bool more) { return more ? std::vector{x, x + x} : std::vector{x * x}; });
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(compiled(array(3.0), true).size(), 2u);
    ASSERT_EQ(compiled(array(3.0), false).size(), 1u);
    EXPECT_EQ(compiled(array(3.0), false)[0].value(), 9.0);
  }
  EXPECT_EQ(counts().records, 2u);
}

TEST_F(Compile, AFunctionWithoutArraysInItsArgumentsNamesItsEngine) {
  auto make = compile<counting::engine>([](int n) { return std::pair(n + 1, array(n) * array(2.0)); });
  EXPECT_EQ(make(3).first, 4);
  EXPECT_EQ(make(3).second.value(), 6.0);
  EXPECT_EQ(counts().records, 1u);
}

// --- Callables. ------------------------------------------------------------------------------------------------------

TEST_F(Compile, GenericCallables) {
  auto step = compile([](auto& state, const auto& input, auto by_value, auto&& forwarded) {
    by_value = by_value * forwarded;
    forwarded = by_value;
    state = state + input * by_value;
  });
  array state(1.0), input(2.0), by_value(3.0), forwarded(4.0);
  for (int call = 1; call <= 2; ++call) {
    step(state, input, by_value, forwarded);
    EXPECT_EQ(state.value(), 1.0 + 24.0 * call);
  }
  EXPECT_EQ(by_value.value(), 3.0);
  EXPECT_EQ(forwarded.value(), 4.0);
  EXPECT_EQ(counts().records, 1u);
}

TEST_F(Compile, AGenericCallableHasTracesOfItsOwnForEachListOfTypes) {
  auto twice = compile([](const auto& tree) { return std::get<0>(tree) + std::get<0>(tree); });
  EXPECT_EQ(twice(std::tuple(array(1.0))).value(), 2.0);
  EXPECT_EQ(twice(std::pair(array(2.0), 1)).value(), 4.0);
  EXPECT_EQ(twice(std::tuple(array(3.0))).value(), 6.0);
  EXPECT_EQ(twice.stats().traces, 2u);
  EXPECT_EQ(twice.stats().hits, 1u);
  EXPECT_EQ(twice.stats().entries, 2u);
  twice.clear();
  EXPECT_EQ(twice.stats().entries, 0u);
}

struct affine {
  array factor;
  std::vector<array> offsets;
  int sign = 1;
  array operator()(const array& x) const {
    array y = x * factor * array(sign);
    for (const array& o : offsets) y = y + o;
    return y;
  }
};
struct running_sum {
  array total;
  int calls = 0;
  array operator()(const array& x) {
    ++calls;
    return total = total + x;
  }
};

TEST_F(Compile, FieldsOfAFunctorAreInputs) {
  auto compiled = compile(affine{array(2.0), {array(1.0)}});
  EXPECT_EQ(compiled(array(5.0)).value(), 11.0);
  compiled.function().factor = array(3.0);
  EXPECT_EQ(compiled(array(5.0)).value(), 16.0);
  EXPECT_EQ(counts().records, 1u);
  compiled.function().sign = -1;
  EXPECT_EQ(compiled(array(5.0)).value(), -14.0);
  compiled.function().offsets.push_back(array(100.0));
  EXPECT_EQ(compiled(array(5.0)).value(), 86.0);
  EXPECT_EQ(counts().records, 3u);
  EXPECT_EQ(compiled.stats().last_retrace.find("  function (structure): "), 0u) << compiled.stats().last_retrace;
}

TEST_F(Compile, FieldsOfAFunctorThatChangesThemAreState) {
  auto compiled = compile(running_sum{array(1.0)});
  for (int call = 1; call <= 3; ++call) {
    EXPECT_EQ(compiled(array(2.0)).value(), 1.0 + 2.0 * call);
    EXPECT_EQ(compiled.function().calls, call);
  }
  EXPECT_EQ(counts().records, 3u) << "the number of calls is a constant";
}

array plus_one(const array& x) { return x + array(1.0); }

TEST_F(Compile, FunctionsAsTemplateArguments) {
  auto compiled = compile<&plus_one>();
  EXPECT_EQ(compiled(array(2.0)).value(), 3.0);
  static_assert(std::same_as<decltype(compiled(array(2.0))), array>);
}

TEST_F(Compile, RunsInlineInsideAnotherTrace) {
  static auto* inner = static_cast<decltype(compile<&plus_one>())*>(nullptr);
  auto plus = compile<&plus_one>();
  inner = &plus;
  auto outer = compile([](const array& x) { return (*inner)(x) * (*inner)(x); });
  EXPECT_EQ(outer(array(2.0)).value(), 9.0);
  EXPECT_EQ(outer(array(3.0)).value(), 16.0);
  EXPECT_EQ(counts().records, 1u);
  EXPECT_EQ(plus.stats().traces, 0u);
}

// --- Budgets, failures, lifetime. ------------------------------------------------------------------------------------

TEST_F(Compile, MaxTraces) {
  auto add = compile<compile_options{.max_traces = 2}>([](const array& x, int n) { return x + array(n); });
  add(array(1.0), 0);
  add(array(1.0), 1);
  EXPECT_THROW(add(array(1.0), 2), espalier::retrace_error);
  const std::string message = message_of([&] { add(array(1.0), 2); });
  EXPECT_NE(message.find("espalier: compile: "), std::string::npos) << message;
  EXPECT_NE(message.find("  arg1: 1 became 2"), std::string::npos) << message;
  EXPECT_EQ(add(array(1.0), 0).value(), 1.0);
  EXPECT_EQ(add(array(1.0), 1).value(), 2.0);
  EXPECT_EQ(counts().records, 2u);
  add.clear();
  EXPECT_EQ(add(array(1.0), 2).value(), 3.0);
}

TEST_F(Compile, ExplainsTheLastRetrace) {
  struct batch {
    array input;
    int offset;
  };
  auto add = compile([](const batch& b) { return b.input + array(b.offset); });
  EXPECT_TRUE(contains(add.explain(), "not traced yet"));
  add({array(1.0), 3});
  EXPECT_TRUE(contains(add.explain(), "traces: 1, hits: 0; the last trace was a first one")) << add.explain();
  add({row({1, 2}), 4});
  add({row({3, 4}), 4});
  expect_in_order(add.explain(),
                  {"traces: 2, hits: 1", "arg0.input: counting[] became counting[2]", "arg0.offset: 3 became 4"});
}

TEST_F(Compile, OneShapelessTraceServesAllShapesOfARank) {
  auto square = compile<compile_options{.shapeless = true}>([](const array& x) { return x * x; });
  EXPECT_EQ(square(row({1, 2})).values(), (std::vector<double>{1, 4}));
  EXPECT_EQ(square(row({1, 2, 3})).values(), (std::vector<double>{1, 4, 9}));
  EXPECT_EQ(counts().records, 1u);
  EXPECT_EQ(square(array(3.0)).value(), 9.0);
  EXPECT_EQ(counts().records, 2u);
  EXPECT_TRUE(contains(square.explain(), "arg0: counting of rank 1 became counting of rank 0")) << square.explain();
  EXPECT_EQ(square(row({5})).values(), std::vector<double>{25});
  EXPECT_EQ(counts().records, 2u);
}

// Each place has its own budget, and its own entry to try first.
TEST_F(Compile, PlacesCountTheirTracesApart) {
  auto add = compile<compile_options{.max_traces = 1}>([](const array& x, int n) { return x + array(n); });
  for (int round = 0; round < 3; ++round) {
    for (counting::device = 0; counting::device < 2; ++counting::device) EXPECT_EQ(add(array(1.0), 2).value(), 3.0);
  }
  counting::device = 1;
  EXPECT_EQ(counts().records, 2u);
  EXPECT_TRUE(contains(add.explain(), "another device or stream")) << add.explain();
  expect_in_order(message_of<espalier::retrace_error>([&] { add(array(1.0), 3); }),
                  {"max_traces = 1", "arg1: 2 became 3"});
}

TEST_F(Compile, ExplainsATraceThatHadBeenDropped) {
  auto add = compile<compile_options{.max_entries = 1}>([](const array& x, int n) { return x + array(n); });
  for (const int n : {1, 2, 1}) add(array(1.0), n);
  EXPECT_TRUE(contains(add.explain(), "dropped to keep max_entries")) << add.explain();
}

TEST_F(Compile, CheckComparesWithThePlainCall) {
  static double outside = 1.0;
  auto scaled = compile<compile_options{.check = true}>([](const array& x) { return x * array(outside); });
  outside = 2.0;
  EXPECT_EQ(scaled(array(3.0)).value(), 6.0);
  outside = 4.0;
  EXPECT_THROW(scaled(array(3.0)), espalier::check_error);
}

// A value that several results share goes to each of them; an input to a result and to state that is assigned.
TEST_F(Compile, OneArrayInSeveralPlacesOfTheResults) {
  struct state {
    array a, b, c;
  };
  auto f = compile([](state& s, const array& x) {
    const array sum = s.a + x;
    const array old = s.b;
    s.b = sum;
    s.a = sum;
    s.c = old;
    return std::vector{sum, old, x, sum};
  });
  for (int round = 0; round < 3; ++round) {
    state s{array(1.0), array(2.0), array(3.0)};
    const auto results = f(s, array(10.0));
    EXPECT_EQ(results[0].value(), 11.0);
    EXPECT_EQ(results[1].value(), 2.0);
    EXPECT_EQ(results[2].value(), 10.0);
    EXPECT_EQ(results[3].value(), 11.0);
    EXPECT_EQ(s.a.value(), 11.0);
    EXPECT_EQ(s.b.value(), 11.0);
    EXPECT_EQ(s.c.value(), 2.0);
  }
}

TEST_F(Compile, OfMoreThanMaxEntriesTheLeastRecentlyUsedIsDropped) {
  constexpr compile_options two{.max_entries = 2};
  auto hashed = compile<two>([](const array& x, int n) { return x + array(n); });
  auto colliding = compile<colliding_engine, two>([](const array& x, int n) { return x + array(n); });
  const auto expect_least_recently_used = [](auto& add) {
    const auto records = [&](int n) {
      const std::size_t before = counts().records;
      EXPECT_EQ(add(array(1.0), n).value(), 1.0 + n);
      return counts().records - before;
    };
    EXPECT_EQ(records(0), 1u);
    EXPECT_EQ(records(1), 1u);
    EXPECT_EQ(records(0), 0u);
    EXPECT_EQ(records(2), 1u) << "drops 1";
    EXPECT_EQ(records(0), 0u);
    EXPECT_EQ(records(1), 1u) << "drops 2";
    EXPECT_EQ(records(0), 0u);
    EXPECT_EQ(records(2), 1u);
    EXPECT_EQ(add.stats().entries, 2u);
    EXPECT_EQ(add.stats().traces, 5u);
  };
  expect_least_recently_used(hashed);
  expect_least_recently_used(colliding);

  const array x(1.0);
  const long before = counts().live_arrays;
  for (int n = 10; n < 200; ++n) hashed(x, n);
  EXPECT_EQ(counts().live_arrays, before) << "dropped entries hold no arrays";
}

TEST_F(Compile, AThrowingTraceLeavesNothing) {
  static bool fails = true;
  static int runs = 0;
  fails = true;
  runs = 0;
  struct state {
    array x;
    int n = 0;
  };
  auto step = compile([](state& s) {
    ++runs;
    ++s.n;
    s.x = s.x + array(1.0);
    if (fails) throw std::domain_error("the user's own");
  });
  state s{array(1.0)};
  const long before = counts().live_arrays;
  EXPECT_THROW(step(s), std::domain_error);
  EXPECT_THROW(step(s), std::domain_error);
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(counts().live_arrays, before);
  EXPECT_EQ(s.x.value(), 1.0);
  EXPECT_EQ(s.n, 0);
  EXPECT_EQ(step.stats().traces, 0u);
  EXPECT_EQ(step.stats().entries, 0u);
  fails = false;
  step(s);
  EXPECT_EQ(s.x.value(), 2.0);
  EXPECT_EQ(s.n, 1);
  EXPECT_EQ(step.stats().traces, 1u);
  EXPECT_EQ(message_of([] { compile([](const array& a, const array& b) { return a + b; })(row({1, 2}), row({1})); }),
            "counting: the shapes differ");
}

TEST_F(Compile, WhatTheEngineExplainsBecomesATraceError) {
  auto read = compile([](const array& x) { return x * array(x.value()); });
  EXPECT_THROW(read(array(1.0)), espalier::trace_error);
  const std::string message = message_of([&] { read(array(1.0)); });
  EXPECT_NE(message.find("read a counting array that has no value"), std::string::npos) << message;
  EXPECT_EQ(read.stats().entries, 0u);
}

TEST_F(Compile, AnArrayThatEscapesATraceIsRefused) {
  static std::optional<array> escaped;
  auto leak = compile([](const array& x) {
    escaped = x;
    return x + x;
  });
  leak(array(1.0));
  auto use = compile([](const array& x) { return x + *escaped; });
  EXPECT_THROW(use(array(1.0)), espalier::trace_error);
  escaped.reset();
}

TEST_F(Compile, ClearLetsGoOfEveryArray) {
  auto add = compile([](const array& x, int n) { return x + array(n); });
  const array x(1.0);
  const long before = counts().live_arrays;
  for (int n = 0; n < 20; ++n) add(x, n);
  EXPECT_GT(counts().live_arrays, before) << "the plans hold their constants";
  add.clear();
  EXPECT_EQ(counts().live_arrays, before);
  EXPECT_EQ(add(x, 3).value(), 4.0);
  EXPECT_EQ(add.stats().traces, 21u);
  EXPECT_EQ(add.stats().entries, 1u);
}

TEST_F(Compile, HitsKeepNoArrays) {
  struct state {
    array x;
    std::vector<array> more;
  };
  auto step = compile([](state& s, const array& y) {
    for (array& m : s.more) m = m + y;
    s.x = s.x * y;
    return s;
  });
  state s{array(1.0), {array(1.0), array(2.0)}};
  const array y(1.0);
  step(s, y);
  const long after_the_trace = counts().live_arrays;
  for (int call = 0; call < 100; ++call) step(s, y);
  EXPECT_EQ(counts().live_arrays, after_the_trace);
  EXPECT_EQ(s.more[1].value(), 2.0 + 101);
}

TEST_F(Compile, MovedCompiledFunctionsKeepTheirTraces) {
  auto first = compile(affine{array(2.0), {}});
  first(array(1.0));
  auto second = std::move(first);
  EXPECT_EQ(second(array(4.0)).value(), 8.0);
  EXPECT_EQ(second.stats().traces, 1u);
  EXPECT_EQ(second.stats().hits, 1u);
  std::vector<decltype(second)> many;
  for (int i = 0; i < 10; ++i) many.push_back(compile(affine{array(i), {}}));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(many[static_cast<std::size_t>(i)](array(3.0)).value(), 3.0 * i);
}

TEST_F(Compile, ArgumentsThatShareObjectsWithStateAreRefused) {
  auto add = compile([](array& a, const array& b) { a = a + b; });
  array a(1.0);
  EXPECT_THROW(add(a, a), espalier::trace_error);
  EXPECT_EQ(a.value(), 1.0);
  const array copy = a;
  add(a, copy);
  EXPECT_EQ(a.value(), 2.0) << "copies share data, not objects";
}

}  // namespace
