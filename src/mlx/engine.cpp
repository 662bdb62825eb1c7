#include <mlx/device.h>
#include <mlx/stream.h>

#include <espalier/mlx/engine.hpp>
#include <optional>

namespace espalier {

namespace mx = ::mlx::core;

template class detail::trace_cache<engines::mlx>;

engines::mlx::place engines::mlx::current_place() {
  const mx::Device device = mx::default_device();
  return {static_cast<int>(device.type), device.index, mx::default_stream(device).index};
}

std::string engines::mlx::describe_signature(const array& a, bool shapeless) {
  std::string text = describe_value(a);
  if (!shapeless) return text;
  text.resize(text.find('['));
  for (std::size_t i = 0; i < a.ndim(); ++i) text += i == 0 ? "[?" : ", ?";
  return text + (a.ndim() == 0 ? "[]" : "]");
}

bool engines::mlx::transforming() {
  // An array that is marked as a tracer answers is_tracer() with whether any transformation is under way: MLX exports
  // no function that does.
  thread_local const mx::array probe = [] {
    mx::array marked(mx::Shape{}, mx::float32, nullptr, {});
    marked.set_tracer(true);
    return marked;
  }();
  return probe.is_tracer();
}

std::optional<std::string> engines::mlx::explain(const std::exception& failure, std::span<const std::string> names) {
  const std::string what = failure.what();
  const bool evaluated = what.find("[eval] Attempting to eval an array") != std::string::npos ||
                         what.find("[async_eval] Not allowed inside a graph transformation") != std::string::npos ||
                         what.find("item() const can only be called on evaled arrays") != std::string::npos;
  if (evaluated) {
    return "evaluated an array while it was traced (item(), eval() or the like). Inside a compiled function arrays "
           "have no "
           "values yet: return the array and read it after the call. MLX said: " +
           what;
  }
  if (what.find("cannot infer output shapes") != std::string::npos) {
    return "cannot have one trace for all shapes: an operation does not tell what shape it gives. Compile it without "
           "compile_options::shapeless. MLX said: " +
           what;
  }
  if (const auto* captures = dynamic_cast<const detail::captures_arrays*>(&failure)) {
    std::string text = "uses arrays that are not its arguments, and that its trace would keep as they are now:";
    bool draws = false;
    bool others = false;
    for (const detail::captured_array& a : captures->arrays) {
      text += "\n  " + a.to_string(names);
      (a.from == detail::captured_array::origin::random_state ? draws : others) = true;
    }
    if (draws) text += "\n  To draw random numbers, pass a key: an array leaf that the caller changes.";
    if (others) {
      text +=
          "\n  Pass them as arguments; if they are meant to be constants, also those that the function keeps in a "
          "static, compile with compile_options{.check_captures = false}.";
    }
    return text;
  }
  if (dynamic_cast<const detail::escaped_array*>(&failure)) return "cannot be traced: " + what;
  return std::nullopt;
}

}  // namespace espalier
