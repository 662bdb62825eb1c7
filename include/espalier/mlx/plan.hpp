// A traced MLX function as a flat list of steps, so that a later call builds its graph without MLX's own
// cache: no lookup, no hash map over array ids, no copy of an array that the function does not use.
//
//   auto plan = detail::mlx_plan::record(inputs, [](const std::vector<mx::array>& x) { … return outputs; });
//   plan.replay(inputs, outputs);   // outputs: the graph of one call, not evaluated
#pragma once

#include <mlx/array.h>

#include <cstddef>
#include <cstdint>
#include <espalier/engine.hpp>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace espalier::detail {

namespace mx = ::mlx::core;

// Thrown where the graph of a traced function contains an array that another trace made, and that has no value.
struct escaped_array : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

struct plan_options {
  // One plan for all shapes of the recorded ranks and dtypes: replay() asks each operation for its shape, as
  // mx::compile(f, true) does. Shapes that f reads itself stay what they were.
  bool shapeless = false;
};

// Immutable after recording, apart from omit_outputs(). MLX's streams belong to threads: evaluate what a plan
// builds on the thread that recorded it. Building from one plan on several threads at once is fine.
class mlx_plan {
 public:
  // Runs f exactly once, on placeholders with these arrays' shapes and dtypes (never on the arrays themselves), through
  // mx::compile, so that MLX's simplification and fusion apply. With MLX's compilation disabled, and where the graph is
  // deeper than MLX's recursive optimiser can take (20,000), it is recorded as f built it. Throws what f throws, among
  // it what MLX throws where f evaluates a placeholder (std::invalid_argument; std::runtime_error with compilation
  // disabled), escaped_array, and if shapeless: what MLX throws of an operation that cannot tell its shapes
  // (std::invalid_argument, with its name), and std::invalid_argument in the two cases without mx::compile. Nothing is
  // left behind then. Costs one trace and optimisation by MLX, and two walks of the graph.
  static mlx_plan record(std::span<const mx::array* const> inputs, const array_function<mx::array>& f,
                         plan_options options = {});

  std::size_t num_inputs() const { return num_inputs_; }
  std::size_t num_outputs() const { return outputs_.size(); }
  std::size_t num_steps() const { return steps_.size(); }

  bool shapeless() const { return shapeless_; }

  // The input that output i passes through unchanged, if it does.
  std::optional<std::size_t> passed_through(std::size_t output) const {
    const operand& o = outputs_[output];
    return o.from == source::input ? std::optional<std::size_t>(o.index) : std::nullopt;
  }

  // Takes these pass-through outputs out of the plan; the others move up. For in-out leaves which a step
  // leaves alone, so that a call need not touch them. Not while another thread replays.
  void omit_outputs(std::span<const std::size_t> passed_through);

  // Builds the graph of one call: outputs[i] receives output i (outputs is cleared and filled in order). Evaluates
  // nothing and keeps no reference to inputs or outputs, so MLX can donate an input's buffer as soon as the caller drops
  // it, also to a fused operation with several outputs, which MLX's own compiled functions never do. inputs has
  // num_inputs() arrays of the recorded shapes and dtypes, none of them inside outputs. Two allocations a step, which
  // are MLX's, and one for the scratch. Leaves outputs empty if it throws (bad_alloc).
  // If shapeless, inputs have the recorded ranks, and shapes that f accepts: MLX checks them no more, and reads outside
  // of arrays otherwise, as it does after mx::compile(f, true).
  void replay(std::span<const mx::array* const> inputs, std::vector<mx::array>& outputs) const;

  // The plan as a Graphviz digraph: inputs and outputs by number, constants, and steps by the name of MLX's primitive,
  // each with dtype and shape (if shapeless, the recorded ones). An edge out of a step with several outputs has the
  // number of the output.
  std::string to_dot() const;

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

  template <bool Shapeless> void build(std::span<const mx::array* const> inputs, std::vector<mx::array>& outputs) const;

  bool shapeless_ = false;
  std::size_t num_inputs_ = 0;
  std::size_t num_values_ = 0;
  std::vector<step> steps_;  // in topological order; each appends its outputs to the scratch
  std::vector<operand> operands_;
  std::vector<sibling_outputs> siblings_;
  std::vector<mx::array> constants_;
  std::vector<operand> outputs_;
  std::vector<std::string> input_descriptions_;  // for to_dot()
};

// An array that a function reached through a global, a static or a pointer instead of its arguments: a trace keeps it
// as it was.
struct captured_array {
  enum class origin : std::uint8_t {
    data,          // an array with a value
    pending,       // a graph that is not evaluated, and that every replay would compute again
    random_state,  // the key of MLX's global random state: f drew without a key, and replays would repeat the draw
  };
  origin from;
  mx::Shape shape;
  mx::Dtype dtype;
  std::string used_by;               // the name of a primitive that reads it; empty if f returns it
  std::optional<std::size_t> input;  // the input that is this very array, if one is

  // "float32[3, 4] array, used by Matmul"
  std::string to_string() const;
};

// Finds what f captured: runs f twice more, on placeholders as record() does, and gives the arrays that both graphs
// share and reach first from the outputs. For debug builds: it costs two traces, and side effects of f happen twice.
// Restores MLX's random state of this thread. Throws what record() throws of f, among it escaped_array if f's second
// run uses what its first computed and kept.
// It cannot see: arrays of which f reads only the shape or, by item() and the like, the value; globals that are no
// arrays, and arrays that f makes of them in each run; arrays that the outputs do not depend on, or only through a
// custom gradient's rule that was not applied; which of several captured names it was. An array that f itself made in
// its first run and kept in a static is reported too: it is a constant then, which may be meant.
std::vector<captured_array> find_captured(std::span<const mx::array* const> inputs, const array_function<mx::array>& f);

}  // namespace espalier::detail
