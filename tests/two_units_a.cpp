// The first of two translation units that must agree on every structure's hash; the second compares.

#include "two_units.hpp"

std::vector<std::uint64_t> hashes_of_a() { return hashes_here(); }
std::vector<std::uint64_t> dynamic_hashes_of_a() { return dynamic_hashes_here(); }
