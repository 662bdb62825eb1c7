// A string in quotes, in key paths and wherever else values are printed.
#pragma once

#include <string>
#include <string_view>

namespace espalier::detail {

// A string as Python's repr prints it, so that no two look alike: in double quotes where that spares escapes, with \\,
// \n, \r, \t and \x1b for what does not print. Bytes above 127 stand for themselves.
inline void print_quoted(std::string& out, std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const char quote = has_single && text.find('"') == std::string_view::npos ? '"' : '\'';
  out.push_back(quote);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') {
      out.append(1, '\\').append(1, c);
    } else if (c == '\n' || c == '\r' || c == '\t') {
      out.append(c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
    } else if (byte < 0x20 || byte == 0x7f) {
      out.append("\\x").append(1, "01234567"[byte >> 4]).append(1, "0123456789abcdef"[byte & 15]);
    } else {
      out.push_back(c);
    }
  }
  out.push_back(quote);
}

}  // namespace espalier::detail
