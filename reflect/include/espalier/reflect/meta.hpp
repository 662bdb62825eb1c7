// The C++26 back end, which asks the compiler: bases, private members, any number of fields, C arrays, bit-fields and
// anonymous structs. Aggregates are read unasked, other classes if they opt in, which covers their bases no further than
// those opt in themselves:
//
//   class [[=espalier::tree]] cache { … };                                      // by its author
//   template <> inline constexpr bool espalier::reflect::opt_in<cache> = true;     // by somebody else
#pragma once

#include <espalier/reflect/annotations.hpp>

#if ESPALIER_HAS_STD_META

#include <algorithm>
#include <array>
#include <cstddef>
#include <meta>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <espalier/reflect/construct.hpp>
#include <espalier/reflect/inline.hpp>

namespace espalier::reflect {

// True if the fields of T are read although T is no aggregate. Specialise it for a class that cannot be annotated.
template <class T> inline constexpr bool opt_in = detail::is_annotated(^^T, tree);

namespace detail {

template <class T> inline constexpr bool is_readable = opt_in<T>;
template <class T>
  requires std::is_aggregate_v<T>
inline constexpr bool is_readable<T> = true;

enum class fault : unsigned char { none, reference, unnamed_union, virtual_base, closed_base, repeated_name };

// What was found in a class; its fields are those of its bases, then its own, in order of declaration.
struct findings {
  std::size_t count = 0;
  fault wrong = fault::none;
  std::meta::info culprit = {};
  bool nested = false;  // in bases and anonymous structs, so that braces around the fields alone do not make an object
  bool arrays = false;
  bool bit_fields = false;
  bool annotations = false;
};

inline constexpr auto unchecked = std::meta::access_context::unchecked();

consteval void blame(findings& in, fault wrong, std::meta::info culprit) {
  if (in.wrong == fault::none) {
    in.wrong = wrong;
    in.culprit = culprit;
  }
}

// The fields of a class that has bases or anonymous structs.
consteval void flatten(findings& in, std::meta::info type, std::vector<std::meta::info>& fields) {
  for (std::meta::info base : bases_of(type, unchecked)) {
    const std::meta::info base_type = type_of(base);
    if (is_virtual(base)) {
      detail::blame(in, fault::virtual_base, base_type);
    } else if (!is_empty_type(base_type)) {
      const bool readable = extract<bool>(substitute(^^is_readable, std::span(&base_type, 1)));
      if (!readable) detail::blame(in, fault::closed_base, base_type);
      detail::flatten(in, base_type, fields);
    }
  }
  for (std::meta::info member : nonstatic_data_members_of(type, unchecked)) {
    if (has_identifier(member)) {
      fields.push_back(member);
    } else if (is_union_type(type_of(member))) {
      detail::blame(in, fault::unnamed_union, member);
    } else {
      detail::flatten(in, type_of(member), fields);
    }
  }
}

// What a field is called: its identifier, or what it is annotated with.
consteval std::string_view name_of(std::meta::info field) {
  const std::vector<std::meta::info> given = annotations_of_with_type(field, ^^field_name);
  return given.empty() ? identifier_of(field) : extract<field_name>(given.front()).text;
}

consteval void blame_repeated_names(findings& in, std::span<const std::meta::info> fields) {
  std::vector<std::string_view> names;
  for (std::meta::info field : fields) names.push_back(detail::name_of(field));
  std::sort(names.begin(), names.end());
  const auto at = std::adjacent_find(names.begin(), names.end());
  if (at == names.end()) return;
  for (std::meta::info field : fields) {
    if (detail::name_of(field) == *at) detail::blame(in, fault::repeated_name, field);
  }
}

// (Here and below: pointers, since each step of an iterator is a call that the compiler evaluates.)
consteval std::vector<std::meta::info> fields_of_class(findings& in, std::meta::info type) {
  std::vector<std::meta::info> fields = nonstatic_data_members_of(type, unchecked);
  in.nested = bases_of(type, unchecked).size() != 0;
  const std::meta::info* field = fields.data();
  for (const std::meta::info* const end = field + fields.size(); field != end && !in.nested; ++field) {
    in.nested = !has_identifier(*field);
  }
  if (in.nested) {
    fields.clear();
    detail::flatten(in, type, fields);
  }
  return fields;
}

consteval findings find(std::meta::info type) {
  findings result;
  const std::vector<std::meta::info> fields = detail::fields_of_class(result, type);
  const std::meta::info* field = fields.data();
  for (const std::meta::info* const end = field + fields.size(); field != end; ++field) {
    const std::meta::info field_type = type_of(*field);
    if (is_reference_type(field_type)) detail::blame(result, fault::reference, *field);
    if (is_array_type(field_type)) result.arrays = true;
    if (std::meta::is_bit_field(*field)) result.bit_fields = true;
    if (annotations_of(*field).size() != 0) result.annotations = true;
  }
  // (Only a base or an annotation can repeat a name.)
  if (result.nested || result.annotations) detail::blame_repeated_names(result, fields);
  result.count = fields.size();
  return result;
}

template <class T> inline constexpr findings found = detail::find(^^T);

template <std::size_t N> struct field_infos {
  std::meta::info at[N == 0 ? 1 : N] = {};

  consteval std::span<const std::meta::info> all() const { return {at, N}; }
};

// (An array that is filled: std::define_static_array takes three times as long to compile.)
template <std::size_t N> consteval field_infos<N> list_fields(std::meta::info type) {
  findings known;
  const std::vector<std::meta::info> fields = detail::fields_of_class(known, type);
  const std::meta::info* const from = fields.data();
  field_infos<N> result;
  for (std::size_t i = 0; i < N; ++i) result.at[i] = from[i];
  return result;
}

// What is wrong with a class, which the compiler names next to it.
consteval std::string sentence(const findings& in) {
  if (in.wrong == fault::repeated_name) {
    return "espalier: two fields of this struct have the name `" + std::string(detail::name_of(in.culprit)) +
           "`. Rename one of them, or annotate it with [[=espalier::name(…)]].";
  }
  const bool named = in.wrong != fault::none && has_identifier(in.culprit);
  const std::string culprit = named ? "`" + std::string(identifier_of(in.culprit)) + "`" : "an unnamed one";
  switch (in.wrong) {
    case fault::reference:
      return "espalier: this struct has a member that is a reference, " + culprit +
             ". Hold a whole value, or register the struct with espalier::pytree_node.";
    case fault::unnamed_union:
      return "espalier: this struct has an unnamed union, whose members cannot be told apart. Use std::variant, or "
             "register the struct with espalier::pytree_node.";
    case fault::virtual_base:
      return "espalier: this struct has a virtual base class, " + culprit +
             ". Make it a member, or register the struct with espalier::pytree_node.";
    case fault::closed_base:
      return "espalier: this struct has a base class, " + culprit +
             ", that is no aggregate and has not opted in. Annotate it with [[=espalier::tree]], specialise "
             "espalier::reflect::opt_in, or register the struct with espalier::pytree_node.";
    default:
      return {};
  }
}

template <class T> consteval std::size_t meta_count() {
  constexpr bool good = found<T>.wrong == fault::none;
  if constexpr (!good) static_assert(good, detail::sentence(found<T>));
  return good ? found<T>.count : 0;
}

template <std::size_t N>
consteval std::array<std::string_view, N> names_in(const field_infos<N>& fields, bool annotations) {
  std::array<std::string_view, N> names;
  std::string_view* const to = names.data();
  for (std::size_t i = 0; i < N; ++i) to[i] = annotations ? detail::name_of(fields.at[i]) : identifier_of(fields.at[i]);
  return names;
}

// A field as it is passed on: itself, or a copy of a bit-field, to which no reference refers.
template <std::meta::info Field, class Self>
using passed_field = std::conditional_t<is_bit_field(Field),
                                        const typename[:type_of(Field):]&, decltype((std::declval<Self&>().[:Field:]))>;

// A base, an anonymous struct or a field, and which of all fields are in it.
struct part {
  std::meta::info what;
  bool is_field;
  std::size_t first;
  std::size_t width;
};

consteval std::span<const part> split(std::meta::info type) {
  std::vector<part> parts;
  std::size_t first = 0;
  for (std::meta::info what : subobjects_of(type, std::meta::access_context::unchecked())) {
    const bool field = is_nonstatic_data_member(what) && has_identifier(what);
    parts.push_back({what, field, first, field ? 1 : detail::find(type_of(what)).count});
    first += parts.back().width;
  }
  return std::define_static_array(parts);
}

// An aggregate that has bases or anonymous structs, each made from its share of the arguments.
template <class T> struct nested_maker {
  static constexpr std::span<const part> parts = detail::split(^^T);

  template <class F, class... A> static constexpr T make(F& f, A&&... a) {
    std::tuple<A&&...> arguments(static_cast<A&&>(a)...);
    return [&]<std::size_t... P>(std::index_sequence<P...>) {
      return T{nested_maker::make_part<P>(f, arguments)...};
    }(std::make_index_sequence<parts.size()>());
  }

  static consteval bool makeable() {
    return []<std::size_t... P>(std::index_sequence<P...>) {
      return (nested_maker::part_is_makeable<P>() && ...);
    }(std::make_index_sequence<parts.size()>());
  }

 private:
  template <std::size_t P> static consteval bool part_is_makeable() {
    if constexpr (parts[P].is_field)
      return true;
    else
      return detail::is_makeable<typename[:type_of(parts[P].what):]>();
  }

  template <std::size_t P, class F, class Tuple> static constexpr decltype(auto) make_part(F& f, Tuple& arguments) {
    constexpr std::size_t first = parts[P].first;
    if constexpr (parts[P].is_field) {
      return f(std::get<first>(std::move(arguments)));
    } else {
      using type = [:type_of(parts[P].what):];
      return [&]<std::size_t... I>(std::index_sequence<I...>) -> type {
        return reader<type>::construct(f, std::get<first + I>(std::move(arguments))...);
      }(std::make_index_sequence<parts[P].width>());
    }
  }
};

template <class T, bool = is_readable<T>> struct native_reader {};
template <class T> struct native_reader<T, true> {
  static constexpr bool sound = found<T>.wrong == fault::none;
  static constexpr std::size_t count = detail::meta_count<T>();

  static constexpr field_infos<count> fields = detail::list_fields<count>(^^T);

  // Whether a structured binding reads them: the quickest to compile.
  static constexpr bool is_bindable = std::is_aggregate_v<T> && !found<T>.nested && !found<T>.bit_fields && count > 0;
  // Whether braces around what it binds make another T.
  static constexpr bool binds_what_braces_take = is_bindable && !found<T>.arrays;

  static consteval std::array<std::string_view, count> names() {
    return detail::names_in(fields, found<T>.annotations);
  }

  template <class Self, class F> ESPALIER_INLINE static constexpr decltype(auto) apply(Self& value, F&& f) {
    if constexpr (is_bindable) {
      auto& [... field] = value;
      return static_cast<F&&>(f)(field...);
    } else {
      return native_reader::splice(value, static_cast<F&&>(f), std::make_index_sequence<count>());
    }
  }

  static constexpr bool by_braces = std::is_aggregate_v<T> && !found<T>.nested && !found<T>.arrays;

  static consteval bool makeable()
    requires(!by_braces)
  {
    if constexpr (found<T>.nested && constructed_by<T> == construction::braces)
      return nested_maker<T>::makeable();
    else if constexpr (found<T>.bit_fields && constructed_by<T> == construction::default_and_assign)
      return std::is_default_constructible_v<T> && native_reader::assignable(std::make_index_sequence<count>());
    else
      return detail::makeable_by_choice<T>();
  }
  template <class Where> using why_not_made = not_made_from_fields<Where>;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"  // of a bit-field from its own type
  template <class F, class... A> ESPALIER_INLINE static constexpr T construct(F&& f, A&&... a) {
    if constexpr (!detail::is_makeable<T>())
      static_assert(sizeof(why_not_made<T>) == 0);
    else if constexpr (by_braces)
      return T{f(static_cast<A&&>(a))...};
    else if constexpr (found<T>.nested && constructed_by<T> == construction::braces)
      return nested_maker<T>::make(f, static_cast<A&&>(a)...);
    else if constexpr (found<T>.bit_fields && constructed_by<T> == construction::default_and_assign)
      return native_reader::assign_each(f, std::make_index_sequence<count>(), static_cast<A&&>(a)...);
    else
      return detail::construct_by_choice<T>(f, static_cast<A&&>(a)...);
  }
#pragma GCC diagnostic pop

 private:
  template <std::size_t... I> static consteval bool assignable(std::index_sequence<I...>) {
    return (std::is_move_assignable_v<std::remove_all_extents_t<typename[:type_of(fields.at[I]):]>> && ...);
  }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"  // of a bit-field from its own type
  // (A bit-field is assigned here, since `apply` passes a copy of it.)
  template <class F, std::size_t... I, class... A>
  static constexpr T assign_each(F& f, std::index_sequence<I...>, A&&... a) {
    T value{};
    const auto put = [&]<std::size_t J>(std::integral_constant<std::size_t, J>, auto&& made) {
      if constexpr (is_bit_field(fields.at[J]))
        value.[:fields.at[J]:] = made;
      else
        detail::assign(value.[:fields.at[J]:], static_cast<decltype(made)>(made));
    };
    (put(std::integral_constant<std::size_t, I>(), f(static_cast<A&&>(a))), ...);
    return value;
  }
#pragma GCC diagnostic pop

  template <class Self, class F, std::size_t... I>
  ESPALIER_INLINE static constexpr decltype(auto) splice(Self& value, F&& f, std::index_sequence<I...>) {
    if constexpr (found<T>.bit_fields)
      return static_cast<F&&>(f)(static_cast<passed_field<fields.at[I], Self>>(value.[:fields.at[I]:])...);
    else
      return static_cast<F&&>(f)(value.[:fields.at[I]:]...);
  }
};

template <class Field> struct field_value {
  using type = std::remove_cv_t<Field>;
};
template <class E, std::size_t N> struct field_value<E[N]> {
  using type = std::array<typename field_value<E>::type, N>;
};
template <class E, std::size_t N> struct field_value<const E[N]> : field_value<E[N]> {};

}  // namespace detail

// What is known of a field besides its type and name.
struct field_notes {
  bool is_aux = false;   // annotated as aux data
  bool is_leaf = false;  // annotated as a leaf
  bool is_bit_field = false;
};

// Whether there is anything to know: T is a class that this back end reads, with a field that is annotated or a
// bit-field.
template <class T>
concept has_field_notes = requires { typename detail::reader<T>::is_native; } &&
                          (detail::found<T>.annotations || detail::found<T>.bit_fields);

// Those of the fields of T, a class that this back end reads.
template <class T>
inline constexpr auto field_notes_v = [] {
  std::array<field_notes, detail::native_reader<T>::count> notes;
  for (std::size_t i = 0; i < notes.size(); ++i) {
    const std::meta::info field = detail::native_reader<T>::fields.at[i];
    for (std::meta::info found : annotations_of_with_type(field, ^^annotation)) {
      notes[i].is_aux = notes[i].is_aux || extract<annotation>(found) == aux_field;
      notes[i].is_leaf = notes[i].is_leaf || extract<annotation>(found) == leaf;
    }
    notes[i].is_bit_field = is_bit_field(field);
  }
  return notes;
}();

}  // namespace espalier::reflect

#endif
