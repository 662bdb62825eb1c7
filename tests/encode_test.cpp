// The encoding of values: injective, exact in type, width and bits. CASES 2 and 8.

#include <complex>
#include <espalier/encode.hpp>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include <gtest/gtest.h>

namespace {

using namespace espalier;
using namespace std::string_literals;

enum class small : std::uint8_t { a = 1, b = 2 };
enum class large : std::uint64_t { a = 1 };
struct pair_of_strings {
  std::string first, second;
};
struct renamed_strings {
  std::string first, third;
};
struct nothing {};

// Adds the encodings of some values and expects all to be new.
class distinct {
 public:
  template <class... T> distinct& operator()(const T&... value) {
    (add(value), ...);
    return *this;
  }

 private:
  template <class T> void add(const T& value) {
    EXPECT_TRUE(seen_.insert(encoding_of(value)).second) << "value " << seen_.size();
  }
  std::set<std::string> seen_;
};

TEST(encoding, numbers_differ_by_type_width_and_value) {
  using limits = std::numeric_limits<long long>;
  distinct()(true, false, 0, 1, -1, -2, 0u, 1u, 1L, 1UL, short(1), static_cast<unsigned short>(1),
             static_cast<signed char>(1), static_cast<unsigned char>(1), char(1), char32_t(1), 1.0, 1.f, limits::max(),
             limits::min(), -1L);
}

TEST(encoding, zero_and_minus_zero_differ_and_nan_equals_itself) {
  distinct()(0.0, -0.0, 0.f, -0.f, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(),
             std::numeric_limits<double>::denorm_min());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(same_encoding(nan, nan));
  EXPECT_FALSE(same_encoding(0.0, -0.0));
  EXPECT_TRUE(same_encoding(std::vector{nan, 1.0}, std::vector{nan, 1.0}));
}

TEST(encoding, enums_differ_from_their_numbers_and_by_width) {
  distinct()(small::a, small::b, large::a, std::uint8_t(1), std::uint64_t(1));
}

TEST(encoding, strings_keep_their_borders) {
  distinct()(""s, "a"s, "ab"s, "a\0"s, "\0a"s, "a\0b"s, std::pair(""s, "ab"s), std::pair("a"s, "b"s),
             std::pair("ab"s, ""s), 'a', "1"s, "01"s);
  EXPECT_EQ(encoding_of("text"s), encoding_of(std::string_view("text")));
}

TEST(encoding, containers_keep_their_borders) {
  using lists = std::vector<std::vector<int>>;
  distinct()(lists{}, lists{{}}, lists{{}, {}}, lists{{1, 2}}, lists{{1}, {2}}, lists{{}, {1, 2}}, lists{{1, 2}, {}},
             std::vector{1, 2}, std::tuple(1, 2), std::tuple<std::tuple<int, int>>(std::tuple(1, 2)),
             std::tuple(std::tuple(1), 2), std::tuple<>(), nothing());
}

TEST(encoding, optionals_and_variants_say_what_they_hold) {
  using optional = std::optional<std::optional<int>>;
  distinct()(optional(), optional(std::optional<int>()), optional(std::optional(0)), optional(std::optional(1)), 0, 1);
  using variant = std::variant<int, int, double>;
  distinct()(variant(std::in_place_index<0>, 1), variant(std::in_place_index<1>, 1), variant(1.0),
             variant(std::in_place_index<0>, 2));
}

TEST(encoding, maps_differ_by_keys_values_and_what_belongs_to_what) {
  using map = std::map<std::string, int>;
  distinct()(map{}, map{{"a", 1}}, map{{"b", 1}}, map{{"a", 2}}, map{{"a", 1}, {"b", 2}}, map{{"a", 2}, {"b", 1}});
}

TEST(encoding, unordered_containers_do_not_depend_on_their_order) {
  std::unordered_map<std::string, int> up, down;
  for (int i = 0; i < 100; ++i) up.emplace(std::to_string(i), i);
  for (int i = 99; i >= 0; --i) down.emplace(std::to_string(i), i);
  EXPECT_EQ(encoding_of(up), encoding_of(down));
  down["7"] = 8;
  EXPECT_NE(encoding_of(up), encoding_of(down));
  EXPECT_EQ(encoding_of(std::unordered_set{1, 2, 3}), encoding_of(std::unordered_set{3, 2, 1}));
}

TEST(encoding, aggregates_differ_by_field_names_and_values) {
  distinct()(pair_of_strings{"a", "b"}, pair_of_strings{"ab", ""}, renamed_strings{"a", "b"}, std::pair("a"s, "b"s));
}

TEST(encoding, complex_numbers_differ_in_both_parts) {
  using complex = std::complex<double>;
  distinct()(complex(1, 0), complex(0, 1), complex(1, 1), complex(1, -0.0), 1.0);
}

struct inner {
  std::vector<small> values;
  std::optional<std::string> name;
};
struct outer {
  std::map<int, inner> inners;
  std::array<float, 2> range;
  aux<bool> flag;
};
static_assert(encodable<outer> && encodable<const outer> && encodable<nothing> && encodable<std::vector<bool>>);

class closed {
  [[maybe_unused]] int value_ = 0;
};
struct holds_closed {
  std::vector<std::map<int, closed>> deep;
};
static_assert(!encodable<closed> && !encodable<holds_closed> && !encodable<int*> && !encodable<long double> &&
              !encodable<std::shared_ptr<int>> && !encodable<std::unique_ptr<int>> && !encodable<const char*>);

TEST(encoding, is_the_same_at_every_call) {
  const outer value{{{1, {{small::a, small::b}, "x"}}}, {1, 2}, true};
  outer copy = value;
  EXPECT_EQ(encoding_of(value), encoding_of(copy));
  copy.inners.at(1).values.pop_back();
  EXPECT_NE(encoding_of(value), encoding_of(copy));
  EXPECT_TRUE(same_encoding(value, value));
  EXPECT_FALSE(same_encoding(value, copy));
}

TEST(encoding, numbers_are_little_endian_behind_a_token_and_a_width) {
  EXPECT_EQ(encoding_of(std::uint16_t(0x0102)), "u\x02\x02\x01"s);
  EXPECT_EQ(encoding_of(std::int8_t(-1)), "i\x01\xff"s);
  EXPECT_EQ(encoding_of(1.0f), "f\x04\0\0\x80\x3f"s);
}

}  // namespace

namespace visiting {
struct a {
  int i;
};
struct b {
  int j;
};
template <class F, class T> void visit(F&& f, T&& t) { f(t); }  // not std::visit
}  // namespace visiting

namespace {

TEST(encode, a_variant_by_what_it_holds_whatever_else_is_called_visit) {
  const std::variant<visiting::a, visiting::b> first{visiting::a{1}};
  EXPECT_EQ(encoding_of(first), encoding_of(first));
  EXPECT_NE(encoding_of(first), encoding_of(std::variant<visiting::a, visiting::b>{visiting::a{2}}));
}

}  // namespace
