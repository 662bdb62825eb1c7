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
#include <vector>

namespace espalier {

// A function of arrays alone, as engines trace it.
template <class Array> using array_function = std::function<std::vector<Array>(const std::vector<Array>&)>;

// An engine is a type (never constructed) with
//   array       its array type: a leaf, with array_traits
//   signature   what decides a trace about one array: shape and dtype. `signature_of` makes it; `matches` compares it
//               with an array without allocating; `hash(seed, array)` mixes an array's in
//   place       what else decides a trace: device, stream. `current_place()`, and `hash(seed, place)`
//   plan        a trace that can be replayed. `record(inputs, f)` runs f once on placeholders with the inputs'
//               signatures and throws what f throws; `plan.replay(inputs, outputs)` gives one call's outputs;
//               `plan.passed_through(i)` is the input that output i is, if it is one; `plan.omit_outputs` drops those.
//               Several threads may replay one plan at once
// and
//   transforming()      true inside a gradient, a vmap or another trace, where a compiled function runs as it is
//   blank()             an array without data, for results that are filled in at each call
//   explain(exception)  a sentence, if the exception of a failed trace is the engine's complaint about a traced value
//                       that was read
// The engine is found from array_traits<array>::engine, or named; value_description<array> is what messages print.
template <class E>
concept engine =
    requires(const typename E::array& a, const typename E::signature& s, const typename E::place& place,
             typename E::plan& plan, const typename E::plan& recorded, std::span<const typename E::array* const> inputs,
             std::vector<typename E::array>& outputs, const array_function<typename E::array>& f,
             std::span<const std::size_t> omitted, const std::exception& failure) {
      requires std::equality_comparable<typename E::place>;
      { E::current_place() } -> std::same_as<typename E::place>;
      { E::signature_of(a) } -> std::same_as<typename E::signature>;
      { E::matches(s, a) } -> std::same_as<bool>;
      { E::hash(std::uint64_t{}, a) } -> std::same_as<std::uint64_t>;
      { E::hash(std::uint64_t{}, place) } -> std::same_as<std::uint64_t>;
      { E::transforming() } -> std::same_as<bool>;
      { E::blank() } -> std::same_as<typename E::array>;
      { E::record(inputs, f) } -> std::same_as<typename E::plan>;
      { E::explain(failure) } -> std::same_as<std::optional<std::string>>;
      { recorded.passed_through(std::size_t{}) } -> std::same_as<std::optional<std::size_t>>;
      plan.omit_outputs(omitted);
      recorded.replay(inputs, outputs);
    };

}  // namespace espalier
