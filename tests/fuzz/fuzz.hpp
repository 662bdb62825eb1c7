// What a fuzz target provides, for the two programs that are made of it: with libFuzzer, and with the driver here,
// whose inputs are the same on every machine.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

// Reads an input. Returns whether it was accepted; throws what is not a clean refusal.
bool read(std::string_view input);

// Inputs that are accepted, to begin with.
std::vector<std::string> seeds();

// What inputs are made of.
std::vector<std::string> tokens();

inline void require(bool holds, const char* law) {
  if (!holds) throw std::logic_error(std::string("broken: ") + law);
}

}  // namespace fuzz
