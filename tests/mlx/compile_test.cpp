// espalier::compile over MLX: what a signature means, what is traced again and what is not, and every misuse.
#include <gtest/gtest.h>
#include <mlx/mlx.h>

#include <cmath>
#include <espalier/espalier.hpp>
#include <espalier/mlx/dynamic.hpp>
#include <espalier/mlx/engine.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "../messages.hpp"

namespace mx = mlx::core;
using espalier::compile;
using espalier::compile_options;

namespace {

float value_of(mx::array a) { return a.item<float>(); }

struct linear {
  mx::array weight;
  std::optional<mx::array> bias;
};
struct model {
  std::vector<linear> layers;
};
struct batch {
  mx::array x;
};
struct train_state {
  model net;
  mx::array steps;
};

model two_layers() { return {{{mx::full({2, 2}, 2.0f), mx::full({2}, 1.0f)}, {mx::full({2, 2}, 3.0f), std::nullopt}}}; }

mx::array forward(const model& net, mx::array h) {
  for (const linear& layer : net.layers) {
    h = mx::matmul(h, layer.weight);
    if (layer.bias) h = h + *layer.bias;
  }
  return mx::sum(h);
}

// --- Inputs, in-out state, results. ----------------------------------------------------------------------------------

TEST(Compile, GivesWhatThePlainCallGives) {
  auto compiled = compile([](const model& net, const batch& b) { return forward(net, b.x); });
  const model net = two_layers();
  const batch b{mx::array({1.0f, 2.0f}, {1, 2})};
  for (int call = 0; call < 3; ++call) EXPECT_EQ(value_of(compiled(net, b)), value_of(forward(net, b.x)));
  EXPECT_EQ(compiled.stats().traces, 1u);
  EXPECT_EQ(compiled.stats().hits, 2u);
}

TEST(Compile, RebindsInOutState) {
  auto step = compile([](train_state& state, const batch& b) {
    state.steps = state.steps + mx::array(1.0f);
    for (linear& layer : state.net.layers) layer.weight = layer.weight + mx::sum(b.x);
    return mx::sum(state.net.layers[0].weight);
  });
  train_state state{two_layers(), mx::array(0.0f)};
  const batch b{mx::array({0.25f, 0.25f})};
  for (int call = 1; call <= 4; ++call) {
    EXPECT_EQ(value_of(step(state, b)), 4 * (2.0f + 0.5f * static_cast<float>(call)));
    EXPECT_EQ(value_of(state.steps), static_cast<float>(call));
  }
  EXPECT_EQ(step.stats().traces, 1u);
}

TEST(Compile, DoesNotTouchLeavesThatTheStepLeavesAlone) {
  auto step = compile([](model& net) { net.layers[0].weight = net.layers[0].weight * 2.0f; });
  model net = two_layers();
  step(net);
  const std::uintptr_t untouched = net.layers[1].weight.id();
  const std::uintptr_t changed = net.layers[0].weight.id();
  step(net);
  EXPECT_EQ(net.layers[1].weight.id(), untouched);
  EXPECT_NE(net.layers[0].weight.id(), changed);
}

TEST(Compile, SwapsLeavesOfInOutState) {
  auto swap = compile([](std::pair<mx::array, mx::array>& p) { std::swap(p.first, p.second); });
  std::pair p{mx::array(1.0f), mx::array(2.0f)};
  swap(p);
  EXPECT_EQ(value_of(p.first), 2.0f);
  swap(p);
  EXPECT_EQ(value_of(p.first), 1.0f);
  EXPECT_EQ(value_of(p.second), 2.0f);
}

TEST(Compile, ReturnsAnyPytree) {
  struct outputs {
    mx::array doubled;
    std::map<std::string, std::vector<mx::array>> more;
    std::string label;
    std::optional<mx::array> none;
  };
  auto compiled =
      compile([](const mx::array& x) { return outputs{x + x, {{"squares", {x * x, x}}}, "constant", std::nullopt}; });
  for (const float v : {3.0f, 5.0f}) {
    const outputs o = compiled(mx::array(v));
    EXPECT_EQ(value_of(o.doubled), 2 * v);
    EXPECT_EQ(value_of(o.more.at("squares").at(0)), v * v);
    EXPECT_EQ(value_of(o.more.at("squares").at(1)), v);
    EXPECT_EQ(o.label, "constant");
    EXPECT_FALSE(o.none.has_value());
  }
  EXPECT_EQ(compiled.stats().traces, 1u);
}

TEST(Compile, GenericCallablesTellInOutByWhatTheyRefuse) {
  auto step = compile([](auto& state, const auto& by_reference, auto by_value, auto&& forwarded) {
    by_value = by_value + forwarded;
    forwarded = forwarded + by_value;
    state = state + by_reference + by_value;
  });
  mx::array state(1.0f), a(2.0f), b(3.0f), c(4.0f);
  for (int call = 0; call < 2; ++call) step(state, a, b, c);
  EXPECT_EQ(value_of(state), 1.0f + 2 * (2.0f + 7.0f));
  EXPECT_EQ(value_of(a), 2.0f);
  EXPECT_EQ(value_of(b), 3.0f);
  EXPECT_EQ(value_of(c), 4.0f);
}

TEST(Compile, ACallableWithOneSignatureKeepsIt) {
  auto step = compile([](const batch& b, float scale) { return b.x * scale; });
  EXPECT_EQ(value_of(step({mx::array(2.0f)}, 3)), 6.0f);  // braces and conversions, as of the plain function
}

mx::array plus_one(const mx::array& x) { return x + mx::array(1.0f); }

TEST(Compile, TakesAFunctionAsTemplateArgument) {
  auto compiled = compile<&plus_one>();
  EXPECT_EQ(value_of(compiled(mx::array(2.0f))), 3.0f);
}

struct scaled {
  mx::array factor;
  mx::array operator()(const mx::array& x) const { return x * factor; }
};
struct running_sum {
  mx::array total;
  mx::array operator()(const mx::array& x) {
    total = total + x;
    return total;
  }
};

TEST(Compile, FieldsOfAnAggregateFunctorAreInputs) {
  auto compiled = compile(scaled{mx::array(2.0f)});
  EXPECT_EQ(value_of(compiled(mx::array(5.0f))), 10.0f);
  compiled.function().factor = mx::array(3.0f);  // CASES 13: never stale
  EXPECT_EQ(value_of(compiled(mx::array(5.0f))), 15.0f);
  EXPECT_EQ(compiled.stats().traces, 1u);
}

TEST(Compile, FieldsOfAMutableFunctorAreInOutState) {
  auto compiled = compile(running_sum{mx::array(1.0f)});
  EXPECT_EQ(value_of(compiled(mx::array(2.0f))), 3.0f);
  EXPECT_EQ(value_of(compiled(mx::array(2.0f))), 5.0f);
  EXPECT_EQ(value_of(compiled.function().total), 5.0f);
}

struct immutable_cache {
  immutable_cache(mx::array k, int used) : keys_(std::move(k)), used_(used) {}
  const mx::array& keys() const { return keys_; }
  int used() const { return used_; }

 private:
  mx::array keys_;
  int used_;
};

}  // namespace

template <> struct espalier::pytree_node<immutable_cache> {
  static auto children(const immutable_cache& c) { return std::tie(c.keys()); }
  static auto aux(const immutable_cache& c) { return c.used(); }
  static immutable_cache unflatten(int used, mx::array keys) { return {std::move(keys), used}; }
};

namespace {

TEST(Compile, RebindsRegisteredNodesThatCanOnlyBeRebuilt) {  // CASES 15
  struct state {
    immutable_cache cache;
    mx::array other;
  };
  auto step = compile([](state& s) {
    s.cache = immutable_cache(s.cache.keys() + mx::array(1.0f), s.cache.used());
    s.other = s.other * 2.0f;
  });
  state s{{mx::array(1.0f), 7}, mx::array(1.0f)};
  for (int call = 0; call < 3; ++call) step(s);
  EXPECT_EQ(value_of(s.cache.keys()), 4.0f);
  EXPECT_EQ(s.cache.used(), 7);
  EXPECT_EQ(value_of(s.other), 8.0f);
  EXPECT_EQ(step.stats().traces, 1u);
}

TEST(Compile, RebindsConstMembers) {
  struct frozen {
    const mx::array x;
    mx::array y;
  };
  auto step = compile([](std::vector<frozen>& v) { v.push_back({v[0].x + v[0].y, v[0].y}); });
  std::vector<frozen> v;
  v.push_back({mx::array(1.0f), mx::array(2.0f)});
  step(v);
  ASSERT_EQ(v.size(), 2u);
  EXPECT_EQ(value_of(v[1].x), 3.0f);
}

// --- What a trace depends on. ----------------------------------------------------------------------------------------

TEST(Compile, DifferentNestingHasDifferentTraces) {  // CASES 1
  using rows = std::vector<std::vector<mx::array>>;
  auto count = compile([](const rows& r) { return r[0][0] * static_cast<float>(r.size()); });
  const mx::array a(2.0f), b(3.0f);
  EXPECT_EQ(value_of(count(rows{{a, b}})), 2.0f);
  EXPECT_EQ(value_of(count(rows{{a}, {b}})), 4.0f);
  EXPECT_EQ(value_of(count(rows{{a, b}, {}})), 4.0f);
  EXPECT_EQ(value_of(count(rows{{a, b}})), 2.0f);
  EXPECT_EQ(count.stats().traces, 3u);

  using nested = std::map<std::string, std::map<std::string, mx::array>>;
  auto keys = compile([](const nested& n) { return n.begin()->second.begin()->second * static_cast<float>(n.size()); });
  EXPECT_EQ(value_of(keys(nested{{"x", {{"y", a}}}, {"z", {}}})), 4.0f);
  EXPECT_EQ(value_of(keys(nested{{"x", {{"y", a}, {"z", b}}}})), 2.0f);

  using choice = std::variant<mx::array, std::pair<mx::array, mx::array>>;
  auto choose = compile([](const choice& c) { return c.index() == 0 ? std::get<0>(c) : std::get<1>(c).second; });
  EXPECT_EQ(value_of(choose(choice(a))), 2.0f);
  EXPECT_EQ(value_of(choose(choice(std::pair(a, b)))), 3.0f);
}

TEST(Compile, ConstantsAreExactInTypeAndBits) {  // CASES 2
  auto read = compile([](const mx::array& x, const auto& constant) {
    return x * static_cast<float>(constant) + mx::array(static_cast<float>(sizeof(constant)));
  });
  const mx::array one(1.0f);
  EXPECT_EQ(value_of(read(one, true)), 1.0f + sizeof(bool));
  EXPECT_EQ(value_of(read(one, 1)), 1.0f + sizeof(int));
  EXPECT_EQ(value_of(read(one, 1.0)), 1.0f + sizeof(double));
  EXPECT_EQ(value_of(read(one, -1)), -1.0f + sizeof(int));
  EXPECT_EQ(value_of(read(one, -2)), -2.0f + sizeof(int));
  EXPECT_EQ(read.stats().traces, 5u);

  auto sign = compile([](const mx::array& x, double zero) { return std::signbit(zero) ? -x : x; });
  EXPECT_EQ(value_of(sign(one, 0.0)), 1.0f);
  EXPECT_EQ(value_of(sign(one, -0.0)), -1.0f);
  const double nan = std::nan("");
  sign(one, nan);
  sign(one, nan);
  EXPECT_EQ(sign.stats().traces, 3u) << "NaN equals itself";
}

TEST(Compile, AuxDataIsPartOfTheKey) {  // CASES 3
  struct cache {
    mx::array keys;
    espalier::aux<int> step;
  };
  auto read = compile([](const cache& c) { return c.keys * static_cast<float>(*c.step); });
  for (int round = 0; round < 2; ++round) {
    for (int step = 0; step < 50; ++step) {
      EXPECT_EQ(value_of(read(cache{mx::array(2.0f), step})), 2.0f * static_cast<float>(step));
    }
  }
  EXPECT_EQ(read.stats().traces, 50u);
  EXPECT_EQ(read.stats().entries, 50u);
}

TEST(Compile, OutputStructureBelongsToTheEntry) {  // CASES 4
  struct optionals {
    mx::array x;
    std::optional<mx::array> seen;
  };
  auto step = compile([](optionals& s) {
    if (s.seen) {
      s.x = s.x + *s.seen;
    } else {
      s.seen = s.x;
    }
  });
  for (int run = 0; run < 2; ++run) {
    optionals s{mx::array(1.0f), std::nullopt};
    step(s);
    ASSERT_TRUE(s.seen.has_value());
    EXPECT_EQ(value_of(*s.seen), 1.0f);
    step(s);
    EXPECT_EQ(value_of(s.x), 2.0f);
    step(s);
    EXPECT_EQ(value_of(s.x), 3.0f);
  }
  EXPECT_EQ(step.stats().traces, 2u);
}

TEST(Compile, StateMayGrowAndConstantsMayChange) {
  struct growing {
    std::vector<mx::array> items;
    int count = 0;
  };
  auto step = compile([](growing& g) {
    g.items.push_back(mx::full({1}, static_cast<float>(g.count)));
    ++g.count;
  });
  for (int run = 0; run < 2; ++run) {
    growing g;
    for (int i = 0; i < 3; ++i) step(g);
    ASSERT_EQ(g.items.size(), 3u);
    EXPECT_EQ(g.count, 3);
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(value_of(mx::sum(g.items[static_cast<std::size_t>(i)])), static_cast<float>(i));
  }
  EXPECT_EQ(step.stats().traces, 3u);
  EXPECT_EQ(step.stats().hits, 3u);
}

TEST(Compile, ShapesAndDtypesAreKeys_ARaggedBatchIsASecondEntry) {  // CASES 16
  auto step = compile([](mx::array& total, const batch& b) { total = total + mx::sum(b.x); });
  mx::array total(0.0f), plain(0.0f);
  for (const int rows : {64, 64, 29, 64, 29}) {
    const mx::array x = mx::arange(static_cast<float>(rows));
    step(total, batch{x});
    plain = plain + mx::sum(x);
    mx::eval(total);
  }
  EXPECT_EQ(value_of(total), value_of(plain));
  EXPECT_EQ(step.stats().traces, 2u);
  EXPECT_EQ(step.stats().hits, 3u);
  EXPECT_EQ(step.stats().last_retrace, "  arg1.x: float32[64] became float32[29]");
  step(total, batch{mx::arange(64)});
  EXPECT_EQ(step.stats().last_retrace, "  arg1.x: float32[29] became int32[64]");
}

TEST(Compile, TheSameArrayInTwoLeavesStaysTwoInputs) {
  auto add = compile([](const std::pair<mx::array, mx::array>& p) { return p.first * 2.0f + p.second; });
  const mx::array a(1.0f), b(10.0f);
  EXPECT_EQ(value_of(add({a, a})), 3.0f);
  EXPECT_EQ(value_of(add({a, b})), 12.0f);
  EXPECT_EQ(add.stats().traces, 1u);
}

TEST(Compile, InputsThatAreNotEvaluatedStayLazy) {
  auto twice = compile([](const mx::array& x) { return x + x; });
  mx::array x(1.0f);
  for (int i = 0; i < 10; ++i) x = twice(x);
  EXPECT_EQ(value_of(x), 1024.0f);
  EXPECT_EQ(twice.stats().traces, 1u);
}

TEST(Compile, TracesOnceOnANewThread) {  // CASES 14
  std::size_t traces = 0;
  float result = 0;
  std::thread([&] {
    auto twice = compile([](const mx::array& x) { return x + x; });
    result = value_of(twice(mx::array(2.0f)));
    traces = twice.stats().traces;
  }).join();
  EXPECT_EQ(result, 4.0f);
  EXPECT_EQ(traces, 1u);
}

// --- Transformations. ------------------------------------------------------------------------------------------------

TEST(Compile, RunsInlineInsideTransformations) {
  auto square = compile([](const mx::array& x) { return x * x; });
  const auto gradient =
      mx::grad(std::function<mx::array(const mx::array&)>([&](const mx::array& x) { return square(x); }));
  EXPECT_EQ(value_of(gradient(mx::array(3.0f))), 6.0f);
  const auto mapped =
      mx::vmap(std::function<mx::array(const mx::array&)>([&](const mx::array& x) { return square(x); }));
  EXPECT_EQ(value_of(mx::sum(mapped(mx::array({1.0f, 2.0f})))), 5.0f);
  EXPECT_EQ(square.stats().traces, 0u);
}

TEST(Compile, ComposesWithItself) {
  static auto inner = compile([](const mx::array& x) { return x * 3.0f; });
  auto outer = compile([](const mx::array& x) { return inner(x) + mx::array(1.0f); });
  EXPECT_EQ(value_of(outer(mx::array(2.0f))), 7.0f);
  EXPECT_EQ(value_of(outer(mx::array(3.0f))), 10.0f);
  EXPECT_EQ(inner.stats().traces, 0u);
}

// --- Misuse. ---------------------------------------------------------------------------------------------------------

TEST(Compile, AThrowingTraceLeavesNoEntryAndStateAsItWas) {  // CASES 12
  static bool fails = true;
  auto step = compile([](mx::array& x) {
    x = x + mx::array(1.0f);
    if (fails) throw std::domain_error("the user's own");
  });
  mx::array x(1.0f);
  fails = true;
  EXPECT_THROW(step(x), std::domain_error);
  EXPECT_EQ(step.stats().entries, 0u);
  EXPECT_EQ(value_of(x), 1.0f);
  fails = false;
  step(x);
  EXPECT_EQ(value_of(x), 2.0f);
  EXPECT_EQ(step.stats().entries, 1u);
  EXPECT_THROW(compile([](const mx::array& y) { return mx::matmul(y, y); })(mx::zeros({2, 3})), std::invalid_argument);
}

TEST(Compile, NamesTheFunctionThatEvaluatesATracedArray) {  // CASES 18
  for (const std::string& text : {
           message_of([] { compile([](const mx::array& x) { return x * x.item<float>(); })(mx::array(1.0f)); }),
           message_of([] { compile([](mx::array x) { return x * x.item<float>(); })(mx::array(1.0f)); }),
           message_of([] {
             compile([](mx::array x) {
               x = x + x;
               mx::eval(x);
               return x;
             })(mx::array(1.0f));
           }),
           message_of([] {
             compile([](mx::array x) {
               mx::async_eval(x);
               return x;
             })(mx::array(1.0f));
           }),
       }) {
    expect_in_order(text, {"espalier: compile: ", "evaluated an array while it was traced", "read it after the call"});
  }
  EXPECT_THROW(compile([](mx::array x) { return x * x.item<float>(); })(mx::array(1.0f)), espalier::trace_error);
}

TEST(Compile, MaxTracesNamesWhatChanged) {  // CASES 10
  auto step = compile<compile_options{.max_traces = 2}>(
      [](const batch& b, int offset) { return b.x + static_cast<float>(offset); });
  const batch b{mx::array(1.0f)};
  step(b, 0);
  step(b, 1);
  EXPECT_EQ(value_of(step(b, 0)), 1.0f);
  expect_in_order(message_of([&] { step(b, 2); }), {"max_traces", "arg1: ", "became 2"});
  EXPECT_THROW(step(b, 2), espalier::retrace_error);
  EXPECT_EQ(value_of(step(b, 1)), 2.0f);
}

TEST(Compile, RefusesArgumentsThatShareObjectsWithInOutState) {
  auto step = compile([](mx::array& a, mx::array& b) { a = a + b; });
  mx::array a(1.0f), b(2.0f);
  step(a, b);
  EXPECT_THROW(step(a, a), espalier::trace_error);
  EXPECT_EQ(value_of(a), 3.0f);

  auto with_input = compile([](mx::array& x, const mx::array& y) { x = x + y; });
  EXPECT_THROW(with_input(a, a), espalier::trace_error);

  auto with_part = compile([](model& net, linear& layer) { net.layers.push_back(layer); });
  model net = two_layers();
  expect_in_order(message_of([&] { with_part(net, net.layers[1]); }), {"arg0 and arg1 share objects", "a copy"});
  linear other = net.layers[1];
  with_part(net, other);
  EXPECT_EQ(net.layers.size(), 3u);
}

// State without arrays is found by its address, wherever the other tree keeps it.
TEST(Compile, RefusesStateThatIsAPartOfOtherState) {
  struct counted {
    std::vector<std::vector<int>> counts;
    mx::array x;
  };
  auto step = compile([](counted& c, int& n) {
    c.counts.push_back({n});
    n += 1;
  });
  counted c{{{1, 2}, {3}}, mx::array(1.0f)};
  expect_in_order(message_of<espalier::trace_error>([&] { step(c, c.counts[1][0]); }), {"arg0 and arg1 share objects"});
  auto other_order = compile([](std::vector<int>& v, counted& k) {
    v.push_back(1);
    k.x = k.x + k.x;
  });
  EXPECT_THROW(other_order(c.counts[0], c), espalier::trace_error);
  int n = 3;
  step(c, n);
  EXPECT_EQ(n, 4);
  EXPECT_EQ(c.counts.size(), 3u);
}

// A tree of which every second unflatten of a traced call throws.
struct fragile {
  mx::array x;
  explicit fragile(mx::array value) : x(std::move(value)) {}
  static inline bool breaks = false;
  auto tree_children() const { return std::tie(x); }
  static fragile tree_unflatten(std::tuple<>, const mx::array& value) {
    if (breaks) throw std::runtime_error("unflatten broke");
    return fragile(value);
  }
};

TEST(Compile, NothingIsHalfChangedWhereAResultCannotBeMade) {
  auto step = compile([](mx::array& a, fragile& f) {
    f = fragile(f.x + a);
    a = a + a;
  });
  mx::array a(1.0f);
  fragile f(mx::array(2.0f));
  step(a, f);
  EXPECT_EQ(value_of(a), 2.0f);
  EXPECT_EQ(value_of(f.x), 3.0f);
  fragile::breaks = true;
  EXPECT_THROW(step(a, f), std::runtime_error);
  fragile::breaks = false;
  EXPECT_EQ(value_of(a), 2.0f);
  EXPECT_EQ(value_of(f.x), 3.0f);
}

TEST(Compile, AConstFunctionCanBeCalled) {
  const auto twice = compile([](const mx::array& x) { return x + x; });
  EXPECT_EQ(value_of(twice(mx::array(2.0f))), 4.0f);
  const auto generic = compile([](const auto& x) { return x + x; });
  EXPECT_EQ(value_of(generic(mx::array(2.0f))), 4.0f);
}

TEST(Compile, TakesTreesByValueThatCannotBeCopied) {
  struct owner {
    std::unique_ptr<mx::array> x;
  };
  auto twice = compile([](owner o) { return *o.x + *o.x; });
  EXPECT_EQ(value_of(twice(owner{std::make_unique<mx::array>(2.0f)})), 4.0f);
}

TEST(Compile, GenericCallablesTakeTreesThatCannotBeCopied) {
  struct owner {
    std::unique_ptr<mx::array> x;
  };
  auto twice = compile([](const auto& o) { return *o.x + *o.x; });
  const owner o{std::make_unique<mx::array>(2.0f)};
  EXPECT_EQ(value_of(twice(o)), 4.0f);
}

TEST(Compile, LastRetraceIsThatOfTheTypesTracedLast) {
  auto twice = compile([](const auto& b) { return b.x + b.x; });
  struct other {
    mx::array x;
  };
  twice(batch{mx::zeros({2})});
  twice(other{mx::zeros({2})});
  twice(other{mx::zeros({3})});
  twice(batch{mx::zeros({4})});
  EXPECT_EQ(twice.stats().last_retrace, "  arg0.x: float32[2] became float32[4]");
}

TEST(Compile, ClearedTracesDoNotCountForMaxTraces) {
  auto twice = compile<compile_options{.max_traces = 1}>([](const mx::array& x) { return x + x; });
  twice(mx::array(1.0f));
  twice.clear();
  EXPECT_EQ(value_of(twice(mx::zeros({1}))), 0.0f);
}

TEST(Compile, AnArrayThatEscapesATraceIsAnError) {
  static std::optional<mx::array> escaped;
  auto leak = compile([](const mx::array& x) {
    escaped = x + x;
    return x * 3.0f;
  });
  leak(mx::array(1.0f));
  auto use = compile([](const mx::array& x) { return x + *escaped; });
  EXPECT_NE(message_of([&] { use(mx::array(1.0f)); }).find("espalier: "), std::string::npos);
  escaped.reset();
}

// --- Captures. -------------------------------------------------------------------------------------------------------

constexpr compile_options checks_captures{.check_captures = true};

model* global_model = nullptr;
mx::array* global_array = nullptr;

TEST(Compile, NamesArraysThatAreNoArguments) {  // CASES 13: a global is a capture that the types do not show
  model net = two_layers();
  global_model = &net;
  mx::array table = mx::ones({3, 2});
  table.eval();
  global_array = &table;
  auto step = compile<checks_captures>([](const model& m, const batch& b) {
    const mx::array h = mx::matmul(mx::matmul(*global_array, b.x), global_model->layers[1].weight);
    return forward(m, h);
  });
  for (mx::array* w : {&net.layers[0].weight, &*net.layers[0].bias, &net.layers[1].weight}) w->eval();
  expect_in_order(
      message_of<espalier::trace_error>([&] { step(net, batch{mx::ones({2, 2})}); }),
      {"espalier: compile: ", "uses arrays that are not its arguments", "float32[3, 2] array, used by Matmul",
       "float32[2, 2] array, which is also arg0.layers[1].weight, used by Matmul", "Pass them as arguments"});
  EXPECT_EQ(step.stats().traces, 0u);
}

TEST(Compile, FindsDrawsFromTheGlobalRandomState) {  // CASES 17
  auto noisy = compile<checks_captures>([](const mx::array& x) { return x + mx::random::normal({2}); });
  mx::random::seed(3);
  const mx::array expected = mx::random::normal({2});
  mx::random::seed(3);
  expect_in_order(message_of<espalier::trace_error>([&] { noisy(mx::zeros({2})); }),
                  {"the key of MLX's global random state", "used by RandomBits", "To draw random numbers, pass a key"});
  EXPECT_TRUE(mx::array_equal(mx::random::normal({2}), expected).item<bool>()) << "the failed call drew";

  auto keyed = compile<checks_captures>(
      [](const mx::array& x, const mx::array& key) { return x + mx::random::normal({2}, mx::float32, key); });
  const mx::array first = keyed(mx::zeros({2}), mx::random::key(1));
  const mx::array second = keyed(mx::zeros({2}), mx::random::key(2));
  EXPECT_FALSE(mx::array_equal(first, second).item<bool>());
  EXPECT_EQ(keyed.stats().traces, 1u);
}

TEST(Compile, WhatIsMeantToStayMayBeCaptured) {
  mx::array table = mx::ones({2});
  global_array = &table;
  auto f = compile<compile_options{.check_captures = false}>([](const mx::array& x) { return x + *global_array; });
  EXPECT_EQ(value_of(mx::sum(f(mx::zeros({2})))), 2.0f);
}

TEST(Compile, StateIsRightWhereTheCaptureCheckRunsTheFunctionTwice) {
  auto step = compile<checks_captures>([](model& net, const mx::array& x) {
    net.layers.push_back({x, std::nullopt});
    return net.layers.size();
  });
  model net = two_layers();
  EXPECT_EQ(step(net, mx::array(1.0f)), 3u);
  EXPECT_EQ(net.layers.size(), 3u);
  EXPECT_EQ(step.stats().traces, 1u);
}

// --- Shapes. ---------------------------------------------------------------------------------------------------------

TEST(Compile, OneShapelessTraceServesAllShapesOfARank) {
  auto f = compile<compile_options{.check = true, .shapeless = true}>(
      [](const batch& b, const mx::array& w) { return mx::tanh(mx::matmul(b.x, w)) + b.x; });
  const mx::array w = mx::full({4, 4}, 0.5f);
  for (const int rows : {3, 1, 7}) EXPECT_EQ(f(batch{mx::ones({rows, 4})}, w).shape(), (mx::Shape{rows, 4}));
  EXPECT_EQ(f.stats().traces, 1u);
  f(batch{mx::ones({2, 3, 4})}, w);
  EXPECT_EQ(f.stats().traces, 2u);
  EXPECT_TRUE(contains(f.explain(), "arg0.x: float32[?, ?] became float32[?, ?, ?]")) << f.explain();
  f(batch{mx::astype(mx::ones({2, 4}), mx::float16)}, w);
  EXPECT_EQ(f.stats().traces, 3u);
}

TEST(Compile, AnOperationThatCannotTellItsShapeIsNamed) {
  auto f = compile<compile_options{.shapeless = true}>(
      [](const mx::array& x) { return mx::linalg::svd(x, true, mx::Device::cpu)[1]; });
  expect_in_order(message_of<espalier::trace_error>([&] { f(mx::ones({2, 2})); }),
                  {"espalier: compile: ", "one trace for all shapes", "SVD"});
}

TEST(Compile, TellsWhichTracesMlxDidNotOptimise) {
  auto chain = compile([](const mx::array& x) {
    mx::array y = x;
    for (int i = 0; i < 20002; ++i) y = mx::sin(y);
    return y;
  });
  chain(mx::array(1.0f));
  EXPECT_EQ(chain.stats().unoptimised, 1u);
  auto short_one = compile([](const mx::array& x) { return mx::sin(x); });
  short_one(mx::array(1.0f));
  EXPECT_EQ(short_one.stats().unoptimised, 0u);
}

TEST(Compile, DynamicNumbersAreInputs) {  // CASES 10
  auto shift = compile([](const batch& b, espalier::dynamic<int> offset, const espalier::dynamic<float>& scale) {
    return (b.x + *offset) * *scale;
  });
  const batch b{mx::array(1.0f)};
  for (int offset = 0; offset < 5; ++offset) {
    const float scale = 0.5f * static_cast<float>(offset);
    EXPECT_EQ(value_of(shift(b, offset, scale)), (1.0f + static_cast<float>(offset)) * scale);
  }
  EXPECT_EQ(shift.stats().traces, 1u);
}

TEST(Compile, DynamicNumbersMayBeState) {
  struct counter {
    espalier::dynamic<int> steps = 0;
  };
  auto count = compile([](counter& c) { *c.steps = *c.steps + mx::array(1); });
  counter c;
  for (int i = 0; i < 3; ++i) count(c);
  EXPECT_EQ((*c.steps).item<int>(), 3);
  EXPECT_EQ(count.stats().traces, 1u);
  EXPECT_EQ(espalier::tree_paths(c).at(0).to_string(), ".steps.value");
}

TEST(Compile, CheckFindsAFunctionThatIsNoFunctionOfItsArguments) {
  static float outside = 1.0f;
  auto step = compile<compile_options{.check = true}>([](model& net, const batch& b) {
    net.layers[1].weight = net.layers[1].weight * outside;
    return std::pair(mx::sum(b.x), mx::sum(b.x) * outside);
  });
  model net = two_layers();
  const batch b{mx::array({1.0f, 2.0f})};
  outside = 1.0f;
  step(net, b);
  step(net, b);
  outside = 2.0f;
  const std::string text = message_of([&] { step(net, b); });
  expect_in_order(text,
                  {"gives other results compiled", "result[1]: expected float32[]", "arg0.layers[1].weight: expected"});
  EXPECT_EQ(text.find("result[0]"), std::string::npos) << text;
  EXPECT_THROW(step(net, b), espalier::check_error);

  auto good = compile<compile_options{.check = true}>([](mx::array& x) { x = x * 3.0f; });
  mx::array x(1.0f);
  good(x);
  good(x);
  EXPECT_EQ(value_of(x), 9.0f);
}

TEST(Compile, DrawsTheTracedGraph) {
  auto step = compile([](const mx::array& x) { return mx::matmul(x, x); });
  EXPECT_EQ(step.to_dot(), "");
  step(mx::zeros({2, 2}));
  expect_in_order(step.to_dot(), {"digraph", "float32[2, 2]", "Matmul", "}"});
}

TEST(Compile, ClearDropsTheEntries) {
  auto twice = compile([](const mx::array& x) { return x + x; });
  twice(mx::array(1.0f));
  twice.clear();
  EXPECT_EQ(twice.stats().entries, 0u);
  EXPECT_EQ(value_of(twice(mx::array(1.0f))), 2.0f);
  EXPECT_EQ(twice.stats().traces, 2u);
}

TEST(Compile, MaxEntriesDropsTheLeastRecentlyUsed) {
  auto twice = compile<compile_options{.max_entries = 2}>([](const mx::array& x) { return x + x; });
  const mx::array one = mx::zeros({1}), two = mx::zeros({2}), three = mx::zeros({3});
  twice(one);
  twice(two);
  twice(one);
  twice(three);  // drops the entry of `two`
  EXPECT_EQ(twice.stats().entries, 2u);
  EXPECT_EQ(twice.stats().traces, 3u);
  twice(one);
  twice(three);
  EXPECT_EQ(twice.stats().traces, 3u);
  twice(two);
  EXPECT_EQ(twice.stats().traces, 4u);
}

TEST(Compile, LogsTraces) {
  std::vector<espalier::compile_event> events;
  espalier::set_compile_log([&](const espalier::compile_event& e) { events.push_back(e); });
  auto twice = compile<&plus_one>();
  twice(mx::zeros({1}));
  twice(mx::zeros({1}));
  twice(mx::zeros({2}));
  espalier::set_compile_log(nullptr);
  twice(mx::zeros({3}));
  ASSERT_EQ(events.size(), 2u);
  EXPECT_NE(events[0].function.find("plus_one"), std::string::npos);
  EXPECT_EQ(events[0].reason, "");
  EXPECT_EQ(events[1].reason, "  arg0: float32[1] became float32[2]");
  EXPECT_GT(events[1].seconds, 0.0);
}

TEST(Compile, AMovedCompiledFunctionKeepsItsTraces) {
  auto twice = compile([](const mx::array& x) { return x + x; });
  twice(mx::array(1.0f));
  auto moved = std::move(twice);
  EXPECT_EQ(value_of(moved(mx::array(2.0f))), 4.0f);
  EXPECT_EQ(moved.stats().traces, 1u);
  EXPECT_EQ(moved.stats().hits, 1u);
}

}  // namespace
