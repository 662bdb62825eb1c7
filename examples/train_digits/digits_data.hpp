// Handwritten digits in plain vectors: read from a CSV file, split into train and test, dealt out in
// mini-batches.
//
//   auto [train, test] = split_train_test(read_digits("digits.csv"), {.test_fraction = 0.2, .seed = 1});
//   for (const auto& rows : mini_batches(train.size(), 64, seed, epoch)) step(state, take(train, rows));
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <vector>

namespace train_digits {

inline constexpr std::size_t pixels_per_image = 64;  // 8 x 8, row by row
inline constexpr int digit_classes = 10;

// n images and what they show. Image i is pixels[64 i .. 64 i + 63], scaled to 0 (white) .. 1 (black).
struct digits {
  std::vector<float> pixels;  // n x 64
  std::vector<int> labels;    // n, each 0 .. 9

  std::size_t size() const { return labels.size(); }
};

// A file that cannot be used. what() names the file, line and column, what was expected, what was found, what
// to do.
struct data_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Reads 64 pixels (0 .. 16) and a label (0 .. 9) from every line; blank lines are skipped. Throws data_error.
digits read_digits(const std::filesystem::path& file);

struct split_options {
  double test_fraction = 0.2;  // rounded up to whole images: 360 of 1,797
  std::uint64_t seed = 0;
};

struct split_digits {
  digits train, test;
};

// Shuffles, then holds out the first images as the test set. The same data and options give the same split on
// every platform. Throws std::invalid_argument where either side would be empty.
split_digits split_train_test(const digits& all, split_options options = {});

// The rows 0 .. n-1 in an order that depends on nothing but the arguments: a resumed run sees the batches
// that an uninterrupted one would.
std::vector<std::size_t> shuffled_rows(std::size_t n, std::uint64_t seed, std::uint64_t epoch);

// The rows of every mini-batch of one epoch. Each row comes once; the last batch is ragged where batch_size
// does not divide n. Throws std::invalid_argument for a batch_size of 0.
std::vector<std::vector<std::size_t>> mini_batches(std::size_t n, std::size_t batch_size, std::uint64_t seed,
                                                   std::uint64_t epoch);

// Copies the given rows, in their order. Throws std::out_of_range.
digits take(const digits& from, std::span<const std::size_t> rows);

}  // namespace train_digits
