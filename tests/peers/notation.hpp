// What Espalier gives, in the notation of README.md, as the text that Python's json.dumps writes.
#pragma once

#include <array>
#include <charconv>
#include <espalier/leaf_array.hpp>
#include <espalier/leaf_if.hpp>
#include <espalier/node.hpp>
#include <espalier/reflect/fields.hpp>
#include <espalier/reflect/names.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace peers {

// The answer to a question that throws, or that does not compile.
inline const std::string error = "error";

// What the JSON texts of parts are put together to.
inline std::string join(const std::vector<std::string>& parts, const std::string& open, const std::string& close) {
  std::string text = open;
  for (const std::string& part : parts) text += (&part == &parts.front() ? "" : ", ") + part;
  return text + close;
}
inline std::string list(const std::vector<std::string>& parts) { return join(parts, "[", "]"); }
inline std::string dict(const std::string& kind, const std::vector<std::string>& entries) {
  return "[\"" + kind + "\", " + join(entries, "{", "}") + "]";
}

inline std::string write_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

inline std::string write_number(double x) {
  std::array<char, 64> digits{};
  const std::string text(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), x).ptr);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;  // a float, also where it is whole
}

template <class T> std::string write(const T& value);

// A tree, with leaf(value) for each leaf; the nodes of the types Stop are leaves.
template <class... Stop, class T, class Leaf> std::string write_tree(const T& tree, Leaf&& leaf) {
  using espalier::node_kind;
  constexpr node_kind kind = espalier::detail::kind_of<T>;
  const auto below = [&](const auto& child) { return write_tree<Stop...>(child, leaf); };
  if constexpr (kind == node_kind::leaf || (std::is_same_v<T, Stop> || ...)) {
    return leaf(tree);
  } else if constexpr (kind == node_kind::record) {
    std::vector<std::string> entries;
    const auto add = [&](const auto& field) {
      std::string entry = write_string(espalier::reflect::field_names_v<T>[entries.size()]) + ": ";
      if constexpr (espalier::detail::is_aux<std::remove_cvref_t<decltype(field)>>) {
        entry += write(*field);
      } else {
        entry += below(field);
      }
      entries.push_back(std::move(entry));
    };
    espalier::reflect::with_fields(tree, [&](const auto&... field) { (add(field), ...); });
    return dict(std::string(name_of(&tree)), entries);
  } else if constexpr (kind == node_kind::tuple) {
    return std::apply([&](const auto&... child) { return list({"\"tuple\"", below(child)...}); }, tree);
  } else if constexpr (kind == node_kind::array || kind == node_kind::sequence) {
    std::vector<std::string> parts{"\"list\""};
    for (const auto& child : tree) parts.push_back(below(child));
    return list(parts);
  } else if constexpr (kind == node_kind::map) {
    constexpr bool by_text = std::is_same_v<typename T::key_type, std::string>;
    std::vector<std::string> entries;
    for (const auto& [key, child] : espalier::detail::map_entries(tree)) {
      if constexpr (by_text) {
        entries.push_back(write_string(key) + ": " + below(child));
      } else {
        entries.push_back('"' + std::to_string(key) + "\": " + below(child));
      }
    }
    return dict(by_text ? "dict" : "int_dict", entries);
  } else if constexpr (kind == node_kind::maybe) {
    return tree ? below(*tree) : "null";
  } else {
    static_assert(kind == node_kind::variant);
    return std::visit(below, tree);
  }
}

// Converts to any leaf.
struct any_leaf {
  template <class L>
    requires espalier::is_leaf_type<L>
  operator L() const {
    return L{};
  }
};

// The tree of a structure, with these texts for its leaves.
template <class T>
std::string write_leaves(const espalier::treedef<T>& structure, const std::vector<std::string>& leaves) {
  auto next = leaves.begin();
  return write_tree(structure.unflatten(std::vector<any_leaf>(leaves.size())), [&](const auto&) { return *next++; });
}

// A leaf, a tree, a leaf_array, or a variant of these.
template <class T> std::string write(const T& value) {
  if constexpr (std::is_same_v<T, std::monostate>) {
    return "";  // stands for the leaves of a type that has none, so there is no such value
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_integral_v<T>) {
    return std::to_string(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    return write_number(value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return write_string(value);
  } else if constexpr (espalier::detail::is_leaf_array<T>) {
    std::vector<std::string> leaves;
    for (const auto& leaf : value) leaves.push_back(write(leaf));
    return write_leaves(value.structure(), leaves);
  } else if constexpr (espalier::pytree<T>) {
    return write_tree(value, [](const auto& leaf) { return write(leaf); });
  } else if constexpr (espalier::detail::is_variant<T>) {
    return std::visit([](const auto& held) { return write(held); }, value);
  } else {
    // A tuple of leaf_arrays.
    return std::apply([](const auto&... part) { return list({"\"tuple\"", write(part)...}); }, value);
  }
}

// The elements of a range, one by one.
template <class Range> std::string write_each(const Range& range) {
  std::vector<std::string> parts;
  for (const auto& part : range) parts.push_back(write(part));
  return list(parts);
}

}  // namespace peers
