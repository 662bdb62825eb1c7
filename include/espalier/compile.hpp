// Compiled functions over trees. The function is traced once for each structure, shape and constant that it is called
// with, and replayed afterwards, from the leaves of its arguments to the leaves of its results:
//
//   auto step = espalier::compile([](TrainState& state, const Batch& batch) { …; return loss; });
//   mx::array loss = step(state, batch);      // state's arrays are rebound to the step's outputs
//
// The signature says what is what. `T` and `const T&` are inputs. `T&` is in-out state: after the call it holds what
// the function left in it. Array leaves are dynamic; every other leaf and all aux data are constants of the trace. Of a
// generic callable, an argument is in-out if the callable refuses an rvalue there (`auto&`); `auto&&` counts as by
// value.
#pragma once

#include <atomic>
#include <cstdint>
#include <espalier/compile_options.hpp>
#include <espalier/detail/callable.hpp>
#include <espalier/detail/compiled_call.hpp>
#include <espalier/detail/trace_cache.hpp>
#include <espalier/engine.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace espalier {

namespace detail {

// Compiled functions that run as they are, one inside the other, on this thread: a function that calls its own compiled form
// without end is found out before the stack is.
class nested_call {
 public:
  explicit nested_call(std::string (*name)()) {
    constexpr int most = 128;
    if (depth_ >= most) {
      throw trace_error("espalier: compile: " + name() + " is called " + std::to_string(most) +
                        " compiled functions deep; does a function call its own compiled form without end?");
    }
    ++depth_;
  }
  ~nested_call() { --depth_; }
  nested_call(const nested_call&) = delete;
  nested_call& operator=(const nested_call&) = delete;

 private:
  static inline thread_local int depth_ = 0;
};

// The traces for one list of argument types, whatever the engine.
struct any_slot {
  explicit any_slot(const void* types_id) : id(types_id) {}
  virtual ~any_slot() = default;
  any_slot(const any_slot&) = delete;
  any_slot& operator=(const any_slot&) = delete;
  virtual compile_stats stats() const = 0;
  virtual std::uint64_t last_trace() const = 0;
  virtual std::string to_dot() const = 0;
  virtual void clear() = 0;

  const void* const id;
  any_slot* next = nullptr;
};
template <class E> struct slot : any_slot {
  using any_slot::any_slot;
  compile_stats stats() const override { return cache.stats(); }
  std::uint64_t last_trace() const override { return cache.last_trace(); }
  std::string to_dot() const override { return cache.to_dot(); }
  void clear() override { cache.clear(); }

  trace_cache<E> cache;
};

// The slots of one compiled function. They are added, never removed: to find one takes no lock.
class slot_list {
 public:
  slot_list() = default;
  slot_list(const slot_list&) = delete;
  slot_list& operator=(const slot_list&) = delete;
  ~slot_list() {
    for (any_slot* s = first(); s;) delete std::exchange(s, s->next);
  }

  any_slot* first() const { return first_.load(std::memory_order_acquire); }

  any_slot* find(const void* id) const {
    any_slot* s = first();
    while (s && s->id != id) s = s->next;
    return s;
  }
  template <class Slot> Slot& find_or_add(const void* id) {
    any_slot* found = find(id);
    if (!found) {
      const std::lock_guard lock(adding_);
      found = find(id);
      if (!found) {
        found = new Slot(id);
        found->next = first();
        first_.store(found, std::memory_order_release);
      }
    }
    return static_cast<Slot&>(*found);
  }

 private:
  std::atomic<any_slot*> first_ = nullptr;
  std::mutex adding_;
};

// What compiled functions of both kinds, with one signature and generic, have in common.
template <class Engine, compile_options Options, class F> class compiled_base {
 public:
  explicit compiled_base(F function) : function_(std::move(function)) {}

  // The callable: of an aggregate functor, whose fields are inputs, they are read and changed here.
  F& function() { return function_; }
  const F& function() const { return function_; }

  // Traces, hits and entries so far, over all argument types; the last retrace is that of the types traced last.
  compile_stats stats() const {
    compile_stats sum;
    const any_slot* const last = traced_last();
    for (const any_slot* s = slots_->first(); s; s = s->next) {
      compile_stats one = s->stats();
      sum.traces += one.traces;
      sum.hits += one.hits;
      sum.entries += one.entries;
      sum.unoptimised += one.unoptimised;
      if (s == last) sum.last_retrace = std::move(one.last_retrace);
    }
    return sum;
  }

  // Why the last trace was needed: what differed from the call before, by key path, old and new. For people.
  std::string explain() const {
    const compile_stats s = stats();
    std::string text = callable_name<F>() + ": ";
    if (compile_disabled()) return text + "runs as it is, since ESPALIER_DISABLE_COMPILE is set";
    if (s.traces == 0) return text + "not traced yet";
    text += "traces: " + std::to_string(s.traces) + ", hits: " + std::to_string(s.hits) + "; the last trace ";
    if (s.last_retrace.empty()) return text + "was a first one: there was none of its argument types to compare with";
    return text + "was needed because of\n" + s.last_retrace;
  }

  // The graph that was traced last, as the engine optimised it: Graphviz text, for `dot -Tsvg`. Empty before a trace, and
  // if it was dropped.
  std::string to_dot() const {
    const any_slot* last = traced_last();
    return last ? last->to_dot() : std::string();
  }

  // Drops all traces; the next call traces again.
  void clear() {
    for (any_slot* s = slots_->first(); s; s = s->next) s->clear();
  }

 protected:
  // `inline_call` runs the function on the arguments as they were passed.
  template <class... Argument, class Inline>
  auto call(types<Argument...>, Inline&& inline_call, Argument... arguments) const {
    using R = std::remove_cvref_t<decltype(inline_call())>;
    using result_tree = std::conditional_t<std::is_void_v<R>, std::tuple<>, R>;
    if constexpr (require_trees<F_tree>() && (require_trees<typename Argument::tree>() && ...) &&
                  require_trees<result_tree>()) {
      using E = engine_of_call<result_tree, typename Argument::tree...>;
      if constexpr (std::is_void_v<E>) {
        static_assert(always_false<F>,
                      "espalier: compile: no argument and no result holds an engine's array, so there is nothing to "
                      "trace. Include the engine's header, or name the engine: compile<engines::mlx>(f)");
      } else {
        static_assert(engine<E>, "espalier: compile: this type is not an engine; see espalier/engine.hpp");
        if (E::transforming() || compile_disabled()) {
          const nested_call nested(callable_name<F>);
          return static_cast<R>(inline_call());
        }
        auto& cache = slots_->template find_or_add<slot<E>>(&type_id<types<E, Argument...>>).cache;
        if constexpr (std::is_empty_v<F>) {
          return compiled_call<E, Options, F, R, Argument...>(function_, cache, arguments...).run();
        } else {
          using self = argument<F, !std::is_invocable_v<const F&, call_type<Argument>...>>;
          return compiled_call<E, Options, F, R, self, Argument...>(function_, cache, self{function_}, arguments...)
              .run();
        }
      }
    }
  }

 private:
  using F_tree = std::conditional_t<std::is_empty_v<F>, std::tuple<>, F>;

  // The engine that was named, or else that of the first array type among the trees.
  template <class Result, class... Tree>
  using engine_of_call = std::conditional_t<std::is_void_v<Engine>, decltype(find_engine<F_tree, Tree..., Result>()),
                                            type_tag<Engine>>::type;

  const any_slot* traced_last() const {
    const any_slot* last = slots_->first();
    for (const any_slot* s = last; s; s = s->next) {
      if (s->last_trace() > last->last_trace()) last = s;
    }
    return last;
  }

  mutable F function_;  // changed only by operator()s that are not const
  std::unique_ptr<slot_list> slots_ = std::make_unique<slot_list>();
};

}  // namespace detail

// A compiled function: movable, owns its traces. It is called as its callable is, const if that one is; of a callable with
// one signature it has that signature (without default arguments). Any number of threads may call it at once, unless its
// callable has fields that it changes.
template <class Engine, compile_options Options, class F, class Parameters = typename detail::parameters_of<F>::type>
class compiled : public detail::compiled_base<Engine, Options, F> {
 public:
  using detail::compiled_base<Engine, Options, F>::compiled_base;

  // The callable is generic: in-out is what it refuses as an rvalue.
  template <class... A>
    requires std::is_invocable_v<const F&, A...>
  auto operator()(A&&... arguments) const {
    return invoke(*this, arguments_of<A...>(), arguments...);
  }
  template <class... A>
    requires(std::is_invocable_v<F&, A...> && !std::is_invocable_v<const F&, A...>)
  auto operator()(A&&... arguments) {
    return invoke(*this, arguments_of<A...>(), arguments...);
  }

 private:
  template <class... A> static consteval auto arguments_of() {
    return detail::generic_arguments<F, A...>(std::index_sequence_for<A...>{});
  }

  template <class Self, class... Argument, class... T>
  static auto invoke(Self& self, detail::types<Argument...> list, T&... arguments) {
    return self.call(
        list, [&] { return self.function()(inline_argument<Argument>(arguments)...); }, Argument{arguments}...);
  }

  // In-out state itself; of an input a copy, which `auto&&` may change.
  template <class Argument, class T>
  static detail::call_type<Argument> inline_argument(T& value, std::optional<typename Argument::tree>&& copy = {}) {
    if constexpr (Argument::in_out) {
      return value;
    } else {
      copy.emplace(detail::clone(value));
      return std::move(*copy);
    }
  }
};

template <class Engine, compile_options Options, class F, class... P>
class compiled<Engine, Options, F, detail::types<P...>> : public detail::compiled_base<Engine, Options, F> {
 public:
  using detail::compiled_base<Engine, Options, F>::compiled_base;

  auto operator()(typename detail::passed_as<P>::type... arguments) const
    requires std::is_invocable_v<const F&, P...>
  {
    return invoke(*this, arguments...);
  }
  auto operator()(typename detail::passed_as<P>::type... arguments)
    requires(!std::is_invocable_v<const F&, P...>)
  {
    return invoke(*this, arguments...);
  }

 private:
  template <class Self>
  static auto invoke(Self& self, std::add_lvalue_reference_t<typename detail::passed_as<P>::type>... arguments) {
    using list = detail::types<detail::argument<std::remove_cvref_t<P>, detail::is_in_out<P>>...>;
    return self.call(
        list{}, [&] { return self.function()(inline_argument<P>(arguments)...); },
        detail::argument<std::remove_cvref_t<P>, detail::is_in_out<P>>{arguments}...);
  }

  template <class Parameter, class T> static Parameter inline_argument(T& value) {
    if constexpr (!std::is_reference_v<Parameter> && !std::is_copy_constructible_v<Parameter>) {
      return detail::clone(value);
    } else {
      return static_cast<Parameter>(value);
    }
  }
};

// Compiles a callable: empty (a captureless lambda), or an aggregate with an operator(), whose fields are inputs, or
// in-out state if its operator() is not const. Options are a template argument: compile<compile_options{.max_traces =
// 3}>(f). Calls throw what the function throws while it is traced (nothing is kept, state is as before), trace_error
// for misuse, and retrace_error. Inside a transformation of the engine the function runs as it is.
template <compile_options Options = compile_options{}, class F> auto compile(F function) {
  static_assert(detail::require_callable<F>());
  return compiled<void, Options, F>(std::move(function));
}

// The same with the engine named, for functions none of whose arguments or results tells it.
template <class Engine, compile_options Options = compile_options{}, class F> auto compile(F function) {
  static_assert(detail::require_callable<F>());
  return compiled<Engine, Options, F>(std::move(function));
}

// Compiles a function that is named: compile<&train_step>().
template <auto Function, compile_options Options = compile_options{}>
  requires std::is_function_v<std::remove_pointer_t<decltype(Function)>>
auto compile() {
  return compiled<void, Options, detail::function_constant<Function>>(detail::function_constant<Function>{});
}

}  // namespace espalier
