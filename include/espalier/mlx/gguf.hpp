// GGUF files, as llama.cpp writes them: their tensors into a tree, and their metadata as typed values.
//
//   const espalier::gguf_file file("model.gguf");
//   llama model = make_llama(file.get<int>("llama.block_count"));
//   espalier::load_gguf(file, model, {.rules = {{"blk.{}.attn_q.weight", "layers.{}.attention.query"}, …}, .cast = true});
#pragma once

#include <mlx/array.h>

#include <cstdint>
#include <espalier/detail/types.hpp>
#include <espalier/dotted_names.hpp>
#include <espalier/mlx/checkpoint_error.hpp>
#include <espalier/mlx/detail/tree_entries.hpp>
#include <espalier/mlx/load_options.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace espalier {

namespace detail {

template <class T> struct no_gguf_value {
  static_assert(
      always_false<T>,
      "espalier: gguf_file::get: a file has no values of this type (named beside this message); ask for bool, an "
      "integer, float, double, std::string, std::vector<std::string>, or mlx::core::array for an array of numbers");
};

}  // namespace detail

// A GGUF file in memory, read by MLX: F32, F16, BF16, I8, I16 and I32 tensors as they are; Q4_0, Q4_1 and Q8_0 as MLX's
// quantised weights (`NAME.weight`, `NAME.scales`, `NAME.biases`, as mlx.nn.QuantizedLinear has them); Q2_K, Q4_K and Q6_K
// as float16. Shapes are the usual ones, the reverse of GGUF's. Copies share the arrays.
class gguf_file {
 public:
  // Reads all of it. Throws checkpoint_error if the file cannot be read (MLX needs leave to write to it), is truncated,
  // damaged, of another version than 2 or 3, or has tensors or metadata that MLX does not read; `differences` has every bad
  // tensor.
  explicit gguf_file(const std::filesystem::path& file);

  // The keys of the metadata, sorted.
  std::vector<std::string> keys() const;
  bool contains(std::string_view key) const;
  // A value of the metadata: a bool, a number, a std::string, a std::vector<std::string>, or any number or array of numbers
  // as an mlx::core::array. Integers of any width and sign are converted if they fit, floating-point numbers are rounded
  // (MLX reads 64 bits as 32). Throws checkpoint_error, with the key, for a missing key, another type and a number that does
  // not fit.
  template <class T> T get(const std::string& key) const;

  // For load_gguf.
  detail::named_entries entries() const;
  std::string name() const;

 private:
  struct contents;

  // A value in the largest type of its kind.
  std::variant<bool, std::int64_t, std::uint64_t, double> number(const std::string& key) const;
  const std::string& text(const std::string& key) const;
  const std::vector<std::string>& texts(const std::string& key) const;
  const ::mlx::core::array& array(const std::string& key) const;
  [[noreturn]] void wrong_type(const std::string& key, const std::string& expected) const;

  std::shared_ptr<const contents> contents_;
};

template <class T> T gguf_file::get(const std::string& key) const {
  if constexpr (std::is_same_v<T, std::string>) {
    return text(key);
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    return texts(key);
  } else if constexpr (std::is_same_v<T, ::mlx::core::array>) {
    return array(key);
  } else if constexpr (std::is_same_v<T, bool>) {
    const auto held = number(key);
    if (!std::holds_alternative<bool>(held)) wrong_type(key, "a bool");
    return std::get<bool>(held);
  } else if constexpr (std::is_integral_v<T> || detail::is_one_of<T, float, double>) {
    const auto convert = [&](auto value) -> T {
      constexpr bool of_kind = !std::is_same_v<decltype(value), bool> &&
                               (std::is_floating_point_v<T> || std::is_integral_v<decltype(value)>);
      if (!of_kind || !detail::holds_number<T>(value)) {
        wrong_type(key, of_kind || std::is_floating_point_v<T> ? detail::number_range<T>() : "a whole number");
      }
      return static_cast<T>(value);
    };
    return std::visit(convert, number(key));
  } else {
    static_assert(sizeof(detail::no_gguf_value<T>) > 0);
  }
}

// Replaces the arrays of a tree by the file's tensors; leaves and aux values that are no arrays stay as they are. Names,
// shapes and dtypes must be the tree's, up to options, as with load_safetensors; throws and returns the same.
template <class Tree>
std::vector<mismatch> load_gguf(const gguf_file& file, Tree& tree, const load_options& options = {}) {
  static_assert(detail::require_trees<Tree>());
  static_assert(!std::is_const_v<Tree>, "espalier: load_gguf: the tree is const; give one that can be changed");
  detail::tree_reader in(file.entries(), options);
  Tree loaded = detail::load_tree(in, path_view{}, std::as_const(tree));
  std::vector<mismatch> left_out = in.finish(file.name());
  detail::replace(tree, std::move(loaded));
  return left_out;
}

}  // namespace espalier
