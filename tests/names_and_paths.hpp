// What a tree is called inside, as text to compare: the names of a struct's fields, and the key paths of a tree's leaves.
#pragma once

#include <espalier/flatten.hpp>
#include <espalier/reflect/names.hpp>
#include <string>
#include <vector>

template <class T> std::vector<std::string> names_of() {
  return {espalier::reflect::field_names_v<T>.begin(), espalier::reflect::field_names_v<T>.end()};
}

template <class Tree> std::vector<std::string> paths_of(const Tree& tree) {
  std::vector<std::string> result;
  for (const espalier::key_path& path : espalier::tree_structure(tree).paths()) result.push_back(path.to_string());
  return result;
}
