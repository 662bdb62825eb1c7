// Mapping some leaves: `tree_map_only<T>` calls the function at leaves of type T, and at nodes of type T as a whole;
// everything else passes through.
//
//   model = espalier::tree_map_only<Linear>([](const Linear& l) { return quantize(l); }, model);
#pragma once

#include <espalier/map.hpp>
#include <type_traits>
#include <utility>

namespace espalier {

// tree_map over the leaves and nodes whose type is one of T; other leaves are passed on, copied or, from an rvalue,
// moved. Every T must occur in the tree. (jax.tree.map with is_leaf and isinstance.)
template <class... T, class F, class First, class... Rest>
constexpr auto tree_map_only(F&& f, First&& first, Rest&&... rest) {
  static_assert(sizeof...(T) > 0,
                "espalier: tree_map_only: name the types that are mapped, as in tree_map_only<double>");
  auto some = [&f]<class L, class... R>(L&& leaf, R&&... beside) ESPALIER_INLINE_LAMBDA {
    if constexpr (detail::is_one_of<std::remove_cvref_t<L>, T...>) {
      return f(std::forward<L>(leaf), std::forward<R>(beside)...);
    } else {
      return std::remove_cvref_t<L>(std::forward<L>(leaf));
    }
  };
  return detail::map_leaves<false, detail::types<T...>>("tree_map_only", some, std::forward<First>(first),
                                                        std::forward<Rest>(rest)...);
}

}  // namespace espalier
