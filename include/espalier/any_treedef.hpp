// A structure as a value whose type does not name the tree's: what jax's PyTreeDef is, but that making a tree of leaves
// again takes the tree's type (treedef<T>::unflatten). Structures of any trees in one container, compared with each
// other and with a treedef<T>, taken apart, composed, or kept in a file (treedef_json.hpp).
//
//   espalier::any_treedef stored = espalier::tree_structure(model);
//   stored == espalier::tree_structure(other_model)       stored.child(0).to_string() == "[*, *]"
//   stored.compose(espalier::tree_structure(std::pair(1, 2))).num_leaves() == 2 * stored.num_leaves()
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <espalier/describe_value.hpp>
#include <espalier/detail/match.hpp>
#include <espalier/detail/walk.hpp>
#include <espalier/encode.hpp>
#include <espalier/errors.hpp>
#include <espalier/path.hpp>
#include <espalier/structure.hpp>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace espalier {

namespace detail {

// A container: all its children are of one type.
inline bool has_elements(node_kind kind) {
  return kind == node_kind::array || kind == node_kind::sequence || kind == node_kind::map || kind == node_kind::maybe;
}

// What the type of a node knows, as data. A type is its index among those of a structure, so types may be recursive;
// two types that look alike stay two, as in the encoding.
struct node_type {
  // A child, or an aux value of a struct. Of a container: the type of its elements. Of a variant: an alternative.
  struct field {
    key_entry::kind which = key_entry::kind::transparent;  // attribute: called `name`
    std::string name = {};
    bool is_aux = false;
    std::size_t type = 0;  // unless it is aux data
  };

  node_kind kind = node_kind::leaf;
  std::string name = {};   // pytree_name
  std::size_t extent = 0;  // of an array
  bool has_aux = false;
  bool has_string_keys = false;  // a map
  bool recursive = false;        // a container whose elements contain it again
  std::vector<field> fields = {};
  std::vector<std::size_t> children = {};  // of a product: which of the fields are no aux data

  void find_children() {
    children.clear();
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (!fields[i].is_aux) children.push_back(i);
    }
  }
};

// An aux value, or the key of a map: its encoding, which counts, and how it is printed.
struct structure_value {
  std::string encoding;
  std::string text;  // of a string key: the key
  key_entry::kind which = key_entry::kind::transparent;
  std::int64_t number = 0;

  key_entry key() const { return {which, which == key_entry::kind::string_key ? text : std::string_view(), number}; }
};

struct structure_node {
  std::size_t type = 0;
  std::size_t arity = 0;
  std::size_t num_nodes = 1;  // this one, and all below
  std::size_t num_leaves = 0;
  std::size_t held = 0;                      // a variant's alternative
  std::vector<structure_value> values = {};  // aux values, or the keys of a map
};

// A structure: its nodes in preorder, each followed by those below it, so that nothing here recurses over a tree.
struct structure_data {
  std::shared_ptr<const std::vector<node_type>> types;
  std::vector<structure_node> nodes;

  const node_type& type_of(std::size_t node) const { return (*types)[nodes[node].type]; }
};

// The type of child i of a node.
inline std::size_t child_type(const node_type& type, std::size_t held, std::size_t i) {
  switch (type.kind) {
    case node_kind::variant:
      return type.fields[held].type;
    case node_kind::record:
    case node_kind::tuple:
    case node_kind::custom:
      return type.fields[type.children[i]].type;
    default:
      return type.fields[0].type;
  }
}

// The key of child i of a node; refers to the structure's text.
inline key_entry child_key(const node_type& type, const structure_node& node, std::size_t i) {
  switch (type.kind) {
    case node_kind::record:
    case node_kind::custom: {
      const node_type::field& child = type.fields[type.children[i]];
      if (child.which == key_entry::kind::attribute) return {key_entry::kind::attribute, child.name};
      break;
    }
    case node_kind::map:
      return node.values[i].key();
    case node_kind::maybe:
    case node_kind::variant:
      return {};
    default:
      break;
  }
  return {key_entry::kind::index, {}, static_cast<std::int64_t>(i)};
}

// Calls enter(node, parent, i) for every node, in order, as child i of its parent, and leave(node) behind the last node
// below it. The root's parent is the root.
template <class Enter, class Leave>
void walk_nodes(const std::vector<structure_node>& nodes, Enter enter, Leave leave) {
  struct open_node {
    std::size_t node, end, children;
  };
  std::vector<open_node> open;
  for (std::size_t i = 0; i <= nodes.size(); ++i) {
    for (; !open.empty() && open.back().end == i; open.pop_back()) leave(open.back().node);
    if (i == nodes.size()) break;
    enter(i, open.empty() ? i : open.back().node, open.empty() ? 0 : open.back().children++);
    open.push_back({i, i + nodes[i].num_nodes, 0});
  }
}

// --- The encoding: that of encode_type and encode_dynamic in structure.hpp, byte for byte. ---------------------------

// The types that can contain each other are few and their nesting is that of a program's types; text from elsewhere
// could claim more.
inline constexpr std::size_t max_type_depth = 1000;

template <class Sink>
void encode_node_type(Sink& sink, const std::vector<node_type>& types, std::size_t at, std::vector<std::size_t>& open,
                      std::size_t depth = 0) {
  if (depth > max_type_depth) {
    throw error("espalier: any_treedef: types nested more than " + std::to_string(max_type_depth) + " deep");
  }
  const node_type& type = types[at];
  if (const auto found = std::find(open.begin(), open.end(), at); found != open.end()) {
    sink.put('R');
    put_integer(sink, static_cast<std::uint64_t>(open.end() - found - 1));
    return;
  }
  if (type.recursive) sink.put('L');
  sink.put(kind_token(type.kind));
  if (type.kind == node_kind::leaf) return;
  if (!type.name.empty()) {
    sink.put('N');
    put_string(sink, type.name);
  }
  switch (type.kind) {
    case node_kind::record:
    case node_kind::variant:
      put_integer(sink, type.fields.size());
      break;
    case node_kind::tuple:
    case node_kind::custom:
      put_integer(sink, type.fields.size());
      sink.put(type.has_aux ? 'a' : '-');
      break;
    case node_kind::array:
      put_integer(sink, type.extent);
      break;
    case node_kind::map:
      sink.put(type.has_string_keys ? 's' : 'i');
      break;
    default:
      break;
  }
  if (type.recursive) open.push_back(at);
  for (const node_type::field& field : type.fields) {
    if (type.kind == node_kind::record) {
      sink.put(field.is_aux ? 'a' : 'c');
      put_string(sink, field.name);
    } else if (type.kind == node_kind::custom) {
      encode_key(sink, key_entry{field.which, field.name});
    }
    if (!field.is_aux) encode_node_type(sink, types, field.type, open, depth + 1);
  }
  if (type.recursive) open.pop_back();
}

template <class Sink> void encode_structure(Sink& sink, const structure_data& data) {
  std::vector<std::size_t> open;
  encode_node_type(sink, *data.types, data.nodes.front().type, open);
  for (std::size_t i = 0; i < data.nodes.size(); ++i) {
    const structure_node& node = data.nodes[i];
    const node_kind kind = data.type_of(i).kind;
    if (kind == node_kind::sequence || kind == node_kind::map) put_integer(sink, node.arity);
    if (kind == node_kind::maybe) sink.put(static_cast<unsigned char>(node.arity));
    if (kind == node_kind::variant) put_integer(sink, node.held);
    for (const structure_value& value : node.values) {
      for (const char c : value.encoding) sink.put(static_cast<unsigned char>(c));
    }
  }
}

// --- From C++ types and trees. ---------------------------------------------------------------------------------------

class type_table {
 public:
  // The index of a type, which is added, with all below it, if it is new.
  template <class T> std::size_t add() {
    using N = node_of<T>;
    const void* id = kind_of<T> == node_kind::leaf ? nullptr : static_cast<const void*>(&type_id<T>);
    const auto found = std::find(ids_.begin(), ids_.end(), id);
    if (found != ids_.end()) return static_cast<std::size_t>(found - ids_.begin());
    const std::size_t at = ids_.size();
    ids_.push_back(id);
    types_.emplace_back();
    node_type type{N::kind, std::string(N::kind == node_kind::leaf ? std::string_view() : pytree_name<T>)};
    if constexpr (N::kind == node_kind::record) {
      using layout = typename N::layout;
      type.has_aux = N::has_aux;
      [&]<std::size_t... F>(std::index_sequence<F...>) {
        (type.fields.push_back(
             {key_entry::kind::attribute, std::string(reflect::field_names_v<T>[F]), layout::aux_flags[F]}),
         ...);
      }(layout::fields);
    }
    if constexpr (is_product<T> || N::kind == node_kind::variant) {
      const auto child = [&]<std::size_t I>(index<I>) {
        const std::size_t child_index = add<typename child_at<T, I>::type>();
        if constexpr (N::kind == node_kind::record) {
          type.fields[N::layout::child_fields[I]].type = child_index;
        } else if constexpr (N::kind == node_kind::variant) {
          type.fields.push_back({.type = child_index});
        } else {
          type.has_aux = N::has_aux;
          type.fields.push_back({N::key(I).which, std::string(N::key(I).name), false, child_index});
        }
      };
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (child(index<I>{}), ...);
      }(std::make_index_sequence<N::arity>{});
      (void)child;
    } else if constexpr (N::kind != node_kind::leaf) {
      if constexpr (N::kind == node_kind::array) type.extent = N::extent;
      if constexpr (N::kind == node_kind::map) type.has_string_keys = is_string_key<typename N::key>;
      type.recursive = is_recursive_container<T>;
      type.fields.push_back({.type = add<typename element_at<T>::type>()});
    }
    type.find_children();
    types_[at] = std::move(type);
    return at;
  }

  std::vector<node_type> take() { return std::move(types_); }

 private:
  std::vector<const void*> ids_;
  std::vector<node_type> types_;
};

// The types of a T: made once.
template <class T> const std::shared_ptr<const std::vector<node_type>>& types_below() {
  static const auto types = [] {
    type_table table;
    table.add<T>();
    return std::make_shared<const std::vector<node_type>>(table.take());
  }();
  return types;
}

// Adds the nodes of a tree, or of its skeleton.
template <class T> void add_nodes(structure_data& data, std::size_t type_index, const T& tree) {
  using N = node_of<T>;
  const node_type& type = (*data.types)[type_index];
  const std::size_t at = data.nodes.size();
  structure_node node{.type = type_index};
  if constexpr (N::kind == node_kind::leaf) {
    node.num_leaves = 1;
  } else if constexpr (is_product<T>) {
    if constexpr (N::has_aux) {
      std::apply(
          [&](const auto&... value) { (node.values.push_back({encoding_of(value), describe_value(value)}), ...); },
          N::aux(tree));
    }
  } else if constexpr (N::kind == node_kind::map) {
    for (const auto& entry : map_entries(tree)) {
      const key_entry key = map_key_entry(entry.first);
      node.values.push_back({encoding_of(entry.first), std::string(key.name), key.which, key.number});
    }
  } else if constexpr (N::kind == node_kind::variant) {
    node.held = tree.index();
  }
  data.nodes.push_back(std::move(node));
  if constexpr (N::kind != node_kind::leaf) {
    std::size_t arity = 0;
    std::size_t leaves = 0;
    for_each_child(
        [&](const auto&, const auto& child) {
          const std::size_t child_at = data.nodes.size();
          add_nodes(data, child_type(type, data.nodes[at].held, arity++), child);
          leaves += data.nodes[child_at].num_leaves;
        },
        tree);
    data.nodes[at].arity = arity;
    data.nodes[at].num_leaves = leaves;
    data.nodes[at].num_nodes = data.nodes.size() - at;
  }
}

// Whether two nodes agree in all but what stands below them: kinds, names and number of children, keys, aux data.
inline bool same_node(const structure_data& a, std::size_t i, const structure_data& b, std::size_t j) {
  const node_type& s = a.type_of(i);
  const node_type& t = b.type_of(j);
  const structure_node& x = a.nodes[i];
  const structure_node& y = b.nodes[j];
  const bool named = s.kind == node_kind::record || s.kind == node_kind::custom;
  return s.kind == t.kind && x.arity == y.arity && x.held == y.held && s.has_string_keys == t.has_string_keys &&
         (s.kind != node_kind::variant || s.fields.size() == t.fields.size()) &&
         (!named || std::equal(s.fields.begin(), s.fields.end(), t.fields.begin(), t.fields.end(),
                               [](const node_type::field& f, const node_type::field& g) {
                                 return f.which == g.which && f.name == g.name && f.is_aux == g.is_aux;
                               })) &&
         std::equal(x.values.begin(), x.values.end(), y.values.begin(), y.values.end(),
                    [](const structure_value& v, const structure_value& w) { return v.encoding == w.encoding; });
}

}  // namespace detail

// A structure. A value: copying it copies one small object per node. Its encoding and hash are those of the treedef<T>
// it was made from.
class any_treedef {
 public:
  // The structure of a treedef<T>; costs an allocation per node that has keys or aux data, and one for all nodes.
  template <class T> any_treedef(const treedef<T>& def) : data_{detail::types_below<T>(), {}} {  // NOLINT: a conversion
    detail::add_nodes(data_, 0, def.tree());
  }

  explicit any_treedef(detail::structure_data data) : data_(std::move(data)) {}

  std::size_t num_leaves() const { return data_.nodes.front().num_leaves; }
  // Leaves, and everything above them.
  std::size_t num_nodes() const { return data_.nodes.size(); }

  // What the root is.
  node_kind kind() const { return data_.type_of(0).kind; }
  bool is_leaf() const { return kind() == node_kind::leaf; }

  // The root's children, in order: an engaged optional and a variant have one, None has none.
  std::size_t num_children() const { return data_.nodes.front().arity; }
  std::vector<any_treedef> children() const {
    std::vector<any_treedef> result;
    for (std::size_t i = 0, at = 1; i < num_children(); ++i, at += data_.nodes[at].num_nodes) {
      result.push_back(below(at));
    }
    return result;
  }
  // Throws path_error if there is no such child.
  any_treedef child(std::size_t i) const {
    if (i >= num_children()) {
      throw path_error("espalier: any_treedef::child: there is no child " + std::to_string(i) + " of " +
                       std::to_string(num_children()) + " (counted from 0) in " + to_string());
    }
    std::size_t at = 1;
    for (; i > 0; --i) at += data_.nodes[at].num_nodes;
    return below(at);
  }

  // The keys of the root's children (optree's `entries`). They refer to text in this object.
  std::vector<key_entry> entries() const& {
    std::vector<key_entry> result;
    for (std::size_t i = 0; i < num_children(); ++i) {
      result.push_back(detail::child_key(data_.type_of(0), data_.nodes.front(), i));
    }
    return result;
  }
  std::vector<key_entry> entries() const&& = delete;

  // The key paths of the leaves, in order.
  std::vector<key_path> paths() const {
    std::vector<key_path> result;
    std::vector<key_entry> keys;
    detail::walk_nodes(
        data_.nodes,
        [&](std::size_t i, std::size_t parent, std::size_t child) {
          keys.push_back(i == parent ? key_entry{}
                                     : detail::child_key(data_.type_of(parent), data_.nodes[parent], child));
          if (data_.type_of(i).kind != node_kind::leaf) return;
          result.emplace_back();
          for (const key_entry& key : keys) result.back().push_back(key);
        },
        [&](std::size_t) { keys.pop_back(); });
    return result;
  }

  // This structure with `inner` in place of each leaf (as jax's PyTreeDef.compose): num_leaves() is the product.
  any_treedef compose(const any_treedef& inner) const {
    std::vector<detail::node_type> types = *data_.types;
    const std::size_t moved = types.size();
    const std::size_t root = moved + inner.data_.nodes.front().type;
    for (detail::node_type& type : types) {
      for (auto& field : type.fields) {
        if (!field.is_aux && (*data_.types)[field.type].kind == node_kind::leaf) field.type = root;
      }
    }
    for (detail::node_type type : *inner.data_.types) {
      for (auto& field : type.fields) field.type += moved;
      types.push_back(std::move(type));
    }
    detail::structure_data result{std::make_shared<const std::vector<detail::node_type>>(std::move(types)), {}};
    result.nodes.reserve(num_nodes() - num_leaves() + num_leaves() * inner.num_nodes());
    for (const detail::structure_node& outer : data_.nodes) {
      if ((*data_.types)[outer.type].kind == node_kind::leaf) {
        for (const detail::structure_node& node : inner.data_.nodes) {
          result.nodes.push_back(node);
          result.nodes.back().type += moved;
        }
      } else {
        result.nodes.push_back(outer);
        result.nodes.back().num_nodes += outer.num_leaves * inner.num_nodes() - outer.num_leaves;
        result.nodes.back().num_leaves *= inner.num_leaves();
      }
    }
    return any_treedef(std::move(result));
  }

  // Whether `other` has this structure down to this one's leaves, where it may have anything (as optree's is_prefix;
  // jax.tree.map's condition for rest trees). Every structure is a prefix of itself.
  bool is_prefix_of(const any_treedef& other) const {
    for (std::size_t i = 0, j = 0; i < num_nodes(); ++i) {
      if (data_.type_of(i).kind == node_kind::leaf) {
        j += other.data_.nodes[j].num_nodes;
      } else if (!detail::same_node(data_, i, other.data_, j++)) {
        return false;
      }
    }
    return true;
  }

  // The injective encoding of treedef<T>, and its hash.
  std::string encoding() const {
    detail::byte_sink sink;
    detail::encode_structure(sink, data_);
    return std::move(sink.bytes);
  }
  std::uint64_t hash() const {
    detail::hash_sink sink;
    detail::encode_structure(sink, data_);
    return sink.state.result();
  }

  // As treedef<T> prints it: `{.weight: *, .bias: None, .step=3}`.
  std::string to_string() const {
    std::string out;
    const auto bracket = [](node_kind kind, bool opens) -> const char* {
      switch (kind) {
        case node_kind::tuple:
        case node_kind::custom:
          return opens ? "(" : ")";
        case node_kind::array:
        case node_kind::sequence:
          return opens ? "[" : "]";
        case node_kind::record:
        case node_kind::map:
          return opens ? "{" : "}";
        default:
          return "";
      }
    };
    detail::walk_nodes(
        data_.nodes,
        [&](std::size_t i, std::size_t parent, std::size_t child) {
          if (child > 0) out += ", ";
          if (i != parent) {
            detail::print_child_key(out, detail::child_key(data_.type_of(parent), data_.nodes[parent], child));
          }
          const node_kind kind = data_.type_of(i).kind;
          out += bracket(kind, true);
          if (kind == node_kind::leaf) out += "*";
          if (kind == node_kind::maybe && data_.nodes[i].arity == 0) out += "None";
          if (kind == node_kind::variant) out.append(std::to_string(data_.nodes[i].held)).append(":");
        },
        [&](std::size_t i) {
          const detail::node_type& type = data_.type_of(i);
          if (type.has_aux) print_aux(out, type, data_.nodes[i]);
          out += bracket(type.kind, false);
        });
    return out;
  }

  // Equal structures: equal encodings. A treedef<T> converts, so it can stand on either side.
  friend bool operator==(const any_treedef& a, const any_treedef& b) { return a.encoding() == b.encoding(); }
  friend std::ostream& operator<<(std::ostream& out, const any_treedef& def) { return out << def.to_string(); }

  // The nodes, for algorithms over them.
  const detail::structure_data& data() const { return data_; }

 private:
  any_treedef below(std::size_t at) const {
    const auto first = data_.nodes.begin() + static_cast<std::ptrdiff_t>(at);
    return any_treedef(
        detail::structure_data{data_.types, {first, first + static_cast<std::ptrdiff_t>(first->num_nodes)}});
  }

  static void print_aux(std::string& out, const detail::node_type& type, const detail::structure_node& node) {
    std::size_t printed = 0;
    const auto value = [&](const std::string& name) {
      out.append(node.arity + printed > 0 ? ", " : "").append(name).append("=").append(node.values[printed].text);
      ++printed;
    };
    for (const auto& field : type.fields) {
      if (field.is_aux) value("." + field.name);
    }
    if (printed == 0) value("aux");
  }

  detail::structure_data data_;
};

namespace detail {

// What a node is, as a mismatch says it.
inline std::string describe_node(const structure_data& data, std::size_t i) {
  const structure_node& node = data.nodes[i];
  switch (data.type_of(i).kind) {
    case node_kind::leaf:
      return "a leaf";
    case node_kind::record:
      return "a struct";
    case node_kind::tuple:
      return "a tuple of " + std::to_string(node.arity);
    case node_kind::custom:
      return "a registered node";
    case node_kind::array:
      return "an array of " + std::to_string(node.arity);
    case node_kind::sequence:
      return "a sequence of " + std::to_string(node.arity);
    case node_kind::map:
      return "a map";
    case node_kind::maybe:
      return node.arity == 0 ? "None" : "a value";
    default:
      return "alternative " + std::to_string(node.held);
  }
}

// What a container without elements is.
inline std::string describe_empty(const structure_data& data, const node_type& type) {
  const auto elements = [&] {
    switch ((*data.types)[type.fields[0].type].kind) {
      case node_kind::leaf:
        return "leaves";
      case node_kind::record:
        return "structs";
      case node_kind::tuple:
        return "tuples";
      case node_kind::custom:
        return "registered nodes";
      case node_kind::variant:
        return "variants";
      default:
        return "containers";
    }
  };
  const char* const container = type.kind == node_kind::sequence ? "sequence"
                                : type.kind == node_kind::map    ? "map"
                                : type.kind == node_kind::array  ? "array"
                                                                 : "optional";
  return std::string("an empty ") + container + " of " + elements();
}

// Compares two nodes, and collects the pairs of children that both have.
class node_comparison {
 public:
  struct place {
    std::size_t expected, found;
    key_path path;
  };

  node_comparison(const structure_data& expected, const structure_data& found) : expected_(expected), found_(found) {}

  std::vector<mismatch> run() {
    std::vector<place> open{{0, 0, {}}};
    while (!open.empty()) {
      const place here = std::move(open.back());
      open.pop_back();
      const std::size_t first = open.size();
      compare(here, open);
      std::reverse(open.begin() + static_cast<std::ptrdiff_t>(first), open.end());
    }
    return std::move(differences_);
  }

 private:
  void compare(const place& here, std::vector<place>& common) {
    const node_type& s = expected_.type_of(here.expected);
    const node_type& t = found_.type_of(here.found);
    const structure_node& x = expected_.nodes[here.expected];
    const structure_node& y = found_.nodes[here.found];
    if (s.kind != t.kind || x.held != y.held || (s.kind == node_kind::maybe && x.arity != y.arity)) {
      report(here.path, describe_node(expected_, here.expected), describe_node(found_, here.found));
      return;
    }
    const std::size_t before = differences_.size();
    if (s.kind != node_kind::map) compare_aux(here.path, s, t, x, y);
    const bool keyed = s.kind == node_kind::record || s.kind == node_kind::custom || s.kind == node_kind::map;
    if (!keyed && x.arity != y.arity) report(here.path, count_text(x.arity, "element"), count_text(y.arity, "element"));
    const auto key_after = [&](const node_type& type, const structure_node& node, std::size_t i) {
      key_path path = here.path;
      path.push_back(child_key(type, node, i));
      return path;
    };
    const auto what = [&](const structure_data& data, std::size_t at) {
      return s.kind == node_kind::map ? "this key" : describe_node(data, at);
    };
    const char* const none = s.kind == node_kind::map ? "no such key" : "no such child";
    std::unordered_map<std::string, std::size_t> rest;  // the children of the second, by key
    for (std::size_t i = 0, at = here.found + 1; i < y.arity; ++i, at += found_.nodes[at].num_nodes) {
      rest.emplace(key_after(t, y, i).to_string(), at);
    }
    for (std::size_t i = 0, at = here.expected + 1; i < x.arity; ++i, at += expected_.nodes[at].num_nodes) {
      key_path path = key_after(s, x, i);
      const auto other = rest.find(path.to_string());
      if (other != rest.end()) {
        common.push_back({at, other->second, std::move(path)});
        rest.erase(other);
      } else if (keyed) {
        report(path, what(expected_, at), none);
      }
    }
    for (std::size_t i = 0, at = here.found + 1; keyed && i < y.arity; ++i, at += found_.nodes[at].num_nodes) {
      const key_path path = key_after(t, y, i);
      if (rest.contains(path.to_string())) report(path, none, what(found_, at));
    }
    if (differences_.size() == before) compare_types(here.path, here.expected, here.found);
  }

  // What types say of what is not there, and their names.
  void compare_types(const key_path& path, std::size_t i, std::size_t j) {
    const node_type& s = expected_.type_of(i);
    const node_type& t = found_.type_of(j);
    if (s.name != t.name) {
      const auto name = [](const node_type& type) {
        std::string text;
        if (!type.name.empty()) print_quoted(text, type.name);
        return text.empty() ? "no pytree_name" : "the pytree_name " + text;
      };
      report(path, name(s), name(t));
    } else if (has_elements(s.kind) && expected_.nodes[i].arity == 0) {
      const auto [known, is_new] = same_types_.try_emplace({expected_.nodes[i].type, found_.nodes[j].type});
      if (is_new) known->second = encoding_of_type(expected_, i) == encoding_of_type(found_, j);
      if (known->second) return;
      const std::string expected = describe_empty(expected_, s);
      const std::string found = describe_empty(found_, t);
      report(path, expected, expected == found ? found + " of another type" : found);
    }
  }

  static std::string encoding_of_type(const structure_data& data, std::size_t i) {
    byte_sink sink;
    std::vector<std::size_t> open;
    encode_node_type(sink, *data.types, data.nodes[i].type, open);
    return std::move(sink.bytes);
  }

  void compare_aux(const key_path& path, const node_type& s, const node_type& t, const structure_node& x,
                   const structure_node& y) {
    const auto values = [](const node_type& type, const structure_node& node) {
      std::vector<std::pair<std::string, const structure_value*>> result;
      for (const auto& field : type.fields) {
        if (field.is_aux) result.emplace_back("." + field.name, &node.values[result.size()]);
      }
      if (result.empty() && !node.values.empty()) result.emplace_back("", &node.values.front());
      return result;
    };
    const auto expected = values(s, x);
    const auto found = values(t, y);
    const auto named = [](const auto& list, const std::string& name) -> const structure_value* {
      const auto it = std::find_if(list.begin(), list.end(), [&](const auto& entry) { return entry.first == name; });
      return it == list.end() ? nullptr : it->second;
    };
    for (const auto& [name, value] : expected) {
      const structure_value* const other = named(found, name);
      if (other != nullptr && other->encoding == value->encoding) continue;
      // Where they print alike, their types or bits differ.
      const bool alike = other != nullptr && other->text == value->text;
      differences_.push_back(
          {path.to_string() + name, "aux " + value->text,
           other == nullptr ? "no such aux value" : "aux " + other->text + (alike ? " of another type" : "")});
    }
    for (const auto& [name, value] : found) {
      if (named(expected, name) == nullptr) {
        differences_.push_back({path.to_string() + name, "no such aux value", "aux " + value->text});
      }
    }
  }

  void report(const key_path& path, std::string expected, std::string found) {
    differences_.push_back({path.to_string(), std::move(expected), std::move(found)});
  }

  const structure_data& expected_;
  const structure_data& found_;
  std::vector<mismatch> differences_;
  std::map<std::pair<std::size_t, std::size_t>, bool> same_types_;  // that were compared
};

}  // namespace detail

// Every place where two structures differ, by key path (as jax's equality_errors): of a stored structure and that of a
// tree it should fit, say. Empty if and only if they are equal: structures that differ only in what types say of what is
// not there (the elements of an empty vector, a pytree_name) differ at the root.
inline std::vector<mismatch> structure_differences(const any_treedef& expected, const any_treedef& found) {
  if (expected == found) return {};
  std::vector<mismatch> differences = detail::node_comparison(expected.data(), found.data()).run();
  if (differences.empty()) {
    differences.push_back({"", "the same types",
                           "types that differ in the order of their fields or keys, or in what no node here shows"});
  }
  return differences;
}

}  // namespace espalier

template <> struct std::hash<espalier::any_treedef> {
  std::size_t operator()(const espalier::any_treedef& def) const noexcept {
    return static_cast<std::size_t>(def.hash());
  }
};
