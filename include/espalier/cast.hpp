// A tree in another precision: `tree_cast`.
//
//   auto half = espalier::tree_cast<float>(model);      // the floating-point leaves as floats
#pragma once

#include <concepts>
#include <espalier/map.hpp>
#include <espalier/parameters.hpp>

namespace espalier {

namespace detail {

template <class To> struct cast_to {
  template <class L> constexpr auto operator()(L&& leaf) const {
    using Leaf = std::remove_cvref_t<L>;
    if constexpr (engine_array<Leaf>) {
      return array_traits<Leaf>::template cast<To>(leaf);
    } else if constexpr (std::floating_point<Leaf>) {
      return static_cast<To>(leaf);
    } else {
      return Leaf(std::forward<L>(leaf));
    }
  }
};

}  // namespace detail

// The tree with its floating-point leaves, and the engine arrays of floating-point dtype, converted to To (as
// mlx.nn.Module.set_dtype); all other leaves are passed on, copied or, from an rvalue, moved. Gives what tree_map gives:
// the same struct where no leaf's type changes, else the struct rebound if it is a template over its leaf, else
// leaf_array<T, To> (include espalier/leaf_array.hpp).
template <class To, class Tree> constexpr auto tree_cast(Tree&& tree) {
  static_assert(std::floating_point<To>,
                "espalier: tree_cast: name the floating-point type that the leaves are converted to, as in "
                "tree_cast<float>(tree)");
  return espalier::tree_map(detail::cast_to<To>{}, std::forward<Tree>(tree));
}

}  // namespace espalier
