// Aux data: what a plain struct carries as part of its structure and not as a leaf. Two spellings that mean the same:
//
//   struct KVCache {                                          struct KVCache {
//     mx::array keys;                                            mx::array keys;
//     espalier::aux<int> step;                                   int step;
//   };                                                           static constexpr auto tree_aux =
//                                                                    espalier::fields<&KVCache::step>;
//                                                              };
//
// and outside the struct: `template <> inline constexpr auto espalier::aux_fields<KVCache> = …`; with C++26, at the field:
// `[[=espalier::aux_field]] int step;`.
#pragma once

#include <compare>
#include <type_traits>
#include <utility>

namespace espalier {

// A value that is aux data wherever it stands as a field. Converts to and from T.
template <class T> struct aux {
  using value_type = T;

  T value{};

  constexpr aux() = default;
  constexpr aux(T v) : value(std::move(v)) {}

  constexpr operator const T&() const& { return value; }
  constexpr operator T&() & { return value; }
  constexpr const T& operator*() const { return value; }
  constexpr T& operator*() { return value; }
  constexpr const T* operator->() const { return &value; }
  constexpr T* operator->() { return &value; }

  friend bool operator==(const aux&, const aux&) = default;
  // Exact for every U: two conversions, of the aux and to it, would be ambiguous.
  template <class U>
    requires(!std::is_same_v<U, aux>) && requires(const T& t, const U& u) { t == u; }
  friend constexpr bool operator==(const aux& a, const U& b) {
    return a.value == b;
  }
};

// A list of data members of one struct.
template <auto... Members> struct field_list {};

template <auto... Members> inline constexpr field_list<Members...> fields{};

// The fields of T that are aux data. Specialise it for a struct that cannot be changed.
template <class T> inline constexpr auto aux_fields = fields<>;

}  // namespace espalier
