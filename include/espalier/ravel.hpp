// A tree of numbers as one flat array of one type, and back: `tree_ravel`, as jax.flatten_util.ravel_pytree.
//
//   auto [flat, unravel] = espalier::tree_ravel(params);       // flat: the leaves, in order
//   minimize(flat);
//   params = unravel(flat);
//
// Where the leaves already are numbers of one type side by side, tree_span (espalier/span.hpp) gives them without a copy.
#pragma once

#include <array>
#include <cstddef>
#include <espalier/errors.hpp>
#include <espalier/flatten.hpp>
#include <espalier/promote.hpp>
#include <espalier/structure.hpp>
#include <espalier/visit.hpp>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

namespace espalier {

namespace detail {

// A number in another number's type, as dtypes are converted: a real part where only that fits.
template <class To, class From> constexpr To convert_number(const From& x) {
  if constexpr (is_complex<From> && !is_complex<To>) {
    return static_cast<To>(x.real());
  } else if constexpr (is_complex<To> && !is_complex<From>) {
    return To(static_cast<typename To::value_type>(x));
  } else {
    return static_cast<To>(x);
  }
}

template <class T> struct flat_numbers {
  using type = std::vector<promoted_leaf_t<T>>;
};
template <static_structure T> struct flat_numbers<T> {
  using type = std::array<promoted_leaf_t<T>, static_leaf_count<T>>;
};

// A number that turns into any leaf.
template <class Number> struct raveled {
  Number value;
  template <number L> constexpr operator L() const { return convert_number<L>(value); }
};

}  // namespace detail

// Gives the tree back, from as many numbers as it has leaves.
template <tree_of_numbers T> class unraveler {
 public:
  explicit constexpr unraveler(const T& tree) : structure_(tree) {}

  constexpr const treedef<T>& structure() const { return structure_; }

  // The tree with these leaves, each converted to its leaf's type as static_cast does (an integer is cut off, not
  // rounded). Throws leaf_error if their number is wrong.
  template <std::ranges::forward_range Numbers>
    requires number<std::ranges::range_value_t<Numbers>>
  constexpr T operator()(const Numbers& numbers) const {
    return structure_.unflatten(std::views::transform(
        numbers, [](const auto& x) { return detail::raveled<std::remove_cvref_t<decltype(x)>>{x}; }));
  }

 private:
  [[no_unique_address]] treedef<T> structure_;
};

// What tree_ravel returns; made for `auto [flat, unravel] = …`.
template <class T> struct raveled_tree {
  typename detail::flat_numbers<T>::type flat;
  [[no_unique_address]] unraveler<T> unravel;
};

// The leaves of a tree of numbers, in order, in the type in which they meet (promoted_t), and what makes the tree of such
// numbers again. No allocation over a static structure, which gives a std::array; otherwise one, for a std::vector (and
// what the structure takes).
template <class T> constexpr auto tree_ravel(const T& tree) {
  static_assert(detail::require_trees<T>());
  static_assert(
      tree_of_numbers<T>,
      "espalier: tree_ravel: a leaf of this tree is not a number; ravel the part of the tree that holds numbers alone");
  if constexpr (tree_of_numbers<T>) {
    using Number = promoted_leaf_t<T>;
    if constexpr (std::is_same_v<leaf_value_t<T>, Number>) {
      return raveled_tree<T>{espalier::tree_leaves(tree), unraveler<T>(tree)};
    } else {
      raveled_tree<T> result{{}, unraveler<T>(tree)};
      if constexpr (!static_structure<T>) result.flat.resize(result.unravel.structure().num_leaves());
      auto next = result.flat.begin();
      espalier::tree_visit([&next](const auto& leaf) { *next++ = detail::convert_number<Number>(leaf); }, tree);
      return result;
    }
  }
}

}  // namespace espalier
