#include <gtest/gtest.h>
#include <mlx/mlx.h>
#ifndef _WIN32
#include <sys/resource.h>
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <complex>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <espalier/aux.hpp>
#include <espalier/equal.hpp>
#include <espalier/flatten.hpp>
#include <espalier/mlx/safetensors.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "../messages.hpp"
#include "../scratch_folder.hpp"

namespace {

namespace fs = std::filesystem;
namespace mx = ::mlx::core;
using espalier::checkpoint_error;
using espalier::load_safetensors;
using espalier::mismatch;
using espalier::save_safetensors;
using espalier::tree_equal;

// A folder of its own for each test.
class Checkpoint : public ::testing::Test {
 protected:
  // What a tree becomes that is saved, and loaded into `target`.
  template <class T> T through_file(const T& tree, T target) {
    save_safetensors(file, tree);
    load_safetensors(file, target);
    return target;
  }

  std::string bytes() const { return text_of(file); }
  void write_bytes(const std::string& text) const { scratch.file("tree.safetensors", text); }

  scratch_folder scratch;
  fs::path folder = scratch.path;
  fs::path file = folder / "tree.safetensors";
};

// The exception of a load, or an empty one.
template <class T> checkpoint_error load_error(const fs::path& file, T& tree) {
  try {
    load_safetensors(file, tree);
  } catch (const checkpoint_error& e) {
    return e;
  }
  return checkpoint_error("no error");
}

template <class T> checkpoint_error save_error(const fs::path& file, const T& tree) {
  try {
    save_safetensors(file, tree);
  } catch (const checkpoint_error& e) {
    return e;
  }
  return checkpoint_error("no error");
}

std::vector<mismatch> sorted(std::vector<mismatch> list) {
  std::sort(list.begin(), list.end(), [](const mismatch& a, const mismatch& b) {
    return std::tie(a.path, a.expected, a.found) < std::tie(b.path, b.expected, b.found);
  });
  return list;
}

void expect_differences(const checkpoint_error& e, std::vector<mismatch> expected) {
  const auto got = sorted(e.differences);
  expected = sorted(std::move(expected));
  EXPECT_EQ(got, expected) << e.what();
}

struct linear {
  mx::array weight;
  std::optional<mx::array> bias;
  int stride;
};

struct model {
  std::vector<linear> layers;
  std::map<std::string, mx::array> named;
  mx::array steps;
};

model make_model(float scale) {
  model m{.layers = {}, .named = {}, .steps = mx::array(static_cast<int>(scale))};
  m.layers.push_back(linear{.weight = mx::transpose(mx::reshape(mx::arange(6.0f) * scale, {2, 3})),
                            .bias = mx::array({scale, 2.0f}),
                            .stride = static_cast<int>(scale)});
  m.layers.push_back(linear{.weight = mx::ones({2}) * scale, .bias = std::nullopt, .stride = 2});
  m.named.emplace("01", mx::array({scale}, mx::bfloat16));
  m.named.emplace("1", mx::array({scale + 1}, mx::float16));
  return m;
}

TEST_F(Checkpoint, ALoadedTreeEqualsTheSavedOne) {
  const model saved = make_model(3.0f);
  model target = make_model(1.0f);
  ASSERT_FALSE(tree_equal(saved, target));
  EXPECT_TRUE(tree_equal(through_file(saved, target), saved));
}

TEST_F(Checkpoint, TensorsAreNamedByDottedPath) {
  save_safetensors(file, make_model(3.0f));
  const auto [arrays, metadata] = mx::load_safetensors(file.string());
  std::set<std::string> names;
  for (const auto& entry : arrays) names.insert(entry.first);
  EXPECT_EQ(names, (std::set<std::string>{"layers.0.weight", "layers.0.bias", "layers.1.weight", "named.01", "named.1",
                                          "steps"}));
  EXPECT_TRUE(mx::array_equal(arrays.at("layers.0.weight"), make_model(3.0f).layers[0].weight).item<bool>());
  EXPECT_EQ(metadata.at("leaf:layers.0.stride"), "i32:3");
  std::array<char, 17> hash{};
  std::snprintf(hash.data(), hash.size(), "%016llx",
                static_cast<unsigned long long>(espalier::structure_hash_v<model>));
  EXPECT_EQ(metadata.at("espalier.structure_hash"), hash.data());
}

TEST_F(Checkpoint, EveryDtypeOfMlxRoundTrips) {
  std::vector<mx::array> saved;
  std::vector<mx::array> target;
  for (const mx::Dtype t : {mx::bool_, mx::uint8, mx::uint16, mx::uint32, mx::uint64, mx::int8, mx::int16, mx::int32,
                            mx::int64, mx::float16, mx::bfloat16, mx::float32, mx::complex64}) {
    saved.push_back(mx::array({1, 0, 1}, t));
    target.push_back(mx::zeros({3}, t));
  }
  EXPECT_TRUE(tree_equal(through_file(saved, target), saved));
  EXPECT_TRUE(contains(save_error(file, mx::array({1.0, 2.0}, mx::float64)).what(), "float64[2]"));
}

TEST_F(Checkpoint, ArraysWithoutElementsAndScalarsRoundTrip) {
  struct shapes {
    mx::array none, matrix, scalar;
  };
  const shapes saved{mx::zeros({0}), mx::zeros({3, 0}, mx::int32), mx::array(2.5f)};
  const shapes target{mx::zeros({0}), mx::zeros({3, 0}, mx::int32), mx::array(1.0f)};
  EXPECT_TRUE(tree_equal(through_file(saved, target), saved));
  shapes other{mx::zeros({0, 1}), mx::zeros({3, 0}, mx::int32), mx::array(1.0f)};
  expect_differences(load_error(file, other), {{"none", "float32[0, 1]", "array:float32[0]"}});
}

enum class mode : unsigned char { a = 1, b = 200 };

struct all_leaves {
  bool yes, no;
  char c;
  signed char i8;
  unsigned char u8;
  short i16;
  unsigned short u16;
  int i32;
  unsigned u32;
  long long i64;
  unsigned long long u64;
  char32_t letter;
  float f;
  double d;
  mode m;
  std::string text, empty;
  std::complex<float> cf;
  std::complex<double> cd;
};

all_leaves extremes() {
  return {true,
          false,
          static_cast<char>(-1),
          -128,
          255,
          -32768,
          65535,
          std::numeric_limits<int>::min(),
          std::numeric_limits<unsigned>::max(),
          std::numeric_limits<long long>::min(),
          std::numeric_limits<unsigned long long>::max(),
          U'\x1F642',
          0.1f,
          0.1,
          mode::b,
          "a, (b): [c] {d} 'e' \"f\" \\ \n ä",
          "",
          {-0.0f, 1e-45f},
          {5e-324, std::numeric_limits<double>::max()}};
}

// CASES 23.
TEST_F(Checkpoint, EveryTypeOfLeafRoundTrips) {
  const all_leaves saved = extremes();
  const all_leaves loaded = through_file(saved, all_leaves{});
  EXPECT_TRUE(tree_equal(loaded, saved));
  EXPECT_TRUE(std::signbit(loaded.cf.real()));
}

TEST_F(Checkpoint, FloatsRoundTripBitForBit) {
  std::vector<float> f;
  for (const std::uint32_t bits : {0x00000000U, 0x80000000U, 0x00000001U, 0x7F7FFFFFU, 0x7F800000U, 0xFF800000U,
                                   0x7FC00000U, 0xFFC00001U, 0x7FABCDEFU, 0x3DCCCCCDU, 0x3F800001U}) {
    f.push_back(std::bit_cast<float>(bits));
  }
  std::vector<double> d;
  for (const std::uint64_t bits : std::initializer_list<std::uint64_t>{
           0x8000000000000000U, 0x0000000000000001U, 0x7FEFFFFFFFFFFFFFU, 0x7FF0000000000000U, 0xFFF8000000000001U,
           0x3FB999999999999AU, 0x3FF0000000000001U}) {
    d.push_back(std::bit_cast<double>(bits));
  }
  const std::pair saved(f, d);
  const auto loaded = through_file(saved, std::pair(std::vector<float>(f.size()), std::vector<double>(d.size())));
  EXPECT_EQ(std::memcmp(loaded.first.data(), f.data(), f.size() * sizeof(float)), 0);
  EXPECT_EQ(std::memcmp(loaded.second.data(), d.data(), d.size() * sizeof(double)), 0);
}

TEST_F(Checkpoint, StringsOfAnyBytesRoundTrip) {
  const std::vector<std::string> saved{"str:3:abc", "\xFF\xFE", std::string("\0x", 2), "\xED\xA0\x80", "\xC0\x80",
                                       "日本",      "\xF0\x9F"};
  EXPECT_EQ(through_file(saved, std::vector<std::string>(saved.size())), saved);
}

TEST_F(Checkpoint, FalseNeverBecomesTrue) {
  struct flags {
    bool flag;
  };
  for (const char* text : {"False", "True", "1", "0", "bool:True", "bool:", "bool:true ", "i32:1", "str:4:true", ""}) {
    mx::save_safetensors(file.string(), {{"x", mx::array(1.0f)}},
                         {{"espalier.version", "1"}, {"leaf:.flag", "x"}, {"leaf:flag", text}});
    flags target{false};
    const auto e = load_error(file, target);
    EXPECT_TRUE(contains(e.what(), "flag: expected a value such as bool:false, found " + std::string(text)))
        << e.what();
    EXPECT_FALSE(target.flag);
  }
}

TEST_F(Checkpoint, TextOfAnotherTypeOrRangeIsRefused) {
  struct number {
    signed char n;
  };
  const auto load = [&](const std::string& text) {
    mx::save_safetensors(file.string(), {}, {{"espalier.version", "1"}, {"leaf:n", text}});
    number target{7};
    const bool loaded = load_error(file, target).what() == std::string("no error");
    EXPECT_TRUE(loaded || target.n == 7);
    return loaded;
  };
  EXPECT_TRUE(load("i8:127"));
  EXPECT_TRUE(load("i8:-128"));
  for (const char* text :
       {"i8:128", "i8:-129", "i8:99999999999999999999", "i8:", "i8:1.5", "i8:1x", "u8:1", "i32:1", "i8:1,i8:2"}) {
    EXPECT_FALSE(load(text)) << text;
  }
}

struct config {
  int heads;
  std::string kind;
  std::vector<float> decay;
  friend bool operator==(const config&, const config&) = default;
};
struct nothing {};
using alternatives = std::variant<int, std::string>;

struct with_aux {
  mx::array keys;
  espalier::aux<int> step;
  espalier::aux<bool> causal;
  espalier::aux<double> rate;
  espalier::aux<std::string> name;
  espalier::aux<mode> m;
  espalier::aux<config> cfg;
  espalier::aux<std::optional<int>> window, no_window;
  espalier::aux<alternatives> either;
  std::map<std::string, std::pair<int, bool>> table;
  std::unordered_map<int, std::string> by_id;
  std::set<int> ids;
  espalier::aux<std::array<std::tuple<int, float>, 2>> fixed;
  espalier::aux<std::complex<float>> z;
  nothing empty;
  int listed;

  static constexpr auto tree_aux =
      espalier::fields<&with_aux::table, &with_aux::by_id, &with_aux::ids, &with_aux::empty, &with_aux::listed>;
};

// CASES 23.
TEST_F(Checkpoint, AuxValuesRoundTrip) {
  const with_aux saved{.keys = mx::array({1.0f}),
                       .step = 12,
                       .causal = true,
                       .rate = -0.0,
                       .name = std::string("a,b)"),
                       .m = mode::b,
                       .cfg = config{8, "rope, (x)", {0.1f, 0.2f}},
                       .window = std::optional(4),
                       .no_window = std::optional<int>(),
                       .either = alternatives("two"),
                       .table = {{"x", {1, true}}, {"y", {2, false}}},
                       .by_id = {{1, "one"}, {2, "two"}},
                       .ids = {3, 1, 2},
                       .fixed = {{std::tuple(1, 0.5f), std::tuple(2, 0.25f)}},
                       .z = std::complex<float>(1, -2),
                       .empty = nothing{},
                       .listed = 77};
  const with_aux target{.keys = mx::array({0.0f}),
                        .step = 0,
                        .causal = false,
                        .rate = 1.0,
                        .name = {},
                        .m = mode::a,
                        .cfg = {},
                        .window = {},
                        .no_window = std::optional(1),
                        .either = alternatives(1),
                        .table = {},
                        .by_id = {},
                        .ids = {},
                        .fixed = {},
                        .z = {},
                        .empty = {},
                        .listed = 0};
  const with_aux loaded = through_file(saved, target);
  EXPECT_TRUE(tree_equal(loaded, saved)) << espalier::tree_structure(loaded) << espalier::tree_structure(saved);
  EXPECT_EQ(*loaded.cfg, *saved.cfg);
  EXPECT_EQ(loaded.by_id, saved.by_id);
  EXPECT_TRUE(std::signbit(*loaded.rate));
  EXPECT_EQ(loaded.listed, 77);
}

struct quantized {
  mx::array packed;
  int bits;
};
class frozen {
 public:
  frozen(mx::array value, int group) : value_(std::move(value)), group_(group) {}
  const mx::array& value() const { return value_; }
  int group() const { return group_; }
  auto tree_children() const { return std::tie(value_); }
  std::pair<int, bool> tree_aux() const { return {group_, true}; }
  static frozen tree_unflatten(std::pair<int, bool> aux, mx::array value) { return {std::move(value), aux.first}; }

 private:
  const mx::array value_;
  const int group_;
};

}  // namespace

template <> struct espalier::pytree_node<quantized> {
  static auto children(auto&& q) { return std::tie(q.packed); }
  static auto aux(const quantized& q) { return q.bits; }
  static quantized unflatten(int bits, mx::array packed) { return {std::move(packed), bits}; }
};

namespace {

struct chain {
  mx::array value;
  std::unique_ptr<chain> next;
  std::vector<chain> branches;
};

struct mixed {
  quantized q;
  std::optional<quantized> engaged;
  std::vector<frozen> list;
  std::variant<mx::array, linear> either;
  std::tuple<mx::array, int> pair;
  std::array<double, 2> numbers;
  const int constant;
};

mixed make_mixed(float x, int n) {
  return mixed{.q = {mx::array({x}), n},
               .engaged = quantized{mx::array({x, x}), n + 1},
               .list = {frozen(mx::array(x), n + 2), frozen(mx::array(x), n + 3)},
               .either = linear{mx::array(x), std::nullopt, n},
               .pair = {mx::array(x), n},
               .numbers = {x, x},
               .constant = n};
}

TEST_F(Checkpoint, RegisteredConstAndVariantNodesRoundTrip) {
  const mixed saved = make_mixed(2.0f, 20);
  save_safetensors(file, saved);
  mixed target = make_mixed(1.0f, 10);
  load_safetensors(file, target);
  EXPECT_TRUE(tree_equal(target, saved));
  EXPECT_EQ(target.list[1].group(), 23);
  EXPECT_EQ(target.constant, 20);
}

chain make_chain(float x) {
  chain c{mx::array(x), std::make_unique<chain>(chain{mx::array(x), nullptr, {}}), {}};
  c.branches.push_back(chain{mx::array(x), nullptr, {}});
  return c;
}

TEST_F(Checkpoint, RecursiveMoveOnlyTreesRoundTrip) {
  const chain saved = make_chain(2.0f);
  EXPECT_TRUE(tree_equal(through_file(saved, make_chain(1.0f)), saved));
}

TEST_F(Checkpoint, ATreeMayBeOneLeaf) {
  EXPECT_TRUE(tree_equal(through_file(mx::array({1.0f, 2.0f}), mx::zeros({2})), mx::array({1.0f, 2.0f})));
  EXPECT_EQ(through_file(3, 4), 3);
  const std::optional<mx::array> none;
  EXPECT_FALSE(through_file(none, none));
}

// CASES 5.
TEST_F(Checkpoint, NoneAndEmptyContainersAreStructure) {
  struct holder {
    std::map<std::string, std::map<std::string, mx::array>> m;
    std::vector<mx::array> v;
    std::vector<nothing> structs;
    std::optional<std::vector<int>> maybe;
  };
  const holder saved{{{"a", {}}}, {}, {{}, {}}, std::vector<int>{}};
  holder target = saved;
  load_safetensors((save_safetensors(file, saved), file), target);
  EXPECT_TRUE(tree_equal(target, saved));

  holder other{{{"b", {}}}, {}, {{}}, std::nullopt};
  expect_differences(load_error(file, other), {{"m", "the keys ['b']", "the keys ['a']"},
                                               {"m.b", "no keys", "nothing"},
                                               {"m.a", "nothing", "no keys"},
                                               {"structs", "1 element", "2 elements"},
                                               {"maybe", "None", "a value of 0 elements"}});
}

// CASES 24.
TEST_F(Checkpoint, MapKeysKeepTheirType) {
  save_safetensors(file, std::map<std::string, int>{{"1", 5}});
  std::map<int, int> target{{1, 0}};
  expect_differences(load_error(file, target), {{"", "the keys [1]", "the keys ['1']"}});

  // Keys that would print alike if quotes were not escaped.
  save_safetensors(file, std::map<std::string, nothing>{{"a", {}}, {"b", {}}});
  std::map<std::string, nothing> quoted{{"a'], ['b", {}}};
  expect_differences(load_error(file, quoted), {{"", "the keys [\"a'], ['b\"]", "the keys ['a'], ['b']"}});
}

// CASES 25.
TEST_F(Checkpoint, EveryDifferenceIsReportedAndNothingIsLoaded) {
  save_safetensors(file, make_model(3.0f));
  model target = make_model(1.0f);
  target.layers[0].weight = mx::zeros({2, 3});          // another shape
  target.layers[0].bias = mx::zeros({2}, mx::float16);  // another dtype
  target.layers[1].bias = mx::array(1.0f);              // engaged here
  target.layers.push_back(target.layers[1]);            // one more
  target.named.erase("1");                              // one less
  const model before = target;
  const auto e = load_error(file, target);
  // What containers hold comes first: it explains the rest.
  EXPECT_EQ(e.differences, (std::vector<mismatch>{{"layers", "3 elements", "2 elements"},
                                                  {"layers.1.bias", "a value", "None"},
                                                  {"layers.2.bias", "a value", "nothing"},
                                                  {"named", "the keys ['01']", "the keys ['01'], ['1']"},
                                                  {"layers.0.weight", "float32[2, 3]", "float32[3, 2]"},
                                                  {"layers.0.bias", "float16[2]", "float32[2]"},
                                                  {"layers.1.bias", "float32[]", "nothing"},
                                                  {"layers.2.weight", "float32[2]", "nothing"},
                                                  {"layers.2.bias", "float32[]", "nothing"},
                                                  {"layers.2.stride", "a value such as i32:2", "nothing"},
                                                  {"named.1", "nothing", "float16[1]"}}))
      << e.what();
  EXPECT_TRUE(contains(e.what(), file.string()));
  EXPECT_TRUE(tree_equal(target, before));
  EXPECT_EQ(target.layers[0].stride, 1);
}

TEST_F(Checkpoint, AVariantsAlternativeMustAgree) {
  using tree = std::variant<std::pair<int, int>, std::tuple<int, int>>;
  save_safetensors(file, tree(std::pair(1, 2)));
  tree target(std::tuple(3, 4));
  expect_differences(load_error(file, target), {{"", "alternative 1", "alternative 0"}});
}

struct plain {
  int x;
};
struct renamed {
  int x;
};

}  // namespace

template <> inline constexpr std::string_view espalier::pytree_name<renamed> = "renamed";
template <> inline constexpr std::string_view espalier::pytree_name<std::vector<long>> = "numbers";

namespace {

TEST_F(Checkpoint, PytreeNamesTellStructsApart) {
  save_safetensors(file, plain{1});
  renamed target{2};
  expect_differences(load_error(file, target), {{"", "named renamed", "nothing"}});
  save_safetensors(file, renamed{1});
  load_safetensors(file, target);
  EXPECT_EQ(target.x, 1);
}

TEST_F(Checkpoint, PytreeNamesTellContainersApart) {
  save_safetensors(file, std::vector<short>{1, 2});
  using named = std::vector<long>;
  named target{3, 4};
  const auto e = load_error(file, target);
  ASSERT_FALSE(e.differences.empty());
  EXPECT_EQ(e.differences[0], (mismatch{"", "named numbers: 2 elements", "2 elements"}));
  save_safetensors(file, named{1, 2});
  load_safetensors(file, target);
  EXPECT_EQ(target, (named{1, 2}));
}

TEST_F(Checkpoint, EveryUnexpectedEntryOfAPathIsReported) {
  mx::save_safetensors(file.string(), {{"x", mx::array(1.0f)}},
                       {{"espalier.version", "1"}, {"leaf:x", "i32:1"}, {"aux:x", "i32:2"}, {"node:x", "1 element"}});
  nothing target;
  expect_differences(load_error(file, target), {{"x", "nothing", "float32[]"},
                                                {"x", "nothing", "1 element"},
                                                {"x", "nothing", "the leaf i32:1"},
                                                {"x", "nothing", "the aux value i32:2"}});
}

// CASES 24.
TEST_F(Checkpoint, LeavesOfOneDottedPathAreRefused) {
  using tree = std::map<std::string, std::map<std::string, mx::array>>;
  tree t;
  t["a"].emplace("b.c", mx::array(1.0f));
  t["a.b"].emplace("c", mx::array(2.0f));
  const auto e = save_error(file, t);
  ASSERT_EQ(e.differences.size(), 1U) << e.what();
  EXPECT_EQ(e.differences[0].path, "['a.b']['c']");
  EXPECT_TRUE(contains(e.differences[0].found, "['a']['b.c']")) << e.what();
  EXPECT_FALSE(fs::exists(file));

  const std::map<std::string, int> fine{{"01", 1}, {"1", 2}};
  EXPECT_EQ(through_file(fine, std::map<std::string, int>{{"01", 0}, {"1", 0}}), fine);
}

TEST_F(Checkpoint, KeysThatAFileCannotHoldAreRefused) {
  EXPECT_EQ(save_error(file, std::map<std::string, int>{{"\xFF", 1}}).differences.size(), 1U);
  EXPECT_EQ(save_error(file, std::map<std::string, mx::array>{{"__metadata__", mx::array(1)}}).differences.size(), 1U);
  EXPECT_FALSE(fs::exists(file));
}

TEST_F(Checkpoint, FilesOfOtherProgramsFitIfTheirTensorsDo) {
  mx::save_safetensors(file.string(), {{"layers.0", mx::array({1.0f})}, {"layers.1", mx::array({2.0f})}},
                       {{"format", "pt"}});
  struct stack {
    std::vector<mx::array> layers;
    std::optional<mx::array> bias;
  };
  stack s{{mx::zeros({1}), mx::zeros({1})}, std::nullopt};
  load_safetensors(file, s);
  EXPECT_EQ(s.layers[1].item<float>(), 2.0f);

  linear other{mx::array(1.0f), std::nullopt, 3};
  const auto e = load_error(file, other);
  EXPECT_TRUE(contains(e.what(), "not written by Espalier")) << e.what();
  expect_differences(e, {{"weight", "float32[]", "nothing"},
                         {"layers.0", "nothing", "float32[1]"},
                         {"layers.1", "nothing", "float32[1]"}});
}

// They have arrays only.
TEST_F(Checkpoint, LeavesThatAreNoArraysStayWithFilesOfOtherPrograms) {
  mx::save_safetensors(file.string(), {{"weight", mx::array(2.0f)}});
  linear target{mx::array(1.0f), std::nullopt, 3};
  load_safetensors(file, target);
  EXPECT_EQ(target.weight.item<float>(), 2.0f);
  EXPECT_EQ(target.stride, 3);
  mx::save_safetensors(file.string(), {{"weight", mx::array(4.0f)}, {"stride", mx::array(7)}});
  expect_differences(load_error(file, target), {{"stride", "a value such as i32:3", "int32[]"}});
  EXPECT_EQ(target.weight.item<float>(), 2.0f);
}

TEST_F(Checkpoint, LaterVersionsAreRefused) {
  mx::save_safetensors(file.string(), {{"x", mx::array(1.0f)}}, {{"espalier.version", "2"}});
  std::map<std::string, mx::array> t{{"x", mx::array(0.0f)}};
  EXPECT_TRUE(contains(load_error(file, t).what(), "another version"));
}

TEST_F(Checkpoint, BadFilesAreNamed) {
  model target = make_model(1.0f);
  const auto expect = [&](const fs::path& path, const std::string& part) {
    const auto e = load_error(path, target);
    EXPECT_TRUE(contains(e.what(), path.string()) && contains(e.what(), part)) << e.what();
    EXPECT_TRUE(e.differences.empty());
  };
  expect(folder / "absent.safetensors", "does not exist");
  expect(folder, "is a folder");
  write_bytes("");
  expect(file, "no safetensors file");
  write_bytes("PK\x03\x04 this is something else");
  expect(file, "no safetensors file");
  const std::string random(64, '\xA5');
  write_bytes(random);
  expect(file, "its header should have 11936128518282651045 bytes, but 56 follow");
  write_bytes(std::string("\x10\0\0\0\0\0\0\0", 8) + "{ this is broken");
  expect(file, "no safetensors file");
  write_bytes(std::string("\x02\0\0\0\0\0\0\0", 8) + "[]");
  expect(file, "no safetensors file");
  EXPECT_TRUE(tree_equal(target, make_model(1.0f)));
}

TEST_F(Checkpoint, ATruncatedFileChangesNothing) {
  save_safetensors(file, make_model(3.0f));
  const std::string whole = bytes();
  for (std::size_t lost = 1; lost < whole.size(); lost += lost < 40 ? 1 : 37) {
    write_bytes(whole.substr(0, whole.size() - lost));
    model target = make_model(1.0f);
    const auto e = load_error(file, target);
    EXPECT_TRUE(contains(e.what(), "truncated") || contains(e.what(), "no safetensors file")) << lost << e.what();
    EXPECT_TRUE(contains(e.what(), file.string())) << e.what();
    EXPECT_TRUE(tree_equal(target, make_model(1.0f)));
  }
}

TEST_F(Checkpoint, SavingReplacesAFileAndLeavesNothingElse) {
  save_safetensors(file, make_model(2.0f));
  save_safetensors(file, make_model(3.0f));
  model target = make_model(1.0f);
  load_safetensors(file, target);
  EXPECT_TRUE(tree_equal(target, make_model(3.0f)));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);

  // A tree that was loaded from a file may be saved to it again.
  save_safetensors(file, target);
  load_safetensors(file, target);
  EXPECT_TRUE(tree_equal(target, make_model(3.0f)));
}

TEST_F(Checkpoint, AnyFileNameWillDo) {
  const fs::path odd = folder / "checkpoint.tar.gz";
  save_safetensors(odd.string(), make_model(2.0f));
  ASSERT_TRUE(fs::exists(odd));
  model target = make_model(1.0f);
  load_safetensors(odd, target);
  EXPECT_TRUE(tree_equal(target, make_model(2.0f)));
}

TEST_F(Checkpoint, AFailingSaveLeavesTheOldFile) {
  save_safetensors(file, make_model(2.0f));
  const auto traced = mx::compile([&](const std::vector<mx::array>& in) {
    EXPECT_ANY_THROW(save_safetensors(file, in[0]));
    return in;
  });
  (void)traced({mx::array(1.0f)});
  const auto e = save_error(folder / "absent" / "tree.safetensors", make_model(3.0f));
  EXPECT_TRUE(contains(e.what(), "could not be written") && contains(e.what(), "absent")) << e.what();
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
  model target = make_model(1.0f);
  load_safetensors(file, target);
  EXPECT_TRUE(tree_equal(target, make_model(2.0f)));
}

TEST_F(Checkpoint, ManyLargeArraysAreReadWhole) {
  std::vector<mx::array> saved;
  for (int i = 0; i < 12; ++i)
    saved.push_back(mx::random::normal({1 << 18}, mx::float32, mx::random::key(static_cast<std::uint64_t>(i))));
  EXPECT_TRUE(tree_equal(through_file(saved, std::vector<mx::array>(12, mx::zeros({1 << 18}))), saved));
}

TEST_F(Checkpoint, HalfPrecisionRoundTripsBitForBit) {
  std::vector<std::uint16_t> bits;
  for (std::uint32_t i = 0; i < 1U << 16; ++i) bits.push_back(static_cast<std::uint16_t>(i));
  const mx::array all(bits.begin(), {1 << 16}, mx::uint16);
  const std::vector saved{mx::view(all, mx::float16), mx::view(all, mx::bfloat16)};
  std::vector loaded{mx::zeros({1 << 16}, mx::float16), mx::zeros({1 << 16}, mx::bfloat16)};
  loaded = through_file(saved, loaded);
  for (const mx::array& a : loaded)
    EXPECT_TRUE(mx::array_equal(mx::view(a, mx::uint16), all).item<bool>()) << a.dtype();
}

// --- Damaged files, made by hand from the format's description. -------------------------------------------------------

std::string length_prefix(std::uint64_t n) {
  std::string text;
  for (int i = 0; i < 8; ++i) text += static_cast<char>(n >> (8 * i) & 0xFF);
  return text;
}
std::string made_by_hand(const std::string& header, std::size_t data_bytes) {
  return length_prefix(header.size()) + header + std::string(data_bytes, '\0');
}

struct two_arrays {
  mx::array a, b;
};
two_arrays make_two() { return {mx::ones({2}), mx::ones({2})}; }

const std::string good_a = R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
const std::string good_b = R"("b":{"dtype":"F32","shape":[2],"data_offsets":[8,16]})";

TEST_F(Checkpoint, AFileMadeByHandIsRead) {
  for (const std::string& header : {"{" + good_a + "," + good_b + "}", "{" + good_b + "," + good_a + "}   ",
                                    R"({"__metadata__":null,)" + good_a + "," + good_b + "}",
                                    R"({"__metadata__":{"format":"pt"},)" + good_a + "," + good_b + "}"}) {
    write_bytes(made_by_hand(header, 16));
    two_arrays target = make_two();
    load_safetensors(file, target);
    EXPECT_TRUE(tree_equal(target, two_arrays{mx::zeros({2}), mx::zeros({2})})) << header;
  }
}

TEST_F(Checkpoint, AHeaderOfAWrongLengthIsRefused) {
  const std::string header = "{" + good_a + "," + good_b + "}";
  const auto expect = [&](std::uint64_t length, const std::string& part) {
    write_bytes(length_prefix(length) + header + std::string(16, '\0'));
    two_arrays target = make_two();
    const auto e = load_error(file, target);
    EXPECT_TRUE(contains(e.what(), part) && contains(e.what(), file.string())) << length << e.what();
    EXPECT_TRUE(tree_equal(target, make_two()));
  };
  expect(0, "column 1");
  expect(header.size() - 1, "expected ',' or '}'");
  expect(header.size() + 1, "expected the end of the text");
  expect(header.size() + 16, "expected the end of the text");
  expect(header.size() + 17, "is it truncated?");
  for (const std::uint64_t length : {100'000'001ULL, 1ULL << 40, 1ULL << 62, ~0ULL, ~0ULL - 7})
    expect(length, "follow");

  // Large enough for its header, and beyond what the format allows. (A hole: it takes no room on the disk.)
  write_bytes(length_prefix(100'000'001));
  fs::resize_file(file, 100'000'100);
  two_arrays target = make_two();
  EXPECT_TRUE(contains(load_error(file, target).what(), "more than the 100000000"));
}

TEST_F(Checkpoint, ABadHeaderIsRefused) {
  for (const char* header : {"",
                             "[]",
                             "1",
                             "null",
                             "{",
                             "{\"a\":1}",
                             "{\"a\":null}",
                             "{\"a\":{}",
                             "{\"a\":{\"dtype\":4}}",
                             R"({"a":{"dtype":"F32","shape":2,"data_offsets":[0,8]}})",
                             R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})",
                             R"({"a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})",
                             R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,99999999999999999999]}})",
                             R"({"a":{"dtype":"F32","dtype":"I32","shape":[2],"data_offsets":[0,8]}})",
                             R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1}})",
                             R"({"__metadata__":{"a":1}})",
                             R"({"__metadata__":[]})",
                             "{\"\xff\":{}}",
                             "\xEF\xBB\xBF{}",
                             "{}x"}) {
    write_bytes(made_by_hand(header, 8));
    two_arrays target = make_two();
    const auto e = load_error(file, target);
    EXPECT_TRUE(contains(e.what(), "is no safetensors file, or a damaged one") && contains(e.what(), "column"))
        << header << e.what();
    EXPECT_TRUE(tree_equal(target, make_two()));
  }
  write_bytes(made_by_hand(R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", 8));
  two_arrays negative = make_two();
  EXPECT_TRUE(
      contains(load_error(file, negative).what(), "line 1, column 30: expected a whole number, in the entry of 'a'"));
  // A name that comes twice: other readers take one of the two.
  write_bytes(made_by_hand("{" + good_a + "," + good_b + "," + good_a + "}", 16));
  two_arrays target = make_two();
  EXPECT_TRUE(contains(load_error(file, target).what(), "a member for the second time"));
}

TEST_F(Checkpoint, EveryBadEntryOfAHeaderIsNamed) {
  write_bytes(made_by_hand(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},
    "b":{"dtype":"F64","shape":[1],"data_offsets":[8,16]},
    "c":{"dtype":"F32","shape":[2],"data_offsets":[16,20]},
    "d":{"dtype":"F32","shape":[2],"data_offsets":[24,16]},
    "e":{"dtype":"F32","shape":[2],"data_offsets":[1016,1024]},
    "f":{"dtype":"F32","shape":[2]},
    "g":{"dtype":"F32","shape":[2],"data_offsets":[8]},
    "h":{"dtype":"F32","shape":[4294967298],"data_offsets":[0,8]},
    "i":{"dtype":"F32","shape":[2147483647,2147483647,2147483647],"data_offsets":[0,8]},
    "j":{"dtype":"F32","shape":[2],"data_offsets":[18446744073709551608,18446744073709551615]}})",
                           16));
  two_arrays target = make_two();
  expect_differences(
      load_error(file, target),
      {{"b", "a dtype that MLX has", "'F64'"},
       {"c", "8 bytes for F32[2]", "bytes 16 to 20"},
       {"d", "8 bytes for F32[2]", "bytes 24 to 16"},
       {"e", "arrays within the 16 bytes behind the header (is the file truncated?)", "bytes 1016 to 1024"},
       {"f", "dtype, shape, and data_offsets of two numbers", "an entry without all of them"},
       {"g", "dtype, shape, and data_offsets of two numbers", "an entry without all of them"},
       {"h", "extents below 2147483648", "shape [4294967298]"},
       {"i", "an array that a file can hold", "shape [2147483647, 2147483647, 2147483647]"},
       {"j", "8 bytes for F32[2]", "bytes 18446744073709551608 to 18446744073709551615"}});
  EXPECT_TRUE(tree_equal(target, make_two()));
}

TEST_F(Checkpoint, ArraysThatOverlapOrLeaveAGapAreNamed) {
  const auto expect = [&](int begin, std::size_t data_bytes, const mismatch& difference) {
    write_bytes(made_by_hand("{" + good_a + R"(,"b":{"dtype":"F32","shape":[2],"data_offsets":[)" +
                                 std::to_string(begin) + "," + std::to_string(begin + 8) + "]}}",
                             data_bytes));
    two_arrays target = make_two();
    expect_differences(load_error(file, target), {difference});
    EXPECT_TRUE(tree_equal(target, make_two()));
  };
  expect(4, 12, {"b", "to begin at byte 8, behind 'a'", "bytes 4 to 12, which overlap"});
  expect(0, 8, {"b", "to begin at byte 8, behind 'a'", "bytes 0 to 8, which overlap"});
  expect(12, 20, {"b", "to begin at byte 8, behind 'a'", "bytes 12 to 20, behind a gap"});
  expect(8, 20, {"(end)", "the file to end with 'b'", "4 bytes more that belong to no array"});
}

// Loads files that are one change away from a good one. Each is refused, and nothing is loaded, or is read as a whole.
TEST_F(Checkpoint, ChangedBytesAreRefusedOrReadAsAWhole) {
  save_safetensors(file, make_model(3.0f));
  const std::string whole = bytes();
  const std::size_t header = 8 + static_cast<unsigned char>(whole[0]) + 256U * static_cast<unsigned char>(whole[1]);
  ASSERT_LT(header, whole.size());
  std::mt19937_64 random(7);
  const std::string tokens = R"(0123456789"{}[],:\ eEFIU.-)";
  const model before = make_model(1.0f);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string changed = whole;
    for (std::uint64_t n = 1 + random() % 3; n > 0; --n) {
      const std::size_t at = random() % header;
      switch (random() % 4) {
        case 0:
          changed[at] = static_cast<char>(random());
          break;
        case 1:
          changed[at] = tokens[random() % tokens.size()];
          break;
        case 2:
          changed.erase(at, 1 + random() % 4);
          break;
        default:
          changed.insert(at, 1 + random() % 2, tokens[random() % tokens.size()]);
      }
    }
    write_bytes(changed);
    model target = before;
    try {
      load_safetensors(file, target);
    } catch (const checkpoint_error& e) {
      ++refused;
      EXPECT_TRUE(contains(e.what(), file.string())) << e.what();
      ASSERT_TRUE(tree_equal(target, before)) << e.what();
    }
  }
  EXPECT_GT(refused, 1500);
}

// --- Writing. ---------------------------------------------------------------------------------------------------------

#ifndef _WIN32
// As on a full disk: the system lets files grow to a few bytes only.
TEST_F(Checkpoint, ASaveThatCannotFinishLeavesTheOldFileAndNothingElse) {
  save_safetensors(file, make_model(2.0f));
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  for (const rlim_t bytes : {0U, 8U, 100U, 100'000U}) {
    const rlimit small{bytes, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    const auto e = save_error(file, std::vector{mx::zeros({1 << 18}), mx::ones({1 << 18})});
    setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_TRUE(contains(e.what(), "could not be written") && contains(e.what(), file.string())) << e.what();
    EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
    model target = make_model(1.0f);
    load_safetensors(file, target);
    EXPECT_TRUE(tree_equal(target, make_model(2.0f)));
  }
  std::signal(SIGXFSZ, handler);
}
#endif

TEST_F(Checkpoint, AFolderOfTheSameNameIsNotReplaced) {
  fs::create_directories(file / "inside");
  const auto e = save_error(file, make_model(2.0f));
  EXPECT_TRUE(contains(e.what(), "could not be renamed")) << e.what();
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
}

}  // namespace
