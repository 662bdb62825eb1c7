// The laws of the operations on parts of trees and on trees of trees, on random trees: partition and combine, broadcast,
// merge, transpose.

#include <cstddef>
#include <espalier/broadcast.hpp>
#include <espalier/errors.hpp>
#include <espalier/flatten.hpp>
#include <espalier/map.hpp>
#include <espalier/merge.hpp>
#include <espalier/partition.hpp>
#include <espalier/transpose.hpp>
#include <espalier/visit.hpp>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "random_trees.hpp"

namespace {

using namespace espalier;
using random_trees::a_tree, random_trees::check, random_trees::copied, random_trees::copy, random_trees::draw_below;

template <class T> inline constexpr bool has_leaves = !std::is_same_v<leaf_value_t<T>, std::monostate>;
template <class T>
inline constexpr bool has_tokens = std::is_same_v<T, corpus::token> || std::is_same_v<T, corpus::tokens>;

template <class T> struct parts_laws : testing::Test {};
TYPED_TEST_SUITE(parts_laws, corpus::types);

template <class T> void parts() {
  if constexpr (has_leaves<T>) {
    const auto tree = a_tree<T>();
    auto [selected, rest] = tree_partition(copy(*tree), [](const auto&) { return *rc::gen::arbitrary<bool>(); });
    const bool turned = *rc::gen::arbitrary<bool>();
    RC_ASSERT((turned ? tree_combine(std::move(rest), std::move(selected))
                      : tree_combine(std::move(selected), std::move(rest))) == *tree);
  }
}
TYPED_TEST(parts_laws, combine_undoes_partition) { check(parts<TypeParam>); }

template <class T> void broadcasts() {
  const auto tree = a_tree<T>();
  std::size_t sevens = 0;
  tree_visit([&](const auto&, short x) { sevens += x == 7 ? 1 : 0; }, *tree, tree_broadcast_prefix(short{7}, *tree));
  RC_ASSERT(sevens == tree_structure(*tree).num_leaves());
  if constexpr (!has_tokens<T>) {
    RC_ASSERT(tree_broadcast_prefix(*tree, *tree) == *tree);
    const auto [a, b] = tree_broadcast_common(*tree, *tree);
    RC_ASSERT(a == *tree);
    RC_ASSERT(b == *tree);
  }
}
TYPED_TEST(parts_laws, a_leaf_broadcasts_to_every_tree_and_a_tree_to_itself) { check(broadcasts<TypeParam>); }

template <class T> void merges() {
  const auto last = []<class L>(const auto&, L&& b) -> std::remove_cvref_t<L> { return std::forward<L>(b); };
  using maybe = std::optional<T>;
  const auto a = a_tree<T>();
  const auto b = a_tree<T>();
  const auto c = a_tree<T>();
  RC_ASSERT(tree_merge(copy(*a), copy(*a), last) == *a);
  RC_ASSERT(tree_merge(maybe(), maybe(copy(*a)), last).value() == *a);
  RC_ASSERT(tree_merge(maybe(copy(*a)), maybe(), last).value() == *a);

  const auto merged = [](auto merge) {
    try {
      return maybe(merge());
    } catch (const structure_error&) {
      return maybe();
    }
  };
  RC_ASSERT(merged([&] { return tree_merge(tree_merge(copy(*a), copy(*b), last), copy(*c), last); }) ==
            merged([&] { return tree_merge(copy(*a), tree_merge(copy(*b), copy(*c), last), last); }));
}
TYPED_TEST(parts_laws, merging_is_idempotent_and_associative_and_none_is_neutral) { check(merges<TypeParam>); }

template <class T> void transpositions() {
  using L = leaf_value_t<T>;
  if constexpr (has_leaves<T> && !detail::is_variant<L> && !std::is_same_v<L, T> && !detail::contains_itself<T>) {
    const auto tree = a_tree<T>();
    const auto size = static_cast<std::size_t>(1 + draw_below(3));
    const auto list = [&] {
      std::vector<T> result;
      result.push_back(copy(*tree));
      while (result.size() < size) result.push_back(tree_map(corpus::increase(), result.back()));
      return result;
    };
    RC_ASSERT(tree_transpose(tree_structure(std::vector<L>(size)), tree_transpose(list())) == list());
  }
}
TYPED_TEST(parts_laws, transposing_twice_is_the_identity) { check(transpositions<TypeParam>); }

}  // namespace
