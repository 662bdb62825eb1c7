// Structure: everything about a tree except its leaves. `structure_hash_v<T>` is what the type knows of it, as a
// constant; `treedef<T>` is all of it, as a value that can be compared, hashed, printed, and filled with leaves again.
//
//   static_assert(espalier::structure_hash_v<Linear> != espalier::structure_hash_v<Conv>);
//   espalier::treedef<Model> def = espalier::tree_structure(model);
//   Model again = def.unflatten(leaves);
#pragma once

#include <array>
#include <boost/hash2/xxhash.hpp>
#include <cstdint>
#include <espalier/describe_value.hpp>
#include <espalier/detail/match.hpp>
#include <espalier/detail/skeleton.hpp>
#include <espalier/detail/walk.hpp>
#include <espalier/encode.hpp>
#include <espalier/path.hpp>
#include <iosfwd>
#include <ranges>
#include <string>
#include <variant>
#include <vector>

namespace espalier {

namespace detail {

// Bytes into a hash, which is the same on every platform; see encode.hpp.
struct hash_sink {
  boost::hash2::xxhash_64 state;
  constexpr void put(unsigned char byte) { state.update(&byte, 1); }
};

// --- The static part, encoded from the type alone: own tokens, field names, lengths; never a compiler's spelling. ----

template <class T> inline constexpr char type_id = 0;

// A type can contain itself only through a container: those on the way from the root to here, so that the type writes
// how far up it refers. (A list of types: under a sanitizer, g++ cannot compare addresses at compile time.)
template <class T, class... Open> consteval auto open_inside(types<Open...> open) {
  if constexpr (requires { typename node_of<T>::element; }) {
    if constexpr (is_recursive_container<T>)
      return types<Open..., T>{};
    else
      return open;
  } else {
    return open;
  }
}
template <class T, class... Open> consteval std::uint64_t distance_to(types<Open...>) {
  std::uint64_t n = 0;
  ((n = std::is_same_v<T, Open> ? 0 : n + 1), ...);
  return n;
}

template <class T, class Sink, class... Open> constexpr void encode_type(Sink& sink, types<Open...> open);

template <class Sink> constexpr void encode_key(Sink& sink, const key_entry& key) {
  if (key.which == key_entry::kind::attribute) {
    sink.put('.');
    put_string(sink, key.name);
  } else {
    sink.put('#');
  }
}

template <class T, class Sink, class Open> constexpr void encode_children_types(Sink& sink, Open here) {
  using N = node_of<T>;
  if constexpr (N::kind == node_kind::record) {
    // Fields in declaration order, so that moving an aux field among the others is a change too.
    using layout = typename N::layout;
    [&]<std::size_t... F>(std::index_sequence<F...>) {
      const auto field = [&]<std::size_t J>(index<J>) {
        sink.put(layout::aux_flags[J] ? 'a' : 'c');
        put_string(sink, reflect::field_names_v<T>[J]);
        if constexpr (!layout::aux_flags[J]) encode_type<typename child_at<T, layout::rank(J)>::type>(sink, here);
      };
      (field(index<F>{}), ...);
      (void)field;
    }(layout::fields);
  } else {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      const auto child = [&]<std::size_t J>(index<J>) {
        if constexpr (N::kind == node_kind::custom) encode_key(sink, N::key(J));
        encode_type<typename child_at<T, J>::type>(sink, here);
      };
      (child(index<I>{}), ...);
      (void)child;
    }(std::make_index_sequence<N::arity>{});
  }
}

constexpr unsigned char kind_token(node_kind kind) {
  switch (kind) {
    case node_kind::record:
      return '{';
    case node_kind::tuple:
      return '(';
    case node_kind::custom:
      return 'C';
    case node_kind::array:
      return 'A';
    case node_kind::sequence:
      return '[';
    case node_kind::map:
      return 'M';
    case node_kind::maybe:
      return 'O';
    case node_kind::variant:
      return 'V';
    default:
      return '*';
  }
}

template <class T, class Sink, class... Open> constexpr void encode_type(Sink& sink, types<Open...> open) {
  using N = node_of<T>;
  if constexpr (is_one_of<T, Open...>) {
    sink.put('R');
    put_integer(sink, distance_to<T>(open));
    return;
  }
  constexpr auto here = open_inside<T>(types<Open...>{});
  if constexpr (!std::is_same_v<decltype(here), const types<Open...>>) sink.put('L');
  sink.put(kind_token(kind_of<T>));
  if constexpr (N::kind != node_kind::leaf && !is_one_of<T, Open...>) {
    if constexpr (!pytree_name<T>.empty()) {
      sink.put('N');
      put_string(sink, pytree_name<T>);
    }
    if constexpr (N::kind == node_kind::record) {
      put_integer(sink, N::layout::field_count);
      encode_children_types<T>(sink, here);
    } else if constexpr (is_product<T>) {
      put_integer(sink, N::arity);
      sink.put(N::has_aux ? 'a' : '-');
      encode_children_types<T>(sink, here);
    } else if constexpr (N::kind == node_kind::variant) {
      put_integer(sink, N::arity);
      encode_children_types<T>(sink, here);
    } else {
      if constexpr (N::kind == node_kind::array) put_integer(sink, N::extent);
      if constexpr (N::kind == node_kind::map) {
        sink.put(is_string_key<typename N::key> ? 's' : 'i');
      }
      encode_type<typename element_at<T>::type>(sink, here);
    }
  }
}

// --- The dynamic part, encoded from a tree or from its skeleton alike. -----------------------------------------------

template <class Sink, class T> void encode_dynamic(Sink& sink, const T& tree) {
  using N = node_of<T>;
  if constexpr (!is_static<T> && N::kind != node_kind::leaf) {
    if constexpr (is_product<T>) {
      if constexpr (N::has_aux) {
        std::apply([&](const auto&... value) { (encode(sink, value), ...); }, N::aux(tree));
      }
    } else if constexpr (N::kind == node_kind::sequence) {
      put_integer(sink, N::size(tree));
      if constexpr (is_static<typename N::element>) return;
    } else if constexpr (N::kind == node_kind::map) {
      put_integer(sink, tree.size());
      for (const auto& entry : map_entries(tree)) encode(sink, entry.first);
    } else if constexpr (N::kind == node_kind::maybe) {
      sink.put(tree ? 1 : 0);
    } else if constexpr (N::kind == node_kind::variant) {
      put_integer(sink, tree.index());
    }
    for_each_child([&](const auto&, const auto& child) { encode_dynamic(sink, child); }, tree);
  }
}

// --- Printing. -------------------------------------------------------------------------------------------------------

// `.name: `, `'key': `, `3: `; nothing where the order says which child it is.
inline void print_child_key(std::string& out, const key_entry& key) {
  switch (key.which) {
    case key_entry::kind::attribute:
      out.append(".").append(key.name).append(": ");
      break;
    case key_entry::kind::string_key:
      print_quoted(out, key.name);
      out += ": ";
      break;
    case key_entry::kind::integer_key:
    case key_entry::kind::unsigned_key:
      out += key_number(key) + ": ";
      break;
    default:
      break;
  }
}

template <class T> void print_structure(std::string& out, const T& tree) {
  using N = node_of<T>;
  if constexpr (N::kind == node_kind::leaf) {
    out += '*';
  } else if constexpr (N::kind == node_kind::maybe) {
    if (!tree) out += "None";
    for_each_child([&](const auto&, const auto& child) { print_structure(out, child); }, tree);
  } else if constexpr (N::kind == node_kind::variant) {
    out += std::to_string(tree.index()) + ":";
    for_each_child([&](const auto&, const auto& child) { print_structure(out, child); }, tree);
  } else {
    constexpr bool round = N::kind == node_kind::tuple || N::kind == node_kind::custom;
    constexpr bool square = N::kind == node_kind::array || N::kind == node_kind::sequence;
    out += round ? '(' : square ? '[' : '{';
    bool first = true;
    const auto separate = [&] {
      if (!first) out += ", ";
      first = false;
    };
    for_each_child(
        [&](const auto& key, const auto& child) {
          separate();
          print_child_key(out, key.entry());
          print_structure(out, child);
        },
        tree);
    if constexpr (is_product<T>) {
      if constexpr (N::has_aux) {
        const auto& values = N::aux(tree);
        [&]<std::size_t... I>(std::index_sequence<I...>) {
          const auto one = [&]<std::size_t J>(index<J>) {
            separate();
            if constexpr (requires { N::template aux_key<J>(); }) {
              out.append(".").append(N::template aux_key<J>().name).append("=");
            } else {
              out += "aux=";
            }
            out += describe_value(std::get<J>(values));
          };
          (one(index<I>{}), ...);
        }(std::make_index_sequence<std::tuple_size_v<std::remove_cvref_t<decltype(values)>>>{});
      }
    }
    out += round ? ')' : square ? ']' : '}';
  }
}

// A text for an error message: not all of a large tree's structure.
inline std::string shortened(std::string text) {
  constexpr std::size_t most = 200;
  if (text.size() > most) text.replace(most, std::string::npos, "…");
  return text;
}

// --- From trees to skeletons and back. -------------------------------------------------------------------------------

template <class T> constexpr skeleton<T> skeleton_of(const T& tree) {
  if constexpr (is_static<T>) {
    return {};
  } else {
    auto leaf = []<class Slot>(type_tag<Slot>, const auto&, const auto&) { return Slot{}; };
    return map_tree<skeleton<T>>(leaf, no_path{}, tree);
  }
}

template <class T> constexpr std::size_t count_leaves(const T& tree) {
  std::size_t n = 0;
  auto leaf = [&n](const auto&, const auto&) { ++n; };
  visit_tree(leaf, no_path{}, tree);
  return n;
}

template <class T> constexpr std::size_t count_nodes(const T& tree) {
  std::size_t n = 1;
  if constexpr (kind_of<T> != node_kind::leaf) {
    for_each_child([&](const auto&, const auto& child) { n += count_nodes(child); }, tree);
  }
  return n;
}

template <class T> inline constexpr std::size_t static_leaf_count = count_leaves(only_skeleton<skeleton<T>>);

// The type that holds any leaf of T: the leaf type if there is one, a variant if there are several, in the order met.
template <class> struct leaf_value_of;
template <class... L> struct leaf_value_of<types<L...>> {
  using type = std::variant<L...>;
};
template <class L> struct leaf_value_of<types<L>> {
  using type = L;
};
template <> struct leaf_value_of<types<>> {
  using type = std::monostate;
};

// The type that holds any of the subtrees that stand at the leaves of another tree, from the zips of both.
template <class Found, class... Zip> struct subtree_value_of : leaf_value_of<Found> {};
template <class... Found, class Leaf, class Subtree, class... Zip>
struct subtree_value_of<types<Found...>, types<Leaf, Subtree>, Zip...>
    : subtree_value_of<std::conditional_t<is_one_of<Subtree, Found...>, types<Found...>, types<Found..., Subtree>>,
                       Zip...> {};
template <class Zips> struct subtree_value;
template <class... Zip> struct subtree_value<types<Zip...>> : subtree_value_of<types<>, Zip...> {};

template <class Leaf, class Given> constexpr bool holds_leaf(const Given& given) {
  if constexpr (is_variant<Given> && !std::is_same_v<Given, Leaf>) {
    return std::holds_alternative<Leaf>(given);
  } else {
    return true;
  }
}

template <class Leaf, class Given> constexpr decltype(auto) take_leaf(Given&& given) {
  using value = std::remove_cvref_t<Given>;
  if constexpr (is_variant<value> && !std::is_same_v<value, Leaf>) {
    return std::get<Leaf>(std::forward<Given>(given));
  } else {
    static_assert(
        std::is_convertible_v<Given, Leaf>,
        "espalier: unflatten: these leaves do not convert to the tree's leaf type; give leaves of the type that "
        "tree_leaves returns");
    static_assert(!(std::is_integral_v<Leaf> && std::is_floating_point_v<value>),
                  "espalier: unflatten: floating-point leaves would be cut off to the tree's integers; convert them "
                  "first, or use unraveler<T> (ravel.hpp)");
    return static_cast<Leaf>(std::forward<Given>(given));
  }
}

}  // namespace detail

// One leaf of T: its leaf type where there is only one, otherwise a variant of its distinct leaf types, in the order in
// which they are met.
template <class T>
using leaf_value_t = typename detail::leaf_value_of<detail::leaf_types<std::remove_cvref_t<T>>>::type;

// The hash of what the type T knows of its trees' structure: kinds of nodes, arity, field names, what is aux. The same
// in every translation unit and with every compiler; struct names and leaf types do not count.
template <class T>
inline constexpr std::uint64_t structure_hash_v = [] {
  static_assert(detail::require_trees<T>());
  detail::hash_sink sink;
  detail::encode_type<T>(sink, detail::types<>{});
  return static_cast<std::uint64_t>(sink.state.result());
}();

// A tree's structure: everything but its leaves. Empty if T is a static structure. Copying it copies aux values and
// container shapes.
template <class T> class treedef {
  static_assert(detail::require_trees<T>());

 public:
  using tree_type = T;

  // The structure of a default T where T is a static structure.
  constexpr treedef()
    requires static_structure<T>
  = default;
  explicit constexpr treedef(const T& tree) : skeleton_(detail::skeleton_of(tree)) {}

  constexpr std::size_t num_leaves() const {
    if constexpr (static_structure<T>) {
      return detail::static_leaf_count<T>;
    } else {
      return detail::count_leaves(skeleton_);
    }
  }

  // Leaves, and everything above them.
  constexpr std::size_t num_nodes() const { return detail::count_nodes(skeleton_); }

  // The key paths of the leaves, in order.
  std::vector<key_path> paths() const {
    std::vector<key_path> result;
    auto leaf = [&](const path_view& path, const auto&) { result.push_back(path.own()); };
    detail::visit_tree(leaf, path_view{}, skeleton_);
    return result;
  }

  // The keys of the root's children, in order (optree's `entries`). Map keys refer to text in this object.
  std::vector<key_entry> entries() const& {
    std::vector<key_entry> result;
    if constexpr (detail::kind_of<T> != node_kind::leaf) {
      detail::for_each_child([&](const auto& key, const auto&) { result.push_back(key.entry()); }, skeleton_);
    }
    return result;
  }
  std::vector<key_entry> entries() const&& = delete;

  // Whether `other` has this structure down to this one's leaves, where it may have anything (as optree's is_prefix):
  // whether a tree of it could be a rest tree beside one of this.
  template <class U> constexpr bool is_prefix_of(const treedef<U>& other) const {
    if constexpr (std::is_void_v<typename detail::survey_of<T, U>::faulty>) {
      detail::any_mismatch quick;
      return detail::match(quick, detail::no_path{}, skeleton_, other.tree());
    } else {
      return false;
    }
  }

  // What stands in a tree at this structure's leaves, in order: leaves or whole subtrees (as jax's
  // PyTreeDef.flatten_up_to), copied, or moved out of an rvalue; a vector of the one type that they have, or of a
  // variant of the distinct ones. Throws structure_error with every mismatch if this is no prefix of the tree's
  // structure.
  template <class Tree> auto flatten_up_to(Tree&& tree) const {
    using U = std::remove_cvref_t<Tree>;
    static_assert(detail::require_trees<T, U>());
    require_prefix_of(tree);
    using value = typename detail::subtree_value<typename detail::survey_of<T, U>::leaves>::type;
    std::vector<value> result;
    result.reserve(num_leaves());
    auto leaf = [&](const auto&, const auto&, auto& subtree) {
      result.push_back(value(detail::forward_leaf<Tree>(subtree)));
    };
    detail::visit_tree(leaf, detail::no_path{}, skeleton_, tree);
    return result;
  }

  // A tree of this structure with these leaves, in order: a range of leaves (leaf_value_t<T>, or what converts to the
  // leaf type). An rvalue container is moved from; a view is not, since its elements are somebody else's. Throws
  // leaf_error if their number or a variant's alternative is wrong.
  template <std::ranges::forward_range Leaves> constexpr T unflatten(Leaves&& leaves) const {
    require_leaves(leaves);
    auto next = std::ranges::begin(leaves);
    auto leaf = [&]<class L>(detail::type_tag<L>, const auto&, const auto&) -> L {
      if constexpr (std::is_lvalue_reference_v<Leaves> || std::ranges::borrowed_range<Leaves> ||
                    std::ranges::view<std::remove_cvref_t<Leaves>>) {
        return detail::take_leaf<L>(*next++);
      } else {
        return detail::take_leaf<L>(std::move(*next++));
      }
    };
    return detail::make_tree<T>(leaf, skeleton_);
  }

  // The injective encoding: what the type knows, then sizes, keys, which values are engaged, aux values.
  std::string encoding() const {
    detail::byte_sink sink;
    detail::encode_type<T>(sink, detail::types<>{});
    detail::encode_dynamic(sink, skeleton_);
    return std::move(sink.bytes);
  }

  // structure_hash_v<T>, with the dynamic part mixed in where there is one.
  constexpr std::uint64_t hash() const {
    if constexpr (static_structure<T>) {
      return structure_hash_v<T>;
    } else {
      detail::hash_sink sink;
      detail::encode_type<T>(sink, detail::types<>{});
      detail::encode_dynamic(sink, skeleton_);
      return sink.state.result();
    }
  }

  // `{.weight: *, .bias: None, .step=3}`: leaves as *, aux values with =.
  std::string to_string() const {
    std::string out;
    detail::print_structure(out, skeleton_);
    return out;
  }

  // Equal structure: struct names and leaf types do not count.
  template <class U> friend bool operator==(const treedef& a, const treedef<U>& b) {
    if constexpr (std::is_same_v<T, U>) {
      if constexpr (static_structure<T>) {
        return true;
      } else {
        detail::any_mismatch quick;
        return detail::match(quick, detail::no_path{}, a.skeleton_, b.tree());
      }
    } else {
      return a.encoding() == b.encoding();
    }
  }

  friend std::ostream& operator<<(std::ostream& out, const treedef& def) { return out << def.to_string(); }

  // The structure as a tree whose leaves are empty, for algorithms that traverse it.
  constexpr const detail::skeleton<T>& tree() const { return skeleton_; }

 private:
  template <class Tree> void require_prefix_of(const Tree& tree) const {
    detail::any_mismatch quick;
    if (detail::match(quick, detail::no_path{}, skeleton_, tree)) return;
    std::vector<mismatch> found;
    detail::all_mismatches report{found};
    detail::match(report, path_view{}, skeleton_, tree);
    throw structure_error("espalier: flatten_up_to: the tree does not have this structure:", std::move(found));
  }

  template <class Leaves> constexpr void require_leaves(const Leaves& leaves) const {
    const auto given = static_cast<std::size_t>(std::ranges::distance(leaves));
    if (given != num_leaves()) {
      throw leaf_error("espalier: unflatten: expected " + std::to_string(num_leaves()) + " leaves, found " +
                       std::to_string(given) + "; the structure is " + detail::shortened(to_string()));
    }
    if constexpr (detail::is_variant<std::ranges::range_value_t<Leaves>>) {
      auto next = std::ranges::begin(leaves);
      std::size_t i = 0;
      auto leaf = [&]<class L>(const path_view& path, const detail::leaf_slot<L>&) {
        if (!detail::holds_leaf<L>(*next)) {
          throw leaf_error("espalier: unflatten: leaf " + std::to_string(i) + " (" + path.to_string() +
                           ") has another type than the tree's leaf there; give the alternatives in the tree's order");
        }
        ++next;
        ++i;
      };
      detail::visit_tree(leaf, path_view{}, skeleton_);
    }
  }

  [[no_unique_address]] detail::skeleton<T> skeleton_{};
};

}  // namespace espalier

template <class T> struct std::hash<espalier::treedef<T>> {
  std::size_t operator()(const espalier::treedef<T>& def) const noexcept {
    return static_cast<std::size_t>(def.hash());
  }
};
