// Boost.odeint with trees as states: the same numbers as with flat arrays, and the orders that the methods promise.

#include <algorithm>
#include <boost/numeric/odeint.hpp>
#include <cmath>
#include <complex>
#include <cstddef>
#include <espalier/aux.hpp>
#include <espalier/errors.hpp>
#include <espalier/flatten.hpp>
#include <espalier/odeint.hpp>
#include <espalier/ravel.hpp>
#include <functional>
#include <map>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "messages.hpp"

namespace {

using namespace espalier;
namespace ode = boost::numeric::odeint;

struct vec2 {
  double x, y;
};
struct body {
  vec2 position, velocity;
};
struct pair_of_bodies {
  std::array<body, 2> bodies;
};

// Two oscillators and what couples them, as a tree and flat: y'' = -k y + c (other - y).
constexpr std::array<double, 2> stiffness{1.0, 3.0};
constexpr double coupling = 0.5;

struct coupled {
  template <class Bodies> static void rates_of(const Bodies& from, Bodies& to) {
    for (std::size_t i = 0; i < 2; ++i) {
      const vec2& p = from[i].position;
      const vec2& q = from[1 - i].position;
      to[i].position = from[i].velocity;
      to[i].velocity = {-stiffness[i] * p.x + coupling * (q.x - p.x), -stiffness[i] * p.y + coupling * (q.y - p.y)};
    }
  }
  void operator()(const pair_of_bodies& s, pair_of_bodies& rates, double) const { rates_of(s.bodies, rates.bodies); }
  void operator()(const std::array<body, 2>& s, std::array<body, 2>& rates, double) const { rates_of(s, rates); }
  void operator()(const std::vector<body>& s, std::vector<body>& rates, double) const { rates_of(s, rates); }
  // Flat: position and velocity of the first, then of the second.
  void operator()(const std::array<double, 8>& s, std::array<double, 8>& rates, double) const {
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t j = 0; j < 2; ++j) {
        const double p = s[4 * i + j];
        const double q = s[4 * (1 - i) + j];
        rates[4 * i + j] = s[4 * i + 2 + j];
        rates[4 * i + 2 + j] = -stiffness[i] * p + coupling * (q - p);
      }
    }
  }
};

constexpr pair_of_bodies start{{{{{1.0, 0.2}, {0.0, 0.9}}, {{-0.4, 1.5}, {0.3, -0.1}}}}};

// Up to rounding: on some machines the compiler fuses a product and a sum in one of the two.
template <class Found> void expect_same(const Found& found, const std::array<double, 8>& expected) {
  ASSERT_EQ(found.size(), 8);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(found[i], expected[i], 1e-12) << "number " << i;
}

// What the stepper makes of a state in n steps.
template <class Stepper, class State> State after(Stepper stepper, State state, int n) {
  double t = 0.0;
  for (int i = 0; i < n; ++i) {
    stepper.do_step(coupled{}, state, t, 0.05);
    t += 0.05;
  }
  return state;
}

template <template <class...> class Stepper> void same_as_flat() {
  const std::array<double, 8> flat = after(Stepper<std::array<double, 8>>(), tree_ravel(start).flat, 40);
  const std::vector<body> vector(start.bodies.begin(), start.bodies.end());
  expect_same(tree_leaves(after(Stepper<pair_of_bodies>(), start, 40)), flat);
  expect_same(tree_leaves(after(Stepper<std::array<body, 2>>(), start.bodies, 40)), flat);
  expect_same(tree_leaves(after(Stepper<std::vector<body>>(), vector, 40)), flat);
}

template <class... A> using euler = ode::euler<A...>;
template <class... A> using midpoint = ode::modified_midpoint<A...>;
template <class... A> using rk4 = ode::runge_kutta4<A...>;
template <class... A> using rk4_classic = ode::runge_kutta4_classic<A...>;
template <class... A> using cash_karp = ode::runge_kutta_cash_karp54<A...>;
template <class... A> using dopri5 = ode::runge_kutta_dopri5<A...>;
template <class... A> using fehlberg78 = ode::runge_kutta_fehlberg78<A...>;

TEST(odeint, steps_are_those_of_a_flat_array) {
  same_as_flat<euler>();
  same_as_flat<midpoint>();
  same_as_flat<rk4>();
  same_as_flat<rk4_classic>();
  same_as_flat<cash_karp>();
  same_as_flat<dopri5>();
  same_as_flat<fehlberg78>();
}

// Step sizes and results come from norm_inf of the scaled errors: one leaf left out would change both.
template <class Stepper, class State> std::pair<std::size_t, State> adaptively(Stepper stepper, State state) {
  const std::size_t steps = ode::integrate_adaptive(stepper, coupled{}, state, 0.0, 20.0, 0.1);
  return {steps, state};
}

TEST(odeint, step_size_control_takes_the_steps_of_a_flat_array) {
  const auto compare = [](auto tree_stepper, auto flat_stepper) {
    const auto [tree_steps, tree] = adaptively(tree_stepper, start);
    const auto [flat_steps, flat] = adaptively(flat_stepper, tree_ravel(start).flat);
    EXPECT_EQ(tree_steps, flat_steps);
    expect_same(tree_leaves(tree), flat);
  };
  using flat = std::array<double, 8>;
  compare(ode::make_controlled(1e-9, 1e-9, dopri5<pair_of_bodies>()), ode::make_controlled(1e-9, 1e-9, dopri5<flat>()));
  compare(ode::make_controlled(1e-9, 1e-9, fehlberg78<pair_of_bodies>()),
          ode::make_controlled(1e-9, 1e-9, fehlberg78<flat>()));
  compare(ode::make_dense_output(1e-9, 1e-9, dopri5<pair_of_bodies>()),
          ode::make_dense_output(1e-9, 1e-9, dopri5<flat>()));
  compare(ode::bulirsch_stoer<pair_of_bodies>(1e-9, 1e-9), ode::bulirsch_stoer<flat>(1e-9, 1e-9));
}

TEST(odeint, multistep_methods_take_trees) {
  using tree = ode::adams_bashforth_moulton<5, pair_of_bodies>;
  using flat = ode::adams_bashforth_moulton<5, std::array<double, 8>>;
  expect_same(tree_leaves(after(tree(), start, 40)), after(flat(), tree_ravel(start).flat, 40));
}

// --- The two-body problem of a closed form: a Kepler orbit, GM = 1, from perihelion. ---------------------------------

constexpr double eccentricity = 0.3;
constexpr double period = 2 * std::numbers::pi;  // of semi-major axis 1

struct kepler {
  static vec2 acceleration(const vec2& p) {
    const double cube = std::pow(p.x * p.x + p.y * p.y, 1.5);
    return {-p.x / cube, -p.y / cube};
  }
  void operator()(const body& b, body& rates, double) const {
    rates.position = b.velocity;
    rates.velocity = acceleration(b.position);
  }
  void operator()(const vec2& position, vec2& rate_of_velocity) const { rate_of_velocity = acceleration(position); }
};

body perihelion() { return {{1 - eccentricity, 0.0}, {0.0, std::sqrt((1 + eccentricity) / (1 - eccentricity))}}; }

// By Newton's method on Kepler's equation, E - e sin E = t.
vec2 place_on_orbit(double t) {
  double anomaly = t;
  for (int i = 0; i < 50; ++i)
    anomaly -= (anomaly - eccentricity * std::sin(anomaly) - t) / (1 - eccentricity * std::cos(anomaly));
  return {std::cos(anomaly) - eccentricity, std::sqrt(1 - eccentricity * eccentricity) * std::sin(anomaly)};
}

double energy(const body& b) {
  return 0.5 * (b.velocity.x * b.velocity.x + b.velocity.y * b.velocity.y) - 1 / std::hypot(b.position.x, b.position.y);
}

double distance(const vec2& a, const vec2& b) { return std::hypot(a.x - b.x, a.y - b.y); }

// How far from its place the body is after n steps of `step` over a period and a quarter.
template <class Step> double error_after(int n, Step step) {
  const double dt = 1.25 * period / n;
  body b = perihelion();
  for (int i = 0; i < n; ++i) step(b, i * dt, dt);
  return distance(b.position, place_on_orbit(1.25 * period));
}

template <class Stepper> double order_of() {
  const auto error = [](int n) {
    return error_after(
        n, [stepper = Stepper()](body& b, double t, double dt) mutable { stepper.do_step(kepler{}, b, t, dt); });
  };
  return std::log2(error(400) / error(800));
}

TEST(odeint, a_kepler_orbit_is_met_with_each_methods_order) {
  EXPECT_NEAR(order_of<ode::euler<body>>(), 1, 0.5);
  EXPECT_NEAR(order_of<ode::runge_kutta4<body>>(), 4, 0.3);
  EXPECT_NEAR(order_of<ode::runge_kutta_dopri5<body>>(), 5, 0.3);
}

template <class Stepper> double symplectic_order_of() {
  const auto error = [](int n) {
    return error_after(n, [stepper = Stepper()](body& b, double t, double dt) mutable {
      stepper.do_step(kepler{}, std::make_pair(std::ref(b.position), std::ref(b.velocity)), t, dt);
    });
  };
  return std::log2(error(400) / error(800));
}

// (McLachlan's SB3A method of Nyström type, which odeint has, is of order 4.)
TEST(odeint, symplectic_steppers_take_a_tree_of_coordinates_and_one_of_velocities) {
  EXPECT_NEAR(symplectic_order_of<ode::symplectic_euler<vec2>>(), 1, 0.2);
  EXPECT_NEAR(symplectic_order_of<ode::symplectic_rkn_sb3a_mclachlan<vec2>>(), 4, 0.3);
}

// The largest relative error of the energy over ten periods of n steps each.
template <class Step> double energy_error(int n, Step step) {
  const double dt = period / n;
  body b = perihelion();
  const double before = energy(b);
  double largest = 0.0;
  for (int i = 0; i < 10 * n; ++i) {
    step(b, i * dt, dt);
    largest = std::max(largest, std::abs(energy(b) / before - 1));
  }
  return largest;
}

TEST(odeint, energy_is_conserved_to_the_methods_order) {
  const auto runge_kutta = [](int n) {
    return energy_error(n, [stepper = ode::runge_kutta4<body>()](body& b, double t, double dt) mutable {
      stepper.do_step(kepler{}, b, t, dt);
    });
  };
  EXPECT_LT(runge_kutta(200), 1e-5);
  EXPECT_GE(std::log2(runge_kutta(200) / runge_kutta(400)), 3.9);

  const auto symplectic = [](int n) {
    return energy_error(n,
                        [stepper = ode::symplectic_rkn_sb3a_mclachlan<vec2>()](body& b, double t, double dt) mutable {
                          stepper.do_step(kepler{}, std::make_pair(std::ref(b.position), std::ref(b.velocity)), t, dt);
                        });
  };
  EXPECT_LT(symplectic(200), 1e-6);
  EXPECT_NEAR(std::log2(symplectic(200) / symplectic(400)), 4, 0.3);
}

// --- What a state may be. --------------------------------------------------------------------------------------------

template <class State> using algebra_of = typename ode::runge_kutta4<State>::algebra_type;

TEST(odeint, trees_get_the_algebra_of_trees_and_others_keep_theirs) {
  static_assert(std::is_same_v<algebra_of<body>, tree_algebra>);
  static_assert(std::is_same_v<algebra_of<std::array<body, 3>>, tree_algebra>);
  static_assert(std::is_same_v<algebra_of<std::vector<body>>, tree_algebra>);
  static_assert(std::is_same_v<algebra_of<std::map<std::string, vec2>>, tree_algebra>);
  static_assert(std::is_same_v<algebra_of<double>, ode::vector_space_algebra>);
  static_assert(std::is_same_v<algebra_of<std::array<double, 3>>, ode::array_algebra>);
  static_assert(std::is_same_v<algebra_of<std::vector<double>>, ode::range_algebra>);
  static_assert(std::is_same_v<algebra_of<std::vector<std::complex<float>>>, ode::range_algebra>);
  static_assert(!ode::is_resizeable<body>::value);
  static_assert(ode::is_resizeable<std::map<std::string, vec2>>::value);
}

struct swarm {
  std::map<std::string, std::vector<vec2>> groups;
  aux<int> generation;
  double clock;
};

// y' = -y, and a clock. The stepper's own states take over keys, sizes and aux data.
TEST(odeint, a_state_may_hold_containers_and_aux_data) {
  swarm s{{{"a", {{1, 2}, {3, 4}}}, {"b", {}}, {"c", {{5, 6}}}}, 7, 0.0};
  const auto decay = [](const swarm& from, swarm& rates, double) {
    tree_visit([](double x, double& rate) { rate = -x; }, from, rates);
    rates.clock = 1.0;
  };
  ode::integrate_const(ode::runge_kutta4<swarm>(), decay, s, 0.0, 1.0, 0.01);
  const double left = std::exp(-1.0);
  EXPECT_NEAR(s.groups.at("a")[1].y, 4 * left, 1e-9);
  EXPECT_NEAR(s.groups.at("c")[0].x, 5 * left, 1e-9);
  EXPECT_NEAR(s.clock, 1.0, 1e-12);
  EXPECT_EQ(s.generation, 7);
}

struct wave {
  std::complex<double> amplitude;
  float decaying;
};

TEST(odeint, leaves_may_be_complex_or_of_several_floating_point_types) {
  wave w{{1.0, 0.0}, 1.0f};
  const auto turn = [](const wave& from, wave& rates, double) {
    rates.amplitude = std::complex<double>(0, 1) * from.amplitude;
    rates.decaying = -from.decaying;
  };
  ode::integrate_const(ode::runge_kutta4<wave>(), turn, w, 0.0, 1.0, 0.01);
  EXPECT_NEAR(std::abs(w.amplitude - std::polar(1.0, 1.0)), 0.0, 1e-9);
  EXPECT_NEAR(w.decaying, std::exp(-1.0), 1e-5);
}

TEST(odeint, norm_inf_is_the_largest_magnitude) {
  EXPECT_EQ(tree_algebra::norm_inf(body{{1.0, -7.0}, {2.0, 3.0}}), 7.0);
  EXPECT_EQ(tree_algebra::norm_inf(wave{{3.0, 4.0}, 1.0f}), 5.0);
  EXPECT_EQ(tree_algebra::norm_inf(std::vector<body>{}), 0.0);
}

// odeint itself would read past the end.
TEST(odeint, a_stepper_that_meets_another_structure_says_where) {
  ode::runge_kutta4<std::vector<body>> stepper;
  std::vector<body> two(2);
  std::vector<body> three(3);
  const auto still = [](const std::vector<body>& from, std::vector<body>& rates, double) {
    rates.assign(from.size(), body{});
  };
  stepper.do_step(still, two, 0.0, 0.1);
  const std::vector<mismatch> found = mismatches_of([&] { stepper.do_step(still, three, 0.0, 0.1); });
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].expected, "2 elements");
  EXPECT_EQ(found[0].found, "3 elements");
}

}  // namespace
