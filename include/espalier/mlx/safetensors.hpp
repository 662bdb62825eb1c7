// Trees as safetensors files, by dotted key path. Arrays are tensors (`layers.0.weight`), which mlx.nn in Python and every
// other reader of the format finds by name; all other leaves and all aux values are typed text in the file's metadata
// (`leaf:layers.0.stride` is `i32:2`).
//
//   espalier::save_safetensors("model.safetensors", model);
//   espalier::load_safetensors("model.safetensors", model);  // all of it, or an error with every difference
//
// docs/checkpoints.md has the format of the metadata.
#pragma once

#include <cstdint>
#include <espalier/mlx/checkpoint_error.hpp>
#include <espalier/mlx/detail/tree_entries.hpp>
#include <espalier/mlx/load_options.hpp>
#include <espalier/mlx/name_rules.hpp>
#include <espalier/path_view.hpp>
#include <espalier/structure.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace espalier {

namespace detail {

class file_reader;

// A safetensors file that was opened and whose header was checked. Its arrays are read when they are evaluated.
class safetensors_file {
 public:
  explicit safetensors_file(const std::filesystem::path& file);

  named_entries entries;

  std::string name() const;  // for errors
  // Throws checkpoint_error if an array could not be read to its end.
  void require_whole() const;

 private:
  std::filesystem::path path_;
  std::shared_ptr<file_reader> reader_;
};

std::string not_written(const std::filesystem::path& file);
void write_safetensors(const std::filesystem::path& file, named_entries entries, std::uint64_t structure_hash);

}  // namespace detail

// Writes a tree to a file, whatever its name ends with. The arrays are evaluated; those of more than one use are written
// more than once. The file appears under its name only when all of it is on the disk (it is written beside it, synchronised
// and renamed); a file that was there is replaced. With rules, entries get the names that the rules give them in files, and
// load_safetensors with the same rules reads them again. Throws checkpoint_error if two leaves have the same dotted path
// (`m["a.b"]["c"]` and `m["a"]["b.c"]` have), if the rules do not lead back to a leaf's name, if a path is not UTF-8, if an
// array is float64, which MLX does not write, or if the file cannot be written; the old file is then untouched, and nothing
// is left beside it.
//
// Metadata: espalier.version; espalier.structure_hash, structure_hash_v<Tree> in hexadecimal, for people and tools; typed
// text under leaf:PATH, aux:PATH and node:PATH (what a container holds: sizes, keys, None). Arrays without elements are text
// as well.
template <class Tree>
void save_safetensors(const std::filesystem::path& file, const Tree& tree, const name_rules& rules = {}) {
  static_assert(detail::require_trees<Tree>());
  detail::tree_writer out(rules);
  detail::save_tree(out, path_view{}, tree);
  detail::write_safetensors(file, out.finish(detail::not_written(file)), structure_hash_v<Tree>);
}

// Replaces every leaf and aux value of a tree by the file's. The tree gives the structure: sizes, keys, which optionals are
// engaged, shapes and dtypes must be the file's. Throws checkpoint_error, and leaves the tree untouched, if the file cannot
// be read, is truncated or no safetensors file (what() names the file, `differences` every bad entry), or does not fit: then
// it lists every missing, unexpected and differing entry, with the name in the file where a rule changed it. Everything is
// read and checked before the tree is changed. Files of other programs have arrays only: a tree's other leaves and aux values
// then stay as they are. Returns what was not loaded, which is nothing unless options.strict is false.
template <class Tree>
std::vector<mismatch> load_safetensors(const std::filesystem::path& file, Tree& tree,
                                       const load_options& options = {}) {
  static_assert(detail::require_trees<Tree>());
  static_assert(!std::is_const_v<Tree>, "espalier: load_safetensors: the tree is const; give one that can be changed");
  detail::safetensors_file source(file);
  detail::tree_reader in(std::move(source.entries), options);
  Tree loaded = detail::load_tree(in, path_view{}, std::as_const(tree));
  std::vector<mismatch> left_out = in.finish(source.name());
  source.require_whole();
  detail::replace(tree, std::move(loaded));
  return left_out;
}

}  // namespace espalier
