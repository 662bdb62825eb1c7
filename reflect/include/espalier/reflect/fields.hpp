#pragma once
// The fields of a plain struct: how many, of which types, as a pack of references, and a struct from its
// fields. Names are in names.hpp.
//
//   struct point { double x, y; };
//   with_fields(p, [](double& x, double& y) { x += y; });
//
// This header chooses the back end. A back end provides the count, the access and the construction; there is
// one so far, C++20 aggregates.

#include <cstddef>
#include <type_traits>
#include <utility>

#include <espalier/reflect/aggregate.hpp>
#include <espalier/reflect/inline.hpp>

namespace espalier::reflect {

// True if some back end takes `T` for a struct of fields: an aggregate class, even one that field_count_v
// then refuses with a sentence on what is wrong with it. False for anything else, incomplete types included.
template <class T>
concept reflectable = requires {
  sizeof(T);
  requires std::is_class_v<T> && std::is_aggregate_v<T>;
};

namespace detail {

template <class T> consteval std::size_t count() {
  constexpr bool readable = reflectable<T>;
  static_assert(readable,
                "espalier: only the fields of a complete, plain struct (an aggregate) can be read. Take out "
                "constructors, virtual functions and private members, or register the type with "
                "espalier::pytree_node.");
  if constexpr (readable)
    return aggregate_count<std::remove_cv_t<T>>();
  else
    return 0;
}

}  // namespace detail

// The number of fields of `T`, at most 255. Does not compile, and says why, if `T` has a C array, a base
// class, a bit-field, a reference or an unnamed union among its members.
template <class T> inline constexpr std::size_t field_count_v = detail::count<T>();

// Calls `f` with the fields of `value` as lvalues, in order of declaration; a const value has const fields.
// Gives back what `f` gives back. Costs nothing beyond the call.
template <class T, class F> ESPALIER_INLINE constexpr decltype(auto) with_fields(T& value, F&& f) {
  return detail::binder<field_count_v<T>>::apply(value, static_cast<F&&>(f));
}

// `T{f(a0), f(a1), …}`, from left to right. What `f` gives back by value becomes the field itself: no move,
// no default construction.
template <class T, class F, class... A> ESPALIER_INLINE constexpr T construct(F&& f, A&&... a) {
  static_assert(sizeof...(A) == field_count_v<T>, "espalier: construct needs one argument for each field.");
  return T{f(static_cast<A&&>(a))...};
}

namespace detail {

template <class... A> struct type_list {};

struct list_types {
  template <class... A> constexpr type_list<A...> operator()(A&...) const { return {}; }
};

template <std::size_t I, class A> struct indexed {
  using type = A;
};

template <class Indices, class List> struct indexed_types;
template <std::size_t... I, class... A>
struct indexed_types<std::index_sequence<I...>, type_list<A...>> : indexed<I, A>... {};

template <class T>
using fields_of = indexed_types<std::make_index_sequence<field_count_v<T>>,
                                decltype(reflect::with_fields(std::declval<T&>(), list_types()))>;

template <std::size_t I, class A> indexed<I, A> at(const indexed<I, A>&);

}  // namespace detail

// The declared type of field `I`; const if it was declared const, or if `T` is.
template <class T, std::size_t I>
using field_t = typename decltype(detail::at<I>(std::declval<detail::fields_of<T>&>()))::type;

}  // namespace espalier::reflect
