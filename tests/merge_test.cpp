// Merging trees that lack parts: mlx.utils.tree_merge, and every clash by path.

#include <array>
#include <espalier/equal.hpp>
#include <espalier/flatten.hpp>
#include <espalier/merge.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "corpus.hpp"
#include "messages.hpp"

namespace {

using namespace espalier;
using corpus::point;

const auto sum = [](int a, int b) { return a + b; };
const auto last = [](const auto&, auto&& b) -> std::remove_cvref_t<decltype(b)> {
  return std::forward<decltype(b)>(b);
};

template <class T> struct merge_laws : testing::Test {};
TYPED_TEST_SUITE(merge_laws, corpus::types);

TYPED_TEST(merge_laws, a_tree_merged_with_itself_is_itself) {
  const auto expected = corpus::examples<TypeParam>();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    auto a = corpus::examples<TypeParam>();
    auto b = corpus::examples<TypeParam>();
    EXPECT_TRUE(tree_equal(tree_merge(std::move(a[i]), std::move(b[i]), last), expected[i]));
  }
}

TYPED_TEST(merge_laws, nothing_merged_with_a_tree_is_the_tree) {
  using maybe = std::optional<TypeParam>;
  for (TypeParam& tree : corpus::examples<TypeParam>()) {
    const auto def = tree_structure(tree);
    maybe merged = tree_merge(maybe(), maybe(std::move(tree)));
    EXPECT_TRUE(tree_structure(*merged) == def);
    const maybe again = tree_merge(std::move(merged), maybe());
    EXPECT_TRUE(tree_structure(*again) == def);
    EXPECT_FALSE(tree_merge(maybe(), maybe()));
  }
}

TYPED_TEST(merge_laws, merging_is_associative) {
  using list = std::vector<std::map<std::string, std::optional<TypeParam>>>;
  const auto make = [](std::size_t seed) {
    list result(1 + seed % 3);
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t at = (seed + i) % result.size();
      std::optional<TypeParam>& slot = result[at][std::string(1, static_cast<char>('a' + (seed * i + i) % 3))];
      if ((seed + i) % 2 == 0) slot.emplace(std::move(corpus::examples<TypeParam>().front()));
    }
    return result;
  };
  for (std::size_t n = 0; n < 8; ++n) {
    EXPECT_TRUE(tree_equal(tree_merge(tree_merge(make(n), make(n + 1), last), make(3 * n + 2), last),
                           tree_merge(make(n), tree_merge(make(n + 1), make(3 * n + 2), last), last)));
  }
}

// --- mlx.utils.tree_merge. ---

struct settings {
  std::optional<int> a;
  std::map<std::string, int> b;
  std::optional<int> c;
  bool operator==(const settings&) const = default;
};

TEST(merge, has_the_parts_of_both) {
  // tree_merge({"a": 1, "b": {"x": 2}}, {"c": 3, "b": {"y": 4}}) is {"a": 1, "b": {"x": 2, "y": 4}, "c": 3}
  EXPECT_EQ(tree_merge(settings{1, {{"x", 2}}, {}}, settings{{}, {{"y", 4}}, 3}),
            (settings{1, {{"x", 2}, {"y", 4}}, 3}));
  // tree_merge([1, None, 3], [None, 2, None, 4]) is [1, 2, 3, 4]
  using list = std::vector<std::optional<int>>;
  EXPECT_EQ(tree_merge(list{1, {}, 3}, list{{}, 2, {}, 4}), (list{1, 2, 3, 4}));
  // tree_merge({"a": {}}, {"a": {"x": 1}}) is {"a": {"x": 1}}
  using maps = std::map<std::string, std::map<std::string, int>>;
  EXPECT_EQ(tree_merge(maps{{"a", {}}}, maps{{"a", {{"x", 1}}}}), (maps{{"a", {{"x", 1}}}}));
}

TEST(merge, merges_common_leaves_with_the_function) {
  // tree_merge({"a": [1, 2]}, {"a": [10, 20, 30]}, lambda x, y: x + y) is {"a": [11, 22, 30]}
  using tree = std::map<std::string, std::vector<int>>;
  EXPECT_EQ(tree_merge(tree{{"a", {1, 2}}}, tree{{"a", {10, 20, 30}}}, sum), (tree{{"a", {11, 22, 30}}}));
  EXPECT_EQ(tree_merge(1, 2, sum), 3);
}

TEST(merge, an_empty_container_gives_way_to_another_alternative) {
  // tree_merge({"a": []}, {"a": 3}) is {"a": 3}
  using tree = std::variant<int, std::vector<int>>;
  EXPECT_EQ(tree_merge(tree(std::vector<int>()), tree(3)), tree(3));
  EXPECT_EQ(tree_merge(tree(3), tree(std::vector<int>())), tree(3));
}

TEST(merge, reports_every_leaf_that_both_have_if_there_is_no_function) {
  // mlx: "Trees contain elements at the same locations but no merge function was provided"
  const settings one{1, {{"x", 2}, {"y", 3}}, {}};
  EXPECT_EQ(mismatches_of([&] { (void)tree_merge(one, settings{4, {{"y", 5}, {"z", 6}}, 7}); }),
            (std::vector<mismatch>{{".a", "a leaf in one of the trees", "one in both"},
                                   {".b['y']", "a leaf in one of the trees", "one in both"}}));
}

TEST(merge, the_function_of_the_header_s_example_takes_temporaries) {
  const auto overrides = [](const auto&, const auto& second) { return second; };
  EXPECT_EQ(tree_merge(settings{1, {{"x", 2}}, {}}, settings{4, {{"x", 5}}, {}}, overrides),
            (settings{4, {{"x", 5}}, {}}));
}

TEST(merge, a_function_is_proposed_for_leaves_alone) {
  struct tree {
    int leaf;
    corpus::cache cache;
  };
  const std::optional<tree> a{{1, {1, 3, std::string("nhwc")}}};
  const std::optional<tree> b{{2, {1, 4, std::string("nhwc")}}};
  EXPECT_EQ(mismatches_of([&] { (void)tree_merge(a, b); }).size(), 3u);
  EXPECT_TRUE(contains(message_of([&] { (void)tree_merge(a, b); }), "leaves, but nothing else, can be merged by a"));
}

TEST(merge, reports_what_no_function_can_merge) {
  struct tree {
    std::variant<int, std::vector<int>> held;
    corpus::cache cache;
  };
  const tree a{1, {1, 3, std::string("nhwc")}};
  const tree b{std::vector{1}, {1, 4, std::string("nchw")}};
  EXPECT_EQ(mismatches_of([&] { (void)tree_merge(a, b, last); }),
            (std::vector<mismatch>{{".held", "alternative 0 in both trees", "alternative 1"},
                                   {".cache.step", "aux 3", "aux 4"},
                                   {".cache.layout", "aux 'nhwc'", "aux 'nchw'"}}));
}

TEST(merge, copies_lvalues_and_moves_rvalues) {
  using tree = std::vector<std::unique_ptr<std::string>>;
  tree a;
  a.push_back(std::make_unique<std::string>("a string that is long enough to be allocated"));
  a.push_back(nullptr);
  tree b(3);
  b[1] = std::make_unique<std::string>("b");
  const tree copied = tree_merge(a, b);
  EXPECT_EQ(*copied[0], *a[0]);
  EXPECT_NE(copied[0], a[0]);
  EXPECT_EQ(*copied[1], "b");
  EXPECT_EQ(copied[2], nullptr);
  const char* const text = a[0]->data();
  EXPECT_EQ(tree_merge(std::move(a), b)[0]->data(), text);
}

TEST(merge, moves_nothing_if_it_fails) {
  using tree = std::vector<std::string>;
  tree a{"a string that is long enough to be allocated"};
  EXPECT_THROW((void)tree_merge(std::move(a), tree{"b"}), structure_error);
  EXPECT_EQ(a[0].size(), 44u);  // NOLINT(bugprone-use-after-move): that is the point
}

TEST(merge, keeps_a_map_s_order) {
  using tree = std::map<int, int, std::greater<>>;
  EXPECT_EQ(tree_merge(tree{{3, 1}, {1, 1}}, tree{{2, 5}, {1, 6}}, sum), (tree{{3, 1}, {2, 5}, {1, 7}}));
}

}  // namespace
