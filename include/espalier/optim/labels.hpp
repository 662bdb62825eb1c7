// Saying something of every parameter of a tree: masks, and labels.
//
//   auto matrices = [](const mx::array& p) { return p.ndim() == 2; };        // a mask: by value, shape, dtype, type
//   auto weights = [](const espalier::path_view& path, const auto&) { … };   // by key path
//   espalier::tree_map(…, model)                                             // as a tree, which may be a prefix
#pragma once

#include <concepts>
#include <cstddef>
#include <espalier/broadcast.hpp>
#include <espalier/optim/math.hpp>
#include <espalier/path_view.hpp>
#include <espalier/visit.hpp>
#include <type_traits>
#include <vector>

namespace espalier::optim {

// The mask that takes them all.
struct every_parameter {
  template <class Leaf> constexpr bool operator()(const Leaf&) const { return true; }
};

namespace detail {

template <class Params, class Labels, class Leaves> inline constexpr bool labels_leaf = false;
template <class Params, class Labels, class... Leaf>
inline constexpr bool labels_leaf<Params, Labels, types<Leaf...>> =
    ((!is_parameter_type<Params, Leaf> || std::invocable<const Labels&, const Leaf&>) && ...);
template <class Params, class Labels, class Leaves> inline constexpr bool labels_path = false;
template <class Params, class Labels, class... Leaf>
inline constexpr bool labels_path<Params, Labels, types<Leaf...>> =
    ((!is_parameter_type<Params, Leaf> || std::invocable<const Labels&, const path_view&, const Leaf&>) && ...);

template <class Where> struct no_labels {
  static_assert(espalier::detail::always_false<Where>,
                "espalier: optim: masks and labels are a function of every parameter, f(leaf) or f(path, leaf), or a "
                "tree with the parameters' structure or a prefix of it; a mask gives bools, labels give integers or "
                "an enumeration");
};

// The label of every parameter, in order, as a Label (bool or an integer): that of a function f(parameter) or
// f(const path_view&, parameter), or of a tree of labels, which may be a prefix of the parameters. Throws
// structure_error if the tree is no prefix.
template <class Label, class Labels, class Params>
std::vector<Label> labels_of(const Labels& labels, const Params& params) {
  using leaves = espalier::detail::leaf_types<Params>;
  std::vector<Label> found;
  const auto put = [&found]<class L>(const L& label) {
    if constexpr (std::integral<L> || std::is_enum_v<L>) {
      found.push_back(static_cast<Label>(label));
    } else {
      static_assert(sizeof(no_labels<types<Labels, L>>));
    }
  };
  if constexpr (labels_leaf<Params, Labels, leaves>) {
    espalier::tree_visit(
        [&]<class L>(const L& leaf) {
          if constexpr (is_parameter_type<Params, L>) {
            if (is_parameter<Params>(leaf)) put(labels(leaf));
          }
        },
        params);
  } else if constexpr (labels_path<Params, Labels, leaves>) {
    espalier::tree_visit_with_path(
        [&]<class L>(const path_view& path, const L& leaf) {
          if constexpr (is_parameter_type<Params, L>) {
            if (is_parameter<Params>(leaf)) put(labels(path, leaf));
          }
        },
        params);
  } else if constexpr (espalier::detail::is_leaf_array<Labels> || espalier::pytree<Labels>) {
    espalier::tree_visit(
        [&]<class L>(const L& leaf, const auto& label) {
          if constexpr (is_parameter_type<Params, L>) {
            if (is_parameter<Params>(leaf)) put(label);
          }
        },
        params,
        espalier::detail::broadcast_prefix(
            "optim: masks and labels (the labels are the first tree, the parameters are tree 2)", labels, params));
  } else {
    static_assert(sizeof(no_labels<types<Labels, Params>>));
  }
  return found;
}

// What a mask says of one parameter after the other, for a walk over them. Costs nothing for every_parameter.
template <class Mask> class mask_reader {
 public:
  template <class Params> mask_reader(const Mask& mask, const Params& params) : takes_(labels_of<bool>(mask, params)) {}
  bool next() { return takes_[at_++]; }

 private:
  std::vector<bool> takes_;
  std::size_t at_ = 0;
};
template <> class mask_reader<every_parameter> {
 public:
  template <class Params> mask_reader(const every_parameter&, const Params&) {}
  bool next() { return true; }
};
template <class Mask, class Params> mask_reader(const Mask&, const Params&) -> mask_reader<Mask>;

}  // namespace detail

}  // namespace espalier::optim
