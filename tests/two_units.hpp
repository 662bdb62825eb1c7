// What both units of the two-unit test compute for themselves.
#pragma once

#include <cstdint>
#include <espalier/structure.hpp>
#include <vector>

#include "corpus.hpp"

namespace {

template <template <class...> class List, class... T> std::vector<std::uint64_t> static_hashes(List<T...>) {
  return {espalier::structure_hash_v<T>...};
}

template <template <class...> class List, class... T> std::vector<std::uint64_t> dynamic_hashes(List<T...>) {
  std::vector<std::uint64_t> result;
  const auto add = [&]<class U>(const std::vector<U>& trees) {
    for (const U& tree : trees) result.push_back(espalier::treedef<U>(tree).hash());
  };
  (add(corpus::examples<T>()), ...);
  return result;
}

// A type that is another one in each unit, of the same structure.
struct local {
  std::vector<local> children;
  espalier::aux<int> step;
};

std::vector<std::uint64_t> hashes_here() {
  auto result = static_hashes(corpus::types());
  result.push_back(espalier::structure_hash_v<local>);
  return result;
}
std::vector<std::uint64_t> dynamic_hashes_here() {
  auto result = dynamic_hashes(corpus::types());
  result.push_back(espalier::treedef<local>(local{{local{{}, 1}}, 2}).hash());
  return result;
}

}  // namespace

std::vector<std::uint64_t> hashes_of_a();
std::vector<std::uint64_t> dynamic_hashes_of_a();
