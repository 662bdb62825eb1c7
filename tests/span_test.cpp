// Trees whose leaves stand side by side: the concept, tree_span, and updates in blocks.

#include <espalier/flatten.hpp>
#include <espalier/map.hpp>
#include <espalier/span.hpp>
#include <espalier/visit.hpp>
#include <espalier/visit_update.hpp>
#include <numeric>

#include "corpus.hpp"

namespace {

using namespace espalier;
using corpus::point, corpus::segment;

struct particle {
  std::array<float, 3> position;
  std::array<std::array<float, 2>, 2> spin;
  float mass;
};
struct padded {
  float a;
  double b;
};
struct aligned {
  alignas(16) double a;
};
struct counted_points {
  int n;
  float x;
};
template <std::size_t N, class L = double> struct many {
  L first;
  std::array<L, N - 1> rest;
};

TEST(contiguous_tree, is_structs_and_arrays_of_one_number_without_gaps) {
  static_assert(contiguous_tree<point> && contiguous_tree<const segment> && contiguous_tree<particle>);
  static_assert(contiguous_tree<std::array<point, 3>> && contiguous_tree<double> && contiguous_tree<many<7, bool>>);
}

TEST(contiguous_tree, is_nothing_else) {
  static_assert(!contiguous_tree<padded> && !contiguous_tree<aligned> && !contiguous_tree<counted_points>);
  static_assert(!contiguous_tree<corpus::empty> && !contiguous_tree<std::array<double, 0>>);
  static_assert(!contiguous_tree<corpus::cache> && !contiguous_tree<corpus::far_cache>, "aux data");
  static_assert(!contiguous_tree<std::vector<double>> && !contiguous_tree<corpus::linear>);
  static_assert(!contiguous_tree<corpus::interval>, "a registered node may give its children in any order");
  static_assert(!contiguous_tree<std::pair<double, double>> && !contiguous_tree<corpus::owner>);
}

TEST(span, reads_and_writes_the_leaves_in_order) {
  segment s{{1, 2}, {3, 4}};
  const std::span<double, 4> numbers = tree_span(s);
  EXPECT_EQ(std::vector(numbers.begin(), numbers.end()), (std::vector<double>{1, 2, 3, 4}));
  numbers[2] = 30;
  EXPECT_EQ(s, (segment{{1, 2}, {30, 4}}));
}

TEST(span, is_the_memory_of_the_leaves) {
  particle p{};
  std::size_t i = 0;
  tree_visit([&](const float& leaf) { EXPECT_EQ(&leaf, &tree_span(p)[i++]); }, p);
  EXPECT_EQ(i, 8u);
}

TEST(span, is_as_const_as_the_tree) {
  const segment s{{1, 2}, {3, 4}};
  static_assert(std::is_same_v<decltype(tree_span(s)), std::span<const double, 4>>);
  const std::span<const double> numbers = tree_span(s);
  EXPECT_EQ(std::accumulate(numbers.begin(), numbers.end(), 0.0), 10);
}

// --- tree_visit_update goes through such trees in blocks. It must give what a map gives. -----------------------------

template <class T> T counted_up(std::size_t from) {
  T tree{};
  for (auto& x : tree_span(tree)) x = static_cast<std::remove_reference_t<decltype(x)>>(from++ % 100);
  return tree;
}

template <class T> struct update_in_blocks : testing::Test {};
using contiguous_trees = testing::Types<point, segment, particle, std::array<double, 16>, many<15>, many<17>, many<64>,
                                        many<65>, many<100, float>, many<31, float>, many<33, float>,
                                        many<200, std::int8_t>, many<70, std::int16_t>, many<2, long double>>;
TYPED_TEST_SUITE(update_in_blocks, contiguous_trees);

const auto halved = [](auto x) { return static_cast<decltype(x)>(x / 2); };
const auto combined = [](auto a, auto b, auto c) { return static_cast<decltype(a)>(2 * a - b + c); };

TYPED_TEST(update_in_blocks, gives_what_a_map_gives) {
  const auto a = counted_up<TypeParam>(1);
  const auto b = counted_up<TypeParam>(50);
  const auto c = counted_up<TypeParam>(7);
  auto updated = a;
  tree_visit_update(halved, updated);
  EXPECT_EQ(tree_leaves(updated), tree_leaves(tree_map(halved, a)));
  updated = a;
  tree_visit_update(combined, updated, b, c);
  EXPECT_EQ(tree_leaves(updated), tree_leaves(tree_map(combined, a, b, c)));
}

TYPED_TEST(update_in_blocks, with_the_tree_beside_itself) {
  const auto a = counted_up<TypeParam>(1);
  auto updated = a;
  tree_visit_update(combined, updated, updated, std::as_const(updated));
  EXPECT_EQ(tree_leaves(updated), tree_leaves(tree_map(combined, a, a, a)));
}

TYPED_TEST(update_in_blocks, calls_in_order_with_the_leaves_themselves) {
  auto tree = counted_up<TypeParam>(1);
  const auto beside = counted_up<TypeParam>(1);
  std::size_t i = 0;
  tree_visit_update(
      [&](const auto& leaf, const auto& other) {
        EXPECT_EQ(&leaf, &tree_span(tree)[i]);
        EXPECT_EQ(&other, &tree_span(beside)[i]);
        ++i;
        return leaf;
      },
      tree, beside);
  EXPECT_EQ(i, tree_span(tree).size());
}

TEST(update_in_blocks_of, parts_of_a_larger_tree) {
  struct layered {
    std::vector<many<20>> layers;
    std::string name;
    int steps;
  };
  layered l{{counted_up<many<20>>(0), counted_up<many<20>>(5)}, "x", 3};
  tree_visit_update(
      []<class L>(const L& leaf) {
        if constexpr (std::is_same_v<L, double>) {
          return leaf + 1;
        } else {
          return leaf;
        }
      },
      l);
  EXPECT_EQ(tree_leaves(l.layers[0]), tree_leaves(counted_up<many<20>>(1)));
  EXPECT_EQ(tree_leaves(l.layers[1]), tree_leaves(counted_up<many<20>>(6)));
  EXPECT_EQ(l.steps, 3);
}

TEST(update_in_blocks_of, trees_with_other_numbers_beside) {
  struct flags {
    bool x, y;
  };
  point p{1, 2};
  tree_visit_update([](double x, bool keep) { return keep ? x : 0.0; }, p, flags{false, true});
  EXPECT_EQ(p, (point{0, 2}));
}

TEST(update_in_blocks_of, deeper_trees_beside_gets_their_subtrees) {
  struct wrapped {
    double value;
  };
  std::array<double, 2> a{1, 2};
  tree_visit_update([](double x, const wrapped& w) { return x + w.value; }, a, std::array<wrapped, 2>{{{10}, {20}}});
  EXPECT_EQ(a, (std::array<double, 2>{11, 22}));
}

TEST(update_in_blocks_of, trees_with_const_members_rebuilds_them) {
  corpus::frozen f{1, 2};
  tree_visit_update([](double x) { return x + 1; }, f);
  EXPECT_EQ(f, (corpus::frozen{2, 3}));
}

TEST(update_in_blocks_of, a_constant_expression) {
  static_assert([] {
    segment s{{1, 2}, {3, 4}};
    tree_visit_update([](double x, double y) { return x + y; }, s, segment{{1, 1}, {1, 1}});
    return s;
  }() == segment{{2, 3}, {4, 5}});
}

}  // namespace
