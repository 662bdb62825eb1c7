#pragma once
// The fields of a plain struct: how many, of which types, as a pack of references, and a struct from its
// fields. Names are in names.hpp.
//
//   struct point { double x, y; };
//   with_fields(p, [](double& x, double& y) { x += y; });
//
// This header chooses the back end: std::meta (meta.hpp) where the compiler has it, else C++20 aggregates
// (aggregate.hpp). What Boost.Hana and Boost.Describe know is read once hana.hpp or describe.hpp is included.

#include <cstddef>
#include <type_traits>
#include <utility>

#include <espalier/reflect/annotations.hpp>
#include <espalier/reflect/construct.hpp>
#include <espalier/reflect/inline.hpp>
#if ESPALIER_HAS_STD_META
#include <espalier/reflect/meta.hpp>
#else
#include <espalier/reflect/aggregate.hpp>
#endif

namespace espalier::reflect {

namespace detail {

// What a back end provides; `native_reader` is the chosen one's, and another is a specialisation:
//
//   static constexpr bool sound;                                                   false if `count` will not compile
//   static constexpr std::size_t count;                                            of fields, those of bases first
//   static consteval std::array<std::string_view, count> names();
//   template <class Self, class F> static constexpr decltype(auto) apply(Self& value, F&& f);     f(field&...)
//   template <class F, class... A> static constexpr T construct(F&& f, A&&... a);                 a T from f(a)...
//   static consteval bool makeable();                      optional: false if `construct` will not compile; then
//   template <class Where> struct why_not_made             does not compile either, and says why
template <class T> struct reader : native_reader<T> {
  using is_native = void;
};

template <class T>
concept adapted = !requires { typename reader<T>::is_native; };

}  // namespace detail

// True if some back end takes `T` for a struct of fields: an aggregate class, even one that field_count_v
// then refuses with a sentence on what is wrong with it; a class that is adapted, or that opted in (see meta.hpp).
// False for anything else, incomplete types included.
template <class T>
concept reflectable = requires {
  sizeof(T);
  requires std::is_class_v<T> && (detail::is_readable<std::remove_cv_t<T>> || detail::adapted<std::remove_cv_t<T>>);
};

namespace detail {

template <class T> consteval std::size_t count() {
  constexpr bool readable = reflectable<T>;
  static_assert(readable,
                "espalier: only the fields of a complete, plain struct (an aggregate) can be read. Take out "
                "constructors, virtual functions and private members, or register the type with "
                "espalier::pytree_node.");
  if constexpr (readable)
    return reader<std::remove_cv_t<T>>::count;
  else
    return 0;
}

}  // namespace detail

// The number of fields of `T`, at most 200 in C++20. Does not compile, and says why, if `T` has a C array, a base
// class, a bit-field, a reference or an unnamed union among its members; std::meta refuses only the last two.
template <class T> inline constexpr std::size_t field_count_v = detail::count<T>();

// Calls `f` with the fields of `value` as lvalues, in order of declaration; a const value has const fields, and
// bit-fields are const copies. Gives back what `f` gives back. Costs nothing beyond the call.
template <class T, class F> ESPALIER_INLINE constexpr decltype(auto) with_fields(T& value, F&& f) {
  using reader = detail::reader<std::remove_cv_t<T>>;
  static_assert(field_count_v<T> == reader::count);  // says so if T cannot be read
  return reader::apply(value, static_cast<F&&>(f));
}

// A `T` with the fields f(a0), f(a1), …, made from left to right. In an aggregate, what `f` gives back by value becomes
// the field itself: no move, no default construction. For other classes see constructed_by.
template <class T, class F, class... A> ESPALIER_INLINE constexpr T construct(F&& f, A&&... a) {
  static_assert(sizeof...(A) == field_count_v<T>, "espalier: construct needs one argument for each field.");
  return detail::reader<T>::construct(f, static_cast<A&&>(a)...);
}

// A `T` with the fields f(field), made from another's as construct makes them.
template <class T, class F> ESPALIER_INLINE constexpr std::remove_cv_t<T> remake(T& value, F&& f) {
#if ESPALIER_HAS_STD_META
  if constexpr (requires { requires detail::reader<std::remove_cv_t<T>>::binds_what_braces_take; }) {
    auto& [... field] = value;
    return detail::reader<std::remove_cv_t<T>>::construct(f, field...);
  } else
#endif
    return reflect::with_fields(value, [&f](auto&... field) ESPALIER_INLINE_LAMBDA -> std::remove_cv_t<T> {
      return reflect::construct<std::remove_cv_t<T>>(f, field...);
    });
}

namespace detail {

template <class... A> struct type_list {};

struct list_types {
  template <class... A> constexpr type_list<A...> operator()(A&...) const { return {}; }
};

template <class T> using fields_of = decltype(reflect::with_fields(std::declval<T&>(), list_types()));

#if ESPALIER_HAS_STD_META
template <class... A> consteval std::meta::info type_at(type_list<A...>, std::size_t i) {
  return std::array<std::meta::info, sizeof...(A)>{^^A...}[i];
}

template <class T> consteval std::meta::info field_type(std::size_t i) {
  if constexpr (adapted<std::remove_cv_t<T>>) {
    return detail::type_at(fields_of<T>(), i);
  } else {
    const std::meta::info type = type_of(native_reader<std::remove_cv_t<T>>::fields.at[i]);
    return std::is_const_v<T> ? add_const(type) : type;
  }
}
#else
template <std::size_t I, class A> struct indexed {
  using type = A;
};

template <class Indices, class List> struct indexed_types;
template <std::size_t... I, class... A>
struct indexed_types<std::index_sequence<I...>, type_list<A...>> : indexed<I, A>... {};

template <class T> using indexed_fields = indexed_types<std::make_index_sequence<field_count_v<T>>, fields_of<T>>;

template <std::size_t I, class A> indexed<I, A> at(const indexed<I, A>&);
#endif

}  // namespace detail

// The declared type of field `I`; const if it was declared const, or if `T` is.
#if ESPALIER_HAS_STD_META
template <class T, std::size_t I> using field_t = [:detail::field_type<T>(I):];
#else
template <class T, std::size_t I>
using field_t = typename decltype(detail::at<I>(std::declval<detail::indexed_fields<T>&>()))::type;
#endif

// What a field of type `Field` is made from: a value of its type; a C array, which no function gives back, from a
// std::array.
#if ESPALIER_HAS_STD_META
template <class Field> using field_value_t = typename detail::field_value<Field>::type;
#else
template <class Field> using field_value_t = std::remove_cv_t<Field>;
#endif

}  // namespace espalier::reflect
