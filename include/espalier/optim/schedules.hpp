// Learning rates that change from step to step. A schedule is called with the number of steps taken before: a number,
// which gives a double, or an engine's scalar array, which gives a scalar float32 array. So a compiled step takes the
// count, which stands in the optimizer's state, as an input and does not retrace.
//
//   constexpr espalier::optim::warmup_cosine_decay rate{.peak = 3e-4, .warmup_steps = 100, .decay_steps = 2000};
//   constexpr espalier::optim::adam opt{.learning_rate = rate};
//   rate(50);                                                                    // 1.5e-4
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <espalier/errors.hpp>
#include <espalier/optim/math.hpp>
#include <numbers>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace espalier::optim {

// What counts steps: an integer or an engine's scalar array.
template <class Count>
concept step_count = std::integral<Count> || engine_array<Count>;

// Bad numbers for a schedule.
struct schedule_error : error {
  using error::error;
};

namespace detail {

template <class Count> using schedule_math = leaf_math<std::conditional_t<std::integral<Count>, double, Count>>;

template <step_count Count> auto real(const Count& count) {
  if constexpr (std::integral<Count>) {
    return static_cast<double>(count);
  } else {
    return leaf_math<Count>::real(count);
  }
}

constexpr void require_steps(const char* schedule, const char* field, std::int64_t steps) {
  if (steps < 1) {
    throw schedule_error(std::string("espalier: ") + schedule + ": " + field + " must be at least 1, and is " +
                         std::to_string(steps));
  }
}

}  // namespace detail

// The same value at every step.
struct constant_schedule {
  double value;

  template <step_count Count> auto operator()(const Count& count) const {
    return detail::schedule_math<Count>::as(value, detail::real(count));
  }
};

// From `init` to `end` in a straight line over `steps` steps, and `end` from there on: mlx.optimizers.linear_schedule,
// optax.linear_schedule. Throws schedule_error if steps < 1.
struct linear_schedule {
  double init;
  double end;
  std::int64_t steps;

  template <step_count Count> auto operator()(const Count& count) const {
    detail::require_steps("linear_schedule", "steps", steps);
    using math = detail::schedule_math<Count>;
    const auto t = detail::real(count);
    const auto number = [&](double x) { return math::as(x, t); };
    const auto length = static_cast<double>(steps);
    return math::minimum(t, number(length)) * number((end - init) / length) + number(init);
  }
};

// init decay_rate^t: mlx.optimizers.exponential_decay.
struct exponential_decay {
  double init;
  double decay_rate;

  template <step_count Count> auto operator()(const Count& count) const {
    using math = detail::schedule_math<Count>;
    const auto t = detail::real(count);
    return math::as(init, t) * math::power(math::as(decay_rate, t), t);
  }
};

// init decay_rate^floor(t / step_size): mlx.optimizers.step_decay. Throws schedule_error if step_size < 1.
struct step_decay {
  double init;
  double decay_rate;
  std::int64_t step_size;

  template <step_count Count> auto operator()(const Count& count) const {
    detail::require_steps("step_decay", "step_size", step_size);
    using math = detail::schedule_math<Count>;
    const auto t = detail::real(count);
    const auto stair = math::floor(t / math::as(static_cast<double>(step_size), t));
    return math::as(init, t) * math::power(math::as(decay_rate, t), stair);
  }
};

// From `init` to `end` along half a cosine over `decay_steps` steps, and `end` from there on: Loshchilov & Hutter,
// "SGDR: Stochastic gradient descent with warm restarts", ICLR 2017, equation 5 without the restarts;
// mlx.optimizers.cosine_decay (optax.cosine_decay_schedule, whose alpha is end / init). Throws schedule_error if
// decay_steps < 1.
struct cosine_decay {
  double init;
  std::int64_t decay_steps;
  double end = 0;

  template <step_count Count> auto operator()(const Count& count) const {
    detail::require_steps("cosine_decay", "decay_steps", decay_steps);
    using math = detail::schedule_math<Count>;
    const auto t = detail::real(count);
    const auto number = [&](double x) { return math::as(x, t); };
    const auto length = static_cast<double>(decay_steps);
    const auto decay =
        number(0.5) * (number(1) + math::cos(number(std::numbers::pi / length) * math::minimum(t, number(length))));
    return number(end) + decay * number(init - end);
  }
};

// What join_schedules gives: itself a schedule.
template <class... Schedule> struct joined_schedules {
  std::array<std::int64_t, sizeof...(Schedule) - 1> boundaries;
  std::tuple<Schedule...> schedules;

  template <step_count Count> auto operator()(const Count& count) const {
    return from<1>(std::get<0>(schedules)(count), count);
  }

 private:
  template <std::size_t I, class Value, class Count> auto from(const Value& value, const Count& count) const {
    if constexpr (I == sizeof...(Schedule)) {
      return value;
    } else if constexpr (std::integral<Count>) {
      const auto boundary = static_cast<Count>(boundaries[I - 1]);
      if (count < boundary) return value;
      return from<I + 1>(std::get<I>(schedules)(count - boundary), count);
    } else {
      using math = leaf_math<Count>;
      const Count boundary = math::as(boundaries[I - 1], count);
      return from<I + 1>(math::select(count < boundary, value, std::get<I>(schedules)(count - boundary)), count);
    }
  }
};

// The first schedule up to step boundaries[0], the second from there to boundaries[1], …, each called with the steps
// since its own boundary: mlx.optimizers.join_schedules, optax.join_schedules. Throws schedule_error if a boundary is
// below the one before it.
//   join_schedules({10}, linear_schedule{0, 0.1, 10}, cosine_decay{0.1, 200})
template <std::size_t N, class... Schedule>
constexpr joined_schedules<Schedule...> join_schedules(const std::int64_t (&boundaries)[N], Schedule... schedule) {
  static_assert(N + 1 == sizeof...(Schedule),
                "espalier: join_schedules: give one boundary less than schedules, the steps where each but the first "
                "begins");
  if (!std::ranges::is_sorted(boundaries)) {
    throw schedule_error(
        "espalier: join_schedules: the boundaries must be in order, each step not below the one before");
  }
  return {std::to_array(boundaries), std::tuple<Schedule...>(std::move(schedule)...)};
}

// From `init` to `peak` in a straight line over `warmup_steps` steps, then along half a cosine to `end`, which is reached
// at step `decay_steps`, counted from the start: optax.warmup_cosine_decay_schedule. Throws schedule_error if
// warmup_steps < 1 or decay_steps <= warmup_steps.
struct warmup_cosine_decay {
  double init = 0;
  double peak;
  std::int64_t warmup_steps;
  std::int64_t decay_steps;
  double end = 0;

  template <step_count Count> auto operator()(const Count& count) const {
    detail::require_steps("warmup_cosine_decay", "warmup_steps", warmup_steps);
    detail::require_steps("warmup_cosine_decay", "decay_steps - warmup_steps", decay_steps - warmup_steps);
    return join_schedules({warmup_steps}, linear_schedule{init, peak, warmup_steps},
                          cosine_decay{peak, decay_steps - warmup_steps, end})(count);
  }
};

}  // namespace espalier::optim
