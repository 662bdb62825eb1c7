// Boost.odeint over plain structs: with this header, every pytree of floating-point numbers is a state of its steppers.
//
//   struct body { std::array<double, 3> position, velocity; };
//   struct solar_system { std::array<body, 5> bodies; };
//
//   boost::numeric::odeint::runge_kutta4<solar_system> stepper;
//   stepper.do_step(gravity, system, t, dt);      // gravity(const solar_system&, solar_system& rates, double t)
//
// Steppers that take coordinates and velocities apart (symplectic ones, Verlet's) take a tree for each. States of
// odeint's own (numbers, arrays, vectors and other ranges of numbers, Boost.Fusion's sequences) stay with odeint.
#pragma once

#include <algorithm>
#include <array>
#include <boost/fusion/support/is_sequence.hpp>
#include <boost/numeric/odeint/algebra/algebra_dispatcher.hpp>
#include <boost/numeric/odeint/algebra/default_operations.hpp>
#include <boost/numeric/odeint/util/is_resizeable.hpp>
#include <boost/numeric/odeint/util/resize.hpp>
#include <boost/numeric/odeint/util/same_size.hpp>
#include <boost/numeric/odeint/util/state_wrapper.hpp>
#include <cmath>
#include <cstddef>
#include <espalier/promote.hpp>
#include <espalier/visit.hpp>
#include <espalier/visit_update.hpp>
#include <functional>
#include <ranges>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace espalier {

namespace detail {

template <class T>
concept range_of_numbers = std::ranges::range<T> && number<std::ranges::range_value_t<T>>;

// What odeint has no algebra of its own for. (A fusion sequence has one, where its header is included.)
template <class T>
concept odeint_tree = pytree<T> && !number<T> && !range_of_numbers<T> && !boost::fusion::traits::is_sequence<T>::value;

// True of the leaves that a step cannot move.
template <class Zip> struct is_no_real : std::false_type {};
template <class L>
  requires(kind_of<L> == node_kind::leaf)
struct is_no_real<types<L>> : std::bool_constant<!std::is_floating_point_v<L> && !is_complex<L>> {};

template <class... L> consteval bool any_no_real(types<L...>) { return (is_no_real<types<L>>::value || ...); }

template <class Where> struct state_leaf_is_no_real {
  static_assert(
      always_false<Where>,
      "espalier: odeint: a leaf of this state is not a floating-point or complex number (its key path is named "
      "beside this message). Keep what does not change with time in the system function, or as aux data");
};

template <class State> consteval bool require_reals() {
  if constexpr (any_no_real(leaf_types<State>{})) {
    constexpr auto path = fault_path_string<is_no_real, types<State>>();
    return sizeof(state_leaf_is_no_real<at_path<path, State>>) == 0;
  } else {
    return true;
  }
}

// The one operation that writes to its second argument too.
template <class Op> inline constexpr bool swaps = false;
template <class A, class B>
inline constexpr bool swaps<boost::numeric::odeint::default_operations::scale_sum_swap2<A, B>> = true;

// An operation, which assigns to its first argument, as a function that gives back the new leaf. (It holds a copy, whose
// coefficients no store to a leaf can change: the compiler keeps them in registers.)
template <class Op> struct new_leaf {
  Op op;
  template <class L, class... Beside> ESPALIER_INLINE constexpr L operator()(L leaf, const Beside&... beside) const {
    op(leaf, beside...);
    return leaf;
  }
};

// A state whose leaves are one run of numbers in memory: a contiguous tree, or a vector of such.
template <class T> inline constexpr bool is_run = contiguous_tree<T>;
template <contiguous_tree T, class A> inline constexpr bool is_run<std::vector<T, A>> = true;

template <contiguous_tree T> ESPALIER_INLINE auto run_of(T& tree) {
  return std::span(&leaf_at(tree, 0), contiguous_count<std::remove_cv_t<T>>());
}
template <class T>
  requires(!contiguous_tree<T>)
ESPALIER_INLINE auto run_of(T& vector) {
  using element = typename T::value_type;
  using leaf = first_number_t<element>;
  using number = std::conditional_t<std::is_const_v<T>, const leaf, leaf>;
  return std::span(reinterpret_cast<number*>(vector.data()), vector.size() * contiguous_count<element>());
}

// clang turns the loop into vector instructions. g++ at -O2 does not, of a loop that has to ask whether states overlap, but
// does so with blocks whose results are computed before they are stored.
template <class NewLeaf, class L, class... Beside>
ESPALIER_INLINE void apply_to_run(const NewLeaf& new_leaf, std::size_t n, L* first, const Beside*... beside) {
  const auto at = [&](std::size_t i) ESPALIER_INLINE_LAMBDA { return new_leaf(first[i], beside[i]...); };
  std::size_t i = 0;
#ifndef __clang__
  constexpr std::size_t block = std::max<std::size_t>(1, 32 / sizeof(L));
  for (; i + block <= n; i += block) {
    [&]<std::size_t... K>(std::index_sequence<K...>) ESPALIER_INLINE_LAMBDA {
      const L results[] = {at(i + K)...};
      ((first[i + K] = results[K]), ...);
    }(std::make_index_sequence<block>{});
  }
#endif
  for (; i < n; ++i) first[i] = at(i);
}

// The operation comes last.
template <std::size_t... I, class... A>
ESPALIER_INLINE void apply_last(std::index_sequence<I...>, const std::tuple<A&...>& all) {
  auto& first = std::get<0>(all);
  const auto& op = std::get<sizeof...(I) + 1>(all);
  using Op = std::remove_cvref_t<decltype(op)>;
  using State = std::remove_reference_t<decltype(first)>;
  constexpr bool alike =
      (std::is_same_v<const State, const std::remove_reference_t<decltype(std::get<I + 1>(all))>> && ...);
  if constexpr (swaps<Op>) {
    espalier::tree_visit(op, first, std::get<I + 1>(all)...);
  } else if constexpr (is_run<State> && alike) {
    (require_match("odeint", I + 1, first, std::get<I + 1>(all)), ...);
    apply_to_run(new_leaf<Op>{op}, run_of(first).size(), run_of(first).data(),
                 run_of(std::as_const(std::get<I + 1>(all))).data()...);
  } else {
    espalier::tree_visit_update(new_leaf<Op>{op}, first, std::as_const(std::get<I + 1>(all))...);
  }
}

template <class State, class... A> ESPALIER_INLINE void for_each_leaf(State& first, A&... beside_and_op) {
  if constexpr (require_reals<std::remove_const_t<State>>()) {
    apply_last(std::make_index_sequence<sizeof...(A) - 1>{}, std::tuple<State&, A&...>(first, beside_and_op...));
  }
}

}  // namespace detail

// An algebra of odeint whose elements are the leaves of pytrees: for_eachN(x1, ..., xN, op) calls op for the leaves that
// stand at the same place; op assigns to the first. odeint takes it by itself for states that are trees; it may also be
// named as a stepper's Algebra. Throws structure_error, before any change, where the structures of the states differ;
// costs the loop over the leaves, and allocates nothing.
struct tree_algebra {
  template <class... A> static void for_each1(A&&... a) { detail::for_each_leaf(a...); }
  template <class... A> static void for_each2(A&&... a) { detail::for_each_leaf(a...); }
  template <class... A> static void for_each3(A&&... a) { detail::for_each_leaf(a...); }
  template <class... A> static void for_each4(A&&... a) { detail::for_each_leaf(a...); }
  template <class... A> static void for_each5(A&&... a) { detail::for_each_leaf(a...); }
  template <class... A> static void for_each6(A&&... a) { detail::for_each_leaf(a...); }
  template <class... A> static void for_each7(A&&... a) { detail::for_each_leaf(a...); }
  template <class... A> static void for_each8(A&&... a) { detail::for_each_leaf(a...); }
  template <class... A> static void for_each9(A&&... a) { detail::for_each_leaf(a...); }
  template <class... A> static void for_each10(A&&... a) { detail::for_each_leaf(a...); }
  template <class... A> static void for_each11(A&&... a) { detail::for_each_leaf(a...); }
  template <class... A> static void for_each12(A&&... a) { detail::for_each_leaf(a...); }
  template <class... A> static void for_each13(A&&... a) { detail::for_each_leaf(a...); }
  template <class... A> static void for_each14(A&&... a) { detail::for_each_leaf(a...); }
  template <class... A> static void for_each15(A&&... a) { detail::for_each_leaf(a...); }

  // The largest magnitude of a leaf, 0 of none, in the real type in which the leaves meet.
  template <tree_of_numbers State> static auto norm_inf(const State& state) {
    using std::abs;
    decltype(abs(promoted_leaf_t<State>{})) largest = 0;
    espalier::tree_visit(
        [&largest](const auto& leaf) {
          using real = std::remove_reference_t<decltype(largest)>;
          largest = std::max(largest, static_cast<real>(abs(leaf)));
        },
        state);
    return largest;
  }
};

}  // namespace espalier

// What odeint asks of a state type.
namespace boost::numeric::odeint {

template <class State> struct algebra_dispatcher_sfinae<State, std::enable_if_t<espalier::detail::odeint_tree<State>>> {
  using algebra_type = espalier::tree_algebra;
};
template <class T, std::size_t N>
  requires espalier::detail::odeint_tree<std::array<T, N>>
struct algebra_dispatcher<std::array<T, N>> {
  using algebra_type = espalier::tree_algebra;
};

// A stepper's own states begin at zero: no operation copies a leaf that has no value.
template <class State> struct state_wrapper<State, std::enable_if_t<espalier::detail::odeint_tree<State>>> {
  using state_wrapper_type = state_wrapper<State>;
  State m_v{};
};

// A tree whose structure its type does not tell, vectors and aux data included, takes the structure of another.
template <class State>
struct is_resizeable_sfinae<
    State, std::enable_if_t<espalier::detail::odeint_tree<State> && !espalier::static_structure<State>>>
    : std::true_type {};
template <espalier::detail::odeint_tree State> struct resize_impl<State, State> {
  static void resize(State& state, const State& like) { state = like; }
};
template <espalier::detail::odeint_tree State> struct same_size_impl<State, State> {
  static bool same_size(const State& a, const State& b) {
    espalier::detail::any_mismatch quick;
    return espalier::detail::match(quick, espalier::detail::no_path{}, a, b);
  }
};

}  // namespace boost::numeric::odeint
