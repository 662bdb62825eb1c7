// What one tells a compiled function, and what it tells: options, statistics, a log of traces, errors.
//
//   auto step = espalier::compile<espalier::compile_options{.max_traces = 3}>(train_step);
//   espalier::set_compile_log([](const espalier::compile_event& e) { std::clog << e.function << '\n' << e.reason << '\n'; });
#pragma once

#include <cstddef>
#include <cstdlib>
#include <espalier/errors.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace espalier {

namespace detail {
#ifdef NDEBUG
constexpr bool debug_build = false;
#else
constexpr bool debug_build = true;
#endif
}  // namespace detail

struct compile_options {
  // The most traces that may be needed for one list of argument types in one place (a device and stream; with MLX, each
  // thread is one); another one throws retrace_error. 0: any number. clear() starts anew.
  std::size_t max_traces = 0;
  // The most traces that are kept for one list of argument types, over all places: of more, the least recently used is
  // dropped. 0: any number.
  std::size_t max_entries = 0;
  // Runs the function as it is beside every call, on copies, and throws check_error where results or state differ: for tests
  // and to find a function that is no function of its arguments. Evaluates both.
  bool check = false;
  // One trace for all shapes of the same ranks, as mx::compile(f, true) and mx.compile(f, shapeless=True). What the function
  // reads of shapes itself stays as it was in the trace, and the engine checks shapes no more: pass only what the function
  // accepts (`check` finds out). Throws trace_error where an operation cannot tell its shape.
  bool shapeless = false;
  // Looks for captures before a trace is kept: arrays that the function reaches through globals, statics or pointers instead
  // of its arguments, and draws from the engine's global random state. A trace would keep them as they are, and replay them;
  // they are named in a trace_error. To find them the function runs twice. Not seen: arrays of which it reads only shape or
  // value, globals that are no arrays, and arrays on which no result depends. On where NDEBUG is not defined.
  bool check_captures = detail::debug_build;
};

// What a compiled function has done so far.
struct compile_stats {
  std::size_t traces = 0;   // traces that were made
  std::size_t hits = 0;     // calls that found a trace
  std::size_t entries = 0;  // traces that are kept
  std::size_t unoptimised =
      0;                     // of these: replayed as the function built them, since the engine could not optimise them
  std::string last_retrace;  // what differed from the call before, by key path; empty after a first trace
};

// A compiled function was about to trace more often than its max_traces option allows.
struct retrace_error : error {
  using error::error;
};

// A function cannot be traced: it read a traced value, let one escape, uses captured arrays, or its arguments share objects.
struct trace_error : error {
  using error::error;
};

// A compiled call and the plain call gave different results (compile_options::check); `differences` has their key paths.
struct check_error : error {
  check_error(const std::string& what, std::vector<mismatch> where)
      : error(describe_mismatches(what, where)), differences(std::move(where)) {}

  std::vector<mismatch> differences;
};

// A trace that was made.
struct compile_event {
  std::string function;  // the callable's type, as the compiler spells it
  std::string reason;    // compile_stats::last_retrace
  double seconds = 0;    // from the miss to the recorded trace
};

namespace detail {

struct compile_log {
  std::mutex mutex;
  std::shared_ptr<const std::function<void(const compile_event&)>> hook;

  static compile_log& instance() {
    static compile_log log;
    return log;
  }
  std::shared_ptr<const std::function<void(const compile_event&)>> get() {
    const std::lock_guard lock(mutex);
    return hook;
  }
};

// Whether ESPALIER_DISABLE_COMPILE is set (to anything but 0): functions then run as they are. Read once.
inline bool compile_disabled() {
  static const bool disabled = [] {
    const char* value = std::getenv("ESPALIER_DISABLE_COMPILE");
    return value != nullptr && std::string_view(value) != "0" && *value != '\0';
  }();
  return disabled;
}

}  // namespace detail

// Calls `hook` after every trace of any compiled function, on the thread that traced; an empty function ends it. What the
// hook throws, the call throws, though the trace is kept.
inline void set_compile_log(std::function<void(const compile_event&)> hook) {
  detail::compile_log& log = detail::compile_log::instance();
  auto made = hook ? std::make_shared<const std::function<void(const compile_event&)>>(std::move(hook)) : nullptr;
  const std::lock_guard lock(log.mutex);
  log.hook = std::move(made);
}

}  // namespace espalier
