// The outer Solar System from 1960 on, as plain structs: integrated by Boost.odeint, then fitted to where Jupiter and
// Saturn were in the thirty years to 1990. Their masses come out, and where they were in 2020.
//
//   n_body [data/planets.csv]

#include <boost/numeric/odeint.hpp>
#include <cmath>
#include <cstdio>
#include <espalier/odeint.hpp>
#include <exception>
#include <functional>
#include <utility>

#include "ephemeris.hpp"
#include "fit.hpp"
#include "solar_system.hpp"

using namespace n_body;
namespace ode = boost::numeric::odeint;

namespace {

constexpr double days_per_year = 365.25;

// The relative error of the energy after 200 years, in steps of so many days.
double energy_error(solar_system system, double step) {
  place_sun(jpl_masses, system);
  const double before = energy(jpl_masses, system);
  ode::integrate_const(ode::runge_kutta4<solar_system>(), gravity{jpl_masses}, system, 0.0, 200 * days_per_year, step);
  return std::abs(energy(jpl_masses, system) / before - 1);
}

void conserve_energy(const solar_system& start) {
  std::puts("Energy after 200 years, by Runge-Kutta's fourth order:");
  double before = 0;
  for (const double step : {160.0, 80.0, 40.0, 20.0}) {
    const double error = energy_error(start, step);
    std::printf("  steps of %3.0f days: relative error %.1e", step, error);
    if (before > 0) std::printf(", %.0f times less", before / error);
    std::puts("");
    before = error;
  }
}

double kilometres(const vec3& a, const vec3& b) { return kilometres_per_au * std::sqrt(dot(a - b, a - b)); }

void weigh(const ephemeris& e) {
  const std::span<const observation> all(e.observations);
  std::size_t seen = 0;
  while (seen < all.size() && all[seen].day <= 30 * days_per_year) ++seen;

  // The ephemeris gives the planets' centres, which circle around the barycentres of their moons, of up to 1e-6 au/day
  // relative to it: too fast to start from. Of the masses we claim to know no more than a tenth.
  const known k{jpl_masses, e.start};
  const vec3 any{2e-6, 2e-6, 2e-6};
  const unknowns guess{gm(1.3e8), gm(3.7e7), e.start.bodies[jupiter].velocity, e.start.bodies[saturn].velocity};
  const unknowns reach{0.1 * guess.jupiter_gm, 0.1 * guess.saturn_gm, any, any};

  std::printf("\nA fit of 8 unknowns to %zu places of Jupiter and of Saturn in 30 years:\n", seen);
  const unknowns found =
      fit(k, all.first(seen), {.guess = guess, .reach = reach}, [](std::size_t evaluations, double residual) {
        if (evaluations % 1000 == 0)
          std::printf("  %5zu integrations: rms residual %8.0f km\n", evaluations, kilometres_per_au * residual);
      });
  const double sun_gm = gm(132712440041.279419);
  std::printf("  Sun / Jupiter %9.3f (JPL: %.3f)\n", sun_gm / found.jupiter_gm, sun_gm / jpl_masses[jupiter]);
  std::printf("  Sun / Saturn  %9.3f (JPL: %.3f)\n", sun_gm / found.saturn_gm, sun_gm / jpl_masses[saturn]);

  const observation last = predict(with(found, k), all).back();
  std::printf("\n%.0f years later:\n", (all.back().day - all[seen - 1].day) / days_per_year);
  std::printf("  Jupiter is %.0f km from where it was predicted\n", kilometres(last.jupiter, all.back().jupiter));
  std::printf("  Saturn is %.0f km from where it was predicted\n", kilometres(last.saturn, all.back().saturn));
}

}  // namespace

int main(int argc, char** argv) try {
  const ephemeris e = read_ephemeris(argc > 1 ? argv[1] : ESPALIER_PLANETS_FILE);
  conserve_energy(e.start);
  weigh(e);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
