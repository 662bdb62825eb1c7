// What tests of transformations share: comparing arrays, and a small model.
#pragma once

#include <gtest/gtest.h>
#include <mlx/mlx.h>

#include <espalier/mlx/array.hpp>
#include <optional>
#include <string>
#include <vector>

inline void expect_equal(const mlx::core::array& got, const mlx::core::array& expected) {
  EXPECT_EQ(got.dtype(), expected.dtype());
  ASSERT_EQ(got.shape(), expected.shape());
  EXPECT_TRUE(mlx::core::array_equal(got, expected).item<bool>()) << got << expected;
}

inline void expect_near(const mlx::core::array& got, const mlx::core::array& expected, double tolerance = 1e-6) {
  EXPECT_EQ(got.dtype(), expected.dtype());
  ASSERT_EQ(got.shape(), expected.shape());
  EXPECT_TRUE(mlx::core::allclose(got, expected, tolerance, tolerance).item<bool>()) << got << expected;
}

struct linear {
  mlx::core::array weight;
  std::optional<mlx::core::array> bias;
};

struct network {
  std::vector<linear> layers;
  std::string name;
  mlx::core::array table;  // of integers
};

// Of one layer 2 -> 1 and a scale.
inline network make_network() {
  return {{{mlx::core::array({1.0f, 2.0f}), mlx::core::array(0.5f)}, {mlx::core::array({3.0f}), std::nullopt}},
          "net",
          mlx::core::array({1, 2, 3})};
}

// (w . x + b) * scale.
inline mlx::core::array network_output(const network& net, const mlx::core::array& x) {
  return (mlx::core::sum(net.layers[0].weight * x) + *net.layers[0].bias) * net.layers[1].weight;
}
