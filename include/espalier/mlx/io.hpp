// Checkpoints: any tree as a safetensors file, by dotted key path. Arrays are tensors (`layers.0.weight`),
// which MLX in Python and every other reader of the format finds by name; all other leaves and all aux values
// are typed text in the file's metadata (`leaf:layers.0.stride` is `i32:2`).
//
//   espalier::save_safetensors("model.safetensors", model);
//   espalier::load_safetensors("model.safetensors", model);  // all of it, or an error with every difference
#pragma once

#include <mlx/array.h>

#include <array>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <espalier/aux.hpp>
#include <espalier/detail/types.hpp>
#include <espalier/encode.hpp>
#include <espalier/errors.hpp>
#include <espalier/mlx/array.hpp>
#include <espalier/path.hpp>
#include <espalier/structure.hpp>
#include <espalier/visit.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace espalier {

// A checkpoint cannot be written or read, or does not fit the tree; then `differences` has every entry that
// is missing, unexpected, or of another shape or type, with its path in the tree (of an unexpected one, its
// name in the file).
struct checkpoint_error : error {
  explicit checkpoint_error(const std::string& what, std::vector<mismatch> where = {})
      : error(describe_mismatches(what, where)), differences(std::move(where)) {}

  std::vector<mismatch> differences;
};

namespace detail {

// --- Values as typed text, and back: exact in type and bits. -----------------------------------------------
//
//   bool:true  i32:42  u8:7  char8:65  enum:i32:2  f32:0.1  f64:nan:7ff8000000000000  complex(f32:1,f32:0)
//   str:5:hello (with the number of bytes)  hex:ff00 (a string that is no UTF-8)  none  some(i32:1)
//   alternative:1(f32:2)  [i32:1,i32:2]  (i32:1,bool:false)  {x=i32:1,y=i32:2}

// The text is not what a value of the type is written as.
struct bad_text {};

void write_bool(std::string& out, bool value);
void write_integer(std::string& out, char sign, std::size_t bits,
                   std::uint64_t value);  // sign: i, u, or c for characters
void write_float(std::string& out, float value);
void write_float(std::string& out, double value);
void write_string(std::string& out, std::string_view value);

// Each takes its text off the front, or throws bad_text.
void read_exactly(std::string_view& in, std::string_view expected);
bool read_bool(std::string_view& in);
std::uint64_t read_integer(std::string_view& in, char sign, std::size_t bits);
float read_float(std::string_view& in, float);
double read_float(std::string_view& in, double);
std::string read_string(std::string_view& in);
std::size_t read_count(std::string_view& in);

template <class T> struct cannot_be_saved {
  static_assert(always_false<T>,
                "espalier: save_safetensors, load_safetensors: a leaf or aux value of this type (named beside "
                "this message) cannot be written to a file. What can: MLX arrays, bool, characters, integers, "
                "float, double, enums, std::string, std::complex, and, as aux data, aggregates and standard "
                "containers of these");
};

template <class T>
inline constexpr char integer_sign = is_one_of<T, char, wchar_t, char8_t, char16_t, char32_t> ? 'c'
                                     : std::is_signed_v<T>                                    ? 'i'
                                                                                              : 'u';

template <class T> void write_value(std::string& out, const T& value);

// The items between brackets.
template <class... T> void write_items(std::string& out, char open, char close, const T&... item) {
  out += open;
  bool first = true;
  ((out.append(first ? "" : ","), first = false, write_value(out, item)), ...);
  out += close;
}

template <class T> void write_value(std::string& out, const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    write_bool(out, value);
  } else if constexpr (is_one_of<T, float, double>) {
    write_float(out, value);
  } else if constexpr (std::is_integral_v<T>) {
    write_integer(out, integer_sign<T>, 8 * sizeof(T), static_cast<std::uint64_t>(value));
  } else if constexpr (std::is_enum_v<T>) {
    out += "enum:";
    write_value(out, static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (std::is_same_v<T, std::string>) {
    write_string(out, value);
  } else if constexpr (is_specialization<T, std::complex>) {
    out += "complex";
    write_items(out, '(', ')', value.real(), value.imag());
  } else if constexpr (is_specialization<T, aux>) {
    write_value(out, value.value);
  } else if constexpr (is_specialization<T, std::optional>) {
    out += value ? "some" : "none";
    if (value) write_items(out, '(', ')', *value);
  } else if constexpr (is_specialization<T, std::variant>) {
    out += "alternative:" + std::to_string(value.index());
    std::visit([&](const auto& held) { write_items(out, '(', ')', held); }, value);
  } else if constexpr (is_ordered_range<T> || is_unordered_range<T>) {
    out += '[';
    bool first = true;
    for (const typename T::value_type& element : value) {
      out.append(first ? "" : ",");
      first = false;
      write_value(out, element);
    }
    out += ']';
  } else if constexpr (is_specialization<T, std::tuple> || is_specialization<T, std::pair>) {
    std::apply([&](const auto&... element) { write_items(out, '(', ')', element...); }, value);
  } else if constexpr (reflect::reflectable<T> && encodable<T> && !requires { sizeof(value_encoder<T>); }) {
    out += '{';
    if constexpr (!std::is_empty_v<T>) {
      reflect::with_fields(value, [&](const auto&... field) {
        std::size_t i = 0;
        ((out.append(i == 0 ? "" : ",").append(reflect::field_names_v<T>[i]).append("="), ++i, write_value(out, field)),
         ...);
      });
    }
    out += '}';
  } else {
    static_assert(sizeof(cannot_be_saved<T>) > 0);
  }
}

template <class T> T read_value(std::string_view& in);

// Reads one item after another, with commas between.
struct item_reader {
  std::string_view& in;
  bool first = true;

  template <class T> T next() {
    separate();
    return read_value<T>(in);
  }
  void separate() {
    if (!first) read_exactly(in, ",");
    first = false;
  }
};

template <class T> struct field_reader {
  item_reader& items;

  template <std::size_t I> std::remove_cv_t<reflect::field_t<T, I>> operator()(index<I>) const {
    items.separate();
    read_exactly(items.in, reflect::field_names_v<T>[I]);
    read_exactly(items.in, "=");
    return read_value<std::remove_cv_t<reflect::field_t<T, I>>>(items.in);
  }
};

template <class T, std::size_t I = 0> T read_alternative(std::string_view& in, std::size_t held) {
  if constexpr (I == std::variant_size_v<T>) {
    throw bad_text{};
  } else {
    if (held != I) return read_alternative<T, I + 1>(in, held);
    return T(std::in_place_index<I>, read_value<std::variant_alternative_t<I, T>>(in));
  }
}

template <class T> T read_value(std::string_view& in) {
  item_reader items{in};
  if constexpr (std::is_same_v<T, bool>) {
    return read_bool(in);
  } else if constexpr (is_one_of<T, float, double>) {
    return read_float(in, T{});
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(read_integer(in, integer_sign<T>, 8 * sizeof(T)));
  } else if constexpr (std::is_enum_v<T>) {
    read_exactly(in, "enum:");
    return static_cast<T>(read_value<std::underlying_type_t<T>>(in));
  } else if constexpr (std::is_same_v<T, std::string>) {
    return read_string(in);
  } else if constexpr (is_specialization<T, std::complex>) {
    read_exactly(in, "complex(");
    const auto real = items.template next<typename T::value_type>();
    const auto imaginary = items.template next<typename T::value_type>();
    read_exactly(in, ")");
    return T(real, imaginary);
  } else if constexpr (is_specialization<T, aux>) {
    return T(read_value<typename T::value_type>(in));
  } else if constexpr (is_specialization<T, std::optional>) {
    if (in.starts_with("none")) {
      read_exactly(in, "none");
      return std::nullopt;
    }
    read_exactly(in, "some(");
    T value(read_value<typename T::value_type>(in));
    read_exactly(in, ")");
    return value;
  } else if constexpr (is_specialization<T, std::variant>) {
    read_exactly(in, "alternative:");
    const std::size_t held = read_count(in);
    read_exactly(in, "(");
    T value = read_alternative<T>(in, held);
    read_exactly(in, ")");
    return value;
  } else if constexpr (is_std_array<T>) {
    read_exactly(in, "[");
    T value = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return T{((void)I, items.template next<typename T::value_type>())...};
    }(std::make_index_sequence<std::tuple_size_v<T>>{});
    read_exactly(in, "]");
    return value;
  } else if constexpr (is_ordered_range<T> || is_unordered_range<T>) {
    T value;
    read_exactly(in, "[");
    while (!in.starts_with(']')) value.insert(value.end(), items.template next<typename T::value_type>());
    read_exactly(in, "]");
    return value;
  } else if constexpr (is_specialization<T, std::tuple> || is_specialization<T, std::pair>) {
    read_exactly(in, "(");
    T value = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return T{items.template next<std::remove_cv_t<std::tuple_element_t<I, T>>>()...};
    }(std::make_index_sequence<std::tuple_size_v<T>>{});
    read_exactly(in, ")");
    return value;
  } else if constexpr (std::is_empty_v<T>) {
    read_exactly(in, "{}");
    return T{};
  } else if constexpr (reflect::reflectable<T>) {
    read_exactly(in, "{");
    T value = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return reflect::construct<T>(field_reader<T>{items}, index<I>{}...);
    }(std::make_index_sequence<reflect::field_count_v<T>>{});
    read_exactly(in, "}");
    return value;
  } else {
    static_assert(sizeof(cannot_be_saved<T>) > 0);
  }
}

// --- What a node is besides its children: sizes, keys, what is engaged.

template <class T> std::string node_text(const T& tree) {
  constexpr node_kind kind = kind_of<T>;
  std::string text;
  if constexpr (!pytree_name<T>.empty()) text.append("named ").append(pytree_name<T>);
  if constexpr (kind == node_kind::sequence) {
    text = count_text(node_of<T>::size(tree), "element");
  } else if constexpr (kind == node_kind::maybe) {
    text = tree ? "a value" : "None";
  } else if constexpr (kind == node_kind::variant) {
    text = "alternative " + std::to_string(tree.index());
  } else if constexpr (kind == node_kind::map) {
    text = "the keys [";
    for (auto entry = tree.begin(); entry != tree.end(); ++entry) {
      text.append(entry == tree.begin() ? "" : ",");
      if constexpr (is_string_key<typename T::key_type>) {
        write_string(text, std::string_view(entry->first));
      } else {
        write_value(text, entry->first);
      }
    }
    text += ']';
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

// Opens a file, and hands out its entries to a tree that asks for each of its own; what does not fit is
// noted.
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
  // Notes what nobody asked for; throws if there are notes; then reads all arrays.
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
    std::string text;
    write_value(text, tree);
    out.add_text("leaf", path, std::move(text));
  } else {
    if (std::string text = node_text(tree); !text.empty()) out.add_text("node", path, std::move(text));
    if constexpr (carries_aux<T>) {
      const auto values = node_of<T>::aux(tree);
      [&]<std::size_t... J>(std::index_sequence<J...>) {
        const auto one = [&]<std::size_t I>(index<I>) {
          std::string text;
          write_value(text, std::get<I>(values));
          out.add_text("aux", aux_path<T, I>(path), std::move(text));
        };
        (one(index<J>{}), ...);
      }(std::make_index_sequence<std::tuple_size_v<decltype(values)>>{});
    }
    for_each_child([&](const auto& key, const auto& child) { save_tree(out, path / key, child); }, tree);
  }
}

// A value from the file; the tree's own, and a note, where it is not there or not of the type.
template <class T> T load_value(checkpoint_reader& in, const char* kind, const path_view& path, const T& current) {
  std::string expected = "a value such as ";
  write_value(expected, current);
  const std::optional<std::string> text = in.text(kind, path, expected);
  if (!text) return current;
  try {
    std::string_view rest = *text;
    T value = read_value<T>(rest);
    if (rest.empty()) return value;
  } catch (const bad_text&) {
  }
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
