// Changing a tree at some places: `tree_at`, as equinox.tree_at. A place is a path literal, a pointer to a member, or a
// function that gives back a reference into the tree.
//
//   Model next = espalier::tree_at(model, "layers.0.bias"_path, &Model::rate).replace(0.0, 1e-3);
//   Model half = espalier::tree_at(model, [](auto& m) -> auto& { return m.layers.back(); }).apply(halve);
#pragma once

#include <espalier/detail/lookup.hpp>
#include <espalier/detail/match.hpp>
#include <espalier/detail/walk.hpp>
#include <espalier/errors.hpp>
#include <espalier/visit.hpp>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace espalier {

namespace detail {

template <class Where, class Nearest> struct nothing_at_this_path {
  static_assert(always_false<Where>,
                "espalier: tree_at: nothing of this tree is at this path (the path, the tree, and the nearest path "
                "that it has are "
                "named beside this message); paths are field names, indices and map keys joined by dots, as in "
                "\"layers.0.weight\"_path");
};

// What stands at Text behind its first Begin characters, which led to `tree`. Throws path_error.
template <fixed_string Text, std::size_t Begin = 0> struct path_lookup {
  static constexpr std::string_view path = Text.view().substr(Begin);
  template <std::size_t N> using after = path_lookup<Text, (N < path.size() ? Begin + N + 1 : Text.view().size())>;

  // The first child that the rest of the path fits, and the length of its key.
  template <class T>
  static constexpr std::pair<std::size_t, std::size_t> child = [] {
    using N = node_of<T>;
    std::pair<std::size_t, std::size_t> result{};
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      const auto fits = [&]<std::size_t J>(index<J>) {
        std::string_view rest = path;
        if constexpr (is_product<T>) {
          if (!behind_key(path, N::key(J), rest)) return false;
          result.second = key_text(N::key(J)).view().size();
        }
        result.first = J;
        return path_fits<typename child_at<T, J>::type, path_end::any>(rest);
      };
      return (fits(index<I>{}) || ...);
    }(std::make_index_sequence<N::arity>{});
    return result;
  }();

  // The length of a map's key: the shortest that leaves a rest that fits.
  template <class Element>
  static constexpr std::size_t map_key_size = [] {
    std::size_t end = key_end(path);
    while (end < path.size() && !path_fits<Element, path_end::any>(behind(path, end))) end = key_end(path, end + 1);
    return end;
  }();

  [[noreturn]] static void fail(const std::string& found) {
    const std::string_view way = Text.view().substr(0, Begin == 0 ? 0 : Begin - 1);
    throw path_error("espalier: tree_at: nothing is at \"" + std::string(Text.view()) +
                     "\": " + (way.empty() ? "the tree" : "\"" + std::string(way) + "\"") + " has " + found);
  }

  template <class T> static constexpr auto& in(T& tree) {
    using N = node_of<T>;
    if constexpr (path.empty()) {
      return tree;
    } else if constexpr (is_product<T>) {
      auto&& children = N::children(tree);
      return after<child<T>.second>::in(get_child<child<T>.first>(children));
    } else if constexpr (N::kind == node_kind::variant) {
      auto* held = std::get_if<child<T>.first>(&tree);
      if (!held) fail("alternative " + std::to_string(tree.index()));
      return in(*held);
    } else if constexpr (N::kind == node_kind::maybe) {
      if (!tree) fail("no value");
      return in(held(tree));
    } else if constexpr (N::kind == node_kind::map) {
      constexpr std::size_t n = map_key_size<typename element_at<T>::type>;
      auto entry = tree.begin();
      while (entry != tree.end() && key_text(map_key_entry(entry->first)).view() != path.substr(0, n)) ++entry;
      if (entry == tree.end()) fail("no key '" + std::string(path.substr(0, n)) + "'");
      return after<n>::in(entry->second);
    } else {
      constexpr std::string_view key = first_key(path);
      constexpr std::size_t i = index_in(key, static_cast<std::size_t>(-1));
      if (i >= N::size(tree)) fail(count_text(N::size(tree), "element"));
      return after<key.size()>::in(elements_of(tree)[i]);
    }
  }
};

template <class T, class Where> constexpr auto& find_place(T& tree, const Where& where) {
  using result = std::invoke_result_t<const Where&, T&>;
  static_assert(
      std::is_lvalue_reference_v<result>,
      "espalier: tree_at: the function must give back a reference into the tree; write its result as `-> auto&`");
  return static_cast<std::remove_reference_t<result>&>(std::invoke(where, tree));
}
template <class T, auto Text> constexpr auto& find_place(T& tree, const path_literal<Text>&) {
  if constexpr (literal_fits<std::remove_const_t<T>, path_end::any>(Text.view())) {
    return path_lookup<Text>::in(tree);
  } else {
    using tree_type = std::remove_const_t<T>;
    static_assert(
        sizeof(nothing_at_this_path<at_path<Text, tree_type>, did_you_mean<nearest_path<tree_type, Text>()>>));
    return tree;
  }
}

// A copy of the tree in which `value` stands for the object `place` of it: for places that cannot be assigned.
template <class T, class X> constexpr T rebuilt_at(const T& tree, const X& place, X& value) {
  if constexpr (std::is_same_v<T, X>) {
    if (std::addressof(tree) == std::addressof(place)) return std::move(value);
  }
  if constexpr (kind_of<T> == node_kind::leaf) {
    return tree;
  } else {
    return rebuild<T>(
        [&]<class C>(type_tag<C>, const auto&, const auto& child) -> C { return rebuilt_at(child, place, value); },
        tree);
  }
}

// Gives the value that replaces a place.
template <class Value> struct constant {
  Value&& value;
  template <class X> constexpr Value&& operator()(const X&) const { return static_cast<Value&&>(value); }
};

// A tree and places in it; what tree_at returns, to be used at once.
template <class Tree, class... Where> class places {
  using T = std::remove_cvref_t<Tree>;
  static constexpr auto each = std::index_sequence_for<Where...>{};

 public:
  constexpr explicit places(Tree&& tree, Where... where)
      : tree_(static_cast<Tree&&>(tree)), where_(std::move(where)...) {}

  // The tree with these values at the places, one for each, put there one after the other.
  template <class... Value> [[nodiscard]] constexpr T replace(Value&&... value) const {
    static_assert(sizeof...(Value) == sizeof...(Where), "espalier: tree_at: replace needs one value for each place");
    return change(std::tuple<constant<Value>...>(constant<Value>{static_cast<Value&&>(value)}...), each);
  }

  // The tree with f(what stands there) at the places: one function for all of them, or one for each.
  template <class... F> [[nodiscard]] constexpr T apply(F&&... f) const {
    static_assert(sizeof...(F) == 1 || sizeof...(F) == sizeof...(Where),
                  "espalier: tree_at: apply needs one function, or one for each place");
    const auto functions = std::forward_as_tuple(f...);
    constexpr std::size_t step = sizeof...(F) == 1 ? 0 : 1;
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return change(std::forward_as_tuple(std::get<I * step>(functions)...), each);
    }(each);
  }

  // The places themselves, for changes in the tree: a reference, or a tuple of references to several.
  constexpr decltype(auto) get() const {
    static_assert(std::is_lvalue_reference_v<Tree>,
                  "espalier: tree_at: get gives references into the tree, and this one is a temporary");
    if constexpr (sizeof...(Where) == 1) {
      return find_place(tree_, std::get<0>(where_));
    } else {
      return std::apply(
          [&](const auto&... where) {
            return std::tuple<decltype(find_place(tree_, where))...>(find_place(tree_, where)...);
          },
          where_);
    }
  }

 private:
  constexpr T copy() const {
    if constexpr (std::is_lvalue_reference_v<Tree>) {
      return copy_tree<T>(tree_);
    } else {
      return T(static_cast<Tree&&>(tree_));
    }
  }

  template <class Functions, std::size_t... I>
  constexpr T change(const Functions& functions, std::index_sequence<I...>) const {
    // Nothing is moved out of a tree that lacks a place.
    if constexpr (!std::is_lvalue_reference_v<Tree>) ((void)find_place(tree_, std::get<I>(where_)), ...);
    T result = copy();
    (change_place(result, find_place(result, std::get<I>(where_)), std::get<I>(functions)), ...);
    return result;
  }

  template <class X, class F> static constexpr void change_place(T& tree, X& place, const F& f) {
    using value_type = std::remove_const_t<X>;
    static_assert(std::is_convertible_v<std::invoke_result_t<const F&, const X&>, value_type>,
                  "espalier: tree_at: the new value does not convert to the type of what stands at the place");
    value_type value = std::invoke(f, std::as_const(place));
    if constexpr (std::is_const_v<X> || !std::is_move_assignable_v<X>) {
      detail::replace(tree, rebuilt_at(std::as_const(tree), place, value));
    } else {
      place = std::move(value);
    }
  }

  Tree&& tree_;
  std::tuple<Where...> where_;
};

}  // namespace detail

// Places in a tree, with `.replace(values...)` and `.apply(functions...)`, which give a changed copy (an rvalue is
// moved from), and `.get()`, which gives references for changes in place:
//
//   tree_at(model, "layers.0.bias"_path).get() = 0.0;
//
// A path may lead to a node; what an optional holds is reached by going on behind it, its own path is the optional. Of
// a map's key with dots, the shortest part that fits is taken. Names are checked at compile time; throws path_error
// where this tree has no such element. Nodes that cannot be assigned are rebuilt. Costs the copy, and no allocation
// beyond.
template <class Tree, class... Where> constexpr detail::places<Tree, Where...> tree_at(Tree&& tree, Where... where) {
  static_assert(sizeof...(Where) > 0, "espalier: tree_at: name a place: a path, a member, or a function");
  return detail::places<Tree, Where...>(static_cast<Tree&&>(tree), std::move(where)...);
}

}  // namespace espalier
