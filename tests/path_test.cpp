// Key paths: typed, printed as JAX prints them, and dotted. CASES 24.

#include <espalier/path.hpp>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace {

using namespace espalier;
using kind = key_entry::kind;

key_path path(std::initializer_list<key_entry> keys) {
  key_path result;
  for (const key_entry& key : keys) result.push_back(key);
  return result;
}

constexpr key_entry attribute(std::string_view name) { return {kind::attribute, name}; }
constexpr key_entry element(std::int64_t i) { return {kind::index, {}, i}; }
constexpr key_entry named(std::string_view name) { return {kind::string_key, name}; }
constexpr key_entry numbered(std::int64_t i) { return {kind::integer_key, {}, i}; }

TEST(path, prints_as_jax_prints_it) {
  EXPECT_EQ(path({attribute("layers"), element(0), attribute("weight")}).to_string(), ".layers[0].weight");
  EXPECT_EQ(path({named("name"), numbered(-3)}).to_string(), "['name'][-3]");
  EXPECT_EQ(path({}).to_string(), "");
}

TEST(path, prints_dotted_as_checkpoints_name_tensors) {
  EXPECT_EQ(path({attribute("layers"), element(0), attribute("weight")}).dotted(), "layers.0.weight");
  EXPECT_EQ(path({named("name"), numbered(-3)}).dotted(), "name.-3");
  EXPECT_EQ(path({}).dotted(), "");
}

TEST(path, keys_are_typed) {
  EXPECT_FALSE(path({named("1")}) == path({named("01")}));
  EXPECT_FALSE(path({named("1")}) == path({numbered(1)}));
  EXPECT_FALSE(path({element(1)}) == path({numbered(1)}));
  EXPECT_FALSE(path({named("a")}) == path({attribute("a")}));
  EXPECT_TRUE(path({named("a"), element(2)}) == path({named("a"), element(2)}));
  EXPECT_FALSE(path({named("ab")}) == path({named("a"), named("b")}));
}

TEST(path, what_an_optional_holds_has_the_optionals_path) {
  const key_path held = path({attribute("bias"), {}});
  EXPECT_TRUE(held == path({attribute("bias")}));
  EXPECT_EQ(held.size(), 1u);
}

TEST(path, owns_its_text) {
  key_path kept;
  {
    const std::string name = "a name that is long enough to be allocated";
    kept.push_back(named(name));
  }
  EXPECT_EQ(kept[0].name, "a name that is long enough to be allocated");
}

TEST(path, a_view_is_a_chain_of_frames_that_can_be_kept) {
  const path_view root;
  const path_view layers(&root, attribute("layers"));
  const path_view first(&layers, element(0));
  const path_view held(&first, {});
  EXPECT_EQ(root.to_string(), "");
  EXPECT_EQ(first.to_string(), ".layers[0]");
  EXPECT_EQ(held.to_string(), ".layers[0]");
  EXPECT_EQ(held.dotted(), "layers.0");
  EXPECT_TRUE(held.own() == path({attribute("layers"), element(0)}));
  EXPECT_EQ(first.back(), element(0));
  std::ostringstream out;
  out << first << ' ' << first.own();
  EXPECT_EQ(out.str(), ".layers[0] .layers[0]");
}

TEST(path, a_literal_is_its_text) {
  static_assert("layers.0.weight"_path.text == "layers.0.weight");
  static_assert(std::is_empty_v<decltype("x"_path)>);
  static_assert(!std::is_same_v<decltype("x"_path), decltype("y"_path)>);
}

}  // namespace
