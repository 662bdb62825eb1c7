// Traversal of static structures allocates nothing: every allocation of this program is counted.

#include <atomic>
#include <cstdlib>
#include <espalier/at.hpp>
#include <espalier/equal.hpp>
#include <espalier/flatten.hpp>
#include <espalier/leaf_array.hpp>
#include <espalier/map_only.hpp>
#include <espalier/partition.hpp>
#include <espalier/reduce.hpp>
#include <espalier/transpose.hpp>
#include <espalier/visit.hpp>
#include <espalier/visit_update.hpp>
#include <new>
#include <optional>

#include <gtest/gtest.h>

namespace {
std::atomic<long> allocations = 0;

void* counted_allocation(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
}  // namespace

void* operator new(std::size_t size) { return counted_allocation(size); }
void* operator new[](std::size_t size) { return counted_allocation(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace espalier;

struct point {
  double x, y;
};
struct scene {
  point origin;
  std::array<point, 3> corners;
  std::tuple<float, std::pair<int, point>> rest;
  std::array<double, 40> samples;
};
struct lists {
  std::vector<double> a;
  std::optional<point> b;
  std::array<std::vector<point>, 2> c;
};

template <class F> long allocations_of(F&& f) {
  const long before = allocations;
  f();
  return allocations - before;
}

const auto add_one = [](auto x) { return static_cast<decltype(x)>(x + 1); };

TEST(allocation, is_counted_here) {
  EXPECT_EQ(allocations_of([] { delete new int(3); }), 1);
  EXPECT_EQ(allocations_of([] { std::vector<double>(10); }), 1);
}

TEST(allocation, none_in_tree_map_over_a_static_structure) {
  scene s{};
  EXPECT_EQ(allocations_of([&] { s = tree_map(add_one, s); }), 0);
  EXPECT_EQ(allocations_of([&] { s = tree_map([](auto a, auto b) { return a + b; }, s, s); }), 0);
  EXPECT_EQ(allocations_of([&] {
              s = tree_map_with_path(
                  [](const path_view& path, auto x) { return path.back().name == "x" ? x : decltype(x)(0); }, s);
            }),
            0);
  EXPECT_EQ(allocations_of([&] { s = tree_map_only<double>(add_one, s); }), 0);
  EXPECT_EQ(s.origin.x, 3);
}

TEST(allocation, none_in_structural_operations_on_static_structures) {
  scene s{};
  EXPECT_EQ(allocations_of([&] { s = tree_at(s, "corners.1.x"_path, &scene::origin).replace(3.0, point{1, 2}); }), 0);
  EXPECT_EQ(allocations_of([&] {
              auto [large, small] = tree_partition(s, [](auto x) { return x > 1; });
              s = tree_combine(large, small);
            }),
            0);
  EXPECT_EQ(allocations_of([&] { (void)tree_broadcast_prefix(true, s); }), 0);
  EXPECT_EQ(allocations_of([&] { (void)tree_transpose(std::array<scene, 2>{s, s}); }), 0);
  EXPECT_EQ(allocations_of([&] { tree_visit(leaf_if<point>, [](auto& x) { x = {}; }, s); }), 0);
  EXPECT_EQ(s.corners[1].x, 0);
}

TEST(allocation, none_in_a_map_to_a_leaf_array_and_beside_it) {
  scene s{};
  EXPECT_EQ(allocations_of([&] {
              const auto mask = tree_map([](auto x) { return x > 0; }, s);
              s = tree_map([](auto x, bool b) { return b ? x : decltype(x)(5); }, s, mask);
              if (mask["origin.x"_path]) s.origin.x = 6;
            }),
            0);
  EXPECT_EQ(s.origin.x, 5);
}

TEST(allocation, none_in_visits_and_folds_over_a_static_structure) {
  scene s{};
  double sum = 0;
  EXPECT_EQ(allocations_of([&] {
              tree_visit([](auto& x) { x = 1; }, s);
              tree_visit([](auto& x, auto y) { x = y; }, s, s);
              tree_visit_update(add_one, s);
              tree_visit_with_path([&](const path_view& path, auto x) { sum += path.back().name == "y" ? 0 : x; }, s);
              sum = tree_reduce([](double total, double x) { return total + x; }, s, sum);
              sum += tree_equal(s, s) ? 1 : 0;
            }),
            0);
  EXPECT_GT(sum, 0);
}

TEST(allocation, none_in_flattening_a_static_structure) {
  point p{1, 2};
  EXPECT_EQ(allocations_of([&] {
              auto [leaves, structure] = tree_flatten(p);
              leaves[0] = 3;
              p = tree_unflatten(structure, leaves);
            }),
            0);
  EXPECT_EQ(p.x, 3);
}

TEST(allocation, none_in_visiting_trees_of_varying_size) {
  lists l{{1, 2}, point{3, 4}, {std::vector<point>(2), std::vector<point>(3)}};
  double sum = 0;
  EXPECT_EQ(allocations_of([&] {
              tree_visit([](double& x) { x += 1; }, l);
              tree_visit([&](double a, double b) { sum += a + b; }, l, l);
              tree_visit_update(add_one, l);
              tree_visit_with_path([&](const path_view&, double x) { sum += x; }, l);
              sum = tree_reduce([](double total, double x) { return total + x; }, l, sum);
              sum += tree_equal(l, l) ? 1 : 0;
            }),
            0);
  EXPECT_GT(sum, 0);
}

TEST(allocation, only_the_containers_of_the_result_in_mapping_trees_of_varying_size) {
  const lists l{{1, 2}, point{3, 4}, {std::vector<point>(2), std::vector<point>(3)}};
  EXPECT_EQ(allocations_of([&] { const lists mapped = tree_map(add_one, l); }), 3);
}

}  // namespace
