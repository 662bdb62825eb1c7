// Structures as text, to be kept beside a checkpoint or sent to another program, and read back or refused.
//
//   std::string text = espalier::treedef_to_json(espalier::tree_structure(model));
//   if (espalier::treedef_from_json(text) == espalier::tree_structure(other_model)) …
//
// The text is JSON with one line for each type and for each node that has something to say:
//
//   {
//     "format": "espalier.treedef", "version": 1, "hash": "1f2e3d4c5b6a7988",
//     "types": [
//       {"kind": "record", "fields": [{"name": "layers", "type": 1}, {"name": "step", "aux": true}]},
//       {"kind": "sequence", "type": 2},
//       {"kind": "leaf"}
//     ],
//     "nodes": [
//       {"aux": [{"text": "3", "encoding": "690403000000"}]},
//       {"size": 2}
//     ]
//   }
//
// "types" is what types know, by number, the root's first: kinds (record, tuple, custom, array, sequence, map, maybe,
// variant, leaf), names, fields in order. "nodes" is the rest, for each node that has aux data or a size, in the order
// in which a traversal enters them: {"aux"}, {"size"} of a sequence, {"keys"} of a map, {"engaged"}, {"held"}. Aux
// values and keys are the bytes of their encoding (encode.hpp) in hexadecimal, with the text that they print as (of aux
// data it is for people only, and bytes that are not UTF-8 are question marks in it).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <espalier/any_treedef.hpp>
#include <espalier/detail/json.hpp>
#include <espalier/errors.hpp>
#include <espalier/parse_path.hpp>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace espalier {

// A text that is no structure, and where: lines and columns count from 1, columns in bytes.
struct treedef_text_error : error {
  treedef_text_error(const std::string& reason, std::size_t at_line, std::size_t at_column)
      : error("espalier: treedef_from_json: line " + std::to_string(at_line) + ", column " + std::to_string(at_column) +
              ": " + reason),
        line(at_line),
        column(at_column) {}

  std::size_t line;
  std::size_t column;
};

namespace detail {

inline constexpr std::string_view treedef_format = "espalier.treedef";
inline constexpr std::uint64_t treedef_version = 1;

inline constexpr std::pair<node_kind, std::string_view> kind_names[] = {
    {node_kind::leaf, "leaf"},     {node_kind::record, "record"}, {node_kind::tuple, "tuple"},
    {node_kind::custom, "custom"}, {node_kind::array, "array"},   {node_kind::sequence, "sequence"},
    {node_kind::map, "map"},       {node_kind::maybe, "maybe"},   {node_kind::variant, "variant"},
};

// Whether a node of this type has something to say besides its type.
inline bool has_own_data(const node_type& type) {
  return type.has_aux || (has_elements(type.kind) && type.kind != node_kind::array) || type.kind == node_kind::variant;
}

inline std::string hash_text(std::uint64_t hash) {
  std::string text(16, '0');
  for (std::size_t i = 0; i < 16; ++i) text[15 - i] = "0123456789abcdef"[hash >> (4 * i) & 15];
  return text;
}

// --- Writing. --------------------------------------------------------------------------------------------------------

// The types that a structure reaches, its root's first, then in the order in which they are met.
inline std::vector<std::size_t> reached_types(const structure_data& data) {
  std::vector<std::size_t> reached{data.nodes.front().type};
  std::vector<bool> seen(data.types->size(), false);
  seen[reached.front()] = true;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (const node_type::field& field : (*data.types)[reached[i]].fields) {
      if (field.is_aux || seen[field.type]) continue;
      seen[field.type] = true;
      reached.push_back(field.type);
    }
  }
  return reached;
}

class treedef_writer {
 public:
  explicit treedef_writer(const structure_data& data) : data_(data), reached_(reached_types(data)) {}

  std::string write(std::uint64_t hash) {
    out_ += "{\n  ";
    text_member("format", treedef_format);
    out_.append(", \"version\": ").append(std::to_string(treedef_version)).append(", ");
    text_member("hash", hash_text(hash));
    out_ += ",\n  \"types\": [";
    for (std::size_t i = 0; i < reached_.size(); ++i) {
      out_ += i == 0 ? "\n    " : ",\n    ";
      write_type((*data_.types)[reached_[i]]);
    }
    out_ += "\n  ],\n  \"nodes\": [";
    bool first = true;
    for (std::size_t i = 0; i < data_.nodes.size(); ++i) {
      if (!has_own_data(data_.type_of(i))) continue;
      out_ += first ? "\n    " : ",\n    ";
      first = false;
      write_node(data_.type_of(i).kind, data_.nodes[i]);
    }
    out_ += first ? "]\n}\n" : "\n  ]\n}\n";
    return std::move(out_);
  }

 private:
  // Names and keys are part of the structure: they are written as they are, or not at all.
  void text_member(std::string_view name, std::string_view text) {
    if (!is_utf8(text)) {
      std::string shown;
      print_quoted(shown, text);
      throw error("espalier: treedef_to_json: expected names and keys of UTF-8, found " + shown +
                  "; JSON can hold no other bytes, rename it");
    }
    out_.append("\"").append(name).append("\": ");
    write_json_string(out_, text);
  }

  void type_member(std::size_t type) {
    const auto found = std::find(reached_.begin(), reached_.end(), type);
    out_.append("\"type\": ").append(std::to_string(found - reached_.begin()));
  }

  template <class Items, class Write> void list(const char* name, const Items& items, Write write) {
    out_.append("\"").append(name).append("\": [");
    bool first = true;
    for (const auto& item : items) {
      out_ += first ? "{" : ", {";
      first = false;
      write(item);
      out_ += "}";
    }
    out_ += "]";
  }

  void write_type(const node_type& type) {
    const auto* const kind = std::find_if(std::begin(kind_names), std::end(kind_names),
                                          [&](const auto& entry) { return entry.first == type.kind; });
    out_ += "{";
    text_member("kind", kind->second);
    if (!type.name.empty()) {
      out_ += ", ";
      text_member("name", type.name);
    }
    if (type.kind == node_kind::array) out_ += ", \"size\": " + std::to_string(type.extent);
    if (type.kind == node_kind::map) out_ += type.has_string_keys ? R"(, "keys": "strings")" : R"(, "keys": "numbers")";
    if (type.has_aux && type.kind != node_kind::record) out_ += ", \"aux\": true";
    if (has_elements(type.kind)) {
      out_ += ", ";
      type_member(type.fields.front().type);
    } else if (type.kind != node_kind::leaf) {
      out_ += ", ";
      list("fields", type.fields, [&](const node_type::field& field) {
        if (field.which == key_entry::kind::attribute) {
          text_member("name", field.name);
          out_ += ", ";
        }
        if (field.is_aux) {
          out_ += "\"aux\": true";
        } else {
          type_member(field.type);
        }
      });
    }
    out_ += "}";
  }

  void write_values(const char* name, const std::vector<structure_value>& values) {
    list(name, values, [&](const structure_value& value) {
      if (name == std::string_view("keys")) {
        const bool is_text = value.which == key_entry::kind::string_key;
        text_member("text", is_text ? value.text : key_number(value.key()));
      } else {
        // Only for people to read.
        std::string text = value.text;
        if (!is_utf8(text)) std::replace_if(text.begin(), text.end(), [](char c) { return (c & 0x80) != 0; }, '?');
        text_member("text", text);
      }
      std::string bytes;
      for (const char c : value.encoding) {
        bytes.append(1, "0123456789abcdef"[static_cast<unsigned char>(c) >> 4]);
        bytes.append(1, "0123456789abcdef"[static_cast<unsigned char>(c) & 15]);
      }
      out_ += ", ";
      text_member("encoding", bytes);
    });
  }

  void write_node(node_kind kind, const structure_node& node) {
    out_ += "{";
    if (kind == node_kind::sequence) {
      out_ += "\"size\": " + std::to_string(node.arity);
    } else if (kind == node_kind::maybe) {
      out_ += node.arity == 1 ? "\"engaged\": true" : "\"engaged\": false";
    } else if (kind == node_kind::variant) {
      out_ += "\"held\": " + std::to_string(node.held);
    } else {
      write_values(kind == node_kind::map ? "keys" : "aux", node.values);
    }
    out_ += "}";
  }

  const structure_data& data_;
  std::vector<std::size_t> reached_;
  std::string out_;
};

// --- Reading. --------------------------------------------------------------------------------------------------------

// More than any program's types; what a short text could claim must not cost without bound.
inline constexpr std::size_t max_types = 4096;
inline constexpr std::size_t max_type_encoding = std::size_t{1} << 22;

struct bounded_sink {
  std::size_t left = max_type_encoding;
  void put(unsigned char) {
    if (left-- == 0) throw error("the types' encoding is longer than " + std::to_string(max_type_encoding) + " bytes");
  }
};

// Whether type `from` contains a `to`.
inline bool type_reaches(const std::vector<node_type>& types, std::size_t from, std::size_t to) {
  std::vector<bool> seen(types.size(), false);
  std::vector<std::size_t> pending{from};
  while (!pending.empty()) {
    const std::size_t at = pending.back();
    pending.pop_back();
    for (const node_type::field& field : types[at].fields) {
      if (field.is_aux || seen[field.type]) continue;
      if (field.type == to) return true;
      seen[field.type] = true;
      pending.push_back(field.type);
    }
  }
  return false;
}

// Whether a map key's encoding is that of its text, which a hash does not cover. (A value_encoder's may be anything.)
inline bool is_encoding_of(const structure_value& key) {
  std::string_view bytes = key.encoding;
  if (bytes.front() == 'x') return true;
  if (key.which == key_entry::kind::string_key) return bytes == encoding_of(key.text);
  if (bytes.front() == 'e') bytes.remove_prefix(1);
  if (bytes == "T" || bytes == "F") return key.number == (bytes == "T" ? 1 : 0);
  if (bytes.size() < 3 || bytes.size() != 2 + static_cast<std::size_t>(bytes[1]) || bytes.size() > 10) return false;
  std::uint64_t number = 0;
  for (std::size_t i = bytes.size(); i-- > 2;) number = number << 8 | static_cast<unsigned char>(bytes[i]);
  const std::size_t unused = 8 * (10 - bytes.size());
  const bool is_as_unsigned = key.number == static_cast<std::int64_t>(number);
  const bool is_as_signed = key.number == static_cast<std::int64_t>(number << unused) >> unused;
  // A character's sign is the platform's.
  return bytes.front() == 'i'   ? is_as_signed && key.which == key_entry::kind::integer_key
         : bytes.front() == 'u' ? is_as_unsigned
                                : bytes.front() == 'c' && (is_as_signed || is_as_unsigned);
}

class treedef_reader {
 public:
  treedef_reader(std::string_view text, std::size_t max_nodes) : json_(text), max_nodes_(max_nodes) {}

  // The structure.
  structure_data read() {
    std::size_t members = 0;
    json_.object([&](const std::string& name, std::size_t at) {
      ++members;
      if (name == "format") {
        if (json_.string() != treedef_format) json_.fail("expected the format \"espalier.treedef\"", at);
      } else if (name == "version") {
        const std::uint64_t version = json_.whole_number();
        if (version != treedef_version) {
          json_.fail("expected version " + std::to_string(treedef_version) + ", found " + std::to_string(version) +
                         "; read it with the program that wrote it",
                     at);
        }
      } else if (name == "hash") {
        hash_position_ = json_.position();
        hash_ = json_.string();
      } else if (name == "types") {
        types_position_ = at;
        json_.array([&] { read_type(); });
      } else if (name == "nodes") {
        json_.array([&] { read_node(); });
      } else {
        json_.fail("an unknown member; expected format, version, hash, types and nodes", at);
      }
    });
    json_.end();
    if (members != 5) json_.fail("expected the members format, version, hash, types and nodes", 0);
    check_types();
    check_types_size();
    return build();
  }

  void check_hash(std::uint64_t hash) const {
    if (hash_ != hash_text(hash)) {
      json_.fail("the hash is not that of this structure, which is " + hash_text(hash) + "; the text has been changed",
                 hash_position_);
    }
  }

 private:
  // A node as the text has it: the member that it has, and where.
  struct read_data {
    std::string member;
    std::size_t position = 0;
    std::uint64_t number = 0;  // size, held, engaged
    std::vector<structure_value> values = {};
  };

  void read_type() {
    const std::size_t begin = json_.position();
    type_positions_.push_back(begin);
    if (types_.size() == max_types) json_.fail("more than " + std::to_string(max_types) + " types", begin);
    node_type type{node_kind::unsupported};
    std::vector<std::string> members;
    json_.object([&](const std::string& name, std::size_t at) {
      members.push_back(name);
      if (name == "kind") {
        type.kind = read_kind();
      } else if (name == "name") {
        type.name = json_.string();
      } else if (name == "size") {
        type.extent = json_.whole_number();
      } else if (name == "aux") {
        type.has_aux = json_.boolean();
      } else if (name == "keys") {
        const std::string keys = json_.string();
        if (keys != "strings" && keys != "numbers") json_.fail("expected keys that are strings or numbers", at);
        type.has_string_keys = keys == "strings";
      } else if (name == "type") {
        type.fields.push_back({.type = json_.whole_number()});
      } else if (name == "fields") {
        json_.array([&] { type.fields.push_back(read_field()); });
      } else {
        json_.fail("an unknown member of a type", at);
      }
    });
    const auto has = [&](std::string_view name) {
      return std::find(members.begin(), members.end(), name) != members.end();
    };
    const auto need = [&](std::string_view name, bool needed, bool allowed) {
      if ((needed && !has(name)) || (!allowed && has(name))) {
        json_.fail(
            "a type of this kind has " + std::string(needed ? "a" : "no") + " member \"" + std::string(name) + "\"",
            begin);
      }
    };
    const auto is = [&](node_kind kind) { return type.kind == kind; };
    need("kind", true, true);
    need("size", is(node_kind::array), is(node_kind::array));
    need("keys", is(node_kind::map), is(node_kind::map));
    need("aux", false, is(node_kind::custom));
    need("name", false, !is(node_kind::leaf));
    need("type", has_elements(type.kind), has_elements(type.kind));
    const bool has_fields = !is(node_kind::leaf) && !has_elements(type.kind);
    need("fields", has_fields, has_fields);
    for (node_type::field& field : type.fields) {
      const bool named = field.which == key_entry::kind::attribute;
      if ((is(node_kind::record) && !named) || (field.is_aux && !is(node_kind::record)) ||
          (named && !is(node_kind::record) && !is(node_kind::custom))) {
        json_.fail(
            "a field of a record has a name, only a record's field can be aux data, and the children of tuples "
            "and variants have no names",
            begin);
      }
      if (!named && (is(node_kind::tuple) || is(node_kind::custom))) field.which = key_entry::kind::index;
      if (field.is_aux) type.has_aux = true;
    }
    types_.push_back(std::move(type));
  }

  node_kind read_kind() {
    const std::size_t at = json_.position();
    const std::string name = json_.string();
    for (const auto& [kind, kind_name] : kind_names) {
      if (name == kind_name) return kind;
    }
    json_.fail("no kind of node; expected leaf, record, tuple, custom, array, sequence, map, maybe or variant", at);
  }

  node_type::field read_field() {
    const std::size_t begin = json_.position();
    node_type::field field;
    bool typed = false;
    json_.object([&](const std::string& name, std::size_t at) {
      if (name == "name") {
        field.which = key_entry::kind::attribute;
        field.name = json_.string();
      } else if (name == "type") {
        typed = true;
        field.type = json_.whole_number();
      } else if (name == "aux") {
        field.is_aux = json_.boolean();
      } else {
        json_.fail("an unknown member of a field; expected name, and type or aux", at);
      }
    });
    if (typed == field.is_aux) json_.fail("a field is aux data or has a type, one of the two", begin);
    return field;
  }

  void read_node() {
    read_data node{{}, json_.position()};
    json_.object([&](const std::string& name, std::size_t at) {
      if (!node.member.empty()) json_.fail("a node has one member", at);
      node.member = name;
      if (name == "size" || name == "held") {
        node.number = json_.whole_number();
      } else if (name == "engaged") {
        node.number = json_.boolean() ? 1 : 0;
      } else if (name == "keys" || name == "aux") {
        json_.array([&] { node.values.push_back(read_value()); });
      } else {
        json_.fail("an unknown member of a node; expected aux, size, keys, engaged or held", at);
      }
    });
    nodes_.push_back(std::move(node));
  }

  structure_value read_value() {
    const std::size_t begin = json_.position();
    structure_value value;
    json_.object([&](const std::string& name, std::size_t at) {
      if (name == "text") {
        value.text = json_.string();
      } else if (name == "encoding") {
        value.encoding = read_bytes();
      } else {
        json_.fail("an unknown member of a value; expected text and encoding", at);
      }
    });
    if (value.encoding.empty()) json_.fail("a value has an encoding", begin);
    return value;
  }

  std::string read_bytes() {
    const std::size_t at = json_.position();
    const std::string digits = json_.string();
    std::string bytes;
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
      unsigned char byte = 0;
      const char* const end = digits.data() + i + 2;
      if (std::from_chars(end - 2, end, byte, 16).ptr != end) break;
      bytes.push_back(static_cast<char>(byte));
    }
    if (2 * bytes.size() != digits.size()) json_.fail("expected an even number of hexadecimal digits", at);
    return bytes;
  }

  // Types refer to types that are there, and only sequences, maps and optionals can end what contains itself.
  void check_types() {
    if (types_.empty()) json_.fail("expected at least one type", types_position_);
    for (std::size_t i = 0; i < types_.size(); ++i) {
      for (const node_type::field& field : types_[i].fields) {
        if (!field.is_aux && field.type >= types_.size()) {
          json_.fail("there is no type " + std::to_string(field.type) + " (counted from 0)", type_positions_[i]);
        }
      }
    }
    // Every type is finished once those that it always contains are.
    std::vector<bool> finished(types_.size(), false);
    bool changed = true;
    while (changed) {
      changed = false;
      for (std::size_t i = types_.size(); i-- > 0;) {
        if (finished[i]) continue;
        const bool always_contains = types_[i].kind == node_kind::array || !has_elements(types_[i].kind);
        finished[i] =
            !always_contains || std::all_of(types_[i].fields.begin(), types_[i].fields.end(),
                                            [&](const auto& field) { return field.is_aux || finished[field.type]; });
        changed = changed || finished[i];
      }
    }
    const auto endless = std::find(finished.begin(), finished.end(), false);
    if (endless != finished.end()) {
      json_.fail("this type contains itself without a sequence, map or optional between",
                 type_positions_[static_cast<std::size_t>(endless - finished.begin())]);
    }
    for (std::size_t i = 0; i < types_.size(); ++i) {
      types_[i].find_children();
      types_[i].recursive = has_elements(types_[i].kind) && type_reaches(types_, i, i);
    }
  }

  void check_types_size() const {
    try {
      bounded_sink sink;
      std::vector<std::size_t> open;
      encode_node_type(sink, types_, 0, open);
    } catch (const error& fault) {
      json_.fail(fault.what(), types_position_);
    }
  }

  // The data of the next node that has some, which must be of this kind.
  read_data take_data(const char* member, const char* what) {
    if (next_ == nodes_.size()) {
      json_.fail("the nodes end too early: expected " + std::string(what) + ", {\"" + member + "\"}", types_position_);
    }
    read_data& data = nodes_[next_++];
    if (data.member != member) {
      json_.fail("expected " + std::string(what) + ", {\"" + member + "\"}, found {\"" + data.member + "\"}",
                 data.position);
    }
    return std::move(data);
  }

  structure_node make_node(std::size_t type_index) {
    const node_type& type = types_[type_index];
    structure_node node{.type = type_index};
    switch (type.kind) {
      case node_kind::leaf:
        node.num_leaves = 1;
        break;
      case node_kind::array:
        node.arity = type.extent;
        break;
      case node_kind::sequence:
        node.arity = take_data("size", "a sequence").number;
        break;
      case node_kind::maybe:
        node.arity = take_data("engaged", "an optional").number;
        break;
      case node_kind::map:
        set_keys(node, take_data("keys", "a map"), type.has_string_keys);
        break;
      case node_kind::variant: {
        const read_data data = take_data("held", "a variant");
        if (data.number >= type.fields.size()) json_.fail("the variant has no such alternative", data.position);
        node.held = data.number;
        node.arity = 1;
        break;
      }
      default: {
        std::size_t aux_fields = 0;
        for (const node_type::field& field : type.fields) ++(field.is_aux ? aux_fields : node.arity);
        if (!type.has_aux) break;
        read_data data = take_data("aux", "a node with aux data");
        if (data.values.size() != std::max<std::size_t>(aux_fields, 1)) {
          json_.fail("expected an aux value for each aux field, or one of a registered node", data.position);
        }
        node.values = std::move(data.values);
      }
    }
    return node;
  }

  void set_keys(structure_node& node, read_data data, bool are_strings) {
    node.arity = data.values.size();
    for (structure_value& key : data.values) {
      key.which = key_entry::kind::string_key;
      if (!are_strings) set_number(key, data.position);
      if (!is_encoding_of(key)) json_.fail("the encoding of a key is not that of its text", data.position);
    }
    std::vector<std::string_view> encodings;
    for (const structure_value& key : data.values) encodings.push_back(key.encoding);
    std::sort(encodings.begin(), encodings.end());
    if (std::adjacent_find(encodings.begin(), encodings.end()) != encodings.end()) {
      json_.fail("a map has the same key twice", data.position);
    }
    node.values = std::move(data.values);
  }

  // A key that is a number, written as a key path prints it.
  void set_number(structure_value& key, std::size_t position) const {
    key_path path;
    try {
      path = parse_path("[" + key.text + "]");
    } catch (const path_error&) {
    }
    if (path.size() != 1 || path[0].which == key_entry::kind::string_key) {
      json_.fail("expected the text of a key to be a whole number", position);
    }
    key.number = path[0].number;
    key.which = path[0].which == key_entry::kind::index ? key_entry::kind::integer_key : path[0].which;
  }

  // All nodes in preorder, from the root's type and the data of those that have some.
  structure_data build() {
    structure_data result;
    std::vector<std::size_t> open;     // nodes whose children are not complete
    std::vector<std::size_t> missing;  // how many of them
    std::vector<std::size_t> made;
    std::size_t type = 0;
    do {
      if (result.nodes.size() == max_nodes_) {
        json_.fail("more than " + std::to_string(max_nodes_) +
                       " nodes; if the text is to be trusted, give treedef_from_json a larger limit",
                   types_position_);
      }
      open.push_back(result.nodes.size());
      result.nodes.push_back(make_node(type));
      missing.push_back(result.nodes.back().arity);
      made.push_back(0);
      while (!open.empty() && missing.back() == made.back()) {
        structure_node& done = result.nodes[open.back()];
        done.num_nodes = result.nodes.size() - open.back();
        const std::size_t leaves = done.num_leaves;
        open.pop_back();
        missing.pop_back();
        made.pop_back();
        if (!open.empty()) result.nodes[open.back()].num_leaves += leaves;
      }
      if (!open.empty()) {
        const structure_node& parent = result.nodes[open.back()];
        type = child_type(types_[parent.type], parent.held, made.back()++);
      }
    } while (!open.empty());
    if (next_ != nodes_.size()) json_.fail("a node that the types have no place for", nodes_[next_].position);
    result.types = std::make_shared<const std::vector<node_type>>(types_);
    return result;
  }

  json_reader<treedef_text_error> json_;
  std::size_t max_nodes_;
  std::string hash_;
  std::size_t hash_position_ = 0;
  std::size_t types_position_ = 0;
  std::vector<node_type> types_;
  std::vector<std::size_t> type_positions_;
  std::vector<read_data> nodes_;
  std::size_t next_ = 0;
};

}  // namespace detail

// The text of a structure. Throws error if a name or key in it is not UTF-8.
inline std::string treedef_to_json(const any_treedef& def) {
  return detail::treedef_writer(def.data()).write(def.hash());
}

// The structure that treedef_to_json wrote. Throws treedef_text_error, with line, column and the reason, if the text is
// malformed, of another format or version, no structure that a tree can have, or does not have its hash; or if it has
// more than `max_nodes` nodes, since a short text can claim many. Costs what its nodes cost; nothing recurses over them.
inline any_treedef treedef_from_json(std::string_view text, std::size_t max_nodes = 1'000'000) {
  detail::treedef_reader reader(text, max_nodes);
  any_treedef def(reader.read());
  reader.check_hash(def.hash());
  return def;
}

}  // namespace espalier
