// One of the two units that the single header is tested in.

#include "single_header.hpp"

std::string printed_by_a(const model& tree) { return espalier::tree_print(tree); }
std::uint64_t hash_of_a() { return hash_here(); }
