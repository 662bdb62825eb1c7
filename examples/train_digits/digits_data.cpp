#include "digits_data.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <utility>

namespace train_digits {
namespace {

constexpr int darkest = 16;
constexpr std::size_t columns = pixels_per_image + 1;

// What stands in a file may be anything: show little of it, and nothing that a terminal would obey.
std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 24;
  std::string shown = "'";
  for (char c : text.substr(0, longest)) shown += c >= ' ' && c <= '~' ? c : '?';
  return shown + (text.size() > longest ? "...'" : "'");
}

struct place {
  std::string file;
  std::size_t line;
};

[[noreturn]] void fail(const place& at, std::size_t column, const std::string& expected, const std::string& found,
                       const std::string& advice) {
  throw data_error(at.file + ", line " + std::to_string(at.line) + ", column " + std::to_string(column) +
                   ": expected " + expected + ", found " + found + ". " + advice);
}

int parse_number(std::string_view text, int highest, const place& at, std::size_t column) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (!text.empty() && error == std::errc{} && stop == end && value >= 0 && value <= highest) return value;
  const std::string kind = column == columns ? "a label" : "a pixel";
  fail(at, column, kind + ", a whole number from 0 to " + std::to_string(highest),
       text.empty() ? "nothing" : quoted(text),
       at.line == 1 ? "If this is a header line, remove it." : "Correct this value or remove the line.");
}

void parse_line(std::string_view line, const place& at, bool cut_off, digits& into) {
  const auto found = static_cast<std::size_t>(std::count(line.begin(), line.end(), ',')) + 1;
  if (found != columns) {
    fail(at, std::min(found, columns), "65 values separated by commas (64 pixels and a label)",
         std::to_string(found) + (found == 1 ? ": " + quoted(line) : ""),
         cut_off ? "The file ends in the middle of this line: get a complete copy." : "Correct or remove the line.");
  }
  for (std::size_t column = 1; column <= columns; ++column) {
    const std::string_view text = line.substr(0, line.find(','));
    line.remove_prefix(std::min(text.size() + 1, line.size()));
    if (column == columns) {
      into.labels.push_back(parse_number(text, digit_classes - 1, at, column));
    } else {
      const int value = parse_number(text, darkest, at, column);
      into.pixels.push_back(static_cast<float>(value) / darkest);
    }
  }
}

}  // namespace

digits read_digits(const std::filesystem::path& file) {
  const std::string name = file.string();
  const std::string advice = "Give --data a CSV file such as examples/train_digits/data/digits.csv.";
  const std::string expected = name + ": expected a CSV file of digits, found ";
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) throw data_error(expected + "no such file. " + advice);
  if (std::filesystem::is_directory(file, ignored)) throw data_error(expected + "a folder. " + advice);
  std::ifstream in(file, std::ios::binary);
  if (!in) throw data_error(expected + "a file that cannot be opened. Check that you may read it.");

  digits result;
  place at{name, 0};
  for (std::string line; std::getline(in, line);) {
    ++at.line;
    if (at.line == 1 && line.starts_with("\x1f\x8b")) {
      throw data_error(expected + "a gzip archive. Unpack it first: gunzip " + name);
    }
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) parse_line(line, at, in.eof(), result);
  }
  if (in.bad()) throw data_error(name + ": reading failed after line " + std::to_string(at.line) + ". Try again.");
  if (result.labels.empty()) throw data_error(expected + "an empty file. " + advice);
  return result;
}

std::vector<std::size_t> shuffled_rows(std::size_t n, std::uint64_t seed, std::uint64_t epoch) {
  // The standard fixes what mt19937_64 and seed_seq give, but not what shuffle and uniform_int_distribution
  // do, so the shuffle (Fisher-Yates) is written out. The bias of % is below 2^-40 for any data set that fits
  // in memory.
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  std::seed_seq seeds{low(seed), low(seed >> 32), low(epoch), low(epoch >> 32)};
  std::mt19937_64 random(seeds);
  std::vector<std::size_t> rows(n);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  for (std::size_t i = n; i > 1; --i) std::swap(rows[i - 1], rows[static_cast<std::size_t>(random() % i)]);
  return rows;
}

split_digits split_train_test(const digits& all, split_options options) {
  const double wanted = std::ceil(options.test_fraction * static_cast<double>(all.size()));
  if (!(wanted >= 1 && wanted < static_cast<double>(all.size()))) {
    throw std::invalid_argument("cannot hold out a fraction of " + std::to_string(options.test_fraction) + " of " +
                                std::to_string(all.size()) + " images: train and test need an image each");
  }
  // mini_batches counts its epochs from 0: the last number keeps the split apart from every epoch's order.
  const auto rows = shuffled_rows(all.size(), options.seed, ~std::uint64_t{0});
  const auto held_out = static_cast<std::size_t>(wanted);
  return {.train = take(all, std::span(rows).subspan(held_out)), .test = take(all, std::span(rows).first(held_out))};
}

std::vector<std::vector<std::size_t>> mini_batches(std::size_t n, std::size_t batch_size, std::uint64_t seed,
                                                   std::uint64_t epoch) {
  if (batch_size == 0) throw std::invalid_argument("a mini-batch needs at least one row");
  const auto rows = shuffled_rows(n, seed, epoch);
  std::vector<std::vector<std::size_t>> batches;
  for (std::span<const std::size_t> rest(rows); !rest.empty();) {
    const auto batch = rest.first(std::min(batch_size, rest.size()));
    batches.emplace_back(batch.begin(), batch.end());
    rest = rest.subspan(batch.size());
  }
  return batches;
}

digits take(const digits& from, std::span<const std::size_t> rows) {
  digits taken;
  taken.pixels.reserve(rows.size() * pixels_per_image);
  taken.labels.reserve(rows.size());
  for (std::size_t row : rows) {
    taken.labels.push_back(from.labels.at(row));
    const std::span<const float> image = std::span(from.pixels).subspan(row * pixels_per_image, pixels_per_image);
    taken.pixels.insert(taken.pixels.end(), image.begin(), image.end());
  }
  return taken;
}

}  // namespace train_digits
