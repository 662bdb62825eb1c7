// A table of a tree's leaves for people: key path, what it is, how many numbers, how many bytes.
//
//   std::cout << espalier::tree_summary(model);
//   path               leaf                parameters   bytes
//   .layers[0].weight  float32[64, 128]         8,192  32,768
//   …
#pragma once

#include <algorithm>
#include <cstdint>
#include <espalier/describe_value.hpp>
#include <espalier/parameters.hpp>
#include <espalier/visit.hpp>
#include <string>
#include <vector>

namespace espalier {

namespace detail {

// 1234567 as 1,234,567.
inline std::string grouped(std::uint64_t n) {
  const std::string digits = std::to_string(n);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text.push_back(',');
    text.push_back(digits[i]);
  }
  return text;
}

}  // namespace detail

// One line per leaf, and a line of totals. Leaves that are not parameters (espalier/parameters.hpp) count none. Bytes
// are those of an array's elements, or of the C++ object.
template <class Tree> std::string tree_summary(const Tree& tree) {
  struct row {
    std::string path, leaf, parameters, bytes;
  };
  std::vector<row> rows{{"path", "leaf", "parameters", "bytes"}};
  std::uint64_t parameters = 0;
  std::uint64_t bytes = 0;
  espalier::tree_visit_with_path(
      [&]<class Leaf>(const path_view& path, const Leaf& leaf) {
        std::uint64_t elements = 1;
        std::uint64_t size = sizeof(Leaf);
        if constexpr (engine_array<Leaf>) {
          elements = array_traits<Leaf>::elements(leaf);
          size = array_traits<Leaf>::bytes(leaf);
        }
        if (!is_parameter<Tree>(leaf)) elements = 0;
        parameters += elements;
        bytes += size;
        rows.push_back({path.to_string(), describe_value(leaf), detail::grouped(elements), detail::grouped(size)});
      },
      tree);
  rows.push_back({"total", std::to_string(rows.size() - 1) + (rows.size() == 2 ? " leaf" : " leaves"),
                  detail::grouped(parameters), detail::grouped(bytes)});

  const auto widest = [&](std::string row::* column) {
    std::size_t width = 0;
    for (const row& r : rows) width = std::max(width, (r.*column).size());
    return width;
  };
  const std::size_t widths[] = {widest(&row::path), widest(&row::leaf), widest(&row::parameters), widest(&row::bytes)};
  const auto left = [](const std::string& text, std::size_t width) {
    return text + std::string(width - text.size(), ' ');
  };
  const auto right = [](const std::string& text, std::size_t width) {
    return std::string(width - text.size(), ' ') + text;
  };
  std::string table;
  for (const row& r : rows) {
    table += left(r.path, widths[0]) + "  " + left(r.leaf, widths[1]) + "  " + right(r.parameters, widths[2]) + "  " +
             right(r.bytes, widths[3]) + "\n";
  }
  return table;
}

}  // namespace espalier
