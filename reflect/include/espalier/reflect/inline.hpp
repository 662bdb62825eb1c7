// Forced inlining, for access to fields and for traversal: both are written as many tiny functions, and an optimising
// build must see through all of them, whatever its inlining budget. Without optimisation it would only slow the build
// down.
//
//   ESPALIER_INLINE constexpr int one() { return 1; }
//   const auto two = [](int x) ESPALIER_INLINE_LAMBDA { return 2 * x; };
#pragma once

#if defined(__OPTIMIZE__)
#define ESPALIER_INLINE [[gnu::always_inline]] inline
#define ESPALIER_INLINE_LAMBDA __attribute__((always_inline))
#else
#define ESPALIER_INLINE inline
#define ESPALIER_INLINE_LAMBDA
#endif
