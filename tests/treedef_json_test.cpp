// Structures as JSON: what is written reads back equal; everything else is refused with a line, a column and a reason.

#include <chrono>
#include <espalier/flatten.hpp>
#include <espalier/treedef_json.hpp>
#include <iomanip>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "corpus.hpp"

namespace {

using namespace espalier;
using corpus::point;

template <class T> std::string written(const T& tree) { return treedef_to_json(tree_structure(tree)); }

// The text with its first `what` replaced.
std::string with(std::string text, std::string_view what, std::string_view by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what << " in " << text;
  return text.replace(at, what.size(), by);
}

struct fault {
  std::size_t line = 0, column = 0;
  std::string reason;
};
fault read_fault(const std::string& text, std::size_t max_nodes = 1000) {
  try {
    (void)treedef_from_json(text, max_nodes);
  } catch (const treedef_text_error& e) {
    return {e.line, e.column, e.what()};
  }
  ADD_FAILURE() << "read: " << text;
  return {};
}
void expect_fault(const std::string& text, std::size_t line, std::size_t column, std::string_view reason) {
  const fault found = read_fault(text);
  EXPECT_EQ(found.line, line) << found.reason;
  EXPECT_EQ(found.column, column) << found.reason;
  EXPECT_NE(found.reason.find(reason), std::string::npos) << found.reason;
}

// --- Laws. ---

template <class T> struct treedef_json_laws : testing::Test {};
TYPED_TEST_SUITE(treedef_json_laws, corpus::types);

TYPED_TEST(treedef_json_laws, what_is_written_reads_back_equal) {
  for (const TypeParam& tree : corpus::examples<TypeParam>()) {
    const any_treedef def = tree_structure(tree);
    const std::string text = treedef_to_json(def);
    const any_treedef again = treedef_from_json(text);
    EXPECT_TRUE(again == def) << text;
    EXPECT_TRUE(again == tree_structure(tree));
    EXPECT_EQ(again.hash(), def.hash());
    EXPECT_EQ(again.to_string(), def.to_string());
    EXPECT_EQ(again.num_nodes(), def.num_nodes());
    EXPECT_EQ(again.num_leaves(), def.num_leaves());
    EXPECT_TRUE(again.paths() == def.paths());
    EXPECT_EQ(treedef_to_json(again), text);
  }
}

TYPED_TEST(treedef_json_laws, parts_and_compositions_read_back_too) {
  for (const TypeParam& tree : corpus::examples<TypeParam>()) {
    const any_treedef def = tree_structure(tree);
    const any_treedef composed = def.compose(tree_structure(corpus::model{{{{1, 2}, 3.0}}, 0.5}));
    EXPECT_TRUE(treedef_from_json(treedef_to_json(composed)) == composed);
    for (const any_treedef& child : def.children()) EXPECT_TRUE(treedef_from_json(treedef_to_json(child)) == child);
  }
}

TYPED_TEST(treedef_json_laws, a_text_cut_short_is_refused) {
  for (const TypeParam& tree : corpus::examples<TypeParam>()) {
    const std::string text = written(tree);
    for (std::size_t n = 0; n + 1 < text.size(); ++n) {  // the last character is the end of the line
      EXPECT_THROW((void)treedef_from_json(text.substr(0, n)), treedef_text_error) << text.substr(0, n);
    }
  }
}

// --- The text. ---

struct example {
  std::vector<point> layers;
  aux<int> step;
};

const char* const example_text = R"({
  "format": "espalier.treedef", "version": 1, "hash": "HASH",
  "types": [
    {"kind": "record", "fields": [{"name": "layers", "type": 1}, {"name": "step", "aux": true}]},
    {"kind": "sequence", "type": 2},
    {"kind": "record", "fields": [{"name": "x", "type": 3}, {"name": "y", "type": 3}]},
    {"kind": "leaf"}
  ],
  "nodes": [
    {"aux": [{"text": "3", "encoding": "690403000000"}]},
    {"size": 2}
  ]
}
)";

std::string hexadecimal(std::uint64_t number) {
  std::ostringstream out;
  out << std::hex << std::setw(16) << std::setfill('0') << number;
  return out.str();
}

TEST(treedef_json, carries_version_hash_names_kinds_and_aux_data) {
  const auto def = tree_structure(example{{{1, 2}, {3, 4}}, 3});
  EXPECT_EQ(treedef_to_json(def), with(example_text, "HASH", hexadecimal(def.hash())));
}

TEST(treedef_json, is_read_whatever_the_order_and_spacing) {
  const auto def = tree_structure(point{});
  const std::string text = R"({"types":[{"fields":[{"type":1,"name":"\u0078"},{"type":1,"name":"y"}],"kind":"record"},)"
                           R"({"kind":"leaf"}],"nodes":[],"version":1,"hash":")" +
                           hexadecimal(def.hash()) + R"(","format":"espalier.treedef"})";
  EXPECT_TRUE(treedef_from_json(text) == def);
}

TEST(treedef_json, keeps_keys_that_look_alike_apart) {
  using names = std::map<std::string, int>;
  const any_treedef def =
      tree_structure(names{{"1", 0}, {"01", 0}, {"a.b", 0}, {"it's", 0}, {"\"\\\n\x01", 0}, {"ü", 0}});
  EXPECT_TRUE(treedef_from_json(treedef_to_json(def)).paths() == def.paths());
  using numbers = std::map<std::uint64_t, int>;
  const any_treedef large = tree_structure(numbers{{0, 0}, {std::numeric_limits<std::uint64_t>::max(), 0}});
  EXPECT_TRUE(treedef_from_json(treedef_to_json(large)).paths() == large.paths());
  using shorts = std::map<signed char, int>;
  const any_treedef small = tree_structure(shorts{{-128, 0}, {-1, 0}, {127, 0}});
  EXPECT_TRUE(treedef_from_json(treedef_to_json(small)).paths() == small.paths());
  const any_treedef flags = tree_structure(std::map<bool, int>{{false, 0}, {true, 0}});
  EXPECT_TRUE(treedef_from_json(treedef_to_json(flags)).paths() == flags.paths());
  const any_treedef colors = tree_structure(std::map<corpus::color, int>{{corpus::color::green, 0}});
  EXPECT_TRUE(treedef_from_json(treedef_to_json(colors)).paths() == colors.paths());
}

TEST(treedef_json, keys_that_are_not_utf_8_cannot_be_written) {
  EXPECT_THROW((void)written(std::map<std::string, int>{{"\xff", 0}}), error);
}

TEST(treedef_json, aux_data_may_be_any_bytes) {
  const auto def = tree_structure(corpus::cache{1, 3, std::string("\xff\0", 2)});
  EXPECT_TRUE(treedef_from_json(treedef_to_json(def)) == def);
}

// --- Refused, with a position. ---

TEST(treedef_json, malformed_text_is_refused_where_it_is_wrong) {
  const std::string good = written(example{{{1, 2}}, 3});
  expect_fault("", 1, 1, "expected an object");
  expect_fault("[]", 1, 1, "expected an object");
  expect_fault("{}", 1, 1, "expected the members format, version, hash, types and nodes");
  expect_fault(good + "x", 14, 1, "expected the end of the text");
  expect_fault(with(good, "true", "tru"), 4, 90, "expected true or false");
  expect_fault(with(good, "\"size\": 1", "\"size\": 01"), 11, 14, "expected a whole number");
  expect_fault(with(good, "\"size\": 1", "\"size\": -1"), 11, 14, "expected a whole number");
  expect_fault(with(good, "\"size\": 1", "\"size\": 1.5"), 11, 15, "expected ',' or '}'");
  expect_fault(with(good, "layers", "lay\ners"), 4, 48, "a control character in a string");
  expect_fault(with(good, "layers", "lay\\qers"), 4, 48, "an unknown escape in a string");
  expect_fault(with(good, "layers", "lay\\ud800ers"), 4, 48, "half of a surrogate pair");
  expect_fault(with(good, "layers",
                    "lay\xff"
                    "ers"),
               4, 44, "a string that is not UTF-8");
  expect_fault(with(good, "\"size\": 1", "\"size\": 1, \"size\": 1"), 11, 17, "for the second time");
}

TEST(treedef_json, foreign_text_is_refused) {
  const std::string good = written(example{{{1, 2}}, 3});
  expect_fault(R"({"layers": [1, 2]})", 1, 2, "an unknown member; expected format, version, hash, types and nodes");
  expect_fault(with(good, "espalier.treedef", "jax.treedef"), 2, 3, "expected the format");
  expect_fault(with(good, "\"version\": 1", "\"version\": 2"), 2, 33, "expected version 1, found 2");
  expect_fault(with(good, "sequence", "list"), 5, 14, "no kind of node");
  expect_fault(with(good, "\"name\": \"x\"", "\"title\": \"x\""), 6, 36, "an unknown member of a field");
}

TEST(treedef_json, text_that_is_no_structure_is_refused) {
  const std::string good = written(example{{{1, 2}}, 3});
  expect_fault(with(good, "\"type\": 2", "\"type\": 9"), 5, 5, "there is no type 9");
  expect_fault(with(good, "{\"size\": 1}", "{\"engaged\": true}"), 11, 5, "expected a sequence, {\"size\"}");
  expect_fault(with(good, ",\n    {\"size\": 1}", ""), 3, 3, "the nodes end too early: expected a sequence");
  expect_fault(with(good, "{\"size\": 1}", "{\"size\": 1}, {\"size\": 1}"), 11, 18, "no place for");
  expect_fault(with(good, "{\"kind\": \"leaf\"}", "{\"kind\": \"tuple\", \"fields\": [{\"type\": 2}]}"), 6, 5,
               "contains itself without a sequence, map or optional between");
  expect_fault(with(good, "690403000000", "69040300000"), 10, 40, "an even number of hexadecimal digits");
  expect_fault(with(good, "\"aux\": true", "\"type\": 3, \"aux\": true"), 4, 66, "one of the two");
  const std::string map = written(std::map<std::string, int>{{"a", 1}, {"b", 2}});
  expect_fault(with(with(map, "62\"", "61\""), "\"b\"", "\"a\""), 8, 5, "the same key twice");
  expect_fault(with(map, "\"text\": \"a\"", "\"text\": \"c\""), 8, 5, "not that of its text");
}

TEST(treedef_json, every_change_that_makes_another_structure_is_found_by_the_hash) {
  const std::string good = written(example{{{1, 2}}, 3});
  for (const auto& [what, by] : {std::pair("\"layers\"", "\"lawyers\""), std::pair("\"size\": 1", "\"size\": 3"),
                                 std::pair("690403000000", "690404000000"), std::pair("\"x\"", "\"z\""),
                                 std::pair("\"sequence\"", "\"sequence\", \"name\": \"n\"")}) {
    expect_fault(with(good, what, by), 2, 55, "the hash is not that of this structure");
  }
}

// --- What a short text could claim. ---

TEST(treedef_json, the_number_of_nodes_is_bounded) {
  const std::string million = written(std::vector<double>(1'000'000));
  EXPECT_LT(million.size(), 300u);
  EXPECT_NE(read_fault(million, 1000).reason.find("more than 1000 nodes"), std::string::npos);
  EXPECT_TRUE(treedef_from_json(million, 1'000'001) == tree_structure(std::vector<double>(1'000'000)));
  const std::string endless = with(million, "1000000", "18446744073709551615");
  EXPECT_NE(read_fault(endless, 1000).reason.find("more than 1000 nodes"), std::string::npos);
}

std::string text_of_types(const std::string& types, const std::string& nodes = "") {
  return R"({"format": "espalier.treedef", "version": 1, "hash": "", "types": [)" + types + R"(], "nodes": [)" + nodes +
         "]}";
}

// Without optimization these 80,000 fields took 80 s when each child was looked for among them, and take 0.6 s.
TEST(treedef_json, a_record_of_many_fields_costs_what_its_fields_cost) {
  const auto seconds_for = [](std::size_t fields) {
    std::string record = R"({"kind": "record", "fields": [)";
    for (std::size_t i = 0; i < fields; ++i) {
      record.append(i == 0 ? "" : ", ").append(R"({"name": "f)").append(std::to_string(i)).append(R"(", "type": 1})");
    }
    const std::string text = text_of_types(record + R"(]}, {"kind": "leaf"})");
    const auto begin = std::chrono::steady_clock::now();
    const any_treedef wide(detail::treedef_reader(text, fields + 1).read());
    EXPECT_EQ(wide.paths().back().to_string(), ".f" + std::to_string(fields - 1));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  EXPECT_LT(seconds_for(80'000), 4 * 10 * seconds_for(8'000)) << "linear is a factor of 10, quadratic one of 100";
}

TEST(treedef_json, fields_that_are_aux_data_are_no_children) {
  struct mixed {
    aux<int> a;
    double b;
    aux<int> c;
    std::vector<double> d;
    double e;
  };
  const any_treedef def = tree_structure(mixed{1, 2, 3, {4}, 5});
  const any_treedef again = treedef_from_json(treedef_to_json(def));
  EXPECT_TRUE(again == def);
  EXPECT_EQ(again.to_string(), "{.b: *, .d: [*], .e: *, .a=1, .c=3}");
}

TEST(treedef_json, types_that_are_too_large_are_refused_before_nodes_are_made) {
  std::string types;
  for (int i = 1; i < 100; ++i) {
    const std::string below = std::to_string(i);
    types += R"({"kind": "tuple", "fields": [{"type": )" + below + R"(}, {"type": )" + below + "}]}, ";
  }
  const std::string text = text_of_types(types + R"({"kind": "leaf"})");
  EXPECT_NE(read_fault(text).reason.find("the types' encoding is longer than"), std::string::npos);
}

TEST(treedef_json, types_that_double_are_refused) {
  std::string types = R"({"kind": "sequence", "type": 1})";
  for (int i = 2; i < 100; ++i) {
    const std::string below = std::to_string(i);
    types += R"(, {"kind": "tuple", "fields": [{"type": )" + below + R"(}, {"type": )" + below + "}]}";
  }
  const std::string text = text_of_types(types + R"(, {"kind": "leaf"})", R"({"size": 0})");
  EXPECT_NE(read_fault(text).reason.find("the types' encoding is longer than"), std::string::npos);
}

TEST(treedef_json, the_depth_of_types_is_bounded) {
  std::string types = R"({"kind": "sequence", "type": 1})";
  for (int i = 2; i < 3000; ++i) types += R"(, {"kind": "tuple", "fields": [{"type": )" + std::to_string(i) + "}]}";
  const std::string text = text_of_types(types + R"(, {"kind": "leaf"})", R"({"size": 0})");
  EXPECT_NE(read_fault(text).reason.find("types nested more than 1000 deep"), std::string::npos);
}

TEST(treedef_json, trees_of_any_depth_are_read_without_recursion) {
  const std::size_t depth = 100'000;
  std::string nodes = R"({"engaged": true})";
  for (std::size_t i = 1; i < depth; ++i) nodes += R"(, {"engaged": true})";
  const std::string types =
      R"({"kind": "record", "fields": [{"name": "value", "type": 2}, {"name": "next", "type": 1}]})"
      R"(, {"kind": "maybe", "type": 0}, {"kind": "leaf"})";
  const std::string text = text_of_types(types, nodes + R"(, {"engaged": false})");
  const any_treedef deep(detail::treedef_reader(text, 3 * depth + 3).read());
  EXPECT_EQ(deep.num_leaves(), depth + 1);
  const std::string again = treedef_to_json(deep);
  EXPECT_TRUE(treedef_from_json(again, 3 * depth + 3) == deep);
  EXPECT_EQ(deep.child(1).num_leaves(), depth);
  EXPECT_TRUE(deep.is_prefix_of(deep));
  EXPECT_EQ(deep.compose(any_treedef(tree_structure(point{}))).num_leaves(), 2 * depth + 2);
  EXPECT_TRUE(deep.to_string().ends_with(".next: None}" + std::string(depth, '}')));
}

}  // namespace
