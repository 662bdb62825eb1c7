// A transformation for some of the parameters: `masked`, as optax.masked.
//
//   // no weight decay for biases and norms
//   espalier::optim::masked{espalier::optim::add_decayed_weights{.weight_decay = 1e-4},
//                           [](const mx::array& p) { return p.ndim() > 1; }}
#pragma once

#include <espalier/optim/labels.hpp>
#include <espalier/optim/math.hpp>
#include <vector>

namespace espalier::optim {

namespace detail {

// A tree beside `params`, its leaves hidden from transformations where the parameter has another label.
template <class Label, class Params, class Tree>
Params only(const std::vector<Label>& labels, Label label, const Params& params, const Tree& tree) {
  auto next = labels.begin();
  return map_parameters(
      [&](const auto& p, const auto& x) {
        using math = math_of<decltype(p)>;
        return *next++ == label ? in_place_of(p, x) : math::hidden();
      },
      params, tree);
}

}  // namespace detail

// `inner` for the parameters that `mask` takes; the gradients of the others are passed on as they are. A mask is a
// function of a parameter, f(leaf), or of its path too, f(const path_view&, leaf); or a tree of bools, which may be a
// prefix of the parameters. It must say the same at each step. The state is inner's: where a parameter is masked out,
// it has a placeholder (of an array: a scalar).
template <class Transformation, class Mask> struct masked {
  Transformation inner;
  Mask mask;

  // Throws structure_error if the mask is a tree that is no prefix of the parameters.
  template <class Params> auto init(const Params& params) const {
    return inner.init(detail::only(detail::labels_of<bool>(mask, params), true, params, params));
  }

  // Throws structure_error if the gradients' structure is not the parameters' (aux data may differ), and what inner's
  // check throws.
  template <class Grads, class State, class Params>
  void check(const Grads& grads, const State& state, const Params& params) const {
    detail::check_update<"masked">(params, grads);
    detail::check_if_any(inner, grads, state, params);
  }

  // The updates; leaves that are not parameters, and aux data, are those of `params`. Throws what check and inner throw.
  template <class Grads, class State, class Params>
  Params update(const Grads& grads, State& state, const Params& params) const {
    check(grads, state, params);
    const std::vector<bool> takes = detail::labels_of<bool>(mask, params);
    const Params updates =
        inner.update(detail::only(takes, true, params, grads), state, detail::only(takes, true, params, params));
    auto next = takes.begin();
    return detail::map_parameters(
        [&](const auto& p, const auto& g, const auto& u) { return *next++ ? u : detail::in_place_of(p, g); }, params,
        grads, updates);
  }
};

}  // namespace espalier::optim
