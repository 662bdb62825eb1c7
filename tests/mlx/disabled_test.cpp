// With ESPALIER_DISABLE_COMPILE set (by CMakeLists.txt), compiled functions run as they are.
#include <mlx/mlx.h>

#include <cstdlib>
#include <espalier/mlx/engine.hpp>

#include <gtest/gtest.h>

namespace mx = mlx::core;

namespace {

TEST(Disabled, CompiledFunctionsRunAsTheyAre) {
  ASSERT_NE(std::getenv("ESPALIER_DISABLE_COMPILE"), nullptr) << "run this test through ctest";
  static int calls = 0;
  auto step = espalier::compile([](mx::array& state, const mx::array& x) {
    ++calls;
    state = state + x;
    return state.item<float>();  // a value can be read: nothing is traced
  });
  mx::array state(1.0f);
  EXPECT_EQ(step(state, mx::array(2.0f)), 3.0f);
  EXPECT_EQ(step(state, mx::array(2.0f)), 5.0f);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(step.stats().traces, 0u);
}

}  // namespace
