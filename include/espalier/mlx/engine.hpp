// MLX as an engine for espalier::compile.
#pragma once

#include <espalier/compile.hpp>
#include <espalier/mlx/array.hpp>
#include <espalier/mlx/plan.hpp>

namespace espalier {

namespace engines {

struct mlx {
  using array = ::mlx::core::array;
  using plan = detail::mlx_plan;

  // MLX's streams belong to threads, so each thread traces for itself.
  struct place {
    int device_type;
    int device_index;
    int stream;
    friend bool operator==(const place&, const place&) = default;
  };

  static place current_place();

  // One word for dtype and rank, then the shape.
  static void append_signature(std::vector<signature_word>& words, const array& a, bool shapeless) {
    words.push_back(first_word(a));
    if (shapeless) return;
    for (const ::mlx::core::ShapeElem n : a.shape()) words.push_back(static_cast<signature_word>(n));
  }
  // (A loop: for a few numbers the call of memcmp, which == becomes, costs more than they do.)
  ESPALIER_INLINE static const signature_word* match_signature(const signature_word* words, const array& a,
                                                               bool shapeless) {
    if (*words++ != first_word(a)) return nullptr;
    if (shapeless) return words;
    for (const ::mlx::core::ShapeElem n : a.shape()) {
      if (*words++ != static_cast<signature_word>(n)) return nullptr;
    }
    return words;
  }
  static std::string describe_signature(const array& a, bool shapeless);

  static bool transforming();
  static array blank() { return array(::mlx::core::Shape{}, ::mlx::core::float32, nullptr, {}); }
  static plan record(std::span<const array* const> inputs, const array_function<array>& f,
                     const record_options& options) {
    return plan::record(inputs, f, options);
  }
  static std::optional<std::string> explain(const std::exception& failure, std::span<const std::string> names);

 private:
  static signature_word first_word(const array& a) {
    return static_cast<signature_word>(a.dtype().val()) << 16 | static_cast<signature_word>(a.ndim() + 1);
  }
};

}  // namespace engines

extern template class detail::trace_cache<engines::mlx>;

}  // namespace espalier
