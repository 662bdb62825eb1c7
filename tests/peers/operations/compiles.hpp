// Which calls compile: the questions that the library's static assertions ask, since one that does not is an error like
// one that throws. (What the compiler says then is in tests/compile_fail.)
#pragma once

#include <espalier/detail/leaf_call.hpp>
#include <type_traits>

namespace peers {

// Whether the types of the rest trees fit that of the first.
template <class First, class... Rest>
inline constexpr bool types_fit = std::is_void_v<typename espalier::detail::survey_of<First, Rest...>::faulty>;

// Whether F can be called with what stands at the leaves of the first tree.
template <class F, class First, class... Rest> consteval bool can_call() {
  if constexpr (!types_fit<First, Rest...>) {
    return false;
  } else {
    using zips = espalier::detail::leaf_zips<First, Rest...>;
    return espalier::detail::calls<F, false, zips, espalier::detail::types<const First&, const Rest&...>>::all_possible(
        zips{});
  }
}

}  // namespace peers
