// The questions of answers.json with Espalier's answers, gathered from the files that write_cpp.py writes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace peers {

struct question {
  std::string_view text;  // a line of answers.json without the answers
  std::string (*answer)();
  std::string_view not_asked = {};  // why it has no answer in C++
};

inline std::vector<question>& questions() {
  static std::vector<question> all;
  return all;
}

// Adds questions; a function with a result, so that a file of them can call it before main().
inline bool ask(std::span<const question> more) {
  questions().insert(questions().end(), more.begin(), more.end());
  return true;
}

}  // namespace peers
