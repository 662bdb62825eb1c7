#include <cmath>
#include <espalier/optim/clip.hpp>

#include "problem.hpp"

namespace optim = espalier::optim;

Model three_four_twelve() { return {{{{3.0, -4.0}, 12.0}}, 100, "large"}; }

TEST(clip, global_norm_is_the_euclidean_norm_of_the_parameters_only) {
  EXPECT_EQ(optim::global_norm(three_four_twelve()), 13);
}

TEST(clip, gradients_longer_than_the_bound_are_scaled_to_it) {
  const optim::clip_by_global_norm clip{.max_norm = 6.5};
  auto state = clip.init(start());
  const Model clipped = clip.update(three_four_twelve(), state, start());
  EXPECT_DOUBLE_EQ(clipped.layers[0].weight[0], 1.5);
  EXPECT_DOUBLE_EQ(clipped.layers[0].weight[1], -2);
  EXPECT_DOUBLE_EQ(*clipped.layers[0].bias, 6);
  EXPECT_EQ(clipped.version, 7);
}

TEST(clip, gradients_within_the_bound_and_zero_gradients_stay_as_they_are) {
  const optim::clip_by_global_norm clip{.max_norm = 13.1};
  auto state = clip.init(start());
  EXPECT_EQ(clip.update(three_four_twelve(), state, start()).layers[0].weight[1], -4);
  const std::array<double, 2> zero{};
  EXPECT_EQ(clip.update(zero, state, zero), zero);
}

// As optax 0.2.8, where a comparison with NaN selects the division by it.
TEST(clip, a_norm_that_is_nan_shows_in_every_gradient) {
  const optim::clip_by_global_norm clip{.max_norm = 1};
  const std::array<double, 2> gradients{1, std::nan("")};
  auto state = clip.init(gradients);
  EXPECT_TRUE(std::isnan(clip.update(gradients, state, gradients)[0]));
}

TEST(clip, gradients_of_another_structure_are_refused_and_aux_data_may_differ) {
  const optim::clip_by_global_norm clip{.max_norm = 6.5};
  const Cached c{1, {1}, 0};
  auto state = clip.init(c);
  EXPECT_EQ(structure_error_of([&] { clip.update(Cached{1, {}, 0}, state, c); }),
            "espalier: clip_by_global_norm.update: the gradients do not have the structure of the parameters:\n"
            "  .keys: expected 1 element, found 0 elements");
  const Cached clipped = clip.update(Cached{5, {12}, 9}, state, c);
  EXPECT_DOUBLE_EQ(clipped.weight, 2.5);
  EXPECT_EQ(clipped.position, 0);
}
