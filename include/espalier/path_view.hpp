// Key paths during a traversal: the way from the root of a tree to the leaf that is visited. Keys are typed (attribute,
// index, map key), so `"01"` and `"1"`, or `1` and `"1"`, stay apart. A path prints as JAX prints it, which can be read
// back, or dotted as checkpoints name their tensors:
//
//   espalier::tree_visit_with_path([](const auto& path, double x) { std::cout << path << ' ' << x; }, model);
//   // .layers[0].weight 0.5            path.dotted() is "layers.0.weight"
//
// path.hpp has the key path that owns its keys, which `own()` makes.
#pragma once

#include <cstdint>
#include <espalier/detail/quoted.hpp>
#include <espalier/detail/types.hpp>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>

namespace espalier {

// One step of a key path. A value type that does not own its text: names are static, map keys belong to the tree.
struct key_entry {
  enum class kind : unsigned char {
    attribute,     // a field of a struct: `.name`
    index,         // an element of a sequence, tuple or registered node: `[3]`
    integer_key,   // a map key: `[3]`
    unsigned_key,  // a map key above the largest std::int64_t; `number` holds its bits
    string_key,    // a map key: `['name']`
    transparent,   // what an optional, a pointer or a variant holds: prints as nothing
  };

  kind which = kind::transparent;
  std::string_view name = {};
  std::int64_t number = 0;

  friend constexpr bool operator==(const key_entry&, const key_entry&) = default;
};

namespace detail {

inline std::string key_number(const key_entry& key) {
  if (key.which == key_entry::kind::unsigned_key) return std::to_string(static_cast<std::uint64_t>(key.number));
  return std::to_string(key.number);
}

inline void print_key(std::string& out, const key_entry& key) {
  switch (key.which) {
    case key_entry::kind::attribute:
      out.append(".").append(key.name);
      break;
    case key_entry::kind::index:
    case key_entry::kind::integer_key:
    case key_entry::kind::unsigned_key:
      out.append("[").append(key_number(key)).append("]");
      break;
    case key_entry::kind::string_key:
      out.push_back('[');
      print_quoted(out, key.name);
      out.push_back(']');
      break;
    case key_entry::kind::transparent:
      break;
  }
}

// A dot before each key; dotted() takes the first off, so that an empty key in front is not lost.
inline void print_key_dotted(std::string& out, const key_entry& key) {
  if (key.which == key_entry::kind::transparent) return;
  out.push_back('.');
  if (key.which == key_entry::kind::attribute || key.which == key_entry::kind::string_key) {
    out.append(key.name);
  } else {
    out.append(key_number(key));
  }
}

inline std::string without_first(std::string text) {
  if (!text.empty()) text.erase(0, 1);
  return text;
}

}  // namespace detail

class key_path;

// The key path of the leaf that is being visited: a chain of frames on the traversal's own stack, so that a visit with
// paths allocates nothing. Valid during the call; `own()`, for which path.hpp has to be included, keeps it.
class path_view {
 public:
  constexpr path_view() = default;
  constexpr path_view(const path_view* parent, key_entry key) : nesting(parent->nesting), parent_(parent), key_(key) {}

  template <class Path = key_path> Path own() const {  // (a template, since the class is complete in path.hpp)
    constexpr bool included = requires { sizeof(Path); };
    static_assert(included, "espalier: path_view::own makes a key_path: include <espalier/path.hpp>");
    if constexpr (included) {
      Path path;
      each([&](const key_entry& key) { path.push_back(key); });
      return path;
    }
  }

  std::string to_string() const {
    std::string out;
    each([&](const key_entry& key) { detail::print_key(out, key); });
    return out;
  }

  std::string dotted() const {
    std::string out;
    each([&](const key_entry& key) { detail::print_key_dotted(out, key); });
    return detail::without_first(std::move(out));
  }

  // How many containers are open here whose elements can contain them again. For the traversal, which limits it.
  unsigned nesting = 0;

  // The last key: of a leaf in a struct, the field's name, also if it is an optional's value.
  constexpr const key_entry& back() const { return key_; }

  template <class Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, const path_view& path) {
    return out << path.to_string();
  }

 private:
  template <class F> void each(F&& f) const {
    if (parent_) parent_->each(f);
    f(key_);
  }

  const path_view* parent_ = nullptr;
  key_entry key_{};
};

// A dotted key path as a constant: `mask["layers.0.weight"_path]`. Names are checked at compile time where it is used.
// (`auto`, since nvcc's front end does not deduce a fixed_string of any length.)
template <auto Text> struct path_literal {
  static constexpr std::string_view text = Text.view();
};

inline namespace literals {
template <detail::fixed_string Text> consteval path_literal<Text> operator""_path() { return {}; }
}  // namespace literals

}  // namespace espalier
