// How a user's function is called with a leaf and what stands beside it, and what it gives back: the part that all
// traversals with a function share.
#pragma once

#include <espalier/detail/match.hpp>
#include <espalier/detail/survey.hpp>
#include <espalier/detail/walk.hpp>

namespace espalier::detail {

// Marks the constructor of a leaf_array that writes its values.
struct written_in_place {};

// --- What is walked for an argument: the tree itself, or a cursor into a leaf_array. ---------------------------------

template <class T> ESPALIER_INLINE constexpr decltype(auto) walked(T& tree) {
  if constexpr (is_leaf_array<T>) {
    return leaf_cursor<std::remove_pointer_t<decltype(tree.data())>>{tree.data()};
  } else {
    return static_cast<T&>(tree);
  }
}

template <class T> ESPALIER_INLINE constexpr const auto& structure_tree(const T& tree) {
  if constexpr (is_leaf_array<T>) {
    return tree.structure().tree();
  } else {
    return tree;
  }
}

// The types of both. (Not asked of the functions, which would be compiled for each tree.)
template <class T> struct walked_type {
  using type = std::remove_cvref_t<T>;
};
template <class T>
  requires is_leaf_array<T>
struct walked_type<T> {
  using type = decltype(walked(std::declval<T&>()));
};
template <class T> struct structure_type : walked_type<T> {};
template <class T>
  requires is_leaf_array<T>
struct structure_type<T> {
  using type = std::remove_cvref_t<decltype(structure_tree(std::declval<T&>()))>;
};
template <class T> using walked_t = typename walked_type<T>::type;
template <class T> using structure_t = typename structure_type<T>::type;

// The zip of types that a traversal starts with. A leaf_array in front is led by its structure.
template <class First, class... Rest> struct walked_zip {
  using type = types<walked_t<First>, walked_t<Rest>...>;
};
template <class First, class... Rest>
  requires is_leaf_array<First>
struct walked_zip<First, Rest...> {
  using type = types<structure_t<First>, walked_t<First>, walked_t<Rest>...>;
};

template <class Stops, class> struct survey_of_zip;
template <class Stops, class First, class... Rest> struct survey_of_zip<Stops, types<First, Rest...>> {
  using type = survey_with<Stops, First, Rest...>;
};

// The distinct zips at the leaves of a traversal that starts with these arguments.
template <class Stops, class First, class... Rest>
using leaf_zips_with = typename survey_of_zip<Stops, typename walked_zip<First, Rest...>::type>::type::leaves;
template <class First, class... Rest> using leaf_zips = leaf_zips_with<types<>, First, Rest...>;

// --- The types at a leaf. --------------------------------------------------------------------------------------------

// How an argument `Root&&` is passed, whatever tree it is, so that the calls at leaves are the same types for all trees.
struct any_tree;
template <class Root> struct passed {
  using type = any_tree;
};
template <class Root> struct passed<const Root> {
  using type = const any_tree;
};
template <class Root> struct passed<Root&> {
  using type = typename passed<Root>::type&;
};

// What the function receives for a leaf (or subtree, or cursor) L of an argument `Root&&`.
template <class Root, class L> struct leaf_argument {
  using type = forwarded_leaf<Root, std::conditional_t<std::is_const_v<std::remove_reference_t<Root>>, const L, L>>;
};
template <class Root, class U> struct leaf_argument<Root, leaf_cursor<U>> : leaf_argument<Root, U> {};

// The call at one zip: with the path in front if the traversal has paths, without the slot that leads a leaf_array.
template <bool WithPath, class Passed, class Zip> struct call_of;
template <class... Root, class... L>
  requires(sizeof...(Root) == sizeof...(L))
struct call_of<false, types<Root...>, types<L...>> {
  using leaf = std::remove_cvref_t<typename std::tuple_element_t<0, std::tuple<leaf_argument<Root, L>...>>::type>;
  template <class F> using result = std::invoke_result_t<F&, typename leaf_argument<Root, L>::type...>;
};
template <class... Root, class... L>
  requires(sizeof...(Root) == sizeof...(L))
struct call_of<true, types<Root...>, types<L...>> {
  using leaf = std::remove_cvref_t<typename std::tuple_element_t<0, std::tuple<leaf_argument<Root, L>...>>::type>;
  template <class F>
  using result = std::invoke_result_t<F&, const path_view&, typename leaf_argument<Root, L>::type...>;
};
template <bool WithPath, class... Root, class Slot, class... L>
  requires(sizeof...(Root) == sizeof...(L))
struct call_of<WithPath, types<Root...>, types<Slot, L...>> : call_of<WithPath, types<Root...>, types<L...>> {};

template <class Roots> struct all_passed;
template <class... Root> struct all_passed<types<Root...>> {
  using type = types<typename passed<Root>::type...>;
};
template <bool WithPath, class Roots, class Zip>
using call_at = call_of<WithPath, typename all_passed<Roots>::type, Zip>;

template <class Call, class F>
concept possible = requires { typename Call::template result<F>; };

template <class F, bool WithPath, class Zips, class Roots> struct calls {
  template <class Zip> struct impossible : std::false_type {};
  template <class Zip>
    requires(is_in<Zip, Zips>)
  struct impossible<Zip> : std::bool_constant<!possible<call_at<WithPath, Roots, Zip>, F>> {};

  template <class... Zip> static consteval bool all_possible(types<Zip...>) {
    return (possible<call_at<WithPath, Roots, Zip>, F> && ...);
  }
};

template <class Where> struct function_cannot_take_leaf {
  static_assert(
      always_false<Where>,
      "espalier: the function cannot take a leaf of this tree (the first such leaf's key path and the types given to "
      "the function are named beside this message). Let it take every leaf type, by const reference if the tree is "
      "const, or map some leaves only with tree_map_only<T>");
};

template <class Where> struct type_occurs_nowhere {
  static_assert(
      always_false<Where>,
      "espalier: leaf_if, tree_map_only: no leaf and no node of this tree has this type (the type and the tree are "
      "named beside this message). Name types that the traversal meets, exactly; below a type that it stops at, it "
      "meets none");
};

template <class T, class Roots, class... Zip> consteval bool is_met(types<Zip...>) {
  return (std::is_same_v<T, typename call_at<false, Roots, Zip>::leaf> || ...);
}

// Stops the build if one of these types is met nowhere.
template <class Roots, class Zips, class T> consteval bool require_met() {
  if constexpr (is_met<T, Roots>(Zips{})) {
    return true;
  } else {
    return sizeof(type_occurs_nowhere<types<T, Roots>>) == 0;
  }
}
template <class Roots, class Zips, class... T> consteval bool require_all_met(types<T...>) {
  return (require_met<Roots, Zips, T>() && ...);
}

template <class Where> struct leaf_array_needs_same_structure {
  static_assert(
      always_false<Where>,
      "espalier: a leaf_array beside a tree must have exactly the tree's structure (the key path where they differ is "
      "named beside this message)");
};

template <class... Leaf> struct slots {
  template <class Zip> struct missing : std::false_type {};
  template <class First, class S>
    requires(is_in<types<First, S>, types<Leaf...>>)
  struct missing<types<First, S>> : std::bool_constant<!is_slot<S>> {};
};

template <class First, class Structure, class... Zip> consteval bool require_exact(types<Zip...>) {
  if constexpr ((slots<Zip...>::template missing<Zip>::value || ...)) {
    constexpr auto path = fault_path_string<slots<Zip...>::template missing, types<First, Structure>, types<Zip...>>();
    return sizeof(leaf_array_needs_same_structure<at_path<path, First>>) == 0;
  } else {
    return true;
  }
}

// One rest tree against the first tree's structure. A leaf_array gives one value per leaf, so it must not be deeper.
template <class Stops, class Lead, class Rest> consteval bool require_rest_with() {
  if constexpr (is_leaf_array<Rest>) {
    using structure = structure_t<const Rest>;
    return require_trees_with<Stops, Lead, structure>() &&
           require_exact<Lead, structure>(typename survey_with<Stops, Lead, structure>::leaves{});
  } else {
    return require_trees_with<Stops, Lead, Rest>();
  }
}
template <class Lead, class Rest> consteval bool require_rest() { return require_rest_with<types<>, Lead, Rest>(); }

// The compile-time checks of a traversal: all are trees, the rest trees fit, the function takes every leaf, and every
// type in Met is met.
template <bool WithPath, class Stops, class Met, class F, class Roots, class First, class... Rest>
consteval bool require_walk() {
  using lead = structure_t<const First>;
  if constexpr (!(require_trees_with<Stops, lead>() && (require_rest_with<Stops, lead, Rest>() && ...))) {
    return false;
  } else {
    using zips = leaf_zips_with<Stops, First, Rest...>;
    if constexpr (!require_all_met<types<First, Rest...>, zips>(Met{})) {
      return false;
    } else if constexpr (!calls<F, WithPath, zips, Roots>::all_possible(zips{})) {
      constexpr auto path = fault_path_string<calls<F, WithPath, zips, Roots>::template impossible,
                                              typename walked_zip<First, Rest...>::type, zips>();
      return sizeof(function_cannot_take_leaf<at_path<path, First, Rest...>>) == 0;
    } else {
      return true;
    }
  }
}
template <bool WithPath, class Stops, class Met, class F, class... Root> consteval bool require_traversal_with() {
  return require_walk<WithPath, Stops, Met, F, types<Root...>, std::remove_cvref_t<Root>...>();
}
template <bool WithPath, class F, class... Root> consteval bool require_traversal() {
  return require_traversal_with<WithPath, types<>, types<>, F, Root...>();
}

// --- The call itself. ------------------------------------------------------------------------------------------------

// The leaf that a place holds: where a cursor stands, its next value.
template <class Leaf> ESPALIER_INLINE constexpr auto& take(Leaf& leaf) {
  if constexpr (is_cursor<std::remove_cv_t<Leaf>>) {
    return *leaf.next++;
  } else {
    return leaf;
  }
}

template <class Root, class Leaf>
using taken = forwarded_leaf<Root, std::remove_reference_t<decltype(take(std::declval<Leaf&>()))>>;

// Calls f with a leaf and what stands beside it, each as its argument was passed.
template <bool WithPath, class F, class... Root> struct leaf_call {
  F& f;

  template <class Path, class... Leaf>
  ESPALIER_INLINE constexpr decltype(auto) operator()(const Path& path, Leaf&... leaf) const {
    if constexpr (sizeof...(Leaf) > sizeof...(Root)) {
      return without_slot(path, leaf...);
    } else if constexpr (WithPath) {
      return f(path, static_cast<taken<Root, Leaf>>(take(leaf))...);
    } else {
      return f(static_cast<taken<Root, Leaf>>(take(leaf))...);
    }
  }

 private:
  // The slot of a leaf_array's structure carries nothing.
  template <class Path, class Slot, class... Leaf>
  ESPALIER_INLINE constexpr decltype(auto) without_slot(const Path& path, Slot&, Leaf&... leaf) const {
    return (*this)(path, leaf...);
  }
};

// Checks at run time that the structures agree, then calls action(lead, others...) with what is to be walked.
template <class Stops = types<>, class Action, class First, class... Rest>
ESPALIER_INLINE constexpr decltype(auto) walk_together([[maybe_unused]] const char* operation, Action&& action,
                                                       First& first, Rest&... rest) {
  std::size_t position = 0;
  (require_match<Stops>(operation, ++position, structure_tree(first), structure_tree(rest)), ...);
  (void)position;
  if constexpr (is_leaf_array<First>) {
    return action(structure_tree(first), walked(first), walked(rest)...);
  } else {
    return action(first, walked(rest)...);
  }
}

template <bool WithPath> constexpr auto start_path() {
  if constexpr (WithPath) {
    return path_view{};
  } else {
    return no_path{};
  }
}

}  // namespace espalier::detail
