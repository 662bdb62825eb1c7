// The arithmetic of gradient transformations on one leaf, for floating-point numbers here and for arrays in
// their engine's folder (<espalier/mlx/math.hpp>). An engine adds its arrays by specialising leaf_math:
//
//   template <> struct espalier::optim::leaf_math<my::array> { … };    // and operators + - * / < && || on the arrays
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <espalier/detail/types.hpp>
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
  using condition_type = bool;

  // Whether leaves have axes. Then there is also ndim(x), dim(x, axis), mean(x, axis) and expand_dims(x, axis), axes
  // counted from the end if negative; and for matrices as_matrix(x) of the first axis by all others, reshaped_like(x,
  // like), transpose(x), matmul(a, b), and add_matmul(c, factor, a, b) = c + factor a b.
  static constexpr bool has_axes = false;

  static count_type count(std::int64_t steps) { return steps; }
  static count_type zero_count() { return 0; }
  static sum_type zero_sum() { return 0; }
  static condition_type condition(bool value) { return value; }

  static T zeros_like(T) { return 0; }

  // What stands for a leaf that a transformation must not see: an array of a dtype that is no parameter's, so that it
  // is passed on; a number is a parameter by its type, and zero.
  static T hidden() { return 0; }

  // A number (or, with an engine, a scalar array) in the precision of `like`.
  template <class Value> static T as(Value value, T) { return static_cast<T>(value); }

  // The leaf in a precision that moments and steps survive in: float32 for half precision, else its own.
  static T widen(T x) { return x; }

  static T sqrt(T x) { return std::sqrt(x); }
  static T cos(T x) { return std::cos(x); }
  static T floor(T x) { return std::floor(x); }
  static T power(T base, T exponent) { return std::pow(base, exponent); }
  static T maximum(T a, T b) { return a < b ? b : a; }
  static T minimum(T a, T b) { return b < a ? b : a; }
  static T magnitude(T x) { return std::abs(x); }
  static T sign(T x) { return static_cast<T>((0 < x) - (x < 0)); }  // of a complex number, x / |x|
  static bool all_finite(T x) { return std::isfinite(x); }
  static T squared_magnitude(T x) { return x * x; }
  static T mean_of_squares(T x) { return x * x; }  // of magnitudes: a real scalar
  static sum_type sum_of_squares(T x) { return static_cast<double>(x) * static_cast<double>(x); }
  static T select(bool condition, T yes, T no) { return condition ? yes : no; }

  // A count as a number to compute with: double, or a float32 array.
  static double real(count_type count) { return static_cast<double>(count); }

  // 1 - decay^count, exact also where decay^count is close to 1.
  static T bias_correction(double decay, count_type count) {
    return static_cast<T>(-std::expm1(static_cast<double>(count) * std::log(decay)));
  }
};

// The state of a transformation that keeps nothing: a node without children.
struct empty_state {};

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

// The words in which optimizer `Name` says that trees have different structures.
template <std::size_t N, std::size_t M>
constexpr auto joined(const espalier::detail::fixed_string<N>& a, const char (&b)[M]) {
  espalier::detail::fixed_string<N + M - 1> both;
  for (std::size_t i = 0; i < N - 1; ++i) both.text[i] = a.text[i];
  for (std::size_t i = 0; i < M; ++i) both.text[N - 1 + i] = b[i];
  return both;
}
template <espalier::detail::fixed_string Name>
inline constexpr auto other_gradients =
    joined(Name, ".update: the gradients do not have the structure of the parameters");
template <espalier::detail::fixed_string Name>
inline constexpr auto other_moments = joined(
    Name,
    ".update: the state's moments do not have the structure of the parameters, which has changed since init (call "
    "init again)");

// Throws a structure_error that begins with `what` unless `tree` has the structure of the parameters. Aux data may
// differ: like the leaves that are not parameters it takes no part in the arithmetic, and moments keep what init found.
template <class Params, class Tree> void require_structure(const Params& params, const Tree& tree, const char* what) {
  if constexpr (espalier::detail::require_trees<Params>() && espalier::detail::require_rest<Params, Tree>())
    espalier::detail::require_same(params, espalier::detail::structure_tree(tree), what);
}

// The checks of an optimizer whose state has trees like the parameters.
template <espalier::detail::fixed_string Name, class Params, class Grads, class... Moments>
void check_update(const Params& params, const Grads& grads, const Moments&... moments) {
  require_structure(params, grads, other_gradients<Name>.text);
  (require_structure(params, moments, other_moments<Name>.text), ...);
}

// The check of a transformation that may have none.
template <class Transformation, class Grads, class State, class Params>
void check_if_any(const Transformation& transformation, const Grads& grads, const State& state, const Params& params) {
  if constexpr (requires { transformation.check(grads, state, params); }) transformation.check(grads, state, params);
}

// A gradient where the parameter stood: a number in its type, an array as it is.
template <class Leaf, class Gradient> Leaf in_place_of(const Leaf& p, const Gradient& g) {
  if constexpr (std::is_same_v<Leaf, Gradient>) {
    return g;
  } else {
    return math_of<Leaf>::as(g, p);
  }
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

// A zero in the precision of moments, and a real one.
template <class Leaf> Leaf zero_moment(const Leaf& p) {
  using math = math_of<Leaf>;
  return math::zeros_like(math::widen(p));
}
template <class Leaf> Leaf zero_magnitude(const Leaf& p) {
  using math = math_of<Leaf>;
  return math::zeros_like(math::squared_magnitude(math::widen(p)));
}

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

// Zeros for what is averaged over steps, in the precision of moments: of gradients, and of their squared magnitudes,
// which are real. Leaves that are not parameters, and aux data, are copied.
template <class Params> Params zero_moments(const Params& params) {
  return map_parameters([](const auto& p) { return zero_moment(p); }, params);
}
template <class Params> Params zero_magnitudes(const Params& params) {
  return map_parameters([](const auto& p) { return zero_magnitude(p); }, params);
}

// |g|², where it is added to `like`.
template <class Gradient, class Leaf> Leaf squared(const Gradient& g, const Leaf& like) {
  using math = math_of<Gradient>;
  return math_of<Leaf>::as(math::squared_magnitude(math::widen(g)), like);
}

// The running mean: decay moment + (1 - decay) value, in the precision of the moment.
template <class Leaf, class Value> Leaf decayed(double decay, const Leaf& moment, const Value& value) {
  using math = math_of<Leaf>;
  return math::as(decay, moment) * moment + math::as(1 - decay, moment) * math::as(value, moment);
}

}  // namespace detail

// The type in which a state over Params counts steps: a scalar integer array of the engine in a tree that has
// arrays, so that a compiled step takes it as an input; else std::int64_t.
template <class Params> using step_count_t = typename detail::shared_math<Params>::count_type;

namespace detail {

// Whether a learning rate is a schedule.
template <class Rate, class Count> consteval bool is_schedule() {
  constexpr bool calls = std::is_invocable_v<const Rate&, const Count&>;
  static_assert(calls || std::is_arithmetic_v<Rate> || engine_array<Rate>,
                "espalier: optim: a learning rate is a number, a scalar array, or a schedule: a function of the steps "
                "taken before, which are an integer and in trees of arrays a scalar array, so that it takes `auto`");
  return calls;
}

}  // namespace detail

// What an optimizer counts steps with that needs no count but for its learning rate: step_count_t if that is a schedule,
// a function of the count, else nothing.
template <class Rate, class Params>
using rate_count_t =
    std::conditional_t<detail::is_schedule<Rate, step_count_t<Params>>(), step_count_t<Params>, empty_state>;

namespace detail {

template <class Rate, class Params> rate_count_t<Rate, Params> zero_rate_count() {
  if constexpr (std::is_same_v<rate_count_t<Rate, Params>, empty_state>) {
    return {};
  } else {
    return shared_math<Params>::zero_count();
  }
}

// The learning rate of the step after `count` others: what a schedule says, or the number or array that it is.
template <class Rate, class Count> auto rate_at(const Rate& rate, const Count& count) {
  if constexpr (is_schedule<Rate, Count>()) {
    return rate(count);
  } else {
    return rate;
  }
}

template <class Count> void advance(Count& count) {
  if constexpr (!std::is_same_v<Count, empty_state>) count = count + 1;
}

}  // namespace detail

}  // namespace espalier::optim
