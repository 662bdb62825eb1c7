#include <espalier/espalier.hpp>
#include <espalier/mlx/mlx.hpp>
#include <string>
#include <utility>

namespace mx = mlx::core;

auto control(const mx::array& x) { return espalier::all_gather(espalier::broadcast(espalier::average_gradients(x))); }

#ifdef CASE_no_arrays
auto bad() { return espalier::average_gradients(std::pair(1.0, 2.0)); }
#endif
#ifdef CASE_text_to_broadcast
auto bad(const mx::array& x) { return espalier::broadcast(std::pair(x, std::string())); }
#endif
#ifdef CASE_text_to_gather
void bad(const mx::array& x) { espalier::all_gather(std::pair(x, std::string())); }
#endif
