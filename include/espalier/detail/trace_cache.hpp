// The entries of one compiled function for one list of argument types: what a call looks up, and what a trace leaves
// behind. Depends on the engine, never on the user's types; an engine's library instantiates it once.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <espalier/compile_options.hpp>
#include <espalier/engine.hpp>
#include <iterator>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace espalier::detail {

// One line of what a call looked like: a leaf's key path and description.
struct call_detail {
  std::string path;
  std::string text;
};

// "arg1.x: float32[64, 8] became float32[29, 8]", one line per difference.
std::string describe_retrace(const std::vector<call_detail>& before, const std::vector<call_detail>& now,
                             bool same_place);

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
    std::uint64_t hash;
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
    if (!entries_.empty() && serves(*entries_.front(), place, key)) {
      ++stats_.hits;
      return entries_.front();
    }
    const auto [begin, end] = by_hash_.equal_range(hash(key, place));
    for (auto it = begin; it != end; ++it) {
      if (serves(**it->second, place, key)) {
        entries_.splice(entries_.begin(), entries_, it->second);
        ++stats_.hits;
        return entries_.front();
      }
    }
    return nullptr;
  }

  // To be called before a trace: throws retrace_error if there would be more traces since the last clear() than
  // `max_traces` (0: any number), naming what changed.
  void allow_trace(std::size_t max_traces, const std::string& function, const std::vector<call_detail>& description) {
    const std::lock_guard lock(mutex_);
    if (max_traces != 0 && traces_since_clear_ >= max_traces) {
      throw retrace_error("espalier: compile: " + function + " has " + std::to_string(traces_since_clear_) +
                          " traces, which is its max_traces, and this call needs another one:\n" +
                          retrace_reason(description, E::current_place()) +
                          "\n  Keep what changes out of the key (make a number an array leaf), or raise max_traces");
    }
  }

  // Keeps a new trace; of more than `max_entries` (0: any number) the least recently used is dropped.
  entry_ptr insert(const call_key<E>& key, typename E::plan plan, std::shared_ptr<const void> results,
                   std::vector<call_detail> description, std::size_t max_entries) {
    std::vector<typename E::signature> signatures;
    signatures.reserve(key.inputs.size());
    for (const auto* array : key.inputs) signatures.push_back(E::signature_of(*array));
    const typename E::place place = E::current_place();
    const std::uint64_t hashed = hash(key, place);
    auto made = std::make_shared<const entry>(entry{place, std::move(signatures), key.constants, hashed,
                                                    std::move(plan), std::move(results), std::move(description)});
    entry_ptr dropped;  // ends after the lock: it holds the user's constants
    const std::lock_guard lock(mutex_);
    ++stats_.traces;
    ++traces_since_clear_;
    static std::atomic<std::uint64_t> traces_everywhere = 0;
    last_trace_ = ++traces_everywhere;
    stats_.last_retrace = retrace_reason(made->description, made->place);
    entries_.push_front(made);
    by_hash_.emplace(hashed, entries_.begin());
    if (max_entries != 0 && entries_.size() > max_entries) dropped = drop_least_recent();
    return made;
  }

  compile_stats stats() const {
    const std::lock_guard lock(mutex_);
    compile_stats result = stats_;
    result.entries = entries_.size();
    return result;
  }

  // The graph of the trace used last, as Graphviz; empty if there is none, or the engine's plans cannot be drawn.
  std::string to_dot() const {
    const std::lock_guard lock(mutex_);
    if constexpr (requires(const typename E::plan& plan) { plan.to_dot(); }) {
      if (!entries_.empty()) return entries_.front()->plan.to_dot();
    }
    return {};
  }

  // Grows with every trace of any cache: tells which of several traced last.
  std::uint64_t last_trace() const {
    const std::lock_guard lock(mutex_);
    return last_trace_;
  }

  void clear() {
    std::list<entry_ptr> dropped;  // ends after the lock: it holds the user's constants
    const std::lock_guard lock(mutex_);
    by_hash_.clear();
    dropped.swap(entries_);
    traces_since_clear_ = 0;
  }

 private:
  static bool serves(const entry& e, const typename E::place& place, const call_key<E>& key) {
    if (!(e.place == place) || e.constants != key.constants || e.inputs.size() != key.inputs.size()) return false;
    for (std::size_t i = 0; i < e.inputs.size(); ++i) {
      if (!E::matches(e.inputs[i], *key.inputs[i])) return false;
    }
    return true;
  }

  // What differs from the call before; empty if there was none.
  std::string retrace_reason(const std::vector<call_detail>& description, const typename E::place& place) const {
    if (entries_.empty()) return {};
    return describe_retrace(entries_.front()->description, description, entries_.front()->place == place);
  }

  entry_ptr drop_least_recent() {
    const auto last = std::prev(entries_.end());
    const auto [begin, end] = by_hash_.equal_range((*last)->hash);
    by_hash_.erase(std::find_if(begin, end, [&](const auto& known) { return known.second == last; }));
    entry_ptr dropped = std::move(*last);
    entries_.erase(last);
    return dropped;
  }

  static std::uint64_t hash(const call_key<E>& key, const typename E::place& place) {
    std::uint64_t seed = E::hash(std::hash<std::string>{}(key.constants), place);
    for (const auto* array : key.inputs) seed = E::hash(seed, *array);
    return seed;
  }

  mutable std::mutex mutex_;
  std::list<entry_ptr> entries_;  // the last used in front
  std::unordered_multimap<std::uint64_t, typename std::list<entry_ptr>::iterator> by_hash_;
  compile_stats stats_;
  std::size_t traces_since_clear_ = 0;
  std::uint64_t last_trace_ = 0;
};

inline std::string describe_retrace(const std::vector<call_detail>& before, const std::vector<call_detail>& now,
                                    bool same_place) {
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
  if (!same_place) text += (text.empty() ? "  " : "\n  ") + std::string("the device or stream changed");
  if (text.empty()) {
    text = "  a constant changed that has no text:";
    for (const call_detail& d : now) {
      if (d.text == "…") text += " " + d.path;
    }
  }
  return text;
}

}  // namespace espalier::detail
