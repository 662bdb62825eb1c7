// Misuse of espalier::compile, and aux data that MLX's arrays cannot be.
#include <espalier/espalier.hpp>
#include <espalier/mlx/mlx.hpp>
#include <functional>

namespace mx = mlx::core;

struct array_as_aux {
  mx::array x;
  espalier::aux<mx::array> y;
};
struct callback_leaf {
  mx::array x;
  std::function<void()> f;
};
template <> inline constexpr bool espalier::is_leaf_type<std::function<void()>> = true;

struct overloaded {
  void operator()(mx::array& x) const { x = x + x; }
  void operator()(const mx::array&) const {}
};

mx::array twice(const mx::array& x) { return x + x; }

int main() {
  const mx::array weight(2.0f);
  espalier::compile([](const mx::array& x) { return x + x; })(weight);
#ifdef CASE_captures
  espalier::compile([weight](const mx::array& x) { return x * weight; })(weight);
#endif
#ifdef CASE_captures_by_reference
  espalier::compile([&](const mx::array& x) { return x * weight; })(weight);
#endif
#ifdef CASE_std_function
  espalier::compile(std::function<mx::array(const mx::array&)>(&twice))(weight);
#endif
#ifdef CASE_function_pointer
  espalier::compile (&twice)(weight);
#endif
#ifdef CASE_no_arrays
  espalier::compile([](int i) { return i; })(1);
#endif
#ifdef CASE_array_as_aux
  espalier::tree_structure(array_as_aux{weight, weight});
#endif
#ifdef CASE_constant_not_encodable
  espalier::compile([](const callback_leaf& c) { return c.x; })(callback_leaf{weight, {}});
#endif
#ifdef CASE_overloaded_on_constness
  mx::array state(1.0f);
  espalier::compile(overloaded{})(state);
#endif
#ifdef CASE_argument_no_tree
  espalier::compile([](const mx::array& x, int* counter) { return ++*counter, x; })(weight, nullptr);
#endif
}
