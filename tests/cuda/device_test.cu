// The tree operations over static structures, in device code: a kernel does what the host does with the same function, and
// both must give the same. The numbers are whole, so that no rounding tells the two apart.
#include <gtest/gtest.h>

#include <array>
#include <espalier/allclose.hpp>
#include <espalier/at.hpp>
#include <espalier/broadcast.hpp>
#include <espalier/cast.hpp>
#include <espalier/equal.hpp>
#include <espalier/flatten.hpp>
#include <espalier/leaf_if.hpp>
#include <espalier/map.hpp>
#include <espalier/map_only.hpp>
#include <espalier/norm.hpp>
#include <espalier/reduce.hpp>
#include <espalier/structure.hpp>
#include <espalier/visit.hpp>
#include <espalier/visit_update.hpp>
#include <espalier/zeros_like.hpp>
#include <tuple>
#include <utility>

namespace {

using namespace espalier::literals;

struct vec3 {
  float x, y, z;
};
struct particle {
  vec3 position, velocity;
  float mass;
};
// The kinds of node that a static structure has.
struct mixed {
  vec3 direction;
  int count;
  std::array<vec3, 2> history;
  std::tuple<double, std::pair<int, float>> pair;
};
template <class T> struct couple {
  T first, second;
};

struct inputs {
  particle p, q;
  mixed m, n;
  couple<float> floats;
  couple<double> doubles;
};

constexpr inputs some_inputs{
    {{1, -2, 3}, {4, 5, -6}, 7},
    {{2, 3, 4}, {5, 6, 7}, 8},
    {{1, 2, 3}, 4, {{{5, 6, 7}, {8, 9, 10}}}, {11.0, {12, 13.0f}}},
    {{3, 2, 1}, 0, {{{-5, 6, -7}, {8, -9, 10}}}, {1.0, {2, 3.0f}}},
    {2, 3},
    {4, 5},
};

// --- What is done: functions of the inputs that give back a tree. ----------------------------------------------------

struct visits_in_place {
  constexpr auto operator()(inputs in) const {
    espalier::tree_visit([](float& x) { x *= 2; }, in.p);
    return in.p;
  }
};
struct visits_several_trees {
  constexpr auto operator()(inputs in) const {
    espalier::tree_visit([](auto& x, const auto& y) { x += y; }, in.m, in.n);
    return in.m;
  }
};
struct visits_with_a_subtree_beside_a_leaf {
  constexpr auto operator()(inputs in) const {
    const couple<couple<float>> deeper{{1, 2}, {3, 4}};
    espalier::tree_visit([](float& x, const couple<float>& beside) { x += beside.first * beside.second; }, in.floats,
                         deeper);
    return in.floats;
  }
};
struct stops_at_a_type {
  constexpr auto operator()(inputs in) const {
    float sum = 0;
    const auto add = [&sum](const auto& part) {
      if constexpr (std::is_same_v<decltype(part), const vec3&>)
        sum += part.x;
      else
        sum += part;
    };
    espalier::tree_visit(espalier::leaf_if<vec3>, add, in.p);
    return sum;
  }
};
struct maps {
  constexpr auto operator()(const inputs& in) const {
    return espalier::tree_map([](float x, float y) { return x - 2 * y; }, in.p, in.q);
  }
};
struct maps_every_kind_of_node {
  constexpr auto operator()(const inputs& in) const {
    return espalier::tree_map([]<class T>(const T& x, const T& y) { return static_cast<T>(x - 2 * y); }, in.m, in.n);
  }
};
struct maps_to_another_type {
  constexpr auto operator()(const inputs& in) const {
    return espalier::tree_map([](float x, double y) { return y / x; }, in.floats, in.doubles);
  }
};
struct maps_leaves_of_a_type {
  constexpr auto operator()(const inputs& in) const {
    return espalier::tree_map_only<int>([](int x) { return -x; }, in.m);
  }
};
struct updates {
  constexpr auto operator()(inputs in) const {
    espalier::tree_visit_update([](float x, float y) { return 3 * x + y; }, in.p, in.q);
    return in.p;
  }
};
struct updates_every_kind_of_node {
  constexpr auto operator()(inputs in) const {
    espalier::tree_visit_update([]<class T>(const T& x, const T& y) { return static_cast<T>(3 * x + y); }, in.m, in.n);
    return in.m;
  }
};
struct reduces {
  constexpr auto operator()(const inputs& in) const {
    return espalier::tree_reduce([](double sum, auto x) { return 2 * sum + x; }, in.m, 0.0);
  }
};
struct sums_and_compares {
  constexpr auto operator()(const inputs& in) const {
    return std::tuple{espalier::tree_sum(in.m), espalier::tree_max(in.m, 0.0), espalier::tree_min(in.n, 0.0),
                      espalier::tree_all(in.m), espalier::tree_all(in.n),      espalier::tree_any(in.n)};
  }
};
struct multiplies {
  constexpr auto operator()(const inputs& in) const { return espalier::tree_dot(in.p, in.q); }
};
struct tells_trees_apart {
  constexpr auto operator()(const inputs& in) const {
    return std::tuple{espalier::tree_equal(in.p, in.p), espalier::tree_equal(in.p, in.q),
                      espalier::tree_allclose(in.p, in.p), espalier::tree_allclose(in.p, in.q)};
  }
};
struct makes_zeros {
  constexpr auto operator()(const inputs& in) const { return espalier::tree_zeros_like(in.m); }
};
struct casts {
  constexpr auto operator()(const inputs& in) const { return espalier::tree_cast<double>(in.floats); }
};
struct flattens_and_unflattens {
  constexpr auto operator()(const inputs& in) const {
    auto [leaves, structure] = espalier::tree_flatten(in.p);
    for (float& leaf : leaves) leaf += 1;
    return espalier::tree_unflatten(structure, leaves);
  }
};
struct replaces_at_places {
  constexpr auto operator()(const inputs& in) const {
    return espalier::tree_at(in.p, "velocity.y"_path, &particle::mass).replace(-1.0f, -2.0f);
  }
};
struct broadcasts_a_prefix {
  constexpr auto operator()(const inputs& in) const { return espalier::tree_broadcast_prefix(in.p.mass, in.q); }
};
struct hashes_the_structure {
  constexpr auto operator()(const inputs&) const { return espalier::structure_hash_v<mixed>; }
};

// --- On the device. --------------------------------------------------------------------------------------------------

template <class Work> using result_of = decltype(Work()(some_inputs));

// (The result is a void*, since nvcc cannot name the type of a tree_map of a lambda as an argument of a kernel.)
template <class Work> __global__ void kernel(const inputs* in, void* result) {
  *static_cast<result_of<Work>*>(result) = Work()(*in);
}

void require_success(cudaError_t status) { ASSERT_EQ(status, cudaSuccess) << cudaGetErrorString(status); }

template <class Work> auto on_device() {
  result_of<Work> result{};
  inputs* in = nullptr;
  void* there = nullptr;
  require_success(cudaMalloc(&in, sizeof(inputs)));
  require_success(cudaMalloc(&there, sizeof(result)));
  require_success(cudaMemcpy(in, &some_inputs, sizeof(inputs), cudaMemcpyHostToDevice));
  kernel<Work><<<1, 1>>>(in, there);
  require_success(cudaGetLastError());
  require_success(cudaMemcpy(&result, there, sizeof(result), cudaMemcpyDeviceToHost));
  require_success(cudaFree(there));
  require_success(cudaFree(in));
  return result;
}

template <class Work> class device : public testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) GTEST_SKIP() << "there is no CUDA device here";
  }
};

using all_work =
    testing::Types<visits_in_place, visits_several_trees, visits_with_a_subtree_beside_a_leaf, stops_at_a_type, maps,
                   maps_every_kind_of_node, maps_to_another_type, maps_leaves_of_a_type, updates,
                   updates_every_kind_of_node, reduces, sums_and_compares, multiplies, tells_trees_apart, makes_zeros,
                   casts, flattens_and_unflattens, replaces_at_places, broadcasts_a_prefix, hashes_the_structure>;
TYPED_TEST_SUITE(device, all_work);

TYPED_TEST(device, gives_what_the_host_gives) {
  EXPECT_TRUE(espalier::tree_equal(on_device<TypeParam>(), TypeParam()(some_inputs)));
}

}  // namespace
