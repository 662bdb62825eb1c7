// A tree of zeros in the shape of another: `tree_zeros_like`, as optax.tree.zeros_like.
//
//   Model momentum = espalier::tree_zeros_like(model);
#pragma once

#include <espalier/map.hpp>
#include <espalier/parameters.hpp>
#include <espalier/promote.hpp>

namespace espalier {

namespace detail {

// (What is neither a number nor an array is the map's compile error, by key path.)
struct zero_like {
  template <number L> constexpr L operator()(const L&) const { return L{}; }
  template <engine_array L> L operator()(const L& leaf) const { return array_traits<L>::zeros_like(leaf); }
};

}  // namespace detail

// The tree with every number 0, and every engine's array one of zeros of its shape and dtype; structure and aux data are
// the tree's. Costs the containers of the result.
template <class Tree> constexpr Tree tree_zeros_like(const Tree& tree) { return tree_map(detail::zero_like{}, tree); }

}  // namespace espalier
