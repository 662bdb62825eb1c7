// Structures and their hashes as they are stored: the same from every compiler, standard and back end, forever. The file
// has a line for every tree of the corpus, `HASH ENCODING` in hexadecimal; structure_hashes.py computes the hashes from
// the encodings with another implementation of XXH64. CASES 30.

#include <espalier/structure.hpp>
#include <fstream>
#include <string>
#include <vector>

#include "corpus.hpp"

namespace {

std::string hexadecimal(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

template <class T> void add_lines(std::vector<std::string>& lines) {
  for (const T& tree : corpus::examples<T>()) {
    const espalier::treedef<T> structure(tree);
    std::string hash;
    for (int shift = 56; shift >= 0; shift -= 8) hash += static_cast<char>(structure.hash() >> shift);
    lines.push_back(hexadecimal(hash) + " " + hexadecimal(structure.encoding()));
  }
}
template <class... T> std::vector<std::string> lines_of(testing::Types<T...>) {
  std::vector<std::string> lines;
  (add_lines<T>(lines), ...);
  return lines;
}

TEST(structure_hashes, are_those_that_are_stored) {
  std::ifstream file(STORED_HASHES);
  ASSERT_TRUE(file) << STORED_HASHES;
  std::vector<std::string> stored;
  for (std::string line; std::getline(file, line);) stored.push_back(line);
  const std::vector<std::string> lines = lines_of(corpus::types());
  EXPECT_EQ(stored.size(), lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i], i < stored.size() ? stored[i] : "nothing") << "line " << i + 1;
  }
}

}  // namespace
