// tree_cast: floating-point leaves in another precision.

#include <espalier/cast.hpp>
#include <espalier/leaf_array.hpp>

#include "corpus.hpp"
#include "small_array.hpp"

namespace {

using namespace espalier;
using corpus::over, corpus::point;

TEST(cast, gives_the_same_struct_where_the_type_stays) {
  static_assert(std::is_same_v<decltype(tree_cast<double>(point())), point>);
  EXPECT_EQ(tree_cast<double>(point{1, 2}), (point{1, 2}));
}

TEST(cast, rebinds_a_template_over_its_leaf) {
  const auto cast = tree_cast<float>(over<double>{0.1, {0.2, 0.3}});
  static_assert(std::is_same_v<decltype(cast), const over<float>>);
  EXPECT_EQ(cast, (over<float>{0.1f, {0.2f, 0.3f}}));
}

TEST(cast, of_any_other_struct_is_read_by_path) {
  const auto cast = tree_cast<float>(point{0.1, 2});
  static_assert(std::is_same_v<decltype(cast["x"_path]), const float&>);
  EXPECT_EQ(cast["x"_path], 0.1f);
}

TEST(cast, passes_on_what_is_not_floating_point) {
  const corpus::mixed m{1, 2.5, true, "name", corpus::color::green, {1, -1}};
  EXPECT_EQ(tree_cast<double>(m), m);
  EXPECT_EQ(tree_cast<float>(std::vector<int>{1, 2}), (std::vector<int>{1, 2}));
}

TEST(cast, gives_variants_where_leaves_become_of_several_types) {
  const auto cast = tree_cast<float>(std::tuple(0.5, 7, 0.25f));
  using value = std::variant<float, int>;
  static_assert(std::is_same_v<decltype(cast), const leaf_array<std::tuple<double, int, float>, value>>);
  EXPECT_EQ(cast["0"_path], value(0.5f));
  EXPECT_EQ(cast["1"_path], value(7));
}

TEST(cast, moves_what_is_passed_on_out_of_an_rvalue) {
  std::pair<double, corpus::token> tree(1.5, 2);
  EXPECT_EQ(tree_cast<double>(std::move(tree)).second.value(), 2);
}

TEST(cast, converts_arrays_of_floating_dtype) {
  const std::vector<small::array> cast = tree_cast<float>(std::vector<small::array>{{{1}}, {{2}, "int32"}});
  EXPECT_EQ(cast[0].dtype, "float32");
  EXPECT_EQ(cast[1].dtype, "int32");
}

TEST(cast, is_a_constant_expression) { static_assert(tree_cast<float>(std::array{0.5, 0.25})[1] == 0.25f); }

}  // namespace
