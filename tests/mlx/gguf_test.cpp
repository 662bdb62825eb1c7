#include <gtest/gtest.h>
#include <mlx/mlx.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <espalier/aux.hpp>
#include <espalier/equal.hpp>
#include <espalier/mlx/gguf.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "../scratch_folder.hpp"

namespace {

namespace fs = std::filesystem;
namespace mx = ::mlx::core;
using espalier::checkpoint_error;
using espalier::gguf_file;
using espalier::load_gguf;
using espalier::mismatch;
using differences = std::vector<mismatch>;

// A file made by hand from the format's description.
class gguf_bytes {
 public:
  template <class T> gguf_bytes& number(T value) {
    std::string raw(sizeof(T), '\0');
    std::memcpy(raw.data(), &value, sizeof(T));
    text_ += raw;
    return *this;
  }
  gguf_bytes& raw(const std::string& bytes) {
    text_ += bytes;
    return *this;
  }
  gguf_bytes& string(const std::string& text) { return number(std::uint64_t{text.size()}).raw(text); }
  gguf_bytes& begin(std::uint64_t tensors, std::uint64_t values, std::uint32_t version = 3) {
    return raw("GGUF").number(version).number(tensors).number(values);
  }
  gguf_bytes& key(const std::string& name, std::uint32_t type) { return string(name).number(type); }
  gguf_bytes& tensor(const std::string& name, const std::vector<std::uint64_t>& shape, std::uint32_t type,
                     std::uint64_t offset) {
    string(name).number(static_cast<std::uint32_t>(shape.size()));
    for (const std::uint64_t extent : shape) number(extent);
    return number(type).number(offset);
  }
  gguf_bytes& align(std::size_t n = 32) {
    while (text_.size() % n != 0) text_ += '\0';
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class Gguf : public ::testing::Test {
 protected:
  void write(const std::string& bytes) const { scratch.file("model.gguf", bytes); }
  std::string bytes() const { return text_of(file); }
  checkpoint_error error() const {
    try {
      const gguf_file opened(file);
    } catch (const checkpoint_error& e) {
      return e;
    }
    return checkpoint_error("no error");
  }
  void expect_error(const std::string& bytes, const std::string& part) const {
    write(bytes);
    const std::string what = error().what();
    EXPECT_NE(what.find(part), std::string::npos) << what;
    EXPECT_NE(what.find(file.string()), std::string::npos) << what;
  }

  scratch_folder scratch;
  fs::path folder = scratch.path;
  fs::path file = folder / "model.gguf";
};

struct block {
  mx::array query, norm;
};
struct llama {
  mx::array embedding;
  std::vector<block> blocks;
  espalier::aux<int> heads;
};

llama make_llama(float x) {
  llama m{mx::full({3, 2}, x), {}, 4};
  for (int i = 0; i < 2; ++i) m.blocks.push_back({mx::full({2, 4}, x + 1, mx::float16), mx::full({2}, x + 2)});
  return m;
}

// As MLX writes them.
void write_llama(const fs::path& file) {
  mx::save_gguf(file.string(),
                {{"token_embd.weight", mx::reshape(mx::arange(6.0f), {3, 2})},
                 {"blk.0.attn_q.weight", mx::reshape(mx::astype(mx::arange(8.0f), mx::float16), {2, 4})},
                 {"blk.1.attn_q.weight", mx::full({2, 4}, 7.0f, mx::float16)},
                 {"blk.0.attn_norm.weight", mx::array({1.0f, 2.0f})},
                 {"blk.1.attn_norm.weight", mx::array({3.0f, 4.0f})}},
                {{"general.architecture", std::string("llama")},
                 {"llama.block_count", mx::array(2, mx::uint32)},
                 {"llama.rope.freq_base", mx::array(10000.5f)},
                 {"llama.big", mx::array(~std::uint64_t{0})},
                 {"llama.negative", mx::array(-3, mx::int16)},
                 {"llama.on", mx::array(true)},
                 {"tokenizer.ggml.tokens", std::vector<std::string>{"<s>", "", "ä b"}},
                 {"tokenizer.ggml.scores", mx::array({0.5f, -1.0f})}});
}

const espalier::name_rules rules = {{"token_embd.weight", "embedding"},
                                    {"blk.{}.attn_q.weight", "blocks.{}.query"},
                                    {"blk.{}.attn_norm.weight", "blocks.{}.norm"}};

TEST_F(Gguf, TensorsAreLoadedByRules) {
  write_llama(file);
  llama model = make_llama(0);
  EXPECT_TRUE(load_gguf(gguf_file(file), model, {.rules = rules}).empty());
  EXPECT_TRUE(mx::array_equal(model.embedding, mx::reshape(mx::arange(6.0f), {3, 2})).item<bool>());
  EXPECT_TRUE(mx::array_equal(model.blocks[0].query, mx::reshape(mx::arange(8.0f), {2, 4})).item<bool>());
  EXPECT_EQ(model.blocks[0].query.dtype(), mx::float16);
  EXPECT_TRUE(mx::array_equal(model.blocks[1].norm, mx::array({3.0f, 4.0f})).item<bool>());
  EXPECT_EQ(*model.heads, 4);
}

// CASES 25.
TEST_F(Gguf, EveryDifferenceIsReportedAndNothingIsLoaded) {
  write_llama(file);
  llama model = make_llama(0);
  model.embedding = mx::zeros({2, 3});
  model.blocks.pop_back();
  model.blocks[0].norm = mx::zeros({2}, mx::float16);
  const llama before = model;
  try {
    load_gguf(gguf_file(file), model, {.rules = rules});
    FAIL();
  } catch (const checkpoint_error& e) {
    EXPECT_EQ(e.differences,
              (differences{{"embedding", "float32[2, 3]", "float32[3, 2] ('token_embd.weight' in the file)"},
                           {"blocks.0.norm", "float16[2]", "float32[2] ('blk.0.attn_norm.weight' in the file)"},
                           {"blocks.1.norm", "nothing", "float32[2] ('blk.1.attn_norm.weight' in the file)"},
                           {"blocks.1.query", "nothing", "float16[2, 4] ('blk.1.attn_q.weight' in the file)"}}))
        << e.what();
  }
  EXPECT_TRUE(espalier::tree_equal(model, before));
}

TEST_F(Gguf, MetadataIsTyped) {
  write_llama(file);
  const gguf_file opened(file);
  EXPECT_EQ(opened.get<std::string>("general.architecture"), "llama");
  EXPECT_EQ(opened.get<int>("llama.block_count"), 2);
  EXPECT_EQ(opened.get<unsigned char>("llama.block_count"), 2);
  EXPECT_EQ(opened.get<float>("llama.rope.freq_base"), 10000.5f);
  EXPECT_EQ(opened.get<double>("llama.block_count"), 2.0);
  EXPECT_EQ(opened.get<std::uint64_t>("llama.big"), ~std::uint64_t{0});
  EXPECT_EQ(opened.get<int>("llama.negative"), -3);
  EXPECT_TRUE(opened.get<bool>("llama.on"));
  EXPECT_EQ(opened.get<std::vector<std::string>>("tokenizer.ggml.tokens"),
            (std::vector<std::string>{"<s>", "", "ä b"}));
  EXPECT_TRUE(mx::array_equal(opened.get<mx::array>("tokenizer.ggml.scores"), mx::array({0.5f, -1.0f})).item<bool>());
  EXPECT_TRUE(opened.contains("llama.on"));
  EXPECT_FALSE(opened.contains("llama.off"));
  EXPECT_EQ(opened.keys().size(), 8U);
  EXPECT_EQ(opened.keys().front(), "general.architecture");
}

template <class T> std::string get_error(const gguf_file& file, const std::string& key) {
  try {
    (void)file.get<T>(key);
  } catch (const checkpoint_error& e) {
    const std::string what = e.what();
    return what.substr(what.rfind("': ") == std::string::npos ? 0 : what.rfind("': ") + 3);
  }
  return "no error";
}

TEST_F(Gguf, MetadataOfAnotherTypeOrRangeIsAnError) {
  write_llama(file);
  const gguf_file opened(file);
  EXPECT_EQ(get_error<int>(opened, "general.architecture"), "expected one number or bool, found 'llama'");
  EXPECT_EQ(get_error<std::string>(opened, "llama.block_count"), "expected a string, found 2 (uint32[])");
  EXPECT_EQ(get_error<bool>(opened, "llama.block_count"), "expected a bool, found 2 (uint32[])");
  EXPECT_EQ(get_error<int>(opened, "llama.on"), "expected a whole number, found true (bool[])");
  EXPECT_EQ(get_error<int>(opened, "llama.rope.freq_base"), "expected a whole number, found 10000.5 (float32[])");
  EXPECT_EQ(get_error<unsigned char>(opened, "llama.negative"),
            "expected a whole number from 0 to 255, found -3 (int16[])");
  EXPECT_EQ(get_error<std::int64_t>(opened, "llama.big"),
            "expected a whole number from -9223372036854775808 to 9223372036854775807, found 18446744073709551615 "
            "(uint64[])");
  EXPECT_EQ(get_error<float>(opened, "tokenizer.ggml.scores"), "expected one number or bool, found float32[2]");
  EXPECT_EQ(get_error<mx::array>(opened, "tokenizer.ggml.tokens"), "expected numbers, found 3 strings");
  EXPECT_NE(get_error<int>(opened, "llama.absent").find("has no key 'llama.absent'"), std::string::npos);
}

TEST_F(Gguf, Bfloat16StaysBfloat16) {
  gguf_bytes made;
  made.begin(1, 0).tensor("w", {3, 2}, 30, 0).align();
  const std::vector<float> values{1.0f, -2.5f, 0x1p100f, 0x1p-100f, 0.0f, -0x1.fep127f};
  for (const float v : values) made.number(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(v) >> 16));
  write(made.text());
  std::map<std::string, mx::array> target{{"w", mx::zeros({2, 3}, mx::bfloat16)}};
  load_gguf(gguf_file(file), target);
  EXPECT_TRUE(mx::array_equal(mx::astype(target.at("w"), mx::float32), mx::array(values.begin(), {2, 3})).item<bool>());
}

TEST_F(Gguf, Q8WeightsAreThoseOfMlxsQuantizedLayers) {
  gguf_bytes made;
  made.begin(1, 0).tensor("ffn.weight", {32, 2}, 8, 0).align();
  std::vector<float> expected;
  for (const float scale : {0.5f, 2.0f}) {
    made.number(static_cast<std::uint16_t>(scale == 0.5f ? 0x3800 : 0x4000));
    for (int i = -16; i < 16; ++i) {
      made.number(static_cast<std::int8_t>(4 * i));
      expected.push_back(scale * static_cast<float>(4 * i));
    }
  }
  write(made.text());
  struct quantized {
    mx::array weight, scales, biases;
  };
  std::map<std::string, quantized> target{
      {"ffn", {mx::zeros({2, 8}, mx::uint32), mx::zeros({2, 1}, mx::float16), mx::zeros({2, 1}, mx::float16)}}};
  load_gguf(gguf_file(file), target);
  const quantized& q = target.at("ffn");
  EXPECT_TRUE(mx::array_equal(mx::dequantize(q.weight, q.scales, q.biases, 32, 8), mx::array(expected.begin(), {2, 32}))
                  .item<bool>());
}

TEST_F(Gguf, AnotherAlignmentIsObeyed) {
  gguf_bytes made;
  made.begin(1, 1).key("general.alignment", 4).number(std::uint32_t{256}).tensor("w", {2}, 0, 256).align(256);
  made.raw(std::string(256, '\x7f')).number(1.5f).number(2.5f);
  write(made.text());
  std::map<std::string, mx::array> target{{"w", mx::zeros({2})}};
  load_gguf(gguf_file(file), target);
  EXPECT_TRUE(mx::array_equal(target.at("w"), mx::array({1.5f, 2.5f})).item<bool>());
}

// --- Damaged files. ---------------------------------------------------------------------------------------------------

TEST_F(Gguf, OtherFilesAreRefused) {
  EXPECT_NE(std::string(error().what()).find("does not exist"), std::string::npos);
  expect_error("", "is no GGUF file");
  expect_error(std::string(100, 'x'), "is no GGUF file");
  expect_error(gguf_bytes().begin(0, 0, 1).text(), "version 1");
  expect_error(gguf_bytes().begin(0, 0, 0x03000000).text(), "version 50331648");
  fs::remove(file);
  fs::create_directory(file);
  EXPECT_NE(std::string(error().what()).find("is a folder"), std::string::npos);
}

TEST_F(Gguf, DamagedMetadataIsRefused) {
  constexpr auto large = std::uint64_t{1} << 62;
  expect_error(gguf_bytes().begin(0, large).text(), "ends too early");
  expect_error(gguf_bytes().begin(large, 0).text(), "ends too early");
  expect_error(gguf_bytes().begin(0, 1).number(~std::uint64_t{0}).text(), "ends too early");
  expect_error(gguf_bytes().begin(0, 1).key("k", 8).number(large).text(), "ends too early");
  expect_error(gguf_bytes().begin(0, 1).key("k", 13).number(large).text(), "unknown type 13");
  expect_error(gguf_bytes().begin(0, 1).key("k", 9).number(std::uint32_t{9}).number(large).text(), "array of arrays");
  expect_error(gguf_bytes().begin(0, 1).key("k", 9).number(std::uint32_t{77}).number(std::uint64_t{1}).text(),
               "unknown type");
  expect_error(gguf_bytes().begin(0, 1).key("k", 9).number(std::uint32_t{0}).number(large).text(), "elements");
  expect_error(
      gguf_bytes().begin(0, 1).key("k", 9).number(std::uint32_t{8}).number(std::uint64_t{3}).string("a").text(),
      "ends too early");
  expect_error(gguf_bytes().begin(0, 1).key("k", 7).raw("\x02").text(), "a bool that is neither");
  expect_error(gguf_bytes().begin(0, 2).key("k", 0).raw("a").key("k", 0).raw("b").text(), "comes a second time");
  for (const std::uint32_t alignment : {0U, 3U, 33U}) {
    expect_error(gguf_bytes().begin(0, 1).key("general.alignment", 4).number(alignment).text(), "no power of two");
  }
}

TEST_F(Gguf, EveryBadTensorIsNamed) {
  constexpr auto large = std::uint64_t{1} << 40;
  gguf_bytes made;
  made.begin(11, 0)
      .tensor("good", {2}, 0, 0)
      .tensor("good", {2}, 0, 0)
      .tensor("deprecated", {32}, 4, 0)
      .tensor("unknown", {32}, 999, 0)
      .tensor("extent", {large}, 0, 0)
      .tensor("product", {1 << 30, 1 << 30, 1 << 30}, 0, 0)
      .tensor("row", {33}, 2, 0)
      .tensor("scalar", {}, 8, 0)
      .tensor("behind", {2}, 0, 64)
      .tensor("far", {2}, 0, ~std::uint64_t{0})
      .tensor("long", {1000}, 0, 0)
      .align()
      .number(1.0f)
      .number(2.0f);
  write(made.text());
  std::vector<std::string> names;
  const auto e = error();
  for (const mismatch& m : e.differences) names.push_back(m.path);
  EXPECT_EQ(names, (std::vector<std::string>{"good", "deprecated", "unknown", "extent", "product", "row", "scalar",
                                             "behind", "far", "long"}))
      << e.what();
  expect_error(gguf_bytes().begin(1, 0).tensor("w", std::vector<std::uint64_t>(9, 1), 0, 0).align().text(),
               "9 dimensions");
}

TEST_F(Gguf, ATruncatedFileIsRefusedAtEveryLength) {
  write_llama(file);
  const std::string whole = bytes();
  for (std::size_t n = 0; n < whole.size(); ++n) {
    write(whole.substr(0, n));
    EXPECT_THROW(gguf_file{file}, checkpoint_error) << n;
  }
}

// Files that are one change away from a good one are refused, or read; the program goes on.
TEST_F(Gguf, ChangedBytesAreRefusedOrRead) {
  write_llama(file);
  const std::string whole = bytes();
  std::mt19937_64 random(7);
  int refused = 0;
  for (int i = 0; i < 1500; ++i) {
    std::string changed = whole;
    for (std::uint64_t n = 1 + random() % 3; n > 0; --n) {
      const std::size_t at = random() % whole.size();
      if (random() % 3 == 0 && at + 8 <= changed.size()) {
        const std::uint64_t interesting[] = {0, 1, 8, 9, 1ULL << 31, 1ULL << 32, 1ULL << 62, ~0ULL, random()};
        std::memcpy(changed.data() + at, &interesting[random() % 9], random() % 2 == 0 ? 8 : 4);
      } else {
        changed[at] = static_cast<char>(random());
      }
    }
    write(changed);
    llama model = make_llama(0);
    try {
      load_gguf(gguf_file(file), model, {.rules = rules});
    } catch (const checkpoint_error& e) {
      ++refused;
      ASSERT_TRUE(espalier::tree_equal(model, make_llama(0))) << e.what();
    }
  }
  EXPECT_GT(refused, 300);
  EXPECT_LT(refused, 1500);
}

}  // namespace
