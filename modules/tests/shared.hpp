// The types that a unit with the import and a unit with the headers share, to be read after either. It can name only
// what both of them have.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

struct layer {
  std::vector<double> weight;
  double bias;
};

struct model {
  std::vector<layer> layers;
  espalier::aux<int> step;
};

std::string printed_with_headers(const model& tree);
std::uint64_t hash_with_headers();
