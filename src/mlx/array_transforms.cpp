#include <mlx/ops.h>
#include <mlx/primitives.h>
#include <mlx/transforms.h>

#include <algorithm>
#include <cstdint>
#include <espalier/mlx/array.hpp>
#include <espalier/mlx/detail/array_transforms.hpp>
#include <espalier/mlx/engine.hpp>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace espalier::detail {

namespace mx = ::mlx::core;

namespace {

using arrays = std::vector<mx::array>;
using ids = std::unordered_set<std::uintptr_t>;

ids ids_of(const arrays& all) {
  ids found;
  for (const mx::array& a : all) found.insert(a.id());
  return found;
}

// Calls done(a) once for each operation behind these arrays, inputs first, but for what is behind `ends`. With a stack
// of its own: a graph may be deeper than a thread's stack.
template <class Done> void for_each_operation(const arrays& outputs, const ids& ends, const Done& done) {
  struct frame {
    const mx::array* node;
    std::size_t next_input;
  };
  ids seen = ends;
  std::vector<frame> stack;
  const auto enter = [&](const mx::array& a) {
    if (seen.contains(a.id())) return;
    for (const mx::array& output : a.outputs()) seen.insert(output.id());
    stack.push_back({&a, 0});
  };
  for (const mx::array& output : outputs) {
    enter(output);
    while (!stack.empty()) {
      frame& top = stack.back();
      if (top.next_input < top.node->inputs().size()) {
        enter(top.node->inputs()[top.next_input++]);
      } else {
        done(*top.node);
        stack.pop_back();
      }
    }
  }
}

// The operations behind `outputs` that depend on `inputs`, inputs first.
arrays dependents(const arrays& outputs, const arrays& inputs) {
  ids reached = ids_of(inputs);
  const ids ends = reached;
  arrays found;
  for_each_operation(outputs, ends, [&](const mx::array& a) {
    const auto& in = a.inputs();
    if (std::none_of(in.begin(), in.end(), [&](const mx::array& i) { return reached.contains(i.id()); })) return;
    for (const mx::array& output : a.outputs()) reached.insert(output.id());
    found.push_back(a);
  });
  return found;
}

// MLX's vjp takes no cotangent for such an output.
bool is_stopped(const mx::array& a) {
  return a.has_primitive() && std::string_view(a.primitive().name()) == "StopGradient";
}

arrays joined(const arrays& a, const arrays& b, const arrays& c) {
  arrays all = a;
  all.insert(all.end(), b.begin(), b.end());
  all.insert(all.end(), c.begin(), c.end());
  return all;
}

std::pair<arrays, std::vector<int>> mapped_with_vjp(const mlx_function& f, const mlx_vjp_rule& rule,
                                                    const arrays& inputs, const std::vector<int>& axes) {
  const mlx_vjp_rule rule_of_all = [rule, axes](const arrays& primals, const arrays& cotangents,
                                                const arrays& outputs) {
    std::vector<int> all_axes = axes;
    all_axes.resize(axes.size() + cotangents.size() + outputs.size(), 0);
    const auto one = [&](const arrays& x) {
      const auto first_cotangent = x.begin() + static_cast<std::ptrdiff_t>(primals.size());
      const auto first_output = first_cotangent + static_cast<std::ptrdiff_t>(cotangents.size());
      return rule({x.begin(), first_cotangent}, {first_cotangent, first_output}, {first_output, x.end()});
    };
    arrays gradients = mx::vmap(mlx_function(one), all_axes)(joined(primals, cotangents, outputs));
    for (std::size_t i = 0; i < gradients.size(); ++i) {  // what is the same for all gets the sum
      gradients[i] = axes[i] < 0 ? mx::sum(gradients[i], 0) : mx::moveaxis(gradients[i], 0, axes[i]);
    }
    return gradients;
  };
  arrays outputs = with_vjp(mx::vmap(f, axes), rule_of_all)(inputs);
  std::vector<int> out_axes(outputs.size(), 0);
  return {std::move(outputs), std::move(out_axes)};
}

// The first inputs, not before the others are there, as MLX's depends; that has no vmap and no jvp.
class ordered_after final : public mx::Primitive {
 public:
  static arrays apply(const arrays& first, const arrays& others) {
    const mx::array& some = others.front();
    const mx::Stream stream =
        some.has_primitive() ? some.primitive().stream() : mx::default_stream(mx::default_device());
    std::vector<mx::Shape> shapes;
    std::vector<mx::Dtype> dtypes;
    for (const mx::array& a : first) {
      shapes.push_back(a.shape());
      dtypes.push_back(a.dtype());
    }
    return mx::array::make_arrays(std::move(shapes), dtypes, std::make_shared<ordered_after>(stream, first.size()),
                                  joined(first, others, {}));
  }

  ordered_after(mx::Stream stream, std::size_t passed) : mx::Primitive(stream), passed_(passed) {}

  void eval_cpu(const arrays& inputs, arrays& outputs) override { pass(inputs, outputs); }
  void eval_gpu(const arrays& inputs, arrays& outputs) override { pass(inputs, outputs); }
  const char* name() const override { return "OrderedAfter"; }

  arrays vjp(const arrays& primals, const arrays& cotangents, const std::vector<int>& argnums, const arrays&) override {
    arrays result;
    for (const int i : argnums) {
      const auto k = static_cast<std::size_t>(i);
      result.push_back(k < cotangents.size() ? cotangents[k] : mx::zeros_like(primals[k]));
    }
    return result;
  }
  arrays jvp(const arrays& primals, const arrays& tangents, const std::vector<int>& argnums) override {
    arrays result;
    for (std::size_t k = 0; k < passed_; ++k) result.push_back(mx::zeros_like(primals[k]));
    for (std::size_t i = 0; i < argnums.size(); ++i) {
      const auto k = static_cast<std::size_t>(argnums[i]);
      if (k < passed_) result[k] = tangents[i];
    }
    return result;
  }
  std::pair<arrays, std::vector<int>> vmap(const arrays& inputs, const std::vector<int>& axes) override {
    int examples = 0;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (axes[k] >= 0) examples = inputs[k].shape(axes[k]);
    }
    arrays first(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(passed_));
    std::vector<int> first_axes(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(passed_));
    for (std::size_t k = 0; k < passed_; ++k) {
      if (axes[k] >= 0) continue;
      mx::Shape shape = first[k].shape();
      shape.insert(shape.begin(), examples);
      first[k] = mx::broadcast_to(mx::expand_dims(first[k], 0), shape);
      first_axes[k] = 0;
    }
    return {apply(first, {inputs.begin() + static_cast<std::ptrdiff_t>(passed_), inputs.end()}), first_axes};
  }

 private:
  static void pass(const arrays& inputs, arrays& outputs) {
    for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i].copy_shared_buffer(inputs[i]);
  }

  std::size_t passed_;
};

}  // namespace

mlx_pullback::mlx_pullback(const mlx_function& f, const arrays& primals) {
  // MLX looks at the cotangents after it has run the function, which is when their shapes are known.
  arrays asked;
  const auto traced = [&](const arrays& x) {
    arrays outputs;
    ids returned;
    for (const mx::array& output : f(x)) {
      cotangents_.emplace_back(output.shape(), output.dtype(), nullptr, arrays{});
      if (is_stopped(output)) continue;
      // (Of an output that is returned twice, MLX would drop the second cotangent.)
      outputs.push_back(returned.insert(output.id()).second ? output : mx::copy(output));
      asked.push_back(cotangents_.back());
    }
    return outputs;
  };
  vjps_ = mx::vjp(traced, primals, asked).second;
  steps_ = dependents(vjps_, asked);
}

arrays mlx_pullback::operator()(const arrays& cotangents) const {
  std::unordered_map<std::uintptr_t, mx::array> made;
  const auto current = [&](const mx::array& a) {
    const auto found = made.find(a.id());
    return found == made.end() ? a : found->second;
  };
  const auto all_current = [&](const arrays& all) {
    arrays result;
    result.reserve(all.size());
    for (const mx::array& a : all) result.push_back(current(a));
    return result;
  };
  for (std::size_t i = 0; i < cotangents.size(); ++i) made.emplace(cotangents_[i].id(), cotangents[i]);
  for (const mx::array& step : steps_) {
    if (step.siblings().empty()) {
      made.emplace(step.id(), mx::array(step.shape(), step.dtype(), step.primitive_ptr(), all_current(step.inputs())));
      continue;
    }
    const arrays outputs = step.outputs();
    std::vector<mx::Shape> shapes;
    std::vector<mx::Dtype> dtypes;
    for (const mx::array& output : outputs) {
      shapes.push_back(output.shape());
      dtypes.push_back(output.dtype());
    }
    const arrays again =
        mx::array::make_arrays(std::move(shapes), dtypes, step.primitive_ptr(), all_current(step.inputs()));
    for (std::size_t i = 0; i < outputs.size(); ++i) made.emplace(outputs[i].id(), again[i]);
  }
  return all_current(vjps_);
}

bool transforming() { return engines::mlx::transforming(); }

bool depends_on(const mx::array& a, const arrays& inputs) {
  return ids_of(inputs).contains(a.id()) || !dependents({a}, inputs).empty();
}

mlx_function with_vjp(mlx_function f, mlx_vjp_rule rule) {
  const auto map = [f, rule](const arrays& inputs, const std::vector<int>& axes) {
    return mapped_with_vjp(f, rule, inputs, axes);
  };
  return mx::custom_function(std::move(f), std::move(rule), std::nullopt, map);
}

mlx_function recomputed(mlx_function f) {
  const auto rule = [f](const arrays& primals, const arrays& cotangents, const arrays& outputs) {
    arrays all = ordered_after::apply(primals, outputs);  // or it would be computed with the outputs
    arrays parameters;
    for (const mx::array& a : all) {
      if (array_traits<mx::array>::differentiable(a)) parameters.push_back(a);
    }
    const auto of_parameters = [&](const arrays& x) {
      arrays inputs = all;
      auto next = x.begin();
      for (mx::array& a : inputs) {
        if (array_traits<mx::array>::differentiable(a)) a = *next++;
      }
      return f(inputs);
    };
    const arrays gradients = mlx_pullback(of_parameters, parameters)(cotangents);
    arrays result;
    auto next = gradients.begin();
    for (const mx::array& a : primals) {
      result.push_back(array_traits<mx::array>::differentiable(a) ? *next++ : mx::zeros_like(a));
    }
    return result;
  };
  return with_vjp(std::move(f), rule);
}

}  // namespace espalier::detail
