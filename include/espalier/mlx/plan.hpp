// A traced MLX function as a flat list of steps, so that a later call builds its graph without MLX's own
// cache: no lookup, no hash map over array ids, no copy of an array that the function does not use.
//
//   auto plan = detail::mlx_plan::record(inputs, [](const std::vector<mx::array>& x) { … return outputs; });
//   std::vector<mx::array> values;
//   plan.replay(inputs, values);     // the graph of one call, not evaluated; plan.outputs() says which are its outputs
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

  // "float32[3, 4] array, used by Matmul". An input has the name that is given for it, or its number.
  std::string to_string(std::span<const std::string> input_names = {}) const;
};

// Thrown where record() looks for captured arrays and finds some.
struct captures_arrays : std::invalid_argument {
  explicit captures_arrays(std::vector<captured_array> found);

  std::vector<captured_array> arrays;
};

// Immutable after recording. MLX's streams belong to threads: evaluate what a plan
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
  //
  // If check_captures, f runs once before that, from the same random state, and captures_arrays is thrown if the graphs of
  // both runs share arrays that are not the inputs' placeholders. MLX's random state of this thread is then as it was; that
  // run never counts. The
  // first that is reached from an output stands for what is behind it. It cannot see: arrays of which f reads only the shape
  // or, by item() and the like, the value; globals that are no arrays, and arrays that f makes of them in each run; arrays
  // that the outputs do not depend on, or only through a custom gradient's rule that was not applied; which of several
  // captured names it was. An array that f itself made in its first run and kept in a static is reported too: it is a
  // constant then, which may be meant.
  static mlx_plan record(std::span<const mx::array* const> inputs, const array_function<mx::array>& f,
                         const record_options& options = {});

  // What a plan is made of, for tests and figures.
  std::size_t num_inputs() const { return num_inputs_; }
  std::size_t num_steps() const { return steps_.size(); }

  // The inputs and values that are the outputs, in their order.
  std::span<const plan_output> outputs() const { return outputs_; }

  bool shapeless() const { return shapeless_; }
  // False in the two cases without mx::compile.
  bool optimised() const { return optimised_; }

  // How many values a replay gives.
  std::size_t num_values() const { return num_values_ + constant_outputs_.size(); }

  // Builds the graph of one call: appends its values to `values`, which is empty. Some of those that are no outputs are without
  // an array afterwards. Evaluates nothing and keeps no reference to inputs or values, so MLX can donate an input's buffer as
  // soon as the caller drops it, also to a fused operation with several outputs, which MLX's own compiled functions never
  // do. inputs has num_inputs() arrays of the recorded shapes and dtypes. Two allocations a step, which are MLX's, and one
  // for the values. Throws bad_alloc only.
  // If shapeless, inputs have the recorded ranks, and shapes that f accepts: MLX checks them no more, and reads outside
  // of arrays otherwise, as it does after mx::compile(f, true).
  void replay(std::span<const mx::array* const> inputs, std::vector<mx::array>& values) const;

  // The plan as a Graphviz digraph: inputs and outputs by number, constants, and steps by the name of MLX's primitive,
  // each with dtype and shape (if shapeless, the recorded ones). An edge out of a step with several outputs has the
  // number of the output.
  std::string to_dot() const;

 private:
  // Where a step finds an array. A value that is no output is moved to its last use.
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

  template <bool Shapeless> void build(std::span<const mx::array* const> inputs, std::vector<mx::array>& values) const;
  void append_siblings(std::vector<mx::array>& values, const step& s, std::vector<mx::Shape> shapes,
                       std::vector<mx::array> arguments) const;

  bool shapeless_ = false;
  bool optimised_ = true;
  std::size_t num_inputs_ = 0;
  std::size_t num_values_ = 0;
  std::vector<step> steps_;  // in topological order; each appends its outputs to the values
  std::vector<operand> operands_;
  std::vector<sibling_outputs> siblings_;
  std::vector<mx::array> constants_;
  std::vector<std::uint32_t> constant_outputs_;  // become values behind those of the steps
  std::vector<plan_output> outputs_;
  std::vector<std::string> input_descriptions_;  // for to_dot()
};

}  // namespace espalier::detail
