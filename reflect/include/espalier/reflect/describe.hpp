#pragma once
// Classes that are described for Boost.Describe: with this header they are structs of the members listed, those of bases
// first, in order of declaration.
//
//   class cache : public layer_state {
//    public:
//     cache(int layer, mx::array keys, int step);
//    private:
//     mx::array keys_;
//     int step_;
//     BOOST_DESCRIBE_CLASS(cache, (layer_state), (), (), (keys_, step_))      // bases, public, protected, private
//   };
//   BOOST_DESCRIBE_STRUCT(layer_state, (), (layer))                           // outside of a class that has public ones
//
// Members and bases that are not listed are no part of the tree: in an object made from its fields they are what the
// constructor makes of them (see constructed_by). Bases that are listed must be described too; private ones are read.
// Describe allows 62 members for each of public, protected and private, and any number of bases.
//
// An aggregate is read by its description once this header is there, and is the same tree as before if all its members
// are listed: same names, same order, same structure hash (annotations of C++26 are not read then). Include it where
// the class is described, so that every translation unit reads it alike.

#include <array>
#include <boost/describe/class.hpp>
#include <boost/describe/members.hpp>
#include <boost/mp11/list.hpp>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <espalier/reflect/fields.hpp>
#include <espalier/reflect/listed.hpp>

namespace espalier::reflect::detail {

template <class T> consteval bool bases_are_described();

template <class> inline constexpr bool all_bases_are_described = false;
template <template <class...> class List, class... Base>
inline constexpr bool all_bases_are_described<List<Base...>> =
    (detail::bases_are_described<typename Base::type>() && ...);

template <class T> consteval bool bases_are_described() {
  if constexpr (boost::describe::has_describe_members<T>::value)
    return all_bases_are_described<boost::describe::describe_bases<T, boost::describe::mod_any_access>>;
  else
    return false;
}

template <class... Member> struct described_names {
  static constexpr std::array<std::string_view, sizeof...(Member)> names{Member::name...};
};

template <class T, class Members> struct described_reader;
template <class T, template <class...> class List, class... Member>
struct described_reader<T, List<Member...>> : listed_reader<T, described_names<Member...>, Member::pointer...> {
  using listed = listed_reader<T, described_names<Member...>, Member::pointer...>;

  static constexpr bool has_members = sizeof...(Member) > 0 || std::is_empty_v<T>;

  static constexpr bool sound = has_members && listed::sound;
  static constexpr std::size_t count = [] {
    static_assert(has_members,
                  "espalier: this class is described for Boost.Describe without any members, but it has some. List "
                  "them, or register the class with espalier::pytree_node.");
    return listed::count;
  }();
};

// (Most classes have no base, and Describe looks for inherited members at a price.)
template <class T>
inline constexpr unsigned described_members =
    boost::describe::mod_any_access |
    (boost::mp11::mp_empty<boost::describe::describe_bases<T, boost::describe::mod_any_access>>::value
         ? 0
         : boost::describe::mod_inherited | boost::describe::mod_hidden);

template <class T, bool = detail::bases_are_described<T>()> struct checked_described_reader {
  static constexpr bool sound = false;
  static constexpr std::size_t count = [] {
    static_assert(sizeof(T) == 0,
                  "espalier: this class is described for Boost.Describe with a base class that is not. Describe the "
                  "base too, leave it out if it has no members, or register the class with espalier::pytree_node.");
    return std::size_t{0};
  }();
};
template <class T>
struct checked_described_reader<T, true>
    : described_reader<T, boost::describe::describe_members<T, described_members<T>>> {};

template <class T>
  requires boost::describe::has_describe_members<T>::value
struct by_describe<T> {
  using reader = checked_described_reader<T>;
};

}  // namespace espalier::reflect::detail
