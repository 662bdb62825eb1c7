// A key path from its text, as path.hpp prints it.
//
//   espalier::parse_path(".layers[0].weight").size() == 3
#pragma once

#include <charconv>
#include <cstdint>
#include <espalier/detail/quoted.hpp>
#include <espalier/errors.hpp>
#include <espalier/path.hpp>
#include <string>
#include <string_view>
#include <system_error>

namespace espalier {

namespace detail {

// Reads what print_key prints.
class path_parser {
 public:
  explicit path_parser(std::string_view text) : text_(text) {}

  key_path parse() {
    key_path path;
    while (at_ < text_.size()) {
      if (take('.')) {
        const std::string_view name = text_.substr(at_, text_.find_first_of(".[", at_) - at_);
        if (name.empty()) fail("a field's name");
        path.push_back({key_entry::kind::attribute, name});
        at_ += name.size();
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
      const std::string_view digits = text_.substr(at_, 2);
      const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
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

}  // namespace espalier
