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

#include <boost/callable_traits/args.hpp>
#include <cstdint>
#include <espalier/detail/trace_cache.hpp>
#include <espalier/encode.hpp>
#include <espalier/engine.hpp>
#include <espalier/parameters.hpp>
#include <espalier/structure.hpp>
#include <espalier/visit.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace espalier {

struct compile_options {
  // The most traces that one list of argument types may need; another one throws retrace_error. 0: any number.
  std::size_t max_traces = 0;
};

namespace detail {

// --- The callable. ---------------------------------------------------------------------------------------------------

// A function as an empty callable: compile<&train_step>().
template <auto Function> struct function_constant {
  template <class... A> decltype(auto) operator()(A&&... a) const { return Function(std::forward<A>(a)...); }
};

// The parameter types of a callable that has one signature, else void.
template <class F> struct parameters_of {
  using type = void;
};
template <class F>
  requires requires { typename boost::callable_traits::args_t<F, types>; }
struct parameters_of<F> {
  using type = boost::callable_traits::args_t<F, types>;
};
template <auto Function> struct parameters_of<function_constant<Function>> {
  using type = boost::callable_traits::args_t<decltype(Function), types>;
};

// The callable's type as the compiler spells it, for messages only.
template <class F> std::string callable_name() {
  const std::string_view all = __PRETTY_FUNCTION__;
  const std::size_t begin = all.find("F = ");
  if (begin == std::string_view::npos) return "the function";
  const std::size_t end = all.find_first_of(";]", begin + 4);
  return std::string(all.substr(begin + 4, end == std::string_view::npos ? end : end - begin - 4));
}

template <class F> consteval bool require_callable() {
  static_assert(!std::is_pointer_v<F>,
                "espalier: compile: name a function as a template argument, compile<&function>()");
  static_assert(
      std::is_empty_v<F> || std::is_aggregate_v<F>,
      "espalier: compile: the callable captures values, which would be frozen at their first value. Pass them as "
      "arguments, or make them fields of an aggregate with an operator(), whose fields are inputs");
  return true;
}

// --- The arguments. --------------------------------------------------------------------------------------------------

// An argument as a compiled function sees it: a tree, and whether it is in-out state.
template <class T, bool InOut> struct argument {
  using tree = T;
  static constexpr bool in_out = InOut;
  std::conditional_t<InOut, T, const T>& value;
};

// What the caller passes for a parameter of type P: in-out state as it is, inputs by const reference.
template <class P> struct passed_as {
  using type = const std::remove_cvref_t<P>&;
};
template <class T> struct passed_as<T&> {
  using type = T&;
};
template <class T> struct passed_as<T&&> {
  using type = T&&;
};

template <class P>
inline constexpr bool is_in_out = std::is_lvalue_reference_v<P> && !std::is_const_v<std::remove_reference_t<P>>;

// Of a generic callable: whether argument I, passed as a non-const lvalue, is refused as an rvalue. The others stay as
// passed.
template <class F, std::size_t I, class... A> consteval bool refuses_rvalue() {
  return []<std::size_t... J>(std::index_sequence<J...>) {
    return !std::is_invocable_v<F&, std::conditional_t<I == J, std::remove_cvref_t<A>&&, A>...>;
  }(std::index_sequence_for<A...>{});
}

template <class F, class... A, std::size_t... I> consteval auto generic_arguments(std::index_sequence<I...>) {
  return types<argument<std::remove_cvref_t<A>, is_in_out<A> && refuses_rvalue<F, I, A...>()>...>{};
}

// The types that the callable is called with: in-out state as an lvalue, inputs as rvalues.
template <class Argument>
using call_type = std::conditional_t<Argument::in_out, typename Argument::tree&, typename Argument::tree&&>;

// --- The engine of a call: that of the first array type among its trees. ---------------------------------------------

template <class... Leaf> consteval auto engine_of_leaves(types<Leaf...>) { return type_tag<void>{}; }
template <class First, class... Leaf> consteval auto engine_of_leaves(types<First, Leaf...>) {
  if constexpr (engine_array<First>) {
    return type_tag<typename array_traits<First>::engine>{};
  } else {
    return engine_of_leaves(types<Leaf...>{});
  }
}

template <class... Tree> consteval auto find_engine() {
  static_assert((require_trees<Tree>() && ...));
  return engine_of_leaves(leaf_types<std::tuple<Tree...>>{});
}

// --- Reading the arguments of a call. --------------------------------------------------------------------------------

template <class E, class... Leaf> consteval bool only_arrays(types<Leaf...>) {
  return (std::is_same_v<Leaf, typename E::array> && ...);
}

// Whether a T has nothing but arrays in a structure that its type knows: then it adds nothing to the key but its
// arrays.
template <class E, class T> inline constexpr bool has_no_constants = is_static<T> && only_arrays<E>(leaf_types<T>{});

template <class T> constexpr std::size_t leaf_count(const T& tree) {
  if constexpr (is_static<T>) {
    return static_leaf_count<T>;
  } else {
    return count_leaves(tree);
  }
}

// Everything about a tree that a trace takes as constant: dynamic structure, aux data, leaves that are no arrays.
template <class E, class T> void encode_constants(byte_sink& sink, const T& tree) {
  if constexpr (!has_no_constants<E, T>) {
    encode_dynamic(sink, tree);
    if constexpr (!only_arrays<E>(leaf_types<T>{})) {
      auto leaf = [&]<class L>(const auto&, const L& value) {
        if constexpr (!std::is_same_v<L, typename E::array>) {
          static_assert(encodable<L>,
                        "espalier: compile: a leaf that is not an array is a constant of the trace, and this leaf's "
                        "type cannot be "
                        "encoded: specialise espalier::value_encoder for it");
          encode(sink, value);
        }
      };
      visit_tree(leaf, no_path{}, tree);
    }
  }
}

template <class E, class T> void collect_arrays(std::vector<const typename E::array*>& arrays, const T& tree) {
  auto leaf = [&]<class L>(const auto&, const L& value) {
    if constexpr (std::is_same_v<L, typename E::array>) arrays.push_back(&value);
  };
  visit_tree(leaf, no_path{}, tree);
}

// Where the arrays of a copied tree come from: out of `from`, in order; or, if `to` is given, they go there and blank ones
// take their place. (One type for all copies, so that each tree type's copy is compiled once.)
template <class E> struct array_exchange {
  std::vector<typename E::array>* from;
  std::vector<typename E::array>* to = nullptr;
  std::size_t next = 0;

  typename E::array operator()(const typename E::array& a) {
    if (!to) return std::move((*from)[next++]);
    to->push_back(a);
    return E::blank();
  }
};

// A copy of a tree with its arrays exchanged.
template <class E, class T> T with_arrays(const T& tree, array_exchange<E>& arrays) {
  auto leaf = [&arrays]<class L>(type_tag<L>, const auto&, const L& value) -> L {
    if constexpr (std::is_same_v<L, typename E::array>) {
      return arrays(value);
    } else {
      return value;
    }
  };
  return map_tree<T>(leaf, no_path{}, tree);
}

template <class T> void describe_tree(std::vector<call_detail>& details, const std::string& name, const T& tree) {
  if constexpr (!is_static<T>) {
    call_detail& structure = details.emplace_back(name + " (structure)", std::string());
    print_structure(structure.text, tree);
  }
  auto leaf = [&](const path_view& path, const auto& value) {
    details.push_back({name + path.to_string(), describe_value(value)});
  };
  visit_tree(leaf, path_view{}, tree);
}

// --- Where the outputs of a replay go. -------------------------------------------------------------------------------

// Whether some node below can only be rebuilt, so that its leaves cannot be assigned one by one.
template <class... Zip> consteval bool any_rebuilt_only(types<Zip...>) {
  return ([]<class T>(types<T>) { return rebuilt_only<T>(); }(Zip{}) || ...);
}
template <class T> inline constexpr bool has_rebuilt_only = any_rebuilt_only(typename survey_of<T>::nodes{});

// What a trace left in one in-out argument. Leaves that it changed are assigned where they are: `assigned` are their
// inputs. If its structure or constants changed, or its leaves cannot be assigned, it is rebuilt from a copy with blank
// arrays.
template <class Tree> struct left_in {
  std::optional<Tree> rebuilt;
  std::vector<std::size_t> assigned;
};

// Where the outputs of a replay go: the return value's arrays first, then those of the in-out arguments, in order.
template <class R, class... Argument> struct call_results {
  std::optional<R> value;  // with blank arrays
  std::tuple<left_in<typename Argument::tree>...> left;
};
struct no_value {};

// --- One call. -------------------------------------------------------------------------------------------------------

// The arguments are the callable's own, behind the callable itself if it is an aggregate with fields.
template <class E, class F, class R, class... Argument> class compiled_call {
  using array = typename E::array;
  using results = call_results<std::conditional_t<std::is_void_v<R>, no_value, R>, Argument...>;
  using cache_type = trace_cache<E>;
  using copies = std::tuple<typename Argument::tree...>;

  static constexpr bool has_fields = !std::is_empty_v<F>;
  static constexpr auto all_arguments = std::index_sequence_for<Argument...>{};

 public:
  explicit compiled_call(F& function, Argument... arguments) : function_(function), arguments_(arguments...) {
    inputs_.reserve((leaf_count(arguments.value) + ... + 0));
    (collect_arrays<E>(inputs_, arguments.value), ...);
    byte_sink sink;
    (encode_constants<E>(sink, arguments.value), ...);
    constants_ = std::move(sink.bytes);
  }

  R run(cache_type& cache, std::size_t max_traces) {
    const call_key<E> key{inputs_, constants_};
    typename cache_type::entry_ptr entry = cache.find(key);
    if (!entry) entry = trace(cache, key, max_traces);
    std::vector<array> outputs;
    entry->plan.replay(inputs_, outputs);
    return deliver(*static_cast<const results*>(entry->results.get()), outputs);
  }

 private:
  // A leaf of in-out state that can be assigned where it is.
  struct in_place_leaf {
    std::size_t output;
    std::size_t input;
    std::vector<std::size_t>& assigned;
  };

  typename cache_type::entry_ptr trace(cache_type& cache, const call_key<E>& key, std::size_t max_traces) {
    std::vector<call_detail> description = describe();
    cache.allow_trace(max_traces, callable_name<F>(), description);

    auto made = std::make_shared<results>();
    std::vector<in_place_leaf> in_place;
    typename E::plan plan = [&] {
      try {
        return E::record(inputs_,
                         [&](const std::vector<array>& tracers) { return run_traced(tracers, *made, in_place); });
      } catch (const std::exception& failure) {
        const std::optional<std::string> why = E::explain(failure);
        if (!why) throw;
        throw trace_error("espalier: compile: " + callable_name<F>() + " " + *why);
      }
    }();

    std::vector<std::size_t> untouched;
    for (const in_place_leaf& leaf : in_place) {
      if (plan.passed_through(leaf.output) == leaf.input) {
        untouched.push_back(leaf.output);
      } else {
        leaf.assigned.push_back(leaf.input);
      }
    }
    plan.omit_outputs(untouched);
    return cache.insert(key, std::move(plan), std::move(made), std::move(description));
  }

  std::vector<call_detail> describe() const {
    std::vector<call_detail> details;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (describe_tree(details,
                     has_fields && I == 0 ? std::string("function") : "arg" + std::to_string(I - (has_fields ? 1 : 0)),
                     std::get<I>(arguments_).value),
       ...);
    }(all_arguments);
    return details;
  }

  // Runs the user's function on copies of the arguments that hold the engine's tracers; gives back all output arrays.
  std::vector<array> run_traced(const std::vector<array>& tracers, results& made,
                                std::vector<in_place_leaf>& in_place) {
    std::vector<array> inputs = tracers;
    array_exchange<E> from_tracers{&inputs};
    copies traced =
        std::apply([&](auto&... a) { return copies{with_arrays<E>(a.value, from_tracers)...}; }, arguments_);

    std::vector<array> outputs;
    array_exchange<E> to_outputs{nullptr, &outputs};
    if constexpr (std::is_void_v<R>) {
      call_function(traced);
    } else {
      const R value = call_function(traced);
      made.value.emplace(with_arrays<E>(value, to_outputs));
    }
    std::size_t first_input = 0;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (take_state(std::get<I>(arguments_), std::get<I>(traced), std::get<I>(made.left), first_input, to_outputs,
                  in_place),
       ...);
    }(all_arguments);
    return outputs;
  }

  // The arrays that the function left in one argument, whose first input is `first_input`.
  template <class A, class Tree>
  static void take_state(const A& before, const Tree& after, left_in<Tree>& left, std::size_t& first_input,
                         array_exchange<E>& to_outputs, std::vector<in_place_leaf>& in_place) {
    std::vector<const array*> arrays;
    collect_arrays<E>(arrays, before.value);
    if constexpr (A::in_out) {
      byte_sink constants_before;
      byte_sink constants_after;
      encode_constants<E>(constants_before, before.value);
      encode_constants<E>(constants_after, after);
      const std::size_t first_output = to_outputs.to->size();
      Tree blank = with_arrays<E>(after, to_outputs);
      if (has_rebuilt_only<Tree> || constants_before.bytes != constants_after.bytes) {
        left.rebuilt.emplace(std::move(blank));
      } else {
        for (std::size_t i = 0; i < arrays.size(); ++i)
          in_place.push_back({first_output + i, first_input + i, left.assigned});
      }
    }
    first_input += arrays.size();
  }

  R call_function(copies& traced) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) -> R {
      if constexpr (has_fields) {
        return std::get<0>(traced)(pass<I + 1>(traced)...);
      } else {
        return function_(pass<I>(traced)...);
      }
    }(std::make_index_sequence<sizeof...(Argument) - (has_fields ? 1 : 0)>{});
  }

  template <std::size_t I> static call_type<std::tuple_element_t<I, std::tuple<Argument...>>> pass(copies& traced) {
    return static_cast<call_type<std::tuple_element_t<I, std::tuple<Argument...>>>>(std::get<I>(traced));
  }

  // Hands the outputs of a replay to the caller and to the in-out arguments. Nothing here throws but for want of
  // memory.
  R deliver(const results& made, std::vector<array>& outputs) {
    array_exchange<E> from_outputs{&outputs};
    const auto rebind_state = [&] {
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (rebind(std::get<I>(arguments_), std::get<I>(made.left), from_outputs), ...);
      }(all_arguments);
    };
    if constexpr (std::is_void_v<R>) {
      rebind_state();
    } else if constexpr (std::is_same_v<R, array>) {
      array value = from_outputs(*made.value);
      rebind_state();
      return value;
    } else {
      R value = with_arrays<E>(*made.value, from_outputs);
      rebind_state();
      return value;
    }
  }

  template <class A, class Tree> void rebind(A& argument, const left_in<Tree>& left, array_exchange<E>& from_outputs) {
    if constexpr (A::in_out) {
      if (left.rebuilt) {
        replace(argument.value, with_arrays<E>(*left.rebuilt, from_outputs));
      } else {
        // The inputs of in-out arguments are leaves of objects that are not const.
        for (const std::size_t input : left.assigned) {
          array& leaf = *const_cast<array*>(inputs_[input]);
          leaf = from_outputs(leaf);
        }
      }
    }
  }

  F& function_;
  std::tuple<Argument...> arguments_;
  std::vector<const array*> inputs_;  // the array leaves, in order
  std::string constants_;             // the encoding of everything else
};

// The same object as two in-out arguments has no meaning after the call.
template <class... Argument> void require_distinct(const std::string& function, const Argument&... arguments) {
  std::vector<const void*> seen;
  std::size_t position = 0;
  const auto check = [&](const auto& a) {
    const void* address = static_cast<const void*>(std::addressof(a.value));
    if (a.in_out) {
      for (const void* other : seen) {
        if (other == address) {
          throw trace_error("espalier: compile: " + function + ": argument " + std::to_string(position) +
                            " is the same object as an in-out argument before it; pass two objects");
        }
      }
      seen.push_back(address);
    }
    ++position;
  };
  (check(arguments), ...);
}

struct any_slot {
  virtual ~any_slot() = default;
  virtual compile_stats stats() const = 0;
  virtual void clear() = 0;
};
template <class E> struct slot : any_slot {
  trace_cache<E> cache;
  compile_stats stats() const override { return cache.stats(); }
  void clear() override { cache.clear(); }
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
    const std::lock_guard lock(slots_->mutex);
    compile_stats sum;
    for (const auto& entry : slots_->list) {
      const compile_stats s = entry.second->stats();
      sum.traces += s.traces;
      sum.hits += s.hits;
      sum.entries += s.entries;
      if (!s.last_retrace.empty()) sum.last_retrace = s.last_retrace;
    }
    return sum;
  }

  // Drops all traces; the next call traces again.
  void clear() {
    const std::lock_guard lock(slots_->mutex);
    for (const auto& entry : slots_->list) entry.second->clear();
  }

 protected:
  // `inline_call` runs the function on the arguments as they were passed.
  template <class... Argument, class Inline>
  auto call(types<Argument...>, Inline&& inline_call, Argument... arguments) {
    using R = std::remove_cvref_t<decltype(inline_call())>;
    using found = typename decltype([] {
      if constexpr (!std::is_void_v<Engine>) {
        return type_tag<Engine>{};
      } else if constexpr (std::is_void_v<R>) {
        return find_engine<F_tree, typename Argument::tree...>();
      } else {
        return find_engine<F_tree, typename Argument::tree..., R>();
      }
    }())::type;
    if constexpr (std::is_void_v<found>) {
      static_assert(always_false<F>,
                    "espalier: compile: no argument and no result holds an engine's array, so there is nothing to "
                    "trace. Include the "
                    "engine's header, or name the engine: compile<engines::mlx>(f)");
    } else {
      static_assert(engine<found>, "espalier: compile: this type is not an engine; see espalier/engine.hpp");
      if (found::transforming()) return static_cast<R>(inline_call());
      require_distinct(callable_name<F>(), arguments...);
      auto& cache = slot_for<found, Argument...>().cache;
      if constexpr (std::is_empty_v<F>) {
        return compiled_call<found, F, R, Argument...>(function_, arguments...).run(cache, Options.max_traces);
      } else {
        constexpr bool changes = !callable_as_const<call_type<Argument>...>;
        using self = argument<F, changes>;
        return compiled_call<found, F, R, self, Argument...>(function_, self{function_}, arguments...)
            .run(cache, Options.max_traces);
      }
    }
  }

 private:
  using F_tree = std::conditional_t<std::is_empty_v<F>, std::tuple<>, F>;

  template <class... A> static constexpr bool callable_as_const = std::is_invocable_v<const F&, A...>;

  template <class E, class... Argument> slot<E>& slot_for() {
    const void* id = &type_id<types<E, Argument...>>;
    const std::lock_guard lock(slots_->mutex);
    for (const auto& entry : slots_->list) {
      if (entry.first == id) return static_cast<slot<E>&>(*entry.second);
    }
    slots_->list.emplace_back(id, std::make_unique<slot<E>>());
    return static_cast<slot<E>&>(*slots_->list.back().second);
  }

  struct slot_list {
    std::mutex mutex;
    std::vector<std::pair<const void*, std::unique_ptr<any_slot>>> list;
  };

  F function_;
  std::unique_ptr<slot_list> slots_ = std::make_unique<slot_list>();
};

}  // namespace detail

// A compiled function: movable, owns its traces. Of a callable with one signature it has exactly that signature.
template <class Engine, compile_options Options, class F, class Parameters = typename detail::parameters_of<F>::type>
class compiled : public detail::compiled_base<Engine, Options, F> {
 public:
  using detail::compiled_base<Engine, Options, F>::compiled_base;

  // The callable is generic: in-out is what it refuses as an rvalue.
  template <class... A>
    requires std::is_invocable_v<F&, A...>
  auto operator()(A&&... arguments) {
    constexpr auto list = detail::generic_arguments<F, A...>(std::index_sequence_for<A...>{});
    return invoke(list, arguments...);
  }

 private:
  template <class... Argument, class... T> auto invoke(detail::types<Argument...> list, T&... arguments) {
    return this->call(
        list, [&] { return this->function()(inline_argument<Argument>(arguments)...); }, Argument{arguments}...);
  }

  // In-out state itself; of an input a copy, which `auto&&` may change.
  template <class Argument, class T>
  static detail::call_type<Argument> inline_argument(T& value, std::optional<typename Argument::tree>&& copy = {}) {
    if constexpr (Argument::in_out) {
      return value;
    } else {
      copy.emplace(value);
      return std::move(*copy);
    }
  }
};

template <class Engine, compile_options Options, class F, class... P>
class compiled<Engine, Options, F, detail::types<P...>> : public detail::compiled_base<Engine, Options, F> {
 public:
  using detail::compiled_base<Engine, Options, F>::compiled_base;

  auto operator()(typename detail::passed_as<P>::type... arguments) {
    using list = detail::types<detail::argument<std::remove_cvref_t<P>, detail::is_in_out<P>>...>;
    return this->call(
        list{}, [&] { return this->function()(static_cast<P>(arguments)...); },
        detail::argument<std::remove_cvref_t<P>, detail::is_in_out<P>>{arguments}...);
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
