// What is a leaf by itself, what becomes one, and how leaves are compared.

#include <complex>
#include <espalier/equal.hpp>
#include <espalier/flatten.hpp>
#include <espalier/leaf.hpp>
#include <limits>
#include <memory>
#include <optional>
#include <span>

#include "corpus.hpp"

namespace {

enum plain_enum { one, two };

// An aggregate, and a container, and a view, that their authors made leaves.
struct timestamp {
  long seconds, nanoseconds;
  bool operator==(const timestamp&) const = default;
};
struct bits : std::vector<bool> {
  using std::vector<bool>::vector;
};
// Compares to something that is no bool.
struct many {
  double a, b;
  friend std::array<bool, 2> operator==(const many& x, const many& y) { return {x.a == y.a, x.b == y.b}; }
};

}  // namespace

template <> inline constexpr bool espalier::is_leaf_type<timestamp> = true;
template <> inline constexpr bool espalier::is_leaf_type<std::vector<char>> = true;
template <> inline constexpr bool espalier::is_leaf_type<std::span<int>> = true;
template <> inline constexpr bool espalier::is_leaf_type<bits> = true;
template <> inline constexpr bool espalier::is_leaf_type<std::vector<bool>> = true;
template <> inline constexpr bool espalier::is_leaf_type<many> = true;
template <> struct espalier::leaf_equality<many> {
  static bool equal(const many& a, const many& b) { return a.a == b.a && a.b == b.b; }
};

namespace {

using namespace espalier;

template <class T> constexpr bool is_leaf = detail::kind_of<T> == node_kind::leaf;

static_assert(is_leaf<bool> && is_leaf<char> && is_leaf<unsigned char> && is_leaf<long long> && is_leaf<float> &&
              is_leaf<long double> && is_leaf<char32_t>);
static_assert(is_leaf<plain_enum> && is_leaf<corpus::color>);
static_assert(is_leaf<std::string> && is_leaf<std::wstring> && is_leaf<std::complex<float>>);
static_assert(is_leaf<timestamp>, "an aggregate that was made a leaf");
static_assert(is_leaf<std::vector<char>>, "a container that was made a leaf");
static_assert(!is_leaf<std::vector<signed char>>);
static_assert(is_leaf<std::span<int>>, "a view that was opted in");
static_assert(is_leaf<bits> && is_leaf<std::vector<bool>>);
static_assert(is_leaf<const int>);

static_assert(!pytree<int*> && !pytree<std::string_view> && !pytree<std::shared_ptr<int>> &&
              !pytree<std::span<double>>);
static_assert(!pytree<std::vector<int*>> && !pytree<std::tuple<int, std::optional<std::shared_ptr<int>>>>);

TEST(leaf, a_type_made_a_leaf_is_one_leaf_wherever_it_stands) {
  const std::tuple<timestamp, std::vector<char>, std::vector<timestamp>> tree({1, 2}, {'a', 'b'}, {{3, 4}, {5, 6}});
  EXPECT_EQ(tree_structure(tree).num_leaves(), 4u);
  const auto leaves = tree_leaves(tree);
  EXPECT_EQ(std::get<timestamp>(leaves[3]), (timestamp{5, 6}));
}

TEST(leaf, vector_bool_can_be_a_leaf) {
  const std::vector<std::vector<bool>> tree{{true, false}, {}};
  EXPECT_EQ(tree_structure(tree).num_leaves(), 2u);
}

TEST(leaf, equality_is_the_leafs_own) {
  EXPECT_TRUE((many{1, 2} == many{1, 3})[0]);
  EXPECT_TRUE(tree_equal(many{1, 2}, many{1, 2}));
  EXPECT_FALSE(tree_equal(std::vector<many>{{1, 2}}, std::vector<many>{{1, 3}}));
}

}  // namespace
