// The checkpoints of a training run: a folder of safetensors files, one for each step that was saved, of which the last
// few are kept.
//
//   const espalier::checkpoint_manager checkpoints{.folder = "run", .max_to_keep = 3};
//   std::uint64_t step = checkpoints.restore(state).value_or(0);       // goes on where the last run ended, or begins
//   for (; step < 1000; ++step) {
//     …
//     if ((step + 1) % 100 == 0) checkpoints.save(step + 1, state);
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <espalier/mlx/checkpoint_error.hpp>
#include <espalier/mlx/safetensors.hpp>
#include <filesystem>
#include <optional>
#include <vector>

namespace espalier {

// As Orbax's CheckpointManager. Checkpoints are folder/step_00000100.safetensors; files of other names are neither read nor
// removed. One program at a time saves to a folder (of a distributed run, one rank); any may read. Each call looks at the
// folder anew.
struct checkpoint_manager {
  std::filesystem::path folder;
  std::optional<std::size_t> max_to_keep = std::nullopt;  // the last so many; nothing: all

  // Saves a tree as save_safetensors, and makes the folder if it is not there; then removes the checkpoints of the lowest
  // steps, but never this one, until max_to_keep are left, and what saves that were killed have left behind. A checkpoint
  // of the same step is replaced. One that cannot be removed stays until the next save. Throws checkpoint_error if the tree
  // cannot be saved (then nothing is removed), or if max_to_keep is 0.
  template <class Tree> void save(std::uint64_t step, const Tree& tree) const {
    make_folder();
    save_safetensors(path(step), tree);
    remove_old(step);
  }

  // Loads the checkpoint of the highest step into a tree as load_safetensors, and returns its step; nothing, and the tree as
  // it is, if there is none. Throws what load_safetensors throws: a damaged checkpoint is an error, not a reason to go on
  // from an older one unasked (`restore(step, tree)` does, with one of all_steps()).
  template <class Tree> std::optional<std::uint64_t> restore(Tree& tree) const {
    const std::optional<std::uint64_t> step = latest_step();
    if (step) load_safetensors(path(*step), tree);
    return step;
  }
  // The checkpoint of this step. Throws checkpoint_error, with the steps that there are, if it is not there.
  template <class Tree> void restore(std::uint64_t step, Tree& tree) const {
    require_step(step);
    load_safetensors(path(step), tree);
  }

  // The highest step that was saved.
  std::optional<std::uint64_t> latest_step() const;
  // All that were, from the lowest. Throws checkpoint_error if the folder is there but cannot be read.
  std::vector<std::uint64_t> all_steps() const;
  // The file of a step.
  std::filesystem::path path(std::uint64_t step) const;

 private:
  void make_folder() const;
  void require_step(std::uint64_t step) const;
  void remove_old(std::uint64_t saved) const;
};

}  // namespace espalier
