#include <mlx/compile.h>
#include <mlx/device.h>
#include <mlx/primitives.h>
#include <mlx/random.h>
#include <mlx/stream.h>

#include <algorithm>
#include <espalier/describe_value.hpp>
#include <espalier/graphviz.hpp>
#include <espalier/mlx/array.hpp>
#include <espalier/mlx/plan.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace espalier::detail {

namespace {

// Calls done(a) for the arrays behind these outputs which seen(a) denies, inputs first; done must make seen
// true. Depth first with a stack of its own: a graph may be deeper than a thread's stack.
template <class Seen, class Done>
std::size_t for_each_array(const std::vector<mx::array>& outputs, Seen seen, Done done) {
  struct frame {
    const mx::array* node;
    std::size_t next_input;
  };
  std::vector<frame> stack;
  std::size_t depth = 0;
  for (const auto& output : outputs) {
    if (!seen(output)) stack.push_back({&output, 0});
    while (!stack.empty()) {
      auto& [node, next_input] = stack.back();
      if (next_input < node->inputs().size()) {
        const auto& input = node->inputs()[next_input++];
        if (!seen(input)) stack.push_back({&input, 0});
      } else {
        depth = std::max(depth, stack.size());
        done(*node);
        stack.pop_back();
      }
    }
  }
  return depth;
}

// Refuses arrays of other traces, and returns the depth of the graph. Looks at the graph as f built it: once
// MLX has fused operations, what they used is out of sight.
std::size_t checked_depth(const std::vector<mx::array>& inputs, const std::vector<mx::array>& outputs) {
  std::unordered_set<std::uintptr_t> found;
  for (const auto& input : inputs) found.insert(input.id());
  return for_each_array(
      outputs, [&](const mx::array& a) { return found.contains(a.id()); },
      [&](const mx::array& a) {
        if (!a.has_primitive() && a.status() == mx::array::Status::unscheduled) {
          throw escaped_array(
              "it uses an array that has no value, since that was made while another function was traced, and kept "
              "after that. Return such an array from the traced function instead of storing it.");
        }
        found.insert(a.id());
      });
}

// Arrays with ids of their own and no history: the same array given twice stays two inputs, and a walk ends at an input
// that is itself an unevaluated graph.
std::vector<mx::array> placeholders_for(std::span<const mx::array* const> inputs) {
  std::vector<mx::array> placeholders;
  placeholders.reserve(inputs.size());
  for (const auto* input : inputs) {
    placeholders.emplace_back(input->shape(), input->dtype(), nullptr, std::vector<mx::array>{});
  }
  return placeholders;
}

// A fused operation with several outputs. Each output holds the inputs, so that MLX takes them for used elsewhere and
// donates none: a fused update of parameter and momentum would need its state twice. Here the outputs other than the
// one that MLX evaluates drop them first, as they all would right after the evaluation.
class donating_primitive final : public mx::Primitive {
  using arrays = std::vector<mx::array>;

 public:
  explicit donating_primitive(std::shared_ptr<mx::Primitive> fused)
      : mx::Primitive(fused->stream()), fused_(std::move(fused)) {}

  void eval_cpu(const arrays& inputs, arrays& outputs) override {
    with_one_holder(inputs, outputs, [&] { fused_->eval_cpu(inputs, outputs); });
  }
  void eval_gpu(const arrays& inputs, arrays& outputs) override {
    with_one_holder(inputs, outputs, [&] { fused_->eval_gpu(inputs, outputs); });
  }
  arrays jvp(const arrays& primals, const arrays& tangents, const std::vector<int>& argnums) override {
    return fused_->jvp(primals, tangents, argnums);
  }
  arrays vjp(const arrays& primals, const arrays& cotangents, const std::vector<int>& argnums,
             const arrays& outputs) override {
    return fused_->vjp(primals, cotangents, argnums, outputs);
  }
  std::pair<arrays, std::vector<int>> vmap(const arrays& inputs, const std::vector<int>& axes) override {
    return fused_->vmap(inputs, axes);
  }
  const char* name() const override { return fused_->name(); }
  bool is_equivalent(const mx::Primitive& other) const override {
    const auto* same = dynamic_cast<const donating_primitive*>(&other);
    return same && fused_->is_equivalent(*same->fused_);
  }
  std::vector<mx::Shape> output_shapes(const arrays& inputs) override { return fused_->output_shapes(inputs); }

 private:
  template <class Eval> static void with_one_holder(const arrays& inputs, arrays& outputs, Eval eval) {
    const auto evaluated = [&](const mx::array& output) { return &output.inputs() == &inputs; };
    if (std::none_of(outputs.begin(), outputs.end(), evaluated) || outputs[0].is_tracer()) return eval();
    for (auto& output : outputs) {
      if (!evaluated(output)) output.inputs().clear();
    }
    try {
      eval();
    } catch (...) {  // the graph must still be whole
      for (auto& output : outputs) {
        if (!evaluated(output)) output.inputs() = inputs;
      }
      throw;
    }
  }

  std::shared_ptr<mx::Primitive> fused_;
};

bool is_fused(const mx::Primitive& primitive) { return std::string_view(primitive.name()).starts_with("Compiled"); }

std::string describe(const mx::Shape& shape, mx::Dtype dtype) {
  return describe_value(mx::array(shape, dtype, nullptr, {}));
}

}  // namespace

// Lists a graph in a plan.
class mlx_plan::recorder {
 public:
  explicit recorder(const std::vector<mx::array>& inputs) {
    plan_.num_inputs_ = inputs.size();
    std::uint32_t i = 0;
    for (const auto& input : inputs) {
      found_.emplace(input.id(), operand{source::input, i++});
      plan_.input_descriptions_.push_back(describe_value(input));
    }
  }

  mlx_plan list(const std::vector<mx::array>& outputs, bool shapeless, bool optimised) {
    plan_.shapeless_ = shapeless;
    plan_.optimised_ = optimised;
    for_each_array(
        outputs, [&](const mx::array& a) { return found_.contains(a.id()); },
        [&](const mx::array& a) { is_constant(a) ? add_constant(a) : add_step(a); });
    for (const auto& output : outputs) add_output(found_.at(output.id()));
    mark_last_uses();
    return std::move(plan_);
  }

 private:
  // A lazy load becomes an array with data at its first evaluation; as a step it would read its file in every
  // call. MLX exports no type information for it.
  static bool is_constant(const mx::array& a) {
    return !a.has_primitive() || std::string_view(a.primitive().name()) == "Load";
  }

  void add_constant(const mx::array& a) {
    found_.emplace(a.id(), operand{source::constant, static_cast<std::uint32_t>(plan_.constants_.size())});
    plan_.constants_.push_back(a);
  }

  void add_step(const mx::array& a) {
    const auto begin = static_cast<std::uint32_t>(plan_.operands_.size());
    for (const auto& input : a.inputs()) plan_.operands_.push_back(found_.at(input.id()));
    const auto end = static_cast<std::uint32_t>(plan_.operands_.size());

    auto primitive = a.primitive_ptr();
    std::optional<std::uint32_t> siblings;
    if (a.siblings().empty()) {
      add_value(a);
    } else {
      if (is_fused(*primitive)) primitive = std::make_shared<donating_primitive>(std::move(primitive));
      siblings = static_cast<std::uint32_t>(plan_.siblings_.size());
      auto& all = plan_.siblings_.emplace_back();
      for (const auto& output : a.outputs()) {
        add_value(output);
        all.shapes.push_back(output.shape());
        all.dtypes.push_back(output.dtype());
      }
    }
    plan_.steps_.push_back({std::move(primitive), a.shape(), a.dtype(), begin, end, siblings});
  }

  void add_output(operand o) {
    if (o.from == source::constant) {
      plan_.constant_outputs_.push_back(o.index);
      o.index = static_cast<std::uint32_t>(plan_.num_values() - 1);
    }
    plan_.outputs_.push_back({o.from == source::input, o.index});
  }

  void add_value(const mx::array& a) {
    found_.emplace(a.id(), operand{source::value, static_cast<std::uint32_t>(plan_.num_values_++)});
  }

  // A replay reads the operands in their order: the last use is the first one backwards.
  void mark_last_uses() {
    std::vector<bool> used(plan_.num_values());
    for (const plan_output& output : plan_.outputs_) {
      if (!output.is_input) used[output.index] = true;
    }
    for (auto o = plan_.operands_.rbegin(); o != plan_.operands_.rend(); ++o) {
      if (o->from != source::value || used[o->index]) continue;
      used[o->index] = true;
      o->from = source::last_use;
    }
  }

  mlx_plan plan_;
  std::unordered_map<std::uintptr_t, operand> found_;
};

// --- What a function captures. ---------------------------------------------------------------------------------------

namespace {

struct raw_trace {
  std::vector<mx::array> inputs, outputs;
};

// The graph as f built it, on placeholders. Inside mx::compile, so that MLX knows that a trace is under way.
raw_trace trace_raw(std::span<const mx::array* const> inputs, const array_function<mx::array>& f) {
  raw_trace trace;
  const auto compiled = mx::compile(array_function<mx::array>([&](const std::vector<mx::array>& x) {
    trace = {x, f(x)};
    checked_depth(trace.inputs, trace.outputs);
    return std::vector<mx::array>{};
  }));
  compiled(placeholders_for(inputs));
  return trace;
}

// MLX's global random state of this thread. It cannot be read, but it can be copied, and what a copy draws is computed
// from its key. Restored at the end, unless what was drawn is to count.
class saved_random_state {
 public:
  saved_random_state() = default;
  saved_random_state(const saved_random_state&) = delete;
  saved_random_state& operator=(const saved_random_state&) = delete;
  ~saved_random_state() {
    if (!draws_count_) restore();
  }

  void let_draws_count() { draws_count_ = true; }
  void restore() const { mx::random::KeySequence::default_() = saved_; }

  bool has_key(const mx::array& a) const { return key_ && key_->id() == a.id(); }

 private:
  static std::optional<mx::array> key_of(mx::random::KeySequence copy) {
    mx::array drawn = copy.next();
    while (drawn.has_primitive() && !drawn.inputs().empty()) {
      const bool draw = std::string_view(drawn.primitive().name()) == "RandomBits";
      const mx::array input = drawn.inputs()[0];
      if (draw) return input;
      drawn = input;
    }
    return std::nullopt;
  }

  bool draws_count_ = false;
  mx::random::KeySequence saved_ = mx::random::KeySequence::default_();
  std::optional<mx::array> key_ = key_of(saved_);
};

// The arrays that the graphs of two runs share: what f did not make anew, and was not given.
std::vector<captured_array> shared_arrays(const raw_trace& first, const raw_trace& second,
                                          std::span<const mx::array* const> inputs,
                                          const saved_random_state& random_state) {
  std::unordered_set<std::uintptr_t> in_first;
  const auto add_to_first = [&](const mx::array& a) { in_first.insert(a.id()); };
  for_each_array(first.outputs, [&](const mx::array& a) { return in_first.contains(a.id()); }, add_to_first);
  for (const auto& placeholder : first.inputs) in_first.erase(placeholder.id());

  std::vector<captured_array> captured;
  std::unordered_set<std::uintptr_t> done;
  for (const auto& placeholder : second.inputs) done.insert(placeholder.id());
  const auto report = [&](const mx::array& a, const char* user) {
    if (!in_first.contains(a.id()) || !done.insert(a.id()).second) return;
    const auto same = std::find_if(inputs.begin(), inputs.end(), [&](const auto* x) { return x->id() == a.id(); });
    using origin = captured_array::origin;
    captured.push_back(
        {random_state.has_key(a)                        ? origin::random_state
         : a.status() == mx::array::Status::unscheduled ? origin::pending
                                                        : origin::data,
         a.shape(), a.dtype(), user,
         same == inputs.end() ? std::nullopt : std::optional(static_cast<std::size_t>(same - inputs.begin()))});
  };
  for_each_array(
      second.outputs, [&](const mx::array& a) { return in_first.contains(a.id()) || done.contains(a.id()); },
      [&](const mx::array& a) {
        done.insert(a.id());
        for (const auto& input : a.inputs()) report(input, a.primitive().name());
      });
  for (const auto& output : second.outputs) report(output, "");
  return captured;
}

}  // namespace

captures_arrays::captures_arrays(std::vector<captured_array> found)
    : std::invalid_argument("espalier: a traced function uses arrays that are neither its inputs nor made by it"),
      arrays(std::move(found)) {}

std::string captured_array::to_string(std::span<const std::string> input_names) const {
  const std::string array = describe(shape, dtype) + " array";
  std::string text = from == origin::random_state ? "the key of MLX's global random state"
                     : from == origin::pending    ? "unevaluated " + array
                                                  : array;
  if (input) {
    text += ", which is also ";
    text += *input < input_names.size() ? input_names[*input] : "input " + std::to_string(*input);
  }
  return text + (used_by.empty() ? ", returned" : ", used by " + used_by);
}

// --- Recording. ------------------------------------------------------------------------------------------------------

mlx_plan mlx_plan::record(std::span<const mx::array* const> inputs, const array_function<mx::array>& f,
                          const record_options& options) {
  // On a thread without a default stream, the call that creates it would miss its own entry and trace twice.
  mx::default_stream(mx::default_device());

  // Both runs draw from the same state, so that its key is the only array of it in both graphs.
  std::optional<raw_trace> first_run;
  std::optional<saved_random_state> random_state;
  if (options.check_captures) {
    random_state.emplace();
    first_run = trace_raw(inputs, f);
    random_state->restore();
  }

  // (One more than none: by their ids one sees whether MLX compiles, or just calls.)
  std::vector<mx::array> placeholders = placeholders_for(inputs);
  if (inputs.empty()) placeholders.push_back(mx::array(mx::Shape{}, mx::float32, nullptr, {}));
  const auto without_extra = [&](const std::vector<mx::array>& x) {
    return inputs.empty() ? std::vector<mx::array>{} : x;
  };

  // MLX's optimiser recurses, 192 bytes a level on x86-64, and dies where the stack ends: deeper graphs stay
  // as they are.
  constexpr std::size_t max_depth = 20000;
  std::optional<mlx_plan> as_built;

  // The lambda captures, so MLX gives it a fresh id and erases its cache entry with `compiled` (after a throw
  // too).
  const auto trace = [&](const std::vector<mx::array>& traced) {
    const bool compiling = traced[0].id() != placeholders[0].id();
    const std::vector<mx::array> x = without_extra(traced);
    if (options.shapeless && !compiling) {
      throw std::invalid_argument(
          "espalier: a shapeless trace needs MLX's compilation, which is disabled. Enable it, or trace each shape by "
          "itself.");
    }
    auto outputs = f(x);
    const std::size_t depth = checked_depth(x, outputs);
    if (first_run) {
      auto captured = shared_arrays(*first_run, {x, outputs}, inputs, *random_state);
      first_run.reset();
      if (!captured.empty()) throw captures_arrays(std::move(captured));
      random_state->let_draws_count();
    }
    if (depth > max_depth && options.shapeless) {
      throw std::invalid_argument(
          "espalier: a shapeless trace needs MLX's compilation, and this graph is too deep for it (more than 20,000 "
          "operations one after the other). Trace each shape by itself.");
    }
    if (depth > max_depth || !compiling) {
      as_built = recorder(x).list(outputs, false, false);
      outputs.clear();
    }
    return outputs;
  };
  const auto compiled = mx::compile(array_function<mx::array>(trace), options.shapeless);
  const auto outputs = compiled(placeholders);
  if (as_built) return *std::move(as_built);
  return recorder(without_extra(placeholders)).list(outputs, options.shapeless, true);
}

// --- Replaying. ------------------------------------------------------------------------------------------------------

void mlx_plan::replay(std::span<const mx::array* const> inputs, std::vector<mx::array>& values) const {
  shapeless_ ? build<true>(inputs, values) : build<false>(inputs, values);
}

template <bool Shapeless>
void mlx_plan::build(std::span<const mx::array* const> inputs, std::vector<mx::array>& values) const {
  values.reserve(num_values());
  for (const auto& s : steps_) {
    std::vector<mx::array> arguments;
    arguments.reserve(s.operands_end - s.operands_begin);
    for (auto i = s.operands_begin; i != s.operands_end; ++i) {
      const operand o = operands_[i];
      switch (o.from) {
        case source::input:
          arguments.push_back(*inputs[o.index]);
          break;
        case source::constant:
          arguments.push_back(constants_[o.index]);
          break;
        case source::value:
          arguments.push_back(values[o.index]);
          break;
        case source::last_use:
          arguments.push_back(std::move(values[o.index]));
          break;
      }
    }
    if constexpr (Shapeless) {
      auto shapes = s.primitive->output_shapes(arguments);
      if (s.siblings) {
        append_siblings(values, s, std::move(shapes), std::move(arguments));
      } else {
        values.emplace_back(std::move(shapes[0]), s.dtype, s.primitive, std::move(arguments));
      }
    } else if (s.siblings) {
      append_siblings(values, s, siblings_[*s.siblings].shapes, std::move(arguments));
    } else {
      values.emplace_back(s.shape, s.dtype, s.primitive, std::move(arguments));
    }
  }
  for (const auto constant : constant_outputs_) values.push_back(constants_[constant]);
}

// As mx::array::make_arrays, without the copies that it makes to drop them.
void mlx_plan::append_siblings(std::vector<mx::array>& values, const step& s, std::vector<mx::Shape> shapes,
                               std::vector<mx::array> arguments) const {
  const std::vector<mx::Dtype>& dtypes = siblings_[*s.siblings].dtypes;
  const std::size_t n = dtypes.size();
  const std::size_t first = values.size();
  for (std::size_t i = 0; i + 1 < n; ++i) values.emplace_back(std::move(shapes[i]), dtypes[i], s.primitive, arguments);
  values.emplace_back(std::move(shapes[n - 1]), dtypes[n - 1], s.primitive, std::move(arguments));
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<mx::array> others;
    others.reserve(n - 1);
    for (std::size_t j = 0; j < n; ++j) {
      if (j != i) others.push_back(values[first + j]);
    }
    values[first + i].set_siblings(std::move(others), static_cast<std::uint16_t>(i));
  }
}

// --- Drawing. --------------------------------------------------------------------------------------------------------

std::string mlx_plan::to_dot() const {
  std::string dot = "digraph plan {\n  node [shape=box];\n";
  const auto node = [&](const std::string& id, const std::string& label, const char* shape) {
    dot += "  " + id + " [label=" + dot_quoted(label) + ", shape=" + shape + "];\n";
  };

  struct origin {
    std::string step;
    std::string edge;
  };
  std::vector<origin> values;  // the step that each value comes from
  const auto edge = [&](operand from, const std::string& to) {
    if (from.from == source::input) {
      dot += "  input" + std::to_string(from.index) + " -> " + to + ";\n";
    } else if (from.from == source::constant) {
      dot += "  constant" + std::to_string(from.index) + " -> " + to + ";\n";
    } else {
      dot += "  " + values[from.index].step + " -> " + to + values[from.index].edge + ";\n";
    }
  };

  for (std::size_t i = 0; i < num_inputs_; ++i) {
    node("input" + std::to_string(i), "input " + std::to_string(i) + "\n" + input_descriptions_[i], "ellipse");
  }
  for (std::size_t i = 0; i < constants_.size(); ++i) {
    node("constant" + std::to_string(i), "constant\n" + describe_value(constants_[i]), "plaintext");
  }
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const step& s = steps_[i];
    const std::string id = "step" + std::to_string(i);
    std::string label = s.primitive->name();
    if (!s.siblings) {
      label += "\n" + describe(s.shape, s.dtype);
      values.push_back({id, ""});
    } else {
      const auto& all = siblings_[*s.siblings];
      for (std::size_t n = 0; n < all.shapes.size(); ++n) {
        label.append("\n").append(std::to_string(n)).append(": ").append(describe(all.shapes[n], all.dtypes[n]));
        values.push_back({id, " [label=\"" + std::to_string(n) + "\"]"});
      }
    }
    node(id, label, "box");
    for (auto o = s.operands_begin; o != s.operands_end; ++o) edge(operands_[o], id);
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const auto [is_input, index] = outputs_[i];
    const std::string id = "output" + std::to_string(i);
    node(id, "output " + std::to_string(i), "ellipse");
    if (is_input) {
      edge({source::input, index}, id);
    } else if (index < num_values_) {
      edge({source::value, index}, id);
    } else {
      edge({source::constant, constant_outputs_[index - num_values_]}, id);
    }
  }
  return dot + "}\n";
}

}  // namespace espalier::detail
