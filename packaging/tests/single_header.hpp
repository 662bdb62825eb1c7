// What both units of the single header's test share.
#pragma once

#include <espalier.hpp>
#include <string>
#include <vector>

struct layer {
  std::vector<double> weight;
  double bias;
};

struct model {
  std::vector<layer> layers;
  espalier::aux<int> step;
};

std::string printed_by_a(const model& tree);
constexpr std::uint64_t hash_here() { return espalier::structure_hash_v<model>; }
std::uint64_t hash_of_a();
