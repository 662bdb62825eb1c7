#pragma once
// Classes that are adapted for Boost.Hana: with this header they are structs of the fields listed, under the names
// listed, in order of declaration.
//
//   class cache {                                              struct point {
//    public:                                                     BOOST_HANA_DEFINE_STRUCT(point, (double, x), (double, y));
//     cache(mx::array keys, int step);                         };
//    private:
//     friend struct boost::hana::accessors_impl<cache>;        // for private members
//     mx::array keys_;
//     int step_;
//   };
//   BOOST_HANA_ADAPT_STRUCT(cache, keys_, step_);
//
// Members of bases can be listed too, those of the first base first. Members that are not listed are no part of the
// tree: in an object made from its fields they are what the constructor makes of them (see constructed_by).
// Hana allows 54 members. Describe allows more, reads bases by itself and compiles faster: see describe.hpp. A class that
// is adapted for both is refused where both headers are included.
//
// An aggregate is read by its adaptation once this header is there, and is the same tree as before if all its members
// are listed: same names, same order, same structure hash (annotations of C++26 are not read then). Include it where
// the class is adapted, so that every translation unit reads it alike.

#include <array>
#include <boost/hana/adapt_struct.hpp>
#include <boost/hana/concept/struct.hpp>
#include <boost/hana/define_struct.hpp>
#include <cstddef>
#include <memory>
#include <string_view>
#include <type_traits>

#include <espalier/reflect/fields.hpp>
#include <espalier/reflect/listed.hpp>

namespace espalier::reflect::detail {

// A member, as the macros write it down; `is_written` is false for an accessor that is a function.
template <class> struct hana_member {
  static constexpr bool is_written = false;
};
template <class Name, class Pointer, Pointer Member>
struct hana_member<boost::hana::pair<Name, boost::hana::struct_detail::member_ptr<Pointer, Member>>> {
  static constexpr bool is_written = true;
  static constexpr Pointer pointer = Member;
  static constexpr std::string_view name = Name::c_str();
};

template <class... Member> struct hana_names {
  static constexpr std::array<std::string_view, sizeof...(Member)> names{hana_member<Member>::name...};
};

// True if Hana knows T by a nested class, of T or of a base, and not by BOOST_HANA_ADAPT_STRUCT.
template <class T>
concept hana_defined = requires { typename T::hana_accessors_impl; } &&
                       std::is_base_of_v<typename T::hana_accessors_impl, boost::hana::accessors_impl<T>>;

template <class T, class Class, class Field> consteval bool is_declared_in(Field Class::*) {
  return std::is_same_v<T, Class>;
}

template <class T> consteval bool begins_with() { return true; }
template <class T, auto First, auto...> consteval bool begins_with() {
  return std::is_polymorphic_v<T> || detail::place_of<T>(First).at == std::addressof(nowhere<T>());
}

template <class T, class Accessors> struct hana_reader {
  static constexpr bool sound = false;
  static constexpr std::size_t count = [] {
    static_assert(sizeof(T) == 0,
                  "espalier: the accessors of this class are functions, and no references to its members. List the "
                  "members with BOOST_HANA_ADAPT_STRUCT, or register the class with espalier::pytree_node.");
    return std::size_t{0};
  }();
};

template <class T, class... Member>
  requires(hana_member<Member>::is_written && ...)
struct hana_reader<T, boost::hana::tuple<Member...>>
    : listed_reader<T, hana_names<Member...>, hana_member<Member>::pointer...> {
  using listed = listed_reader<T, hana_names<Member...>, hana_member<Member>::pointer...>;

  static constexpr bool has_members = sizeof...(Member) > 0 || std::is_empty_v<T>;
  static constexpr bool own = !hana_defined<T> || (detail::is_declared_in<T>(hana_member<Member>::pointer) && ...);
  static constexpr bool at_front = [] {
    if constexpr (hana_defined<T> && own)
      return detail::begins_with<T, hana_member<Member>::pointer...>();
    else
      return true;
  }();

  static constexpr bool sound = has_members && own && at_front && listed::sound;
  static constexpr std::size_t count = [] {
    static_assert(has_members,
                  "espalier: this class is adapted for Boost.Hana without any members, but it has some, or it is "
                  "derived from such a class. List them with BOOST_HANA_ADAPT_STRUCT, or register the class with "
                  "espalier::pytree_node.");
    static_assert(own,
                  "espalier: this class has BOOST_HANA_DEFINE_STRUCT from its base class only, which does not know the "
                  "fields of the class itself. List those of both with BOOST_HANA_ADAPT_STRUCT, or register the class "
                  "with espalier::pytree_node.");
    static_assert(at_front,
                  "espalier: in this class, something stands in front of the fields that BOOST_HANA_DEFINE_STRUCT "
                  "defines and would be lost: a base class, or a member. List all that belongs to the tree with "
                  "BOOST_HANA_ADAPT_STRUCT, or register the class with espalier::pytree_node.");
    return listed::count;
  }();
};

template <class T>
  requires(std::is_class_v<T> && boost::hana::Struct<T>::value)
struct by_hana<T> {
  using reader = hana_reader<T, decltype(boost::hana::accessors_impl<T>::apply())>;
};

}  // namespace espalier::reflect::detail
