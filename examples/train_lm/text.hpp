// The text to learn from, as numbers: a token is a character's place in the text's alphabet.
//
//   const corpus text = read_text("shakespeare.txt");
//   bigram_entropy(text);                               // 2.45 nats: what a model has to beat that sees one character
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace train_lm {

struct corpus {
  std::string alphabet;              // the bytes that occur, in their order
  std::vector<std::int32_t> tokens;  // the whole text
  std::size_t split;                 // tokens to train on; those behind them are held out

  std::span<const std::int32_t> train() const { return std::span(tokens).first(split); }
  std::span<const std::int32_t> held_out() const { return std::span(tokens).subspan(split); }
};

// A text that cannot be read or used. what() says why and what to do.
struct text_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The file's bytes; the last tenth is held out. Throws text_error.
corpus read_text(const std::filesystem::path& file);

// Throws text_error if a byte is not in the alphabet.
std::vector<std::int32_t> encode(std::string_view text, const std::string& alphabet);

// Nats per character that a character costs where the one before it is known: H(b | a) = -sum p(a, b) log p(b | a), with the
// frequencies of the text itself (Shannon, "Prediction and entropy of printed English", 1951, N = 2). No model that sees
// one character can have a smaller loss on this text.
double bigram_entropy(const corpus& text);

// Where the rows of a mini-batch begin: each row anywhere in `tokens`, with `length` tokens behind its begin. The same
// for the same seed and step, so that a resumed run needs no memory of what it has seen. Throws text_error if the text
// is shorter than a row.
std::vector<std::size_t> random_rows(std::size_t rows, std::size_t length, std::size_t tokens, std::uint64_t seed,
                                     std::uint64_t step);

// The same, evenly spread from first to last: to compare losses of one run.
std::vector<std::size_t> even_rows(std::size_t rows, std::size_t length, std::size_t tokens);

}  // namespace train_lm
