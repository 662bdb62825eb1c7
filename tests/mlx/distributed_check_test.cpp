// Ranks that hold different trees are told so, all of them.
#include <gtest/gtest.h>
#include <mlx/mlx.h>

#include <espalier/aux.hpp>
#include <espalier/mlx/distributed_check.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "distributed_ranks.hpp"

namespace mx = mlx::core;

namespace {

struct layer {
  mx::array weight;
  std::optional<mx::array> bias;
  espalier::aux<int> stride{1};
};
struct model {
  std::vector<layer> layers;
  std::map<std::string, mx::array> heads;
  int step = 0;
};

model make_model() {
  return {{{mx::zeros({4, 3}), mx::zeros({3})}, {mx::zeros({3, 2}), std::nullopt}}, {{"digits", mx::zeros({2})}}};
}

TEST(RequireSameStructure, AGroupOfOneAgrees) { EXPECT_NO_THROW(espalier::require_same_structure(make_model())); }

// What is said where rank 1 has `other` and all others have the model.
void expect_told(int rank, const model& other, const std::string& path, const std::string& expected,
                 const std::string& found) {
  const model mine = rank == 1 ? other : make_model();
  try {
    espalier::require_same_structure(mine);
    ADD_FAILURE() << "nothing was thrown for " << path;
  } catch (const espalier::structure_error& e) {
    ASSERT_EQ(e.differences.size(), 1u) << e.what();
    EXPECT_EQ(e.differences[0], (espalier::mismatch{path, expected + " as on rank 0", found + " on rank 1"}));
    EXPECT_NE(std::string(e.what()).find("on rank 1"), std::string::npos) << e.what();
  }
}

void compares(int rank) {
  model m = make_model();
  m.step = rank;
  m.layers[0].weight = mx::full({4, 3}, rank);
  EXPECT_NO_THROW(espalier::require_same_structure(m)) << "values may differ";

  model other = make_model();
  other.layers[1].weight = mx::zeros({3, 5});
  expect_told(rank, other, ".layers[1].weight", "float32[3, 2]", "float32[3, 5]");
  other = make_model();
  other.layers[0].weight = mx::zeros({4, 3}, mx::float16);
  other.layers[1].weight = mx::zeros({3, 5});
  expect_told(rank, other, ".layers[0].weight", "float32[4, 3]", "float16[4, 3]");
  other = make_model();
  other.layers.pop_back();
  expect_told(rank, other, ".layers", "2 elements", "1 element");
  other = make_model();
  other.layers[1].bias = mx::zeros({2});
  expect_told(rank, other, ".layers[1].bias", "None", "a value");
  other = make_model();
  other.layers[1].stride = espalier::aux<int>{2};
  expect_told(rank, other, ".layers[1].stride", "aux 1", "aux 2");
  other = make_model();
  other.heads = {{"letters", mx::zeros({2})}};
  expect_told(rank, other, ".heads['digits']", "float32[2]", "nothing");

  // Nobody waits for anybody afterwards.
  EXPECT_NO_THROW(espalier::require_same_structure(make_model()));
}

// Programs whose types differ.
struct one_name {
  mx::array weight;
};
struct another_name {
  mx::array kernel;
};

void has_another_program(int rank) {
  const auto check = [&] {
    if (rank == 0) {
      espalier::require_same_structure(one_name{mx::zeros({2})});
    } else {
      espalier::require_same_structure(another_name{mx::zeros({2})});
    }
  };
  try {
    check();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const espalier::structure_error& e) {
    EXPECT_EQ(e.differences[0].path, ".weight");
    for (const auto hash : {espalier::structure_hash_v<one_name>, espalier::structure_hash_v<another_name>}) {
      char text[17];
      std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
      EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
    }
  }
}

TEST(RequireSameStructure, EveryRankIsToldWhichRankHoldsWhatAndWhere) { ranks::expect_success("compares", 3); }
TEST(RequireSameStructure, ProgramsWithOtherTypesAreToldApart) { ranks::expect_success("has_another_program"); }

}  // namespace

int main(int argc, char** argv) {
  return ranks::run_tests_or_rank(argc, argv, {{"compares", compares}, {"has_another_program", has_another_program}});
}
