// tree_map with functions of one tree and of several, with paths, and with stops.
#pragma once

#include <espalier/leaf_array.hpp>
#include <espalier/leaf_if.hpp>
#include <espalier/map.hpp>
#include <espalier/visit.hpp>
#include <string>
#include <vector>

#include "../functions.hpp"
#include "../notation.hpp"
#include "compiles.hpp"

namespace peers {

template <class F, class... T> std::string tree_map(F f, const T&... trees) {
  if constexpr (can_call<F, T...>()) {
    return write(espalier::tree_map(f, trees...));
  } else {
    return error;
  }
}

template <class T> std::string tree_map_with_path(const T& tree) {
  return write(espalier::tree_map_with_path(
      [](const espalier::path_view& path, const auto&) { return path.to_string(); }, tree));
}

template <class T> std::string map_with_dotted_name(const T& tree) {
  return write(
      espalier::tree_map_with_path([](const espalier::path_view& path, const auto&) { return path.dotted(); }, tree));
}

template <class Result> inline constexpr bool is_refused = false;
template <class Where> inline constexpr bool is_refused<espalier::detail::stopped_results_fit_no_tree<Where>> = true;

// Where no type has the results in the tree's structure, they are gathered, as tree_map's static assertion advises.
template <class... Stop, class T> std::string map_count(espalier::leaf_if_t<Stop...> stops, const T& tree) {
  using espalier::detail::nodes_among;
  using espalier::detail::types;
  if constexpr (!is_refused<espalier::detail::map_result_t<false, nodes_among<types<Stop...>>, count, const T&>>) {
    return write(espalier::tree_map(stops, count{}, tree));
  } else {
    std::vector<std::string> counts;
    espalier::tree_visit(stops, [&](const auto& leaf) { counts.push_back(write(count{}(leaf))); }, tree);
    auto next = counts.begin();
    return write_tree<Stop...>(tree, [&](const auto&) { return *next++; });
  }
}

}  // namespace peers
