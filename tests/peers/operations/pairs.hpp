// The operations that compare two trees, and those that broadcast one to the other.
#pragma once

#include <espalier/allclose.hpp>
#include <espalier/broadcast.hpp>
#include <espalier/equal.hpp>
#include <espalier/flatten.hpp>
#include <string>
#include <vector>

#include "map.hpp"

namespace peers {

template <class A, class B> std::string tree_equal(const A& a, const B& b) { return write(espalier::tree_equal(a, b)); }

template <class A, class B> std::string tree_allclose(double rtol, double atol, const A& a, const B& b) {
  return write(espalier::tree_allclose(a, b, rtol, atol));
}

template <class A, class B> std::string is_prefix(const A& prefix, const B& full) {
  return write(espalier::tree_structure(prefix).is_prefix_of(espalier::tree_structure(full)));
}

template <class A, class B> std::string is_strict_prefix(const A& prefix, const B& full) {
  const espalier::treedef<A> a(prefix);
  const espalier::treedef<B> b(full);
  return write(a.is_prefix_of(b) && !(a == b));
}

template <class A, class B> std::string flatten_up_to(const A& prefix, const B& full) {
  if constexpr (types_fit<A, B>) {
    return write_each(espalier::tree_structure(prefix).flatten_up_to(full));
  } else {
    return error;
  }
}

// Of types that do not fit: the one path that the compiler prints.
template <class A, class B> std::string prefix_errors(const A& prefix, const B& full) {
  if constexpr (types_fit<A, B>) {
    std::vector<std::string> paths;
    try {
      (void)espalier::tree_structure(prefix).flatten_up_to(full);
    } catch (const espalier::structure_error& fault) {
      for (const espalier::mismatch& difference : fault.differences) paths.push_back(difference.path);
    }
    return write_each(paths);
  } else {
    namespace detail = espalier::detail;
    using survey = detail::survey_of<A, B>;
    using faulty = detail::exactly<typename survey::faulty>;
    constexpr auto path =
        detail::fault_path_string<faulty::template accepts, detail::types<A, B>, typename survey::leaves>();
    return list({write_string(path.view() == "(root)" ? "" : path.view())});
  }
}

template <class A, class B> std::string map_prefix(const A& prefix, const B& full) {
  return peers::tree_map(add_leaves{}, prefix, full);
}

template <class A, class B> std::string tree_broadcast_prefix(const A& prefix, const B& full) {
  if constexpr (types_fit<A, B>) {
    return write(espalier::tree_broadcast_prefix(prefix, full));
  } else {
    return error;
  }
}

template <class A, class B> std::string tree_broadcast_common(const A& a, const B& b) {
  const auto [x, y] = espalier::tree_broadcast_common(a, b);
  return list({write(x), write(y)});
}

template <class A, class B> std::string tree_broadcast_map(const A& a, const B& b) {
  const auto [x, y] = espalier::tree_broadcast_common(a, b);
  return write(espalier::tree_map(minus{}, x, y));
}

}  // namespace peers
