// Values as people read them, in error messages, treedefs and summaries: 3, 0.5, true, 'text', [1, 2], None.
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <espalier/aux.hpp>
#include <espalier/detail/quoted.hpp>
#include <espalier/detail/types.hpp>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace espalier {

// How a value of an engine's or a user's type is described: specialise with `static std::string describe(const T&)`.
template <class T> struct value_description;

namespace detail {

// What a value prints with <<. Ostream is std::ostream; a parameter, so that this header does not include <ostream>, which
// whoever defines such an operator includes.
template <class T, class Ostream> std::string streamed(const T& value) {
  struct buffer : std::remove_pointer_t<decltype(std::declval<Ostream>().rdbuf())> {
    std::string text;
    int overflow(int c) override {
      if (c >= 0) text.push_back(static_cast<char>(c));
      return c >= 0 ? c : 0;
    }
  } into;
  Ostream out(&into);
  out << value;
  return std::move(into.text);
}

}  // namespace detail

// A short text for a value. Floats print the shortest digits that read back the same; strings as key paths print them;
// an optional or a variant what it holds; a range its first 8 elements. Types that nothing can print give "…".
template <class T> std::string describe_value(const T& value) {
  if constexpr (requires { value_description<T>::describe(value); }) {
    return value_description<T>::describe(value);
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_enum_v<T>) {
    return describe_value(static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (detail::is_one_of<T, char, signed char, unsigned char>) {
    return std::to_string(static_cast<int>(value));
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    std::string text;
    detail::print_quoted(text, value);
    return text;
  } else if constexpr (detail::is_one_of<T, wchar_t, char8_t, char16_t, char32_t>) {
    return std::to_string(static_cast<unsigned long>(value));
  } else if constexpr (std::is_arithmetic_v<T>) {
    std::array<char, 64> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    return std::string(digits.data(), end.ptr);
  } else if constexpr (requires {
                         typename T::value_type;
                         requires std::same_as<T, aux<typename T::value_type>>;
                       }) {
    return describe_value(value.value);
  } else if constexpr (requires(std::ostream& out) { out << value; }) {
    return detail::streamed<T, std::ostream>(value);
  } else if constexpr (requires { value.index(), value.valueless_by_exception(); }) {
    return detail::with_held([](const auto& held) { return describe_value(held); }, value);
  } else if constexpr (requires { value.has_value() ? *value : *value; }) {
    return value ? describe_value(*value) : "None";
  } else if constexpr (requires { value.begin() != value.end(); }) {
    std::string text;
    std::size_t n = 0;
    for (const auto& element : value) {
      text += n == 0 ? "" : ", ";
      if (n++ == 8) {
        text += "…";
        break;
      }
      text += describe_value(element);
    }
    return "[" + text + "]";
  } else {
    return "…";
  }
}

}  // namespace espalier
