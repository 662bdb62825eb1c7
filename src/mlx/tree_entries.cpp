#include <mlx/ops.h>
#include <mlx/transforms.h>

#include <espalier/mlx/detail/tree_entries.hpp>
#include <exception>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace espalier::detail {

namespace mx = ::mlx::core;

namespace {

// The name of a tensor. A tree that is one array has no path.
std::string tensor_name(const path_view& path) {
  std::string name = path.dotted();
  return name.empty() ? "." : name;
}

std::string text_key(const char* kind, std::string_view path) { return (std::string(kind) + ":").append(path); }

// How an array without elements is kept.
std::string empty_array_text(const mx::array& a) { return "array:" + describe_value(a); }

// Nodes of one path (an optional vector) are one entry.
void join(std::string& entry, const std::string& text) { entry += (entry.empty() ? "" : " of ") + text; }

mx::array transposed(const mx::array& a, const std::vector<int>& axes) {
  return axes.empty() ? a : mx::contiguous(mx::transpose(a, axes));
}

}  // namespace

// --- From a tree. -----------------------------------------------------------------------------------------------------

struct tree_writer::contents {
  const name_rules& rules;
  named_entries entries;
  std::unordered_map<std::string, std::string> printed;  // of every leaf and aux value, by dotted path: its key path
  std::vector<mismatch> faults;

  // Notes what cannot be told apart or written.
  void claim(const char* kind, const path_view& path) {
    const std::string dotted = path.dotted();
    if (!is_utf8(dotted)) {
      faults.push_back({path.to_string(), "a path of UTF-8", "other bytes in a map key"});
    }
    // An aux value of a registered node has the node's path, which may be that of its only, transparent,
    // child.
    const auto [other, added] =
        printed.emplace((kind == std::string_view("aux") ? "aux:" : "leaf:") + dotted, path.to_string());
    if (!added) {
      faults.push_back(
          {path.to_string(), "a dotted path of its own (rename a key)",
           "'" + dotted + "', which " + (other->second.empty() ? "the root" : other->second) + " has too"});
    }
  }

  // The name in the file, from which the rules must lead back.
  name_rules::renamed in_file(const path_view& path, const std::string& name) {
    name_rules::renamed there = rules.in_file(name);
    const std::optional<std::string> back = rules.in_tree(*there.name).name;
    if (back != name) {
      faults.push_back({path.to_string(), "rules that lead from its name in the file, '" + *there.name + "', back",
                        back ? "that they lead to '" + *back + "'" : "that they leave it out"});
    }
    if (*there.name == "__metadata__") {
      faults.push_back({path.to_string(), "a leaf of another name", "the name that safetensors keeps for metadata"});
    }
    return there;
  }
};

tree_writer::tree_writer(const name_rules& rules) : contents_(new contents{rules, {}, {}, {}}) {}
tree_writer::~tree_writer() = default;

void tree_writer::add_array(const path_view& path, const mx::array& value) {
  contents_->claim("leaf", path);
  if (value.dtype() == mx::float64) {
    contents_->faults.push_back(
        {path.to_string(), "a dtype that MLX writes (cast it to float32)", describe_value(value)});
  }
  if (value.size() == 0) {
    const std::string name = *contents_->in_file(path, path.dotted()).name;
    contents_->entries.texts[text_key("leaf", name)] = empty_array_text(value);
    return;
  }
  const auto [name, axes] = contents_->in_file(path, tensor_name(path));
  if (!axes.empty() && axes.size() != value.ndim()) {
    contents_->faults.push_back(
        {path.to_string(), "an array of " + count_text(axes.size(), "dimension") + ", for the rule that transposes it",
         describe_value(value)});
    return;
  }
  contents_->entries.arrays.emplace(*name, transposed(value, axes));
}

void tree_writer::add_text(const char* kind, const path_view& path, std::string text) {
  const bool is_node = kind == std::string_view("node");
  if (!is_node) contents_->claim(kind, path);
  std::string& entry = contents_->entries.texts[text_key(kind, *contents_->in_file(path, path.dotted()).name)];
  if (is_node) {
    join(entry, text);
  } else {
    entry = std::move(text);
  }
}

named_entries tree_writer::finish(const std::string& what) {
  auto& [rules, entries, printed, faults] = *contents_;
  if (!faults.empty()) {
    throw checkpoint_error(what + ": these leaves cannot be named, or not be held, in such a file:", std::move(faults));
  }
  for (const auto& [key, text] : entries.texts) {
    if (!is_utf8(key) || !is_utf8(text)) {
      throw checkpoint_error(what + ": the map key behind '" + key + "' is not UTF-8");
    }
  }
  entries.typed = true;
  return std::move(entries);
}

// --- To a tree. -------------------------------------------------------------------------------------------------------

struct tree_reader::contents {
  template <class T> struct held {
    T value;
    std::string where;  // " ('NAME' in the file)", if a rule changed it
  };
  struct conversion {
    std::string path;
    mx::array from, to;
  };

  load_options options;
  bool typed;
  std::unordered_map<std::string, held<mx::array>> arrays;   // what nobody asked for yet, by the tree's names
  std::unordered_map<std::string, held<std::string>> texts;  // the same
  std::map<std::string, std::string> nodes;                  // of the tree, by dotted path
  std::vector<mx::array> used;
  std::vector<conversion> conversions;  // of integers
  std::vector<mismatch> faults;
  std::vector<mismatch> left_out;

  // Puts an entry under its name in the tree.
  template <class T>
  void put(std::unordered_map<std::string, held<T>>& map, const std::string& prefix, const std::string& file_name,
           const std::string& name, T value) {
    const std::string where = name == file_name ? "" : " ('" + file_name + "' in the file)";
    if (map.emplace(prefix + name, held<T>{std::move(value), where}).second) return;
    faults.push_back(
        {name, "one entry of the file", "a second one, '" + file_name + "', to which the rules give this name"});
  }

  // Where the file should have had a name.
  std::string nothing_at(const std::string& name) const {
    if (options.rules.empty()) return "nothing";
    const std::string there = *options.rules.in_file(name).name;
    return there == name ? "nothing" : "nothing ('" + there + "' in the file)";
  }

  void missing(const std::string& path, const std::string& name, const std::string& expected) {
    (options.strict ? faults : left_out).push_back({path, expected, nothing_at(name)});
  }

  // In the dtype that is asked for, if that is allowed and may be possible.
  mx::array converted(const std::string& path, const mx::array& value, mx::Dtype to) {
    if (!options.cast || value.dtype() == to) return value;
    const auto both = [&](mx::Dtype::Category c) { return mx::issubdtype(value.dtype(), c) && mx::issubdtype(to, c); };
    if (both(mx::floating)) return mx::astype(value, to);
    if (!both(mx::integer)) return value;
    conversions.push_back({path, value, mx::astype(value, to)});
    return conversions.back().to;
  }
};

tree_reader::tree_reader(named_entries entries, const load_options& options)
    : contents_(new contents{options, entries.typed, {}, {}, {}, {}, {}, {}, {}}) {
  const name_rules& rules = options.rules;
  // In order, so that a fault is the same each time.
  const std::map<std::string, mx::array> sorted(entries.arrays.begin(), entries.arrays.end());
  for (const auto& [file_name, value] : sorted) {
    const auto [name, axes] = rules.in_tree(file_name);
    if (!name) continue;
    if (!axes.empty() && axes.size() != value.ndim()) {
      contents_->faults.push_back(
          {*name, "an array of " + count_text(axes.size(), "dimension") + ", for the rule that transposes it",
           describe_value(value) + " ('" + file_name + "' in the file)"});
      contents_->put(contents_->arrays, "", file_name, *name, value);
    } else {
      contents_->put(contents_->arrays, "", file_name, *name, transposed(value, axes));
    }
  }
  if (!entries.typed) return;  // other programs' metadata
  for (auto& [key, text] : entries.texts) {
    const std::size_t colon = key.find(':');
    if (colon == std::string::npos) continue;
    const std::string file_name = key.substr(colon + 1);
    if (const auto name = rules.in_tree(file_name).name) {
      contents_->put(contents_->texts, key.substr(0, colon + 1), file_name, *name, std::move(text));
    }
  }
}
tree_reader::~tree_reader() = default;

mx::array tree_reader::array(const path_view& path, const mx::array& like) {
  const std::string expected = describe_value(like);
  const std::string name = tensor_name(path);
  auto& arrays = contents_->arrays;
  auto& texts = contents_->texts;
  if (const auto entry = arrays.find(name); entry != arrays.end()) {
    const mx::array value = contents_->converted(path.dotted(), entry->second.value, like.dtype());
    const std::string where = std::move(entry->second.where);
    arrays.erase(entry);
    if (value.dtype() == like.dtype() && value.shape() == like.shape()) {
      contents_->used.push_back(value);
      return value;
    }
    note(path, expected, describe_value(value) + where);
  } else if (const auto text = texts.find(text_key("leaf", path.dotted())); text != texts.end()) {
    const std::string found = std::move(text->second.value);
    texts.erase(text);
    if (like.size() == 0 && found == empty_array_text(like)) return mx::zeros(like.shape(), like.dtype());
    note(path, expected, found);
  } else {
    contents_->missing(path.dotted(), name, expected);
  }
  return like;
}

std::optional<std::string> tree_reader::text(const char* kind, const path_view& path, const std::string& expected) {
  auto& arrays = contents_->arrays;
  auto& texts = contents_->texts;
  const std::string name = path.dotted();
  if (const auto entry = texts.find(text_key(kind, name)); entry != texts.end()) {
    std::string text = std::move(entry->second.value);
    texts.erase(entry);
    return text;
  }
  if (const auto entry = arrays.find(tensor_name(path)); kind == std::string_view("leaf") && entry != arrays.end()) {
    note(path, expected, describe_value(entry->second.value) + entry->second.where);
    arrays.erase(entry);
  } else if (contents_->typed) {
    contents_->missing(name, name, expected);
  }
  return std::nullopt;
}

void tree_reader::note(const path_view& path, std::string expected, std::string found) {
  contents_->faults.push_back({path.dotted(), std::move(expected), std::move(found)});
}

void tree_reader::check_node(const path_view& path, const std::string& text) {
  join(contents_->nodes[path.dotted()], text);
}

std::vector<mismatch> tree_reader::finish(const std::string& source) {
  const auto require_none = [&](std::vector<mismatch>& differences) {
    if (differences.empty()) return;
    throw checkpoint_error(
        source + " does not fit the tree, which was left as it is" +
            (contents_->typed ? "" : " (the file was not written by Espalier, so it has arrays only)") + ":",
        std::move(differences));
  };
  auto& [options, typed, arrays, texts, nodes, used, conversions, faults, left_out] = *contents_;
  std::vector<mismatch> all;  // nodes first: they are why other entries are missing or unexpected
  if (typed && options.strict) {
    for (const auto& [dotted, expected] : nodes) {
      const auto entry = texts.find("node:" + dotted);
      const std::string found = entry == texts.end() ? "nothing" : entry->second.value;
      if (found != expected) all.push_back({dotted, expected, found});
      if (entry != texts.end()) texts.erase(entry);
    }
  }
  all.insert(all.end(), std::make_move_iterator(faults.begin()), std::make_move_iterator(faults.end()));

  // By path and kind: one path may have a node, a leaf and an aux value.
  std::multimap<std::string, std::string> unexpected;
  for (const auto& [name, entry] : arrays) {
    unexpected.emplace(name == "." ? "" : name, describe_value(entry.value) + entry.where);
  }
  if (typed) {
    const std::pair<std::string_view, std::string_view> kinds[] = {
        {"node:", ""}, {"leaf:", "the leaf "}, {"aux:", "the aux value "}};
    for (const auto& [prefix, words] : kinds) {
      if (prefix == "node:" && !options.strict) continue;
      for (const auto& [key, entry] : texts) {
        if (key.starts_with(prefix)) {
          unexpected.emplace(key.substr(prefix.size()), std::string(words) + entry.value + entry.where);
        }
      }
    }
  }
  for (const auto& [name, text] : unexpected) (options.strict ? all : left_out).push_back({name, "nothing", text});
  require_none(all);

  for (const auto& [path, from, to] : conversions) {
    // As many bits may mean another number: -1 comes back from an unsigned one.
    const mx::array same_sign =
        mx::all(mx::equal(mx::less(from, mx::array(0, from.dtype())), mx::less(to, mx::array(0, to.dtype()))));
    used.push_back(mx::logical_and(same_sign, mx::array_equal(mx::astype(to, from.dtype()), from)));
  }
  try {
    mx::eval(used);
  } catch (const std::exception& e) {
    throw checkpoint_error(source + " cannot be read: " + e.what());
  }
  for (std::size_t i = 0; i < conversions.size(); ++i) {
    mx::array fits = used[used.size() - conversions.size() + i];
    const auto& [path, from, to] = conversions[i];
    if (!fits.item<bool>()) {
      faults.push_back({path, "numbers that " + describe_value(to) + " holds", describe_value(from) + " with others"});
    }
  }
  require_none(faults);
  return std::move(left_out);
}

}  // namespace espalier::detail
