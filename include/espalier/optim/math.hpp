// The arithmetic of gradient transformations on one leaf, for floating-point numbers here and for arrays in
// their engine's folder (<espalier/mlx/math.hpp>). An engine adds its arrays by specialising leaf_math:
//
//   template <> struct espalier::optim::leaf_math<my::array> { … };    // and operators + - * / < on the arrays
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <espalier/parameters.hpp>
#include <espalier/visit.hpp>
#include <espalier/visit_update.hpp>
#include <type_traits>

namespace espalier::optim {

template <class Leaf> struct leaf_math {
  static_assert(espalier::detail::always_false<Leaf>,
                "espalier: optim: no arithmetic is known for this leaf type; include its engine's header, as "
                "<espalier/mlx/math.hpp> for MLX arrays, or specialise espalier::optim::leaf_math");
};

template <std::floating_point T> struct leaf_math<T> {
  using count_type = std::int64_t;  // of steps
  using sum_type = double;          // of squares over a tree

  static count_type zero_count() { return 0; }
  static sum_type zero_sum() { return 0; }

  static T zeros_like(T) { return 0; }

  // A number (or, with an engine, a scalar array) in the precision of `like`.
  template <class Value> static T as(Value value, T) { return static_cast<T>(value); }

  // The leaf in a precision that moments and steps survive in: float32 for half precision, else its own.
  static T widen(T x) { return x; }

  static T sqrt(T x) { return std::sqrt(x); }
  static T squared_magnitude(T x) { return x * x; }
  static sum_type sum_of_squares(T x) { return static_cast<double>(x) * static_cast<double>(x); }
  static T select(bool condition, T yes, T no) { return condition ? yes : no; }

  // 1 - decay^count, exact also where decay^count is close to 1.
  static T bias_correction(double decay, count_type count) {
    return static_cast<T>(-std::expm1(static_cast<double>(count) * std::log(decay)));
  }
};

namespace detail {

using espalier::detail::types;

template <class Leaf> using math_of = leaf_math<std::remove_cvref_t<Leaf>>;

template <class Leaves> struct first_array {
  using type = double;
};
template <class Leaf, class... Rest>
struct first_array<types<Leaf, Rest...>>
    : std::conditional_t<engine_array<Leaf>, espalier::detail::type_tag<Leaf>, first_array<types<Rest...>>> {};

// The arithmetic of what a whole tree shares: step counts and norms. An engine's array in a tree that has
// any, else double.
template <class Tree> using shared_math = leaf_math<typename first_array<espalier::detail::leaf_types<Tree>>::type>;

// Throws a structure_error that begins with `what` unless `tree` has the structure of the parameters. Aux data may
// differ: like the leaves that are not parameters it takes no part in the arithmetic, and moments keep what init found.
template <class Params, class Tree> void require_structure(const Params& params, const Tree& tree, const char* what) {
  if constexpr (espalier::detail::require_trees<Params>() && espalier::detail::require_rest<Params, Tree>())
    espalier::detail::require_same(params, espalier::detail::structure_tree(tree), what);
}

// f(parameter, beside...) at the parameters, every other leaf as it is.
template <class Tree, class F> struct at_parameters {
  const F& f;

  template <class Leaf, class... Beside> Leaf operator()(const Leaf& leaf, const Beside&... beside) const {
    if constexpr (is_parameter_type<Tree, Leaf>) {
      if (is_parameter<Tree>(leaf)) return f(leaf, beside...);
    }
    return leaf;
  }
};

// The two walks of an update. They check nothing: require_structure has been asked about all trees before, so that an
// error comes before the first change.

// parameter = f(parameter, beside...) for every parameter of the tree.
template <class Tree, class F, class... Rest> void update_parameters(const F& f, Tree& tree, const Rest&... rest) {
  using function = const at_parameters<Tree, F>;
  static_assert(espalier::detail::require_traversal<false, function, const Tree&, const Rest&...>());
  function some{f};
  const espalier::detail::leaf_call<false, function, const Tree&, const Rest&...> leaf{some};
  const auto walk = [&](auto&&... others) {
    espalier::detail::update_tree(leaf, espalier::detail::no_path{}, tree, others...);
  };
  walk(espalier::detail::walked(rest)...);
}

// A tree of f(parameter, beside...); its other leaves and its aux data are those of `tree`.
template <class Tree, class F, class... Rest> Tree map_parameters(const F& f, const Tree& tree, const Rest&... rest) {
  using function = const at_parameters<Tree, F>;
  using call = espalier::detail::leaf_call<false, function, const Tree&, const Rest&...>;
  static_assert(espalier::detail::require_traversal<false, function, const Tree&, const Rest&...>());
  function some{f};
  const call beside{some};
  const espalier::detail::typed_call<call> leaf{beside};
  const auto walk = [&](auto&&... others) { return espalier::detail::make_tree<Tree>(leaf, tree, others...); };
  return walk(espalier::detail::walked(rest)...);
}

}  // namespace detail

// The type in which a state over Params counts steps: a scalar integer array of the engine in a tree that has
// arrays, so that a compiled step takes it as an input; else std::int64_t.
template <class Params> using step_count_t = typename detail::shared_math<Params>::count_type;

// The state of a transformation that keeps nothing: a node without children.
struct empty_state {};

}  // namespace espalier::optim
