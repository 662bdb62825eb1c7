// One step of a traversal: every algorithm visits, or rebuilds, the children of a node through the two functions here,
// together with the children of the rest trees beside it. The structures of all trees agree when these are called.
#pragma once

#include <espalier/detail/survey.hpp>
#include <espalier/detail/types.hpp>
#include <espalier/errors.hpp>
#include <espalier/leaf_if.hpp>
#include <espalier/node.hpp>

// How deep a tree may be nested whose type contains itself: as jax and optree (optree.MAX_RECURSION_DEPTH), so that every
// stack bears it, without optimisation and under sanitizers too. The same in all of a program.
#ifndef ESPALIER_MAX_DEPTH
#define ESPALIER_MAX_DEPTH 1000
#endif

namespace espalier::detail {

// --- Keys: what a child is called, as an entry only where somebody asks. ---------------------------------------------

template <class T> struct product_key {
  std::size_t i;
  constexpr key_entry entry() const { return node_of<T>::key(i); }
};
struct index_key {
  std::size_t i;
  constexpr key_entry entry() const { return {key_entry::kind::index, {}, static_cast<std::int64_t>(i)}; }
};
template <class K> struct map_key {
  const K& k;
  constexpr key_entry entry() const { return map_key_entry(k); }
};
struct no_key {
  static constexpr key_entry entry() { return {}; }
  constexpr no_key operator++(int) const { return {}; }
};
// One of the names of a struct's fields, and the next.
struct name_key {
  const std::string_view* name;
  constexpr key_entry entry() const { return {key_entry::kind::attribute, *name}; }
  constexpr name_key operator++(int) { return {name++}; }
};

// A traversal that nobody asks for paths.
struct no_path {
  template <class Key> ESPALIER_INLINE constexpr no_path operator/(const Key&) const { return {}; }
};
// The same inside a container whose elements can contain it again: it counts how many of them are open.
struct nested_path {
  unsigned nesting;
  template <class Key> ESPALIER_INLINE constexpr nested_path operator/(const Key&) const { return *this; }
};
// A traversal that keeps them.
template <class Key> constexpr path_view operator/(const path_view& parent, const Key& key) {
  return {&parent, key.entry()};
}
// (Straight from the type: one function fewer for each struct.)
template <class T> constexpr path_view operator/(const path_view& parent, product_key<T> key) {
  return {&parent, node_of<T>::key(key.i)};
}
// What an optional, a pointer or a variant holds stands where they stand.
constexpr path_view operator/(const path_view& parent, no_key) { return parent; }

// --- Depth: only types that contain themselves can be nested without limit. ------------------------------------------

[[noreturn, gnu::noinline, gnu::cold]] inline void throw_too_deep(const std::string& where) {
  std::string text = "espalier: this tree is nested too deep";
  if (!where.empty()) text.append(", at ").append(where, 0, 80).append("…");
  text.append(": expected at most ").append(std::to_string(ESPALIER_MAX_DEPTH));
  throw depth_error(
      text.append(" containers in one another whose elements contain such containers again. Traversal is recursive: "
                  "let the tree be "
                  "flatter (a vector of elements with indices), or, if the stack bears it, define ESPALIER_MAX_DEPTH"));
}

constexpr nested_path nested_once_more(no_path) { return {1}; }
constexpr nested_path nested_once_more(nested_path path) {
  if (++path.nesting > ESPALIER_MAX_DEPTH) [[unlikely]]
    throw_too_deep({});
  return path;
}
constexpr path_view nested_once_more(path_view path) {
  if (++path.nesting > ESPALIER_MAX_DEPTH) [[unlikely]]
    throw_too_deep(path.to_string());
  return path;
}

// The path with which the children of a T are traversed. Throws depth_error in a T that is nested too deep.
template <class T, class Path> ESPALIER_INLINE constexpr auto entered(const Path& path) {
  if constexpr (requires { typename node_of<T>::element; }) {
    if constexpr (is_recursive_container<std::remove_cv_t<T>>) {
      return nested_once_more(path);
    } else {
      return path;
    }
  } else {
    return path;
  }
}

// --- Children of the trees beside: a cursor is its own child. --------------------------------------------------------

template <class T> ESPALIER_INLINE constexpr decltype(auto) open(T& tree) {
  if constexpr (is_cursor<std::remove_cv_t<T>>) {
    return static_cast<T&>(tree);
  } else {
    return node_of<T>::children(tree);
  }
}

template <std::size_t I, class Children> ESPALIER_INLINE constexpr auto& get_child(Children& children) {
  if constexpr (is_cursor<std::remove_cv_t<Children>>) {
    return children;
  } else if constexpr (requires { get_ref<I>(children); }) {
    return get_ref<I>(children);
  } else {
    using std::get;
    return get<I>(children);
  }
}

template <class U> struct cursor_elements {
  leaf_cursor<U>& cursor;
  ESPALIER_INLINE constexpr leaf_cursor<U>& operator[](std::size_t) const { return cursor; }
};

template <class T> ESPALIER_INLINE constexpr auto elements_of(T& tree) { return node_of<T>::data(tree); }
template <class U> ESPALIER_INLINE constexpr cursor_elements<U> elements_of(leaf_cursor<U>& cursor) { return {cursor}; }

// What an optional or a pointer holds. Const in a const tree: a pointer would let it be changed.
template <class T> ESPALIER_INLINE constexpr auto& held(T& tree) {
  if constexpr (is_cursor<std::remove_cv_t<T>>) {
    return tree;
  } else if constexpr (std::is_const_v<T>) {
    return std::as_const(*tree);
  } else {
    return *tree;
  }
}

template <std::size_t I, class T> ESPALIER_INLINE constexpr auto& alternative(T& tree) {
  if constexpr (is_cursor<std::remove_cv_t<T>>) {
    return tree;
  } else {
    using std::get;
    return get<I>(tree);  // of a variant, found by its argument
  }
}

// The entries of a map in key order; those of an unordered one are sorted, and live as long as what is given back.
template <class T> ESPALIER_INLINE constexpr decltype(auto) map_entries(T& tree) { return node_of<T>::entries(tree); }
template <class U> leaf_cursor<U>& map_entries(leaf_cursor<U>& cursor) { return cursor; }
template <class Entries> auto map_begin(Entries& entries) { return entries.begin(); }
template <class U> leaf_cursor<U>* map_begin(leaf_cursor<U>& cursor) { return &cursor; }
template <class Iterator> auto& map_value(Iterator& it) { return it->second; }
template <class U> leaf_cursor<U>& map_value(leaf_cursor<U>* it) { return *it; }
template <class Iterator> void map_next(Iterator& it) { ++it; }
template <class U> void map_next(leaf_cursor<U>*&) {}

// True of the empty leaf that stands for a leaf in a skeleton.
template <class L> inline constexpr bool is_slot = false;

// A struct all of whose fields are children. By itself, with no tree beside it, it is traversed straight through its
// fields: this is the commonest node, and compiles in half the time that way.
template <class T>
inline constexpr bool is_plain_record = [] {
  if constexpr (requires { typename node_of<T>::layout; }) {
    return !node_of<T>::has_aux;
  } else {
    return false;
  }
}();

// --- Visiting. -------------------------------------------------------------------------------------------------------

template <class Visit, class E, class... R>
ESPALIER_INLINE constexpr void loop_inline(Visit& visit, std::size_t n, E first, R... rest) {
  for (std::size_t i = 0; i < n; ++i) visit(index_key{i}, first[i], rest[i]...);
}

// Not forced inline: what ends the recursion of `struct node { std::vector<node> children; }` for the compiler.
template <class Visit, class E, class... R> constexpr void loop(Visit& visit, std::size_t n, E first, R... rest) {
  loop_inline(visit, n, first, rest...);
}

template <class Visit, class T, class... R> constexpr void visit_held(Visit& visit, T& tree, R&... rest) {
  visit(no_key{}, tree, rest...);
}

template <class Visit, class T, class... R, std::size_t... I>
constexpr void visit_alternative(Visit& visit, std::index_sequence<I...>, T& tree, R&... rest) {
  const auto held_here = [&]<std::size_t J>(index<J>) {
    if (tree.index() != J) return false;
    visit(no_key{}, alternative<J>(tree), alternative<J>(rest)...);
    return true;
  };
  (void)(held_here(index<I>{}) || ...);
}

// Calls visit(key, child, child of each rest tree...) for every child of a node, in order.
template <class Visit, class T, class... R>
ESPALIER_INLINE constexpr void for_each_child(Visit&& visit, T& tree, R&... rest) {
  using N = node_of<T>;
  if constexpr (is_plain_record<T> && sizeof...(R) == 0) {
    reflect::with_fields(tree, [&visit](auto&... field) ESPALIER_INLINE_LAMBDA {
      [[maybe_unused]] std::size_t i = 0;
      (visit(product_key<std::remove_cv_t<T>>{i++}, field), ...);
    });
  } else if constexpr (is_product<T>) {
    const auto each = [&]<std::size_t... I>(std::index_sequence<I...>, auto&& children,
                                            auto&&... others) ESPALIER_INLINE_LAMBDA {
      const auto one = [&]<std::size_t J>(index<J>) ESPALIER_INLINE_LAMBDA {
        visit(product_key<std::remove_cv_t<T>>{J}, get_child<J>(children), get_child<J>(others)...);
      };
      (one(index<I>{}), ...);
      (void)one;
    };
    each(std::make_index_sequence<N::arity>{}, N::children(tree), open(rest)...);
  } else if constexpr (N::kind == node_kind::array) {
    loop_inline(visit, N::size(tree), elements_of(tree), elements_of(rest)...);
  } else if constexpr (N::kind == node_kind::sequence) {
    if constexpr (is_recursive_container<std::remove_cv_t<T>>) {
      loop(visit, N::size(tree), elements_of(tree), elements_of(rest)...);
    } else {
      loop_inline(visit, N::size(tree), elements_of(tree), elements_of(rest)...);
    }
  } else if constexpr (N::kind == node_kind::map) {
    const auto zip_maps = [&](auto& entries, auto... others) {
      for (auto& [key, value] : entries) {
        visit(map_key<typename N::key>{key}, value, map_value(others)...);
        (map_next(others), ...);
      }
    };
    const auto in_order = [&](auto&& entries, auto&&... others) { zip_maps(entries, map_begin(others)...); };
    in_order(map_entries(tree), map_entries(rest)...);
  } else if constexpr (N::kind == node_kind::maybe) {
    if (tree) {
      if constexpr (is_recursive_container<std::remove_cv_t<T>>) {
        visit_held(visit, held(tree), held(rest)...);
      } else {
        visit(no_key{}, held(tree), held(rest)...);
      }
    }
  } else {
    visit_alternative(visit, std::make_index_sequence<N::arity>{}, tree, rest...);
  }
}

// --- Rebuilding. -----------------------------------------------------------------------------------------------------

template <class To, std::size_t I = 0, class Make, class T, class... R>
constexpr To rebuild_alternative(Make& make, T& tree, R&... rest) {
  if constexpr (I + 1 < node_of<To>::arity) {
    if (tree.index() != I) return rebuild_alternative<To, I + 1>(make, tree, rest...);
  }
  return node_of<To>::template assemble<I>([&] {
    return make(type_tag<typename node_of<To>::template child<I>>{}, no_key{}, alternative<I>(tree),
                alternative<I>(rest)...);
  });
}

// A `To`, which has the structure of `tree`, from make(type_tag<child of To>, key, child, child of each rest tree...).
// Aux data is copied from `tree`.
template <class To, class Make, class T, class... R>
ESPALIER_INLINE constexpr To rebuild(Make&& make, T& tree, R&... rest) {
  using N = node_of<T>;
  if constexpr (is_product<T>) {
    const auto build = [&](auto&& children, auto&&... others) ESPALIER_INLINE_LAMBDA -> To {
      return node_of<To>::assemble(N::aux(tree), [&]<std::size_t I>(index<I>) ESPALIER_INLINE_LAMBDA {
        return make(type_tag<std::remove_cv_t<typename node_of<To>::template child<I>>>{},
                    product_key<std::remove_cv_t<T>>{I}, get_child<I>(children), get_child<I>(others)...);
      });
    };
    return build(N::children(tree), open(rest)...);
  } else if constexpr (N::kind == node_kind::array || N::kind == node_kind::sequence) {
    const auto build = [&](auto elements, auto... others) ESPALIER_INLINE_LAMBDA -> To {
      return node_of<To>::assemble(N::size(tree), [&](std::size_t i) ESPALIER_INLINE_LAMBDA {
        return make(type_tag<typename node_of<To>::element>{}, index_key{i}, elements[i], others[i]...);
      });
    };
    return build(elements_of(tree), elements_of(rest)...);
  } else if constexpr (N::kind == node_kind::map) {
    const auto build = [&](auto... others) -> To {
      return node_of<To>::assemble(tree, [&](const auto& key, auto& value) {
        const auto advance = [&](auto&&... values) {
          (map_next(others), ...);
          return make(type_tag<typename node_of<To>::element>{}, map_key<typename N::key>{key}, value, values...);
        };
        return advance(map_value(others)...);
      });
    };
    const auto in_order = [&](auto&&... others) -> To { return build(map_begin(others)...); };
    return in_order(map_entries(rest)...);
  } else if constexpr (N::kind == node_kind::maybe) {
    return node_of<To>::assemble(static_cast<bool>(tree), [&] {
      return make(type_tag<typename node_of<To>::element>{}, no_key{}, held(tree), held(rest)...);
    });
  } else {
    return rebuild_alternative<To>(make, tree, rest...);
  }
}

// --- Whole trees. ----------------------------------------------------------------------------------------------------

// A `To` with the structure of `tree`, whose leaves are leaf(type_tag<leaf of To>, path, leaf, what stands beside
// it...).
template <class To, class Path, class Leaf, class T, class... R>
ESPALIER_INLINE constexpr To map_tree(Leaf& leaf, Path path, T& tree, R&... rest);

// Makes a child. (A class, and leaves without a call in between: what stands here is compiled for every field.)
template <class Leaf, class Path> struct child_mapper {
  Leaf& leaf;
  const Path& path;

  template <class To, class Key, class T, class... R>
  ESPALIER_INLINE constexpr To operator()(type_tag<To> to, const Key& key, T& child, R&... beside) const {
    if constexpr (ends_at<Leaf, T>) {
      return leaf(to, path / key, child, beside...);
    } else {
      return map_tree<To>(leaf, path / key, child, beside...);
    }
  }
};

// Makes the fields of a struct, one after the other, from those of another.
template <class Leaf, class Path, class Key> struct field_mapper {
  Leaf& leaf;
  const Path& path;
  Key key;

  template <class Field> ESPALIER_INLINE constexpr reflect::field_value_t<Field> operator()(Field& field) {
    using To = reflect::field_value_t<Field>;
    if constexpr (ends_at<Leaf, Field>) {
      return leaf(type_tag<To>{}, path / key++, field);
    } else {
      return map_tree<To>(leaf, path / key++, field);
    }
  }
};

template <class To, class Path, class Leaf, class T, class... R>
ESPALIER_INLINE constexpr To map_tree(Leaf& leaf, Path path, T& tree, R&... rest) {
  if constexpr (ends_at<Leaf, T>) {
    return leaf(type_tag<To>{}, path, tree, rest...);
  } else if constexpr (is_plain_record<T> && std::is_same_v<To, std::remove_cv_t<T>> && sizeof...(R) == 0) {
    if constexpr (std::is_same_v<Path, path_view>) {
      return reflect::remake(tree, field_mapper<Leaf, Path, name_key>{leaf, path, {reflect::field_names_v<To>.data()}});
    } else {
      return reflect::remake(tree, field_mapper<Leaf, Path, no_key>{leaf, path, {}});
    }
  } else {
    const auto inside = entered<T>(path);
    return rebuild<To>(child_mapper<Leaf, std::remove_const_t<decltype(inside)>>{leaf, inside}, tree, rest...);
  }
}

// A `To` from a whole tree, without paths. Stops the build if a struct in it cannot be made.
template <class To, class Leaf, class T, class... R>
ESPALIER_INLINE constexpr To make_tree(Leaf& leaf, T& tree, R&... rest) {
  static_assert(require_makeable<To>());
  return map_tree<To>(leaf, no_path{}, tree, rest...);
}

// Calls leaf(path, leaf, what stands beside it...) for every leaf, in order.
template <class Path, class Leaf, class T, class... R>
ESPALIER_INLINE constexpr void visit_tree(Leaf& leaf, Path path, T& tree, R&... rest);

// Visits a child.
template <class Leaf, class Path> struct child_visitor {
  Leaf& leaf;
  const Path& path;

  template <class Key, class T, class... R>
  ESPALIER_INLINE constexpr void operator()(const Key& key, T& child, R&... beside) const {
    if constexpr (ends_at<Leaf, T>) {
      leaf(path / key, child, beside...);
    } else {
      visit_tree(leaf, path / key, child, beside...);
    }
  }
};

template <class Path, class Leaf, class T, class... R>
ESPALIER_INLINE constexpr void visit_tree(Leaf& leaf, Path path, T& tree, R&... rest) {
  if constexpr (ends_at<Leaf, T>) {
    leaf(path, tree, rest...);
  } else {
    const auto inside = entered<T>(path);
    for_each_child(child_visitor<Leaf, std::remove_const_t<decltype(inside)>>{leaf, inside}, tree, rest...);
  }
}

// A copy of a tree, made anew node by node, what its pointers own included.
template <class T> constexpr T clone(const T& tree) {
  auto leaf = []<class L>(type_tag<L>, const auto&, const auto& old) -> L { return old; };
  return make_tree<T>(leaf, tree);
}

// The same, by the type's own copy constructor where it has one.
template <class T> constexpr T copy_tree(const T& tree) {
  if constexpr (std::is_copy_constructible_v<T>) {
    return tree;
  } else {
    return clone(tree);
  }
}

}  // namespace espalier::detail
