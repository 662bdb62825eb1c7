// Folds by name over leaves that they make no sense of.
#include <complex>
#include <espalier/reduce.hpp>

using namespace espalier;

struct named {
  double x;
  std::string name;
};
struct waves {
  std::complex<double> a, b;
};

void use() {
  (void)tree_sum(waves{});
#ifdef CASE_sum_of_text
  (void)tree_sum(named{});
#endif
#ifdef CASE_all_of_text
  (void)tree_all(named{});
#endif
#ifdef CASE_any_of_text
  (void)tree_any(named{});
#endif
#ifdef CASE_max_of_several_types
  (void)tree_max(named{});
#endif
#ifdef CASE_min_of_what_has_no_order
  (void)tree_min(waves{});
#endif
#ifdef CASE_associative_of_several_types
  (void)tree_reduce_associative([](double a, double b) { return a + b; }, named{});
#endif
#ifdef CASE_associative_with_another_function
  (void)tree_reduce_associative([](double a, const std::string&) { return a; }, std::vector<double>());
#endif
#ifdef CASE_reduce_that_cuts_off
  (void)tree_reduce([](double a, double b) { return a + b; }, std::array{0.5, 0.5}, 0);
#endif
#ifdef CASE_reduce_of_several_types
  (void)tree_reduce([](double a, double b) { return a + b; }, named{});
#endif
}
