// Number types meet as jax's dtypes do: the table is what jax 0.10 answers, with 64-bit types enabled, to
// jax.dtypes.result_type of every two dtypes.

#include <complex>
#include <espalier/promote.hpp>
#include <utility>

#include "corpus.hpp"

namespace {

using namespace espalier;
using c64 = std::complex<float>;
using c128 = std::complex<double>;
using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using f32 = float;
using f64 = double;

template <class... T> struct list {};
using all = list<bool, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, c64, c128>;

template <class A, class... B> list<promoted_t<A, B>...> row(list<B...>);
template <class A, class... Expected>
inline constexpr bool meets = std::is_same_v<decltype(row<A>(all())), list<Expected...>>;

static_assert(meets<bool, bool, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, c64, c128>);
static_assert(meets<i8, i8, i8, i16, i32, i64, i16, i32, i64, f64, f32, f64, c64, c128>);
static_assert(meets<i16, i16, i16, i16, i32, i64, i16, i32, i64, f64, f32, f64, c64, c128>);
static_assert(meets<i32, i32, i32, i32, i32, i64, i32, i32, i64, f64, f32, f64, c64, c128>);
static_assert(meets<i64, i64, i64, i64, i64, i64, i64, i64, i64, f64, f32, f64, c64, c128>);
static_assert(meets<u8, u8, i16, i16, i32, i64, u8, u16, u32, u64, f32, f64, c64, c128>);
static_assert(meets<u16, u16, i32, i32, i32, i64, u16, u16, u32, u64, f32, f64, c64, c128>);
static_assert(meets<u32, u32, i64, i64, i64, i64, u32, u32, u32, u64, f32, f64, c64, c128>);
static_assert(meets<u64, u64, f64, f64, f64, f64, u64, u64, u64, u64, f32, f64, c64, c128>);
static_assert(meets<f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f64, c64, c128>);
static_assert(meets<f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, c128, c128>);
static_assert(meets<c64, c64, c64, c64, c64, c64, c64, c64, c64, c64, c64, c128, c64, c128>);
static_assert(meets<c128, c128, c128, c128, c128, c128, c128, c128, c128, c128, c128, c128, c128, c128>);

TEST(promote, a_signed_and_a_64_bit_unsigned_integer_meet_in_the_float_of_the_others) {
  static_assert(std::is_same_v<promoted_t<i32, u64, f32>, f32>);
  static_assert(std::is_same_v<promoted_t<f32, i32, u64>, f32>);
  static_assert(std::is_same_v<promoted_t<i32, u64, i8>, f64>);
}

TEST(promote, nothing_meets_in_a_float) { static_assert(std::is_same_v<promoted_t<>, float>); }

TEST(promote, knows_trees_of_numbers) {
  static_assert(tree_of_numbers<corpus::model> && tree_of_numbers<corpus::tuple_of_all>);
  static_assert(!tree_of_numbers<corpus::mixed> && !tree_of_numbers<corpus::tokens>);
  static_assert(std::is_same_v<promoted_leaf_t<corpus::nested_pair>, double>);
}

}  // namespace
