// A transformation for each group of parameters: `partitioned`, as optax.partition and mlx.optimizers.MultiOptimizer.
//
//   const espalier::optim::partitioned opt([](const mx::array& p) { return p.ndim() == 2 ? 0 : 1; },
//                                          espalier::optim::muon{.learning_rate = 0.02},
//                                          espalier::optim::adamw{.learning_rate = 3e-4});
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <espalier/errors.hpp>
#include <espalier/optim/labels.hpp>
#include <espalier/optim/masked.hpp>
#include <espalier/optim/math.hpp>
#include <espalier/visit.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace espalier::optim {

// A parameter's label names no transformation.
struct label_error : error {
  using error::error;
};

// For each parameter the transformation at the position that its label gives. Labels are a function of a parameter,
// f(leaf), or of its path too, f(const path_view&, leaf), that gives an integer, an enumeration or a bool; or a tree of
// them, which may be a prefix of the parameters. They must be the same at each step. The state is the tuple of the
// transformations' states, where a parameter of another transformation has a placeholder (an array: a scalar).
template <class Labels, class... Transformation> class partitioned {
 public:
  constexpr explicit partitioned(Labels labels, Transformation... transformation)
      : labels_(std::move(labels)), transformations_(std::move(transformation)...) {
    static_assert(sizeof...(Transformation) > 0, "espalier: partitioned: give at least one transformation");
  }

  // Throws label_error, with the key path, if a label is not one of 0, 1, …; structure_error if the labels are a tree
  // that is no prefix of the parameters.
  template <class Params> auto init(const Params& params) const {
    const auto found = checked_labels(params);
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::make_tuple(std::get<I>(transformations_).init(detail::only(found, position{I}, params, params))...);
    }(std::index_sequence_for<Transformation...>{});
  }

  // Throws structure_error if the gradients' structure is not the parameters' (aux data may differ), and what the
  // transformations' checks throw.
  template <class Grads, class State, class Params>
  void check(const Grads& grads, const State& state, const Params& params) const {
    detail::check_update<"partitioned">(params, grads);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (detail::check_if_any(std::get<I>(transformations_), grads, std::get<I>(state), params), ...);
    }(std::index_sequence_for<Transformation...>{});
  }

  // Each parameter's update from its own transformation, which sees the others' parameters and gradients nowhere, not
  // in a norm either. Throws what init, check and the transformations throw; what the checks throw, before any change.
  template <class Grads, class State, class Params>
  Params update(const Grads& grads, State& state, const Params& params) const {
    check(grads, state, params);
    const auto found = checked_labels(params);
    Params updates = params;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (update_group<I>(found, updates, grads, std::get<I>(state), params), ...);
    }(std::index_sequence_for<Transformation...>{});
    return updates;
  }

 private:
  using position = std::int64_t;
  static constexpr position transformations = sizeof...(Transformation);

  template <std::size_t I, class Grads, class State, class Params>
  void update_group(const std::vector<position>& found, Params& updates, const Grads& grads, State& state,
                    const Params& params) const {
    const Params group = std::get<I>(transformations_)
                             .update(detail::only(found, position{I}, params, grads), state,
                                     detail::only(found, position{I}, params, params));
    auto next = found.begin();
    detail::update_parameters([&](const auto& other, const auto& own) { return *next++ == position{I} ? own : other; },
                              updates, group);
  }

  template <class Params> std::vector<position> checked_labels(const Params& params) const {
    std::vector<position> found = detail::labels_of<position>(labels_, params);
    const auto wrong =
        std::find_if(found.begin(), found.end(), [](position l) { return l < 0 || l >= transformations; });
    if (wrong != found.end()) {
      std::ptrdiff_t parameters_before = wrong - found.begin();
      espalier::tree_visit_with_path(
          [&]<class L>(const path_view& path, const L& leaf) {
            if (!is_parameter<Params>(leaf) || parameters_before-- != 0) return;
            throw label_error("espalier: partitioned: the label at " + path.to_string() + " is " +
                              std::to_string(*wrong) + ", and there are " + std::to_string(transformations) +
                              " transformations: give it one of their positions, from 0");
          },
          params);
    }
    return found;
  }

  Labels labels_;
  std::tuple<Transformation...> transformations_;
};

}  // namespace espalier::optim
