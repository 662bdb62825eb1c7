// A tree with its values as text that people can read: `tree_print`, as equinox.tree_pformat.
//
//   std::cout << espalier::tree_print(model, 40);
//   {
//     .layers: [
//       {.weight: [0.5, -1], .bias: 2},
//       {.weight: [3, 1], .bias: None}
//     ],
//     .rate: 0.1
//   }
#pragma once

#include <cstddef>
#include <espalier/detail/outline.hpp>
#include <string>

namespace espalier {

namespace detail {

// The key as treedefs print it: `.name: `, `'name': `, `3: `; elements of sequences and tuples need none.
inline std::string printed_key(const outline& node, bool keyed) {
  if (node.key.empty() || (!keyed && node.key.front() == '[')) return {};
  return (node.key.front() == '[' ? node.key.substr(1, node.key.size() - 2) : node.key) + ": ";
}

inline std::string on_one_line(const outline& node, bool keyed = false) {
  std::string text = printed_key(node, keyed) + node.value;
  if (!node.is_node()) return text;
  text += node.name + node.open;
  const char* separator = "";
  for (const outline& child : node.children) {
    text += separator + on_one_line(child, node.open == '{');
    separator = ", ";
  }
  for (const auto& aux : node.aux) {
    text += separator + aux_text(aux);
    separator = ", ";
  }
  return text + node.close;
}

// Nodes that do not fit into the width have a line for each child; lists of leaves fill their lines.
inline void print_outline(std::string& out, const outline& node, bool keyed, std::size_t indent, std::size_t width) {
  const std::string line = on_one_line(node, keyed);
  if (!node.is_node() || indent + line.size() + 1 <= width) {
    out += line;
    return;
  }
  out += printed_key(node, keyed) + node.name + node.open;
  const std::size_t inside = indent + 2;
  std::size_t column = width;
  const char* separator = "";
  const auto place = [&](std::size_t length, bool fill) {
    out += separator;
    if (fill && column + 1 + length + 1 <= width) {
      out += ' ';
      column += 1;
    } else {
      out += "\n" + std::string(inside, ' ');
      column = inside;
    }
    column += length + 1;
    separator = ",";
  };
  for (const outline& child : node.children) {
    place(child.value.size(), node.open == '[' && !child.is_node());
    print_outline(out, child, node.open == '{', inside, width);
  }
  for (const auto& aux : node.aux) {
    place(0, false);
    out += aux_text(aux);
  }
  out += "\n" + std::string(indent, ' ') + node.close;
}

}  // namespace detail

// The tree as text of at most `width` columns, where that can be: nodes in the brackets of treedef::to_string, leaves as
// describe_value describes them, aux values behind `=`, pytree_name in front of what has one. No newline at the end.
template <class Tree> std::string tree_print(const Tree& tree, std::size_t width = 80) {
  static_assert(detail::require_trees<Tree>());
  std::string out;
  detail::print_outline(out, detail::outline_of(tree), false, 0, width);
  return out;
}

}  // namespace espalier
