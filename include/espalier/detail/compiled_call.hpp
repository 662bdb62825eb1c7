// One call of a compiled function: its arguments as a key, the trace that serves it, or a new one, and the outputs of
// the replay into the return value and the in-out arguments.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <espalier/compile_options.hpp>
#include <espalier/describe_value.hpp>
#include <espalier/detail/callable.hpp>
#include <espalier/detail/trace_cache.hpp>
#include <espalier/detail/walk.hpp>
#include <espalier/encode.hpp>
#include <espalier/engine.hpp>
#include <espalier/structure.hpp>
#include <espalier/visit.hpp>
#include <espalier/visit_update.hpp>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace espalier::detail {

// --- Reading the arguments of a call. --------------------------------------------------------------------------------

template <class E, class... Leaf> consteval bool only_arrays(types<Leaf...>) {
  return (std::is_same_v<Leaf, typename E::array> && ...);
}

// Whether a T has nothing but arrays in a structure that its type knows: then it adds nothing to the key but its
// arrays.
template <class E, class T> inline constexpr bool has_no_constants = is_static<T> && only_arrays<E>(leaf_types<T>{});

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

// Reads the array leaves of a call's arguments: their addresses, and whether they are those of an expected signature.
template <class E, bool Shapeless> struct input_reader {
  std::vector<const typename E::array*>& inputs;  // as large as is expected; cut or extended to what is there
  const signature_word* expected;                 // of the arrays still to come; null once one differed
  std::size_t count = 0;

  template <class T> void read(const T& tree) { visit_tree(*this, no_path{}, tree); }

  template <class L> ESPALIER_INLINE void operator()(const no_path&, const L& value) {
    if constexpr (std::is_same_v<L, typename E::array>) {
      if (count < inputs.size()) {
        inputs[count] = &value;
      } else {
        inputs.push_back(&value);
      }
      ++count;
      if (expected) expected = E::match_signature(expected, value, Shapeless);
    }
  }
};

// Where an array of a call's results comes from: one of the call's inputs, or of the values behind them. A value is moved
// to the last result that it is part of.
struct output_origin {
  std::uint32_t index;
  bool moved;
};

// Takes the arrays out of a tree that is copied: the copy gets blank ones.
template <class E> struct array_taker {
  std::vector<typename E::array>& arrays;

  typename E::array operator()(const typename E::array& a) {
    arrays.push_back(a);
    return E::blank();
  }
};

// Gives a tree that is copied other arrays: the sources that the origins name, in order.
template <class E> struct array_giver {
  using array = typename E::array;

  const output_origin* next;
  const array* const* sources;

  ESPALIER_INLINE array operator()(const array&) {
    const output_origin origin = *next++;
    const array& source = *sources[origin.index];
    if (origin.moved) return std::move(const_cast<array&>(source));  // a value, or a tracer: never the caller's
    return source;
  }
};

// A copy of a tree whose arrays are what `exchange` makes of them.
template <class E, class T, class Exchange> T with_arrays(const T& tree, Exchange& exchange) {
  auto leaf = [&exchange]<class L>(type_tag<L>, const auto&, const L& value) -> L {
    if constexpr (std::is_same_v<L, typename E::array>) {
      return exchange(value);
    } else {
      return value;
    }
  };
  return make_tree<T>(leaf, tree);
}

// Appends where two trees differ, arrays up to rounding.
template <class E, class T>
void compare(std::vector<mismatch>& differences, const std::string& name, const T& expected, const T& found) {
  std::vector<mismatch> here;
  all_mismatches report{here};
  if (match(report, path_view{}, expected, found)) {
    auto leaf = [&]<class L>(const path_view& path, const L& a, const L& b) {
      bool same = false;
      if constexpr (std::is_same_v<L, typename E::array>) {
        same = array_traits<L>::close(a, b);
      } else {
        same = same_encoding(a, b);
      }
      if (!same) here.push_back({path.to_string(), describe_value(a), describe_value(b) + ", with other values"});
    };
    visit_tree(leaf, path_view{}, expected, found);
  }
  for (mismatch& m : here) {
    m.path.insert(0, name);
    differences.push_back(std::move(m));
  }
}

template <class E, class T>
void describe_tree(std::vector<call_detail>& details, const std::string& name, const T& tree, bool shapeless) {
  if constexpr (!is_static<T>) {
    call_detail& structure = details.emplace_back(name + " (structure)", std::string());
    print_structure(structure.text, tree);
  }
  auto leaf = [&]<class L>(const path_view& path, const L& value) {
    if constexpr (std::is_same_v<L, typename E::array>) {
      details.push_back({name + path.to_string(), E::describe_signature(value, shapeless), true});
    } else {
      details.push_back({name + path.to_string(), describe_value(value)});
    }
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

// Where the arrays of a call's results come from, in the order in which they are taken: those of the return value, those of
// state that is rebuilt, and those that are assigned.
struct result_origins {
  std::vector<output_origin> origins;
  // Inputs that go to in-out state: they become values before it is changed.
  std::vector<std::size_t> kept_inputs;
};

// What a trace leaves behind of the user's types.
template <class R, class... Argument> struct call_results : result_origins {
  std::optional<R> value;  // with blank arrays
  std::tuple<left_in<typename Argument::tree>...> left;
};
struct no_value {};

// A leaf of in-out state that can be assigned where it is, by the number of its output.
struct in_place_leaf {
  std::size_t output;
  std::size_t input;
  std::vector<std::size_t>* assigned;
};

// What the outputs of a traced run are: the first ones the return value's arrays, from `state_begin` on those of in-out state.
struct traced_outputs {
  std::size_t state_begin = 0;
  std::vector<in_place_leaf> in_place;
};

// Where the results find their arrays in a replay: among the inputs and behind them, the values of the plan and the kept
// inputs. In-out leaves that the function left alone take no part.
inline result_origins find_origins(const traced_outputs& traced, std::span<const plan_output> outputs,
                                   std::size_t num_inputs, std::size_t num_values) {
  result_origins found;
  std::vector<output_origin> assigned;
  std::size_t sources = num_inputs + num_values;
  auto in_place = traced.in_place.begin();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto [is_input, index] = outputs[i];
    const bool is_assigned = in_place != traced.in_place.end() && in_place->output == i;
    if (is_assigned) {
      const in_place_leaf leaf = *in_place++;
      if (is_input && index == leaf.input) continue;
      leaf.assigned->push_back(leaf.input);
    }
    std::size_t source = is_input ? index : num_inputs + index;
    if (is_input && i >= traced.state_begin) {
      found.kept_inputs.push_back(index);
      source = sources++;
    }
    (is_assigned ? assigned : found.origins).push_back({static_cast<std::uint32_t>(source), false});
  }
  found.origins.insert(found.origins.end(), assigned.begin(), assigned.end());
  std::vector<bool> used(sources);
  for (std::size_t i = found.origins.size(); i-- > 0;) {
    output_origin& origin = found.origins[i];
    origin.moved = origin.index >= num_inputs && !used[origin.index];
    used[origin.index] = true;
  }
  return found;
}

// An argument as memory: its own bytes, and its array leaves among the inputs, which may lie elsewhere.
struct argument_extent {
  const char* begin;
  std::size_t size;
  std::size_t first_input, last_input;
  bool in_out;
};

// Whether there is an array in every T.
template <class E, class T> consteval bool always_holds_array() {
  if constexpr (kind_of<T> == node_kind::leaf) {
    return std::is_same_v<T, typename E::array>;
  } else if constexpr (is_product<T>) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (always_holds_array<E, std::remove_cv_t<typename node_of<T>::template child<I>>>() || ...);
    }(std::make_index_sequence<node_of<T>::arity>{});
  } else {
    return false;
  }
}

// Whether an object is a tree, or a node or leaf of it.
template <class T> bool holds_object(const T& tree, const void* object) {
  if (static_cast<const void*>(std::addressof(tree)) == object) return true;
  bool found = false;
  if constexpr (kind_of<T> != node_kind::leaf) {
    for_each_child([&](const auto&, const auto& child) { found = found || holds_object(child, object); }, tree);
  }
  return found;
}

// The first two arguments that share objects although one of them is in-out state, or {0, 0}. Trees nest or are apart, so
// that of a tree with arrays, one of them tells.
template <class Array>
std::pair<std::size_t, std::size_t> shared_arguments(std::span<const argument_extent> arguments,
                                                     std::span<const Array* const> inputs) {
  const auto holds_first_leaf_of = [&](const argument_extent& a, const argument_extent& b) {
    if (b.first_input == b.last_input) return false;
    const auto begin = inputs.begin() + static_cast<std::ptrdiff_t>(a.first_input);
    const auto end = inputs.begin() + static_cast<std::ptrdiff_t>(a.last_input);
    return std::find(begin, end, inputs[b.first_input]) != end;
  };
  for (std::size_t j = 1; j < arguments.size(); ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      const argument_extent& a = arguments[i];
      const argument_extent& b = arguments[j];
      if (!a.in_out && !b.in_out) continue;
      const std::less<const char*> before;
      const bool apart = !before(a.begin, b.begin + b.size) || !before(b.begin, a.begin + a.size);
      if (!apart || holds_first_leaf_of(a, b) || holds_first_leaf_of(b, a)) return {i, j};
    }
  }
  return {0, 0};
}

// --- One call. -------------------------------------------------------------------------------------------------------

// The arguments are the callable's own, behind the callable itself if it is an aggregate with fields.
template <class E, compile_options Options, class F, class R, class... Argument> class compiled_call {
  using array = typename E::array;
  using results = call_results<std::conditional_t<std::is_void_v<R>, no_value, R>, Argument...>;
  using cache_type = trace_cache<E>;
  using entry_ptr = typename cache_type::entry_ptr;
  using copies = std::tuple<typename Argument::tree...>;

  static constexpr bool has_fields = !std::is_empty_v<F>;
  static constexpr auto all_arguments = std::index_sequence_for<Argument...>{};

 public:
  compiled_call(F& function, cache_type& cache, Argument... arguments)
      : function_(function), arguments_(arguments...), cache_(cache) {}

  R run() {
    if constexpr (Options.check) {
      return run_checked();
    } else {
      return run_compiled();
    }
  }

 private:
  R run_compiled() {
    const entry_ptr entry = find_or_trace();
    const results& made = *static_cast<const results*>(entry->results.get());
    std::vector<array> values;
    entry->plan.replay(inputs_, values);
    values.reserve(values.size() + made.kept_inputs.size());
    for (const std::size_t input : made.kept_inputs) values.push_back(*inputs_[input]);
    for (const array& value : values) inputs_.push_back(&value);
    return deliver(made);
  }

  // The same, and the plain call beside it, on copies.
  R run_checked() {
    copies plain = std::apply([](auto&... a) { return copies{clone(a.value)...}; }, arguments_);
    std::vector<mismatch> differences;
    const auto compare_state = [&] {
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (compare<E>(differences, argument_name(I), std::get<I>(plain), std::get<I>(arguments_).value), ...);
      }(all_arguments);
      if (differences.empty()) return;
      throw check_error("espalier: compile: " + callable_name<F>() +
                            " gives other results compiled than as it is (expected: as it is). " +
                            (Options.shapeless ? "Does it use a shape as a number, which a shapeless trace keeps, or "
                                                 "read or write anything but its arguments?"
                                               : "Does it read or write anything but its arguments?"),
                        std::move(differences));
    };
    if constexpr (std::is_void_v<R>) {
      call_function(plain);
      run_compiled();
      compare_state();
    } else {
      const R expected = call_function(plain);
      R value = run_compiled();
      compare<E>(differences, "result", expected, value);
      compare_state();
      return value;
    }
  }

  // --- The key. ------------------------------------------------------------------------------------------------------

  // The entry used last is compared while the arguments are read; only if it does not serve, the key is made and looked up.
  entry_ptr find_or_trace() {
    const typename E::place place = E::current_place();
    entry_ptr entry = cache_.latest(place);
    input_reader<E, Options.shapeless> reader{inputs_, nullptr};
    if (entry) {
      inputs_.resize(entry->num_inputs);
      reader.expected = entry->key.signature.data();
    }
    read_arguments(reader);
    byte_sink constants;
    std::apply([&](auto&... a) { (encode_constants<E>(constants, a.value), ...); }, arguments_);
    if (reader.expected && *reader.expected == 0 && entry->key.constants == constants.bytes) {
      cache_.count_hit();
      return entry;
    }
    call_key<E> key{place, {}, std::move(constants.bytes)};
    key.signature.reserve(4 * inputs_.size() + 1);
    for (const array* input : inputs_) E::append_signature(key.signature, *input, Options.shapeless);
    key.signature.push_back(0);
    entry = cache_.find(key);
    return entry ? entry : trace(std::move(key));
  }

  void read_arguments(input_reader<E, Options.shapeless>& reader) {
    std::size_t position = 0;
    const auto read = [&]<class A>(const A& argument) {
      argument_extent& extent = extents_[position++];
      extent = {reinterpret_cast<const char*>(std::addressof(argument.value)), sizeof(argument.value), reader.count, 0,
                A::in_out};
      reader.read(argument.value);
      extent.last_input = reader.count;
    };
    std::apply([&](const auto&... a) { (read(a), ...); }, arguments_);
    inputs_.resize(reader.count);
    if constexpr ((Argument::in_out || ...) && sizeof...(Argument) > 1) {
      const auto [first, second] = shared_arguments<array>(extents_, inputs_);
      if (second > 0) refuse_shared(first, second);
      [&]<std::size_t... I>(std::index_sequence<I...>) { (refuse_inside_another<I>(), ...); }(all_arguments);
    }
  }

  // In-out state without arrays is looked for by its address. (Of an input without arrays the call takes a copy.)
  template <std::size_t I> void refuse_inside_another() const {
    using A = std::tuple_element_t<I, std::tuple<Argument...>>;
    if constexpr (A::in_out && !always_holds_array<E, typename A::tree>()) {
      if (extents_[I].first_input != extents_[I].last_input) return;
      const auto look_in = [&]<std::size_t J>(index<J>) {
        if (I != J && holds_object(std::get<J>(arguments_).value, extents_[I].begin)) {
          refuse_shared(std::min(I, J), std::max(I, J));
        }
      };
      [&]<std::size_t... J>(std::index_sequence<J...>) { (look_in(index<J>{}), ...); }(all_arguments);
    }
  }

  [[noreturn]] static void refuse_shared(std::size_t first, std::size_t second) {
    throw trace_error("espalier: compile: " + callable_name<F>() + ": " + argument_name(first) + " and " +
                      argument_name(second) +
                      " share objects, and one of them is in-out state: what the other is "
                      "after the call has no meaning. Pass them as one tree, or a copy");
  }

  static std::string argument_name(std::size_t position) {
    if (has_fields && position == 0) return "function";
    return "arg" + std::to_string(position - (has_fields ? 1 : 0));
  }

  // --- The trace. ----------------------------------------------------------------------------------------------------

  entry_ptr trace(call_key<E> key) {
    const auto begin = std::chrono::steady_clock::now();
    std::vector<call_detail> description = describe();
    cache_.allow_trace(Options.max_traces, key, callable_name<F>(), description);

    auto made = std::make_shared<results>();
    traced_outputs traced;
    typename E::plan plan = [&] {
      try {
        return E::record(inputs_,
                         [&](const std::vector<array>& tracers) {
                           *made = results();  // of a run before, which looked for captures
                           traced = traced_outputs();
                           return run_traced(tracers, *made, traced);
                         },
                         {Options.shapeless, Options.check_captures});
      } catch (const std::exception& failure) {
        const std::optional<std::string> why = E::explain(failure, input_names(description));
        if (!why) throw;
        throw trace_error("espalier: compile: " + callable_name<F>() + " " + *why);
      }
    }();
    static_cast<result_origins&>(*made) = find_origins(traced, plan.outputs(), inputs_.size(), plan.num_values());
    auto [entry, reason] =
        cache_.insert({std::move(key), inputs_.size(), std::move(plan), std::move(made), std::move(description)},
                      Options.max_entries);
    if (const auto log = compile_log::instance().get()) {
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      (*log)({callable_name<F>(), std::move(reason), seconds.count()});
    }
    return entry;
  }

  std::vector<call_detail> describe() const {
    std::vector<call_detail> details;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (describe_tree<E>(details, argument_name(I), std::get<I>(arguments_).value, Options.shapeless), ...);
    }(all_arguments);
    return details;
  }

  // Runs the user's function on copies of the arguments that hold the engine's tracers; gives back all output arrays.
  std::vector<array> run_traced(const std::vector<array>& tracers, results& made, traced_outputs& about) {
    std::vector<array> inputs = tracers;
    std::vector<const array*> sources;
    std::vector<output_origin> each_once;
    for (const array& input : inputs) {
      each_once.push_back({static_cast<std::uint32_t>(sources.size()), true});
      sources.push_back(&input);
    }
    array_giver<E> from_tracers{each_once.data(), sources.data()};
    copies traced =
        std::apply([&](auto&... a) { return copies{with_arrays<E>(a.value, from_tracers)...}; }, arguments_);

    std::vector<array> outputs;
    array_taker<E> to_outputs{outputs};
    if constexpr (std::is_void_v<R>) {
      call_function(traced);
    } else {
      const R value = call_function(traced);
      made.value.emplace(with_arrays<E>(value, to_outputs));
    }
    about.state_begin = outputs.size();
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (take_state(std::get<I>(arguments_), std::get<I>(traced), extents_[I], std::get<I>(made.left), to_outputs,
                  about.in_place),
       ...);
    }(all_arguments);
    return outputs;
  }

  // The arrays that the function left in one argument.
  template <class A, class Tree>
  static void take_state(const A& before, const Tree& after, const argument_extent& extent, left_in<Tree>& left,
                         array_taker<E>& to_outputs, std::vector<in_place_leaf>& in_place) {
    if constexpr (A::in_out) {
      byte_sink constants_before;
      byte_sink constants_after;
      encode_constants<E>(constants_before, before.value);
      encode_constants<E>(constants_after, after);
      std::size_t output = to_outputs.arrays.size();
      Tree blank = with_arrays<E>(after, to_outputs);
      if (has_rebuilt_only<Tree> || constants_before.bytes != constants_after.bytes) {
        left.rebuilt.emplace(std::move(blank));
      } else {
        for (std::size_t input = extent.first_input; input < extent.last_input; ++input) {
          in_place.push_back({output++, input, &left.assigned});
        }
      }
    }
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

  // Hands the arrays of a replay to the caller and to the in-out arguments. First everything is made that may throw (users'
  // constructors, for want of memory); then the arguments are changed.
  R deliver(const results& made) {
    array_giver<E> arrays{made.origins.data(), inputs_.data()};
    if constexpr (std::is_void_v<R>) {
      change_state(made, arrays);
    } else if constexpr (std::is_same_v<R, array>) {
      array value = arrays(*made.value);
      change_state(made, arrays);
      return value;
    } else {
      R value = with_arrays<E>(*made.value, arrays);
      change_state(made, arrays);
      return value;
    }
  }

  void change_state(const results& made, array_giver<E>& arrays) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      // Braces: in order.
      std::tuple rebuilt{rebuild_state(std::get<I>(arguments_), std::get<I>(made.left), arrays)...};
      (assign_state(std::get<I>(arguments_), std::get<I>(made.left), std::get<I>(rebuilt), arrays), ...);
    }(all_arguments);
  }

  template <class A, class Tree>
  static auto rebuild_state(const A&, const left_in<Tree>& left, array_giver<E>& arrays) {
    if constexpr (A::in_out) {
      return left.rebuilt ? std::make_unique<Tree>(with_arrays<E>(*left.rebuilt, arrays)) : nullptr;
    } else {
      return nullptr;
    }
  }

  template <class A, class Tree, class Rebuilt>
  void assign_state(A& argument, const left_in<Tree>& left, Rebuilt& rebuilt, array_giver<E>& arrays) {
    if constexpr (A::in_out) {
      if (rebuilt) {
        replace(argument.value, std::move(*rebuilt));
        return;
      }
      // The inputs of in-out arguments are leaves of objects that are not const.
      for (const std::size_t input : left.assigned) {
        array& leaf = *const_cast<array*>(inputs_[input]);
        leaf = arrays(leaf);
      }
    }
  }

  F& function_;
  std::tuple<Argument...> arguments_;
  cache_type& cache_;
  std::vector<const array*> inputs_;  // the array leaves, in order; behind them, in the end, the values of the replay
  std::array<argument_extent, sizeof...(Argument)> extents_;
};

}  // namespace espalier::detail
