// A tree's type, read once at compile time: which types its leaves have, which nodes it reaches, and, only when
// something is wrong, the key path of the first fault.
#pragma once

#include <espalier/detail/types.hpp>
#include <espalier/encode.hpp>
#include <espalier/node.hpp>

namespace espalier {

template <class T, class U> class leaf_array;

}  // namespace espalier

namespace espalier::detail {

template <class T> struct leaf_array_parts;
template <class T, class U> struct leaf_array_parts<leaf_array<T, U>> {
  using tree = T;
  using leaf = U;
};

template <class T> inline constexpr bool is_bare_leaf_array = false;
template <class T, class U> inline constexpr bool is_bare_leaf_array<leaf_array<T, U>> = true;
template <class T> inline constexpr bool is_leaf_array = is_bare_leaf_array<std::remove_cvref_t<T>>;

// Stands for a leaf_array among the rest trees: at every node it is passed on as it is, at a leaf it gives its next
// value.
template <class U> struct leaf_cursor {
  U* next;
};

template <class T> inline constexpr bool is_cursor = false;
template <class U> inline constexpr bool is_cursor<leaf_cursor<U>> = true;

// A zip is a list of types: that of the first tree at one place, and those of the rest trees beside it.

template <class T, std::size_t I> struct child_at {
  using type = std::remove_cv_t<typename node_of<T>::template child<I>>;
};
template <class U, std::size_t I> struct child_at<leaf_cursor<U>, I> {
  using type = leaf_cursor<U>;
};

template <class T> struct element_at {
  using type = std::remove_cv_t<typename node_of<T>::element>;
};
template <class U> struct element_at<leaf_cursor<U>> {
  using type = leaf_cursor<U>;
};

// Whether R can stand beside First at this node: the same kind, arity and field names (aux and sizes are for run time).
template <class First, class R> consteval bool node_matches() {
  if constexpr (is_cursor<R> || std::is_same_v<First, R>) {
    return true;
  } else if constexpr (kind_of<First> != kind_of<R>) {
    return false;
  } else if constexpr (is_product<First> || kind_of<First> == node_kind::variant) {
    if constexpr (node_of<First>::arity != node_of<R>::arity) {
      return false;
    } else if constexpr (is_product<First>) {
      return []<std::size_t... I>(std::index_sequence<I...>) {
        return ((node_of<First>::key(I) == node_of<R>::key(I)) && ...);
      }(std::make_index_sequence<node_of<First>::arity>{});
    } else {
      return true;
    }
  } else if constexpr (kind_of<First> == node_kind::array) {
    return node_of<First>::extent == node_of<R>::extent;
  } else if constexpr (kind_of<First> == node_kind::map) {
    return std::is_same_v<typename node_of<First>::key, typename node_of<R>::key> &&
           std::is_same_v<typename node_of<First>::compare, typename node_of<R>::compare>;
  } else {
    return true;
  }
}

// Why a place of a tree cannot be traversed.
enum class fault : unsigned char { none, unsupported, aux, mismatch };

template <class> inline constexpr bool all_encodable_in = true;
template <class... A>
inline constexpr bool all_encodable_in<std::tuple<A...>> = (encodable<std::remove_cvref_t<A>> && ...);

template <class T> consteval bool has_encodable_aux() {
  if constexpr (is_product<T>) {
    if constexpr (node_of<T>::has_aux)
      return all_encodable_in<std::remove_cvref_t<decltype(node_of<T>::aux(std::declval<const T&>()))>>;
  }
  return true;
}

template <class First, class... Rest> consteval fault fault_here() {
  if constexpr (kind_of<First> == node_kind::unsupported) {
    return fault::unsupported;
  } else if constexpr (kind_of<First> == node_kind::leaf) {
    return fault::none;
  } else if constexpr (!has_encodable_aux<First>()) {
    return fault::aux;
  } else {
    return (node_matches<First, Rest>() && ...) ? fault::none : fault::mismatch;
  }
}

// The result of a survey: the distinct zips at leaves, in the order they are met, the distinct zips at nodes, and the
// zip at the first fault (void if there is none). It ends at leaves, and at nodes of the types in Stops.
template <class Leaves, class Nodes, class Faulty, class Stops = types<>> struct survey {
  using leaves = Leaves;
  using nodes = Nodes;
  using faulty = Faulty;
};

template <class Zip, std::size_t I> struct zip_child;
template <class... T, std::size_t I> struct zip_child<types<T...>, I> {
  using type = types<typename child_at<T, I>::type...>;
};

template <class Zip> struct zip_element;
template <class... T> struct zip_element<types<T...>> {
  using type = types<typename element_at<T>::type...>;
};

#if ESPALIER_HAS_STD_META
// The types of fields without their const, each once, in order, as a `types<…>`.
template <std::size_t N> consteval std::meta::info distinct_types(const reflect::detail::field_infos<N>& fields) {
  std::meta::info found[N] = {};
  std::size_t n = 0;
  for (std::size_t i = 0; i < N; ++i) {
    const std::meta::info type = remove_cv(type_of(fields.at[i]));
    std::size_t known = 0;
    while (known < n && found[known] != type) ++known;
    found[known] = type;
    if (known == n) ++n;
  }
  return substitute(^^types, std::span<const std::meta::info>(found, n));
}

// Of a struct whose fields are all children, each type of field is surveyed once: it compiles quicker.
template <class T> inline constexpr bool has_distinct_types = false;
template <class T>
  requires requires { typename node_of<T>::layout; } && (!reflect::detail::adapted<T>)
inline constexpr bool has_distinct_types<T> = !node_of<T>::has_aux && !reflect::detail::found<T>.arrays
                                              && node_of<T>::arity > 1;

template <class... L, class Nodes, class Stops, class... Child>
constexpr auto survey_each(survey<types<L...>, Nodes, void, Stops> state, types<Child...>) {
  if constexpr (sizeof...(L) == 0 && ((kind_of<Child> == node_kind::leaf) && ...)) {
    return survey<types<types<Child>...>, Nodes, void, Stops>{};
  } else {
    return (state + ... + type_tag<types<Child>>{});
  }
}
#endif

// Folds over the children of a node: `state + zip` is the state after surveying that zip.
template <class... L, class... N, class Faulty, class... Stop, class First, class... Rest>
constexpr auto operator+(survey<types<L...>, types<N...>, Faulty, types<Stop...>> state,
                         type_tag<types<First, Rest...>>) {
  using zip_here = types<First, Rest...>;
  if constexpr (!std::is_void_v<Faulty>) {
    return state;
  } else if constexpr (kind_of<First> == node_kind::leaf || is_one_of<First, Stop...>) {
    if constexpr (is_in<zip_here, types<L...>>) {
      return state;
    } else {
      return survey<types<L..., zip_here>, types<N...>, void, types<Stop...>>{};
    }
  } else if constexpr (fault_here<First, Rest...>() != fault::none) {
    return survey<types<L...>, types<N...>, zip_here, types<Stop...>>{};
  } else if constexpr (is_in<zip_here, types<N...>>) {
    return state;
  } else {
    using entered = survey<types<L...>, types<N..., zip_here>, void, types<Stop...>>;
#if ESPALIER_HAS_STD_META
    if constexpr (sizeof...(Rest) == 0 && has_distinct_types<First>) {
      return survey_each(entered{}, typename[:distinct_types(reflect::detail::native_reader<First>::fields):]{});
    } else
#endif
        if constexpr (is_product<First> || kind_of<First> == node_kind::variant) {
      return []<std::size_t... I>(std::index_sequence<I...>) {
        return (entered{} + ... + type_tag<typename zip_child<zip_here, I>::type>{});
      }(std::make_index_sequence<node_of<First>::arity>{});
    } else {
      return entered{} + type_tag<typename zip_element<zip_here>::type>{};
    }
  }
}

template <class Stops, class First, class... Rest>
using survey_with = decltype(survey<types<>, types<>, void, Stops>{} + type_tag<types<First, Rest...>>{});
template <class First, class... Rest> using survey_of = survey_with<types<>, First, Rest...>;

// The distinct leaf types of a tree, in the order they are met.
template <class T> struct leaf_types_of;
template <class... L> struct leaf_types_of<types<types<L>...>> {
  using type = types<L...>;
};
template <class T> using leaf_types = typename leaf_types_of<typename survey_of<T>::leaves>::type;

// Whether a container's elements contain the container again (`struct node { std::vector<node> children; }`).
template <class Container>
inline constexpr bool is_recursive_container =
    is_in<types<Container>, typename survey_of<std::remove_cv_t<typename node_of<Container>::element>>::nodes>;

// --- Faults: computed only when a static assertion is about to fail. -------------------------------------------------

// A key path as text, with `[*]` for the elements of a container.
struct path_text {
  char text[256] = {};
  std::size_t size = 0;

  constexpr path_text operator+(std::string_view more) const {
    path_text result = *this;
    for (char c : more) {
      if (result.size < sizeof(text) - 1) result.text[result.size++] = c;
    }
    return result;
  }
  constexpr path_text operator+(const key_entry& key) const {
    if (key.which == key_entry::kind::attribute) return *this + "." + key.name;
    if (key.which != key_entry::kind::index) return *this;
    path_text digits = *this + "[";
    std::int64_t scale = 1;
    while (key.number / scale > 9) scale *= 10;
    for (; scale > 0; scale /= 10) {
      const char digit = static_cast<char>('0' + key.number / scale % 10);
      digits = digits + std::string_view(&digit, 1);
    }
    return digits + "]";
  }
};

// The path of the first zip, in order, that Fault accepts; sets `found` if there is one.
template <template <class> class Fault, class Zip, class Entered = types<>>
constexpr path_text fault_path(path_text path, bool& found);

template <template <class> class Fault, class... E, class First, class... Rest>
constexpr path_text fault_path_below(type_tag<types<First, Rest...>>, type_tag<types<E...>>, path_text path,
                                     bool& found) {
  using zip_here = types<First, Rest...>;
  if constexpr (Fault<zip_here>::value) {
    found = true;
    return path;
  } else if constexpr (fault_here<First, Rest...>() != fault::none || kind_of<First> == node_kind::leaf ||
                       is_in<zip_here, types<E...>>) {
    return path;
  } else if constexpr (is_product<First> || kind_of<First> == node_kind::variant) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      path_text result = path;
      const auto key = [&]<std::size_t J>(index<J>) {
        if constexpr (kind_of<First> == node_kind::variant) {
          return key_entry{};
        } else {
          return node_of<First>::key(J);
        }
      };
      (void)key;
      (void)(... || (result = fault_path<Fault, typename zip_child<zip_here, I>::type, types<E..., zip_here>>(
                         path + key(index<I>{}), found),
                     found));
      return found ? result : path;
    }(std::make_index_sequence<node_of<First>::arity>{});
  } else {
    const path_text below = kind_of<First> == node_kind::maybe ? path : path + "[*]";
    return fault_path<Fault, typename zip_element<zip_here>::type, types<E..., zip_here>>(below, found);
  }
}

template <template <class> class Fault, class Zip, class Entered>
constexpr path_text fault_path(path_text path, bool& found) {
  return fault_path_below<Fault>(type_tag<Zip>{}, type_tag<Entered>{}, path, found);
}

// The text that a function gives, as a template argument, so that the compiler prints it.
template <class Make> consteval auto as_fixed_string(Make) {
  constexpr path_text text = Make()();
  fixed_string<text.size + 1> result;
  for (std::size_t i = 0; i < text.size; ++i) result.text[i] = text.text[i];
  result.text[text.size] = '\0';  // written out: clang prints as text only what is terminated in so many words
  return result;
}

// The path of the first zip that Fault accepts, not looked for below the zips in Ends.
template <template <class> class Fault, class Zip, class Ends = types<>> consteval auto fault_path_string() {
  return as_fixed_string([] {
    bool found = false;
    const path_text path = fault_path<Fault, Zip, Ends>(path_text{}, found);
    return path.size == 0 ? path + "(root)" : path;
  });
}

// Accepts one zip.
template <class Zip> struct exactly {
  template <class Other> using accepts = std::is_same<Zip, Other>;
};

// A name for the compiler to print, as in `at_path<".layers[*].cache", std::shared_ptr<float>>`.
template <fixed_string Path, class... T> struct at_path {};

template <class Where> struct unsupported_type {
  static_assert(
      always_false<Where>,
      "espalier: a type in this tree is neither a node nor a leaf (its key path and type are named beside this "
      "message). Make it an aggregate; or a leaf, `template <> inline constexpr bool espalier::is_leaf_type<T> = "
      "true`; or register it, `template <> struct espalier::pytree_node<T>`. vector<bool>, shared_ptr, raw "
      "pointers, references, views, owning pointers to polymorphic types, and maps whose keys are not strings, "
      "integers "
      "or enums, are never nodes by themselves");
};

// A C array outside of what std::meta reads; the other back ends refuse aggregates that hold one.
template <class Where> struct c_array_is_no_node {
  static_assert(always_false<Where>,
                "espalier: this member is a C array (its key path and type are named beside this message), which is "
                "only read with C++26 reflection. Use std::array");
};

// The node itself says what is wrong with it.
template <class T>
concept says_why = requires { node_of<T>::says_why; };

template <class Where, class T> consteval bool explain() {
  if constexpr (says_why<T>) {
    return sizeof(typename node_of<T>::template why<Where>) == 0;
  } else {
    return false;
  }
}

template <class Where> struct leaf_array_is_no_tree {
  static_assert(
      always_false<Where>,
      "espalier: this operation does not take a leaf_array (its type is named beside this message). tree_map, "
      "tree_visit and what is made of them do; otherwise make it a tree, array.structure().unflatten(array), if its "
      "values are what the tree's leaves are, or go through its values, which are a range");
};

template <class Where> struct aux_cannot_be_encoded {
  static_assert(
      always_false<Where>,
      "espalier: aux data must be encodable, so that it can be compared and hashed (the key path and the type that "
      "holds "
      "the aux data are named beside this message): bool, characters, integers, floats, enums, strings, and aggregates "
      "and standard containers of these. Arrays of an engine are leaves, not aux data. Make it a child, or specialise "
      "espalier::value_encoder for it");
};

template <class Where> struct different_structures {
  static_assert(
      always_false<Where>,
      "espalier: these trees have different structures (the key path and the types there are named beside this "
      "message). A rest tree needs the first tree's kinds of nodes and field names, down to the first tree's "
      "leaves");
};

// Stops the build at the first fault, naming it; true if there is none.
template <class Stops, class First, class... Rest> consteval bool require_trees_with() {
  using found = survey_with<Stops, First, Rest...>;
  using faulty = typename found::faulty;
  if constexpr (std::is_void_v<faulty>) {
    return true;
  } else {
    return []<class BadFirst, class... BadRest>(type_tag<types<BadFirst, BadRest...>>) {
      constexpr auto path =
          fault_path_string<exactly<faulty>::template accepts, types<First, Rest...>, typename found::leaves>();
      using where = at_path<path, BadFirst, BadRest...>;
      if constexpr ((is_leaf_array<BadFirst> || ... || is_leaf_array<BadRest>)) {
        return sizeof(leaf_array_is_no_tree<where>) == 0;
      } else if constexpr (std::is_array_v<BadFirst>) {
        return sizeof(c_array_is_no_node<where>) == 0;
      } else if constexpr ((says_why<BadFirst> || ... || says_why<BadRest>)) {
        return (explain<where, BadFirst>() && ... && explain<where, BadRest>());
      } else if constexpr (fault_here<BadFirst, BadRest...>() == fault::unsupported) {
        return sizeof(unsupported_type<where>) == 0;
      } else if constexpr (fault_here<BadFirst, BadRest...>() == fault::aux) {
        return sizeof(aux_cannot_be_encoded<where>) == 0;
      } else {
        return sizeof(different_structures<where>) == 0;
      }
    }(type_tag<faulty>{});
  }
}
template <class First, class... Rest> consteval bool require_trees() {
  return require_trees_with<types<>, First, Rest...>();
}

// --- Structs that cannot be made from their fields, so that they can be visited only. --------------------------------

template <class Zip> struct is_not_made : std::false_type {};
template <class T>
  requires requires {
    typename node_of<T>::layout;
    reflect::detail::reader<T>::makeable();
  }
struct is_not_made<types<T>> : std::bool_constant<!reflect::detail::reader<T>::makeable()> {};

// Stops the build if the node, in a T, cannot be made, naming it and its path.
template <class T, class Stops, class Node> consteval bool require_made(type_tag<types<Node>>) {
  if constexpr (is_not_made<types<Node>>::value) {
    constexpr auto path =
        fault_path_string<exactly<types<Node>>::template accepts, types<T>, typename survey_with<Stops, T>::leaves>();
    return sizeof(typename reflect::detail::reader<Node>::template why_not_made<at_path<path, Node>>) == 0;
  } else {
    return true;
  }
}
template <class T, class Stops, class... Node> consteval bool require_all_made(types<Node...>) {
  return (require_made<T, Stops>(type_tag<Node>{}) && ...);
}
template <class T, class Stops = types<>> consteval bool require_makeable() {
  return require_all_made<T, Stops>(typename survey_with<Stops, T>::nodes{});
}

}  // namespace espalier::detail

namespace espalier {

// A type that is a tree: every type below it is a node or a leaf.
template <class T>
concept pytree = std::is_void_v<typename detail::survey_of<std::remove_cvref_t<T>>::faulty>;

}  // namespace espalier
