// Key paths: what parses prints, and parses again to the same path.

#include <espalier/errors.hpp>
#include <espalier/parse_path.hpp>
#include <espalier/path.hpp>

#include "fuzz.hpp"

bool fuzz::read(std::string_view input) {
  espalier::key_path path;
  try {
    path = espalier::parse_path(input);
  } catch (const espalier::path_error&) {
    return false;
  }
  const std::string printed = path.to_string();
  require(espalier::parse_path(printed) == path, "a printed path parses to itself");
  require(espalier::parse_path(printed).to_string() == printed, "and prints the same");
  require(path.dotted().size() <= printed.size(), "a dotted path is no longer than the path");
  return true;
}

std::vector<std::string> fuzz::seeds() {
  return {"",
          ".layers[0].weight",
          "['name'][-3]",
          "[\"it's\"].x[18446744073709551615]",
          R"(['it\'s "quoted" \\ \n\r\t\x00\x7f'])",
          "['a.b']['c'].d[9223372036854775807][-9223372036854775808]"};
}

std::vector<std::string> fuzz::tokens() {
  return {".",
          "[",
          "]",
          "'",
          "\"",
          "\\",
          "\\x",
          "\\x1",
          "\\n",
          "-",
          "0",
          "01",
          "-0",
          "['",
          "']",
          "[\"",
          "\"]",
          "[0]",
          ".a",
          "\x7f",
          "\xc3\xbc",
          "9223372036854775808",
          "18446744073709551616",
          "ff"};
}
