// What errors say: for tests that hold the words of a message.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <espalier/errors.hpp>
#include <exception>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

// The message of the exception that f throws.
template <class Exception = std::exception, class F> std::string message_of(F&& f) {
  try {
    f();
  } catch (const Exception& e) {
    return e.what();
  }
  return "nothing was thrown";
}

// The mismatches of the structure_error that f throws, all of which its message names.
template <class F> std::vector<espalier::mismatch> mismatches_of(F&& f) {
  try {
    f();
  } catch (const espalier::structure_error& e) {
    const std::string text = e.what();
    for (const espalier::mismatch& m : e.differences) {
      EXPECT_NE(text.find(m.path), std::string::npos) << text;
      EXPECT_NE(text.find("expected " + m.expected + ", found " + m.found), std::string::npos) << text;
    }
    return e.differences;
  }
  ADD_FAILURE() << "no structure_error";
  return {};
}

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

inline void expect_in_order(const std::string& text, std::initializer_list<std::string_view> parts) {
  std::size_t at = 0;
  for (const std::string_view part : parts) {
    const std::size_t found = text.find(part, at);
    ASSERT_NE(found, std::string::npos) << "missing: " << part << "\nin: " << text;
    at = found + part.size();
  }
}
