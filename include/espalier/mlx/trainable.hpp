// Which parameters a gradient is taken of, by leaf type, by key path, or by a mask:
//
//   const auto head =
//       espalier::trainable([](const auto& path, const auto&) { return path.dotted().starts_with("head"); });
//   auto gradient = espalier::grad(loss, head)(model, batch);      // zero in all but the head
#pragma once

#include <mlx/array.h>

#include <cstddef>
#include <espalier/mlx/grad.hpp>
#include <espalier/partition.hpp>
#include <utility>
#include <vector>

namespace espalier {

namespace detail {

// Says of each array of a tree in turn whether it is a parameter to train.
struct trainable_arrays {
  std::vector<bool> flags;
  std::size_t next = 0;

  bool operator()(const ::mlx::core::array& a) { return flags[next++] && every_parameter{}(a); }
};

template <class Filter> struct trainable_filter {
  Filter filter;

  template <class T> trainable_arrays operator()(const T& tree) const {
    trainable_arrays arrays;
    sift(
        [&]<class Leaf>(bool taken, const Leaf&) {
          if constexpr (std::is_same_v<Leaf, ::mlx::core::array>) arrays.flags.push_back(taken);
        },
        tree, filter);
    return arrays;
  }
};

}  // namespace detail

// For value_and_grad and grad: the filter as tree_partition takes it: f(leaf) or f(const path_view&, leaf), which gives
// back a bool; of_type<Leaf...>; or a tree of bools, a prefix of the argument. It is asked at each call of the
// gradient; a mask that is no prefix of the argument throws a structure_error then. Leaves that are no parameters are
// never differentiated. With an optimizer, use the same filter in optim::masked where the optimizer changes a parameter
// whose gradient is zero, as weight decay does.
template <class Filter> auto trainable(Filter filter) { return detail::trainable_filter<Filter>{std::move(filter)}; }

}  // namespace espalier
