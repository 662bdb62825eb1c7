// What the planets weigh, from where they were seen: masses and velocities fitted to observations.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "ephemeris.hpp"
#include "solar_system.hpp"

namespace n_body {

// What is fitted.
struct unknowns {
  double jupiter_gm, saturn_gm;
  vec3 jupiter_velocity, saturn_velocity;
};

// What is known: the rest of the masses, and where all planets start (of Uranus and Neptune also how fast).
struct known {
  masses gm;
  solar_system start;
};

// The known system with these unknowns in their places, the Sun included.
known with(const unknowns& u, const known& k);

// The planets at the days of the observations: what Newton's law says. Runge-Kutta-Fehlberg 7(8), relative error of a
// step 1e-11.
std::vector<observation> predict(const known& k, std::span<const observation> at);

// The root mean square of the residuals' coordinates, in au.
double rms_residual(std::span<const observation> predicted, std::span<const observation> seen);

struct fit_options {
  unknowns guess;
  unknowns reach;  // the fit lies within guess - reach and guess + reach
  std::size_t evaluations = 10000;
  unsigned seed = 1;
};

// The unknowns whose prediction is nearest to the observations, by least squares: Boost.Math's jSO, a differential
// evolution, which needs no derivatives and starts from the whole box. Calls progress(evaluations, least rms_residual so
// far) after each of its evaluations, every one of which integrates the system once.
unknowns fit(const known& k, std::span<const observation> seen, const fit_options& options,
             const std::function<void(std::size_t, double)>& progress = {});

}  // namespace n_body
