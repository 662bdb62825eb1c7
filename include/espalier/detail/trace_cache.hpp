// The entries of one compiled function for one list of argument types: what a call looks up, and what a trace leaves
// behind. Depends on the engine, never on the user's types; an engine's library instantiates it once.
#pragma once

#include <cstdint>
#include <espalier/engine.hpp>
#include <espalier/errors.hpp>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace espalier {

// What a compiled function has done so far.
struct compile_stats {
  std::size_t traces = 0;    // times the function ran to be traced
  std::size_t hits = 0;      // calls that replayed a trace
  std::size_t entries = 0;   // traces that are kept
  std::string last_retrace;  // what differed from the call before, by key path; empty after a first trace
};

// A compiled function was about to trace more often than its max_traces option allows.
struct retrace_error : error {
  using error::error;
};

// A function cannot be traced: it read a traced value, or let one escape.
struct trace_error : error {
  using error::error;
};

namespace detail {

// One line of what a call looked like: a leaf's key path and description.
struct call_detail {
  std::string path;
  std::string text;
};

// "arg1.x: float32[64, 8] became float32[29, 8]", one line per difference.
std::string describe_retrace(const std::vector<call_detail>& before, const std::vector<call_detail>& now);

// What decides which trace serves a call, beside the types of its arguments.
template <class E> struct call_key {
  std::span<const typename E::array* const> inputs;  // the array leaves, in order
  const std::string& constants;                      // the encoding of everything else: dynamic structure, other leaves
};

template <class E> class trace_cache {
 public:
  struct entry {
    typename E::place place;
    std::vector<typename E::signature> inputs;
    std::string constants;
    typename E::plan plan;
    std::shared_ptr<const void> results;  // where outputs go: a type of the compiled function's own
    std::vector<call_detail> description;
  };
  using entry_ptr = std::shared_ptr<const entry>;

  // The entry that serves this call, or null. The last entry is tried first; otherwise the look-up is hashed. An equal
  // hash is never enough: signatures and bytes are compared.
  entry_ptr find(const call_key<E>& key) {
    const std::lock_guard lock(mutex_);
    const typename E::place place = E::current_place();
    if (last_ && serves(*last_, place, key)) {
      ++stats_.hits;
      return last_;
    }
    const auto [begin, end] = entries_.equal_range(hash(key));
    for (auto it = begin; it != end; ++it) {
      if (serves(*it->second, place, key)) {
        last_ = it->second;
        ++stats_.hits;
        return last_;
      }
    }
    return nullptr;
  }

  // To be called before a trace: throws retrace_error if `max_traces` (0: any number) would be exceeded, naming what
  // changed.
  void allow_trace(std::size_t max_traces, const std::string& function, const std::vector<call_detail>& description) {
    const std::lock_guard lock(mutex_);
    if (max_traces != 0 && stats_.traces >= max_traces) {
      throw retrace_error(
          "espalier: compile: " + function + " was traced " + std::to_string(stats_.traces) +
          " times, which is its max_traces, and this call needs another trace:\n" +
          (last_ ? describe_retrace(last_->description, description) : std::string("  (its entries were cleared)")) +
          "\n  Keep what changes out of the key (make a number an array leaf), or raise max_traces");
    }
  }

  entry_ptr insert(const call_key<E>& key, typename E::plan plan, std::shared_ptr<const void> results,
                   std::vector<call_detail> description) {
    std::vector<typename E::signature> signatures;
    signatures.reserve(key.inputs.size());
    for (const auto* array : key.inputs) signatures.push_back(E::signature_of(*array));
    auto made = std::make_shared<const entry>(entry{E::current_place(), std::move(signatures), key.constants,
                                                    std::move(plan), std::move(results), std::move(description)});
    const std::lock_guard lock(mutex_);
    ++stats_.traces;
    stats_.last_retrace = last_ ? describe_retrace(last_->description, made->description) : std::string();
    entries_.emplace(hash(key), made);
    last_ = made;
    return made;
  }

  compile_stats stats() const {
    const std::lock_guard lock(mutex_);
    compile_stats result = stats_;
    result.entries = entries_.size();
    return result;
  }

  void clear() {
    const std::lock_guard lock(mutex_);
    entries_.clear();
    last_ = nullptr;
  }

 private:
  static bool serves(const entry& e, const typename E::place& place, const call_key<E>& key) {
    if (!(e.place == place) || e.constants != key.constants || e.inputs.size() != key.inputs.size()) return false;
    for (std::size_t i = 0; i < e.inputs.size(); ++i) {
      if (!E::matches(e.inputs[i], *key.inputs[i])) return false;
    }
    return true;
  }

  static std::uint64_t hash(const call_key<E>& key) {
    std::uint64_t seed = std::hash<std::string>{}(key.constants);
    for (const auto* array : key.inputs) seed = E::hash(seed, *array);
    return seed;
  }

  mutable std::mutex mutex_;
  entry_ptr last_;
  std::unordered_multimap<std::uint64_t, entry_ptr> entries_;
  compile_stats stats_;
};

inline std::string describe_retrace(const std::vector<call_detail>& before, const std::vector<call_detail>& now) {
  std::unordered_map<std::string, const std::string*> old;
  for (const call_detail& d : before) old.emplace(d.path, &d.text);
  std::string text;
  const auto line = [&](const std::string& path, const std::string& from, const std::string& to) {
    text += (text.empty() ? "  " : "\n  ") + path + ": " + from + " became " + to;
  };
  for (const call_detail& d : now) {
    const auto found = old.find(d.path);
    if (found == old.end()) {
      line(d.path, "nothing", d.text);
    } else {
      if (*found->second != d.text) line(d.path, *found->second, d.text);
      old.erase(found);
    }
  }
  for (const call_detail& d : before) {
    if (old.contains(d.path)) line(d.path, d.text, "nothing");
  }
  return text.empty() ? "  the device or stream changed" : text;
}

}  // namespace detail
}  // namespace espalier
