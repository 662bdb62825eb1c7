// Folding the leaves of a tree into one value: `tree_reduce`, as jax.tree.reduce, and the commonest folds by name.
//
//   double norm2 = espalier::tree_reduce([](double sum, double x) { return sum + x * x; }, params, 0.0);
//   bool finite = espalier::tree_all(espalier::tree_map([](double x) { return std::isfinite(x); }, params));
#pragma once

#include <cstddef>
#include <espalier/errors.hpp>
#include <espalier/flatten.hpp>
#include <espalier/promote.hpp>
#include <espalier/visit.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace espalier {

namespace detail {

// One step of a fold: what is passed to tree_visit.
template <class F, class Result> struct fold_step {
  F& f;
  Result& result;

  template <class Leaf>
    requires std::is_invocable_r_v<Result, F&, Result, Leaf>
  ESPALIER_INLINE constexpr void operator()(Leaf&& leaf) const {
    static_assert(!std::is_integral_v<Result> || !std::is_floating_point_v<std::invoke_result_t<F&, Result, Leaf>>,
                  "espalier: tree_reduce: the function gives back a floating-point number, which the type of the "
                  "initial value cuts off; write that as 0.0");
    result = f(std::move(result), std::forward<Leaf>(leaf));
  }
};

}  // namespace detail

// f(…f(f(initial, leaf 0), leaf 1)…, leaf n-1): the result has the type of `initial`. No allocation.
template <class F, class Tree, class Result> constexpr Result tree_reduce(F&& f, Tree&& tree, Result initial) {
  espalier::tree_visit(detail::fold_step<std::remove_reference_t<F>, Result>{f, initial}, std::forward<Tree>(tree));
  return initial;
}

// The same of a tree whose nodes of type Stop are leaves (leaf_if.hpp).
template <class... Stop, class F, class Tree, class Result>
constexpr Result tree_reduce(leaf_if_t<Stop...> stop, F&& f, Tree&& tree, Result initial) {
  espalier::tree_visit(stop, detail::fold_step<std::remove_reference_t<F>, Result>{f, initial},
                       std::forward<Tree>(tree));
  return initial;
}

// The fold that begins with the first leaf, f(…f(leaf 0, leaf 1)…, leaf n-1), of a tree whose leaves have one type.
// Throws leaf_error if the tree has no leaves.
template <class F, class Tree> constexpr auto tree_reduce(F&& f, Tree&& tree) {
  using T = std::remove_cvref_t<Tree>;
  static_assert(detail::size_of_list<detail::leaf_types<T>> == 1,
                "espalier: tree_reduce: the leaves of this tree do not have one type; give an initial value of the "
                "result's type, as a third argument");
  std::optional<leaf_value_t<T>> result;
  espalier::tree_visit(
      [&]<class Leaf>(Leaf&& leaf) {
        if (result) {
          result = f(*std::move(result), std::forward<Leaf>(leaf));
        } else {
          result.emplace(std::forward<Leaf>(leaf));
        }
      },
      std::forward<Tree>(tree));
  if (!result) {
    throw leaf_error("espalier: tree_reduce: the tree has no leaves; give an initial value, as a third argument");
  }
  return *std::move(result);
}

// Whether every leaf is true, as jax.tree.all: true of a tree without leaves. Leaves are what converts to bool
// explicitly: all numbers do.
template <class Tree> ESPALIER_INLINE constexpr bool tree_all(const Tree& tree) {
  bool all = true;
  auto step = [&all]<class Leaf>(const Leaf& leaf)
    requires std::is_constructible_v<bool, const Leaf&>
  { all = all && static_cast<bool>(leaf); };
  espalier::tree_visit(step, tree);
  return all;
}

// Whether some leaf is true, as optree.tree_any: false of a tree without leaves.
template <class Tree> ESPALIER_INLINE constexpr bool tree_any(const Tree& tree) {
  bool any = false;
  auto step = [&any]<class Leaf>(const Leaf& leaf)
    requires std::is_constructible_v<bool, const Leaf&>
  { any = any || static_cast<bool>(leaf); };
  espalier::tree_visit(step, tree);
  return any;
}

namespace detail {

template <class Tree> struct sum_of {
  static_assert(tree_of_numbers<Tree>,
                "espalier: tree_sum: a leaf of this tree is not a number; use tree_reduce, with an initial value");
  using type = int;
};
template <tree_of_numbers Tree> struct sum_of<Tree> {
  using type = decltype(+promoted_leaf_t<Tree>{});
};

// What is compared for the largest leaf: the leaves' own type where they have one, else that in which numbers meet.
template <class Tree> struct compared_leaf {
  static_assert(size_of_list<leaf_types<Tree>> == 1,
                "espalier: tree_max, tree_min: the leaves of this tree are neither numbers nor all of one type; use "
                "tree_reduce");
  using type = leaf_value_t<Tree>;
};
template <tree_of_numbers Tree> struct compared_leaf<Tree> {
  using type = promoted_leaf_t<Tree>;
};

template <bool Greatest, class Tree> constexpr auto best_leaf(const Tree& tree) {
  using type = typename compared_leaf<Tree>::type;
  static_assert(
      requires(const type& a) { bool(a < a); },
      "espalier: tree_max, tree_min: the leaves of this tree have no < (complex numbers, for one, have no order)");
  std::optional<type> best;
  const auto consider = [&](const type& leaf) {
    const bool better = !best || (Greatest ? *best < leaf : leaf < *best);
    if constexpr (number<type>) {
      best = better ? leaf : *best;  // without a branch: a single instruction
    } else {
      if (better) best = leaf;
    }
  };
  espalier::tree_visit([&](const auto& leaf) { consider(static_cast<const type&>(leaf)); }, tree);
  return best;
}

template <class Best> constexpr auto require_best(const char* operation, Best best) {
  if (!best) {
    throw leaf_error("espalier: " + std::string(operation) +
                     ": the tree has no leaves; say what to give back then, as a second argument");
  }
  return *std::move(best);
}

template <class Leaf, class Otherwise> constexpr auto best_or(std::optional<Leaf> best, Otherwise otherwise) {
  if constexpr (number<Leaf> && number<Otherwise>) {
    using met = promoted_t<Leaf, Otherwise>;
    return best ? static_cast<met>(*best) : static_cast<met>(otherwise);
  } else {
    return std::move(best).value_or(std::move(otherwise));
  }
}

// A leaf as a result, moved out of the copy that is folded. (An rvalue: a vector<bool> gives no references.)
template <class Result, class Leaf> ESPALIER_INLINE constexpr Result one_result(Leaf&& leaf) {
  using value = std::remove_cvref_t<Leaf>;
  if constexpr (is_variant<value> && !std::is_same_v<value, Result>) {
    return std::visit([](auto& held) { return Result(std::move(held)); }, leaf);
  } else {
    return Result(std::move(leaf));
  }
}

// The N leaves from `first` on, folded as a balanced tree of calls, written out: two functions of each depth of it.
template <class Result, std::size_t N, class F, class Iterator>
ESPALIER_INLINE constexpr Result reduce_balanced(F& f, Iterator first) {
  if constexpr (N == 1) {
    return one_result<Result>(*first);
  } else {
    Result left = reduce_balanced<Result, N / 2>(f, first);
    return f(std::move(left), reduce_balanced<Result, N - N / 2>(f, first + static_cast<std::ptrdiff_t>(N / 2)));
  }
}

// The same of a number of leaves that the type does not tell.
template <class Result, class F, class Iterator> constexpr Result reduce_balanced(F& f, Iterator first, std::size_t n) {
  if (n == 1) return one_result<Result>(*first);
  const std::size_t half = n / 2;
  Result left = reduce_balanced<Result>(f, first, half);
  return f(std::move(left), reduce_balanced<Result>(f, first + static_cast<std::ptrdiff_t>(half), n - half));
}

template <class Result, class F, class Tree>
ESPALIER_INLINE constexpr std::optional<Result> reduce_associative(F& f, Tree&& tree) {
  static_assert(std::is_invocable_r_v<Result, F&, Result, Result>,
                "espalier: tree_reduce_associative: the function must take two results and give back one, of the "
                "identity's type, or of the leaves' type where no identity is given");
  auto leaves = espalier::tree_leaves(std::forward<Tree>(tree));
  if constexpr (static_structure<std::remove_cvref_t<Tree>>) {
    constexpr std::size_t n = static_leaf_count<std::remove_cvref_t<Tree>>;
    if constexpr (n == 0) {
      return std::nullopt;
    } else {
      return reduce_balanced<Result, n>(f, leaves.begin());
    }
  } else {
    if (leaves.size() == 0) return std::nullopt;
    return reduce_balanced<Result>(f, leaves.begin(), leaves.size());
  }
}

}  // namespace detail

// The sum of the leaves, in order, as optree.tree_sum: in the type in which they meet (promoted_t), at least int. 0 of a
// tree without leaves.
template <class Tree> constexpr auto tree_sum(const Tree& tree) {
  using Sum = typename detail::sum_of<Tree>::type;
  return espalier::tree_reduce([](const Sum& sum, const auto& leaf) { return sum + static_cast<Sum>(leaf); }, tree,
                               Sum{});
}

// The largest leaf, the first of equals, as optree.tree_max: numbers of several types are compared in the type in which
// they meet (promoted_t). `otherwise`, of a tree without leaves, with which numbers meet too (so that an infinity stays
// one); without it, throws leaf_error.
template <class Tree> constexpr auto tree_max(const Tree& tree) {
  return detail::require_best("tree_max", detail::best_leaf<true>(tree));
}
template <class Tree, class Otherwise> constexpr auto tree_max(const Tree& tree, Otherwise otherwise) {
  return detail::best_or(detail::best_leaf<true>(tree), std::move(otherwise));
}

// The smallest leaf, in the same way.
template <class Tree> constexpr auto tree_min(const Tree& tree) {
  return detail::require_best("tree_min", detail::best_leaf<false>(tree));
}
template <class Tree, class Otherwise> constexpr auto tree_min(const Tree& tree, Otherwise otherwise) {
  return detail::best_or(detail::best_leaf<false>(tree), std::move(otherwise));
}

// The leaves folded in pairs, and pairs of pairs, as jax.tree.reduce_associative: f is called with the results of the
// first half of the leaves (the smaller one) and of the second, so that rounding errors grow with the logarithm of their
// number. The result has the type of the leaves, or that of `identity`, which a tree without leaves gives back; without
// one, such a tree throws leaf_error. Costs a copy of the leaves (none of an rvalue's): one allocation, or none over a
// static structure.
template <class F, class Tree> ESPALIER_INLINE constexpr auto tree_reduce_associative(F&& f, Tree&& tree) {
  using T = std::remove_cvref_t<Tree>;
  static_assert(detail::require_trees<T>());
  static_assert(
      detail::size_of_list<detail::leaf_types<T>> == 1,
      "espalier: tree_reduce_associative: the leaves of this tree do not have one type; give an identity of the "
      "result's type, as a third argument");
  auto result = detail::reduce_associative<leaf_value_t<T>>(f, std::forward<Tree>(tree));
  if (!result) {
    throw leaf_error(
        "espalier: tree_reduce_associative: the tree has no leaves; give an identity, as a third argument");
  }
  return *std::move(result);
}
template <class F, class Tree, class Result>
constexpr Result tree_reduce_associative(F&& f, Tree&& tree, Result identity) {
  auto result = detail::reduce_associative<Result>(f, std::forward<Tree>(tree));
  return result ? *std::move(result) : std::move(identity);
}

}  // namespace espalier
