// A tree as text: what people are shown of every node and leaf, read once and without types, for the views of
// print.hpp, graphviz.hpp and html.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <espalier/describe_value.hpp>
#include <espalier/detail/walk.hpp>
#include <espalier/parameters.hpp>
#include <espalier/path.hpp>
#include <espalier/promote.hpp>
#include <string>
#include <utility>
#include <vector>

namespace espalier::detail {

struct outline {
  std::string key;           // as in a key path: `.name`, `[3]`, `['name']`; empty at the root
  std::string value;         // of a leaf; "None" where an optional or a pointer holds nothing; empty of a node
  std::string type;          // of a leaf that is a number: float64, int32, …
  std::string name;          // of a node that has one (pytree_name)
  char open = 0, close = 0;  // the brackets of a node, as in a treedef
  std::size_t leaves = 0;    // here and below
  std::uint64_t bytes = 0;   // of these: those of an array's elements, or of the C++ object
  std::vector<std::pair<std::string, std::string>> aux;  // name, empty where it has none, and value
  std::vector<outline> children;

  bool is_node() const { return open != 0; }
};

template <class L> std::string number_type() {
  if constexpr (std::is_same_v<L, bool>) {
    return "bool";
  } else if constexpr (number<L>) {
    constexpr const char* kind = is_complex<L>                 ? "complex"
                                 : std::is_floating_point_v<L> ? "float"
                                 : std::is_signed_v<L>         ? "int"
                                                               : "uint";
    return kind + std::to_string(8 * sizeof(L));
  } else {
    return {};
  }
}

template <class T> void add_aux(outline& node, const T& tree) {
  const auto values = node_of<T>::aux(tree);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    const auto add = [&]<std::size_t J>(index<J>) {
      std::string name;
      if constexpr (requires { node_of<T>::template aux_key<J>(); }) print_key(name, node_of<T>::template aux_key<J>());
      node.aux.emplace_back(std::move(name), describe_value(std::get<J>(values)));
    };
    (add(index<I>{}), ...);
  }(std::make_index_sequence<std::tuple_size_v<std::remove_cvref_t<decltype(values)>>>{});
}

template <class T, class Path = no_path> outline outline_of(const T& tree, const Path& path = {}) {
  using N = node_of<T>;
  outline node;
  if constexpr (N::kind == node_kind::leaf) {
    node.value = describe_value(tree);
    node.type = number_type<T>();
    node.leaves = 1;
    node.bytes = sizeof(T);
    if constexpr (engine_array<T>) node.bytes = array_traits<T>::bytes(tree);
  } else if constexpr (N::kind == node_kind::maybe || N::kind == node_kind::variant) {
    node.value = "None";
    const auto inside = entered<T>(path);
    for_each_child([&](const auto&, const auto& child) { node = outline_of(child, inside); }, tree);
  } else {
    constexpr bool round = N::kind == node_kind::tuple || N::kind == node_kind::custom;
    constexpr bool square = N::kind == node_kind::array || N::kind == node_kind::sequence;
    node.open = round ? '(' : square ? '[' : '{';
    node.close = round ? ')' : square ? ']' : '}';
    node.name = pytree_name<T>;
    const auto inside = entered<T>(path);
    for_each_child(
        [&](const auto& key, const auto& child) {
          outline& added = node.children.emplace_back(outline_of(child, inside));
          print_key(added.key, key.entry());
          node.leaves += added.leaves;
          node.bytes += added.bytes;
        },
        tree);
    if constexpr (is_product<T>) {
      if constexpr (N::has_aux) add_aux(node, tree);
    }
  }
  return node;
}

// `name=value` of aux data; `aux=value` where it has no name.
inline std::string aux_text(const std::pair<std::string, std::string>& aux) {
  return (aux.first.empty() ? "aux" : aux.first) + "=" + aux.second;
}

inline std::string count_of(std::uint64_t n, const char* one, const char* many) {
  return std::to_string(n) + " " + (n == 1 ? one : many);
}

// "6 leaves, 48 bytes".
inline std::string size_text(const outline& node) {
  return count_of(node.leaves, "leaf", "leaves") + ", " + count_of(node.bytes, "byte", "bytes");
}

}  // namespace espalier::detail
