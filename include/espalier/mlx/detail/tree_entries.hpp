// What stands between a tree and a file: arrays and texts by name. Collects them from a tree, and makes a tree of them.
// Whoever knows a format (safetensors.hpp, gguf.hpp) writes and reads them.
#pragma once

#include <mlx/array.h>

#include <cstddef>
#include <espalier/aux.hpp>
#include <espalier/detail/types.hpp>
#include <espalier/errors.hpp>
#include <espalier/mlx/array.hpp>
#include <espalier/mlx/checkpoint_error.hpp>
#include <espalier/mlx/load_options.hpp>
#include <espalier/mlx/name_rules.hpp>
#include <espalier/node.hpp>
#include <espalier/path.hpp>
#include <espalier/structure.hpp>
#include <espalier/typed_text.hpp>
#include <espalier/visit.hpp>
#include <espalier/visit_update.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace espalier::detail {

// --- What a node is besides its children: sizes, keys, what is engaged. --------------------------------------

// A map's keys as key paths print them, which is different for different keys.
template <class Map> std::string keys_text(const Map& map) {
  std::string text;
  for (const auto& entry : map_entries(map)) {
    text += text.empty() ? "the keys " : ", ";
    print_key(text, map_key_entry(entry.first));
  }
  return text.empty() ? "no keys" : text;
}

template <class T> std::string node_text(const T& tree) {
  constexpr node_kind kind = kind_of<T>;
  std::string text;
  if constexpr (kind == node_kind::sequence) {
    text = count_text(node_of<T>::size(tree), "element");
  } else if constexpr (kind == node_kind::maybe) {
    text = tree ? "a value" : "None";
  } else if constexpr (kind == node_kind::variant) {
    text = "alternative " + std::to_string(tree.index());
  } else if constexpr (kind == node_kind::map) {
    text = keys_text(tree);
  }
  if constexpr (!pytree_name<T>.empty()) {
    text = "named " + std::string(pytree_name<T>) + (text.empty() ? "" : ": ") + text;
  }
  return text;
}

// --- Entries: compiled once. ------------------------------------------------------------------------------------------

// What a file holds.
struct named_entries {
  std::unordered_map<std::string, ::mlx::core::array> arrays;  // by dotted path; of a tree that is one array, "."
  std::unordered_map<std::string, std::string> texts;          // "leaf:PATH", "aux:PATH", "node:PATH"
  bool typed = false;                                          // written by Espalier: the texts are all there
};

// Collects a tree's entries.
class tree_writer {
 public:
  explicit tree_writer(const name_rules& rules);
  ~tree_writer();
  tree_writer(const tree_writer&) = delete;
  tree_writer& operator=(const tree_writer&) = delete;

  void add_array(const path_view& path, const ::mlx::core::array& value);
  void add_text(const char* kind, const path_view& path, std::string text);  // kind: "leaf", "aux" or "node"
  // Throws checkpoint_error, which begins with `what`, for leaves that cannot be named in a file, or share a name.
  named_entries finish(const std::string& what);

 private:
  struct contents;
  std::unique_ptr<contents> contents_;
};

// Hands out a file's entries to a tree that asks for each of its own; what does not fit is noted.
class tree_reader {
 public:
  tree_reader(named_entries entries, const load_options& options);
  ~tree_reader();
  tree_reader(const tree_reader&) = delete;
  tree_reader& operator=(const tree_reader&) = delete;

  ::mlx::core::array array(const path_view& path, const ::mlx::core::array& like);
  // The text of an entry, if it is there; `expected` says in a report what was asked for.
  std::optional<std::string> text(const char* kind, const path_view& path, const std::string& expected);
  void note(const path_view& path, std::string expected, std::string found);
  void check_node(const path_view& path, const std::string& text);
  // Compares the nodes, notes what nobody asked for, evaluates all arrays. Throws checkpoint_error, which begins with
  // `source`, if anything does not fit; else gives what is missing and unexpected, if that is allowed.
  std::vector<mismatch> finish(const std::string& source);

 private:
  struct contents;
  std::unique_ptr<contents> contents_;
};

// --- Trees. -----------------------------------------------------------------------------------------------------------

// The key of an aux value: a struct's field, or the registered node itself.
template <class T, std::size_t J> path_view aux_path(const path_view& node) {
  if constexpr (requires { node_of<T>::template aux_key<J>(); }) {
    return path_view(&node, node_of<T>::template aux_key<J>());
  } else {
    return node;
  }
}

template <class T>
concept carries_aux = requires { requires node_of<T>::has_aux; };

template <class T> void save_tree(tree_writer& out, const path_view& path, const T& tree) {
  if constexpr (std::is_same_v<T, ::mlx::core::array>) {
    out.add_array(path, tree);
  } else if constexpr (kind_of<T> == node_kind::leaf) {
    out.add_text("leaf", path, to_typed_text(tree));
  } else {
    if (std::string text = node_text(tree); !text.empty()) out.add_text("node", path, std::move(text));
    if constexpr (carries_aux<T>) {
      const auto values = node_of<T>::aux(tree);
      [&]<std::size_t... J>(std::index_sequence<J...>) {
        const auto one = [&]<std::size_t I>(index<I>) {
          out.add_text("aux", aux_path<T, I>(path), to_typed_text(std::get<I>(values)));
        };
        (one(index<J>{}), ...);
      }(std::make_index_sequence<std::tuple_size_v<decltype(values)>>{});
    }
    for_each_child([&](const auto& key, const auto& child) { save_tree(out, path / key, child); }, tree);
  }
}

// A value from the file; the tree's own, and a note, where it is not there or not of the type.
template <class T> T load_value(tree_reader& in, const char* kind, const path_view& path, const T& current) {
  const std::string expected = "a value such as " + to_typed_text(current);
  const std::optional<std::string> text = in.text(kind, path, expected);
  if (!text) return current;
  if (std::optional<T> value = from_typed_text<T>(*text)) return std::move(*value);
  in.note(path, expected, *text);
  return current;
}

template <class T> T load_tree(tree_reader& in, const path_view& path, const T& tree);

// Children for node::assemble, of a node that carries aux data.
template <class T, class Children> struct child_loader {
  tree_reader& in;
  const path_view& path;
  Children& children;

  template <std::size_t I> typename child_at<T, I>::type operator()(index<I>) const {
    return load_tree<typename child_at<T, I>::type>(in, path / product_key<T>{I}, get_child<I>(children));
  }
};

// Children for rebuild, of every other node.
struct element_loader {
  tree_reader& in;
  const path_view& path;

  template <class Child, class Key> Child operator()(type_tag<Child>, const Key& key, const Child& child) const {
    return load_tree<Child>(in, path / key, child);
  }
};

template <class T> T load_node_with_aux(tree_reader& in, const path_view& path, const T& tree) {
  const auto current = node_of<T>::aux(tree);
  const auto values = [&]<std::size_t... J>(std::index_sequence<J...>) {
    return aux_values<T>{
        load_value<std::tuple_element_t<J, aux_values<T>>>(in, "aux", aux_path<T, J>(path), std::get<J>(current))...};
  }(std::make_index_sequence<std::tuple_size_v<aux_values<T>>>{});
  auto&& children = detail::open(tree);
  return node_of<T>::assemble(values, child_loader<T, std::remove_reference_t<decltype(children)>>{in, path, children});
}

// The tree from the file's values; its own where they do not fit, which the reader then knows.
template <class T> T load_tree(tree_reader& in, const path_view& path, const T& tree) {
  if constexpr (std::is_same_v<T, ::mlx::core::array>) {
    return in.array(path, tree);
  } else if constexpr (kind_of<T> == node_kind::leaf) {
    return load_value(in, "leaf", path, tree);
  } else {
    if (const std::string text = node_text(tree); !text.empty()) in.check_node(path, text);
    if constexpr (carries_aux<T>) {
      return load_node_with_aux(in, path, tree);
    } else {
      return rebuild<T>(element_loader{in, path}, tree);
    }
  }
}

}  // namespace espalier::detail
