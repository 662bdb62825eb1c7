#pragma once
// The C++20 back end: reads the fields of an aggregate. The count is found by probing how many initialisers
// the type takes; access is by structured bindings. Users name nothing of this; see fields.hpp.
//
//   struct linear { double weight; std::optional<double> bias; };   // aggregate_count<linear>() == 2

#include <cstddef>
#include <type_traits>
#include <utility>

#include <espalier/reflect/bindings.hpp>
#include <espalier/reflect/inline.hpp>
#include <espalier/reflect/nowhere.hpp>

namespace espalier::reflect::detail {

// What a probe converts to besides the types of plain fields; used to find out why a type cannot be read.
enum probe_extra : unsigned { plain = 0, bases = 1, unions = 2, references = 4 };

// The unnamed unions among the unions: their members would be fields of the struct around them. Only the
// compiler's spelling of the type tells them apart.
template <class U> consteval bool is_unnamed() {
  const char* text = __PRETTY_FUNCTION__;
  for (; *text != '\0'; ++text) {
    for (const char* word : {"(unnamed union at", "(anonymous union at", "<unnamed union>"}) {
      std::size_t i = 0;
      while (word[i] != '\0' && word[i] == text[i]) ++i;
      if (word[i] == '\0') return true;
    }
  }
  return false;
}

template <class T, class U, unsigned Extra> consteval bool probe_converts() {
  if constexpr (std::is_union_v<U> && !(Extra & unions)) return !is_unnamed<U>();
  if constexpr (Extra & bases) return !std::is_same_v<U, T>;
  return !std::is_base_of_v<U, T>;
}

// A probe stands for a value of any type in an initialiser that is never evaluated. It is not literal, so
// that nothing tries to evaluate it, and neither copyable nor movable, so that a member with an unconstrained
// converting constructor (a std::optional of such a type) does not take it for a value. It does not convert
// to the base classes of `T`. The conversions have bodies because clang instantiates the constructor of a
// std::optional that would call one, and warns if it cannot be defined elsewhere.
template <class T, unsigned Extra = plain> struct probe {
  probe(const probe&) = delete;
  probe& operator=(const probe&) = delete;
  ~probe();

  template <class U>
    requires(probe_converts<T, U, Extra>())
  operator U() const {
    __builtin_unreachable();
  }

  // (Volatile, to be chosen only where the other does not fit.)
  template <class U>
    requires((Extra & references) != 0 && probe_converts<T, U, Extra>())
  operator U&() const volatile {
    __builtin_unreachable();
  }

  static probe&& make(std::size_t);
};

template <class T, class P, std::size_t... I> consteval bool takes_braced(std::index_sequence<I...>) {
  return requires { T{P::make(I)...}; };
}

// (With `new`, since nvcc's front end takes `T(…)` for invalid wherever T is an aggregate and a template parameter.)
template <class T, class P, std::size_t... I> consteval bool takes_parenthesised(std::index_sequence<I...>) {
  return requires { ::new T(P::make(I)...); };
}

// `T{probe × N}` is valid for every N from some k to the number of fields: the members from k on have default
// initialisers or are default-constructible, and one before k is not.
template <class T, class P, std::size_t N> consteval bool takes() {
  return takes_braced<T, P>(std::make_index_sequence<N>());
}

// The largest N in [Low, High) that `T` takes, given that it takes Low and not High.
template <class T, class P, std::size_t Low, std::size_t High> consteval std::size_t bisect() {
  constexpr std::size_t middle = Low + (High - Low) / 2;
  if constexpr (High - Low == 1)
    return Low;
  else if constexpr (takes<T, P, middle>())
    return bisect<T, P, middle, High>();
  else
    return bisect<T, P, Low, middle>();
}

template <class T, class P, std::size_t Low, std::size_t Step = 1> consteval std::size_t climb() {
  if constexpr (Low + Step > max_fields && takes<T, P, max_fields + 1>())
    return max_fields + 1;
  else if constexpr (Low + Step > max_fields)
    return bisect<T, P, Low, max_fields + 1>();
  else if constexpr (takes<T, P, Low + Step>())
    return climb<T, P, Low + Step, 2 * Step>();
  else
    return bisect<T, P, Low, Low + Step>();
}

template <class T, class P, std::size_t From> consteval std::size_t climb_from_first() {
  if constexpr (From > max_fields)
    return From;
  else if constexpr (takes<T, P, From>())
    return climb<T, P, From>();
  else
    return climb_from_first<T, P, From + 1>();
}

// The number of initialisers in braces, or more than max_fields if there are more or none fits. Fields are
// mostly eight bytes wide, so the search begins where such fields would end.
template <class T, class P> consteval std::size_t braced_count() {
  constexpr std::size_t words = sizeof(T) / 8;
  constexpr std::size_t guess = words < 1 ? 1 : words > 32 ? 32 : words;
  if constexpr (takes<T, P, guess>())
    return climb<T, P, guess>();
  else if constexpr (takes<T, P, 0>())
    return bisect<T, P, 0, guess>();
  else
    return climb_from_first<T, P, 1>();
}

// Braces may be left out around an array or a base, parentheses may not: the two forms agree if there is
// neither.
template <class T, class P, std::size_t N> consteval bool forms_agree() {
  if constexpr (N == 0)
    return std::is_empty_v<T>;
  else if constexpr (N > max_fields)
    return false;
  else
    return takes_parenthesised<T, P>(std::make_index_sequence<N>());
}

template <class T, unsigned Extra> consteval bool countable_with() {
  return forms_agree<T, probe<T, Extra>, braced_count<T, probe<T, Extra>>()>();
}

template <std::size_t N> struct pointers {
  const void* to[N];
};

struct point_to {
  template <class... A> constexpr pointers<sizeof...(A)> operator()(const A&... a) const {
    return {{__builtin_addressof(a)...}};
  }
};

template <auto> struct constant;

// True if the fields have addresses inside the object: not so for references, nor for bit-fields, whose
// address is that of a copy.
template <class T, std::size_t N> consteval bool fields_have_addresses() {
  return requires { typename constant<binder<N>::apply(nowhere<T>(), point_to())>; };
}

// Only reached to say what is wrong with `T`, which the compiler names next to the sentence.
template <class T> consteval void refuse() {
  constexpr bool never = sizeof(T) == 0;
  constexpr std::size_t Count = braced_count<T, probe<T>>();
  constexpr bool counted = forms_agree<T, probe<T>, Count>();
  if constexpr (counted || countable_with<T, references>()) {
    static_assert(never,
                  "espalier: this struct has a member that is a reference or a bit-field, which no pointer can point "
                  "to. Hold a whole value, or register the struct with espalier::pytree_node.");
  } else if constexpr (countable_with<T, bases>()) {
    static_assert(never,
                  "espalier: this struct has a base class, and C++20 cannot read the fields of a base. Repeat the "
                  "base as a member, or register the struct with espalier::pytree_node.");
  } else if constexpr (countable_with<T, unions>()) {
    static_assert(never,
                  "espalier: this struct has an unnamed union, whose members cannot be told apart. Use std::variant, "
                  "or register the struct with espalier::pytree_node.");
  } else if constexpr (takes_parenthesised<T, probe<T>>(std::make_index_sequence<max_fields + 1>())) {
    static_assert(never,
                  "espalier: this struct has more than 200 fields. Group some of them in structs of their own, or "
                  "register it with espalier::pytree_node.");
  } else if constexpr (takes<T, probe<T>, 1>() || Count <= max_fields) {
    static_assert(never,
                  "espalier: this struct has a member that is a C array. Use std::array, or register the struct with "
                  "espalier::pytree_node.");
  } else {
    static_assert(never,
                  "espalier: the fields of this struct cannot be counted, because some member cannot be initialised "
                  "from one value of its own type. Register the struct with espalier::pytree_node.");
  }
}

template <class T> consteval bool is_sound_aggregate() {
  constexpr std::size_t count = braced_count<T, probe<T>>();
  if constexpr (count == 0 || !forms_agree<T, probe<T>, count>())
    return forms_agree<T, probe<T>, count>();
  else
    return fields_have_addresses<T, count>();
}

template <class T> consteval std::size_t aggregate_count() {
  if constexpr (!is_sound_aggregate<T>())
    return refuse<T>(), 0;
  else
    return braced_count<T, probe<T>>();
}

// What this back end reads; see reader in fields.hpp.
template <class T> inline constexpr bool is_readable = std::is_aggregate_v<T>;

// `apply` is the binder's. `names` is defined in names.hpp.
template <class T, bool = is_readable<T>> struct native_reader {};
template <class T> struct native_reader<T, true> : binder<is_sound_aggregate<T>() ? braced_count<T, probe<T>>() : 0> {
  static constexpr bool sound = is_sound_aggregate<T>();
  static constexpr std::size_t count = aggregate_count<T>();

  static consteval auto names();

  template <class F, class... A> ESPALIER_INLINE static constexpr T construct(F&& f, A&&... a) {
    return T{f(static_cast<A&&>(a))...};
  }
};

}  // namespace espalier::reflect::detail
