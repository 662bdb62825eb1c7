#include <mlx/device.h>
#include <mlx/stream.h>

#include <espalier/mlx/engine.hpp>

namespace espalier {

namespace mx = ::mlx::core;

template class detail::trace_cache<engines::mlx>;

engines::mlx::place engines::mlx::current_place() {
  const mx::Device device = mx::default_device();
  return {static_cast<int>(device.type), device.index, mx::default_stream(device).index};
}

namespace {

std::uint64_t mixed(std::uint64_t seed, std::uint64_t value) {
  return (seed ^ value) * 0x9e3779b97f4a7c15u + (seed >> 29);
}

}  // namespace

std::uint64_t engines::mlx::hash(std::uint64_t seed, const array& a) {
  seed = mixed(seed, static_cast<std::uint64_t>(a.dtype().val()));
  seed = mixed(seed, a.ndim());
  for (const mx::ShapeElem n : a.shape()) seed = mixed(seed, static_cast<std::uint64_t>(n));
  return seed;
}

std::uint64_t engines::mlx::hash(std::uint64_t seed, const place& p) {
  seed = mixed(seed, static_cast<std::uint64_t>(p.device_type));
  seed = mixed(seed, static_cast<std::uint64_t>(p.device_index));
  return mixed(seed, static_cast<std::uint64_t>(p.stream));
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

std::optional<std::string> engines::mlx::explain(const std::exception& failure) {
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
  if (dynamic_cast<const detail::escaped_array*>(&failure)) return "cannot be traced. " + what;
  return std::nullopt;
}

}  // namespace espalier
