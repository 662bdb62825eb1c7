#include <mlx/compile.h>
#include <mlx/device.h>
#include <mlx/primitives.h>
#include <mlx/stream.h>

#include <algorithm>
#include <espalier/mlx/plan.hpp>
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
          throw std::invalid_argument(
              "espalier: a compiled function uses an array that has no value: it was made while another "
              "function was traced, and kept after that. Return such an array from the traced function "
              "instead of storing it.");
        }
        found.insert(a.id());
      });
}

}  // namespace

// Lists a graph in a plan.
class mlx_plan::recorder {
 public:
  explicit recorder(const std::vector<mx::array>& inputs) {
    plan_.num_inputs_ = inputs.size();
    std::uint32_t i = 0;
    for (const auto& input : inputs) found_.emplace(input.id(), operand{source::input, i++});
  }

  mlx_plan list(const std::vector<mx::array>& outputs) {
    for_each_array(
        outputs, [&](const mx::array& a) { return found_.contains(a.id()); },
        [&](const mx::array& a) { is_constant(a) ? add_constant(a) : add_step(a); });
    for (const auto& output : outputs) plan_.outputs_.push_back(found_.at(output.id()));
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

    std::optional<std::uint32_t> siblings;
    if (a.siblings().empty()) {
      add_value(a);
    } else {
      siblings = static_cast<std::uint32_t>(plan_.siblings_.size());
      auto& all = plan_.siblings_.emplace_back();
      for (const auto& output : a.outputs()) {
        add_value(output);
        all.shapes.push_back(output.shape());
        all.dtypes.push_back(output.dtype());
      }
    }
    plan_.steps_.push_back({a.primitive_ptr(), a.shape(), a.dtype(), begin, end, siblings});
  }

  void add_value(const mx::array& a) {
    found_.emplace(a.id(), operand{source::value, static_cast<std::uint32_t>(plan_.num_values_++)});
  }

  // A replay reads the operands in their order and then the outputs: the last use is the first one backwards.
  void mark_last_uses() {
    std::vector<bool> used(plan_.num_values_);
    const auto mark = [&](operand& o) {
      if (o.from != source::value || used[o.index]) return;
      used[o.index] = true;
      o.from = source::last_use;
    };
    std::for_each(plan_.outputs_.rbegin(), plan_.outputs_.rend(), mark);
    std::for_each(plan_.operands_.rbegin(), plan_.operands_.rend(), mark);
  }

  mlx_plan plan_;
  std::unordered_map<std::uintptr_t, operand> found_;
};

mlx_plan mlx_plan::record(std::span<const mx::array* const> inputs, const array_function& f) {
  // On a thread without a default stream, the call that creates it would miss its own entry and trace twice.
  mx::default_stream(mx::default_device());

  // Placeholders have ids of their own and no history: the same array given twice stays two inputs, and the
  // walk ends at an input that is itself an unevaluated graph.
  std::vector<mx::array> placeholders;
  placeholders.reserve(inputs.size());
  for (const auto* input : inputs) {
    placeholders.emplace_back(input->shape(), input->dtype(), nullptr, std::vector<mx::array>{});
  }

  // MLX's optimiser recurses, 192 bytes a level on x86-64, and dies where the stack ends: deeper graphs stay
  // as they are.
  constexpr std::size_t max_depth = 20000;
  std::optional<mlx_plan> too_deep;

  // The lambda captures, so MLX gives it a fresh id and erases its cache entry with `compiled` (after a throw
  // too).
  const auto compiled = mx::compile(array_function([&](const std::vector<mx::array>& x) {
    auto outputs = f(x);
    if (checked_depth(x, outputs) > max_depth) {
      too_deep = recorder(x).list(outputs);
      outputs.clear();
    }
    return outputs;
  }));
  const auto outputs = compiled(placeholders);
  return too_deep ? *std::move(too_deep) : recorder(placeholders).list(outputs);
}

void mlx_plan::omit_outputs(std::span<const std::size_t> passed_through) {
  std::vector<operand> kept;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (std::find(passed_through.begin(), passed_through.end(), i) == passed_through.end()) {
      kept.push_back(outputs_[i]);
    } else if (outputs_[i].from != source::input) {
      throw std::invalid_argument("espalier: only an output that passes an input through can be omitted from a plan");
    }
  }
  outputs_ = std::move(kept);
}

void mlx_plan::replay(std::span<const mx::array* const> inputs, std::vector<mx::array>& outputs) const {
  outputs.clear();
  outputs.reserve(outputs_.size());
  std::vector<mx::array> values;
  values.reserve(num_values_);

  const auto append = [&](std::vector<mx::array>& to, operand o) {
    switch (o.from) {
      case source::input:
        to.push_back(*inputs[o.index]);
        break;
      case source::constant:
        to.push_back(constants_[o.index]);
        break;
      case source::value:
        to.push_back(values[o.index]);
        break;
      case source::last_use:
        to.push_back(std::move(values[o.index]));
        break;
    }
  };

  for (const auto& s : steps_) {
    std::vector<mx::array> arguments;
    arguments.reserve(s.operands_end - s.operands_begin);
    for (auto i = s.operands_begin; i != s.operands_end; ++i) append(arguments, operands_[i]);
    if (!s.siblings) {
      values.emplace_back(s.shape, s.dtype, s.primitive, std::move(arguments));
    } else {
      const auto& all = siblings_[*s.siblings];
      for (auto& a : mx::array::make_arrays(all.shapes, all.dtypes, s.primitive, arguments)) {
        values.push_back(std::move(a));
      }
    }
  }
  for (const auto& o : outputs_) append(outputs, o);
}

}  // namespace espalier::detail
