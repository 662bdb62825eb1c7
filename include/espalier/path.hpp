// A key path that owns its keys: what stays when the visit that had it (path_view.hpp) is over.
//
//   std::vector<espalier::key_path> paths;
//   espalier::tree_visit_with_path([&](const auto& path, double) { paths.push_back(path.own()); }, model);
//
// parse_path.hpp reads one from its text.
#pragma once

#include <cstdint>
#include <espalier/path_view.hpp>
#include <iosfwd>
#include <string>
#include <vector>

namespace espalier {

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
  template <class Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, const key_path& path) {
    return out << path.to_string();
  }

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

}  // namespace espalier
