#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <complex>
#include <cstdint>
#include <espalier/aux.hpp>
#include <espalier/encode.hpp>
#include <espalier/typed_text.hpp>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace {

using espalier::from_typed_text;
using espalier::to_typed_text;

enum class mode : unsigned char { a = 1, b = 200 };

struct nothing {};
struct config {
  const int heads;
  std::string kind;
  std::vector<float> decay;
  std::optional<mode> m;
};

// What is read is what was written, in type and bits.
template <class T> void expect_round_trip(const T& value) {
  const std::string text = to_typed_text(value);
  const auto back = from_typed_text<T>(text);
  ASSERT_TRUE(back) << text;
  EXPECT_EQ(espalier::encoding_of(*back), espalier::encoding_of(value)) << text;
}

template <class... T> void expect_round_trips(const T&... value) { (expect_round_trip(value), ...); }

TEST(typed_text, says_the_type_as_the_header_documents_it) {
  EXPECT_EQ(to_typed_text(true), "bool:true");
  EXPECT_EQ(to_typed_text(std::int32_t{42}), "i32:42");
  EXPECT_EQ(to_typed_text(std::uint8_t{7}), "u8:7");
  EXPECT_EQ(to_typed_text('A'), "char8:65");
  EXPECT_EQ(to_typed_text(mode::b), "enum:u8:200");
  EXPECT_EQ(to_typed_text(0.1f), "f32:0.1");
  EXPECT_EQ(to_typed_text(std::bit_cast<double>(std::uint64_t{0x7ff8000000000000})), "f64:nan:7ff8000000000000");
  EXPECT_EQ(to_typed_text(std::complex<float>(1, 0)), "complex(f32:1,f32:0)");
  EXPECT_EQ(to_typed_text(std::string("hello")), "str:5:hello");
  EXPECT_EQ(to_typed_text(std::string("\xff\0", 2)), "hex:ff00");
  EXPECT_EQ(to_typed_text(std::optional<int>()), "none");
  EXPECT_EQ(to_typed_text(std::optional(1)), "some(i32:1)");
  EXPECT_EQ(to_typed_text(std::variant<int, float>(2.0f)), "alternative:1(f32:2)");
  EXPECT_EQ(to_typed_text(std::vector{1, 2}), "[i32:1,i32:2]");
  EXPECT_EQ(to_typed_text(std::tuple(1, false)), "(i32:1,bool:false)");
  EXPECT_EQ(to_typed_text(config{8, "", {}, {}}), "{heads=i32:8,kind=str:0:,decay=[],m=none}");
}

TEST(typed_text, numbers_round_trip_at_their_limits) {
  const auto limits = []<class... T>(std::type_identity<T>...) {
    (expect_round_trips(std::numeric_limits<T>::lowest(), std::numeric_limits<T>::min(), std::numeric_limits<T>::max()),
     ...);
  };
  limits(std::type_identity<bool>{}, std::type_identity<char>{}, std::type_identity<signed char>{},
         std::type_identity<unsigned char>{}, std::type_identity<short>{}, std::type_identity<unsigned short>{},
         std::type_identity<int>{}, std::type_identity<unsigned>{}, std::type_identity<long>{},
         std::type_identity<unsigned long>{}, std::type_identity<long long>{}, std::type_identity<unsigned long long>{},
         std::type_identity<wchar_t>{}, std::type_identity<char8_t>{}, std::type_identity<char16_t>{},
         std::type_identity<char32_t>{}, std::type_identity<float>{}, std::type_identity<double>{});
}

TEST(typed_text, floats_round_trip_bit_for_bit) {
  for (const std::uint32_t bits : {0x00000000U, 0x80000000U, 0x00000001U, 0x7F7FFFFFU, 0x7F800000U, 0xFF800000U,
                                   0x7FC00000U, 0xFFC00001U, 0x7FABCDEFU, 0x3DCCCCCDU, 0x3F800001U}) {
    expect_round_trip(std::bit_cast<float>(bits));
  }
  for (const std::uint64_t bits : std::initializer_list<std::uint64_t>{
           0x8000000000000000U, 0x0000000000000001U, 0x7FEFFFFFFFFFFFFFU, 0x7FF0000000000000U, 0xFFF8000000000001U,
           0x3FB999999999999AU, 0x3FF0000000000001U}) {
    expect_round_trip(std::bit_cast<double>(bits));
  }
}

TEST(typed_text, strings_of_any_bytes_round_trip) {
  for (const std::string& text :
       {std::string(), std::string("a, (b): [c] {d} 'e' \"f\" \\ \n ä"), std::string("str:3:abc"),
        std::string("\xFF\xFE"), std::string("\0x", 2), std::string("\xED\xA0\x80"), std::string("\xC0\x80"),
        std::string("日本"), std::string("\xF0\x9F"), std::string("hex:ff")}) {
    expect_round_trip(text);
    expect_round_trip(std::vector{text, text});
  }
}

TEST(typed_text, aggregates_and_containers_round_trip) {
  expect_round_trips(
      config{8, "rope, (x)", {0.1f, 0.2f}, mode::b}, nothing{}, std::optional(std::optional<int>()),
      std::optional<std::optional<int>>(), espalier::aux(std::string("a")), std::variant<int, std::string>("two"),
      std::map<std::string, std::pair<int, bool>>{{"x,]", {1, true}}, {"y", {2, false}}},
      std::unordered_map<int, std::string>{{1, "one"}, {2, "two"}}, std::set{3, 1, 2}, std::vector<bool>{true, false},
      std::array<std::tuple<int, float>, 2>{std::tuple(1, 0.5f), std::tuple(2, 0.25f)}, std::vector<nothing>(2),
      std::vector<std::vector<int>>{{}, {1}, {}}, std::complex<double>(-0.0, 5e-324), std::tuple<>());
}

TEST(typed_text, text_of_another_type_or_range_is_no_value) {
  EXPECT_EQ(from_typed_text<signed char>("i8:127"), 127);
  for (const char* text : {"i8:128", "i8:-129", "i8:99999999999999999999", "i8:", "i8:1.5", "i8:1x", "u8:1", "i32:1",
                           "i8:1,i8:2", "i8:1 ", " i8:1", "i8:+1", "1", ""}) {
    EXPECT_FALSE(from_typed_text<signed char>(text)) << text;
  }
  for (const char* text : {"False", "True", "1", "bool:True", "bool:", "bool:true ", "i32:1", "str:4:true", ""}) {
    EXPECT_FALSE(from_typed_text<bool>(text)) << text;
  }
  for (const char* text :
       {"f64:1", "f32:", "f32:1e999", "f32:nan", "f32:nan:0", "f32:nan:7ff8000000000000", "f32:1f"}) {
    EXPECT_FALSE(from_typed_text<float>(text)) << text;
  }
  for (const char* text :
       {"str:3:ab", "str:2:abc", "str:-1:", "str:", "str:99999999999999999999:a", "str:2", "hex:f", "hex:xx", "abc"}) {
    EXPECT_FALSE(from_typed_text<std::string>(text)) << text;
  }
}

TEST(typed_text, malformed_containers_and_aggregates_are_no_value) {
  using array = std::array<int, 2>;
  using variant = std::variant<int, float>;
  EXPECT_FALSE(from_typed_text<array>("[i32:1]"));
  EXPECT_FALSE(from_typed_text<array>("[i32:1,i32:2,i32:3]"));
  EXPECT_FALSE(from_typed_text<variant>("alternative:2(i32:1)"));
  EXPECT_FALSE(from_typed_text<variant>("alternative:1(i32:1)"));
  EXPECT_FALSE(from_typed_text<std::optional<int>>("some(none)"));
  EXPECT_FALSE(from_typed_text<config>("{kind=str:0:,heads=i32:8,decay=[],m=none}"));
  EXPECT_FALSE(from_typed_text<config>("{heads=i32:8,kind=str:0:,decay=[]}"));
  const std::string whole = to_typed_text(config{8, "a", {1, 2}, mode::a});
  for (std::size_t n = 0; n < whole.size(); ++n) {
    EXPECT_FALSE(from_typed_text<config>(whole.substr(0, n))) << whole.substr(0, n);
  }
  for (const char* text : {"[", "]", "[,]", "[i32:1,]", "[i32:1 i32:2]", "[[i32:1]]", "(i32:1)"}) {
    EXPECT_FALSE(from_typed_text<std::vector<int>>(text)) << text;
  }
}

}  // namespace
