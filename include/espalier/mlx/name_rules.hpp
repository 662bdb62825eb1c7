// The names of other programs' checkpoints: an ordered list of rules that lead from the names in a file to the dotted
// names of a tree, and back.
//
//   const espalier::name_rules rules = {{"model.layers.{}.self_attn.q_proj.weight", "layers.{}.attention.query"},
//                                       {"model.conv.weight", "conv.weight", {0, 2, 3, 1}},  // PyTorch's OIHW to OHWI
//                                       {"*.inv_freq", std::nullopt},                        // left out
//                                       {"model.*", "*"}};                                   // all others
//   espalier::load_safetensors("model.safetensors", model, {.rules = rules});
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

// One rule: names that match `file`, as a whole, become `tree`. In a pattern `{}` stands for one key (any characters but
// a dot, at least one), `*` for any characters, at least one; the first take as little as they can. Both patterns have
// the same placeholders in the same order. An entry of the file whose `tree` is nothing is left out.
struct name_rule {
  std::string file;
  std::optional<std::string> tree;
  std::vector<int> axes = {};  // the tree's array is mlx::core::transpose(the file's, axes); empty: as it is
};

// The first rule that matches a name counts, so the special ones stand before the general; names that none matches stay.
class name_rules {
 public:
  name_rules() = default;
  // Throws checkpoint_error if the placeholders of a rule differ, or its axes are no permutation.
  name_rules(std::initializer_list<name_rule> rules) : name_rules(std::vector<name_rule>(rules)) {}
  explicit name_rules(std::vector<name_rule> rules);

  struct renamed {
    std::optional<std::string> name = std::nullopt;  // nothing: the entry is left out
    std::vector<int> axes = {};                      // as in name_rule
  };

  // What an entry of a file is called in the tree, as load_safetensors and load_gguf ask.
  renamed in_tree(std::string_view name) const;
  // What a leaf of the tree is called in the file, as save_safetensors asks: the first rule counts whose `tree` matches;
  // `axes` are then those of the way to the file.
  renamed in_file(std::string_view name) const;

  bool empty() const { return rules_.empty(); }

 private:
  std::vector<name_rule> rules_;
};

}  // namespace espalier
