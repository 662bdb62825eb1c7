#pragma once
// The names of the fields of a plain struct.
//
//   struct point { double x, y; };   // field_names_v<point> == {"x", "y"}

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <espalier/reflect/fields.hpp>

namespace espalier::reflect {

#if !ESPALIER_HAS_STD_META
namespace detail {

constexpr bool in_identifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 128;
}

// Cuts the names out of the spelling of N pointers. The pointers of a struct are spelled alike from the object to the
// name, so the last one, read backwards, tells how far apart the two are.
template <std::size_t N> consteval std::array<std::string_view, N> cut_names(std::string_view text) {
  constexpr std::string_view object = "nowhere_object";
  std::size_t end = text.size();
  while (!in_identifier(text[end - 1])) --end;
  std::size_t begin = end;
  while (in_identifier(text[begin - 1])) --begin;
  const std::size_t distance = begin - text.rfind(object, begin);

  std::array<std::string_view, N> names;
  std::size_t at = 0;
  for (std::string_view& name : names) {
    at = text.find(object, at) + distance;
    const std::size_t start = at;
    while (in_identifier(text[at])) ++at;
    name = text.substr(start, at - start);
  }
  if (at != end) throw "espalier: this compiler spells the names of fields in a way that is not known here.";
  return names;
}

template <std::size_t N, auto Pointers> consteval std::array<std::string_view, N> names_of() {
  return cut_names<N>(__PRETTY_FUNCTION__);
}

#if defined(__NVCC__)
// nvcc's front end spells the name of a field only where the pointer has the field's own type; and in its pass over host
// code, where the object is a member of another, it spells the names of all fields for each. So here the object is in no
// holder; the price is that g++ then refuses local types, which have names everywhere but in CUDA sources.
template <class T> extern const T bare_nowhere_object;

template <std::size_t I, class A> struct typed_pointer {
  const A* to;
};
template <class Indices, class... A> struct typed_pointers;
template <std::size_t... I, class... A>
struct typed_pointers<std::index_sequence<I...>, A...> : typed_pointer<I, A>... {};

struct point_with_types {
  template <class... A>
  constexpr typed_pointers<std::make_index_sequence<sizeof...(A)>, A...> operator()(const A&... a) const {
    return {{__builtin_addressof(a)}...};
  }
};
#endif

template <class T> consteval auto native_reader<T, true>::names() {
  if constexpr (native_reader::count == 0)
    return std::array<std::string_view, 0>();
  else
#if defined(__NVCC__)
    return names_of<native_reader::count, native_reader::apply(bare_nowhere_object<T>, point_with_types())>();
#else
    return names_of<native_reader::count, native_reader::apply(nowhere<T>(), point_to())>();
#endif
}

}  // namespace detail
#endif

// The names of the fields of `T` in order of declaration. The characters live as long as the program.
template <class T>
inline constexpr std::array<std::string_view, field_count_v<T>> field_names_v =
    detail::reader<std::remove_cv_t<T>>::names();

}  // namespace espalier::reflect
