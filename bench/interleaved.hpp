// Runs benchmarks interleaved and keeps the shortest time of each, so that a change of the machine's speed meets both
// sides of a ratio, and noise, which only ever adds, drops out.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
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

// Takes a flag out of the arguments; whether it was there.
inline bool take_flag(int& argc, char** argv, const std::string& flag) {
  char** const end = std::remove(argv + 1, argv + argc, flag);
  const bool there = end != argv + argc;
  argc = static_cast<int>(end - argv);
  return there;
}

// Registers a benchmark of work().
template <class Work> void measure(const std::string& name, Work work) {
  benchmark::RegisterBenchmark(name.c_str(), [work](benchmark::State& state) {
    for (auto _ : state) {
      work();
      benchmark::ClobberMemory();
    }
  });
}

// `time NAME NANOSECONDS` for each, which the scripts of the peers read.
inline void print_times(const shortest_times& times) {
  for (const auto& [name, nanoseconds] : times) std::printf("time %s %.2f\n", name.c_str(), nanoseconds);
}

// A table of `hand/CASE` and `tree/CASE`, then `GROUP/CASE/time ratio R`. `one` says what took the time.
inline void print_ratios(const shortest_times& times, const std::string& group, const char* one,
                         const std::vector<std::string>& cases) {
  std::string headlines;
  std::printf("\nTime of one %s, the shortest of the repetitions:\n  %-28s %12s %12s %8s\n", one, "case", "by hand, ns",
              "espalier, ns", "ratio");
  for (const std::string& name : cases) {
    if (!times.has("hand/" + name) || !times.has("tree/" + name)) continue;
    const double by_hand = times["hand/" + name];
    const double by_tree = times["tree/" + name];
    std::printf("  %-28s %12.1f %12.1f %8.3f\n", name.c_str(), by_hand, by_tree, by_tree / by_hand);
    char ratio[16];
    std::snprintf(ratio, sizeof ratio, "%.2f", by_tree / by_hand);
    headlines += group + "/" + name + "/time ratio " + ratio + "\n";
  }
  std::printf("\n%s", headlines.c_str());
}

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
