// The way from a tree to one of its leaves as a function, for trees that stand inside another and all have one
// structure: what a transposition goes along.
#pragma once

#include <espalier/detail/walk.hpp>
#include <espalier/node.hpp>
#include <type_traits>
#include <utility>

namespace espalier::detail {

struct inner_root {
  template <class T> constexpr T& operator()(T& inner) const { return inner; }
};
template <class Above, std::size_t I> struct inner_child {
  Above above;
  template <class T> constexpr auto& operator()(T& inner) const {
    auto& node = above(inner);
    auto&& children = node_of<std::remove_reference_t<decltype(node)>>::children(node);
    return get_child<I>(children);
  }
};
template <class Above> struct inner_element {
  Above above;
  std::size_t i;
  template <class T> constexpr auto& operator()(T& inner) const { return elements_of(above(inner))[i]; }
};
template <class Above, class Key> struct inner_value {
  Above above;
  const Key& key;
  template <class T> constexpr auto& operator()(T& inner) const { return above(inner).find(key)->second; }
};
template <class Above> struct inner_held {
  Above above;
  template <class T> constexpr auto& operator()(T& inner) const { return held(above(inner)); }
};
template <class Above, std::size_t I> struct inner_alternative {
  Above above;
  template <class T> constexpr auto& operator()(T& inner) const { return std::get<I>(above(inner)); }
};

// Calls f(way) for every leaf of an inner structure, in order.
template <class Shape, class Way, class F> constexpr void each_way(const Shape& shape, const Way& way, F& f) {
  using N = node_of<Shape>;
  if constexpr (N::kind == node_kind::leaf) {
    f(way);
  } else if constexpr (is_product<Shape>) {
    auto&& children = N::children(shape);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (each_way(get_child<I>(children), inner_child<Way, I>{way}, f), ...);
    }(std::make_index_sequence<N::arity>{});
  } else if constexpr (N::kind == node_kind::array || N::kind == node_kind::sequence) {
    for (std::size_t i = 0; i < N::size(shape); ++i) each_way(elements_of(shape)[i], inner_element<Way>{way, i}, f);
  } else if constexpr (N::kind == node_kind::map) {
    for (const auto& [key, value] : shape) each_way(value, inner_value<Way, typename N::key>{way, key}, f);
  } else if constexpr (N::kind == node_kind::maybe) {
    if (shape) each_way(held(shape), inner_held<Way>{way}, f);
  } else {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      const auto one = [&]<std::size_t J>(index<J>) {
        if (shape.index() == J) each_way(std::get<J>(shape), inner_alternative<Way, J>{way}, f);
      };
      (one(index<I>{}), ...);
    }(std::make_index_sequence<N::arity>{});
  }
}

// A `To`, which has the inner structure, whose leaves are f(type_tag<leaf of To>, way).
template <class To, class Shape, class Way, class F>
constexpr To rebuild_from_ways(const Shape& shape, const Way& way, F& f);

template <class To, std::size_t I, class Shape, class Way, class F>
constexpr To alternative_from_ways(const Shape& shape, const Way& way, F& f) {
  if constexpr (I + 1 < node_of<To>::arity) {
    if (shape.index() != I) return alternative_from_ways<To, I + 1>(shape, way, f);
  }
  return node_of<To>::template assemble<I>([&] {
    return rebuild_from_ways<typename child_at<To, I>::type>(std::get<I>(shape), inner_alternative<Way, I>{way}, f);
  });
}

template <class To, class Shape, class Way, class F>
constexpr To rebuild_from_ways(const Shape& shape, const Way& way, F& f) {
  using N = node_of<Shape>;
  if constexpr (N::kind == node_kind::leaf) {
    return f(type_tag<To>{}, way);
  } else if constexpr (is_product<Shape>) {
    auto&& children = N::children(shape);
    return node_of<To>::assemble(N::aux(shape), [&]<std::size_t I>(index<I>) {
      return rebuild_from_ways<typename child_at<To, I>::type>(get_child<I>(children), inner_child<Way, I>{way}, f);
    });
  } else if constexpr (N::kind == node_kind::array || N::kind == node_kind::sequence) {
    return node_of<To>::assemble(N::size(shape), [&](std::size_t i) {
      return rebuild_from_ways<typename element_at<To>::type>(elements_of(shape)[i], inner_element<Way>{way, i}, f);
    });
  } else if constexpr (N::kind == node_kind::map) {
    return node_of<To>::assemble(shape, [&](const auto& key, const auto& value) {
      using step = inner_value<Way, typename N::key>;
      return rebuild_from_ways<typename element_at<To>::type>(value, step{way, key}, f);
    });
  } else if constexpr (N::kind == node_kind::maybe) {
    return node_of<To>::assemble(static_cast<bool>(shape), [&] {
      return rebuild_from_ways<typename element_at<To>::type>(held(shape), inner_held<Way>{way}, f);
    });
  } else {
    return alternative_from_ways<To, 0>(shape, way, f);
  }
}

}  // namespace espalier::detail
