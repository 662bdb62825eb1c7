// Transformations that must not compile.
#include <espalier/mlx/accumulate.hpp>
#include <espalier/mlx/checkpoint.hpp>
#include <espalier/mlx/custom_vjp.hpp>
#include <espalier/mlx/init.hpp>
#include <espalier/mlx/jacobian.hpp>
#include <espalier/mlx/jvp.hpp>
#include <espalier/mlx/scan.hpp>
#include <espalier/mlx/trainable.hpp>
#include <espalier/mlx/vjp.hpp>
#include <espalier/mlx/vmap.hpp>
#include <string>
#include <tuple>
#include <utility>

namespace mx = ::mlx::core;

struct point {
  mx::array x;
  mx::array y;
};

inline const auto square = [](const mx::array& x) { return x * x; };
inline const auto forward = [](const mx::array& x) { return std::pair(x * x, x); };
inline const auto backward = [](const mx::array& x, const mx::array& g) { return x * g; };

mx::array control(const mx::array& x) {
  const auto add = [](const mx::array& c, const mx::array& y) { return std::pair(c + y, y); };
  return espalier::vjp(square, x).pullback(x) + espalier::jvp(square, x, x).tangent + espalier::vmap(square)(x) +
         espalier::checkpoint(square)(x) + espalier::custom_vjp(square, forward, backward)(x) +
         espalier::scan(add, x, x).outputs;
}

#ifdef CASE_vjp_call
auto bad(const point& p) { return espalier::vjp(square, p); }
#endif
#ifdef CASE_vjp_no_arrays
auto bad(const mx::array& x) {
  return espalier::vjp([](const mx::array&) { return 1.0; }, x);
}
#endif
#ifdef CASE_cotangent_type
auto bad(const mx::array& x, const point& p) { return espalier::vjp(square, x).pullback(p); }
#endif
#ifdef CASE_tangent_type
auto bad(const mx::array& x, const point& p) { return espalier::jvp(square, x, p); }
#endif
#ifdef CASE_hvp_tangent_type
auto bad(const mx::array& x, const point& p) { return espalier::hvp(square, x, p); }
#endif
#ifdef CASE_jacobian_of_text
auto bad(const mx::array& x) {
  return espalier::jacrev([](const mx::array& y) { return std::pair(y, std::string()); })(x);
}
#endif
#ifdef CASE_vmap_axes
auto bad(const mx::array& x) { return espalier::vmap(square, std::tuple(std::string("0")))(x); }
#endif
#ifdef CASE_vmap_axes_of_another_structure
struct axes {
  int x;
  int z;
};
auto bad(const point& p) {
  return espalier::vmap([](const point& q) { return q.x; }, std::tuple(axes{0, 0}))(p);
}
#endif
#ifdef CASE_vmap_number_of_axes
auto bad(const mx::array& x) { return espalier::vmap(square, std::tuple(0, 0))(x); }
#endif
#ifdef CASE_checkpoint_captures
auto bad(const mx::array& x) {
  return espalier::checkpoint([x](const mx::array& y) { return x * y; });
}
#endif
#ifdef CASE_custom_vjp_captures
auto bad(const mx::array& x) {
  return espalier::custom_vjp(square, forward, [x](const mx::array&, const mx::array& g) { return x * g; });
}
#endif
#ifdef CASE_custom_vjp_forward
auto bad(const mx::array& x) { return espalier::custom_vjp(square, square, backward)(x); }
#endif
#ifdef CASE_custom_vjp_backward
auto bad(const mx::array& x) {
  return espalier::custom_vjp(square, forward, [](const mx::array& y, const mx::array& g) { return point{y, g}; })(x);
}
#endif
#ifdef CASE_scan_carry
auto bad(const mx::array& x) {
  return espalier::scan([](const mx::array& c, const mx::array& y) { return std::pair(point{c, y}, y); }, x, x);
}
#endif
#ifdef CASE_scan_nothing
auto bad(const mx::array& x) {
  return espalier::scan([](const mx::array& c, int) { return std::pair(c, c); }, x, 3);
}
#endif
#ifdef CASE_accumulate_a_loss
auto bad(const mx::array& x) { return espalier::accumulate_gradients(forward, x); }
#endif
#ifdef CASE_initializer
auto bad(const mx::array& x) {
  return espalier::initialize([](int n) { return n; }, espalier::random_key(1), x);
}
#endif
#ifdef CASE_trainable_filter
auto bad(const mx::array& x) { return espalier::grad(square, espalier::trainable(std::string("head")))(x); }
#endif
#ifdef CASE_trainable_absent_type
auto bad(const mx::array& x) { return espalier::grad(square, espalier::trainable(espalier::of_type<double>))(x); }
#endif
#ifdef CASE_trainable_number
auto bad() {
  const auto all = espalier::trainable([](const auto&) { return true; });
  return espalier::grad(square, all, all);
}
#endif
