// States that Boost.odeint cannot step.
#include <boost/numeric/odeint/stepper/euler.hpp>
#include <espalier/odeint.hpp>
#include <vector>

struct counted {
  double x;
  int collisions;
};
struct swarm {
  std::vector<counted> all;
};
struct moving {
  double x;
};

template <class State> void step(State state) {
  boost::numeric::odeint::euler<State> stepper;
  stepper.do_step([](const State&, State&, double) {}, state, 0.0, 0.1);
}

void use() {
  step(moving{});
#ifdef CASE_integer_leaf
  step(swarm{});
#endif
}
