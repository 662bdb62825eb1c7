// What an engine is: the arrays that are leaves, and the means to trace a function of arrays once and to replay the
// trace. The compiled-function cache knows nothing else of an engine, so a second engine is a folder, not a rewrite.
#pragma once

#include <concepts>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace espalier {

// A function of arrays alone, as engines trace it.
template <class Array> using array_function = std::function<std::vector<Array>(const std::vector<Array>&)>;

// What decides a trace about its input arrays, dtypes and shapes, as words that a call's arrays are compared with.
using signature_word = std::uint32_t;

struct record_options {
  // One plan for all shapes of the inputs' ranks: replays ask each operation for its shape.
  bool shapeless = false;
  // Runs f once more, and throws if it uses arrays that are neither inputs nor made by it.
  bool check_captures = false;
};

// Where a plan's output comes from: an input that is passed through, or one of the values that replay() gives.
struct plan_output {
  bool is_input;
  std::uint32_t index;
  friend bool operator==(const plan_output&, const plan_output&) = default;
};

// An engine is a type (never constructed) with
//   array       its array type: a leaf, with array_traits
//   place       what else decides a trace: device, stream. `current_place()`
//   plan        a trace that can be replayed, from `E::record(inputs, f, options)`, which runs f on placeholders with the
//               inputs' signatures, and throws what f throws. `plan.replay(inputs, values)` appends one call's values to an
//               empty vector, `plan.num_values()` of them, and `plan.outputs()` says where the outputs are;
//               `plan.optimised()`: false if it is as f built it. Several threads may replay one plan at once
// and
//   append_signature(words, a, shapeless)  appends an array's dtype and shape, or if shapeless its dtype and rank: some
//                       words, the first of them not 0, which marks the end of all
//   match_signature(words, a, shapeless)   the word behind an array's signature, or null if another one stands there
//   describe_signature(a, shapeless)       the same for people: "float32[3, 4]"
//   transforming()      true inside a gradient, a vmap or another trace, where a compiled function runs as it is
//   blank()             an array without data, for results that are filled in at each call
//   explain(exception, names)   a sentence, if the exception of a failed trace is the engine's complaint about what f
//                       does; `names` are the key paths of the inputs
// The engine is found from array_traits<array>::engine, or named.
template <class E>
concept engine =
    requires(const typename E::array& a, std::vector<signature_word>& words, const signature_word* expected,
             const typename E::plan& plan, std::span<const typename E::array* const> inputs,
             std::vector<typename E::array>& values, const array_function<typename E::array>& f,
             const record_options& options, const std::exception& failure, std::span<const std::string> names) {
      requires std::equality_comparable<typename E::place>;
      requires std::has_unique_object_representations_v<typename E::place>;  // its bytes are hashed
      { E::current_place() } -> std::same_as<typename E::place>;
      E::append_signature(words, a, false);
      { E::match_signature(expected, a, false) } -> std::same_as<const signature_word*>;
      { E::describe_signature(a, false) } -> std::same_as<std::string>;
      { E::transforming() } -> std::same_as<bool>;
      { E::blank() } -> std::same_as<typename E::array>;
      { E::record(inputs, f, options) } -> std::same_as<typename E::plan>;
      { E::explain(failure, names) } -> std::same_as<std::optional<std::string>>;
      { plan.outputs() } -> std::convertible_to<std::span<const plan_output>>;
      { plan.num_values() } -> std::convertible_to<std::size_t>;
      { plan.optimised() } -> std::same_as<bool>;
      plan.replay(inputs, values);
    };

}  // namespace espalier
