// Mapping a function over the leaves of a tree, or of several trees side by side: `tree_map`, as jax.tree.map.
//
//   Model next = espalier::tree_map([](const auto& p, const auto& g) { return p - 0.1 * g; }, params, grads);
//
// A function that gives back every leaf's type gives back the same struct, built by brace initialisation: no default
// construction (of the elements of long arrays excepted, where they have one), no copy of a leaf, no allocation beyond
// the containers of the result. One that gives one other type gives the struct rebound, if it is a template over its
// leaf, otherwise leaf_array<T, U> (include espalier/leaf_array.hpp); with C++26 reflection, where U is a leaf, a struct
// of the same fields: mapped_t<T, U> (mapped.hpp).
#pragma once

#include <espalier/detail/leaf_call.hpp>
#include <espalier/mapped.hpp>
#include <utility>

namespace espalier {

namespace detail {

// --- The type of the result. -----------------------------------------------------------------------------------------

// T with its leaf type L replaced by U, as far as its name tells: what the survey then has to confirm.
template <class T, class L, class U> struct rebound_inside {
  using type = T;
};
template <class T, class L, class U> struct rebound : rebound_inside<T, L, U> {};
template <class T, class L, class U>
  requires requires { typename container_node<T>::element; }
struct rebound<T, L, U> {
  using type = typename container_node<T>::template with_element<
      typename rebound<typename container_node<T>::element, L, U>::type>;
};
template <class L, class U> struct rebound<L, L, U> {
  using type = U;
};
template <template <class...> class Template, class... A, class L, class U>
  requires requires { typename Template<typename rebound<A, L, U>::type...>; }
struct rebound_inside<Template<A...>, L, U> {
  using type = Template<typename rebound<A, L, U>::type...>;
};
template <class T, class L, class U> struct rebound_inside<aux<T>, L, U> {
  using type = aux<T>;
};
#if ESPALIER_HAS_STD_META
template <class T, class L, class U> struct rebound_inside<mapped<T, L>, L, U> {
  using type = mapped_t<T, U>;
};
#endif

// Whether `To` is `From` with every leaf an U.
template <class From, class To, class L, class U, class Stops = types<>> consteval bool is_rebound() {
  if constexpr (std::is_same_v<From, To>) {
    return false;
  } else {
    using found = survey_with<Stops, From, To>;
    return std::is_void_v<typename found::faulty> && std::is_same_v<typename found::leaves, types<types<L, U>>>;
  }
}

template <class Where> struct results_of_several_types {
  static_assert(
      always_false<Where>,
      "espalier: tree_map: the function gives results of several types that are not the leaves' own (the results are "
      "named beside this message). Give back each leaf's type, or one type for all of them");
};

template <class Where> struct stopped_results_fit_no_tree {
  static_assert(
      always_false<Where>,
      "espalier: tree_map with leaf_if: no type has this tree's structure with the function's results where it stops "
      "(the tree's and the result's types are named beside this message). Give back the type of each leaf and of each "
      "stopped node; or let the tree be a container, a tuple, or a template over the one type that it is stopped at; "
      "or gather the results with tree_visit");
};

// What a map to U that cannot rebind T gives.
template <class T, class U, class Stops> struct results_apart {
  using type = stopped_results_fit_no_tree<types<T, U>>;
};
template <class T, class U> struct results_apart<T, U, types<>> {
  using type = leaf_array<T, U>;
};
#if ESPALIER_HAS_STD_META
template <class T, class U>
  requires(is_mappable<T, U>())
struct results_apart<T, U, types<>> {
  using type = mapped_t<T, U>;
};
#endif

// The type of the result, of a map whose function gives Result for Leaf.
template <class T, class Stops = types<>, class... Leaf, class... Result>
consteval auto map_result(types<Leaf...>, types<Result...>) {
  if constexpr (sizeof...(Result) == 0 || (!is_leaf_array<T> && (std::is_same_v<Leaf, Result> && ...))) {
    return type_tag<T>{};
  } else {
    using U = std::tuple_element_t<0, std::tuple<Result...>>;
    if constexpr (!(std::is_same_v<U, Result> && ...)) {
      return type_tag<results_of_several_types<types<Result...>>>{};
    } else if constexpr (is_leaf_array<T>) {
      return type_tag<leaf_array<typename leaf_array_parts<T>::tree, U>>{};
    } else if constexpr (sizeof...(Leaf) == 1) {
      using L = std::tuple_element_t<0, std::tuple<Leaf...>>;
      using candidate = typename rebound<T, L, U>::type;
      if constexpr (is_rebound<T, candidate, L, U, Stops>()) {
        return type_tag<candidate>{};
      } else {
        return type_tag<typename results_apart<T, U, Stops>::type>{};
      }
    } else {
      return type_tag<typename results_apart<T, U, Stops>::type>{};
    }
  }
}

template <bool WithPath, class Stops, class F, class Roots, class T, class... Zip>
consteval auto map_result_of(types<Zip...>) {
  static_assert(!(std::is_void_v<typename call_at<WithPath, Roots, Zip>::template result<F>> || ...),
                "espalier: tree_map: the function gives back nothing; use tree_visit");
  return map_result<T, Stops>(
      types<typename call_at<WithPath, Roots, Zip>::leaf...>{},
      types<std::remove_cvref_t<typename call_at<WithPath, Roots, Zip>::template result<F>>...>{});
}

template <bool WithPath, class Stops, class F, class First, class... Rest>
using map_result_t =
    typename decltype(map_result_of<WithPath, Stops, F, types<First, Rest...>, std::remove_cvref_t<First>>(
        leaf_zips_with<Stops, std::remove_cvref_t<First>, std::remove_cvref_t<Rest>...>{}))::type;

template <class Where> struct result_needs_a_header {
  static_assert(always_false<Where>,
                "espalier: tree_map: the result is a leaf_array; include <espalier/leaf_array.hpp>");
};
template <class Result, class Stops> consteval bool require_result() {
  if constexpr (!is_leaf_array<Result>) {
    return require_makeable<Result, Stops>();
  } else if constexpr (!requires { sizeof(Result); }) {
    return sizeof(result_needs_a_header<types<Result>>) == 0;
  } else {
    return true;
  }
}

// --- The map. --------------------------------------------------------------------------------------------------------

// The call as map_tree makes it: with the type of leaf that is wanted. (A class, for the length of the names that it
// becomes part of, which is felt in the time to compile.)
template <class Call> struct typed_call {
  Call call;

  template <class L, class Path, class... Leaf>
  ESPALIER_INLINE constexpr L operator()(type_tag<L>, const Path& path, Leaf&... leaf) const {
    return call(path, leaf...);
  }
};

// (A field that is a leaf is given to the function straight away: what stands here is compiled for each type of leaf.)
template <bool WithPath, class F, class Root, class Path, class Key>
struct field_mapper<const typed_call<leaf_call<WithPath, F, Root>>, Path, Key> {
  const typed_call<leaf_call<WithPath, F, Root>>& leaf;
  const Path& path;
  Key key;

  template <class Field> ESPALIER_INLINE constexpr reflect::field_value_t<Field> operator()(Field& field) {
    if constexpr (kind_of<Field> != node_kind::leaf) {
      return map_tree<reflect::field_value_t<Field>>(leaf, path / key++, field);
    } else if constexpr (WithPath) {
      return leaf.call.f(path / key++, static_cast<forwarded_leaf<Root, Field>>(field));
    } else {
      return leaf.call.f(static_cast<forwarded_leaf<Root, Field>>(field));
    }
  }
};

// The map that also ends at nodes whose types are in Met, every one of which it has to meet.
template <bool WithPath, class Met = types<>, class F, class First, class... Rest>
ESPALIER_INLINE constexpr auto map_leaves(const char* operation, F& f, First&& first, Rest&&... rest) {
  using Stops = nodes_among<Met>;
  if constexpr (require_traversal_with<WithPath, Stops, Met, F, First, Rest...>()) {
    using Result = map_result_t<WithPath, Stops, F, First, Rest...>;
    using Call = leaf_call<WithPath, F, First, Rest...>;
    const Call call{f};
    if constexpr (!require_result<Result, Stops>()) {
    } else if constexpr (sizeof...(Rest) == 0 && !is_leaf_array<First> && !is_leaf_array<Result>) {
      const with_stops<Stops, typed_call<Call>> leaf{typed_call<Call>{call}};
      return map_tree<Result>(leaf, start_path<WithPath>(), first);
    } else {
      return walk_together<Stops>(
          operation,
          [&](auto& lead, auto&&... others) ESPALIER_INLINE_LAMBDA -> Result {
            if constexpr (is_leaf_array<Result>) {
              return Result(written_in_place{}, Result::structure_of(first),
                            [&](const auto& put) ESPALIER_INLINE_LAMBDA {
                              auto leaf = [&](const auto& path, auto& l, auto&... beside)
                                              ESPALIER_INLINE_LAMBDA { put(call(path, l, beside...)); };
                              visit_tree(leaf, start_path<WithPath>(), lead, others...);
                            });
            } else {
              const with_stops<Stops, typed_call<Call>> leaf{typed_call<Call>{call}};
              return map_tree<Result>(leaf, start_path<WithPath>(), lead, others...);
            }
          },
          first, rest...);
    }
  }
}

}  // namespace detail

// f(leaf, rest leaves...) at every leaf of the first tree, in order, in a tree of the first tree's structure; aux data
// is the first tree's. Rest trees need the first tree's structure, and may be deeper: f gets the subtree that stands at
// the first tree's leaf. A leaf_array can stand for any of them. Leaves of a tree passed as an rvalue arrive as
// rvalues. Throws structure_error, before any call, if the structures differ.
template <class F, class First, class... Rest>
ESPALIER_INLINE constexpr auto tree_map(F&& f, First&& first, Rest&&... rest) {
  return detail::map_leaves<false>("tree_map", f, static_cast<First&&>(first), static_cast<Rest&&>(rest)...);
}

// The same with the key path of the leaf in front: f(const path_view&, leaf, rest leaves...).
template <class F, class First, class... Rest>
ESPALIER_INLINE constexpr auto tree_map_with_path(F&& f, First&& first, Rest&&... rest) {
  return detail::map_leaves<true>("tree_map_with_path", f, static_cast<First&&>(first), static_cast<Rest&&>(rest)...);
}

// Both of a tree whose nodes of type Stop are leaves: f gets them whole. f gives back each such node's and each other
// leaf's type; or one type for all, if the tree has one type of leaf then, which it is a template over.
template <class... Stop, class F, class First, class... Rest>
ESPALIER_INLINE constexpr auto tree_map(leaf_if_t<Stop...>, F&& f, First&& first, Rest&&... rest) {
  return detail::map_leaves<false, detail::types<Stop...>>("tree_map", f, static_cast<First&&>(first),
                                                           static_cast<Rest&&>(rest)...);
}
template <class... Stop, class F, class First, class... Rest>
ESPALIER_INLINE constexpr auto tree_map_with_path(leaf_if_t<Stop...>, F&& f, First&& first, Rest&&... rest) {
  return detail::map_leaves<true, detail::types<Stop...>>("tree_map_with_path", f, static_cast<First&&>(first),
                                                          static_cast<Rest&&>(rest)...);
}

}  // namespace espalier
