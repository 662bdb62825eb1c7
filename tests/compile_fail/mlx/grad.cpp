// Gradients that must not compile, through espalier/mlx/grad.hpp.
#include <espalier/mlx/grad.hpp>
#include <utility>

namespace mx = ::mlx::core;

struct no_arrays {
  int x;
};

inline const auto loss = [](const mx::array& x) { return x; };

mx::array control(const mx::array& x) { return espalier::value_and_grad(loss)(x).gradient; }

#ifdef CASE_index_out_of_range
auto bad(const mx::array& x) { return espalier::value_and_grad<1>(loss)(x); }
#endif
#ifdef CASE_index_twice
auto bad(const mx::array& x) { return espalier::value_and_grad<0, 0>(loss)(x); }
#endif
#ifdef CASE_no_arrays
auto bad() {
  return espalier::value_and_grad([](const no_arrays&) { return mx::array(1.0f); })(no_arrays{1});
}
#endif
#ifdef CASE_mutable_argument
auto bad(mx::array x) {
  return espalier::value_and_grad([](mx::array& y) { return y; })(x);
}
#endif
#ifdef CASE_loss_type
auto bad(const mx::array& x) {
  return espalier::value_and_grad([](const mx::array&) { return 1.0; })(x);
}
#endif
#ifdef CASE_loss_not_first
auto bad(const mx::array& x) {
  return espalier::value_and_grad([](const mx::array& y) { return std::pair(1, y); })(x);
}
#endif
