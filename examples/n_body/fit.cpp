#include "fit.hpp"

#include <algorithm>
#include <array>
#include <boost/math/optimization/jso.hpp>
#include <boost/numeric/odeint.hpp>
#include <cmath>
#include <espalier/map.hpp>
#include <espalier/odeint.hpp>
#include <espalier/ravel.hpp>
#include <limits>
#include <random>
#include <vector>

namespace n_body {

known with(const unknowns& u, const known& k) {
  known all = k;
  all.gm[jupiter] = u.jupiter_gm;
  all.gm[saturn] = u.saturn_gm;
  all.start.bodies[jupiter].velocity = u.jupiter_velocity;
  all.start.bodies[saturn].velocity = u.saturn_velocity;
  place_sun(all.gm, all.start);
  return all;
}

std::vector<observation> predict(const known& k, std::span<const observation> at) {
  namespace ode = boost::numeric::odeint;
  std::vector<double> days;
  for (const observation& o : at) days.push_back(o.day);
  std::vector<observation> predicted;
  solar_system system = k.start;
  ode::integrate_times(ode::make_controlled(1e-11, 1e-11, ode::runge_kutta_fehlberg78<solar_system>()), gravity{k.gm},
                       system, days, 100.0, [&predicted](const solar_system& s, double day) {
                         predicted.push_back({day, s.bodies[jupiter].position, s.bodies[saturn].position});
                       });
  return predicted;
}

double rms_residual(std::span<const observation> predicted, std::span<const observation> seen) {
  double sum = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const vec3 j = predicted[i].jupiter - seen[i].jupiter;
    const vec3 s = predicted[i].saturn - seen[i].saturn;
    sum += dot(j, j) + dot(s, s);
  }
  return std::sqrt(sum / (6 * static_cast<double>(seen.size())));
}

unknowns fit(const known& k, std::span<const observation> seen, const fit_options& options,
             const std::function<void(std::size_t, double)>& progress) {
  // The solver sees eight numbers; all else is written in names.
  const auto raveled = espalier::tree_ravel(options.guess);
  using numbers = decltype(raveled.flat);  // std::array<double, 8>
  boost::math::optimization::jso_parameters<numbers> parameters;
  parameters.lower_bounds = espalier::tree_ravel(espalier::tree_map(std::minus<>(), options.guess, options.reach)).flat;
  parameters.upper_bounds = espalier::tree_ravel(espalier::tree_map(std::plus<>(), options.guess, options.reach)).flat;
  parameters.initial_population_size = 60;
  parameters.max_function_evaluations = options.evaluations;
  parameters.threads = 1;  // the same numbers in every run

  std::size_t evaluations = 0;
  double best = std::numeric_limits<double>::infinity();
  std::mt19937_64 random(options.seed);
  const auto found = boost::math::optimization::jso(
      [&](const numbers& x) {
        const double residual = rms_residual(predict(with(raveled.unravel(x), k), seen), seen);
        best = std::min(best, residual);
        if (progress) progress(++evaluations, best);
        return residual;
      },
      parameters, random);
  return raveled.unravel(found);
}

}  // namespace n_body
