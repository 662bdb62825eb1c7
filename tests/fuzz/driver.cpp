// Mutates the seeds of a fuzz target, and what it accepted, a given number of times from a given seed:
//
//   fuzz.path 10000000 1
//   fuzz.path --write-seeds FOLDER        for libFuzzer

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz.hpp"

namespace {

class mutator {
 public:
  explicit mutator(std::uint64_t seed) : random_(seed) {
    for (const std::string& text : seeds_) longest_ = std::max(longest_, 2 * text.size());
  }

  std::string next() {
    std::string text = any(pool_);
    for (std::size_t n = 1 + below(1 + below(6)); n > 0; --n) change(text);
    if (text.size() > longest_) text.resize(longest_);  // or inputs would grow without end
    return text;
  }

  void keep(const std::string& accepted) {
    if (pool_.size() < 512) {
      pool_.push_back(accepted);
    } else {
      // The seeds stay.
      pool_[seeds_.size() + below(pool_.size() - seeds_.size())] = accepted;
    }
  }

 private:
  // (Not a std distribution: those differ between standard libraries.)
  std::size_t below(std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(random_() % n); }
  const std::string& any(const std::vector<std::string>& list) { return list[below(list.size())]; }

  void change(std::string& text) {
    const std::size_t at = below(text.size() + 1);
    const std::size_t length = below(std::min<std::size_t>(text.size() - at, 16) + 1);
    switch (below(7)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      case 1:
        if (at < text.size()) text[at] = static_cast<char>(below(256));
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:
        text.insert(at, text.substr(at, length));
        break;
      case 4:
        text.insert(at, any(tokens_));
        break;
      case 5:
        text.replace(at, length, any(tokens_));
        break;
      default: {
        const std::string& other = any(pool_);
        const std::size_t from = below(other.size() + 1);
        text.replace(at, length, other.substr(from, below(64)));
      }
    }
  }

  std::mt19937_64 random_;
  std::vector<std::string> seeds_ = fuzz::seeds();
  std::vector<std::string> tokens_ = fuzz::tokens();
  std::vector<std::string> pool_ = seeds_;
  std::size_t longest_ = 0;
};

int write_seeds(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  std::size_t n = 0;
  for (const std::string& seed : fuzz::seeds()) std::ofstream(folder / std::to_string(n++), std::ios::binary) << seed;
  return 0;
}

int run(std::uint64_t inputs, std::uint64_t seed) {
  for (const std::string& input : fuzz::seeds()) fuzz::require(fuzz::read(input), "a seed is accepted");
  mutator mutate(seed);
  std::uint64_t accepted = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < inputs; ++i) {
    const std::string input = mutate.next();
    try {
      if (!fuzz::read(input)) continue;
    } catch (const std::exception& e) {
      std::cerr << "input " << i << ": " << e.what() << "\n" << input << "\n";
      return 1;
    }
    ++accepted;
    mutate.keep(input);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::cout << inputs << " inputs, " << accepted << " accepted, " << inputs - accepted << " refused, "
            << seconds.count() << " s\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  if (arguments.size() == 2 && arguments[0] == "--write-seeds") return write_seeds(arguments[1]);
  const auto number = [&](std::size_t i, std::uint64_t otherwise) {
    return i < arguments.size() ? std::stoull(std::string(arguments[i])) : otherwise;
  };
  return run(number(0, 20'000), number(1, 1));
}
