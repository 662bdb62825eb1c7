// One call of a compiled function: its arguments as a key, the trace that serves it, or a new one, and the outputs of
// the replay into the return value and the in-out arguments.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <espalier/compile_options.hpp>
#include <espalier/describe.hpp>
#include <espalier/detail/callable.hpp>
#include <espalier/detail/trace_cache.hpp>
#include <espalier/detail/walk.hpp>
#include <espalier/encode.hpp>
#include <espalier/engine.hpp>
#include <espalier/structure.hpp>
#include <espalier/visit.hpp>
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

// Where the arrays of a copied tree come from: out of `from`, in order; or, if `to` is given, they go there and blank
// ones take their place. (One type for all copies, so that each tree type's copy is compiled once.)
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

// A copy of any tree whose leaves can be copied, also if it holds pointers.
template <class T> T clone(const T& tree) {
  auto leaf = []<class L>(type_tag<L>, const auto&, const L& value) -> L { return value; };
  return map_tree<T>(leaf, no_path{}, tree);
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

// An argument as memory: its own bytes, and its array leaves among the inputs, which may lie elsewhere.
struct argument_extent {
  const char* begin;
  std::size_t size;
  std::size_t first_input, last_input;
  bool in_out;
};

// The first two arguments that share objects although one of them is in-out state, or {0, 0}. Trees nest or are apart,
// so one leaf of each tells.
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
    const argument_extent extents[] = {collect(arguments)..., {}};
    if constexpr ((Argument::in_out || ...) && sizeof...(Argument) > 1) {
      const auto [first, second] = shared_arguments<array>(std::span(extents, sizeof...(Argument)), inputs_);
      if (second > 0) {
        throw trace_error("espalier: compile: " + callable_name<F>() + ": " + argument_name(first) + " and " +
                          argument_name(second) +
                          " share objects, and one of them is in-out state: what the other is "
                          "after the call has no meaning. Pass them as one tree, or a copy");
      }
    }
    byte_sink sink;
    (encode_constants<E>(sink, arguments.value), ...);
    constants_ = std::move(sink.bytes);
  }

  R run(cache_type& cache, const compile_options& options) {
    const call_key<E> key{inputs_, constants_};
    typename cache_type::entry_ptr entry = cache.find(key);
    if (!entry) entry = trace(cache, key, options);
    std::vector<array> outputs;
    entry->plan.replay(inputs_, outputs);
    return deliver(*static_cast<const results*>(entry->results.get()), outputs);
  }

  // The same, and the plain call beside it, on copies.
  R run_checked(cache_type& cache, const compile_options& options) {
    copies plain = std::apply([](auto&... a) { return copies{clone(a.value)...}; }, arguments_);
    std::vector<mismatch> differences;
    const auto compare_state = [&] {
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (compare<E>(differences, argument_name(I), std::get<I>(plain), std::get<I>(arguments_).value), ...);
      }(all_arguments);
      if (!differences.empty()) {
        throw check_error("espalier: compile: " + callable_name<F>() +
                              " gives other results compiled than as it is (expected: as it is). Does it read or write "
                              "anything but its arguments?",
                          std::move(differences));
      }
    };
    if constexpr (std::is_void_v<R>) {
      call_function(plain);
      run(cache, options);
      compare_state();
    } else {
      const R expected = call_function(plain);
      R value = run(cache, options);
      compare<E>(differences, "result", expected, value);
      compare_state();
      return value;
    }
  }

 private:
  // A leaf of in-out state that can be assigned where it is.
  struct in_place_leaf {
    std::size_t output;
    std::size_t input;
    std::vector<std::size_t>& assigned;
  };

  template <class A> argument_extent collect(const A& argument) {
    const std::size_t first = inputs_.size();
    collect_arrays<E>(inputs_, argument.value);
    return {reinterpret_cast<const char*>(std::addressof(argument.value)), sizeof(argument.value), first,
            inputs_.size(), A::in_out};
  }

  static std::string argument_name(std::size_t position) {
    if (has_fields && position == 0) return "function";
    return "arg" + std::to_string(position - (has_fields ? 1 : 0));
  }

  typename cache_type::entry_ptr trace(cache_type& cache, const call_key<E>& key, const compile_options& options) {
    const auto begin = std::chrono::steady_clock::now();
    std::vector<call_detail> description = describe();
    cache.allow_trace(options.max_traces, callable_name<F>(), description);

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
    auto entry = cache.insert(key, std::move(plan), std::move(made), std::move(description), options.max_entries);
    if (const auto log = compile_log::instance().get()) {
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      (*log)({callable_name<F>(), cache.stats().last_retrace, seconds.count()});
    }
    return entry;
  }

  std::vector<call_detail> describe() const {
    std::vector<call_detail> details;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (describe_tree(details, argument_name(I), std::get<I>(arguments_).value), ...);
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

}  // namespace espalier::detail
