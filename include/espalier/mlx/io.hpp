// Checkpoints: any tree as a safetensors file, by dotted key path. Arrays are tensors (`layers.0.weight`),
// which MLX in Python and every other reader of the format finds by name; all other leaves and all aux values
// are typed text in the file's metadata (`leaf:layers.0.stride` is `i32:2`).
//
//   espalier::save_safetensors("model.safetensors", model);
//   espalier::load_safetensors("model.safetensors", model);  // all of it, or an error with every difference
#pragma once

#include <mlx/array.h>

#include <cstddef>
#include <cstdint>
#include <espalier/aux.hpp>
#include <espalier/detail/types.hpp>
#include <espalier/errors.hpp>
#include <espalier/mlx/array.hpp>
#include <espalier/node.hpp>
#include <espalier/path.hpp>
#include <espalier/structure.hpp>
#include <espalier/typed_text.hpp>
#include <espalier/visit.hpp>
#include <espalier/visit_update.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace espalier {

// A checkpoint cannot be written or read, or does not fit the tree; then `differences` has every entry that is missing,
// unexpected, or of another shape or type. Their paths are dotted, as the file names its entries: `layers.0.weight`.
// What containers hold stands first: a missing key explains the entries that are missing below it.
struct checkpoint_error : error {
  explicit checkpoint_error(const std::string& what, std::vector<mismatch> where = {})
      : error(describe_mismatches(what, where)), differences(std::move(where)) {}

  std::vector<mismatch> differences;
};

namespace detail {

// --- What a node is besides its children: sizes, keys, what is engaged.

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

// --- The file: compiled once. ------------------------------------------------------------------------------

// Collects a tree's entries, then writes them. Throws checkpoint_error for paths that two entries share.
class checkpoint_writer {
 public:
  checkpoint_writer();
  ~checkpoint_writer();
  checkpoint_writer(const checkpoint_writer&) = delete;
  checkpoint_writer& operator=(const checkpoint_writer&) = delete;

  void add_array(const path_view& path, const ::mlx::core::array& value);
  void add_text(const char* kind, const path_view& path, std::string text);  // kind: "leaf", "aux" or "node"
  void write(const std::filesystem::path& file, std::uint64_t structure_hash);

 private:
  struct contents;
  std::unique_ptr<contents> contents_;
};

// Opens a file, and hands out its entries to a tree that asks for each of its own; what does not fit is noted.
class checkpoint_reader {
 public:
  explicit checkpoint_reader(const std::filesystem::path& file);
  ~checkpoint_reader();
  checkpoint_reader(const checkpoint_reader&) = delete;
  checkpoint_reader& operator=(const checkpoint_reader&) = delete;

  ::mlx::core::array array(const path_view& path, const ::mlx::core::array& like);
  // The text of an entry, if it is there; `expected` says in a report what was asked for.
  std::optional<std::string> text(const char* kind, const path_view& path, const std::string& expected);
  void note(const path_view& path, std::string expected, std::string found);
  void check_node(const path_view& path, const std::string& text);
  // Compares the nodes, notes what nobody asked for; throws if there are notes; then reads all arrays.
  void finish();

 private:
  struct contents;
  std::unique_ptr<contents> contents_;
};

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

template <class T> void save_tree(checkpoint_writer& out, const path_view& path, const T& tree) {
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
template <class T> T load_value(checkpoint_reader& in, const char* kind, const path_view& path, const T& current) {
  const std::string expected = "a value such as " + to_typed_text(current);
  const std::optional<std::string> text = in.text(kind, path, expected);
  if (!text) return current;
  if (std::optional<T> value = from_typed_text<T>(*text)) return std::move(*value);
  in.note(path, expected, *text);
  return current;
}

template <class T> T load_tree(checkpoint_reader& in, const path_view& path, const T& tree);

// Children for node::assemble, of a node that carries aux data.
template <class T, class Children> struct child_loader {
  checkpoint_reader& in;
  const path_view& path;
  Children& children;

  template <std::size_t I> typename child_at<T, I>::type operator()(index<I>) const {
    return load_tree<typename child_at<T, I>::type>(in, path / product_key<T>{I}, get_child<I>(children));
  }
};

// Children for rebuild, of every other node.
struct element_loader {
  checkpoint_reader& in;
  const path_view& path;

  template <class Child, class Key> Child operator()(type_tag<Child>, const Key& key, const Child& child) const {
    return load_tree<Child>(in, path / key, child);
  }
};

template <class T> T load_node_with_aux(checkpoint_reader& in, const path_view& path, const T& tree) {
  const auto current = node_of<T>::aux(tree);
  const auto values = [&]<std::size_t... J>(std::index_sequence<J...>) {
    return aux_values<T>{
        load_value<std::tuple_element_t<J, aux_values<T>>>(in, "aux", aux_path<T, J>(path), std::get<J>(current))...};
  }(std::make_index_sequence<std::tuple_size_v<aux_values<T>>>{});
  auto&& children = detail::open(tree);
  return node_of<T>::assemble(values, child_loader<T, std::remove_reference_t<decltype(children)>>{in, path, children});
}

// The tree from the file's values; its own where they do not fit, which the reader then knows.
template <class T> T load_tree(checkpoint_reader& in, const path_view& path, const T& tree) {
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

}  // namespace detail

// Writes a tree to a file, whatever its name ends with. The arrays are evaluated; those of more than one use
// are written more than once. The file appears under its name only when it is complete (it is written beside
// it and renamed); a file that was there is replaced. Throws checkpoint_error if two leaves have the same
// dotted path (`m["a.b"]["c"]` and `m["a"]["b.c"]` have), if a path is not UTF-8, if an array is float64, which
// MLX does not write, or if the file cannot be written; the old file is then untouched.
//
// Metadata: espalier.version; espalier.structure_hash, structure_hash_v<Tree> in hexadecimal, for people and
// tools; typed text under leaf:PATH, aux:PATH and node:PATH (what a container holds: sizes, keys, None).
// Arrays without elements, which MLX does not write, are text as well.
template <class Tree> void save_safetensors(const std::filesystem::path& file, const Tree& tree) {
  static_assert(detail::require_trees<Tree>());
  detail::checkpoint_writer out;
  detail::save_tree(out, path_view{}, tree);
  out.write(file, structure_hash_v<Tree>);
}

// Replaces every leaf and aux value of a tree by the file's. The tree gives the structure: sizes, keys, which
// optionals are engaged, shapes and dtypes must be the file's. Throws checkpoint_error, and leaves the tree
// untouched, if the file cannot be read, is truncated or no safetensors file (what() names the file), or does
// not fit: then it lists every missing, unexpected and differing entry. Everything is read and checked before
// the tree is changed. Files of other programs fit if their tensors do, and the tree has no other leaves or
// aux data.
template <class Tree> void load_safetensors(const std::filesystem::path& file, Tree& tree) {
  static_assert(detail::require_trees<Tree>());
  static_assert(!std::is_const_v<Tree>, "espalier: load_safetensors: the tree is const; give one that can be changed");
  detail::checkpoint_reader in(file);
  Tree loaded = detail::load_tree(in, path_view{}, std::as_const(tree));
  in.finish();
  detail::replace(tree, std::move(loaded));
}

}  // namespace espalier
