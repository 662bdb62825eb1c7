// Leaves by dotted name, as mlx.utils.tree_flatten and checkpoints name them, and a tree again from names and leaves.
//
//   auto named = espalier::tree_flatten_names(model);          // {"layers.0.weight", …}, {"layers.0.bias", …}, …
//   Model again = espalier::tree_unflatten_names(espalier::tree_structure(model), named);
//
// A name is key_path::dotted() of the leaf's key path: field names, indices and map keys with dots between, as they
// are, so that they are the names in everybody's files; a leaf that is the whole tree has the empty name. Keys are
// never taken for one another: "1" and "01" are two names, and where two leaves of a tree would get one name (the maps'
// ["a.b"]["c"] and ["a"]["b.c"]), that is an error that names both. Where such keys must be told apart, use key paths.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <espalier/describe_value.hpp>
#include <espalier/errors.hpp>
#include <espalier/flatten.hpp>
#include <espalier/path.hpp>
#include <espalier/structure.hpp>
#include <limits>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace espalier {

namespace detail {

// Apart, since it is rarely needed: every leaf whose name an earlier leaf has.
template <class T>
[[noreturn, gnu::noinline, gnu::cold]] void throw_shared_names(const char* operation, const T& tree) {
  std::unordered_map<std::string, std::string> first;  // the key path of each name
  std::vector<mismatch> found;
  auto leaf = [&](const path_view& path, const auto&) {
    const auto [other, is_new] = first.emplace(path.dotted(), path.to_string());
    if (is_new) return;
    found.push_back({path.to_string(), "a dotted name of its own (rename a key)",
                     "'" + other->first + "', which " + other->second + " has too"});
  };
  visit_tree(leaf, path_view{}, tree);
  throw structure_error("espalier: " + std::string(operation) + ": leaves of one name:", std::move(found));
}

// The names of a tree's leaves, or of its skeleton's, in order; all different.
template <class T> std::vector<std::string> leaf_names(const char* operation, const T& tree) {
  std::vector<std::string> names;
  auto leaf = [&](const path_view& path, const auto&) { names.push_back(path.dotted()); };
  visit_tree(leaf, path_view{}, tree);
  std::vector<std::string_view> sorted(names.begin(), names.end());
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) throw_shared_names(operation, tree);
  return names;
}

template <class A, class B> inline constexpr bool both_numbers = std::is_arithmetic_v<A> && std::is_arithmetic_v<B>;

// Whether a number is one that Leaf can hold: it may be rounded to a floating-point leaf, but loses no fraction, and is
// not too large.
template <class Leaf, class Given> bool holds_number(Given given) {
  if constexpr (std::is_integral_v<Given> && std::is_integral_v<Leaf>) {
    return std::cmp_equal(+given, +static_cast<Leaf>(given));  // + makes integers of bool and of characters
  } else if constexpr (std::is_integral_v<Given>) {
    return true;
  } else if constexpr (std::is_floating_point_v<Leaf>) {
    return !std::isfinite(given) || std::abs(given) <= std::numeric_limits<Leaf>::max();
  } else {
    // One more than the largest integer, which need not be a floating-point number. NaN is none of these.
    const Given end = std::ldexp(Given(1), std::numeric_limits<Leaf>::digits);
    return given == std::trunc(given) && given < end && given >= (std::is_signed_v<Leaf> ? -end : Given(0));
  }
}

// What a number must be for holds_number.
template <class Leaf> std::string number_range() {
  using limits = std::numeric_limits<Leaf>;
  if constexpr (std::is_integral_v<Leaf>) {
    return "a whole number from " + std::to_string(+limits::min()) + " to " + std::to_string(+limits::max());
  } else {
    return "a number no larger than " + describe_value(limits::max());
  }
}

template <class Where> struct named_variant_never_fits {
  static_assert(
      always_false<Where>,
      "espalier: tree_unflatten_names: the leaves given are variants without one of the tree's leaf types (both "
      "are named beside this message); give variants of the tree's leaf types, as tree_flatten_names does");
};
template <class Leaf, class Given> inline constexpr bool can_hold = true;
template <class Leaf, class... A>
inline constexpr bool can_hold<Leaf, std::variant<A...>> =
    is_one_of<Leaf, A...> || std::is_same_v<Leaf, std::variant<A...>>;
template <class Given, class... Leaf> consteval bool require_named(types<Leaf...>) {
  if constexpr (!(can_hold<Leaf, Given> && ...)) return sizeof(named_variant_never_fits<types<Given, Leaf...>>) == 0;
  return true;
}

template <class Leaf, class Given> Leaf take_named_leaf(Given&& given) {
  if constexpr (both_numbers<Leaf, std::remove_cvref_t<Given>>) {
    return static_cast<Leaf>(given);
  } else {
    return take_leaf<Leaf>(std::forward<Given>(given));
  }
}

}  // namespace detail

// A leaf of T and its dotted name.
template <class T> using named_leaf = std::pair<std::string, leaf_value_t<T>>;

// The leaves of a tree with their dotted names, in order: copied, or moved out of an rvalue (as mlx.utils.tree_flatten).
// Throws structure_error if two leaves have one name; the tree is then untouched.
template <class Tree> auto tree_flatten_names(Tree&& tree) {
  using T = std::remove_cvref_t<Tree>;
  static_assert(detail::require_trees<T>());
  std::vector<std::string> names = detail::leaf_names("tree_flatten_names", tree);
  std::vector<named_leaf<T>> result;
  result.reserve(names.size());
  auto leaf = [&](const auto&, auto& value) {
    result.emplace_back(std::move(names[result.size()]), leaf_value_t<T>(detail::forward_leaf<Tree>(value)));
  };
  detail::visit_tree(leaf, detail::no_path{}, tree);
  return result;
}

// A tree of this structure from leaves found by name: a range of pairs (a vector of named_leaf, a std::map, …) in any
// order. Leaves of an rvalue container are moved. Leaves of another type are converted; numbers may be rounded to a
// floating-point leaf. Throws structure_error with every name that is missing, unexpected, there twice, or whose leaf
// cannot be the tree's: a variant that holds another type, a number with a fraction or out of range. `path` of a
// mismatch is the name. Unlike mlx.utils.tree_unflatten, which makes lists and dicts up from the names alone, it needs
// the structure: names do not say what is a list, a dict or None.
template <class T, std::ranges::forward_range Named>
T tree_unflatten_names(const treedef<T>& structure, Named&& named) {
  const std::vector<std::string> names = detail::leaf_names("tree_unflatten_names", structure.tree());
  std::unordered_map<std::string_view, std::size_t> position;
  for (const std::string& name : names) position.emplace(name, position.size());

  using value = std::remove_reference_t<decltype((std::ranges::begin(named)->second))>;
  static_assert(detail::require_named<std::remove_const_t<value>>(detail::leaf_types<T>{}));
  std::vector<value*> leaves(names.size(), nullptr);
  std::vector<mismatch> unexpected;
  for (auto& [name, leaf] : named) {
    const auto found = position.find(name);
    if (found == position.end()) {
      unexpected.push_back({std::string(name), "no such name", "a leaf"});
    } else if (leaves[found->second] != nullptr) {
      unexpected.push_back({std::string(name), "one leaf", "another of the same name"});
    } else {
      leaves[found->second] = &leaf;
    }
  }
  std::vector<mismatch> differences;
  std::size_t next = 0;
  auto check = [&]<class L>(const auto&, const detail::leaf_slot<L>&) {
    const value* const given = leaves[next];
    if (given == nullptr) {
      differences.push_back({names[next], "a leaf", "no such name"});
    } else if (!detail::holds_leaf<L>(*given)) {
      differences.push_back({names[next], "a leaf of the structure's type", "a leaf of another type"});
    } else if constexpr (detail::both_numbers<L, std::remove_const_t<value>>) {
      if (!detail::holds_number<L>(*given)) {
        differences.push_back({names[next], detail::number_range<L>(), describe_value(*given)});
      }
    }
    ++next;
  };
  detail::visit_tree(check, detail::no_path{}, structure.tree());
  differences.insert(differences.end(), unexpected.begin(), unexpected.end());
  if (!differences.empty()) {
    throw structure_error("espalier: tree_unflatten_names: these are not the leaves of the structure, by name:",
                          std::move(differences));
  }

  next = 0;
  auto leaf = [&]<class L>(detail::type_tag<L>, const auto&, const auto&) -> L {
    if constexpr (std::is_lvalue_reference_v<Named> || std::ranges::view<std::remove_cvref_t<Named>>) {
      return detail::take_named_leaf<L>(*leaves[next++]);
    } else {
      return detail::take_named_leaf<L>(std::move(*leaves[next++]));
    }
  };
  return detail::make_tree<T>(leaf, structure.tree());
}

}  // namespace espalier
