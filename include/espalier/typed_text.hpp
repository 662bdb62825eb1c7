// Values as text that says their type, and back, exact in type and bits: for files, where a value must come back as it
// was or not at all.
//
//   espalier::to_typed_text(0.1f) == "f32:0.1"         espalier::from_typed_text<float>("f32:0.1") == 0.1f
//   espalier::from_typed_text<float>("f64:0.1") == std::nullopt
//
//   bool:true  i32:42  u8:7  char8:65  enum:i32:2  f32:0.1  f64:nan:7ff8000000000000  complex(f32:1,f32:0)
//   str:5:hello (with the number of bytes)  hex:ff00 (a string that is no UTF-8)  none  some(i32:1)
//   alternative:1(f32:2)  [i32:1,i32:2]  (i32:1,bool:false)  {x=i32:1,y=i32:2}
#pragma once

#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <espalier/aux.hpp>
#include <espalier/detail/types.hpp>
#include <espalier/encode.hpp>
#include <espalier/reflect/fields.hpp>
#include <espalier/reflect/names.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace espalier {
namespace detail {

// The text is not what a value of the type is written as.
struct bad_text {};

// Whether the bytes are UTF-8, which is all that JSON can hold: no overlong forms, surrogates, or more than
// U+10FFFF.
inline bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t at) {
      return at < text.size() ? static_cast<unsigned>(static_cast<unsigned char>(text[at])) : 0U;
    };
    const unsigned lead = byte(i);
    const std::size_t length = lead < 0x80 ? 1 : lead >= 0xC2 && lead < 0xE0 ? 2 : lead >= 0xE0 && lead < 0xF0 ? 3 : 4;
    if (lead >= 0x80 && (lead < 0xC2 || lead > 0xF4)) return false;
    for (std::size_t j = 1; j < length; ++j) {
      if ((byte(i + j) & 0xC0) != 0x80) return false;
    }
    const unsigned second = byte(i + 1);
    if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) || (lead == 0xF0 && second < 0x90) ||
        (lead == 0xF4 && second > 0x8F)) {
      return false;
    }
    i += length;
  }
  return true;
}

template <class T> void append_number(std::string& out, T value, int base = 10) {
  char digits[32];
  out.append(digits, std::to_chars(digits, digits + sizeof(digits), value, base).ptr);
}

inline std::string integer_tag(char sign, std::size_t bits) {
  return (sign == 'c' ? std::string("char") : std::string(1, sign)) + std::to_string(bits) + ":";
}

template <class T> using bits_of = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T> void write_any_float(std::string& out, T value) {
  out += sizeof(T) == 4 ? "f32:" : "f64:";
  if (std::isnan(value)) {
    out += "nan:";
    append_number(out, std::bit_cast<bits_of<T>>(value), 16);
  } else {
    char digits[64];
    out.append(digits,
               std::to_chars(digits, digits + sizeof(digits), value).ptr);  // the shortest that reads back the same
  }
}

// Takes its text off the front, as every read_… does, or throws bad_text.
inline void read_exactly(std::string_view& in, std::string_view expected) {
  if (!in.starts_with(expected)) throw bad_text{};
  in.remove_prefix(expected.size());
}

// Takes what stands before the next comma or bracket.
inline std::string_view take_token(std::string_view& in) {
  const std::string_view token = in.substr(0, in.find_first_of(",()[]{}"));
  in.remove_prefix(token.size());
  return token;
}

template <class T, class... Format> T parse(std::string_view digits, Format... format) {
  T value{};
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value, format...);
  if (fault != std::errc{} || end != digits.data() + digits.size()) throw bad_text{};
  return value;
}

template <class T> T read_any_float(std::string_view& in) {
  read_exactly(in, sizeof(T) == 4 ? "f32:" : "f64:");
  std::string_view token = take_token(in);
  if (token.starts_with("nan")) {
    read_exactly(token, "nan:");
    const T value = std::bit_cast<T>(parse<bits_of<T>>(token, 16));
    if (!std::isnan(value)) throw bad_text{};
    return value;
  }
  return parse<T>(token);
}

inline void write_bool(std::string& out, bool value) { out += value ? "bool:true" : "bool:false"; }

inline void write_integer(std::string& out, char sign, std::size_t bits, std::uint64_t value) {
  out += integer_tag(sign, bits);
  if (sign == 'i') {
    append_number(out, static_cast<std::int64_t>(value));
  } else {
    append_number(out, bits < 64 ? value & ((std::uint64_t{1} << bits) - 1) : value);
  }
}

inline void write_float(std::string& out, float value) { write_any_float(out, value); }
inline void write_float(std::string& out, double value) { write_any_float(out, value); }

inline void write_string(std::string& out, std::string_view value) {
  if (is_utf8(value)) {
    out.append("str:").append(std::to_string(value.size())).append(":").append(value);
  } else {
    out += "hex:";
    for (const char c : value) {
      const auto byte = static_cast<unsigned char>(c);
      out += "0123456789abcdef"[byte >> 4];
      out += "0123456789abcdef"[byte & 15];
    }
  }
}

inline bool read_bool(std::string_view& in) {
  read_exactly(in, "bool:");
  const std::string_view token = take_token(in);
  if (token != "true" && token != "false") throw bad_text{};
  return token == "true";
}

inline std::uint64_t read_integer(std::string_view& in, char sign, std::size_t bits) {
  read_exactly(in, integer_tag(sign, bits));
  const std::string_view token = take_token(in);
  if (sign == 'i') {
    const auto value = parse<std::int64_t>(token);
    const std::int64_t above = bits < 64 ? value >> (bits - 1) : 0;  // only copies of the sign, if it fits
    if (bits < 64 && above != 0 && above != -1) throw bad_text{};
    return static_cast<std::uint64_t>(value);
  }
  const auto value = parse<std::uint64_t>(token);
  if (bits < 64 && value >> bits != 0) throw bad_text{};
  return value;
}

inline float read_float(std::string_view& in, float) { return read_any_float<float>(in); }
inline double read_float(std::string_view& in, double) { return read_any_float<double>(in); }

inline std::string read_string(std::string_view& in) {
  if (in.starts_with("hex:")) {
    read_exactly(in, "hex:");
    const std::string_view token = take_token(in);
    if (token.size() % 2 != 0) throw bad_text{};
    std::string value;
    for (std::size_t i = 0; i < token.size(); i += 2)
      value += static_cast<char>(parse<unsigned char>(token.substr(i, 2), 16));
    return value;
  }
  read_exactly(in, "str:");
  const auto size = parse<std::size_t>(in.substr(0, in.find(':')));
  in.remove_prefix(in.find(':') + 1);
  if (size > in.size()) throw bad_text{};
  std::string value(in.substr(0, size));
  in.remove_prefix(size);
  return value;
}

inline std::size_t read_count(std::string_view& in) { return parse<std::size_t>(take_token(in)); }

template <class T> struct cannot_be_saved {
  static_assert(always_false<T>,
                "espalier: save_safetensors, load_safetensors: a leaf or aux value of this type (named beside "
                "this message) cannot be written to a file. What can: MLX arrays, bool, characters, integers, "
                "float, double, enums, std::string, std::complex, and, as aux data, aggregates and standard "
                "containers of these");
};

template <class T>
inline constexpr char integer_sign = is_one_of<T, char, wchar_t, char8_t, char16_t, char32_t> ? 'c'
                                     : std::is_signed_v<T>                                    ? 'i'
                                                                                              : 'u';

template <class T> void write_value(std::string& out, const T& value);

// The items between brackets.
template <class... T> void write_items(std::string& out, char open, char close, const T&... item) {
  out += open;
  [[maybe_unused]] bool first = true;
  ((out.append(first ? "" : ","), first = false, write_value(out, item)), ...);
  out += close;
}

template <class T> void write_value(std::string& out, const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    write_bool(out, value);
  } else if constexpr (is_one_of<T, float, double>) {
    write_float(out, value);
  } else if constexpr (std::is_integral_v<T>) {
    write_integer(out, integer_sign<T>, 8 * sizeof(T), static_cast<std::uint64_t>(value));
  } else if constexpr (std::is_enum_v<T>) {
    out += "enum:";
    write_value(out, static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (std::is_same_v<T, std::string>) {
    write_string(out, value);
  } else if constexpr (is_complex<T>) {
    out += "complex";
    write_items(out, '(', ')', value.real(), value.imag());
  } else if constexpr (is_specialization<T, aux>) {
    write_value(out, value.value);
  } else if constexpr (is_specialization<T, std::optional>) {
    out += value ? "some" : "none";
    if (value) write_items(out, '(', ')', *value);
  } else if constexpr (is_specialization<T, std::variant>) {
    out += "alternative:" + std::to_string(value.index());
    std::visit([&](const auto& held) { write_items(out, '(', ')', held); }, value);
  } else if constexpr (is_ordered_range<T> || is_unordered_range<T>) {
    out += '[';
    bool first = true;
    for (const typename T::value_type& element : value) {
      out.append(first ? "" : ",");
      first = false;
      write_value(out, element);
    }
    out += ']';
  } else if constexpr (is_specialization<T, std::tuple> || is_specialization<T, std::pair>) {
    std::apply([&](const auto&... element) { write_items(out, '(', ')', element...); }, value);
  } else if constexpr (reflect::reflectable<T> && encodable<T> && !requires { sizeof(value_encoder<T>); }) {
    out += '{';
    if constexpr (!std::is_empty_v<T>) {
      reflect::with_fields(value, [&](const auto&... field) {
        std::size_t i = 0;
        ((out.append(i == 0 ? "" : ",").append(reflect::field_names_v<T>[i]).append("="), ++i, write_value(out, field)),
         ...);
      });
    }
    out += '}';
  } else {
    static_assert(sizeof(cannot_be_saved<T>) > 0);
  }
}

template <class T> T read_value(std::string_view& in);

// Reads one item after another, with commas between.
struct item_reader {
  std::string_view& in;
  bool first = true;

  template <class T> T next() {
    separate();
    return read_value<T>(in);
  }
  void separate() {
    if (!first) read_exactly(in, ",");
    first = false;
  }
};

template <class T> struct field_reader {
  item_reader& items;

  template <std::size_t I> std::remove_cv_t<reflect::field_t<T, I>> operator()(index<I>) const {
    items.separate();
    read_exactly(items.in, reflect::field_names_v<T>[I]);
    read_exactly(items.in, "=");
    return read_value<std::remove_cv_t<reflect::field_t<T, I>>>(items.in);
  }
};

template <class T, std::size_t I = 0> T read_alternative(std::string_view& in, std::size_t held) {
  if constexpr (I == std::variant_size_v<T>) {
    throw bad_text{};
  } else {
    if (held != I) return read_alternative<T, I + 1>(in, held);
    return T(std::in_place_index<I>, read_value<std::variant_alternative_t<I, T>>(in));
  }
}

template <class T> T read_value(std::string_view& in) {
  item_reader items{in};
  if constexpr (std::is_same_v<T, bool>) {
    return read_bool(in);
  } else if constexpr (is_one_of<T, float, double>) {
    return read_float(in, T{});
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(read_integer(in, integer_sign<T>, 8 * sizeof(T)));
  } else if constexpr (std::is_enum_v<T>) {
    read_exactly(in, "enum:");
    return static_cast<T>(read_value<std::underlying_type_t<T>>(in));
  } else if constexpr (std::is_same_v<T, std::string>) {
    return read_string(in);
  } else if constexpr (is_complex<T>) {
    read_exactly(in, "complex(");
    const auto real = items.template next<typename T::value_type>();
    const auto imaginary = items.template next<typename T::value_type>();
    read_exactly(in, ")");
    return T(real, imaginary);
  } else if constexpr (is_specialization<T, aux>) {
    return T(read_value<typename T::value_type>(in));
  } else if constexpr (is_specialization<T, std::optional>) {
    if (in.starts_with("none")) {
      read_exactly(in, "none");
      return std::nullopt;
    }
    read_exactly(in, "some(");
    T value(read_value<typename T::value_type>(in));
    read_exactly(in, ")");
    return value;
  } else if constexpr (is_specialization<T, std::variant>) {
    read_exactly(in, "alternative:");
    const std::size_t held = read_count(in);
    read_exactly(in, "(");
    T value = read_alternative<T>(in, held);
    read_exactly(in, ")");
    return value;
  } else if constexpr (is_std_array<T>) {
    read_exactly(in, "[");
    T value = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return T{((void)I, items.template next<typename T::value_type>())...};
    }(std::make_index_sequence<std::tuple_size_v<T>>{});
    read_exactly(in, "]");
    return value;
  } else if constexpr (is_ordered_range<T> || is_unordered_range<T>) {
    T value;
    read_exactly(in, "[");
    while (!in.starts_with(']')) value.insert(value.end(), items.template next<typename T::value_type>());
    read_exactly(in, "]");
    return value;
  } else if constexpr (is_specialization<T, std::tuple> || is_specialization<T, std::pair>) {
    read_exactly(in, "(");
    T value = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return T{items.template next<std::remove_cv_t<std::tuple_element_t<I, T>>>()...};
    }(std::make_index_sequence<std::tuple_size_v<T>>{});
    read_exactly(in, ")");
    return value;
  } else if constexpr (std::is_empty_v<T>) {
    read_exactly(in, "{}");
    return T{};
  } else if constexpr (reflect::reflectable<T>) {
    read_exactly(in, "{");
    T value = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return reflect::construct<T>(field_reader<T>{items}, index<I>{}...);
    }(std::make_index_sequence<reflect::field_count_v<T>>{});
    read_exactly(in, "}");
    return value;
  } else {
    static_assert(sizeof(cannot_be_saved<T>) > 0);
  }
}

}  // namespace detail

// The text of a bool, character, integer, float, double, enum, std::string, std::complex, or of an aggregate or standard
// container of these; always UTF-8. Elements of unordered containers come in the container's order.
template <class T> std::string to_typed_text(const T& value) {
  std::string text;
  detail::write_value(text, value);
  return text;
}

// The value that to_typed_text wrote; nothing where the text is of another type, out of range or malformed.
template <class T> std::optional<T> from_typed_text(std::string_view text) {
  try {
    std::optional<T> value(std::in_place, detail::read_value<T>(text));
    if (text.empty()) return value;
  } catch (const detail::bad_text&) {
  }
  return std::nullopt;
}

}  // namespace espalier
