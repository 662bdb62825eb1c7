#pragma once
// Structured bindings for every number of fields from 0 to 200: C++20 cannot write them as a pack. A table of
// specialisations, because a specialisation is found by one look-up; an overload set or a chain of
// `if constexpr` is walked for every struct.
//
//   binder<2>::apply(point, [](auto& x, auto& y) { … });

#include <cstddef>

#include <espalier/reflect/inline.hpp>

namespace espalier::reflect::detail {

inline constexpr std::size_t max_fields = 200;

template <std::size_t N> struct binder;

template <> struct binder<0> {
  template <class T, class F> static constexpr decltype(auto) apply(T&, F&& f) { return static_cast<F&&>(f)(); }
};

// The macros below live in this file only. Names are a0, a1, …; a line adds to the 16 names of the rows
// before it.
#define ESPALIER_BIND(n, ...)                                                                            \
  template <> struct binder<n> {                                                                         \
    template <class T, class F> ESPALIER_INLINE static constexpr decltype(auto) apply(T& value, F&& f) { \
      auto& [__VA_ARGS__] = value;                                                                       \
      return static_cast<F&&>(f)(__VA_ARGS__);                                                           \
    }                                                                                                    \
  };

// clang-format off
ESPALIER_BIND(1, a0)
ESPALIER_BIND(2, a0, a1)
ESPALIER_BIND(3, a0, a1, a2)
ESPALIER_BIND(4, a0, a1, a2, a3)
ESPALIER_BIND(5, a0, a1, a2, a3, a4)
ESPALIER_BIND(6, a0, a1, a2, a3, a4, a5)
ESPALIER_BIND(7, a0, a1, a2, a3, a4, a5, a6)
ESPALIER_BIND(8, a0, a1, a2, a3, a4, a5, a6, a7)
ESPALIER_BIND(9, a0, a1, a2, a3, a4, a5, a6, a7, a8)
ESPALIER_BIND(10, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9)
ESPALIER_BIND(11, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, aA)
ESPALIER_BIND(12, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, aA, aB)
ESPALIER_BIND(13, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, aA, aB, aC)
ESPALIER_BIND(14, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, aA, aB, aC, aD)
ESPALIER_BIND(15, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, aA, aB, aC, aD, aE)
ESPALIER_BIND(16, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, aA, aB, aC, aD, aE, aF)
#define ESPALIER_ROW_0 a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, aA, aB, aC, aD, aE, aF
ESPALIER_BIND(17, ESPALIER_ROW_0, b0)
ESPALIER_BIND(18, ESPALIER_ROW_0, b0, b1)
ESPALIER_BIND(19, ESPALIER_ROW_0, b0, b1, b2)
ESPALIER_BIND(20, ESPALIER_ROW_0, b0, b1, b2, b3)
ESPALIER_BIND(21, ESPALIER_ROW_0, b0, b1, b2, b3, b4)
ESPALIER_BIND(22, ESPALIER_ROW_0, b0, b1, b2, b3, b4, b5)
ESPALIER_BIND(23, ESPALIER_ROW_0, b0, b1, b2, b3, b4, b5, b6)
ESPALIER_BIND(24, ESPALIER_ROW_0, b0, b1, b2, b3, b4, b5, b6, b7)
ESPALIER_BIND(25, ESPALIER_ROW_0, b0, b1, b2, b3, b4, b5, b6, b7, b8)
ESPALIER_BIND(26, ESPALIER_ROW_0, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9)
ESPALIER_BIND(27, ESPALIER_ROW_0, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, bA)
ESPALIER_BIND(28, ESPALIER_ROW_0, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, bA, bB)
ESPALIER_BIND(29, ESPALIER_ROW_0, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, bA, bB, bC)
ESPALIER_BIND(30, ESPALIER_ROW_0, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, bA, bB, bC, bD)
ESPALIER_BIND(31, ESPALIER_ROW_0, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, bA, bB, bC, bD, bE)
ESPALIER_BIND(32, ESPALIER_ROW_0, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, bA, bB, bC, bD, bE, bF)
#define ESPALIER_ROW_1 ESPALIER_ROW_0, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, bA, bB, bC, bD, bE, bF
ESPALIER_BIND(33, ESPALIER_ROW_1, c0)
ESPALIER_BIND(34, ESPALIER_ROW_1, c0, c1)
ESPALIER_BIND(35, ESPALIER_ROW_1, c0, c1, c2)
ESPALIER_BIND(36, ESPALIER_ROW_1, c0, c1, c2, c3)
ESPALIER_BIND(37, ESPALIER_ROW_1, c0, c1, c2, c3, c4)
ESPALIER_BIND(38, ESPALIER_ROW_1, c0, c1, c2, c3, c4, c5)
ESPALIER_BIND(39, ESPALIER_ROW_1, c0, c1, c2, c3, c4, c5, c6)
ESPALIER_BIND(40, ESPALIER_ROW_1, c0, c1, c2, c3, c4, c5, c6, c7)
ESPALIER_BIND(41, ESPALIER_ROW_1, c0, c1, c2, c3, c4, c5, c6, c7, c8)
ESPALIER_BIND(42, ESPALIER_ROW_1, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9)
ESPALIER_BIND(43, ESPALIER_ROW_1, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, cA)
ESPALIER_BIND(44, ESPALIER_ROW_1, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, cA, cB)
ESPALIER_BIND(45, ESPALIER_ROW_1, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, cA, cB, cC)
ESPALIER_BIND(46, ESPALIER_ROW_1, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, cA, cB, cC, cD)
ESPALIER_BIND(47, ESPALIER_ROW_1, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, cA, cB, cC, cD, cE)
ESPALIER_BIND(48, ESPALIER_ROW_1, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, cA, cB, cC, cD, cE, cF)
#define ESPALIER_ROW_2 ESPALIER_ROW_1, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, cA, cB, cC, cD, cE, cF
ESPALIER_BIND(49, ESPALIER_ROW_2, d0)
ESPALIER_BIND(50, ESPALIER_ROW_2, d0, d1)
ESPALIER_BIND(51, ESPALIER_ROW_2, d0, d1, d2)
ESPALIER_BIND(52, ESPALIER_ROW_2, d0, d1, d2, d3)
ESPALIER_BIND(53, ESPALIER_ROW_2, d0, d1, d2, d3, d4)
ESPALIER_BIND(54, ESPALIER_ROW_2, d0, d1, d2, d3, d4, d5)
ESPALIER_BIND(55, ESPALIER_ROW_2, d0, d1, d2, d3, d4, d5, d6)
ESPALIER_BIND(56, ESPALIER_ROW_2, d0, d1, d2, d3, d4, d5, d6, d7)
ESPALIER_BIND(57, ESPALIER_ROW_2, d0, d1, d2, d3, d4, d5, d6, d7, d8)
ESPALIER_BIND(58, ESPALIER_ROW_2, d0, d1, d2, d3, d4, d5, d6, d7, d8, d9)
ESPALIER_BIND(59, ESPALIER_ROW_2, d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, dA)
ESPALIER_BIND(60, ESPALIER_ROW_2, d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, dA, dB)
ESPALIER_BIND(61, ESPALIER_ROW_2, d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, dA, dB, dC)
ESPALIER_BIND(62, ESPALIER_ROW_2, d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, dA, dB, dC, dD)
ESPALIER_BIND(63, ESPALIER_ROW_2, d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, dA, dB, dC, dD, dE)
ESPALIER_BIND(64, ESPALIER_ROW_2, d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, dA, dB, dC, dD, dE, dF)
#define ESPALIER_ROW_3 ESPALIER_ROW_2, d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, dA, dB, dC, dD, dE, dF
ESPALIER_BIND(65, ESPALIER_ROW_3, e0)
ESPALIER_BIND(66, ESPALIER_ROW_3, e0, e1)
ESPALIER_BIND(67, ESPALIER_ROW_3, e0, e1, e2)
ESPALIER_BIND(68, ESPALIER_ROW_3, e0, e1, e2, e3)
ESPALIER_BIND(69, ESPALIER_ROW_3, e0, e1, e2, e3, e4)
ESPALIER_BIND(70, ESPALIER_ROW_3, e0, e1, e2, e3, e4, e5)
ESPALIER_BIND(71, ESPALIER_ROW_3, e0, e1, e2, e3, e4, e5, e6)
ESPALIER_BIND(72, ESPALIER_ROW_3, e0, e1, e2, e3, e4, e5, e6, e7)
ESPALIER_BIND(73, ESPALIER_ROW_3, e0, e1, e2, e3, e4, e5, e6, e7, e8)
ESPALIER_BIND(74, ESPALIER_ROW_3, e0, e1, e2, e3, e4, e5, e6, e7, e8, e9)
ESPALIER_BIND(75, ESPALIER_ROW_3, e0, e1, e2, e3, e4, e5, e6, e7, e8, e9, eA)
ESPALIER_BIND(76, ESPALIER_ROW_3, e0, e1, e2, e3, e4, e5, e6, e7, e8, e9, eA, eB)
ESPALIER_BIND(77, ESPALIER_ROW_3, e0, e1, e2, e3, e4, e5, e6, e7, e8, e9, eA, eB, eC)
ESPALIER_BIND(78, ESPALIER_ROW_3, e0, e1, e2, e3, e4, e5, e6, e7, e8, e9, eA, eB, eC, eD)
ESPALIER_BIND(79, ESPALIER_ROW_3, e0, e1, e2, e3, e4, e5, e6, e7, e8, e9, eA, eB, eC, eD, eE)
ESPALIER_BIND(80, ESPALIER_ROW_3, e0, e1, e2, e3, e4, e5, e6, e7, e8, e9, eA, eB, eC, eD, eE, eF)
#define ESPALIER_ROW_4 ESPALIER_ROW_3, e0, e1, e2, e3, e4, e5, e6, e7, e8, e9, eA, eB, eC, eD, eE, eF
ESPALIER_BIND(81, ESPALIER_ROW_4, f0)
ESPALIER_BIND(82, ESPALIER_ROW_4, f0, f1)
ESPALIER_BIND(83, ESPALIER_ROW_4, f0, f1, f2)
ESPALIER_BIND(84, ESPALIER_ROW_4, f0, f1, f2, f3)
ESPALIER_BIND(85, ESPALIER_ROW_4, f0, f1, f2, f3, f4)
ESPALIER_BIND(86, ESPALIER_ROW_4, f0, f1, f2, f3, f4, f5)
ESPALIER_BIND(87, ESPALIER_ROW_4, f0, f1, f2, f3, f4, f5, f6)
ESPALIER_BIND(88, ESPALIER_ROW_4, f0, f1, f2, f3, f4, f5, f6, f7)
ESPALIER_BIND(89, ESPALIER_ROW_4, f0, f1, f2, f3, f4, f5, f6, f7, f8)
ESPALIER_BIND(90, ESPALIER_ROW_4, f0, f1, f2, f3, f4, f5, f6, f7, f8, f9)
ESPALIER_BIND(91, ESPALIER_ROW_4, f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, fA)
ESPALIER_BIND(92, ESPALIER_ROW_4, f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, fA, fB)
ESPALIER_BIND(93, ESPALIER_ROW_4, f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, fA, fB, fC)
ESPALIER_BIND(94, ESPALIER_ROW_4, f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, fA, fB, fC, fD)
ESPALIER_BIND(95, ESPALIER_ROW_4, f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, fA, fB, fC, fD, fE)
ESPALIER_BIND(96, ESPALIER_ROW_4, f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, fA, fB, fC, fD, fE, fF)
#define ESPALIER_ROW_5 ESPALIER_ROW_4, f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, fA, fB, fC, fD, fE, fF
ESPALIER_BIND(97, ESPALIER_ROW_5, g0)
ESPALIER_BIND(98, ESPALIER_ROW_5, g0, g1)
ESPALIER_BIND(99, ESPALIER_ROW_5, g0, g1, g2)
ESPALIER_BIND(100, ESPALIER_ROW_5, g0, g1, g2, g3)
ESPALIER_BIND(101, ESPALIER_ROW_5, g0, g1, g2, g3, g4)
ESPALIER_BIND(102, ESPALIER_ROW_5, g0, g1, g2, g3, g4, g5)
ESPALIER_BIND(103, ESPALIER_ROW_5, g0, g1, g2, g3, g4, g5, g6)
ESPALIER_BIND(104, ESPALIER_ROW_5, g0, g1, g2, g3, g4, g5, g6, g7)
ESPALIER_BIND(105, ESPALIER_ROW_5, g0, g1, g2, g3, g4, g5, g6, g7, g8)
ESPALIER_BIND(106, ESPALIER_ROW_5, g0, g1, g2, g3, g4, g5, g6, g7, g8, g9)
ESPALIER_BIND(107, ESPALIER_ROW_5, g0, g1, g2, g3, g4, g5, g6, g7, g8, g9, gA)
ESPALIER_BIND(108, ESPALIER_ROW_5, g0, g1, g2, g3, g4, g5, g6, g7, g8, g9, gA, gB)
ESPALIER_BIND(109, ESPALIER_ROW_5, g0, g1, g2, g3, g4, g5, g6, g7, g8, g9, gA, gB, gC)
ESPALIER_BIND(110, ESPALIER_ROW_5, g0, g1, g2, g3, g4, g5, g6, g7, g8, g9, gA, gB, gC, gD)
ESPALIER_BIND(111, ESPALIER_ROW_5, g0, g1, g2, g3, g4, g5, g6, g7, g8, g9, gA, gB, gC, gD, gE)
ESPALIER_BIND(112, ESPALIER_ROW_5, g0, g1, g2, g3, g4, g5, g6, g7, g8, g9, gA, gB, gC, gD, gE, gF)
#define ESPALIER_ROW_6 ESPALIER_ROW_5, g0, g1, g2, g3, g4, g5, g6, g7, g8, g9, gA, gB, gC, gD, gE, gF
ESPALIER_BIND(113, ESPALIER_ROW_6, h0)
ESPALIER_BIND(114, ESPALIER_ROW_6, h0, h1)
ESPALIER_BIND(115, ESPALIER_ROW_6, h0, h1, h2)
ESPALIER_BIND(116, ESPALIER_ROW_6, h0, h1, h2, h3)
ESPALIER_BIND(117, ESPALIER_ROW_6, h0, h1, h2, h3, h4)
ESPALIER_BIND(118, ESPALIER_ROW_6, h0, h1, h2, h3, h4, h5)
ESPALIER_BIND(119, ESPALIER_ROW_6, h0, h1, h2, h3, h4, h5, h6)
ESPALIER_BIND(120, ESPALIER_ROW_6, h0, h1, h2, h3, h4, h5, h6, h7)
ESPALIER_BIND(121, ESPALIER_ROW_6, h0, h1, h2, h3, h4, h5, h6, h7, h8)
ESPALIER_BIND(122, ESPALIER_ROW_6, h0, h1, h2, h3, h4, h5, h6, h7, h8, h9)
ESPALIER_BIND(123, ESPALIER_ROW_6, h0, h1, h2, h3, h4, h5, h6, h7, h8, h9, hA)
ESPALIER_BIND(124, ESPALIER_ROW_6, h0, h1, h2, h3, h4, h5, h6, h7, h8, h9, hA, hB)
ESPALIER_BIND(125, ESPALIER_ROW_6, h0, h1, h2, h3, h4, h5, h6, h7, h8, h9, hA, hB, hC)
ESPALIER_BIND(126, ESPALIER_ROW_6, h0, h1, h2, h3, h4, h5, h6, h7, h8, h9, hA, hB, hC, hD)
ESPALIER_BIND(127, ESPALIER_ROW_6, h0, h1, h2, h3, h4, h5, h6, h7, h8, h9, hA, hB, hC, hD, hE)
ESPALIER_BIND(128, ESPALIER_ROW_6, h0, h1, h2, h3, h4, h5, h6, h7, h8, h9, hA, hB, hC, hD, hE, hF)
#define ESPALIER_ROW_7 ESPALIER_ROW_6, h0, h1, h2, h3, h4, h5, h6, h7, h8, h9, hA, hB, hC, hD, hE, hF
ESPALIER_BIND(129, ESPALIER_ROW_7, i0)
ESPALIER_BIND(130, ESPALIER_ROW_7, i0, i1)
ESPALIER_BIND(131, ESPALIER_ROW_7, i0, i1, i2)
ESPALIER_BIND(132, ESPALIER_ROW_7, i0, i1, i2, i3)
ESPALIER_BIND(133, ESPALIER_ROW_7, i0, i1, i2, i3, i4)
ESPALIER_BIND(134, ESPALIER_ROW_7, i0, i1, i2, i3, i4, i5)
ESPALIER_BIND(135, ESPALIER_ROW_7, i0, i1, i2, i3, i4, i5, i6)
ESPALIER_BIND(136, ESPALIER_ROW_7, i0, i1, i2, i3, i4, i5, i6, i7)
ESPALIER_BIND(137, ESPALIER_ROW_7, i0, i1, i2, i3, i4, i5, i6, i7, i8)
ESPALIER_BIND(138, ESPALIER_ROW_7, i0, i1, i2, i3, i4, i5, i6, i7, i8, i9)
ESPALIER_BIND(139, ESPALIER_ROW_7, i0, i1, i2, i3, i4, i5, i6, i7, i8, i9, iA)
ESPALIER_BIND(140, ESPALIER_ROW_7, i0, i1, i2, i3, i4, i5, i6, i7, i8, i9, iA, iB)
ESPALIER_BIND(141, ESPALIER_ROW_7, i0, i1, i2, i3, i4, i5, i6, i7, i8, i9, iA, iB, iC)
ESPALIER_BIND(142, ESPALIER_ROW_7, i0, i1, i2, i3, i4, i5, i6, i7, i8, i9, iA, iB, iC, iD)
ESPALIER_BIND(143, ESPALIER_ROW_7, i0, i1, i2, i3, i4, i5, i6, i7, i8, i9, iA, iB, iC, iD, iE)
ESPALIER_BIND(144, ESPALIER_ROW_7, i0, i1, i2, i3, i4, i5, i6, i7, i8, i9, iA, iB, iC, iD, iE, iF)
#define ESPALIER_ROW_8 ESPALIER_ROW_7, i0, i1, i2, i3, i4, i5, i6, i7, i8, i9, iA, iB, iC, iD, iE, iF
ESPALIER_BIND(145, ESPALIER_ROW_8, j0)
ESPALIER_BIND(146, ESPALIER_ROW_8, j0, j1)
ESPALIER_BIND(147, ESPALIER_ROW_8, j0, j1, j2)
ESPALIER_BIND(148, ESPALIER_ROW_8, j0, j1, j2, j3)
ESPALIER_BIND(149, ESPALIER_ROW_8, j0, j1, j2, j3, j4)
ESPALIER_BIND(150, ESPALIER_ROW_8, j0, j1, j2, j3, j4, j5)
ESPALIER_BIND(151, ESPALIER_ROW_8, j0, j1, j2, j3, j4, j5, j6)
ESPALIER_BIND(152, ESPALIER_ROW_8, j0, j1, j2, j3, j4, j5, j6, j7)
ESPALIER_BIND(153, ESPALIER_ROW_8, j0, j1, j2, j3, j4, j5, j6, j7, j8)
ESPALIER_BIND(154, ESPALIER_ROW_8, j0, j1, j2, j3, j4, j5, j6, j7, j8, j9)
ESPALIER_BIND(155, ESPALIER_ROW_8, j0, j1, j2, j3, j4, j5, j6, j7, j8, j9, jA)
ESPALIER_BIND(156, ESPALIER_ROW_8, j0, j1, j2, j3, j4, j5, j6, j7, j8, j9, jA, jB)
ESPALIER_BIND(157, ESPALIER_ROW_8, j0, j1, j2, j3, j4, j5, j6, j7, j8, j9, jA, jB, jC)
ESPALIER_BIND(158, ESPALIER_ROW_8, j0, j1, j2, j3, j4, j5, j6, j7, j8, j9, jA, jB, jC, jD)
ESPALIER_BIND(159, ESPALIER_ROW_8, j0, j1, j2, j3, j4, j5, j6, j7, j8, j9, jA, jB, jC, jD, jE)
ESPALIER_BIND(160, ESPALIER_ROW_8, j0, j1, j2, j3, j4, j5, j6, j7, j8, j9, jA, jB, jC, jD, jE, jF)
#define ESPALIER_ROW_9 ESPALIER_ROW_8, j0, j1, j2, j3, j4, j5, j6, j7, j8, j9, jA, jB, jC, jD, jE, jF
ESPALIER_BIND(161, ESPALIER_ROW_9, k0)
ESPALIER_BIND(162, ESPALIER_ROW_9, k0, k1)
ESPALIER_BIND(163, ESPALIER_ROW_9, k0, k1, k2)
ESPALIER_BIND(164, ESPALIER_ROW_9, k0, k1, k2, k3)
ESPALIER_BIND(165, ESPALIER_ROW_9, k0, k1, k2, k3, k4)
ESPALIER_BIND(166, ESPALIER_ROW_9, k0, k1, k2, k3, k4, k5)
ESPALIER_BIND(167, ESPALIER_ROW_9, k0, k1, k2, k3, k4, k5, k6)
ESPALIER_BIND(168, ESPALIER_ROW_9, k0, k1, k2, k3, k4, k5, k6, k7)
ESPALIER_BIND(169, ESPALIER_ROW_9, k0, k1, k2, k3, k4, k5, k6, k7, k8)
ESPALIER_BIND(170, ESPALIER_ROW_9, k0, k1, k2, k3, k4, k5, k6, k7, k8, k9)
ESPALIER_BIND(171, ESPALIER_ROW_9, k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, kA)
ESPALIER_BIND(172, ESPALIER_ROW_9, k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, kA, kB)
ESPALIER_BIND(173, ESPALIER_ROW_9, k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, kA, kB, kC)
ESPALIER_BIND(174, ESPALIER_ROW_9, k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, kA, kB, kC, kD)
ESPALIER_BIND(175, ESPALIER_ROW_9, k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, kA, kB, kC, kD, kE)
ESPALIER_BIND(176, ESPALIER_ROW_9, k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, kA, kB, kC, kD, kE, kF)
#define ESPALIER_ROW_10 ESPALIER_ROW_9, k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, kA, kB, kC, kD, kE, kF
ESPALIER_BIND(177, ESPALIER_ROW_10, l0)
ESPALIER_BIND(178, ESPALIER_ROW_10, l0, l1)
ESPALIER_BIND(179, ESPALIER_ROW_10, l0, l1, l2)
ESPALIER_BIND(180, ESPALIER_ROW_10, l0, l1, l2, l3)
ESPALIER_BIND(181, ESPALIER_ROW_10, l0, l1, l2, l3, l4)
ESPALIER_BIND(182, ESPALIER_ROW_10, l0, l1, l2, l3, l4, l5)
ESPALIER_BIND(183, ESPALIER_ROW_10, l0, l1, l2, l3, l4, l5, l6)
ESPALIER_BIND(184, ESPALIER_ROW_10, l0, l1, l2, l3, l4, l5, l6, l7)
ESPALIER_BIND(185, ESPALIER_ROW_10, l0, l1, l2, l3, l4, l5, l6, l7, l8)
ESPALIER_BIND(186, ESPALIER_ROW_10, l0, l1, l2, l3, l4, l5, l6, l7, l8, l9)
ESPALIER_BIND(187, ESPALIER_ROW_10, l0, l1, l2, l3, l4, l5, l6, l7, l8, l9, lA)
ESPALIER_BIND(188, ESPALIER_ROW_10, l0, l1, l2, l3, l4, l5, l6, l7, l8, l9, lA, lB)
ESPALIER_BIND(189, ESPALIER_ROW_10, l0, l1, l2, l3, l4, l5, l6, l7, l8, l9, lA, lB, lC)
ESPALIER_BIND(190, ESPALIER_ROW_10, l0, l1, l2, l3, l4, l5, l6, l7, l8, l9, lA, lB, lC, lD)
ESPALIER_BIND(191, ESPALIER_ROW_10, l0, l1, l2, l3, l4, l5, l6, l7, l8, l9, lA, lB, lC, lD, lE)
ESPALIER_BIND(192, ESPALIER_ROW_10, l0, l1, l2, l3, l4, l5, l6, l7, l8, l9, lA, lB, lC, lD, lE, lF)
#define ESPALIER_ROW_11 ESPALIER_ROW_10, l0, l1, l2, l3, l4, l5, l6, l7, l8, l9, lA, lB, lC, lD, lE, lF
ESPALIER_BIND(193, ESPALIER_ROW_11, m0)
ESPALIER_BIND(194, ESPALIER_ROW_11, m0, m1)
ESPALIER_BIND(195, ESPALIER_ROW_11, m0, m1, m2)
ESPALIER_BIND(196, ESPALIER_ROW_11, m0, m1, m2, m3)
ESPALIER_BIND(197, ESPALIER_ROW_11, m0, m1, m2, m3, m4)
ESPALIER_BIND(198, ESPALIER_ROW_11, m0, m1, m2, m3, m4, m5)
ESPALIER_BIND(199, ESPALIER_ROW_11, m0, m1, m2, m3, m4, m5, m6)
ESPALIER_BIND(200, ESPALIER_ROW_11, m0, m1, m2, m3, m4, m5, m6, m7)
#undef ESPALIER_ROW_0
#undef ESPALIER_ROW_1
#undef ESPALIER_ROW_2
#undef ESPALIER_ROW_3
#undef ESPALIER_ROW_4
#undef ESPALIER_ROW_5
#undef ESPALIER_ROW_6
#undef ESPALIER_ROW_7
#undef ESPALIER_ROW_8
#undef ESPALIER_ROW_9
#undef ESPALIER_ROW_10
#undef ESPALIER_ROW_11
#undef ESPALIER_BIND
// clang-format on

}  // namespace espalier::reflect::detail
