#include "text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <random>

namespace train_lm {
namespace {

void require_length(std::size_t length, std::size_t tokens) {
  if (tokens <= length) {
    throw text_error("the text, or its held-out tenth, has " + std::to_string(tokens) + " characters; rows of " +
                     std::to_string(length) + " need more. Give a longer text, or a smaller --context.");
  }
}

}  // namespace

corpus read_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) throw text_error(file.string() + ": cannot be read. Give --data a text file.");
  if (text.empty()) throw text_error(file.string() + ": is empty. Give --data a text file.");
  std::array<bool, 256> there{};
  for (const char c : text) there[static_cast<unsigned char>(c)] = true;
  corpus result{.alphabet = {}, .tokens = {}, .split = text.size() - text.size() / 10};
  for (std::size_t byte = 0; byte < there.size(); ++byte) {
    if (there[byte]) result.alphabet.push_back(static_cast<char>(byte));
  }
  result.tokens = encode(text, result.alphabet);
  return result;
}

std::vector<std::int32_t> encode(std::string_view text, const std::string& alphabet) {
  std::array<std::int32_t, 256> token{};
  token.fill(-1);
  for (std::size_t i = 0; i < alphabet.size(); ++i) {
    token[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int32_t>(i);
  }
  std::vector<std::int32_t> tokens;
  tokens.reserve(text.size());
  for (const char c : text) {
    tokens.push_back(token[static_cast<unsigned char>(c)]);
    if (tokens.back() < 0)
      throw text_error("a character of '" + std::string(text.substr(0, 40)) + "' is not in the text that was learned");
  }
  return tokens;
}

double bigram_entropy(const corpus& text) {
  const std::size_t n = text.alphabet.size();
  std::vector<double> pairs(n * n), firsts(n);
  for (std::size_t i = 0; i + 1 < text.tokens.size(); ++i) {
    const auto a = static_cast<std::size_t>(text.tokens[i]), b = static_cast<std::size_t>(text.tokens[i + 1]);
    ++pairs[a * n + b];
    ++firsts[a];
  }
  double nats = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i] > 0) nats -= pairs[i] * std::log(pairs[i] / firsts[i / n]);
  }
  return nats / static_cast<double>(text.tokens.size() - 1);
}

std::vector<std::size_t> random_rows(std::size_t rows, std::size_t length, std::size_t tokens, std::uint64_t seed,
                                     std::uint64_t step) {
  require_length(length, tokens);
  // The standard fixes what these give, but not what uniform_int_distribution does; the bias of % is below 2^-40.
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  std::seed_seq seeds{low(seed), low(seed >> 32), low(step), low(step >> 32)};
  std::mt19937_64 random(seeds);
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < rows; ++i) begins.push_back(static_cast<std::size_t>(random() % (tokens - length)));
  return begins;
}

std::vector<std::size_t> even_rows(std::size_t rows, std::size_t length, std::size_t tokens) {
  require_length(length, tokens);
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < rows; ++i)
    begins.push_back((tokens - length - 1) * i / std::max<std::size_t>(rows - 1, 1));
  return begins;
}

}  // namespace train_lm
