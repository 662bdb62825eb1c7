// The injective encoding of values: equal bytes if and only if equal type, width and bits. Aux data and constants are
// compared and hashed as these bytes, so NaN equals itself, 0.0 and -0.0 differ, and `1`, `1.0` and `true` are three
// things.
//
//   espalier::encoding_of(std::pair{1, "a"s}) != espalier::encoding_of(std::pair{1.0, "a"s});
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <espalier/aux.hpp>
#include <espalier/detail/sorted.hpp>
#include <espalier/detail/types.hpp>
#include <espalier/leaf.hpp>
#include <espalier/node.hpp>
#include <espalier/reflect/fields.hpp>
#include <espalier/reflect/names.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace espalier {

// How a type of your own is encoded: `static void encode(auto& sink, const T&)`, which calls espalier::encode for its
// parts. The encoding must be injective: two values that differ must write different bytes.
template <class T> struct value_encoder;

namespace detail {

// Bytes into a string.
struct byte_sink {
  std::string bytes;
  constexpr void put(unsigned char byte) { bytes.push_back(static_cast<char>(byte)); }
};

template <class Sink> constexpr void put_integer(Sink& sink, std::uint64_t value, std::size_t width = 8) {
  for (std::size_t i = 0; i < width; ++i) sink.put(static_cast<unsigned char>(value >> (8 * i)));
}

struct by_bytes {
  bool operator()(const std::string& a, const std::string& b) const { return a < b; }
};

template <class Sink> constexpr void put_string(Sink& sink, std::string_view text) {
  put_integer(sink, text.size());
  for (char c : text) sink.put(static_cast<unsigned char>(c));
}

template <class T, template <class...> class Template> inline constexpr bool is_specialization = false;
template <template <class...> class Template, class... A>
inline constexpr bool is_specialization<Template<A...>, Template> = true;

template <class T> inline constexpr bool is_std_array = false;
template <class T, std::size_t N> inline constexpr bool is_std_array<std::array<T, N>> = true;

// Containers whose elements are encoded in order, and those whose elements have no order. Sets and maps are told by how
// they find a key, so that who has none of them does not compile their headers.
template <class T>
concept finds_keys = requires(const T& container) {
  typename T::key_type;
  typename T::value_type;
  container.begin();
  container.end();
  container.size();
};
template <class T>
inline constexpr bool is_ordered_range =
    is_std_array<T> || is_specialization<T, std::vector> || (finds_keys<T> && requires { typename T::key_compare; });
template <class T> inline constexpr bool is_unordered_range = finds_keys<T> && requires { typename T::hasher; };

template <class T> consteval bool is_encodable();

template <class... T> consteval bool all_encodable(types<T...>) { return (is_encodable<std::remove_cv_t<T>>() && ...); }

template <class T, std::size_t... I> consteval bool fields_encodable(std::index_sequence<I...>) {
  return all_encodable(types<reflect::field_t<T, I>...>{});
}

template <class T> consteval bool is_encodable() {
  if constexpr (requires { sizeof(value_encoder<T>); }) {
    return true;
  } else if constexpr (std::is_floating_point_v<T>) {
    return sizeof(T) <= 8;  // long double has padding and another format on every platform
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_empty_v<T>) {
    return true;
  } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::string_view>) {
    return true;
  } else if constexpr (is_complex<T> || is_specialization<T, aux> || is_optional<T> || is_ordered_range<T> ||
                       is_unordered_range<T>) {
    if constexpr (requires { typename T::mapped_type; }) {
      return all_encodable(types<typename T::key_type, typename T::mapped_type>{});
    } else {
      return all_encodable(types<typename T::value_type>{});
    }
  } else if constexpr (is_specialization<T, std::tuple> || is_specialization<T, std::pair> || is_variant<T>) {
    return []<template <class...> class List, class... A>(type_tag<List<A...>>) {
      return all_encodable(types<A...>{});
    }(type_tag<T>{});
  } else if constexpr (reflect::reflectable<T>) {
    return fields_encodable<T>(std::make_index_sequence<reflect::field_count_v<T>>{});
  } else {
    return false;
  }
}

}  // namespace detail

// What can be aux data or a constant of a trace: bool, characters, integers, floats (long double excepted), enums,
// strings, complex numbers, empty classes, aggregates and standard containers of these, and types with a value_encoder.
template <class T>
concept encodable = detail::is_encodable<std::remove_cv_t<T>>();

// The encoding as bytes.
template <encodable T> std::string encoding_of(const T& value);

// Writes the encoding of a value to a sink (anything with `put(unsigned char)`). Allocates only to sort unordered
// containers by the encoding of their elements.
template <class Sink, encodable T> void encode(Sink& sink, const T& value) {
  using detail::put_integer;
  if constexpr (requires { sizeof(value_encoder<T>); }) {
    sink.put('x');
    value_encoder<T>::encode(sink, value);
  } else if constexpr (std::is_same_v<T, bool>) {
    sink.put(value ? 'T' : 'F');
  } else if constexpr (std::is_floating_point_v<T>) {
    using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    sink.put('f');
    sink.put(sizeof(T));
    put_integer(sink, std::bit_cast<bits>(value), sizeof(T));
  } else if constexpr (std::is_integral_v<T>) {
    constexpr bool character = detail::is_one_of<T, char, wchar_t, char8_t, char16_t, char32_t>;
    sink.put(character ? 'c' : std::is_signed_v<T> ? 'i' : 'u');
    sink.put(sizeof(T));
    put_integer(sink, static_cast<std::uint64_t>(value), sizeof(T));
  } else if constexpr (std::is_enum_v<T>) {
    sink.put('e');
    encode(sink, static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::string_view>) {
    sink.put('s');
    detail::put_string(sink, value);
  } else if constexpr (detail::is_complex<T>) {
    sink.put('z');
    encode(sink, value.real());
    encode(sink, value.imag());
  } else if constexpr (detail::is_specialization<T, aux>) {
    encode(sink, value.value);
  } else if constexpr (detail::is_optional<T>) {
    sink.put(value ? 'o' : 'n');
    if (value) encode(sink, *value);
  } else if constexpr (detail::is_ordered_range<T>) {
    sink.put('v');
    put_integer(sink, value.size());
    for (const typename T::value_type& element : value) encode(sink, element);
  } else if constexpr (detail::is_unordered_range<T>) {
    std::vector<std::string> elements;
    for (const auto& element : value) elements.push_back(encoding_of(element));
    std::vector<const std::string*> sorted;
    for (const std::string& element : elements) sorted.push_back(&element);
    detail::sort_pointers<detail::by_bytes>(sorted);
    sink.put('h');
    put_integer(sink, elements.size());
    for (const std::string* element : sorted) detail::put_string(sink, *element);
  } else if constexpr (detail::is_variant<T>) {
    sink.put('w');
    put_integer(sink, value.index());
    detail::with_held([&](const auto& alternative) { encode(sink, alternative); }, value);
  } else if constexpr (detail::is_specialization<T, std::tuple> || detail::is_specialization<T, std::pair>) {
    sink.put('t');
    put_integer(sink, std::tuple_size_v<T>);
    std::apply([&](const auto&... element) { (encode(sink, element), ...); }, value);
  } else if constexpr (std::is_empty_v<T>) {
    sink.put('0');
  } else {
    sink.put('a');
    put_integer(sink, reflect::field_count_v<T>);
    reflect::with_fields(value, [&](const auto&... field) {
      std::size_t i = 0;
      ((detail::put_string(sink, reflect::field_names_v<T>[i++]), encode(sink, field)), ...);
    });
  }
}

template <encodable T> std::string encoding_of(const T& value) {
  detail::byte_sink sink;
  encode(sink, value);
  return std::move(sink.bytes);
}

// Whether two values have the same encoding. Numbers and enums compare their bits; everything else is encoded.
template <encodable T> bool same_encoding(const T& a, const T& b) {
  if constexpr (!requires { sizeof(value_encoder<T>); } &&
                (std::is_integral_v<T> || std::is_enum_v<T> || std::is_same_v<T, std::string>)) {
    return a == b;
  } else if constexpr (detail::is_specialization<T, aux>) {
    return same_encoding(a.value, b.value);
  } else {
    return encoding_of(a) == encoding_of(b);
  }
}

}  // namespace espalier
