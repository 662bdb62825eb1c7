// tree_check: leaves that are one object are found and named by path.

#include <espalier/check.hpp>
#include <memory>

#include "corpus.hpp"

namespace {

// A handle, as an engine's arrays are.
struct handle {
  std::shared_ptr<double> buffer;
};
handle make(double x) { return {std::make_shared<double>(x)}; }

}  // namespace

template <> inline constexpr bool espalier::is_leaf_type<handle> = true;
template <> struct espalier::leaf_identity<handle> {
  static const void* of(const handle& leaf) { return leaf.buffer.get(); }
};
template <> inline constexpr bool espalier::is_leaf_type<std::shared_ptr<int>> = true;

namespace {

using namespace espalier;

struct net {
  handle embedding;
  std::vector<handle> layers;
  handle head;
};

std::vector<mismatch> shared_in(const auto& tree) {
  try {
    tree_check(tree);
  } catch (const structure_error& e) {
    return e.differences;
  }
  return {};
}

TEST(check, distinct_leaves_pass) {
  EXPECT_NO_THROW(tree_check(net{make(1), {make(1), make(1)}, make(1)}));
  EXPECT_NO_THROW(tree_check(net{})) << "handles to nothing are not shared";
}

TEST(check, every_shared_leaf_is_named_with_its_first_place) {
  const handle tied = make(1);
  const handle other = make(2);
  EXPECT_EQ(shared_in(net{tied, {other, other, make(3)}, tied}),
            (std::vector<mismatch>{{".layers[1]", "a leaf of its own", "that of .layers[0]"},
                                   {".head", "a leaf of its own", "that of .embedding"}}));
}

TEST(check, shared_pointers_that_are_leaves) {
  const auto p = std::make_shared<int>(1);
  EXPECT_EQ(shared_in(std::pair(p, p)), (std::vector<mismatch>{{"[1]", "a leaf of its own", "that of [0]"}}));
}

TEST(check, equal_values_are_not_shared) {
  EXPECT_NO_THROW(tree_check(std::vector<double>(3, 1.0)));
  EXPECT_NO_THROW(tree_check(corpus::examples<corpus::tokens>()[0]));
}

}  // namespace
