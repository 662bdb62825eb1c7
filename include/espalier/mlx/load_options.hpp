// How a file is loaded into a tree: by which names, the whole or a part, in which dtypes.
//
//   espalier::load_safetensors("pretrained.safetensors", model.encoder, {.rules = {{"encoder.*", "*"}}, .strict = false});
#pragma once

#include <espalier/mlx/name_rules.hpp>

namespace espalier {

struct load_options {
  // From the file's names to the tree's.
  name_rules rules = {};
  // false: what of the tree is not in the file stays as it is, and what of the file is not in the tree is not loaded, as
  // mlx.nn.Module.load_weights(strict=False); the load returns both. Sizes, map keys and the alternatives of variants are
  // then not compared; entries of another shape or type are errors all the same.
  bool strict = true;
  // true: floating-point arrays of another floating-point dtype are rounded to the tree's, and integers of another
  // integer dtype converted if all of them fit.
  bool cast = false;
};

}  // namespace espalier
