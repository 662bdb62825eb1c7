// Where the time of compiled functions goes: tracing, dispatch (the call, which builds MLX's graph), evaluation.
//
//   phase training{"training step"};
//   auto report = timed(training, step, state, batches);      // calls and evaluates
//   std::puts(table({training}).c_str());
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <espalier/mlx/eval.hpp>
#include <string>
#include <vector>

namespace train_lm {

struct phase {
  std::string name;
  std::size_t traces = 0, calls = 0;                         // calls that replayed a trace
  double trace = 0, first_eval = 0, dispatch = 0, eval = 0;  // seconds; first_eval: of calls that traced
};

// Calls f and evaluates its results and its arguments, which may be in-out.
template <class Compiled, class... Args> auto timed(phase& p, Compiled& f, Args&&... args) {
  using clock = std::chrono::steady_clock;
  const std::size_t traces = f.stats().traces;
  const auto begin = clock::now();
  auto result = f(args...);
  const auto called = clock::now();
  espalier::eval(result, args...);
  const std::chrono::duration<double> call = called - begin, evaluation = clock::now() - called;
  const bool traced = f.stats().traces > traces;
  ++(traced ? p.traces : p.calls);
  (traced ? p.trace : p.dispatch) += call.count();
  (traced ? p.first_eval : p.eval) += evaluation.count();
  return result;
}

// A line for each phase; dispatch and evaluation are means over the calls that replayed a trace.
inline std::string table(const std::vector<phase>& phases) {
  char line[128];
  std::snprintf(line, sizeof line, "%-14s %7s %9s %12s %8s %13s %10s\n", "", "traces", "trace ms", "1st eval ms",
                "calls", "dispatch us", "eval ms");
  std::string text = line;
  for (const phase& p : phases) {
    const double calls = p.calls == 0 ? 1 : static_cast<double>(p.calls);
    std::snprintf(line, sizeof line, "%-14s %7zu %9.1f %12.1f %8zu %13.1f %10.3f\n", p.name.c_str(), p.traces,
                  1e3 * p.trace, 1e3 * p.first_eval, p.calls, 1e6 * p.dispatch / calls, 1e3 * p.eval / calls);
    text += line;
  }
  return text;
}

}  // namespace train_lm
