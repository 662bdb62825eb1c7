// The unit that includes: what it computes is compared in imports.cpp.
#include <espalier/espalier.hpp>

#include "shared.hpp"

std::string printed_with_headers(const model& tree) { return espalier::tree_print(tree); }
std::uint64_t hash_with_headers() { return espalier::structure_hash_v<model>; }
