// What a class says about itself where the compiler has C++26 reflection, as annotations:
//
//   class [[=espalier::tree]] cache {                      // its fields are read although they are private
//     [[=espalier::name("weight")]] mx::array weight_;       // what key paths, checkpoints and the hash call it
//     [[=espalier::aux_field]] int step_;                    // aux data
//   };
//   struct [[=espalier::leaf]] timestamp { … };              // not read: a leaf
//
// Elsewhere nothing of this is declared, and ESPALIER_HAS_STD_META is 0. Define it as 0 to read aggregates as C++20
// does, whatever the compiler has.
#pragma once

#if !defined(ESPALIER_HAS_STD_META)
#if defined(__cpp_impl_reflection) && __cpp_impl_reflection >= 202506L
#define ESPALIER_HAS_STD_META 1
#else
#define ESPALIER_HAS_STD_META 0
#endif
#endif

#if ESPALIER_HAS_STD_META

#include <meta>
#include <string_view>

namespace espalier {

// Enumerators, no variables: every local variable `tree` or `leaf` in this namespace would shadow a variable.
enum annotation : unsigned char { tree, leaf, aux_field };

namespace reflect::detail {

struct field_name {
  const char* text;
};

consteval bool in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 128;
}

consteval bool is_annotated(std::meta::info what, annotation with) {
  for (std::meta::info found : annotations_of_with_type(what, ^^annotation)) {
    if (extract<annotation>(found) == with) return true;
  }
  return false;
}

}  // namespace reflect::detail

// The name of a field, other than its identifier. Refuses, at compile time, what a key path could not hold: anything but
// letters, digits and underscores, or a digit in front.
consteval reflect::detail::field_name name(std::string_view text) {
  bool good = !text.empty() && !(text[0] >= '0' && text[0] <= '9');
  for (char c : text) good = good && reflect::detail::in_name(c);
  if (!good) throw "espalier: the name of a field must be an identifier: letters, digits and underscores";
  return {std::define_static_string(text)};
}

}  // namespace espalier

#endif
