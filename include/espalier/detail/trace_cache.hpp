// The entries of one compiled function for one list of argument types: what a call looks up, and what a trace leaves
// behind. Depends on the engine, never on the user's types; an engine's library instantiates it once.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <espalier/compile_options.hpp>
#include <espalier/engine.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
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
  typename E::place place;
  std::vector<signature_word> signature;  // of the array leaves, in order, and a 0
  std::string constants;                  // the encoding of everything else: dynamic structure, other leaves

  friend bool operator==(const call_key&, const call_key&) = default;

  std::uint64_t hash() const {
    const auto hash_of = [](const void* data, std::size_t size) {
      return std::hash<std::string_view>{}({static_cast<const char*>(data), size});
    };
    std::uint64_t seed = hash_of(signature.data(), signature.size() * sizeof(signature_word));
    seed = seed * 0x9e3779b97f4a7c15u + hash_of(&place, sizeof(place));
    return seed * 0x9e3779b97f4a7c15u + hash_of(constants.data(), constants.size());
  }
};

template <class E> class trace_cache {
 public:
  struct entry {
    call_key<E> key;
    std::size_t num_inputs;
    typename E::plan plan;
    std::shared_ptr<const void> results;  // where outputs go: a type of the compiled function's own
    std::vector<call_detail> description;
  };
  using entry_ptr = std::shared_ptr<const entry>;

  // The entry that was used last, or null: the one to try first.
  entry_ptr latest() const {
    const std::lock_guard lock(mutex_);
    return latest_;
  }
  void count_hit() { hits_.fetch_add(1, std::memory_order_relaxed); }

  // The entry with this key, or null. Hashed; an equal hash is never enough: keys are compared.
  entry_ptr find(const call_key<E>& key) {
    const std::uint64_t hash = key.hash();
    const std::lock_guard lock(mutex_);
    const auto [begin, end] = entries_.equal_range(hash);
    for (auto it = begin; it != end; ++it) {
      if (!(it->second.entry->key == key)) continue;
      it->second.last_use = ++uses_;
      latest_ = it->second.entry;
      count_hit();
      return latest_;
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
  entry_ptr insert(entry made, std::size_t max_entries) {
    const std::uint64_t hash = made.key.hash();
    auto kept = std::make_shared<const entry>(std::move(made));
    entry_ptr dropped, before;  // end after the lock: they hold the user's constants
    const std::lock_guard lock(mutex_);
    ++stats_.traces;
    ++traces_since_clear_;
    static std::atomic<std::uint64_t> traces_everywhere = 0;
    last_trace_ = ++traces_everywhere;
    stats_.last_retrace = retrace_reason(kept->description, kept->key.place);
    if (max_entries != 0 && entries_.size() >= max_entries) dropped = drop_least_recent();
    entries_.emplace(hash, use{kept, ++uses_});
    before = std::exchange(latest_, kept);
    return kept;
  }

  compile_stats stats() const {
    const std::lock_guard lock(mutex_);
    compile_stats result = stats_;
    result.hits = hits_.load(std::memory_order_relaxed);
    result.entries = entries_.size();
    for (const auto& [hash, kept] : entries_) result.unoptimised += kept.entry->plan.optimised() ? 0 : 1;
    return result;
  }

  // The graph of the trace used last, as Graphviz; empty if there is none, or the engine's plans cannot be drawn.
  std::string to_dot() const {
    const entry_ptr last = latest();
    if constexpr (requires(const typename E::plan& plan) { plan.to_dot(); }) {
      if (last) return last->plan.to_dot();
    }
    return {};
  }

  // Grows with every trace of any cache: tells which of several traced last.
  std::uint64_t last_trace() const {
    const std::lock_guard lock(mutex_);
    return last_trace_;
  }

  void clear() {
    std::unordered_multimap<std::uint64_t, use> dropped;  // ends after the lock: it holds the user's constants
    entry_ptr last;
    const std::lock_guard lock(mutex_);
    dropped.swap(entries_);
    last.swap(latest_);
    traces_since_clear_ = 0;
  }

 private:
  struct use {
    entry_ptr entry;
    std::uint64_t last_use;
  };

  // What differs from the call before; empty if there was none.
  std::string retrace_reason(const std::vector<call_detail>& description, const typename E::place& place) const {
    if (!latest_) return {};
    return describe_retrace(latest_->description, description, latest_->key.place == place);
  }

  // (A scan: it stands beside a trace, which costs a thousand times as much, and spares every hit the care of a list.)
  entry_ptr drop_least_recent() {
    const auto last = std::min_element(entries_.begin(), entries_.end(), [](const auto& a, const auto& b) {
      return a.second.last_use < b.second.last_use;
    });
    entry_ptr dropped = std::move(last->second.entry);
    entries_.erase(last);
    return dropped;
  }

  mutable std::mutex mutex_;
  std::unordered_multimap<std::uint64_t, use> entries_;  // by hash
  entry_ptr latest_;
  std::uint64_t uses_ = 0;
  std::atomic<std::size_t> hits_ = 0;
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
