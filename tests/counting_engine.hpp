// A second engine, of a few lines and without MLX: what espalier::compile needs of an engine, and no more. Its arrays
// are computed at once, but not inside a trace; it counts what the cache asks it to do.
//
//   auto twice = espalier::compile([](const counting::array& x) { return x + x; });
//   twice(counting::array(2.0));        // counting::counts().records is now 1
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <espalier/describe_value.hpp>
#include <espalier/engine.hpp>
#include <espalier/leaf.hpp>
#include <espalier/parameters.hpp>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace counting {

struct counters {
  std::size_t records = 0;
  std::size_t replays = 0;
  std::size_t signatures = 0;
  std::size_t eager_ops = 0;  // computed outside traces and replays
  long live_arrays = 0;       // handles, blank and moved-from ones too
};

inline counters& counts() {
  static counters all;
  return all;
}

// The device that arrays are computed on, which traces depend on; and whether a trace is under way.
inline int device = 0;
inline int traces_under_way = 0;

// A traced array has no values that could be read.
struct no_value : std::logic_error {
  no_value() : std::logic_error("counting: a traced array was read") {}
};

enum class op { none, add, multiply };
using shape_type = std::vector<std::size_t>;

class array {
 public:
  // A node of an expression: data (`values`), a placeholder (neither values nor inputs), or an operation.
  struct node {
    shape_type shape;
    std::optional<std::vector<double>> values;
    op operation = op::none;
    std::vector<array> inputs;
  };

  explicit array(double value) : array(shape_type{}, {value}) {}
  array(shape_type shape, std::vector<double> values)
      : node_(std::make_shared<const node>(node{std::move(shape), std::move(values), op::none, {}})) {}
  explicit array(std::shared_ptr<const node> n) : node_(std::move(n)) {}

  static array placeholder(shape_type shape) {
    return array(std::make_shared<const node>(node{std::move(shape), std::nullopt, op::none, {}}));
  }
  static array blank() { return array(std::shared_ptr<const node>()); }

  const shape_type& shape() const { return node_->shape; }
  bool has_values() const { return node_->values.has_value(); }
  const std::vector<double>& values() const {
    if (!has_values()) throw no_value();
    return *node_->values;
  }
  double value() const { return values().at(0); }

  const node* id() const { return node_.get(); }

 private:
  // Counts the handle that it is a member of.
  struct counted {
    counted() { ++counts().live_arrays; }
    counted(const counted&) : counted() {}
    counted(counted&&) noexcept : counted() {}
    counted& operator=(const counted&) = default;
    counted& operator=(counted&&) = default;
    ~counted() { --counts().live_arrays; }
  };

  std::shared_ptr<const node> node_;
  [[no_unique_address]] counted counted_;
};

// Element by element; a scalar goes with any shape.
inline shape_type common_shape(const array& a, const array& b) {
  if (a.shape() == b.shape() || b.shape().empty()) return a.shape();
  if (a.shape().empty()) return b.shape();
  throw std::invalid_argument("counting: the shapes differ");
}

inline array compute(op operation, const array& a, const array& b) {
  shape_type shape = common_shape(a, b);
  std::vector<double> values;
  const std::size_t size = std::max(a.values().size(), b.values().size());
  for (std::size_t i = 0; i < size; ++i) {
    const double x = a.values()[a.values().size() == 1 ? 0 : i];
    const double y = b.values()[b.values().size() == 1 ? 0 : i];
    values.push_back(operation == op::add ? x + y : x * y);
  }
  return array(std::move(shape), std::move(values));
}

inline array apply(op operation, const array& a, const array& b) {
  if (traces_under_way > 0) {
    return array(std::make_shared<const array::node>(array::node{common_shape(a, b), std::nullopt, operation, {a, b}}));
  }
  ++counts().eager_ops;
  return compute(operation, a, b);
}

inline array operator+(const array& a, const array& b) { return apply(op::add, a, b); }
inline array operator*(const array& a, const array& b) { return apply(op::multiply, a, b); }

}  // namespace counting

template <> struct espalier::value_description<counting::array> {
  static std::string describe(const counting::array& a) {
    std::string text = "counting[";
    for (std::size_t i = 0; i < a.shape().size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(a.shape()[i]);
    return text + "]";
  }
};

namespace counting {

// A trace as a list of operations.
class plan {
 public:
  // Elementwise operations take any shapes, so that a plan is one for all anyway; what f captures is not looked for.
  static plan record(std::span<const array* const> inputs, const espalier::array_function<array>& f,
                     const espalier::record_options&) {
    ++counts().records;
    plan made;
    operands found;
    std::vector<array> placeholders;
    for (const array* input : inputs) {
      placeholders.push_back(array::placeholder(input->shape()));
      found.emplace(placeholders.back().id(), operand{from::input, placeholders.size() - 1});
    }
    const trace_scope scope;
    std::vector<operand> outputs;
    for (const array& output : f(placeholders)) outputs.push_back(made.add(output, found));
    for (const operand& o : outputs) made.add_output(o);
    return made;
  }

  std::span<const espalier::plan_output> outputs() const { return outputs_; }
  std::size_t num_values() const { return steps_.size() + constants_.size(); }
  bool optimised() const { return true; }

  // The values are those of the steps, and then the constants.
  void replay(std::span<const array* const> inputs, std::vector<array>& values) const {
    ++counts().replays;
    const auto read = [&](const operand& o) -> const array& {
      return o.source == from::input      ? *inputs[o.index]
             : o.source == from::constant ? constants_[o.index]
                                          : values[o.index];
    };
    values.reserve(num_values());
    for (const step& s : steps_) values.push_back(compute(s.operation, read(s.a), read(s.b)));
    values.insert(values.end(), constants_.begin(), constants_.end());
  }

 private:
  enum class from { input, constant, step };
  struct operand {
    from source;
    std::size_t index;
  };
  struct step {
    op operation;
    operand a, b;
  };
  struct trace_scope {
    trace_scope() { ++traces_under_way; }
    ~trace_scope() { --traces_under_way; }
    trace_scope(const trace_scope&) = delete;
    trace_scope& operator=(const trace_scope&) = delete;
  };

  // (After all steps are known, which come before the constants among the values.)
  void add_output(const operand& o) {
    const std::size_t index = o.source == from::constant ? steps_.size() + o.index : o.index;
    outputs_.push_back({o.source == from::input, static_cast<std::uint32_t>(index)});
  }

  using operands = std::unordered_map<const array::node*, operand>;

  operand add(const array& a, operands& found) {
    if (const auto known = found.find(a.id()); known != found.end()) return known->second;
    operand made{};
    if (a.has_values()) {
      made = {from::constant, constants_.size()};
      constants_.push_back(a);
    } else if (a.id()->operation == op::none) {
      throw no_value();  // the placeholder of another trace
    } else {
      const operand left = add(a.id()->inputs[0], found);
      const operand right = add(a.id()->inputs[1], found);
      made = {from::step, steps_.size()};
      steps_.push_back({a.id()->operation, left, right});
    }
    found.emplace(a.id(), made);
    return made;
  }

  std::vector<step> steps_;
  std::vector<array> constants_;
  std::vector<espalier::plan_output> outputs_;
};

struct engine {
  using array = counting::array;
  using plan = counting::plan;
  using place = int;

  static place current_place() { return device; }
  static void append_signature(std::vector<espalier::signature_word>& words, const array& a, bool shapeless) {
    ++counts().signatures;
    words.push_back(static_cast<espalier::signature_word>(a.shape().size() + 1));
    if (shapeless) return;
    for (const std::size_t n : a.shape()) words.push_back(static_cast<espalier::signature_word>(n));
  }
  static const espalier::signature_word* match_signature(const espalier::signature_word* words, const array& a,
                                                         bool shapeless) {
    if (*words++ != a.shape().size() + 1) return nullptr;
    if (shapeless) return words;
    for (const std::size_t n : a.shape()) {
      if (*words++ != static_cast<espalier::signature_word>(n)) return nullptr;
    }
    return words;
  }
  static std::string describe_signature(const array& a, bool shapeless) {
    return shapeless ? "counting of rank " + std::to_string(a.shape().size()) : espalier::describe_value(a);
  }
  static bool transforming() { return traces_under_way > 0; }
  static array blank() { return array::blank(); }
  static plan record(std::span<const array* const> inputs, const espalier::array_function<array>& f,
                     const espalier::record_options& options) {
    return plan::record(inputs, f, options);
  }
  static std::optional<std::string> explain(const std::exception& failure, std::span<const std::string>) {
    if (dynamic_cast<const no_value*>(&failure)) return "read a counting array that has no value";
    return std::nullopt;
  }
};

}  // namespace counting

template <> inline constexpr bool espalier::is_leaf_type<counting::array> = true;

template <> struct espalier::array_traits<counting::array> {
  using engine = counting::engine;
  static bool differentiable(const counting::array&) { return true; }
  static bool close(const counting::array& a, const counting::array& b) { return a.values() == b.values(); }
  static std::size_t elements(const counting::array& a) { return a.values().size(); }
  static std::size_t bytes(const counting::array& a) { return elements(a) * sizeof(double); }
};
