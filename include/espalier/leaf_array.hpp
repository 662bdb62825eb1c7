// leaf_array<T, U>: T's structure over leaves of type U, flat in memory. What tree_map gives back when a function
// changes the leaves' type; read by path, iterated, or used as a rest tree: a mask, a table of shapes, a gradient.
//
//   auto decays = espalier::tree_map_with_path(
//       [](const auto& path, const auto&) { return path.back().name != "bias"; }, model);
//   bool first = decays["layers.0.weight"_path];        // misspelt names do not compile
#pragma once

#include <boost/container/static_vector.hpp>
#include <boost/container/vector.hpp>
#include <espalier/detail/leaf_call.hpp>
#include <espalier/structure.hpp>
#include <ostream>
#include <ranges>
#include <string_view>

namespace espalier {

namespace detail {

// The text of a dotted path behind `key`, if the path begins with it: "weight" of "0.weight" behind 0.
constexpr bool behind_key(std::string_view path, const key_entry& key, std::string_view& rest) {
  if (key.which == key_entry::kind::transparent) {
    rest = path;
    return true;
  }
  std::string_view name = key.name;
  char digits[24] = {};
  if (key.which != key_entry::kind::attribute && key.which != key_entry::kind::string_key) {
    std::size_t n = 0;
    const bool negative = key.number < 0 && key.which != key_entry::kind::unsigned_key;
    std::uint64_t value =
        negative ? 0 - static_cast<std::uint64_t>(key.number) : static_cast<std::uint64_t>(key.number);
    do {
      digits[sizeof(digits) - ++n] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value > 0);
    if (negative) digits[sizeof(digits) - ++n] = '-';
    name = std::string_view(digits + sizeof(digits) - n, n);
  }
  if (path.substr(0, name.size()) != name) return false;
  path.remove_prefix(name.size());
  if (!path.empty() && path.front() != '.') return false;
  if (!path.empty()) path.remove_prefix(1);
  rest = path;
  return true;
}

constexpr bool is_index_text(std::string_view text) {
  if (text.empty()) return false;
  for (char c : text) {
    if (c < '0' || c > '9') return false;
  }
  return true;
}

// Whether some tree of type T can have a leaf at this path.
template <class T> constexpr bool path_fits(std::string_view path) {
  using N = node_of<T>;
  if constexpr (N::kind == node_kind::leaf) {
    return path.empty();
  } else if constexpr (is_product<T>) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      const auto child = [&]<std::size_t J>(index<J>) {
        std::string_view rest;
        return behind_key(path, N::key(J), rest) && path_fits<typename child_at<T, J>::type>(rest);
      };
      return (child(index<I>{}) || ...);
    }(std::make_index_sequence<N::arity>{});
  } else if constexpr (N::kind == node_kind::variant) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return (path_fits<typename child_at<T, I>::type>(path) || ...);
    }(std::make_index_sequence<N::arity>{});
  } else if constexpr (N::kind == node_kind::maybe) {
    return path_fits<typename element_at<T>::type>(path);
  } else {
    // An element: its index, or any text up to a dot for a map key (which may contain dots itself).
    for (std::size_t end = 0; end <= path.size(); ++end) {
      if (end < path.size() && path[end] != '.') continue;
      if (N::kind != node_kind::map && !is_index_text(path.substr(0, end))) continue;
      if (path_fits<typename element_at<T>::type>(end < path.size() ? path.substr(end + 1) : std::string_view{}))
        return true;
    }
    return false;
  }
}

// Finds the leaf at a dotted path; `index` grows by the number of leaves before it.
template <class T> constexpr bool find_leaf(const T& tree, std::string_view path, std::size_t& index) {
  if constexpr (kind_of<T> == node_kind::leaf) {
    return path.empty();
  } else {
    bool found = false;
    for_each_child(
        [&](const auto& key, const auto& child) {
          if (found) return;
          std::string_view rest;
          std::size_t below = index;
          if (behind_key(path, key.entry(), rest) && find_leaf(child, rest, below)) {
            index = below;
            found = true;
          } else {
            index += count_leaves(child);
          }
        },
        tree);
    return found;
  }
}

template <class Where> struct no_leaf_at_this_path {
  static_assert(
      always_false<Where>,
      "espalier: no leaf of this tree is at this path (both are named beside this message); paths are field names, "
      "indices and map keys joined by dots, as in \"layers.0.weight\"_path");
};

}  // namespace detail

// T's structure over leaves of type U, in the order in which T's leaves are visited.
template <class T, class U> class leaf_array {
 public:
  using value_type = U;
  // No allocation where T is a static structure. (boost::container: std::vector<bool> has no bools to point at.)
  using storage_type = typename decltype([] {
    if constexpr (static_structure<T>) {
      constexpr std::size_t n = detail::static_leaf_count<T>;
      return detail::type_tag<boost::container::static_vector<U, n == 0 ? 1 : n>>{};
    } else {
      return detail::type_tag<boost::container::vector<U>>{};
    }
  }())::type;

  // The values in order of the leaves of `structure`. Throws leaf_error if their number is wrong.
  leaf_array(treedef<T> structure, storage_type values) : structure_(std::move(structure)), values_(std::move(values)) {
    if (values_.size() != structure_.num_leaves()) {
      throw leaf_error("espalier: leaf_array: expected " + std::to_string(structure_.num_leaves()) + " values, found " +
                       std::to_string(values_.size()));
    }
  }

  const treedef<T>& structure() const { return structure_; }

  std::size_t size() const { return values_.size(); }
  U* data() { return values_.data(); }
  const U* data() const { return values_.data(); }
  auto begin() { return values_.begin(); }
  auto begin() const { return values_.begin(); }
  auto end() { return values_.end(); }
  auto end() const { return values_.end(); }

  // The value at a path. Names are checked at compile time, and in a static structure the place is found then too;
  // otherwise throws path_error if the tree has no such element, and costs a walk over the structure.
  template <detail::fixed_string Text> U& operator[](path_literal<Text> path) { return values_[position(path)]; }
  template <detail::fixed_string Text> const U& operator[](path_literal<Text> path) const {
    return values_[position(path)];
  }

  friend bool operator==(const leaf_array& a, const leaf_array& b) {
    return a.structure_ == b.structure_ && std::ranges::equal(a.values_, b.values_);
  }

  // `{.layers[0].weight: 1, …}`.
  friend std::ostream& operator<<(std::ostream& out, const leaf_array& array) {
    const std::vector<key_path> paths = array.structure_.paths();
    out << '{';
    for (std::size_t i = 0; i < paths.size(); ++i) {
      out << (i == 0 ? "" : ", ") << paths[i] << ": " << describe_value(array.values_[i]);
    }
    return out << '}';
  }

  // For tree_map: the structure of the tree, or of the leaf_array, that is mapped.
  template <class Tree> static treedef<T> structure_of(const Tree& tree) {
    if constexpr (detail::is_leaf_array<Tree>) {
      return tree.structure();
    } else {
      return treedef<T>(tree);
    }
  }
  template <class Tree> static void reserve(storage_type& values, const Tree& tree) {
    if constexpr (!static_structure<T>) values.reserve(detail::count_leaves(tree));
  }

 private:
  template <detail::fixed_string Text> std::size_t position(path_literal<Text>) const {
    if constexpr (!detail::path_fits<T>(Text.view())) {
      return sizeof(detail::no_leaf_at_this_path<detail::at_path<Text, T>>);
    } else if constexpr (static_structure<T>) {
      constexpr std::size_t found = [] {
        std::size_t i = 0;
        detail::find_leaf(detail::only_skeleton<detail::skeleton<T>>, Text.view(), i);
        return i;
      }();
      return found;
    } else {
      std::size_t i = 0;
      if (!detail::find_leaf(structure_.tree(), Text.view(), i)) {
        throw path_error("espalier: no leaf at \"" + std::string(Text.view()) + "\" in " + structure_.to_string());
      }
      return i;
    }
  }

  [[no_unique_address]] treedef<T> structure_;
  storage_type values_;
};

}  // namespace espalier
