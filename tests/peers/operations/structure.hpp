// The operations on structures. Those of an any_treedef do not know the names of structs.
#pragma once

#include <espalier/any_treedef.hpp>
#include <espalier/flatten.hpp>
#include <string>
#include <vector>

#include "../notation.hpp"

namespace peers {

// A structure whose type is not known, with "struct" for the names of structs.
inline std::string write_structure(const espalier::any_treedef& structure) {
  using espalier::node_kind;
  const espalier::detail::structure_data& data = structure.data();
  std::vector<std::string> parts;
  for (const espalier::any_treedef& child : structure.children()) parts.push_back(write_structure(child));
  switch (structure.kind()) {
    case node_kind::leaf:
      return write_string("*");
    case node_kind::record: {
      std::vector<std::string> entries;
      auto child = parts.begin();
      auto aux = data.nodes.front().values.begin();
      for (const auto& field : data.type_of(0).fields) {
        std::string value = field.is_aux ? (aux++)->text : *child++;
        if (value.starts_with('\'')) value = write_string(value.substr(1, value.size() - 2));  // a text as aux data
        entries.push_back(write_string(field.name) + ": " + value);
      }
      return dict("struct", entries);
    }
    case node_kind::map: {
      std::vector<std::string> entries;
      for (const auto& key : data.nodes.front().values) {
        entries.push_back(write_string(key.text) + ": " + parts[entries.size()]);
      }
      return dict(data.type_of(0).has_string_keys ? "dict" : "int_dict", entries);
    }
    case node_kind::maybe:
    case node_kind::variant:
      return parts.empty() ? "null" : parts.front();
    default:
      parts.insert(parts.begin(), structure.kind() == node_kind::tuple ? "\"tuple\"" : "\"list\"");
      return list(parts);
  }
}

template <class T> espalier::any_treedef any_structure(const T& tree) { return espalier::tree_structure(tree); }

template <class T> std::string num_leaves(const T& tree) { return write(espalier::tree_structure(tree).num_leaves()); }

template <class T> std::string num_nodes(const T& tree) { return write(espalier::tree_structure(tree).num_nodes()); }

template <class T> std::string num_children(const T& tree) { return write(any_structure(tree).num_children()); }

template <class T> std::string is_leaf(const T& tree) {
  const espalier::any_treedef structure = any_structure(tree);
  return write(structure.is_leaf() || structure.num_children() == 0);
}

template <class T> std::string entries(const T& tree) {
  const espalier::treedef<T> structure(tree);
  std::vector<std::string> keys;
  for (const espalier::key_entry& key : structure.entries()) {
    espalier::key_path path;
    path.push_back(key);
    keys.push_back(path.to_string());
  }
  return write_each(keys);
}

template <class T> std::string tree_structure(const T& tree) {
  const auto structure = espalier::tree_structure(tree);
  return write_leaves(structure, std::vector<std::string>(structure.num_leaves(), write_string("*")));
}

template <class T> std::string children(const T& tree) {
  std::vector<std::string> parts;
  for (const espalier::any_treedef& child : any_structure(tree).children()) parts.push_back(write_structure(child));
  return list(parts);
}

template <class T> std::string child(std::size_t index, const T& tree) {
  return write_structure(any_structure(tree).child(index));
}

template <class Outer, class Inner> std::string compose(const Outer& outer, const Inner& inner) {
  return write_structure(any_structure(outer).compose(any_structure(inner)));
}

template <class T> std::string round_trip(const T& tree) {
  const auto [leaves, structure] = espalier::tree_flatten(tree);
  return write(espalier::tree_unflatten(structure, leaves));
}

template <class T> std::string tree_unflatten(const std::vector<double>& leaves, const T& tree) {
  return write(espalier::tree_unflatten(espalier::tree_structure(tree), leaves));
}

template <class A, class B> std::string same_structure(const A& a, const B& b) {
  return write(espalier::tree_structure(a) == espalier::tree_structure(b));
}

}  // namespace peers
