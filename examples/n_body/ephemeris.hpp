// Where the planets were: JPL's ephemeris, as data/planets.csv holds it.
#pragma once

#include <string>
#include <vector>

#include "solar_system.hpp"

namespace n_body {

// A place of Jupiter and one of Saturn, some days after the first.
struct observation {
  double day;
  vec3 jupiter, saturn;
};

struct ephemeris {
  solar_system start;  // the Sun is not in the file: place_sun() knows where it must be
  std::vector<observation> observations;
};

// Reads a file of lines `day,body,x,y,z,vx,vy,vz`: Uranus and Neptune on day 0,
// then Jupiter and Saturn on day 0 and on each day of an observation.
// Throws std::runtime_error that names the line where the file is not so.
ephemeris read_ephemeris(const std::string& file);

}  // namespace n_body
