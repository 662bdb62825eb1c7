// Key paths: typed, printed as JAX prints them, and dotted. CASES 24.

#include <cstdint>
#include <espalier/errors.hpp>
#include <espalier/parse_path.hpp>
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

// jax.tree_util.keystr((DictKey(key),)) of jax 0.10.2.
TEST(path, quotes_map_keys_as_jax_does) {
  const auto printed = [](std::string_view key) { return path({named(key)}).to_string(); };
  EXPECT_EQ(printed("it's"), R"(["it's"])");
  EXPECT_EQ(printed(R"(say "hi")"), R"(['say "hi"'])");
  EXPECT_EQ(printed(R"(both ' and ")"), R"(['both \' and "'])");
  EXPECT_EQ(printed(R"(back\slash)"), R"(['back\\slash'])");
  EXPECT_EQ(printed("line\nend\ttab\r"), R"(['line\nend\ttab\r'])");
  EXPECT_EQ(printed(std::string_view("\0\x1b\x7f", 3)), R"(['\x00\x1b\x7f'])");
  EXPECT_EQ(printed("\xc3\xa9"), "['\xc3\xa9']");
  EXPECT_EQ(printed(""), "['']");
}

TEST(path, keys_that_would_print_alike_do_not) {
  EXPECT_NE(path({named("a"), named("b")}).to_string(), path({named("a']['b")}).to_string());
  EXPECT_NE(path({named("\n")}).to_string(), path({named("\\n")}).to_string());
}

TEST(path, prints_dotted_as_checkpoints_name_tensors) {
  EXPECT_EQ(path({attribute("layers"), element(0), attribute("weight")}).dotted(), "layers.0.weight");
  EXPECT_EQ(path({named("name"), numbered(-3)}).dotted(), "name.-3");
  EXPECT_EQ(path({}).dotted(), "");
  // mlx.utils.tree_flatten({"": {"a": 1}}) and ({"a": {"": 1}})
  EXPECT_EQ(path({named(""), named("a")}).dotted(), ".a");
  EXPECT_EQ(path({named("a"), named("")}).dotted(), "a.");
}

TEST(path, what_is_printed_parses_to_itself) {
  for (const key_path& p :
       {path({}), path({attribute("layers"), element(0), attribute("weight")}), path({named("a.b"), named("[0]")}),
        path({named("it's"), named("\""), named("' and \""), named("\\\n\r\t\x01\x7f"),
              named(std::string_view("\0", 1))}),
        path({numbered(-3), numbered(INT64_MIN), element(INT64_MAX)}), path({{kind::unsigned_key, {}, -1}})}) {
    EXPECT_TRUE(parse_path(p.to_string()) == p) << p;
  }
}

TEST(path, a_number_parses_as_an_index) {
  EXPECT_TRUE(parse_path("[3]") == path({element(3)}));
  EXPECT_EQ(parse_path("[3]").to_string(), path({numbered(3)}).to_string());
}

void expect_refused(std::string_view text, const std::string& reason) {
  try {
    (void)parse_path(text);
    ADD_FAILURE() << text;
  } catch (const path_error& e) {
    EXPECT_EQ(std::string(e.what()).find("espalier: parse_path: expected " + reason), 0u) << e.what();
  }
}

TEST(path, text_that_is_no_path_is_refused_with_the_byte) {
  expect_refused("layers", "'.' or '[' at byte 0 of 'layers'");
  expect_refused(".", "a field's name at byte 1");
  expect_refused(".a..b", "a field's name at byte 3");
  expect_refused(".a[", "a whole number of 64 bits, or a quoted key, at byte 3");
  expect_refused("[01]", "a whole number");
  expect_refused("[-0]", "a whole number");
  expect_refused("[+1]", "a whole number");
  expect_refused("[]", "a whole number");
  expect_refused("[18446744073709551616]", "a whole number");
  expect_refused("[-9223372036854775809]", "a whole number");
  expect_refused("[1", "']' at byte 2");
  expect_refused("['a", "a closing quote at byte 3");
  expect_refused("['a\"]", "a closing quote");
  expect_refused("['a'", "']' at byte 4");
  expect_refused(R"(['\q'])", "one of");
  expect_refused(R"(['\x1'])", "two hexadecimal digits");
  expect_refused(R"(['\)", "one of");
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
