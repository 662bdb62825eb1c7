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
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace espalier {

namespace detail {

// --- What is no place. -----------------------------------------------------------------------------------------------

// Stops the build at what is no place of a T. (The sentences stand in functions that give back false, not in classes,
// after which clang would go on and report what does not hold either.)
template <class T, class Where> consteval bool require_place(type_tag<Where>) {
  if constexpr (std::is_convertible_v<const Where&, std::string_view>) {
    static_assert(always_false<Where>,
                  "espalier: tree_at: a place is not named by a string but by a path literal, which is checked at "
                  "compile time: write \"layers.0.bias\"_path, with `using namespace espalier::literals`");
    return false;
  } else if constexpr (!std::is_invocable_v<const Where&, T&>) {
    static_assert(always_false<types<T, Where>>,
                  "espalier: tree_at: this is no place of this tree (the tree's and the place's types are named beside "
                  "this message). A member must be one of the tree's own class, and a function must take the tree. For "
                  "what is deeper, use a path, \"layers.0.bias\"_path, or a function, `[](auto& m) -> auto& { return "
                  "m.layers[0].bias; }`");
    return false;
  } else {
    constexpr bool gives_reference = std::is_lvalue_reference_v<std::invoke_result_t<const Where&, T&>>;
    static_assert(
        gives_reference,
        "espalier: tree_at: the function must give back a reference into the tree; write its result as `-> auto&`");
    return gives_reference;
  }
}
template <class T, auto Text> consteval bool require_place(type_tag<path_literal<Text>>) {
  using tree = std::remove_const_t<T>;
  if constexpr (literal_fits<tree, path_end::any>(Text.view())) {
    return true;
  } else {
    using nearest = did_you_mean<nearest_path<tree, Text, path_end::any>()>;
    static_assert(always_false<types<at_path<Text, tree>, nearest>>,
                  "espalier: tree_at: nothing of this tree is at this path (the path, the tree, and the nearest path "
                  "that it has are named beside this message); paths are field names, indices and map keys joined by "
                  "dots, as in \"layers.0.weight\"_path. Aux data has no path: name it by a member, `&Model::version`, "
                  "or by a function");
    return false;
  }
}

// --- Finding a place. ------------------------------------------------------------------------------------------------

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
      if (tree.index() != child<T>.first) fail("alternative " + std::to_string(tree.index()));
      return in(alternative<child<T>.first>(tree));
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

// std::invoke, without <functional>.
template <class F, class X> constexpr decltype(auto) call_with(F& f, X& x) {
  using function = std::remove_const_t<F>;
  if constexpr (std::is_member_object_pointer_v<function>) {
    return (x.*f);
  } else if constexpr (std::is_member_function_pointer_v<function>) {
    return (x.*f)();
  } else {
    return f(x);
  }
}

template <class T, class Where> constexpr auto& find_place(T& tree, const Where& where) {
  return call_with(where, tree);
}
template <class T, auto Text> constexpr auto& find_place(T& tree, const path_literal<Text>&) {
  return path_lookup<Text>::in(tree);
}

// --- Rebuilding a tree, for places that cannot be assigned: their nodes, leaves, and aux fields of structs. ----------

template <class T>
concept has_aux_fields = kind_of<T> == node_kind::record && node_of<T>::has_aux;

// The object as rebuilding meets it: of an aux<V> the V, as in node_of<T>::aux.
template <class X> constexpr auto& as_met(X& place) {
  if constexpr (is_aux<std::remove_const_t<X>>) {
    return place.value;
  } else {
    return place;
  }
}

// Whether rebuilding a tree meets an object.
template <class X> struct place_finder {
  const X& place;
  bool found = false;

  template <class Key, class T> constexpr void operator()(const Key&, const T& tree) {
    found = found || is_here(tree);
    if constexpr (has_aux_fields<T>) {
      std::apply([this](const auto&... value) { found = (found || ... || is_here(value)); }, node_of<T>::aux(tree));
    }
    if constexpr (kind_of<T> != node_kind::leaf) for_each_child(*this, tree);
  }

 private:
  template <class V> constexpr bool is_here(const V& value) const {
    return same_address(std::addressof(value), std::addressof(place));
  }
};

// Makes a tree of one that it moves from, with `value` for the object `place` of it.
template <class X> struct rebuilder {
  const X& place;
  X& value;

  template <class T, class Key, class Tree> constexpr T operator()(type_tag<T>, const Key&, Tree& tree) const {
    if constexpr (std::is_same_v<T, X>) {
      if (std::addressof(tree) == std::addressof(place)) return std::move(value);
    }
    if constexpr (kind_of<T> == node_kind::leaf) {
      return std::move(tree);
    } else if constexpr (has_aux_fields<T>) {
      const auto with_aux = [&](const auto&... old) {
        return node_of<T>::assemble(std::tie(aux_for(old)...), child_of<Tree>{*this, tree});
      };
      return std::apply(with_aux, node_of<T>::aux(tree));
    } else {
      return rebuild<T>(*this, tree);
    }
  }

 private:
  template <class V> constexpr const V& aux_for(const V& old) const {
    if constexpr (std::is_same_v<V, X>) {
      if (std::addressof(old) == std::addressof(place)) return value;
    }
    return old;
  }

  template <class Tree> struct child_of {
    const rebuilder& make;
    Tree& tree;

    template <std::size_t I> constexpr auto operator()(index<I>) const {
      auto&& children = node_of<Tree>::children(tree);
      return make(type_tag<typename child_at<Tree, I>::type>{}, no_key{}, get_child<I>(children));
    }
  };
};

[[noreturn, gnu::noinline, gnu::cold]] inline void throw_not_in_tree(std::size_t place) {
  throw path_error(
      "espalier: tree_at: place " + std::to_string(place) +
      " is const, or cannot be assigned, so that the tree has to be rebuilt with the new value: expected a "
      "node, a leaf, or aux data of a struct, found a reference to something else. Give back a reference "
      "that is not const (`-> auto&`), or one to the leaf or node that this is a part of");
}

// --- The new values. -------------------------------------------------------------------------------------------------

// Gives the value that replaces a place.
template <class Value> struct constant {
  Value&& value;
  template <class X> constexpr Value&& operator()(const X&) const { return static_cast<Value&&>(value); }
};

// What a place of type X holds, for the question whether a number fits.
template <class X> struct number_of {
  using type = X;
};
template <class X> struct number_of<std::optional<X>> : number_of<X> {};
template <class X> struct number_of<aux<X>> : number_of<X> {};

template <class From, class To>
inline constexpr bool cuts_off = std::is_floating_point_v<typename number_of<std::remove_cvref_t<From>>::type> &&
                                 std::is_integral_v<typename number_of<To>::type>;

// Stops the build if f(what stands at a place of type X) is no value for it.
template <class X, class F> consteval bool require_value() {
  if constexpr (!std::is_invocable_v<F, const X&>) {
    static_assert(always_false<types<F, const X>>,
                  "espalier: tree_at: the function given to apply cannot take what stands at the place (the types of "
                  "both are named beside this message). Let it take that by value or const reference, and give back "
                  "the new value");
    return false;
  } else {
    using result = std::invoke_result_t<F, const X&>;
    constexpr bool converts = std::is_convertible_v<result, X>;
    static_assert(converts,
                  "espalier: tree_at: the new value does not convert to the type of what stands at the place");
    static_assert(!cuts_off<result, X>,
                  "espalier: tree_at: the new value is a floating-point number and the place an integer, which would "
                  "cut off the fraction; convert it before, with static_cast or std::lround");
    return converts && !cuts_off<result, X>;
  }
}

// --- The operation. --------------------------------------------------------------------------------------------------

// A tree and places in it; what tree_at returns, to be used at once.
template <class Tree, class... Where> class places {
  using T = std::remove_cvref_t<Tree>;
  static constexpr std::size_t count = sizeof...(Where);

 public:
  constexpr explicit places(Tree&& tree, Where... where)
      : tree_(static_cast<Tree&&>(tree)), where_(std::move(where)...) {}

  // The tree with these values at the places, one for each, put there one after the other.
  template <class... Value> [[nodiscard]] constexpr T replace(Value&&... value) const {
    static_assert(sizeof...(Value) == count, "espalier: tree_at: replace needs one value for each place");
    if constexpr (sizeof...(Value) == count) {
      return change(std::tuple<constant<Value>...>(constant<Value>{static_cast<Value&&>(value)}...));
    }
  }

  // The tree with f(what stands there) at the places: one function for all of them, or one for each.
  template <class... F> [[nodiscard]] constexpr T apply(F&&... f) const {
    constexpr bool fits = sizeof...(F) == 1 || sizeof...(F) == count;
    static_assert(fits, "espalier: tree_at: apply needs one function, or one for each place");
    if constexpr (fits) return change(std::tie(f...));
  }

  // The places themselves, for changes in the tree: a reference, or a tuple of references to several.
  constexpr decltype(auto) get() const {
    static_assert(std::is_lvalue_reference_v<Tree>,
                  "espalier: tree_at: get gives references into the tree, and this one is a temporary");
    if constexpr ((require_place<std::remove_reference_t<Tree>>(type_tag<Where>{}) && ...)) {
      if constexpr (count == 1) {
        return find_place(tree_, std::get<0>(where_));
      } else {
        return std::apply(
            [&](const auto&... where) {
              return std::tuple<decltype(find_place(tree_, where))...>(find_place(tree_, where)...);
            },
            where_);
      }
    }
  }

 private:
  static constexpr bool moves_tree = std::is_same_v<Tree, T> && std::is_move_constructible_v<T>;

  // Whether a place of type X is changed by rebuilding the tree around it. (So is a tree that cannot even be moved out
  // of the function that changes it.)
  template <class X>
  static constexpr bool is_rebuilt =
      std::is_const_v<X> || !std::is_move_assignable_v<X> || !std::is_move_constructible_v<T>;

  // Place I of a tree that is to be changed there.
  template <std::size_t I> constexpr auto& place_in(T& tree) const {
    auto& place = find_place(tree, std::get<I>(where_));
    if constexpr (is_rebuilt<std::remove_reference_t<decltype(place)>>) {
      const auto& met = as_met(place);
      place_finder<std::remove_cvref_t<decltype(met)>> finder{met};
      finder(no_key{}, tree);
      if (!finder.found) throw_not_in_tree(I);
    }
    return place;
  }

  template <class Functions> constexpr T change(const Functions& functions) const {
    // Nothing is moved out of a tree that lacks a place.
    if constexpr (moves_tree) {
      [this]<std::size_t... I>(std::index_sequence<I...>) {
        ((void)place_in<I>(tree_), ...);
      }(std::make_index_sequence<count>{});
    }
    return changed(index<count>{}, functions);
  }

  // The tree with the first N places changed. (Not one function for all N: g++ constructs in place what is returned
  // only of the outermost block.)
  template <class Functions> ESPALIER_INLINE constexpr T changed(index<0>, const Functions&) const {
    if constexpr (moves_tree) {
      return T(static_cast<Tree&&>(tree_));
    } else {
      return copy_tree<T>(tree_);
    }
  }
  template <std::size_t N, class Functions>
  ESPALIER_INLINE constexpr T changed(index<N>, const Functions& functions) const {
    T tree = changed(index<N - 1>{}, functions);
    auto& place = place_in<N - 1>(tree);
    constexpr std::size_t which = std::tuple_size_v<Functions> == 1 ? 0 : N - 1;
    auto& f = std::get<which>(functions);
    using X = std::remove_reference_t<decltype(place)>;
    using value_type = std::remove_const_t<X>;
    if constexpr (!require_value<value_type, decltype(f)>()) {
      return tree;
    } else {
      value_type value = call_with(f, std::as_const(place));
      if constexpr (is_rebuilt<X>) {
        auto& met = as_met(value);
        return rebuilder<std::remove_reference_t<decltype(met)>>{as_met(place), met}(type_tag<T>{}, no_key{}, tree);
      } else {
        place = std::move(value);
        return tree;
      }
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
// a map's key with dots, the shortest part that fits is taken. Aux data has no path: name it by a member or a function.
// Names are checked at compile time; throws path_error where this tree has no such element. Where a place is const or
// cannot be assigned, the tree is rebuilt around it; path_error where rebuilding does not come across it (a part of a
// leaf, aux data of a registered node). Costs the copy, and no allocation beyond.
template <class Tree, class... Where> constexpr auto tree_at(Tree&& tree, Where... where) {
  static_assert(sizeof...(Where) > 0, "espalier: tree_at: name a place: a path, a member, or a function");
  using T = std::remove_cvref_t<Tree>;
  if constexpr (!pytree<T>) {
    static_assert(detail::require_trees<T>());
  } else if constexpr ((detail::require_place<T>(detail::type_tag<Where>{}) && ...)) {
    return detail::places<Tree, Where...>(static_cast<Tree&&>(tree), std::move(where)...);
  }
}

}  // namespace espalier
