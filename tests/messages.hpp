// What errors say: for tests that hold the words of a message.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <exception>
#include <initializer_list>
#include <string>
#include <string_view>

// The message of the exception that f throws.
template <class Exception = std::exception, class F> std::string message_of(F&& f) {
  try {
    f();
  } catch (const Exception& e) {
    return e.what();
  }
  return "nothing was thrown";
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
