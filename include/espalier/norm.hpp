// A tree as a vector: the inner product of two trees, and the norm of one.
//
//   double length = espalier::tree_norm(grads);
//   double slope = espalier::tree_dot(grads, direction);
//   Model norms = espalier::tree_norms(grads);               // of each parameter by itself
#pragma once

#include <cmath>
#include <espalier/parameters.hpp>
#include <espalier/promote.hpp>
#include <espalier/visit.hpp>

namespace espalier {

namespace detail {

template <class... L> consteval auto first_array_of(types<L...>) { return type_tag<void>{}; }
template <class First, class... L> consteval auto first_array_of(types<First, L...>) {
  if constexpr (engine_array<First>) {
    return type_tag<First>{};
  } else {
    return first_array_of(types<L...>{});
  }
}
// The types of a tree's leaves, or of a leaf_array's values.
template <class T> struct given_leaves {
  using type = leaf_types<T>;
};
template <class T, class U> struct given_leaves<leaf_array<T, U>> {
  using type = types<U>;
};
template <class T> using given_leaves_t = typename given_leaves<std::remove_cvref_t<T>>::type;

// The array type of a tree that has engine arrays, else void.
template <class T> using array_of = typename decltype(first_array_of(given_leaves_t<T>{}))::type;

// What is summed over the leaves: real or complex numbers as Number, engine arrays as their scalars. Anything else is the
// traversal's compile error, by key path.
template <class Number, class Array> struct products {
  template <number A, number B> constexpr Number operator()(const A& a, const B& b) const {
    if constexpr (is_complex<A>) {
      return static_cast<Number>(conj(a)) * static_cast<Number>(b);
    } else {
      return static_cast<Number>(a) * static_cast<Number>(b);
    }
  }
  template <engine_array A> Array operator()(const A& a, const A& b) const { return array_traits<A>::dot(a, b); }
};
template <class Array> struct squares {
  template <number A> constexpr double operator()(const A& a) const {
    if constexpr (is_complex<A>) {
      return static_cast<double>(norm(a));
    } else {
      return static_cast<double>(a) * static_cast<double>(a);
    }
  }
  template <engine_array A> Array operator()(const A& a) const { return array_traits<A>::sum_of_squares(a); }
};

template <class Total, class Term> constexpr Total plus(const Total& total, const Term& term) {
  if constexpr (engine_array<Total> && std::is_arithmetic_v<Term>) {
    return total + array_traits<Total>::scalar(static_cast<double>(term));
  } else {
    return total + term;
  }
}

// The sum of f over the leaves, as a Number; as a scalar array in a tree that has arrays.
template <class Number, class Array, class F, class... Trees>
constexpr auto sum_over(const F& f, const Trees&... trees) {
  const auto from = [&](auto total) {
    auto add = [&]<class... L>(const L&... leaf) ESPALIER_INLINE_LAMBDA
      requires std::is_invocable_v<const F&, const L&...>
    { total = plus(total, f(leaf...)); };
    espalier::tree_visit(add, trees...);
    return total;
  };
  if constexpr (std::is_void_v<Array>) {
    return from(Number{});
  } else {
    return from(array_traits<Array>::scalar(0.0));
  }
}

// (At least int, as in an expression.)
template <class... A, class... B> consteval auto meeting_type(types<A...>, types<B...>) {
  if constexpr ((number<A> && ... && (number<B> && ... && true))) {
    return type_tag<decltype(+promoted_t<A..., B...>{})>{};
  } else {
    return type_tag<double>{};
  }
}

}  // namespace detail

// The sum over the leaves of a times b, where a is complex of its conjugate (optax.tree.vdot): a number of the type in
// which the leaves of both trees meet (promoted_t), at least int, or a scalar array of the engine. Throws structure_error if the
// structures differ. No allocation over trees of numbers.
template <class A, class B> constexpr auto tree_dot(const A& a, const B& b) {
  using Number =
      typename decltype(detail::meeting_type(detail::given_leaves_t<A>{}, detail::given_leaves_t<B>{}))::type;
  using Array = detail::array_of<A>;
  return detail::sum_over<Number, Array>(detail::products<Number, Array>{}, a, b);
}

// The square root of the sum of the squared magnitudes of all leaves (optax.tree.norm, optax.global_norm): a double, in
// which numbers are summed, or a scalar array of the engine. (optim::global_norm is that of the parameters alone.)
template <class Tree> auto tree_norm(const Tree& tree) {
  using Array = detail::array_of<Tree>;
  using std::sqrt;
  return sqrt(detail::sum_over<double, Array>(detail::squares<Array>{}, tree));
}

// The norm of each parameter by itself, in its place: a scalar array of the engine, or a number's magnitude; every other
// leaf is passed on. What to log by key path (metrics.hpp) to see which layer's gradient vanishes. For whole layers:
//   tree_visit_with_path(leaf_if<Layer>, [&](const path_view& path, const auto& x) { … tree_norm(x) … }, grads)
template <class Tree> Tree tree_norms(const Tree& tree) {
  return espalier::tree_map_parameters(
      []<class Leaf>(const Leaf& leaf) -> Leaf {
        using std::sqrt;
        if constexpr (engine_array<Leaf>) {
          return sqrt(array_traits<Leaf>::sum_of_squares(leaf));
        } else {
          return std::abs(leaf);
        }
      },
      tree);
}

}  // namespace espalier
