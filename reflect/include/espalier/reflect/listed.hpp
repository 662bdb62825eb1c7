#pragma once
// The fields of a class whose members somebody listed, as pointers to them: what hana.hpp and describe.hpp have in
// common.
//
//   template <> struct reader<cache> : listed_reader<cache, &cache::keys, &cache::values> { … };   // and the names

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include <espalier/reflect/construct.hpp>
#include <espalier/reflect/inline.hpp>
#include <espalier/reflect/nowhere.hpp>

namespace espalier::reflect::detail {

template <class T, class Class, class Field> consteval bool in_virtual_base(Field Class::*) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"  // alone, it goes to private bases
  return !requires(Class* base) { (T*)base; };
#pragma GCC diagnostic pop
}

// --- The order of declaration. The other back ends know no other, whatever order the members are listed in. ---

template <class> inline constexpr char class_id{};

struct listed_place {
  const void* at;
  const void* declared_in;
};

template <class T, class Class, class Field> constexpr listed_place place_of(Field Class::* member) {
  return {std::addressof(detail::member_of(nowhere<T>(), member)), &class_id<Class>};
}

// (The conditional makes clang fold the comparison, which it takes for no constant if the members' access differs.)
constexpr bool declared_before(listed_place a, listed_place b) {
  return a.declared_in == b.declared_in && (__builtin_constant_p(a.at < b.at) ? a.at < b.at : a.at < b.at);
}

// Which of the members was declared first, second, …; classes stay in the order of the list.
template <class T, auto... Members> consteval std::array<std::size_t, sizeof...(Members)> declaration_order() {
  std::array<std::size_t, sizeof...(Members)> order{};
  if constexpr (sizeof...(Members) > 1 && !(detail::in_virtual_base<T>(Members) || ...)) {
    const listed_place places[] = {detail::place_of<T>(Members)...};
    for (std::size_t i = 0; i < order.size(); ++i) {
      order[i] = i;
      for (std::size_t k = i; k > 0 && detail::declared_before(places[order[k]], places[order[k - 1]]); --k) {
        std::swap(order[k], order[k - 1]);
      }
    }
  }
  return order;
}

template <class T, auto... Members>
inline constexpr std::array<std::size_t, sizeof...(Members)> listed_order = declaration_order<T, Members...>();

template <std::size_t I, auto Member> struct indexed_member {};
template <class Indices, auto... Members> struct indexed_members;
template <std::size_t... I, auto... Members>
struct indexed_members<std::index_sequence<I...>, Members...> : indexed_member<I, Members>... {};

template <std::size_t I, auto Member> consteval auto nth_member(const indexed_member<I, Member>&) { return Member; }

// --- What aggregates are made from. ---

// Stands for one more initialiser than there are members listed; as probe in aggregate.hpp.
struct one_more {
  one_more(const one_more&) = delete;
  ~one_more();
  template <class U> operator U() const { __builtin_unreachable(); }
};

// True if braces around the members initialise all of T and nothing else.
template <class T> struct listed_all {
  template <class... Field> constexpr auto operator()(Field&...) const {
    return std::bool_constant<requires { T{std::declval<std::remove_cv_t<Field>>()...}; } &&
                              !requires { T{std::declval<std::remove_cv_t<Field>>()..., std::declval<one_more>()}; }>();
  }
};

// (Where is for the compiler to print.)
template <class Where> struct not_all_listed {
  static_assert(sizeof(Where) == 0,
                "espalier: the members that are listed for this aggregate are not all that braces initialise. List "
                "its other members and its bases too, give it a constructor, or specialise "
                "espalier::reflect::constructed_by as default_and_assign, which leaves what is not listed as the "
                "default constructor makes it.");
};

// --- The reader. ---

template <class T, auto... Members> struct ordered_reader {
  template <class Self, class F> ESPALIER_INLINE static constexpr decltype(auto) apply(Self& value, F&& f) {
    return static_cast<F&&>(f)(detail::member_of(value, Members)...);
  }

  static consteval bool makeable() {
    if constexpr (constructed_by<T> != construction::braces)
      return detail::makeable_by_choice<T>();
    else
      return decltype(ordered_reader::apply(std::declval<T&>(), listed_all<T>()))::value;
  }
  template <class Where>
  struct why_not_made : std::conditional_t<constructed_by<T> == construction::braces, not_all_listed<Where>,
                                           not_made_from_fields<Where>> {};

  template <class F, class... A> ESPALIER_INLINE static constexpr T construct(F&& f, A&&... a) {
    if constexpr (!makeable()) {
      static_assert(sizeof(why_not_made<T>) == 0);
    } else if constexpr (constructed_by<T> != construction::braces) {
      return detail::construct_by_choice<T>(f, static_cast<A&&>(a)...);
    } else {
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wmissing-braces"  // around the members of a base
#endif
      return T{f(static_cast<A&&>(a))...};
#ifdef __clang__
#pragma clang diagnostic pop
#endif
    }
  }
};

template <class T, class Indices, auto... Members> struct sorted_reader;
template <class T, std::size_t... I, auto... Members> struct sorted_reader<T, std::index_sequence<I...>, Members...> {
  using members = indexed_members<std::index_sequence<I...>, Members...>;
  using type = ordered_reader<T, detail::nth_member<listed_order<T, Members...>[I]>(members())...>;
};

template <std::size_t N> consteval bool all_differ(const std::array<std::string_view, N>& names) {
  for (std::size_t i = 0; i < N; ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (names[i] == names[k]) return false;
    }
  }
  return true;
}

// `Listed` has the names as the macro lists them.
template <class T, class Listed, auto... Members>
struct listed_reader : sorted_reader<T, std::make_index_sequence<sizeof...(Members)>, Members...>::type {
  static constexpr bool fixed = !(detail::in_virtual_base<T>(Members) || ...);
  static constexpr bool distinct = detail::all_differ(Listed::names);

  static constexpr bool sound = fixed && distinct;
  static constexpr std::size_t count = [] {
    static_assert(fixed,
                  "espalier: members of a virtual base class are listed for this class. Make the base a member, or "
                  "register the class with espalier::pytree_node.");
    static_assert(distinct,
                  "espalier: two fields of this class have the same name, such as one of its own and one of its base "
                  "class. Rename one of them, or register the class with espalier::pytree_node.");
    return sizeof...(Members);
  }();

  static consteval std::array<std::string_view, sizeof...(Members)> names() {
    std::array<std::string_view, sizeof...(Members)> result;
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = Listed::names[listed_order<T, Members...>[i]];
    return result;
  }
};

// --- Which library lists the members of T: hana.hpp and describe.hpp each specialise theirs, with its `reader`. ---

template <class T> struct by_hana {};
template <class T> struct by_describe {};

template <class T>
concept hana_adapted = requires { typename by_hana<T>::reader; };
template <class T>
concept described = requires { typename by_describe<T>::reader; };

template <class T>
  requires hana_adapted<T>
struct reader<T> : by_hana<T>::reader {};

template <class T>
  requires described<T>
struct reader<T> : by_describe<T>::reader {};

template <class T>
  requires hana_adapted<T> && described<T>
struct reader<T> {
  static constexpr bool sound = false;
  static constexpr std::size_t count = [] {
    static_assert(
        sizeof(T) == 0,
        "espalier: this class is adapted for Boost.Hana and described for Boost.Describe, and the headers for "
        "both are included. Take out one of the two, or include only hana.hpp or only describe.hpp.");
    return std::size_t{0};
  }();
};

}  // namespace espalier::reflect::detail
