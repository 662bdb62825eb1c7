// A structure's hash is the same in every translation unit; see two_units_a.cpp.

#include "two_units.hpp"

namespace {

TEST(two_units, agree_on_static_hashes) { EXPECT_EQ(hashes_of_a(), hashes_here()); }
TEST(two_units, agree_on_dynamic_hashes) { EXPECT_EQ(dynamic_hashes_of_a(), dynamic_hashes_here()); }

}  // namespace
