// How an object is made from its fields where `T{field...}` with the fields of an aggregate is not the whole answer: by a
// constructor that takes them, or by the default constructor and assignment. The choice is made from the class; where it
// is not the right one, say so:
//
//   template <> inline constexpr auto espalier::reflect::constructed_by<cache> =
//       espalier::reflect::construction::default_and_assign;
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace espalier::reflect {

enum class construction : unsigned char {
  braces,              // an aggregate, from its fields: T{field...}
  fields,              // a constructor: T{field...}, with the fields in their order, compiles
  default_and_assign,  // the default constructor; then the fields are assigned in their order
};

namespace detail {

template <class T> struct reader;

template <class T> struct default_construction {
  template <class... Field> static consteval construction choose() {
    if constexpr ((std::is_array_v<Field> || ...))
      return construction::default_and_assign;
    else if constexpr (std::is_aggregate_v<T>)
      return construction::braces;
    else if constexpr (requires { T{std::declval<std::remove_cv_t<Field>>()...}; })
      return construction::fields;
    else
      return construction::default_and_assign;
  }

  template <class... Field>
  constexpr std::integral_constant<construction, choose<Field...>()> operator()(Field&...) const {
    return {};
  }
};

}  // namespace detail

// How a T is made. The default: an aggregate by braces, or by assignment if it has a C array; another class by the
// constructor that takes its fields, if there is one, else by its default constructor and assignment. (Specialise
// it for a class whose constructor takes values of the fields' types but means something else.)
template <class T>
inline constexpr construction constructed_by =
    decltype(detail::reader<T>::apply(std::declval<T&>(), detail::default_construction<T>()))::value;

namespace detail {

template <class To, class From> constexpr void assign(To& to, From&& from) {
  if constexpr (std::is_array_v<To>) {
    for (std::size_t i = 0; i < std::extent_v<To>; ++i) detail::assign(to[i], static_cast<From&&>(from)[i]);
  } else {
    to = static_cast<From&&>(from);
  }
}

template <class T> struct assignable_fields {
  template <class... Field>
  constexpr std::bool_constant<(std::is_move_assignable_v<std::remove_all_extents_t<Field>> && ...)> operator()(
      Field&...) const {
    return {};
  }
};

// Whether construct_by_choice compiles.
template <class T> consteval bool makeable_by_choice() {
  if constexpr (constructed_by<T> != construction::default_and_assign)
    return true;
  else if constexpr (std::is_default_constructible_v<T>)
    return decltype(reader<T>::apply(std::declval<T&>(), assignable_fields<T>()))::value;
  else
    return false;
}

// (Where is for the compiler to print.)
template <class Where> struct not_made_from_fields {
  static_assert(sizeof(Where) == 0,
                "espalier: this class cannot be made from its fields: it has no constructor that takes exactly them "
                "(none takes a C array: use std::array), and no default constructor with fields that can be assigned. "
                "Add one, or register the class with espalier::pytree_node.");
};

// A T as constructed_by<T> says, its fields from f(a)..., left to right.
template <class T, class F, class... A> constexpr T construct_by_choice(F&& f, A&&... a) {
  if constexpr (constructed_by<T> != construction::default_and_assign) {
    return T{f(static_cast<A&&>(a))...};
  } else {
    T value{};
    reader<T>::apply(value, [&](auto&... field) { (detail::assign(field, f(static_cast<A&&>(a))), ...); });
    return value;
  }
}

// Whether the reader can make a T; a reader that always can does not say so.
template <class T> consteval bool is_makeable() {
  if constexpr (requires { reader<T>::makeable(); })
    return reader<T>::makeable();
  else
    return true;
}

}  // namespace detail
}  // namespace espalier::reflect
