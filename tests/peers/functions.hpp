// The functions and predicates of functions.py.
#pragma once

#include <espalier/flatten.hpp>
#include <espalier/promote.hpp>
#include <espalier/reduce.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace peers {

struct twice {
  template <class X> X operator()(const X& x) const {
    if constexpr (std::is_same_v<X, bool>) {
      return x;
    } else {
      return x + x;
    }
  }
  template <class X> std::optional<X> operator()(const std::optional<X>& x) const {
    return x ? std::optional<X>((*this)(*x)) : x;
  }
};

struct twice_if_double {
  template <class X> X operator()(const X& x) const { return x; }
  double operator()(const double& x) const { return 2 * x; }
};

struct kind {
  std::string operator()(const bool&) const { return "bool"; }
  std::string operator()(const int&) const { return "int"; }
  std::string operator()(const double&) const { return "double"; }
  std::string operator()(const std::string&) const { return "string"; }
};

// How many leaves a subtree has.
struct count {
  template <class Tree> int operator()(const Tree& tree) const {
    return static_cast<int>(espalier::tree_structure(tree).num_leaves());
  }
};

struct minus {
  template <espalier::number X, espalier::number Y> auto operator()(const X& x, const Y& y) const { return x - y; }
};

struct multiply_add {
  double operator()(const double& x, const double& y, const double& z) const { return x * y + z; }
};

struct add_leaves {
  template <espalier::number X, espalier::tree_of_numbers Tree> auto operator()(const X& x, const Tree& subtree) const {
    return x + espalier::tree_sum(subtree);
  }
};

struct and_twice {
  std::pair<double, double> operator()(const double& x) const { return {x, 2 * x}; }
};

struct horner {
  double operator()(double total, double x) const { return 2 * total + x; }
};

struct is_double {
  template <class X> bool operator()(const X&) const { return std::is_same_v<X, double>; }
};

struct is_large {
  bool operator()(const double& x) const { return x > 2; }
};

}  // namespace peers
