// Dotted paths against types: whether a tree of type T can have something at "layers.0.weight", and which of its paths
// is nearest to a misspelt one.
#pragma once

#include <algorithm>
#include <espalier/detail/survey.hpp>
#include <espalier/node.hpp>
#include <espalier/path_view.hpp>
#include <string_view>

namespace espalier::detail {

// A key as dotted paths write it.
struct key_text {
  char digits[24] = {};
  std::size_t begin = sizeof(digits);
  std::string_view name = {};

  explicit constexpr key_text(const key_entry& key) : name(key.name) {
    if (key.which == key_entry::kind::attribute || key.which == key_entry::kind::string_key) return;
    const bool negative = key.number < 0 && key.which != key_entry::kind::unsigned_key;
    auto value = static_cast<std::uint64_t>(key.number);
    if (negative) value = 0 - value;
    do {
      digits[--begin] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value > 0);
    if (negative) digits[--begin] = '-';
  }
  constexpr std::string_view view() const {
    return begin < sizeof(digits) ? std::string_view(digits + begin, sizeof(digits) - begin) : name;
  }
};

// Where the key that begins at `begin` ends. (A loop: under a sanitizer, g++ cannot evaluate string_view::find of a
// template argument.)
constexpr std::size_t key_end(std::string_view path, std::size_t begin = 0) {
  while (begin < path.size() && path[begin] != '.') ++begin;
  return begin;
}
constexpr std::string_view first_key(std::string_view path) { return path.substr(0, key_end(path)); }

// The path without its first n characters and the dot behind them.
constexpr std::string_view behind(std::string_view path, std::size_t n) {
  return n < path.size() ? path.substr(n + 1) : std::string_view{};
}

// The text of a dotted path behind `key`, if the path begins with it: "weight" of "0.weight" behind 0.
constexpr bool behind_key(std::string_view path, const key_entry& key, std::string_view& rest) {
  if (key.which == key_entry::kind::transparent) {
    rest = path;
    return true;
  }
  const key_text text(key);
  const std::string_view name = text.view();
  if (path.substr(0, name.size()) != name) return false;
  if (path.size() > name.size() && path[name.size()] != '.') return false;
  rest = behind(path, name.size());
  return true;
}

// "12" and not "012": the number, or `limit` if it is none below that.
constexpr std::size_t index_in(std::string_view text, std::size_t limit) {
  std::size_t i = 0;
  for (char c : text) {
    if (c < '0' || c > '9' || i > limit / 10) return limit;
    i = 10 * i + static_cast<std::size_t>(c - '0');
  }
  return text.empty() || (text.size() > 1 && text.front() == '0') || i >= limit ? limit : i;
}

// What a path has to lead to.
enum class path_end : unsigned char { leaf, any };

// Whether some tree of type T can have a leaf (or a leaf or node) at this path.
template <class T, path_end End> constexpr bool path_fits(std::string_view path) {
  using N = node_of<T>;
  if (End == path_end::any && path.empty()) return true;
  if constexpr (N::kind == node_kind::leaf) {
    return path.empty();
  } else if constexpr (is_product<T>) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      const auto child = [&]<std::size_t J>(index<J>) {
        std::string_view rest;
        return behind_key(path, N::key(J), rest) && path_fits<typename child_at<T, J>::type, End>(rest);
      };
      return (child(index<I>{}) || ...);
    }(std::make_index_sequence<N::arity>{});
  } else if constexpr (N::kind == node_kind::variant) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return (path_fits<typename child_at<T, I>::type, End>(path) || ...);
    }(std::make_index_sequence<N::arity>{});
  } else if constexpr (N::kind == node_kind::maybe) {
    return path_fits<typename element_at<T>::type, End>(path);
  } else if constexpr (N::kind == node_kind::map) {
    // A key is any text up to a dot, and may contain dots itself.
    for (std::size_t end = key_end(path); end <= path.size(); end = key_end(path, end + 1)) {
      if (path_fits<typename element_at<T>::type, End>(behind(path, end))) return true;
    }
    return false;
  } else {
    std::size_t limit = static_cast<std::size_t>(-1);
    if constexpr (N::kind == node_kind::array) limit = N::extent;
    const std::string_view key = first_key(path);
    return index_in(key, limit) < limit && path_fits<typename element_at<T>::type, End>(behind(path, key.size()));
  }
}

// The same of a whole path literal. None ends in a dot: an empty key there would look like no key.
template <class T, path_end End> constexpr bool literal_fits(std::string_view text) {
  return (text.empty() || text[text.size() - 1] != '.') && path_fits<T, End>(text);
}

// --- The nearest path, for the compiler to print. --------------------------------------------------------------------

// How many characters have to be put in, taken out or replaced to make b of a (Levenshtein's distance).
constexpr std::size_t edit_distance(std::string_view a, std::string_view b) {
  constexpr std::size_t longest = 63;
  a = a.substr(0, longest);
  b = b.substr(0, longest);
  std::size_t row[longest + 1] = {};
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

constexpr path_text operator/(const path_text& begin, std::string_view key) {
  return (begin.size == 0 ? begin : begin + ".") + key;
}

// The path that `begin`, which leads to a T, goes on with when each key of `path` is replaced by the nearest that there
// is: up to a leaf where the path goes too far, and, if it has to end at one, down to one where it ends too early.
template <class T, path_end End> constexpr path_text correct_path(const path_text& begin, std::string_view path) {
  using N = node_of<T>;
  if (End == path_end::any && path.empty()) return begin;
  const std::string_view key = first_key(path);
  const std::string_view rest = behind(path, key.size());
  if constexpr (N::kind == node_kind::leaf || N::kind == node_kind::unsupported) {
    return begin;
  } else if constexpr (is_product<T>) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      std::size_t nearest = 0;
      std::size_t least = static_cast<std::size_t>(-1);
      for (std::size_t i = 0; i < N::arity; ++i) {
        const std::size_t distance = key.empty() ? i : edit_distance(key, key_text(N::key(i)).view());
        if (distance < least) {
          least = distance;
          nearest = i;
        }
      }
      path_text result = begin;
      const auto go_on = [&]<std::size_t J>(index<J>) {
        if (J == nearest)
          result = correct_path<typename child_at<T, J>::type, End>(begin / key_text(N::key(J)).view(), rest);
      };
      (go_on(index<I>{}), ...);
      return result;
    }(std::make_index_sequence<N::arity>{});
  } else if constexpr (N::kind == node_kind::variant) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      path_text result = begin;
      const auto better = [&](const path_text& other) {
        const auto length = [&](const path_text& p) { return p.size - begin.size; };
        if (length(result) == 0 || edit_distance(path, {other.text + begin.size, length(other)}) <
                                       edit_distance(path, {result.text + begin.size, length(result)})) {
          result = other;
        }
      };
      (better(correct_path<typename child_at<T, I>::type, End>(begin, path)), ...);
      return result;
    }(std::make_index_sequence<N::arity>{});
  } else if constexpr (N::kind == node_kind::maybe) {
    return path.empty() && is_recursive_container<T> ? begin
                                                     : correct_path<typename element_at<T>::type, End>(begin, path);
  } else if constexpr (N::kind == node_kind::map) {
    return path.empty() ? begin : correct_path<typename element_at<T>::type, End>(begin / key, rest);
  } else {
    if (path.empty() && is_recursive_container<T>) return begin;
    std::size_t limit = static_cast<std::size_t>(-1);
    if constexpr (N::kind == node_kind::array) limit = N::extent;
    return correct_path<typename element_at<T>::type, End>(begin / (index_in(key, limit) < limit ? key : "0"), rest);
  }
}

template <class T, fixed_string Text, path_end End = path_end::leaf> consteval auto nearest_path() {
  return as_fixed_string([] { return correct_path<T, End>(path_text{}, Text.view()); });
}

// A name for the compiler to print, as in `did_you_mean<"layers.0.weight">`.
template <fixed_string Path> struct did_you_mean {};

template <class Where, class Nearest> struct no_leaf_at_this_path {
  static_assert(always_false<Where>,
                "espalier: no leaf of this tree is at this path (the path, the tree, and the nearest path that leads "
                "to a leaf are "
                "named beside this message); paths are field names, indices and map keys joined by dots, as in "
                "\"layers.0.weight\"_path");
};

}  // namespace espalier::detail
