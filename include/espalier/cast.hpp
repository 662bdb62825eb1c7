// A tree in another precision: `tree_cast`.
//
//   auto half = espalier::tree_cast<float>(model);      // the floating-point leaves as floats
#pragma once

#include <concepts>
#include <espalier/map.hpp>
#include <espalier/parameters.hpp>
#include <espalier/structure.hpp>

namespace espalier {

namespace detail {

template <class Leaf, class To> using cast_leaf = std::conditional_t<std::floating_point<Leaf>, To, Leaf>;

// What a leaf of a tree becomes: a variant, if leaves change that do not all become one type.
template <class To, class Leaf, class Leaves> struct cast_result;
template <class To, class Leaf, class... L> struct cast_result<To, Leaf, types<L...>> {
  using alone = cast_leaf<Leaf, To>;
  static constexpr bool unchanged = (std::is_same_v<cast_leaf<L, To>, L> && ...);
  using all = typename subtree_value<types<types<L, cast_leaf<L, To>>...>>::type;
  using type = std::conditional_t<unchanged, alone, all>;
};

template <class To, class Leaves> struct cast_to {
  template <class L> constexpr auto operator()(L&& leaf) const {
    using Leaf = std::remove_cvref_t<L>;
    using Result = typename cast_result<To, Leaf, Leaves>::type;
    if constexpr (engine_array<Leaf>) {
      return Result(array_traits<Leaf>::template cast<To>(leaf));
    } else if constexpr (std::floating_point<Leaf>) {
      return Result(static_cast<To>(leaf));
    } else {
      return Result(std::forward<L>(leaf));
    }
  }
};

}  // namespace detail

// The tree with its floating-point leaves, and the engine arrays of floating-point dtype, converted to To (as
// mlx.nn.Module.set_dtype); all other leaves are passed on, copied or, from an rvalue, moved. Gives what tree_map gives:
// the same struct where no leaf's type changes, else the struct rebound if it is a template over its leaf, else
// leaf_array<T, To> (include espalier/leaf_array.hpp), of a std::variant if the leaves become of several types.
template <class To, class Tree> constexpr auto tree_cast(Tree&& tree) {
  static_assert(std::floating_point<To>,
                "espalier: tree_cast: name the floating-point type that the leaves are converted to, as in "
                "tree_cast<float>(tree)");
  return espalier::tree_map(detail::cast_to<To, detail::leaf_types<std::remove_cvref_t<Tree>>>{},
                            std::forward<Tree>(tree));
}

}  // namespace espalier
