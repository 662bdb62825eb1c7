#pragma once
// An object that is defined nowhere: what the addresses of its members tell is known at compile time, for a type that
// no value can be made of.
//
//   struct point { double x, y; };
//   constexpr const double* y = &nowhere<point>().y;                 // a constant, which compilers spell with its name
//   static_assert(&member_of(nowhere<point>(), &point::x) != y);

#include <type_traits>

#include <espalier/reflect/inline.hpp>

namespace espalier::reflect::detail {

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif
// (A member, since g++ takes no object of a local type that is not defined. names.hpp reads this spelling.)
template <class T> struct holder {
  const T value;
};
template <class T> extern const holder<T> nowhere_object;

template <class T> consteval const T& nowhere() { return nowhere_object<T>.value; }
#ifdef __clang__
#pragma clang diagnostic pop
#endif

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"  // alone, it goes to private bases
// A member of `value` or of a base of it.
template <class Self, class Class, class Field>
ESPALIER_INLINE constexpr auto& member_of(Self& value, Field Class::* member) {
  using base = std::conditional_t<std::is_const_v<Self>, const Class, Class>;
  return ((base&)value).*member;
}
#pragma GCC diagnostic pop

}  // namespace espalier::reflect::detail
