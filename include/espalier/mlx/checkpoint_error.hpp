// What goes wrong with files of trees.
#pragma once

#include <espalier/errors.hpp>
#include <string>
#include <utility>
#include <vector>

namespace espalier {

// A file cannot be written or read, is damaged, or does not fit the tree; then `differences` has every entry that is
// missing, unexpected, or of another shape or type. Their paths are dotted, as the file names its entries:
// `layers.0.weight`. What containers hold stands first: a missing key explains the entries that are missing below it.
struct checkpoint_error : error {
  explicit checkpoint_error(const std::string& what, std::vector<mismatch> where = {})
      : error(describe_mismatches(what, where)), differences(std::move(where)) {}

  std::vector<mismatch> differences;
};

}  // namespace espalier
