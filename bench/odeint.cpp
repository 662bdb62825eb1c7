// What a step of Boost.odeint costs on plain structs, with Espalier's algebra of trees, against the same numbers in a
// state vector written by hand: of the outer Solar System (five bodies in structs against std::array<double, 30>), of
// five bodies on which no force acts (the algebra alone), and of 64 bodies on springs in a vector (against
// std::vector<double>).
//
//   bench_odeint                 times: a table, then `odeint/METHOD/SYSTEM/time ratio R`
//   bench_odeint --calls 1000    takes each step that often and no more, for callgrind
//                                (odeint_instructions.py reads its counts)
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <boost/numeric/odeint.hpp>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <espalier/odeint.hpp>
#include <espalier/ravel.hpp>
#include <string>
#include <vector>

#include "interleaved.hpp"

namespace ode = boost::numeric::odeint;

namespace {

struct vec3 {
  double x, y, z;
};
struct body {
  vec3 position, velocity;
};
struct five_bodies {
  std::array<body, 5> bodies;
};
using thirty_numbers = std::array<double, 30>;

// The system functions: of the bodies, and of their numbers in the same order.
struct planets {
  using tree = five_bodies;
  using flat = thirty_numbers;
  static constexpr const char* name = "planets";
  static constexpr std::array<double, 5> gm{2.959e-4, 2.825e-7, 8.459e-8, 1.292e-8, 1.524e-8};  // au³/day²

  // The giants at their mean distances, in au, on circles a sixth of a turn apart, and the Sun at rest.
  static tree start() {
    tree t{};
    for (std::size_t i = 1; i < 5; ++i) {
      const double radius = std::array{5.2, 9.6, 19.2, 30.1}[i - 1];
      const double angle = static_cast<double>(i);
      const double speed = std::sqrt(gm[0] / radius);
      t.bodies[i] = {{radius * std::cos(angle), radius * std::sin(angle), 0.0},
                     {-speed * std::sin(angle), speed * std::cos(angle), 0.0}};
    }
    return t;
  }
  void operator()(const tree& s, tree& rates, double) const {
    for (std::size_t i = 0; i < 5; ++i) rates.bodies[i] = {s.bodies[i].velocity, {0, 0, 0}};
    for (std::size_t i = 1; i < 5; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const vec3& p = s.bodies[i].position;
        const vec3& q = s.bodies[j].position;
        const double x = p.x - q.x;
        const double y = p.y - q.y;
        const double z = p.z - q.z;
        const double squared = x * x + y * y + z * z;
        const double inverse_cube = 1 / (squared * std::sqrt(squared));
        vec3& a = rates.bodies[i].velocity;
        vec3& b = rates.bodies[j].velocity;
        a.x -= gm[j] * inverse_cube * x;
        a.y -= gm[j] * inverse_cube * y;
        a.z -= gm[j] * inverse_cube * z;
        b.x += gm[i] * inverse_cube * x;
        b.y += gm[i] * inverse_cube * y;
        b.z += gm[i] * inverse_cube * z;
      }
    }
  }
  void operator()(const flat& s, flat& rates, double) const {
    for (std::size_t i = 0; i < 5; ++i) {
      for (std::size_t k = 0; k < 3; ++k) {
        rates[6 * i + k] = s[6 * i + 3 + k];
        rates[6 * i + 3 + k] = 0;
      }
    }
    for (std::size_t i = 1; i < 5; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const double x = s[6 * i] - s[6 * j];
        const double y = s[6 * i + 1] - s[6 * j + 1];
        const double z = s[6 * i + 2] - s[6 * j + 2];
        const double squared = x * x + y * y + z * z;
        const double inverse_cube = 1 / (squared * std::sqrt(squared));
        rates[6 * i + 3] -= gm[j] * inverse_cube * x;
        rates[6 * i + 4] -= gm[j] * inverse_cube * y;
        rates[6 * i + 5] -= gm[j] * inverse_cube * z;
        rates[6 * j + 3] += gm[i] * inverse_cube * x;
        rates[6 * j + 4] += gm[i] * inverse_cube * y;
        rates[6 * j + 5] += gm[i] * inverse_cube * z;
      }
    }
  }
};

// Rates that somebody has computed: the step is the algebra alone.
struct alone {
  using tree = five_bodies;
  using flat = thirty_numbers;
  static constexpr const char* name = "alone";

  static tree start() { return planets::start(); }
  void operator()(const tree&, tree& rates, double) const { benchmark::DoNotOptimize(rates); }
  void operator()(const flat&, flat& rates, double) const { benchmark::DoNotOptimize(rates); }
};

struct springs {
  using tree = std::vector<body>;
  using flat = std::vector<double>;
  static constexpr const char* name = "springs";

  static tree start() {
    tree t;
    for (int i = 1; i <= 64; ++i) t.push_back({{0.1 * i, 1.0, -0.2 * i}, {0.0, 0.3, 0.01 * i}});
    return t;
  }
  void operator()(const tree& s, tree& rates, double) const {
    for (std::size_t i = 0; i < s.size(); ++i) {
      const vec3& p = s[i].position;
      rates[i] = {s[i].velocity, {-p.x, -p.y, -p.z}};
    }
  }
  void operator()(const flat& s, flat& rates, double) const {
    for (std::size_t i = 0; i < s.size(); i += 6) {
      for (std::size_t k = i; k < i + 3; ++k) {
        rates[k] = s[k + 3];
        rates[k + 3] = -s[k];
      }
    }
  }
};

// The methods: a stepper, and a step.
struct fixed_step {
  template <class Stepper, class System, class State> static void step(Stepper& stepper, System system, State& state) {
    stepper.do_step(system, state, 0.0, 0.01);
  }
};
struct rk4 : fixed_step {
  static constexpr const char* name = "rk4";
  template <class State> using stepper = ode::runge_kutta4<State>;
};
struct rk4_classic : fixed_step {
  static constexpr const char* name = "rk4_classic";
  template <class State> using stepper = ode::runge_kutta4_classic<State>;
};
struct fehlberg78 : fixed_step {
  static constexpr const char* name = "fehlberg78";
  template <class State> using stepper = ode::runge_kutta_fehlberg78<State>;
};
struct dopri5_controlled {
  static constexpr const char* name = "dopri5_controlled";
  template <class State> using stepper = typename ode::result_of::make_controlled<ode::runge_kutta_dopri5<State>>::type;
  // The error is small: the step is never rejected.
  template <class Stepper, class System, class State> static void step(Stepper& stepper, System system, State& state) {
    double t = 0.0;
    double dt = 0.01;
    stepper.try_step(system, state, t, dt);
  }
};

// One function for each side of each case, never inlined, nor parted with its callers: their names are what callgrind
// prints.
#ifdef __clang__
#define APART [[gnu::noinline]]
#else
#define APART [[gnu::noipa]]
#endif
template <class Method, class State> using stepper_of = typename Method::template stepper<State>;
template <class Method, class System>
APART void hand(stepper_of<Method, typename System::flat>& stepper, typename System::flat& state) {
  Method::step(stepper, System(), state);
}
template <class Method, class System>
APART void tree(stepper_of<Method, typename System::tree>& stepper, typename System::tree& state) {
  Method::step(stepper, System(), state);
}

// The numbers of a tree, as the hand-written state holds them.
thirty_numbers numbers_of(const five_bodies& t) { return espalier::tree_ravel(t).flat; }
std::vector<double> numbers_of(const std::vector<body>& t) { return espalier::tree_ravel(t).flat; }

template <class Method, class System> struct sides {
  using tree_state = typename System::tree;
  using flat_state = typename System::flat;
  static inline tree_state tree_at = System::start();
  static inline flat_state flat_at = numbers_of(System::start());
  static inline stepper_of<Method, tree_state> tree_stepper;
  static inline stepper_of<Method, flat_state> flat_stepper;

  static void by_hand() { hand<Method, System>(flat_stepper, flat_at); }
  static void by_tree() { tree<Method, System>(tree_stepper, tree_at); }

  // A ratio of two different programs is no ratio.
  static bool agree() {
    for (int i = 0; i < 10; ++i) {
      by_hand();
      by_tree();
    }
    const flat_state found = numbers_of(tree_at);
    return std::equal(found.begin(), found.end(), flat_at.begin(),
                      [](double a, double b) { return std::abs(a - b) <= 1e-12 * std::max(1.0, std::abs(b)); });
  }
};

// Calls call(name, sides) for every case.
template <class Call> void for_each_case(Call call) {
  const auto method = [&]<class Method>(Method) {
    const auto system = [&]<class System>(System) {
      call(std::string(Method::name) + "/" + System::name, sides<Method, System>());
    };
    system(planets());
    system(alone());
    system(springs());
  };
  method(rk4());
  method(rk4_classic());
  method(fehlberg78());
  method(dopri5_controlled());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--calls") == 0) {
    const int n = std::atoi(argv[2]);
    for_each_case([n](const std::string&, auto two) {
      for (int i = 0; i < n; ++i) two.by_hand();
      for (int i = 0; i < n; ++i) two.by_tree();
    });
    return 0;
  }
  bool same = true;
  for_each_case([&same](const std::string& name, auto two) {
    if (two.agree()) return;
    std::fprintf(stderr, "bench_odeint: %s: the two states do not agree\n", name.c_str());
    same = false;
  });
  if (!same) return 1;
  std::vector<std::string> cases;
  for_each_case([&cases](const std::string& name, auto two) {
    cases.push_back(name);
    bench::measure("hand/" + name, [two] { two.by_hand(); });
    bench::measure("tree/" + name, [two] { two.by_tree(); });
  });
  bench::print_ratios(bench::run_interleaved(argc, argv), "odeint", "step", cases);
}
