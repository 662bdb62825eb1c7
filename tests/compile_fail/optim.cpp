// Optimizers, schedules and masks that must not compile.
#include <array>
#include <espalier/optim/optim.hpp>
#include <string>

namespace optim = espalier::optim;

using point = std::array<double, 2>;
struct line {
  double slope, offset;
};

template <class Optimizer> point step(const Optimizer& opt) {
  const point p{1, 2};
  auto state = opt.init(p);
  return opt.update(p, state, p);
}

void use() {
  const optim::sgd sgd{.learning_rate = 0.1};
  step(optim::masked{sgd, [](double p) { return p > 1; }});
  step(optim::partitioned([](double p) { return p > 1; }, sgd, optim::adam{.learning_rate = 0.1}));
  step(optim::inject_hyperparams{sgd});
  const optim::constant_schedule rate{0.1};
  step(optim::chain(optim::sgd{.learning_rate = optim::join_schedules({5, 9}, rate, rate, rate)}));
#ifdef CASE_learning_rate_of_text
  step(optim::sgd{.learning_rate = "0.1"});
#endif
#ifdef CASE_schedule_of_something_else
  step(optim::adam{.learning_rate = [](const std::string&) { return 0.1; }});
#endif
#ifdef CASE_mask_of_text
  step(optim::masked{sgd, [](double) { return std::string("decay"); }});
#endif
#ifdef CASE_mask_for_other_leaves
  step(optim::masked{sgd, [](const std::string&) { return true; }});
#endif
#ifdef CASE_labels_of_numbers
  step(optim::partitioned(point{0, 1}, sgd, sgd));
#endif
#ifdef CASE_partitioned_into_nothing
  step(optim::partitioned([](double) { return 0; }));
#endif
#ifdef CASE_chain_of_nothing
  step(optim::chain());
#endif
#ifdef CASE_too_few_boundaries
  optim::join_schedules({5}, rate, rate, rate);
#endif
#ifdef CASE_no_learning_rate_to_inject
  step(optim::inject_hyperparams{optim::clip_by_global_norm{.max_norm = 1}});
#endif
#ifdef CASE_gradients_of_another_type
  point p{1, 2};
  auto state = sgd.init(p);
  sgd.update(line{1, 2}, state, p);
#endif
}
