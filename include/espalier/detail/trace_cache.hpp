// The entries of one compiled function for one list of argument types: what a call looks up, and what a trace leaves
// behind. Depends on the engine, never on the user's types: an engine's library may instantiate it once.
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
#include <unordered_set>
#include <utility>
#include <vector>

namespace espalier::detail {

// One line of what a call looked like: a leaf's key path and description.
struct call_detail {
  std::string path;
  std::string text;
  bool is_input = false;
};

// The key paths of the input arrays, in order.
inline std::vector<std::string> input_names(const std::vector<call_detail>& description) {
  std::vector<std::string> names;
  for (const call_detail& d : description) {
    if (d.is_input) names.push_back(d.path);
  }
  return names;
}

// "arg1.x: float32[64, 8] became float32[29, 8]", one line per difference.
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
  if (!same_place)
    text += (text.empty() ? "  " : "\n  ") + std::string("another device or stream (each thread has its own)");
  if (text.empty()) {
    text = "  a constant changed in a way that its text does not show";
    for (const call_detail& d : now) {
      if (d.text == "…") text += ", " + d.path;
    }
  }
  return text;
}

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

// Counts traces over all caches, to tell which was made last.
inline std::atomic<std::uint64_t> traces_everywhere = 0;

template <class E> class trace_cache {
 public:
  using place = typename E::place;

  struct entry {
    call_key<E> key;
    std::size_t num_inputs;
    typename E::plan plan;
    std::shared_ptr<const void> results;  // where outputs go: a type of the compiled function's own
    std::vector<call_detail> description;
  };
  using entry_ptr = std::shared_ptr<const entry>;

  // The entry that was used last in this place, or null: the one to try first.
  entry_ptr latest(const place& here) const {
    const std::lock_guard lock(mutex_);
    const auto known = find_place(places_, here);
    return known == places_.end() ? nullptr : known->latest;
  }
  void count_hit() { hits_.fetch_add(1, std::memory_order_relaxed); }

  // The entry with this key, or null. Hashed; an equal hash is never enough: keys are compared.
  entry_ptr find(const call_key<E>& key) {
    const std::uint64_t hash = key.hash();
    const std::lock_guard lock(mutex_);
    const auto [begin, end] = entries_.equal_range(hash);
    for (auto it = begin; it != end; ++it) {
      use& found = it->second;
      if (!(found.entry->key == key)) continue;
      found.last_use = ++uses_;
      find_place(places_, key.place)->latest = found.entry;
      count_hit();
      return found.entry;
    }
    return nullptr;
  }

  // To be called before a trace: throws retrace_error if there would be more traces in this place since the last clear()
  // than `max_traces` (0: any number), naming what changed.
  void allow_trace(std::size_t max_traces, const call_key<E>& key, const std::string& function,
                   const std::vector<call_detail>& description) {
    const std::lock_guard lock(mutex_);
    const auto here = find_place(places_, key.place);
    if (max_traces == 0 || here == places_.end() || here->traces < max_traces) return;
    throw retrace_error("espalier: compile: " + function + " has max_traces = " + std::to_string(max_traces) +
                        ", and this call needs another trace:\n" + retrace_reason(key, description) +
                        "\n  Keep what changes out of the key (make a number an array leaf), or raise max_traces");
  }

  struct insertion {
    entry_ptr kept;
    std::string reason;  // what differed from the call before, by key path
  };

  // Keeps a new trace; of more than `max_entries` (0: any number) the least recently used is dropped.
  insertion insert(entry made, std::size_t max_entries) {
    const std::uint64_t hash = made.key.hash();
    auto kept = std::make_shared<const entry>(std::move(made));
    entry_ptr dropped, before;  // end after the lock: they hold the user's constants
    const std::lock_guard lock(mutex_);
    std::string reason = retrace_reason(kept->key, kept->description);
    auto here = find_place(places_, kept->key.place);
    if (here == places_.end()) here = places_.insert(here, {kept->key.place, nullptr, 0});
    if (max_entries != 0 && entries_.size() >= max_entries) dropped = drop_least_recent();
    entries_.emplace(hash, use{kept, ++uses_});
    before = std::exchange(here->latest, kept);
    ++here->traces;
    ++stats_.traces;
    last_trace_ = ++traces_everywhere;
    traced_last_ = kept;
    stats_.last_retrace = reason;
    return {std::move(kept), std::move(reason)};
  }

  compile_stats stats() const {
    const std::lock_guard lock(mutex_);
    compile_stats result = stats_;
    result.hits = hits_.load(std::memory_order_relaxed);
    result.entries = entries_.size();
    for (const auto& [hash, kept] : entries_) result.unoptimised += kept.entry->plan.optimised() ? 0 : 1;
    return result;
  }

  // The graph that was traced last, as Graphviz; empty if it is not kept, or the engine's plans cannot be drawn.
  std::string to_dot() const {
    entry_ptr last;
    {
      const std::lock_guard lock(mutex_);
      last = traced_last_.lock();
    }
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
    std::unordered_multimap<std::uint64_t, use> dropped;  // these end after the lock: they hold the user's constants
    std::vector<place_state> places;
    const std::lock_guard lock(mutex_);
    dropped.swap(entries_);
    places.swap(places_);
    dropped_keys_.clear();
  }

 private:
  struct use {
    entry_ptr entry;
    std::uint64_t last_use;
  };
  struct place_state {
    typename E::place where;
    entry_ptr latest;
    std::size_t traces;
  };

  // (A handful: a device's streams, and with MLX those of each thread.)
  template <class Places> static auto find_place(Places& places, const place& here) {
    return std::find_if(places.begin(), places.end(), [&](const place_state& p) { return p.where == here; });
  }

  // What differs from the call before: in this place, or else in another; empty if there was none.
  std::string retrace_reason(const call_key<E>& key, const std::vector<call_detail>& description) const {
    if (dropped_keys_.contains(key.hash())) return "  its trace was dropped to keep max_entries";
    const auto here = find_place(places_, key.place);
    const auto before = here == places_.end() ? places_.begin() : here;
    if (before == places_.end() || !before->latest) return {};
    return describe_retrace(before->latest->description, description, before == here);
  }

  // (A scan: it stands beside a trace, which costs a thousand times as much, and spares every hit the care of a list.)
  entry_ptr drop_least_recent() {
    const auto holder = [&](const use& u) {
      return std::find_if(places_.begin(), places_.end(), [&](const place_state& p) { return p.latest == u.entry; });
    };
    // A place's latest entry is in use, however often: hits do not touch last_use.
    const auto age = [&](const auto& kept) {
      return std::pair(holder(kept.second) != places_.end(), kept.second.last_use);
    };
    const auto last = std::min_element(entries_.begin(), entries_.end(),
                                       [&](const auto& a, const auto& b) { return age(a) < age(b); });
    if (const auto where = holder(last->second); where != places_.end()) where->latest = nullptr;
    if (dropped_keys_.size() < 1024) dropped_keys_.insert(last->first);
    entry_ptr dropped = std::move(last->second.entry);
    entries_.erase(last);
    return dropped;
  }

  mutable std::mutex mutex_;
  std::unordered_multimap<std::uint64_t, use> entries_;  // by hash
  std::vector<place_state> places_;
  std::unordered_set<std::uint64_t> dropped_keys_;  // hashes, for messages
  std::weak_ptr<const entry> traced_last_;
  std::uint64_t uses_ = 0;
  std::atomic<std::size_t> hits_ = 0;
  compile_stats stats_;
  std::uint64_t last_trace_ = 0;
};

}  // namespace espalier::detail
