// The parts of examples/n_body: Newton's law, the ephemeris, and the fit, which gets back what observations were made of.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <espalier/flatten.hpp>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "../../examples/n_body/ephemeris.hpp"
#include "../../examples/n_body/fit.hpp"
#include "../../examples/n_body/solar_system.hpp"
#include "../messages.hpp"
#include "../scratch_folder.hpp"

namespace {

using namespace n_body;
namespace fs = std::filesystem;

const fs::path data = fs::path(__FILE__).parent_path() / "../../examples/n_body/data/planets.csv";

// Gauss's constant squared, 0.01720209895², is G times the Sun's mass in au³/day².
TEST(n_body, masses_are_in_cubic_astronomical_units_per_square_day) {
  EXPECT_NEAR(gm(132712440041.279419) / 2.959122082855911e-4, 1, 1e-8);
}

TEST(n_body, two_bodies_attract_each_other_by_newtons_law) {
  solar_system s{};
  for (std::size_t i = 0; i < count; ++i) s.bodies[i].position = {0, 0, 1e9 * static_cast<double>(i)};  // far away
  s.bodies[jupiter].position = {3, 4, 0};
  s.bodies[jupiter].velocity = {0.1, 0.2, 0.3};
  masses gm{};
  gm[sun] = 50;
  gm[jupiter] = 25;
  solar_system rates{};
  gravity{gm}(s, rates, 0);
  EXPECT_EQ(rates.bodies[jupiter].position.y, 0.2);
  EXPECT_NEAR(rates.bodies[jupiter].velocity.x, -50 * 3 / 125.0, 1e-15);
  EXPECT_NEAR(rates.bodies[jupiter].velocity.y, -50 * 4 / 125.0, 1e-15);
  EXPECT_NEAR(rates.bodies[sun].velocity.x, 25 * 3 / 125.0, 1e-15);
  EXPECT_NEAR(energy(gm, s), 0.5 * 25 * 0.14 - 50 * 25 / 5.0, 1e-12);
}

TEST(n_body, the_barycentre_rests_at_the_origin) {
  solar_system s = read_ephemeris(data.string()).start;
  place_sun(jpl_masses, s);
  vec3 place{};
  vec3 momentum{};
  for (std::size_t i = 0; i < count; ++i) {
    place = place + jpl_masses[i] * s.bodies[i].position;
    momentum = momentum + jpl_masses[i] * s.bodies[i].velocity;
  }
  for (const double x : espalier::tree_leaves(body{place, momentum})) EXPECT_NEAR(x, 0, 1e-20);
}

// Of the ephemeris: 1960-Feb-06 to 2020-Nov-17, every 200 days.
TEST(n_body, reads_the_ephemeris) {
  const ephemeris e = read_ephemeris(data.string());
  ASSERT_EQ(e.observations.size(), 112);
  EXPECT_EQ(e.observations.back().day, 22200);
  EXPECT_EQ(e.start.bodies[uranus].position.y, 1.087117639154008e+01);
  EXPECT_EQ(e.start.bodies[jupiter].velocity.x, 7.300348813836203e-03);
  EXPECT_EQ(e.observations.front().saturn.x, e.start.bodies[saturn].position.x);
}

TEST(n_body, a_broken_file_is_refused_by_line) {
  const scratch_folder s;
  const fs::path file = s.path / "planets.csv";
  const auto message_for = [&](const std::string& text) {
    return message_of([&] { read_ephemeris(s.file("planets.csv", text).string()); });
  };
  const std::string uranus_and_neptune = "0,uranus,1,2,3,4,5,6\n0,neptune,1,2,3,4,5,6\n";
  EXPECT_TRUE(contains(message_for("0,uranus,1,2,3,4,5\n"), "line 1: expected `day,body,x,y,z,vx,vy,vz` of uranus"));
  EXPECT_TRUE(contains(message_for(uranus_and_neptune + "0,saturn,1,2,3,4,5,6\n"), "line 3: expected"));
  EXPECT_TRUE(contains(message_for(uranus_and_neptune + "0,jupiter,1,2,3,4,5,6\n"), "ends where line 4 should be"));
  EXPECT_TRUE(contains(message_for(uranus_and_neptune), "no line of jupiter"));
  fs::remove(file);
  EXPECT_TRUE(contains(message_of([&] { read_ephemeris(file.string()); }), "cannot read " + file.string()));
}

// Seen from the true system, with errors of 1e-6 au (150 km) in every coordinate: masses come back to a part in 2,000 from
// a tenth of it, velocities to 1e-8 au/day from 1e-6.
TEST(n_body, the_fit_recovers_what_the_observations_were_made_with) {
  const ephemeris e = read_ephemeris(data.string());
  const known truth{jpl_masses, e.start};
  const unknowns secret{jpl_masses[jupiter], jpl_masses[saturn], e.start.bodies[jupiter].velocity,
                        e.start.bodies[saturn].velocity};
  std::vector<observation> seen =
      predict(with(secret, truth), std::span(e.observations).first(45));  // 24 years, two orbits of Jupiter
  std::mt19937_64 random(3);
  std::normal_distribution<double> error(0, 1e-6);
  for (observation& o : seen) {
    for (vec3* p : {&o.jupiter, &o.saturn}) *p = *p + vec3{error(random), error(random), error(random)};
  }

  const vec3 off{7e-7, -5e-7, 3e-7};
  const vec3 reach{2e-6, 2e-6, 2e-6};
  const unknowns guess{1.07 * secret.jupiter_gm, 0.94 * secret.saturn_gm, secret.jupiter_velocity + off,
                       secret.saturn_velocity - off};
  std::size_t calls = 0;
  const unknowns found =
      fit(truth, seen,
          {.guess = guess, .reach = {0.1 * guess.jupiter_gm, 0.1 * guess.saturn_gm, reach, reach}, .evaluations = 8000},
          [&calls](std::size_t evaluations, double) { EXPECT_EQ(evaluations, ++calls); });
  EXPECT_GE(calls, 8000);
  EXPECT_NEAR(found.jupiter_gm / secret.jupiter_gm, 1, 5e-4);
  EXPECT_NEAR(found.saturn_gm / secret.saturn_gm, 1, 5e-4);
  const std::vector<vec3> differences{found.jupiter_velocity - secret.jupiter_velocity,
                                      found.saturn_velocity - secret.saturn_velocity};
  for (const double x : espalier::tree_leaves(differences)) EXPECT_NEAR(x, 0, 1e-8);
  EXPECT_NEAR(rms_residual(predict(with(found, truth), seen), seen), 1e-6, 2e-7);
}

}  // namespace
