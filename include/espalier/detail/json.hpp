// The little of JSON that a stored structure needs: a strict reader that knows at which line and column every value
// stands, and the writing of a string.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <espalier/typed_text.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_set>

namespace espalier::detail {

// Appends a string in quotes. The text must be UTF-8.
inline void write_json_string(std::string& out, std::string_view text) {
  out.push_back('"');
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.append(1, '\\').append(1, c);
    } else if (c == '\n') {
      out.append("\\n");
    } else if (byte < 0x20) {
      out.append("\\u00").append(1, "01"[byte >> 4]).append(1, "0123456789abcdef"[byte & 15]);
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
}

// Takes one value after the other off a text, each of the kind that is asked for. Fault is thrown as
// Fault(reason, line, column) for everything else; columns count bytes, from 1.
template <class Fault> class json_reader {
 public:
  explicit json_reader(std::string_view text) : text_(text) {}

  [[noreturn]] void fail(const std::string& reason, std::size_t position) const {
    const std::string_view before = text_.substr(0, position);
    const auto lines = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
    throw Fault(reason, lines + 1, position - (before.rfind('\n') + 1) + 1);
  }

  // Where the next value begins.
  std::size_t position() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) {
      ++at_;
    }
    return at_;
  }

  std::string string() {
    expect('"', "a string");
    const std::size_t begin = at_ - 1;
    std::string out;
    while (true) {
      if (at_ == text_.size()) fail("a string without an end", begin);
      const char c = text_[at_];
      if (static_cast<unsigned char>(c) < 0x20) fail("a control character in a string", at_);
      ++at_;
      if (c == '"') break;
      if (c == '\\') {
        append_escaped(out);
      } else {
        out.push_back(c);
      }
    }
    if (!is_utf8(out)) fail("a string that is not UTF-8", begin);
    return out;
  }

  std::uint64_t whole_number() {
    const std::size_t begin = position();
    const std::size_t end = std::min(text_.find_first_not_of("0123456789", begin), text_.size());
    std::uint64_t value = 0;
    const auto [stop, fault] = std::from_chars(text_.data() + begin, text_.data() + end, value);
    if (fault != std::errc{} || (text_[begin] == '0' && end - begin > 1)) fail("expected a whole number", begin);
    at_ = end;
    return value;
  }

  bool boolean() {
    const std::size_t begin = position();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "true" : "false";
      if (text_.substr(begin, word.size()) != word) continue;
      at_ = begin + word.size();
      return value;
    }
    fail("expected true or false", begin);
  }

  // Whether null comes next; then takes it.
  bool null() {
    if (text_.substr(position(), 4) != "null") return false;
    at_ += 4;
    return true;
  }

  // Calls element() for each element, which must take it off the text.
  template <class Element> void array(Element element) {
    expect('[', "an array");
    if (take(']')) return;
    do element();
    while (take(','));
    expect(']', "',' or ']'");
  }

  // Calls member(name, position of the name) for each member, which must take its value. No name may come twice.
  template <class Member> void object(Member member) {
    expect('{', "an object");
    if (take('}')) return;
    std::unordered_set<std::string> names;
    do {
      const std::size_t begin = position();
      const std::string name = string();
      if (!names.insert(name).second) fail("a member for the second time", begin);
      expect(':', "':'");
      member(name, begin);
    } while (take(','));
    expect('}', "',' or '}'");
  }

  void end() {
    if (position() != text_.size()) fail("expected the end of the text", at_);
  }

 private:
  bool take(char c) {
    if (position() == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c, const char* what) {
    if (!take(c)) fail(std::string("expected ") + what, at_);
  }

  std::uint32_t code_unit() {
    const std::size_t begin = at_;
    std::uint32_t unit = 0;
    const char* const first = text_.data() + begin;
    const auto [stop, fault] = std::from_chars(first, text_.data() + std::min(begin + 4, text_.size()), unit, 16);
    if (fault != std::errc{} || stop != first + 4) fail("expected four hexadecimal digits behind \\u", begin);
    at_ += 4;
    return unit;
  }

  void append_escaped(std::string& out) {
    constexpr std::string_view letters = "\"\\/bfnrt";
    constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    const std::size_t begin = at_ - 1;
    const char c = at_ < text_.size() ? text_[at_++] : '\0';
    if (const std::size_t found = letters.find(c); found != std::string_view::npos) {
      out.push_back(meanings[found]);
      return;
    }
    if (c != 'u') fail("an unknown escape in a string", begin);
    std::uint32_t code = code_unit();
    if (code >= 0xD800 && code < 0xDC00) {
      if (text_.substr(at_, 2) != "\\u") fail("half of a surrogate pair in a string", begin);
      at_ += 2;
      const std::uint32_t low = code_unit();
      if (low < 0xDC00 || low > 0xDFFF) fail("half of a surrogate pair in a string", begin);
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xDC00 && code <= 0xDFFF) {
      fail("half of a surrogate pair in a string", begin);
    }
    const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(static_cast<unsigned char>(byte))); };
    if (code < 0x80) {
      put(code);
    } else if (code < 0x800) {
      put(0xC0 | code >> 6);
    } else if (code < 0x10000) {
      put(0xE0 | code >> 12);
      put(0x80 | (code >> 6 & 0x3F));
    } else {
      put(0xF0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3F));
      put(0x80 | (code >> 6 & 0x3F));
    }
    if (code >= 0x80) put(0x80 | (code & 0x3F));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace espalier::detail
