// What a type is in a tree, decided at compile time and in this order: a registered node, the member protocol, a leaf,
// a standard container, a struct whose fields are read (an aggregate, or a class that is adapted or opted in: see
// reflect/); anything else is a compile error. Register a class that is none of these with
//
//   template <> struct espalier::pytree_node<Quantized> {
//     static auto children(auto&& q) { return std::tie(q.packed, q.scales); }          // always a tuple of references
//     static auto aux(const Quantized& q) { return std::tuple(q.group_size, q.bits); }   // optional: what is structure
//     static Quantized unflatten(auto aux, auto&&... children);                          // rebuild
//     static constexpr std::array names{"packed", "scales"};                             // optional: keys of key paths
//   };
//
// or, in the class itself, with `tree_children()`, `tree_aux()` and a static `tree_unflatten(aux, children...)`; or
// with `tree_flatten()` that returns the pair of both, and a static `tree_unflatten(aux, children)` that takes two
// tuples.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <espalier/aux.hpp>
#include <espalier/detail/sorted.hpp>
#include <espalier/detail/types.hpp>
#include <espalier/leaf.hpp>
#include <espalier/path_view.hpp>
#include <espalier/reflect/fields.hpp>
#include <espalier/reflect/names.hpp>
#include <espalier/reflect/nowhere.hpp>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>
#if ESPALIER_HAS_STD_META
#include <algorithm>
#endif

namespace espalier {

// Registers T as a node; see the top of this file. Wins over everything that T looks like.
template <class T> struct pytree_node;

// A name that becomes part of T's structure, for structs that should be told apart in files. Struct names themselves do
// not.
template <class T> inline constexpr std::string_view pytree_name = {};

// How the children of a node are held.
enum class node_kind : unsigned char {
  unsupported,
  leaf,
  record,    // a struct: one child per field that is not aux data, keyed by name
  tuple,     // std::tuple, std::pair
  custom,    // registered, or with the member protocol
  array,     // std::array
  sequence,  // std::vector
  map,       // std::map, std::unordered_map: visited in key order
  maybe,     // std::optional, std::unique_ptr: a child or None
  variant,   // std::variant: the child that is held
};

namespace detail {

template <class T>
concept registered = requires { sizeof(pytree_node<T>); };
template <class T>
concept has_tree_children = requires(const T& t) { t.tree_children(); };
template <class T>
concept has_tree_flatten = requires(const T& t) { t.tree_flatten(); };

template <class T> struct node;

// The standard containers, each matched by its own template or, where its header is not included here, by its name in
// std and its members. Specialisations below.
template <class T> struct container_node {
  static constexpr node_kind kind = node_kind::unsupported;
};

// --- Products: a fixed number of children of any types. -------------------------------------------------------------

template <class> inline constexpr bool is_aux = false;
template <class T> inline constexpr bool is_aux<aux<T>> = true;

template <class T> consteval auto listed_aux_fields() {
  if constexpr (requires { T::tree_aux; }) {
    return T::tree_aux;
  } else {
    return aux_fields<T>;
  }
}

template <class A, class B> constexpr bool same_address(const A* a, const B* b) {
  if constexpr (std::is_same_v<std::remove_cv_t<A>, std::remove_cv_t<B>>) {
    return a == b;
  } else {
    return false;
  }
}

template <class T, class Field, auto... Members> constexpr bool is_listed(field_list<Members...>, const Field& field) {
  return (same_address(&field, &reflect::detail::member_of(reflect::detail::nowhere<T>(), Members)) || ...);
}

#if ESPALIER_HAS_STD_META
template <class T> consteval bool is_bit_field(std::size_t i) {
  if constexpr (reflect::has_field_notes<T>) {
    return reflect::field_notes_v<T>[i].is_bit_field;
  } else {
    return false;
  }
}

// (The declared types are asked all at once, without the type of any field as a template argument.)
consteval bool has_aux_type(std::meta::info field) {
  const std::meta::info type = dealias(remove_cv(type_of(field)));
  return has_template_arguments(type) && template_of(type) == ^^aux;
}
consteval bool any_aux_type(std::span<const std::meta::info> fields) {
  const std::meta::info* field = fields.data();
  for (const std::meta::info* const end = field + fields.size(); field != end; ++field) {
    if (detail::has_aux_type(*field)) return true;
  }
  return false;
}

template <class T> consteval bool has_sound_fields() {
  if constexpr (!reflect::detail::reader<T>::sound) {
    return false;
  } else if constexpr (reflect::has_field_notes<T>) {
    return std::ranges::none_of(reflect::field_notes_v<T>,
                                [](auto note) { return note.is_leaf || (note.is_bit_field && !note.is_aux); });
  } else {
    return true;
  }
}

// False after our sentence, and for what has another fault.
template <class T> consteval bool require_sound_annotations() {
  if constexpr (reflect::detail::reader<T>::sound && reflect::has_field_notes<T>) {
    constexpr auto& notes = reflect::field_notes_v<T>;
    static_assert(std::ranges::none_of(notes, &reflect::field_notes::is_leaf),
                  "espalier: a field of this struct is annotated as a leaf. What is a leaf depends on the type alone: "
                  "annotate the field's class with [[=espalier::leaf]], or specialise espalier::is_leaf_type.");
    static_assert(std::ranges::all_of(notes, [](auto note) { return note.is_aux || !note.is_bit_field; }),
                  "espalier: this struct has a member that is a bit-field, to which no reference can refer, so that it "
                  "is no leaf. Annotate it with [[=espalier::aux_field]], hold a whole value, or register the struct "
                  "with espalier::pytree_node.");
  }
  return false;
}

// Adds the fields that are annotated as aux data.
template <class T, std::size_t N> consteval void add_annotated(std::array<bool, N>& flags) {
  if constexpr (reflect::has_field_notes<T>) {
    for (std::size_t i = 0; i < N; ++i) flags[i] = flags[i] || reflect::field_notes_v<T>[i].is_aux;
  }
}
#else
template <class T> consteval bool is_bit_field(std::size_t) { return false; }
template <class T> consteval bool has_sound_fields() { return reflect::detail::reader<T>::sound; }
template <class T> consteval bool require_sound_annotations() { return false; }
#endif

// Whether a field of T is of type aux<V>.
template <class T> consteval bool any_aux_type() {
#if ESPALIER_HAS_STD_META
  if constexpr (!reflect::detail::adapted<T>)
    return detail::any_aux_type(reflect::detail::native_reader<T>::fields.all());
  else
#endif
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (is_aux<std::remove_cv_t<reflect::field_t<T, I>>> || ...);
    }(std::make_index_sequence<reflect::field_count_v<T>>{});
}

template <class T> consteval bool any_aux_field() {
  using listed = std::remove_const_t<decltype(listed_aux_fields<T>())>;
  if constexpr (reflect::field_count_v<T> == 0) {
    return false;
  } else if constexpr (!std::is_same_v<listed, field_list<>>) {
    return true;
  } else {
#if ESPALIER_HAS_STD_META
    if constexpr (reflect::has_field_notes<T>) return true;
#endif
    return any_aux_type<T>();
  }
}

// Which fields of T are aux data, and where each child is among the fields. Of most structs none is, and there is
// nothing to compute.
template <class T, bool = any_aux_field<T>()> struct record_layout {
  static constexpr std::size_t field_count = reflect::field_count_v<T>;
  static constexpr auto fields = std::make_index_sequence<field_count>{};

  static constexpr std::size_t aux_count = 0;
  struct no_flags {
    constexpr bool operator[](std::size_t) const { return false; }
  };
  struct same_index {
    constexpr std::size_t operator[](std::size_t i) const { return i; }
  };
  static constexpr no_flags aux_flags{};
  static constexpr same_index child_fields{};
  static constexpr std::size_t rank(std::size_t field) { return field; }
};
template <class T> struct record_layout<T, true> {
  static constexpr std::size_t field_count = reflect::field_count_v<T>;
  static constexpr auto fields = std::make_index_sequence<field_count>{};

  // Which fields are of type aux<V>.
  template <std::size_t... I> static consteval std::array<bool, field_count> aux_types(std::index_sequence<I...>) {
#if ESPALIER_HAS_STD_META
    if constexpr (!reflect::detail::adapted<T>)
      return {has_aux_type(reflect::detail::native_reader<T>::fields.at[I])...};
    else
#endif
      return {is_aux<std::remove_cv_t<reflect::field_t<T, I>>>...};
  }

  static consteval std::array<bool, field_count> flags() {
    constexpr auto listed = listed_aux_fields<T>();
    std::array<bool, field_count> flags = aux_types(fields);
    if constexpr (!std::is_same_v<std::remove_const_t<decltype(listed)>, field_list<>>) {
      constexpr auto extra = reflect::with_fields(reflect::detail::nowhere<T>(), [](const auto&... field) {
        return std::array<bool, field_count>{is_listed<T>(listed_aux_fields<T>(), field)...};
      });
      for (std::size_t i = 0; i < field_count; ++i) flags[i] = flags[i] || extra[i];
    }
#if ESPALIER_HAS_STD_META
    detail::add_annotated<T>(flags);
#endif
    return flags;
  }

  static constexpr std::array<bool, field_count> aux_flags = flags();

  static constexpr std::size_t aux_count = [] {
    std::size_t n = 0;
    for (bool flag : aux_flags) n += flag ? 1 : 0;
    return n;
  }();

  // The fields with the flag, in order.
  template <bool Aux, std::size_t N>
  static constexpr std::array<std::size_t, N> positions = [] {
    std::array<std::size_t, N> result{};
    for (std::size_t i = 0, n = 0; i != field_count; ++i) {
      if (aux_flags[i] == Aux) result[n++] = i;
    }
    return result;
  }();
  static constexpr auto child_fields = positions<false, field_count - aux_count>;
  static constexpr auto aux_field_indices = positions<true, aux_count>;

  // How many children (or aux fields) come before a field.
  static constexpr std::size_t rank(std::size_t field) {
    std::size_t n = 0;
    for (std::size_t i = 0; i < field; ++i) n += aux_flags[i] == aux_flags[field] ? 1 : 0;
    return n;
  }
};

template <class T> struct record_node {
  static constexpr node_kind kind = node_kind::record;
  using layout = record_layout<T>;
  static constexpr std::size_t arity = layout::field_count - layout::aux_count;
  static constexpr bool has_aux = layout::aux_count > 0;

  template <std::size_t I> using child = reflect::field_value_t<reflect::field_t<T, layout::child_fields[I]>>;

  static constexpr key_entry key(std::size_t i) {
    return {key_entry::kind::attribute, reflect::field_names_v<T>[layout::child_fields[i]]};
  }

  template <class Self> ESPALIER_INLINE static constexpr auto children(Self& self) {
    return reflect::with_fields(self, [](auto&... field) ESPALIER_INLINE_LAMBDA {
      const ref_pack<std::make_index_sequence<sizeof...(field)>, std::remove_reference_t<decltype(field)>...> all{
          {field}...};
      if constexpr (!has_aux) {
        return all;
      } else {
        return pick_children(all, std::make_index_sequence<arity>{});
      }
    });
  }

  template <std::size_t I> static constexpr key_entry aux_key() {
    return {key_entry::kind::attribute, reflect::field_names_v<T>[layout::aux_field_indices[I]]};
  }

  // References to the aux values: of an aux<V> field to the V in it, so that all spellings of aux data mean the same.
  // (Of a bit-field, a copy.)
  static constexpr auto aux(const T& self) {
    if constexpr (!has_aux) {
      return std::tuple<>{};
    } else {
      return reflect::with_fields(self, [](auto&... field) {
        const auto all = std::tie(field...);
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
          return tuple_of(bare<layout::aux_field_indices[I]>(std::get<layout::aux_field_indices[I]>(all))...);
        }(std::make_index_sequence<layout::aux_count>{});
      });
    }
  }

  // T with the given aux fields, child I made by make(index<I>).
  template <class Aux, class Make> ESPALIER_INLINE static constexpr T assemble(const Aux& aux_values, Make&& make) {
    return [&]<std::size_t... F>(std::index_sequence<F...>) ESPALIER_INLINE_LAMBDA -> T {
      if constexpr (!has_aux) {
        return reflect::construct<T>(make, index<F>{}...);
      } else {
        return reflect::construct<T>(field_maker<Aux, Make>{aux_values, make}, index<F>{}...);
      }
    }(layout::fields);
  }

 private:
  template <std::size_t F, class Value> static constexpr decltype(auto) bare(const Value& value) {
    if constexpr (is_bit_field<T>(F)) {
      return Value(value);
    } else if constexpr (is_aux<Value>) {
      return (value.value);
    } else {
      return (value);
    }
  }

  template <class... V> static constexpr std::tuple<V...> tuple_of(V&&... values) {
    return std::tuple<V...>(std::forward<V>(values)...);
  }

  // Field F: a child, or an aux value. (A class, since g++ 12 confuses such a lambda between structs.)
  template <class Aux, class Make> struct field_maker {
    const Aux& aux_values;
    Make& make;

    template <std::size_t F>
    ESPALIER_INLINE constexpr reflect::field_value_t<reflect::field_t<T, F>> operator()(index<F>) const {
      if constexpr (layout::aux_flags[F]) {
        return std::get<layout::rank(F)>(aux_values);
      } else {
        return make(index<layout::rank(F)>{});
      }
    }
  };

  template <class Pack, std::size_t... I>
  ESPALIER_INLINE static constexpr auto pick_children(const Pack& all, std::index_sequence<I...>) {
    return ref_pack<std::index_sequence<I...>,
                    std::remove_reference_t<decltype(get_ref<layout::child_fields[I]>(all))>...>{
        {get_ref<layout::child_fields[I]>(all)}...};
  }
};

// std::tuple and std::pair.
template <class T> struct tuple_node {
  static constexpr node_kind kind = node_kind::tuple;
  static constexpr std::size_t arity = std::tuple_size_v<T>;
  static constexpr bool has_aux = false;

  template <std::size_t I> using child = std::tuple_element_t<I, T>;

  static constexpr key_entry key(std::size_t i) { return {key_entry::kind::index, {}, static_cast<std::int64_t>(i)}; }

  template <class Self> ESPALIER_INLINE static constexpr Self& children(Self& self) { return self; }

  static constexpr std::tuple<> aux(const T&) { return {}; }

  template <class Aux, class Make> ESPALIER_INLINE static constexpr T assemble(const Aux&, Make&& make) {
    return [&]<std::size_t... I>(std::index_sequence<I...>)
               ESPALIER_INLINE_LAMBDA { return T{make(index<I>{})...}; }(std::make_index_sequence<arity>{});
  }
};

template <class> inline constexpr bool is_tuple_of_references = false;
template <class... C>
inline constexpr bool is_tuple_of_references<std::tuple<C...>> = (std::is_lvalue_reference_v<C> && ...);

template <class T, class Self> ESPALIER_INLINE constexpr auto custom_children(Self& self) {
  if constexpr (registered<T>) {
    return pytree_node<T>::children(self);
  } else if constexpr (has_tree_children<T>) {
    return self.tree_children();
  } else {
    return self.tree_flatten().first;
  }
}

template <class T> using child_tuple_of = decltype(detail::custom_children<T>(std::declval<const T&>()));

// Registered nodes and the two forms of the member protocol, seen alike.
template <class T> struct custom_node {
  static constexpr node_kind kind = node_kind::custom;

  template <class Self> ESPALIER_INLINE static constexpr auto children(Self& self) {
    return detail::custom_children<T>(self);
  }

  using child_tuple = child_tuple_of<T>;
  static constexpr std::size_t arity = std::tuple_size_v<child_tuple>;

  template <std::size_t I> using child = std::remove_cvref_t<std::tuple_element_t<I, child_tuple>>;

  static constexpr key_entry key(std::size_t i) {
    if constexpr (requires { pytree_node<T>::names[i]; }) {
      return {key_entry::kind::attribute, pytree_node<T>::names[i]};
    } else {
      return {key_entry::kind::index, {}, static_cast<std::int64_t>(i)};
    }
  }

  static constexpr auto aux(const T& self) {
    if constexpr (requires { pytree_node<T>::aux(self); }) {
      return one_value(pytree_node<T>::aux(self));
    } else if constexpr (registered<T>) {
      return std::tuple<>{};
    } else if constexpr (requires { self.tree_aux(); }) {
      return one_value(self.tree_aux());
    } else if constexpr (has_tree_flatten<T>) {
      return one_value(self.tree_flatten().second);
    } else {
      return std::tuple<>{};
    }
  }

  static constexpr bool has_aux = !std::is_same_v<decltype(aux(std::declval<const T&>())), std::tuple<>>;

  template <class Aux, class Make> ESPALIER_INLINE static constexpr T assemble(const Aux& aux_values, Make&& make) {
    // Braces: the children are made in order, whatever order a function's arguments are evaluated in.
    auto made = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::tuple<decltype(make(index<I>{}))...>{make(index<I>{})...};
    }(std::make_index_sequence<arity>{});
    const auto original = [&] {
      if constexpr (has_aux) {
        return std::get<0>(aux_values);
      } else {
        return std::tuple<>{};
      }
    };
    if constexpr (registered<T>) {
      return std::apply([&](auto&... child) { return pytree_node<T>::unflatten(original(), std::move(child)...); },
                        made);
    } else if constexpr (has_tree_children<T>) {
      return std::apply([&](auto&... child) { return T::tree_unflatten(original(), std::move(child)...); }, made);
    } else {
      return T::tree_unflatten(original(), std::move(made));
    }
  }

 private:
  // A tuple that the user returned stays one value, instead of becoming ours.
  template <class A> static constexpr std::tuple<A> one_value(A value) { return std::tuple<A>(std::move(value)); }
};

// --- Containers: children of one type, or one child that may be absent. ----------------------------------------------

// (`with_element<U>` is the same container of U, with its default allocator.)

template <class... T> struct container_node<std::tuple<T...>> : tuple_node<std::tuple<T...>> {};
template <class A, class B> struct container_node<std::pair<A, B>> : tuple_node<std::pair<A, B>> {};

#if ESPALIER_HAS_STD_META
// A C array, which only the std::meta back end reads: what std::array is, which it is made from.
template <class T, std::size_t N> struct container_node<T[N]> {
  static constexpr node_kind kind = node_kind::array;
  static constexpr std::size_t extent = N;
  using element = reflect::field_value_t<T>;
  template <class U> using with_element = std::array<U, N>;

  ESPALIER_INLINE static constexpr auto* data(auto& self) { return self; }
  static constexpr std::size_t size(const auto&) { return N; }
};
#endif

template <class T, std::size_t N> struct container_node<std::array<T, N>> {
  static constexpr node_kind kind = node_kind::array;
  static constexpr std::size_t extent = N;
  using element = T;
  template <class U> using with_element = std::array<U, N>;

  ESPALIER_INLINE static constexpr auto* data(auto& self) { return self.data(); }
  static constexpr std::size_t size(const auto&) { return N; }

  template <class Make> ESPALIER_INLINE static constexpr std::array<T, N> assemble(std::size_t, Make&& make) {
    if constexpr (N > 16 && std::is_default_constructible_v<T> && std::is_move_assignable_v<T>) {
      std::array<T, N> result{};
      for (std::size_t i = 0; i < N; ++i) result[i] = make(i);
      return result;
    } else {
      return [&]<std::size_t... I>(std::index_sequence<I...>)
                 ESPALIER_INLINE_LAMBDA { return std::array<T, N>{make(I)...}; }(std::make_index_sequence<N>{});
    }
  }
};

template <class T, class Allocator> struct container_node<std::vector<T, Allocator>> {
  static constexpr node_kind kind = std::is_same_v<T, bool> ? node_kind::unsupported : node_kind::sequence;
  using element = T;
  template <class U> using with_element = std::vector<U>;

  ESPALIER_INLINE static constexpr auto* data(auto& self) { return self.data(); }
  ESPALIER_INLINE static constexpr std::size_t size(const auto& self) { return self.size(); }

  template <class Make> static constexpr std::vector<T, Allocator> assemble(std::size_t n, Make&& make) {
    std::vector<T, Allocator> result;
    result.reserve(n);
    for (std::size_t i = 0; i < n; ++i) {
      if constexpr (std::is_aggregate_v<T>) {
        const auto element = [&]() ESPALIER_INLINE_LAMBDA { return make(i); };
        result.emplace_back(in_place_maker<T, decltype(element)>{element});
      } else {
        result.push_back(make(i));
      }
    }
    return result;
  }
};

// (Not pointers: they are ordered by address, not by the text that they would print.)
template <class K>
inline constexpr bool is_string_key = std::is_convertible_v<const K&, std::string_view> && !std::is_pointer_v<K>;

// Keys that print in a key path: strings, integers, enums.
template <class K>
inline constexpr bool is_printable_key = is_string_key<K> || std::is_integral_v<K> || std::is_enum_v<K>;

template <class K> constexpr key_entry map_key_entry(const K& key) {
  if constexpr (is_string_key<K>) {
    return {key_entry::kind::string_key, std::string_view(key)};
  } else {
    const auto number = static_cast<std::int64_t>(key);
    const bool large = number < 0 && key > K{};
    return {large ? key_entry::kind::unsigned_key : key_entry::kind::integer_key, {}, number};
  }
}

// std::map.
template <class Map>
concept is_map = requires(Map& map, const typename Map::key_type& key) {
  requires is_of_std<Map>();
  typename Map::key_compare;
  requires std::is_same_v<decltype(map.at(key)), typename Map::mapped_type&>;
};

template <template <class...> class Map, class K, class T, class Compare, class Allocator>
  requires is_map<Map<K, T, Compare, Allocator>>
struct container_node<Map<K, T, Compare, Allocator>> {
  static constexpr node_kind kind = is_printable_key<K> ? node_kind::map : node_kind::unsupported;
  using key = K;
  using compare = Compare;
  using element = T;
  template <class U> using with_element = Map<K, U, Compare>;

  // The map's entries in key order, and that order.
  template <class Self> ESPALIER_INLINE static constexpr Self& entries(Self& self) { return self; }
  static compare order(const auto& self) { return self.key_comp(); }
  // An empty map with the order of `self`, which has the same.
  static auto empty_like(const auto& self) {
    return Map<K, T, Compare, Allocator>(node<std::remove_cvref_t<decltype(self)>>::order(self));
  }

  // `from` is a map with the same keys and order; make(key, value in from) makes each value.
  template <class From, class Make> static Map<K, T, Compare, Allocator> assemble(From& from, Make&& make) {
    auto result = empty_like(from);
    for (auto& [k, value] : node<std::remove_const_t<From>>::entries(from)) {
      result.emplace_hint(result.end(), k, make(k, value));
    }
    return result;
  }
};

// The entries of an unordered map in key order: one allocation.
template <class Map> class sorted_entries {
  using entry = std::remove_reference_t<decltype(*std::declval<Map&>().begin())>;

  struct by_key {
    bool operator()(const entry& a, const entry& b) const {
      return std::less<std::remove_cvref_t<decltype(a.first)>>()(a.first, b.first);
    }
  };

 public:
  class iterator {
   public:
    explicit iterator(entry* const* at) : at_(at) {}
    entry& operator*() const { return **at_; }
    entry* operator->() const { return *at_; }
    iterator& operator++() {
      ++at_;
      return *this;
    }
    friend bool operator==(const iterator&, const iterator&) = default;

   private:
    entry* const* at_;
  };

  explicit sorted_entries(Map& map) {
    entries_.reserve(map.size());
    for (entry& e : map) entries_.push_back(&e);
    sort_pointers<by_key>(entries_);
  }

  iterator begin() const { return iterator(entries_.data()); }
  iterator end() const { return iterator(entries_.data() + entries_.size()); }

 private:
  std::vector<entry*> entries_;
};

// std::unordered_map.
template <class Map>
concept is_unordered_map = requires(Map& map, const typename Map::key_type& key) {
  requires is_of_std<Map>();
  typename Map::hasher;
  requires std::is_same_v<decltype(map.at(key)), typename Map::mapped_type&>;
  map.bucket_count();
};

template <template <class...> class Map, class K, class T, class Hash, class Equal, class Allocator>
  requires is_unordered_map<Map<K, T, Hash, Equal, Allocator>>
struct container_node<Map<K, T, Hash, Equal, Allocator>> {
  static constexpr node_kind kind = is_printable_key<K> && requires(const K& key) {
    std::less<K>()(key, key);
  } ? node_kind::map : node_kind::unsupported;
  using key = K;
  using compare = std::less<K>;
  using element = T;
  template <class U> using with_element = Map<K, U, Hash, Equal>;

  template <class Self> static sorted_entries<Self> entries(Self& self) { return sorted_entries<Self>(self); }
  static compare order(const auto&) { return {}; }
  // With the same functions, where `self` is a map with such.
  static auto empty_like(const auto& self) {
    if constexpr (requires { Map<K, T, Hash, Equal, Allocator>(0, self.hash_function(), self.key_eq()); }) {
      return Map<K, T, Hash, Equal, Allocator>(0, self.hash_function(), self.key_eq());
    } else {
      constexpr bool has_default = std::is_default_constructible_v<Map<K, T, Hash, Equal, Allocator>>;
      static_assert(has_default,
                    "espalier: an unordered_map whose hash function or equality has no default constructor cannot be "
                    "made from a structure, which does not keep them. Give them one, or use std::map");
      if constexpr (has_default) return Map<K, T, Hash, Equal, Allocator>();
    }
  }

  template <class From, class Make> static Map<K, T, Hash, Equal, Allocator> assemble(From& from, Make&& make) {
    auto result = empty_like(from);
    result.reserve(from.size());
    for (auto& [k, value] : node<std::remove_const_t<From>>::entries(from)) result.emplace(k, make(k, value));
    return result;
  }
};

// std::optional.
template <class Optional>
concept is_optional = requires(Optional& optional) {
  requires is_of_std<Optional>();
  requires std::is_same_v<decltype(optional.value()), typename Optional::value_type&>;
  requires std::is_same_v<decltype(optional.has_value()), bool>;
  optional.reset();
};

template <template <class> class Optional, class T>
  requires is_optional<Optional<T>>
struct container_node<Optional<T>> {
  static constexpr node_kind kind = node_kind::maybe;
  using element = T;
  template <class U> using with_element = Optional<U>;

  template <class Make> ESPALIER_INLINE static constexpr Optional<T> assemble(bool engaged, Make&& make) {
    return engaged ? Optional<T>(make()) : Optional<T>();
  }
};

// std::unique_ptr with its default deleter.
template <class Pointer>
concept is_unique_ptr = requires(Pointer& pointer) {
  requires is_of_std<Pointer>();
  typename Pointer::deleter_type;
  requires std::is_same_v<decltype(pointer.release()), typename Pointer::element_type*>;
};

template <template <class...> class Pointer, class T, class Deleter>
  requires is_unique_ptr<Pointer<T, Deleter>> && std::is_same_v<Pointer<T, Deleter>, Pointer<T>>
struct container_node<Pointer<T, Deleter>> {
  static constexpr node_kind kind = [] {
    if constexpr (std::is_array_v<T> || !requires { sizeof(T); })
      return node_kind::unsupported;
    else
      return std::is_polymorphic_v<T> ? node_kind::unsupported : node_kind::maybe;
  }();
  using element = T;
  template <class U> using with_element = Pointer<U>;

  template <class Make> static Pointer<T> assemble(bool engaged, Make&& make) {
    return engaged ? Pointer<T>(new T(make())) : nullptr;
  }
};

// std::variant.
template <class Variant>
concept is_variant = requires(const Variant& variant) {
  requires is_of_std<Variant>();
  requires std::is_same_v<decltype(variant.index()), std::size_t>;
  variant.valueless_by_exception();
};

template <template <class...> class Variant, class... T>
  requires is_variant<Variant<T...>>
struct container_node<Variant<T...>> {
  static constexpr node_kind kind = node_kind::variant;
  static constexpr std::size_t arity = sizeof...(T);

  template <std::size_t I> using child = std::tuple_element_t<I, std::tuple<T...>>;

  template <std::size_t I, class Make> static constexpr Variant<T...> assemble(Make&& make) {
    return Variant<T...>(std::in_place_index<I>, make());
  }
};

// --- The one trait that the algorithms read. -------------------------------------------------------------------------

struct leaf_node {
  static constexpr node_kind kind = node_kind::leaf;
};
struct unsupported_node {
  static constexpr node_kind kind = node_kind::unsupported;
};

// What looks like a node and cannot be one: `why<Where>` does not compile, and says it. (Where is for the compiler to
// print. Few instantiations lie between it and the sentence, or the compiler would not print it.)
struct faulty_node : unsupported_node {
  static constexpr bool says_why = true;
};
template <class T> struct faulty_record : faulty_node {
  template <class Where> struct why {
    static_assert(reflect::detail::reader<T>::count > 0 && require_sound_annotations<T>());
  };
};
template <class T> struct faulty_custom : faulty_node {
  template <class Where> struct why {
    static_assert(
        always_false<Where>,
        "espalier: the children of a registered node must be a tuple of references to what the node holds: return "
        "std::tie(…) (or std::forward_as_tuple of lvalues)");
  };
};

// The classification, in the order that the top of this file gives.
template <class T> consteval auto classify() {
  if constexpr (registered<T> || has_tree_children<T> || has_tree_flatten<T>) {
    if constexpr (is_tuple_of_references<child_tuple_of<T>>) {
      return type_tag<custom_node<T>>{};
    } else {
      return type_tag<faulty_custom<T>>{};
    }
  } else if constexpr (is_leaf_type<T>) {
    return type_tag<leaf_node>{};
  } else if constexpr (container_node<T>::kind != node_kind::unsupported) {
    return type_tag<container_node<T>>{};
  } else if constexpr (reflect::reflectable<T>) {
    if constexpr (has_sound_fields<T>()) {
      return type_tag<record_node<T>>{};
    } else {
      return type_tag<faulty_record<T>>{};
    }
  } else {
    return type_tag<unsupported_node>{};
  }
}

template <class T> struct node : decltype(classify<T>())::type {};

template <class T> using node_of = node<std::remove_cv_t<T>>;

template <class T> inline constexpr node_kind kind_of = node_of<T>::kind;

template <class T>
inline constexpr bool is_product =
    kind_of<T> == node_kind::record || kind_of<T> == node_kind::tuple || kind_of<T> == node_kind::custom;

template <class T> consteval bool has_static_structure();

// Whether the type alone determines the structure: no container of varying size, no aux data below.
template <class T> inline constexpr bool is_static = has_static_structure<std::remove_cv_t<T>>();

template <class T> consteval bool has_static_structure() {
  if constexpr (kind_of<T> == node_kind::leaf) {
    return true;
  } else if constexpr (kind_of<T> == node_kind::array) {
    return is_static<typename node_of<T>::element>;
  } else if constexpr (is_product<T>) {
    if constexpr (node_of<T>::has_aux) {
      return false;
    } else {
      return []<std::size_t... I>(std::index_sequence<I...>) {
        return (is_static<typename node_of<T>::template child<I>> && ...);
      }(std::make_index_sequence<node_of<T>::arity>{});
    }
  } else {
    return false;
  }
}

}  // namespace detail

// A tree whose structure is known from its type: no vector, map, optional, pointer, variant or aux data in it.
template <class T>
concept static_structure = detail::is_static<T>;

}  // namespace espalier
