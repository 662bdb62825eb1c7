// A tree as a graph for Graphviz.
//
//   std::ofstream("model.dot") << espalier::tree_to_dot(model);      // dot -Tsvg model.dot > model.svg
#pragma once

#include <cstddef>
#include <espalier/detail/outline.hpp>
#include <string>

namespace espalier {

namespace detail {

// Text between double quotes.
inline std::string dot_quoted(const std::string& text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '\n') {
      quoted += "\\n";
    } else {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
  }
  return quoted + '"';
}

// Writes a node and what is below it; gives back its number.
inline std::size_t write_dot(std::string& out, const outline& node, std::size_t& next) {
  const std::size_t number = next++;
  const std::string here = "  n" + std::to_string(number);
  std::string label = node.is_node() ? node.name + node.open + node.close : node.value;
  if (!node.type.empty()) label += "\n" + node.type;
  for (const auto& aux : node.aux) label += "\n" + aux_text(aux);
  out += here + " [label=" + dot_quoted(label) + (node.is_node() ? "" : ", shape=box") + "];\n";
  for (const outline& child : node.children) {
    const std::size_t below = write_dot(out, child, next);
    out += here + " -> n" + std::to_string(below) + " [label=" + dot_quoted(child.key) + "];\n";
  }
  return number;
}

}  // namespace detail

// The tree in the DOT language: an ellipse for each node, with its brackets (as in a treedef), its pytree_name and its aux
// data; a box for each leaf, with its value or, of an array, its dtype and shape; keys at the edges.
template <class Tree> std::string tree_to_dot(const Tree& tree) {
  static_assert(detail::require_trees<Tree>());
  std::string out = "digraph tree {\n  node [fontname=\"monospace\"];\n  edge [fontname=\"monospace\"];\n";
  std::size_t next = 0;
  detail::write_dot(out, detail::outline_of(tree), next);
  return out + "}\n";
}

}  // namespace espalier
