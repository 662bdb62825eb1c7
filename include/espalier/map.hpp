// Mapping a function over the leaves of a tree, or of several trees side by side: `tree_map`, as jax.tree.map.
//
//   Model next = espalier::tree_map([](const auto& p, const auto& g) { return p - 0.1 * g; }, params, grads);
//
// A function that gives back every leaf's type gives back the same struct, built by brace initialisation: no default
// construction (of the elements of long arrays excepted, where they have one), no copy of a leaf, no allocation beyond
// the containers of the result. One that gives one other type gives the struct rebound, if it is a template over its
// leaf, otherwise leaf_array<T, U> (include espalier/leaf_array.hpp).
#pragma once

#include <espalier/detail/leaf_call.hpp>
#include <utility>

namespace espalier {

namespace detail {

// --- The type of the result. -----------------------------------------------------------------------------------------

// T with its leaf type L replaced by U, as far as its name tells: what the survey then has to confirm.
template <class T, class L, class U> struct rebound {
  using type = std::conditional_t<std::is_same_v<T, L>, U, T>;
};
template <template <class...> class Template, class... A, class L, class U>
  requires(!std::is_same_v<Template<A...>, L>) && requires { typename Template<typename rebound<A, L, U>::type...>; }
struct rebound<Template<A...>, L, U> {
  using type = Template<typename rebound<A, L, U>::type...>;
};
template <class K, class T, class Compare, class Allocator, class L, class U>
struct rebound<std::map<K, T, Compare, Allocator>, L, U> {
  using type = std::map<K, typename rebound<T, L, U>::type, Compare>;
};
template <class T, class Allocator, class L, class U> struct rebound<std::vector<T, Allocator>, L, U> {
  using type = std::vector<typename rebound<T, L, U>::type>;
};
template <class T, std::size_t N, class L, class U> struct rebound<std::array<T, N>, L, U> {
  using type = std::array<typename rebound<T, L, U>::type, N>;
};
template <class T, class L, class U> struct rebound<aux<T>, L, U> {
  using type = aux<T>;
};

// Whether `To` is `From` with every leaf an U.
template <class From, class To, class L, class U> consteval bool is_rebound() {
  if constexpr (std::is_same_v<From, To>) {
    return false;
  } else {
    using found = survey_of<From, To>;
    return std::is_void_v<typename found::faulty> && std::is_same_v<typename found::leaves, types<types<L, U>>>;
  }
}

template <class Where> struct results_of_several_types {
  static_assert(
      always_false<Where>,
      "espalier: tree_map: the function gives results of several types that are not the leaves' own (the results are "
      "named beside this message). Give back each leaf's type, or one type for all of them");
};

template <class T, class... Leaf, class... Result> consteval auto map_result(types<Leaf...>, types<Result...>) {
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
      if constexpr (is_rebound<T, candidate, L, U>()) {
        return type_tag<candidate>{};
      } else {
        return type_tag<leaf_array<T, U>>{};
      }
    } else {
      return type_tag<leaf_array<T, U>>{};
    }
  }
}

template <bool WithPath, class F, class First, class... Rest> consteval auto map_result_of() {
  using roots = types<First, Rest...>;
  return []<class... Zip>(types<Zip...>) {
    static_assert(!(std::is_void_v<typename call_at<WithPath, roots, Zip>::template result<F>> || ...),
                  "espalier: tree_map: the function gives back nothing; use tree_visit");
    return map_result<std::remove_cvref_t<First>>(
        types<typename call_at<WithPath, roots, Zip>::leaf...>{},
        types<std::remove_cvref_t<typename call_at<WithPath, roots, Zip>::template result<F>>...>{});
  }(leaf_zips<std::remove_cvref_t<First>, std::remove_cvref_t<Rest>...>{});
}

template <bool WithPath, class F, class First, class... Rest>
using map_result_t = typename decltype(map_result_of<WithPath, F, First, Rest...>())::type;

// --- The map. --------------------------------------------------------------------------------------------------------

// The call as map_tree makes it: with the type of leaf that is wanted. (A class, for the length of the names that it
// becomes part of, which is felt in the time to compile.)
template <class Call> struct typed_call {
  const Call& call;

  template <class L, class Path, class... Leaf>
  ESPALIER_INLINE constexpr L operator()(type_tag<L>, const Path& path, Leaf&... leaf) const {
    return call(path, leaf...);
  }
};

template <bool WithPath, class F, class First, class... Rest>
ESPALIER_INLINE constexpr auto map_leaves(const char* operation, F& f, First&& first, Rest&&... rest) {
  if constexpr (require_traversal<WithPath, F, First, Rest...>()) {
    using Result = map_result_t<WithPath, F, First, Rest...>;
    const leaf_call<WithPath, F, First, Rest...> call{f};
    return walk_together(
        operation,
        [&](auto& lead, auto&&... others) ESPALIER_INLINE_LAMBDA -> Result {
          if constexpr (is_leaf_array<Result>) {
            static_assert(
                requires { sizeof(Result); },
                "espalier: tree_map: the result is a leaf_array; include <espalier/leaf_array.hpp>");
            typename Result::storage_type values;
            Result::reserve(values, structure_tree(first));
            auto leaf = [&](const auto& path, auto& l, auto&... beside) { values.push_back(call(path, l, beside...)); };
            visit_tree(leaf, start_path<WithPath>(), lead, others...);
            return Result(Result::structure_of(first), std::move(values));
          } else {
            const typed_call<leaf_call<WithPath, F, First, Rest...>> leaf{call};
            return map_tree<Result>(leaf, start_path<WithPath>(), lead, others...);
          }
        },
        first, rest...);
  }
}

}  // namespace detail

// f(leaf, rest leaves...) at every leaf of the first tree, in order, in a tree of the first tree's structure; aux data
// is the first tree's. Rest trees need the first tree's structure, and may be deeper: f gets the subtree that stands at
// the first tree's leaf. A leaf_array can stand for any of them. Leaves of a tree passed as an rvalue arrive as
// rvalues. Throws structure_error, before any call, if the structures differ.
template <class F, class First, class... Rest> constexpr auto tree_map(F&& f, First&& first, Rest&&... rest) {
  return detail::map_leaves<false>("tree_map", f, static_cast<First&&>(first), static_cast<Rest&&>(rest)...);
}

// The same with the key path of the leaf in front: f(const path_view&, leaf, rest leaves...).
template <class F, class First, class... Rest> constexpr auto tree_map_with_path(F&& f, First&& first, Rest&&... rest) {
  return detail::map_leaves<true>("tree_map_with_path", f, static_cast<First&&>(first), static_cast<Rest&&>(rest)...);
}

// tree_map over the leaves whose type is one of Leaf; all others are passed on, copied or, from an rvalue, moved.
template <class... Leaf, class F, class First, class... Rest>
constexpr auto tree_map_only(F&& f, First&& first, Rest&&... rest) {
  static_assert(sizeof...(Leaf) > 0,
                "espalier: tree_map_only: name the leaf types that are mapped, as in tree_map_only<double>");
  auto some = [&f]<class L, class... R>(L&& leaf, R&&... beside) ESPALIER_INLINE_LAMBDA {
    if constexpr (detail::is_one_of<std::remove_cvref_t<L>, Leaf...>) {
      return f(std::forward<L>(leaf), std::forward<R>(beside)...);
    } else {
      return std::remove_cvref_t<L>(std::forward<L>(leaf));
    }
  };
  return detail::map_leaves<false>("tree_map_only", some, std::forward<First>(first), std::forward<Rest>(rest)...);
}

}  // namespace espalier
