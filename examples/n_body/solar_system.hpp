// The outer Solar System as plain structs, and Newton's law for it. Lengths in astronomical units, times in days,
// masses as G M in au³/day²; positions and velocities are barycentric, along the axes of the ICRF.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace n_body {

struct vec3 {
  double x, y, z;

  friend constexpr vec3 operator+(const vec3& a, const vec3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  friend constexpr vec3 operator-(const vec3& a, const vec3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  friend constexpr vec3 operator*(double s, const vec3& a) { return {s * a.x, s * a.y, s * a.z}; }
};
constexpr double dot(const vec3& a, const vec3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

struct body {
  vec3 position, velocity;
};

enum planet : std::size_t { sun, jupiter, saturn, uranus, neptune, count };

// What moves: 30 numbers. The state of the integrator, as it is.
struct solar_system {
  std::array<body, count> bodies;
};

using masses = std::array<double, count>;

constexpr double kilometres_per_au = 149597870.7;  // IAU 2012, resolution B2

// From km³/s², as JPL gives masses.
constexpr double gm(double cubic_kilometres) {
  constexpr double seconds_per_day = 86400;
  return cubic_kilometres * seconds_per_day * seconds_per_day /
         (kilometres_per_au * kilometres_per_au * kilometres_per_au);
}

// The planetary systems of DE440 (Park et al., Astronomical Journal 161:105, 2021). Mercury, Venus, Earth with the
// Moon, and Mars are added to the Sun.
constexpr masses jpl_masses{gm(132712440041.279419 + 22031.868551 + 324858.592 + 403503.235502 + 42828.375816),
                            gm(126712764.1), gm(37940584.8418), gm(5794556.4), gm(6836527.10058)};

// The system function of Boost.odeint: d position / dt = velocity, d velocity / dt = Newton's gravity.
struct gravity {
  masses gm;

  void operator()(const solar_system& system, solar_system& rates, double) const {
    for (std::size_t i = 0; i < count; ++i) rates.bodies[i] = {system.bodies[i].velocity, {0, 0, 0}};
    for (std::size_t i = 1; i < count; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const vec3 apart = system.bodies[i].position - system.bodies[j].position;
        const double squared = dot(apart, apart);
        const double inverse_cube = 1 / (squared * std::sqrt(squared));
        vec3& a = rates.bodies[i].velocity;
        vec3& b = rates.bodies[j].velocity;
        a = a - (gm[j] * inverse_cube) * apart;
        b = b + (gm[i] * inverse_cube) * apart;
      }
    }
  }
};

// Kinetic and potential energy times G, in au⁵/day⁴.
inline double energy(const masses& gm, const solar_system& system) {
  double total = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const body& b = system.bodies[i];
    total += 0.5 * gm[i] * dot(b.velocity, b.velocity);
    for (std::size_t j = 0; j < i; ++j) {
      const vec3 apart = b.position - system.bodies[j].position;
      total -= gm[i] * gm[j] / std::sqrt(dot(apart, apart));
    }
  }
  return total;
}

// The Sun where the barycentre is at rest at the origin.
inline void place_sun(const masses& gm, solar_system& system) {
  body at{};
  for (std::size_t i = 1; i < count; ++i) {
    at.position = at.position - (gm[i] / gm[sun]) * system.bodies[i].position;
    at.velocity = at.velocity - (gm[i] / gm[sun]) * system.bodies[i].velocity;
  }
  system.bodies[sun] = at;
}

}  // namespace n_body
