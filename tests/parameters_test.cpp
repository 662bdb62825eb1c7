// Parameters: what gradients and optimizers act on.

#include <espalier/parameters.hpp>

#include "corpus.hpp"

namespace {

// An engine's array, of numbers or of indices.
struct toy_array {
  double value = 0;
  bool differentiable = true;
  bool operator==(const toy_array&) const = default;
};

}  // namespace

template <> inline constexpr bool espalier::is_leaf_type<toy_array> = true;
template <> struct espalier::array_traits<toy_array> {
  static bool differentiable(const toy_array& a) { return a.differentiable; }
};

namespace {

using namespace espalier;

struct with_arrays {
  toy_array weight, indices;
  double rate;
  int step;
  std::string name;
};
struct without_arrays {
  double weight;
  float bias;
  int step;
  bool on;
};

const auto negate = []<class L>(const L& x) {
  if constexpr (std::is_same_v<L, toy_array>) {
    return toy_array{-x.value, x.differentiable};
  } else {
    return static_cast<L>(-x);
  }
};

TEST(parameters, are_the_differentiable_arrays_where_there_are_arrays) {
  static_assert(has_engine_arrays<with_arrays> && has_engine_arrays<std::vector<with_arrays>>);
  static_assert(is_parameter_type<with_arrays, toy_array> && !is_parameter_type<with_arrays, double>);
  const with_arrays tree{{1, true}, {2, false}, 3, 4, "name"};
  const with_arrays mapped = tree_map_parameters(negate, tree);
  EXPECT_EQ(mapped.weight, (toy_array{-1, true}));
  EXPECT_EQ(mapped.indices, (toy_array{2, false}));
  EXPECT_EQ(mapped.rate, 3);
  EXPECT_EQ(mapped.step, 4);
  EXPECT_EQ(mapped.name, "name");
}

TEST(parameters, are_the_floating_point_leaves_where_there_are_none) {
  static_assert(!has_engine_arrays<without_arrays>);
  const without_arrays mapped = tree_map_parameters(negate, without_arrays{1, 2, 3, true});
  EXPECT_EQ(mapped.weight, -1);
  EXPECT_EQ(mapped.bias, -2);
  EXPECT_EQ(mapped.step, 3);
  EXPECT_TRUE(mapped.on);
}

TEST(parameters, one_leaf_is_asked_by_type_and_value) {
  EXPECT_TRUE(is_parameter<with_arrays>(toy_array{1, true}));
  EXPECT_FALSE(is_parameter<with_arrays>(toy_array{1, false}));
  EXPECT_FALSE(is_parameter<with_arrays>(1.0));
  EXPECT_TRUE(is_parameter<without_arrays>(1.0));
  EXPECT_FALSE(is_parameter<without_arrays>(1));
}

TEST(parameters, are_mapped_beside_rest_trees) {
  const without_arrays sum = tree_map_parameters([](auto a, auto b) { return static_cast<decltype(a)>(a + b); },
                                                 without_arrays{1, 2, 3, true}, without_arrays{10, 20, 30, false});
  EXPECT_EQ(sum.weight, 11);
  EXPECT_EQ(sum.bias, 22);
  EXPECT_EQ(sum.step, 3);
}

TEST(parameters, the_others_are_moved_out_of_an_rvalue) {
  std::tuple<corpus::token, double> tree(corpus::token(3), 1.0);
  const auto mapped = tree_map_parameters([](double x) { return x + 1; }, std::move(tree));
  EXPECT_EQ(std::get<0>(mapped).value(), 3);
  EXPECT_EQ(std::get<1>(mapped), 2);
}

}  // namespace
