// The exceptions of the library, one type per kind of fault. Every message names the key path where there is one, what
// was expected, what was found, and what to do.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace espalier {

// The base of all of them.
struct error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One place where two trees differ. `path` is a printed key path, empty at the root.
struct mismatch {
  std::string path;
  std::string expected;
  std::string found;

  friend bool operator==(const mismatch&, const mismatch&) = default;
};

// "what:\n  .layers[1].bias: expected …, found …", one line per mismatch.
inline std::string describe_mismatches(const std::string& what, const std::vector<mismatch>& differences) {
  std::string text = what;
  for (const mismatch& m : differences) {
    text.append("\n  ").append(m.path.empty() ? "(root)" : m.path);
    text.append(": expected ").append(m.expected).append(", found ").append(m.found);
  }
  return text;
}

// Trees that should have the same structure do not.
struct structure_error : error {
  structure_error(const std::string& what, std::vector<mismatch> where)
      : error(describe_mismatches(what, where)), differences(std::move(where)) {}

  std::vector<mismatch> differences;
};

// A wrong number of leaves, or a leaf of the wrong type, for a structure; no leaf, where one is needed.
struct leaf_error : error {
  using error::error;
};

// A tree that is nested too deep to be traversed: traversal is recursive, and the stack is finite.
struct depth_error : error {
  using error::error;
};

// Text that is no key path, or a key path that leads to nothing of the tree.
struct path_error : error {
  using error::error;
};

}  // namespace espalier
