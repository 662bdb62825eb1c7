#include "ephemeris.hpp"

#include <array>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace n_body {
namespace {

struct row {
  double day;
  std::string name;
  body state;
};

bool read_row(std::istream& in, row& r) {
  char comma{};
  vec3& p = r.state.position;
  vec3& v = r.state.velocity;
  return in >> r.day >> comma && std::getline(in, r.name, ',') && in >> p.x >> comma >> p.y >> comma >> p.z >> comma &&
         in >> v.x >> comma >> v.y >> comma >> v.z;
}

}  // namespace

ephemeris read_ephemeris(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("n_body: cannot read " + file);
  std::size_t line = 0;
  const auto next = [&](const char* expected, row& r) {
    std::string text;
    ++line;
    if (!std::getline(in, text)) return false;
    std::istringstream fields(text);
    if (!read_row(fields, r) || r.name != expected) {
      throw std::runtime_error("n_body: " + file + ", line " + std::to_string(line) + ": expected " +
                               "`day,body,x,y,z,vx,vy,vz` of " + expected + ", found `" + text + "`");
    }
    return true;
  };
  const auto required = [&](const char* expected) {
    row r;
    if (!next(expected, r))
      throw std::runtime_error("n_body: " + file + " ends where line " + std::to_string(line) + " should be");
    return r;
  };

  ephemeris read{};
  read.start.bodies[uranus] = required("uranus").state;
  read.start.bodies[neptune] = required("neptune").state;
  for (row j; next("jupiter", j);) {
    const row s = required("saturn");
    if (read.observations.empty()) {
      read.start.bodies[jupiter] = j.state;
      read.start.bodies[saturn] = s.state;
    }
    read.observations.push_back({j.day, j.state.position, s.state.position});
  }
  if (read.observations.empty()) throw std::runtime_error("n_body: " + file + " holds no line of jupiter");
  return read;
}

}  // namespace n_body
