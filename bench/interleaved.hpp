// Runs benchmarks interleaved and keeps the shortest time of each, so that a change of the machine's speed meets both
// sides of a ratio, and noise, which only ever adds, drops out.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace bench {

class shortest_times : public benchmark::ConsoleReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      const bool by_the_clock = !run.run_name.time_type.empty();  // UseRealTime() or UseManualTime() was asked for
      const double nanoseconds = by_the_clock ? run.GetAdjustedRealTime() : run.GetAdjustedCPUTime();
      const auto [place, added] = times_.emplace(run.run_name.function_name, nanoseconds);
      if (!added) place->second = std::min(place->second, nanoseconds);
    }
  }
  // Nanoseconds of one iteration of the benchmark with this name: of CPU time, or of the time that it asked for.
  double operator[](const std::string& name) const { return times_.at(name); }
  // Whether it ran: not if the user's filter left it out.
  bool has(const std::string& name) const { return times_.contains(name); }
  auto begin() const { return times_.begin(); }
  auto end() const { return times_.end(); }

 private:
  std::map<std::string, double> times_;
};

// Runs what has been registered. Flags that the user gave come later than our defaults, and win.
inline shortest_times run_interleaved(int argc, char** argv, const std::string& min_time = "0.02") {
  std::vector<std::string> flags{argv[0], "--benchmark_min_time=" + min_time, "--benchmark_repetitions=15",
                                 "--benchmark_enable_random_interleaving=true"};
  flags.insert(flags.end(), argv + 1, argv + argc);
  std::vector<char*> pointers;
  for (std::string& flag : flags) pointers.push_back(flag.data());
  int count = static_cast<int>(pointers.size());
  benchmark::Initialize(&count, pointers.data());
  shortest_times times;
  if (benchmark::ReportUnrecognizedArguments(count, pointers.data())) std::exit(1);
  benchmark::RunSpecifiedBenchmarks(&times);
  benchmark::ClearRegisteredBenchmarks();  // what they hold ends before the statics that it may need
  return times;
}

}  // namespace bench
