// leaf_array<T, U>: T's structure over leaves of type U, flat in memory. What tree_map gives back when a function
// changes the leaves' type; read by path, iterated, or used as a rest tree: a mask, a table of shapes, a gradient.
//
//   auto decays = espalier::tree_map_with_path(
//       [](const auto& path, const auto&) { return path.back().name != "bias"; }, model);
//   bool first = decays["layers.0.weight"_path];        // misspelt names do not compile
#pragma once

#include <array>
#include <boost/container/static_vector.hpp>
#include <boost/container/vector.hpp>
#include <espalier/describe_value.hpp>
#include <espalier/detail/leaf_call.hpp>
#include <espalier/detail/lookup.hpp>
#include <espalier/path.hpp>
#include <espalier/structure.hpp>
#include <initializer_list>
#include <iosfwd>
#include <ranges>
#include <string_view>

namespace espalier {

namespace detail {

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

// At most N trivial values, as a vector. (g++ 12 loses stores into boost::container::static_vector, which keeps such values
// in bytes, where it moves one at -O2.)
template <class U, std::size_t N> class fixed_values {
 public:
  using value_type = U;

  constexpr std::size_t size() const { return size_; }
  constexpr U* data() { return values_.data(); }
  constexpr const U* data() const { return values_.data(); }
  constexpr U* begin() { return data(); }
  constexpr const U* begin() const { return data(); }
  constexpr U* end() { return data() + size_; }
  constexpr const U* end() const { return data() + size_; }
  constexpr U& operator[](std::size_t i) { return values_[i]; }
  constexpr const U& operator[](std::size_t i) const { return values_[i]; }

  constexpr void resize(std::size_t size) { size_ = size; }
  constexpr void push_back(const U& value) { values_[size_++] = value; }
  template <class... A> constexpr U& emplace_back(A&&... arguments) {
    return values_[size_++] = U(static_cast<A&&>(arguments)...);
  }

 private:
  std::array<U, N> values_{};
  std::size_t size_ = 0;
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
      constexpr std::size_t room = n == 0 ? 1 : n;
      if constexpr (std::is_trivially_copyable_v<U> && std::is_default_constructible_v<U>) {
        return detail::type_tag<detail::fixed_values<U, room>>{};
      } else {
        return detail::type_tag<boost::container::static_vector<U, room>>{};
      }
    } else {
      return detail::type_tag<boost::container::vector<U>>{};
    }
  }())::type;

  // The values in order of the leaves of `structure`. Throws leaf_error if their number is wrong.
  template <std::ranges::forward_range Values>
    requires std::convertible_to<std::ranges::range_reference_t<const Values&>, U>
  leaf_array(treedef<T> structure, const Values& values) : structure_(std::move(structure)) {
    const auto given = static_cast<std::size_t>(std::ranges::distance(values));
    if (given != structure_.num_leaves()) {
      throw leaf_error("espalier: leaf_array: expected " + std::to_string(structure_.num_leaves()) + " values, found " +
                       std::to_string(given));
    }
    if constexpr (!static_structure<T>) values_.reserve(given);
    for (const auto& value : values) values_.push_back(value);
  }
  leaf_array(treedef<T> structure, std::initializer_list<U> values)
      : leaf_array(std::move(structure), std::ranges::subrange(values.begin(), values.end())) {}

  // A value-initialised value for each leaf: zero, None, an empty string.
  explicit constexpr leaf_array(treedef<T> structure)
    requires std::default_initializable<U>
      : structure_(std::move(structure)) {
    values_.resize(structure_.num_leaves());
  }

  // The array into which write(put) puts a value for each leaf, by put(value), in order; they are made where they stay.
  template <class Write>
  ESPALIER_INLINE leaf_array(detail::written_in_place, treedef<T> structure, const Write& write)
      : structure_(std::move(structure)) {
    const std::size_t size = structure_.num_leaves();
    if constexpr (std::is_trivially_copyable_v<U> && std::is_default_constructible_v<U>) {
      if constexpr (static_structure<T>) {
        values_.resize(size);
      } else {
        values_.resize(size, boost::container::default_init);
      }
      U* next = values_.data();
      write([&next](U value) ESPALIER_INLINE_LAMBDA { *next++ = value; });
    } else {
      if constexpr (!static_structure<T>) values_.reserve(size);
      write([this](U&& value) ESPALIER_INLINE_LAMBDA { values_.emplace_back(std::move(value)); });
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
  template <auto Text> U& operator[](path_literal<Text> path) { return values_[position(path)]; }
  template <auto Text> const U& operator[](path_literal<Text> path) const { return values_[position(path)]; }

  friend bool operator==(const leaf_array& a, const leaf_array& b) {
    return a.structure_ == b.structure_ && std::ranges::equal(a.values_, b.values_);
  }

  // `{.layers[0].weight: 1, …}`.
  std::string to_string() const {
    const std::vector<key_path> paths = structure_.paths();
    std::string text = "{";
    for (std::size_t i = 0; i < paths.size(); ++i) {
      text.append(i == 0 ? "" : ", ").append(paths[i].to_string()).append(": ").append(describe_value(values_[i]));
    }
    return text + "}";
  }
  friend std::ostream& operator<<(std::ostream& out, const leaf_array& array) { return out << array.to_string(); }

  // For tree_map: the structure of the tree, or of the leaf_array, that is mapped.
  template <class Tree> static treedef<T> structure_of(const Tree& tree) {
    if constexpr (detail::is_leaf_array<Tree>) {
      return tree.structure();
    } else {
      return treedef<T>(tree);
    }
  }

 private:
  template <auto Text> std::size_t position(path_literal<Text>) const {
    if constexpr (!detail::literal_fits<T, detail::path_end::leaf>(Text.view())) {
      return sizeof(detail::no_leaf_at_this_path<detail::at_path<Text, T>,
                                                 detail::did_you_mean<detail::nearest_path<T, Text>()>>);
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
        throw path_error("espalier: no leaf at \"" + std::string(Text.view()) + "\" in " +
                         detail::shortened(structure_.to_string()));
      }
      return i;
    }
  }

  [[no_unique_address]] treedef<T> structure_;
  storage_type values_;
};

}  // namespace espalier
