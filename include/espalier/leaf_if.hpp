// Stopping a traversal above the leaves: `leaf_if<Linear>` makes the function receive each Linear whole, as a leaf (what
// `is_leaf` is to jax.tree.map, decided by type).
//
//   std::size_t layers = 0;
//   espalier::tree_visit(espalier::leaf_if<Linear>, [&](const auto& x) { layers += is_linear(x); }, model);
#pragma once

#include <espalier/detail/types.hpp>
#include <espalier/node.hpp>
#include <type_traits>

namespace espalier {

// The type of leaf_if.
template <class... T> struct leaf_if_t {};

// Passed in front of the function. Nodes of these types are leaves of that traversal; so is a type that is no tree at
// all. Of a rest tree, the function gets what stands beside.
template <class... T> inline constexpr leaf_if_t<T...> leaf_if{};

namespace detail {

// A function over leaves (or a reporter of mismatches) for a traversal that also ends at nodes of these types.
template <class Stops, class Call> struct stopping : Call {
  using stop_types = Stops;
};

// Whether a traversal with this function ends at T.
template <class Call, class T>
concept ends_at = kind_of<T> == node_kind::leaf || is_in<std::remove_cv_t<T>, typename Call::stop_types>;

template <class Stops, class Call> struct with_stops_of {
  using type = stopping<Stops, Call>;
};
template <class Call> struct with_stops_of<types<>, Call> {
  using type = Call;
};
template <class Stops, class Call> using with_stops = typename with_stops_of<Stops, Call>::type;

// Those of the types that are not leaves anyway.
template <class List, class Found = types<>> struct nodes_of {
  using type = Found;
};
template <class T, class... More, class... Found> struct nodes_of<types<T, More...>, types<Found...>> {
  using found = std::conditional_t<kind_of<T> == node_kind::leaf, types<Found...>, types<Found..., T>>;
  using type = typename nodes_of<types<More...>, found>::type;
};
template <class List> using nodes_among = typename nodes_of<List>::type;

}  // namespace detail
}  // namespace espalier
