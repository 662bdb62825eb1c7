#include <gtest/gtest.h>
#include <mlx/mlx.h>

#include <cstdint>
#include <espalier/equal.hpp>
#include <espalier/mlx/checkpoint_manager.hpp>
#include <espalier/mlx/eval.hpp>
#include <espalier/mlx/grad.hpp>
#include <espalier/mlx/math.hpp>
#include <espalier/optim/adam.hpp>
#include <espalier/optim/apply_updates.hpp>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "../messages.hpp"
#include "../scratch_folder.hpp"

namespace {

namespace fs = std::filesystem;
namespace mx = ::mlx::core;
using espalier::checkpoint_error;
using espalier::checkpoint_manager;
using steps = std::vector<std::uint64_t>;

struct state {
  mx::array weight;
  int epoch;
};
state make_state(int n) { return {mx::full({2}, static_cast<float>(n)), n}; }

class CheckpointManager : public ::testing::Test {
 protected:
  std::set<std::string> names() const {
    std::set<std::string> all;
    for (const auto& entry : fs::directory_iterator(folder)) all.insert(entry.path().filename().string());
    return all;
  }
  void touch(const std::string& name) const { std::ofstream(folder / name) << "x"; }

  scratch_folder scratch;
  fs::path folder = scratch.path / "run";  // not there yet
};

TEST_F(CheckpointManager, WithoutCheckpointsARunBegins) {
  const checkpoint_manager manager{folder};
  state s = make_state(1);
  EXPECT_EQ(manager.restore(s), std::nullopt);
  EXPECT_EQ(manager.latest_step(), std::nullopt);
  EXPECT_TRUE(manager.all_steps().empty());
  EXPECT_EQ(s.epoch, 1);
  EXPECT_FALSE(fs::exists(folder));
}

TEST_F(CheckpointManager, ARunGoesOnFromTheHighestStep) {
  const checkpoint_manager manager{folder};
  for (const int n : {2, 100, 30}) manager.save(static_cast<std::uint64_t>(n), make_state(n));
  EXPECT_EQ(manager.all_steps(), (steps{2, 30, 100}));
  state s = make_state(1);
  EXPECT_EQ(manager.restore(s), 100U);
  EXPECT_TRUE(espalier::tree_equal(s, make_state(100)));
  manager.restore(30, s);
  EXPECT_TRUE(espalier::tree_equal(s, make_state(30)));
}

struct line {
  mx::array slope, offset;
};
struct training {
  line params;
  espalier::optim::adam_state<line> optimizer;
  std::uint64_t seed;
};

void train(training& t, int times) {
  const espalier::optim::adam opt{.learning_rate = 0.05};
  const auto loss = [](const line& l, const mx::array& x) {
    return mx::mean(mx::square(l.slope * x + l.offset - (2.0f * x + 1.0f)));
  };
  for (int i = 0; i < times; ++i) {
    const auto x = mx::random::normal({16}, mx::float32, mx::random::key(t.seed++));
    const auto [value, gradient] = espalier::value_and_grad(loss)(t.params, x);
    espalier::optim::apply_updates(t.params, opt.update(gradient, t.optimizer, t.params));
    espalier::eval(t);
  }
}

training begin() {
  const line params{mx::array(0.0f), mx::array(0.0f)};
  return {params, espalier::optim::adam{.learning_rate = 0.05}.init(params), 7};
}

TEST_F(CheckpointManager, AResumedTrainingIsTheUnbrokenOneBitForBit) {
  training unbroken = begin();
  train(unbroken, 20);

  const checkpoint_manager manager{folder};
  training first = begin();
  train(first, 8);
  manager.save(8, first);
  training resumed = begin();
  ASSERT_EQ(manager.restore(resumed), 8U);
  train(resumed, 12);
  EXPECT_TRUE(espalier::tree_equal(resumed, unbroken));
  EXPECT_FALSE(espalier::tree_equal(first, unbroken));
}

TEST_F(CheckpointManager, ListingsByNameAreByStep) {
  const checkpoint_manager manager{folder};
  manager.save(7, make_state(1));
  manager.save(123456789012, make_state(2));
  manager.save(0, make_state(3));
  EXPECT_EQ(names(), (std::set<std::string>{"step_00000000.safetensors", "step_00000007.safetensors",
                                            "step_123456789012.safetensors"}));
  EXPECT_EQ(manager.all_steps(), (steps{0, 7, 123456789012}));
  EXPECT_EQ(manager.path(7), folder / "step_00000007.safetensors");
}

TEST_F(CheckpointManager, TheLastFewAreKept) {
  const checkpoint_manager manager{.folder = folder, .max_to_keep = 3};
  for (int n = 10; n <= 60; n += 10) manager.save(static_cast<std::uint64_t>(n), make_state(n));
  EXPECT_EQ(manager.all_steps(), (steps{40, 50, 60}));
  EXPECT_EQ(names().size(), 3U);
}

TEST_F(CheckpointManager, WhatWasJustSavedIsNeverRemoved) {
  const checkpoint_manager manager{.folder = folder, .max_to_keep = 1};
  manager.save(100, make_state(100));
  manager.save(50, make_state(50));
  EXPECT_EQ(manager.all_steps(), (steps{50}));
  const checkpoint_manager two{.folder = folder, .max_to_keep = 2};
  two.save(70, make_state(70));
  two.save(20, make_state(20));
  EXPECT_EQ(two.all_steps(), (steps{20, 70}));
  two.save(20, make_state(21));
  state s = make_state(1);
  two.restore(20, s);
  EXPECT_EQ(s.epoch, 21);
}

TEST_F(CheckpointManager, OtherFilesAreNeitherReadNorRemoved) {
  const checkpoint_manager manager{.folder = folder, .max_to_keep = 1};
  manager.save(5, make_state(5));
  const std::set<std::string> others{"step_9.safetensors",         "step_00000009.safetensors.bak",
                                     "step_-0000009.safetensors",  "step_00000009",
                                     "step_0000000x.safetensors",  "notes.txt",
                                     "step_.safetensors",          "step_99999999999999999999.safetensors",
                                     "xstep_00000009.safetensors", "something.tmp",
                                     "model.safetensors.12ab.tmp"};
  for (const std::string& name : others) touch(name);
  fs::create_directory(folder / "step_00000010.safetensors");
  EXPECT_EQ(manager.all_steps(), (steps{5}));
  state s = make_state(1);
  EXPECT_EQ(manager.restore(s), 5U);
  manager.save(6, make_state(6));
  EXPECT_EQ(manager.all_steps(), (steps{6}));
  std::set<std::string> expected = others;
  expected.insert({"step_00000006.safetensors", "step_00000010.safetensors"});
  EXPECT_EQ(names(), expected);
}

TEST_F(CheckpointManager, WhatKilledSavesLeftIsIgnoredAndRemovedByTheNextSave) {
  const checkpoint_manager manager{folder};
  manager.save(5, make_state(5));
  touch("step_00000006.safetensors.1f2e3d4c.tmp");
  state s = make_state(1);
  EXPECT_EQ(manager.restore(s), 5U);
  EXPECT_EQ(names().size(), 2U);
  manager.save(6, make_state(6));
  EXPECT_EQ(names(), (std::set<std::string>{"step_00000005.safetensors", "step_00000006.safetensors"}));
}

TEST_F(CheckpointManager, ADamagedCheckpointIsAnErrorAndChangesNothing) {
  const checkpoint_manager manager{folder};
  manager.save(5, make_state(5));
  manager.save(6, make_state(6));
  fs::resize_file(manager.path(6), fs::file_size(manager.path(6)) - 1);
  state s = make_state(1);
  EXPECT_NE(message_of<checkpoint_error>([&] { manager.restore(s); }).find("step_00000006.safetensors"),
            std::string::npos);
  EXPECT_TRUE(espalier::tree_equal(s, make_state(1)));
  manager.restore(5, s);
  EXPECT_EQ(s.epoch, 5);
}

TEST_F(CheckpointManager, AFailedSaveRemovesNothing) {
  const checkpoint_manager manager{.folder = folder, .max_to_keep = 1};
  manager.save(5, make_state(5));
  EXPECT_THROW(manager.save(6, mx::array({1.0}, mx::float64)), checkpoint_error);
  EXPECT_EQ(manager.all_steps(), (steps{5}));
  EXPECT_EQ(names().size(), 1U);
}

TEST_F(CheckpointManager, ErrorsSayWhatToDo) {
  const checkpoint_manager manager{folder};
  state s = make_state(1);
  EXPECT_EQ(message_of<checkpoint_error>([&] { manager.restore(3, s); }),
            "espalier: checkpoint_manager: '" + folder.string() + "' has no checkpoint of step 3; it has none");
  manager.save(5, s);
  manager.save(7, s);
  EXPECT_EQ(
      message_of<checkpoint_error>([&] { manager.restore(3, s); }),
      "espalier: checkpoint_manager: '" + folder.string() + "' has no checkpoint of step 3; it has those of 5, 7");
  const checkpoint_manager nothing{.folder = folder, .max_to_keep = 0};
  EXPECT_NE(message_of<checkpoint_error>([&] { nothing.save(8, s); }).find("leave it out to keep all"),
            std::string::npos);
  EXPECT_EQ(manager.all_steps(), (steps{5, 7}));
  touch("file");
  const checkpoint_manager inside{folder / "file"};
  EXPECT_NE(message_of<checkpoint_error>([&] { inside.save(1, s); }).find("cannot be made"), std::string::npos);
  EXPECT_NE(message_of<checkpoint_error>([&] { (void)inside.latest_step(); }).find("cannot be read"),
            std::string::npos);
}

}  // namespace
