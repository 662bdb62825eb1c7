// A traced MLX function as a flat list of steps, so that a later call builds its graph without MLX's own
// cache: no lookup, no hash map over array ids, no copy of an array that the function does not use.
//
//   auto plan = detail::mlx_plan::record(inputs, [](const std::vector<mx::array>& x) { … return outputs; });
//   plan.replay(inputs, outputs);   // outputs: the graph of one call, not evaluated
#pragma once

#include <mlx/array.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace espalier::detail {

namespace mx = ::mlx::core;
using array_function = std::function<std::vector<mx::array>(const std::vector<mx::array>&)>;

// Immutable after recording, apart from omit_outputs(). MLX's streams belong to threads: evaluate what a plan
// builds on the thread that recorded it. Building from one plan on several threads at once is fine.
class mlx_plan {
 public:
  // Runs f exactly once, on placeholders with these arrays' shapes and dtypes (never on the arrays
  // themselves), through mx::compile, so that MLX's simplification and fusion apply. With MLX's compilation
  // disabled, and where the graph is deeper than MLX's recursive optimiser can take (20,000), it is recorded
  // as f built it. Throws what f throws, among it what MLX throws where f evaluates a placeholder
  // (std::invalid_argument; std::runtime_error with compilation disabled), and std::invalid_argument if f's
  // graph contains an array of another trace. Nothing is left behind then. Costs one trace and optimisation
  // by MLX, and two walks of the graph.
  static mlx_plan record(std::span<const mx::array* const> inputs, const array_function& f);

  std::size_t num_inputs() const { return num_inputs_; }
  std::size_t num_outputs() const { return outputs_.size(); }
  std::size_t num_steps() const { return steps_.size(); }

  // The input that output i passes through unchanged, if it does.
  std::optional<std::size_t> passed_through(std::size_t output) const {
    const operand& o = outputs_[output];
    return o.from == source::input ? std::optional<std::size_t>(o.index) : std::nullopt;
  }

  // Takes these pass-through outputs out of the plan; the others move up. For in-out leaves which a step
  // leaves alone, so that a call need not touch them. Not while another thread replays.
  void omit_outputs(std::span<const std::size_t> passed_through);

  // Builds the graph of one call: outputs[i] receives output i (outputs is cleared and filled in order).
  // Evaluates nothing and keeps no reference to inputs or outputs, so MLX can donate an input's buffer as
  // soon as the caller drops it. inputs has num_inputs() arrays of the recorded shapes and dtypes, none of
  // them inside outputs. Two allocations a step, which are MLX's, and one for the scratch. Leaves outputs
  // empty if it throws (bad_alloc).
  void replay(std::span<const mx::array* const> inputs, std::vector<mx::array>& outputs) const;

 private:
  // Where a step or an output finds an array. A value is moved out of the scratch at its last use.
  enum class source : std::uint8_t { input, constant, value, last_use };
  struct operand {
    source from;
    std::uint32_t index;
  };
  struct step {
    std::shared_ptr<mx::Primitive> primitive;
    mx::Shape shape;  // of the first output; a step with siblings keeps all of them in `siblings_`
    mx::Dtype dtype;
    std::uint32_t operands_begin, operands_end;
    std::optional<std::uint32_t> siblings;
  };
  struct sibling_outputs {
    std::vector<mx::Shape> shapes;
    std::vector<mx::Dtype> dtypes;
  };
  class recorder;

  mlx_plan() = default;

  std::size_t num_inputs_ = 0;
  std::size_t num_values_ = 0;
  std::vector<step> steps_;  // in topological order; each appends its outputs to the scratch
  std::vector<operand> operands_;
  std::vector<sibling_outputs> siblings_;
  std::vector<mx::array> constants_;
  std::vector<operand> outputs_;
};

}  // namespace espalier::detail
