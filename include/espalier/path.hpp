// Key paths: the way from the root of a tree to a leaf. Keys are typed (attribute, index, map key), so `"01"` and
// `"1"`, or `1` and `"1"`, stay apart. A path prints as JAX prints it, which can be read back, or dotted as checkpoints
// name their tensors:
//
//   espalier::tree_visit_with_path([](const auto& path, double x) { std::cout << path << ' ' << x; }, model);
//   // .layers[0].weight 0.5            path.dotted() is "layers.0.weight"
//   espalier::parse_path(".layers[0].weight").size() == 3
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <espalier/detail/quoted.hpp>
#include <espalier/detail/types.hpp>
#include <espalier/errors.hpp>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

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

// A key path that owns its keys.
class key_path {
 public:
  key_path() = default;

  void push_back(const key_entry& key) {
    if (key.which == key_entry::kind::transparent) return;
    keys_.push_back({key.which, std::string(key.name), key.number});
  }

  std::size_t size() const { return keys_.size(); }
  key_entry operator[](std::size_t i) const { return {keys_[i].which, keys_[i].name, keys_[i].number}; }

  // `.layers[0].weight`; empty at the root.
  std::string to_string() const { return print(detail::print_key); }
  // `layers.0.weight`; empty at the root. Keys are written as they are: two paths may be equal when dotted and yet
  // differ (`["1"]` and `[1]`, `["a.b"]` and `["a"]["b"]`). Where names must be distinct, two such leaves are an error.
  std::string dotted() const { return detail::without_first(print(detail::print_key_dotted)); }

  friend bool operator==(const key_path&, const key_path&) = default;
  friend std::ostream& operator<<(std::ostream& out, const key_path& path) { return out << path.to_string(); }

 private:
  struct owned_key {
    key_entry::kind which;
    std::string name;
    std::int64_t number;
    friend bool operator==(const owned_key&, const owned_key&) = default;
  };

  std::string print(void (*print_one)(std::string&, const key_entry&)) const {
    std::string out;
    for (std::size_t i = 0; i < size(); ++i) print_one(out, (*this)[i]);
    return out;
  }

  std::vector<owned_key> keys_;
};

namespace detail {

// Reads what print_key prints.
class path_parser {
 public:
  explicit path_parser(std::string_view text) : text_(text) {}

  key_path parse() {
    key_path path;
    while (at_ < text_.size()) {
      if (take('.')) {
        const std::size_t end = std::min(text_.find_first_of(".[", at_), text_.size());
        if (end == at_) fail("a field's name");
        path.push_back({key_entry::kind::attribute, text_.substr(at_, end - at_)});
        at_ = end;
      } else if (take('[')) {
        std::string name;
        path.push_back(quotes() ? key_entry{key_entry::kind::string_key, quoted(name)} : number());
        if (!take(']')) fail("']'");
      } else {
        fail("'.' or '['");
      }
    }
    return path;
  }

 private:
  [[noreturn]] void fail(const char* expected) const {
    std::string shown;
    print_quoted(shown, text_);
    throw path_error("espalier: parse_path: expected " + std::string(expected) + " at byte " + std::to_string(at_) +
                     " of " + shown + "; a key path is written as .layers[0]['name']");
  }

  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool quotes() const { return at_ < text_.size() && (text_[at_] == '\'' || text_[at_] == '"'); }

  std::string_view quoted(std::string& out) {
    const char quote = text_[at_++];
    while (!take(quote)) {
      if (at_ == text_.size()) fail("a closing quote");
      out.push_back(take('\\') ? escaped() : text_[at_++]);
    }
    return out;
  }

  char escaped() {
    constexpr std::string_view letters = "\\'\"nrt";
    constexpr std::string_view meanings = "\\'\"\n\r\t";
    if (take('x')) {
      unsigned char byte = 0;
      const auto [end, fault] =
          std::from_chars(text_.data() + at_, text_.data() + std::min(at_ + 2, text_.size()), byte, 16);
      if (fault != std::errc{} || end != text_.data() + at_ + 2) fail("two hexadecimal digits");
      at_ += 2;
      return static_cast<char>(byte);
    }
    const std::size_t found = at_ < text_.size() ? letters.find(text_[at_]) : std::string_view::npos;
    if (found == std::string_view::npos) fail("one of \\ ' \" n r t x behind a backslash");
    ++at_;
    return meanings[found];
  }

  // One way to write each number: no plus, no leading zeros, no -0.
  key_entry number() {
    const std::string_view digits = text_.substr(at_, text_.find(']', at_) - at_);
    const auto read = [&]<class Integer>(Integer value) {
      const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      if (fault != std::errc{} || std::to_string(value) != digits) fail("a whole number of 64 bits, or a quoted key,");
      at_ += digits.size();
      return static_cast<std::int64_t>(value);
    };
    if (digits.starts_with('-')) return {key_entry::kind::integer_key, {}, read(std::int64_t{})};
    const std::int64_t value = read(std::uint64_t{});
    return {value < 0 ? key_entry::kind::unsigned_key : key_entry::kind::index, {}, value};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace detail

// The key path that prints as this text: `.layers[0]['name']`. A number in brackets reads as an index; a map's integer
// key prints the same, so such a path is not equal to the tree's own, and prints like it. Throws path_error, with the
// byte, if the text is none.
inline key_path parse_path(std::string_view text) { return detail::path_parser(text).parse(); }

// The key path of the leaf that is being visited: a chain of frames on the traversal's own stack, so that a visit with
// paths allocates nothing. Valid during the call; `own()` keeps it.
class path_view {
 public:
  constexpr path_view() = default;
  constexpr path_view(const path_view* parent, key_entry key) : nesting(parent->nesting), parent_(parent), key_(key) {}

  key_path own() const {
    key_path path;
    each([&](const key_entry& key) { path.push_back(key); });
    return path;
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

  friend std::ostream& operator<<(std::ostream& out, const path_view& path) { return out << path.to_string(); }

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
