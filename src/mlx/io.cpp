#include <mlx/io.h>
#include <mlx/ops.h>
#include <mlx/transforms.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <espalier/mlx/io.hpp>
#include <fstream>
#include <ios>
#include <mutex>
#include <random>
#include <stdexcept>
#include <system_error>
#include <unordered_map>

namespace espalier::detail {

namespace mx = ::mlx::core;

// --- Values as text. ---------------------------------------------------------------------------------------

namespace {

// Whether the bytes are UTF-8, which is all that JSON can hold: no overlong forms, surrogates, or more than
// U+10FFFF.
bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t at) {
      return at < text.size() ? static_cast<unsigned>(static_cast<unsigned char>(text[at])) : 0U;
    };
    const unsigned lead = byte(i);
    const std::size_t length = lead < 0x80 ? 1 : lead >= 0xC2 && lead < 0xE0 ? 2 : lead >= 0xE0 && lead < 0xF0 ? 3 : 4;
    if (lead >= 0x80 && (lead < 0xC2 || lead > 0xF4)) return false;
    for (std::size_t j = 1; j < length; ++j) {
      if ((byte(i + j) & 0xC0) != 0x80) return false;
    }
    const unsigned second = byte(i + 1);
    if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) || (lead == 0xF0 && second < 0x90) ||
        (lead == 0xF4 && second > 0x8F)) {
      return false;
    }
    i += length;
  }
  return true;
}

template <class T> void append_number(std::string& out, T value, int base = 10) {
  char digits[32];
  out.append(digits, std::to_chars(digits, digits + sizeof(digits), value, base).ptr);
}

std::string integer_tag(char sign, std::size_t bits) {
  return (sign == 'c' ? std::string("char") : std::string(1, sign)) + std::to_string(bits) + ":";
}

template <class T> using bits_of = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T> void write_any_float(std::string& out, T value) {
  out += sizeof(T) == 4 ? "f32:" : "f64:";
  if (std::isnan(value)) {
    out += "nan:";
    append_number(out, std::bit_cast<bits_of<T>>(value), 16);
  } else {
    char digits[64];
    out.append(digits,
               std::to_chars(digits, digits + sizeof(digits), value).ptr);  // the shortest that reads back the same
  }
}

// Takes what stands before the next comma or bracket.
std::string_view take_token(std::string_view& in) {
  const std::string_view token = in.substr(0, in.find_first_of(",()[]{}"));
  in.remove_prefix(token.size());
  return token;
}

template <class T, class... Format> T parse(std::string_view digits, Format... format) {
  T value{};
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value, format...);
  if (fault != std::errc{} || end != digits.data() + digits.size()) throw bad_text{};
  return value;
}

template <class T> T read_any_float(std::string_view& in) {
  read_exactly(in, sizeof(T) == 4 ? "f32:" : "f64:");
  std::string_view token = take_token(in);
  if (token.starts_with("nan")) {
    read_exactly(token, "nan:");
    const T value = std::bit_cast<T>(parse<bits_of<T>>(token, 16));
    if (!std::isnan(value)) throw bad_text{};
    return value;
  }
  return parse<T>(token);
}

}  // namespace

void write_bool(std::string& out, bool value) { out += value ? "bool:true" : "bool:false"; }

void write_integer(std::string& out, char sign, std::size_t bits, std::uint64_t value) {
  out += integer_tag(sign, bits);
  if (sign == 'i') {
    append_number(out, static_cast<std::int64_t>(value));
  } else {
    append_number(out, bits < 64 ? value & ((std::uint64_t{1} << bits) - 1) : value);
  }
}

void write_float(std::string& out, float value) { write_any_float(out, value); }
void write_float(std::string& out, double value) { write_any_float(out, value); }

void write_string(std::string& out, std::string_view value) {
  if (is_utf8(value)) {
    out.append("str:").append(std::to_string(value.size())).append(":").append(value);
  } else {
    out += "hex:";
    for (const char c : value) {
      const auto byte = static_cast<unsigned char>(c);
      out += "0123456789abcdef"[byte >> 4];
      out += "0123456789abcdef"[byte & 15];
    }
  }
}

void read_exactly(std::string_view& in, std::string_view expected) {
  if (!in.starts_with(expected)) throw bad_text{};
  in.remove_prefix(expected.size());
}

bool read_bool(std::string_view& in) {
  read_exactly(in, "bool:");
  const std::string_view token = take_token(in);
  if (token != "true" && token != "false") throw bad_text{};
  return token == "true";
}

std::uint64_t read_integer(std::string_view& in, char sign, std::size_t bits) {
  read_exactly(in, integer_tag(sign, bits));
  const std::string_view token = take_token(in);
  if (sign == 'i') {
    const auto value = parse<std::int64_t>(token);
    const std::int64_t above = bits < 64 ? value >> (bits - 1) : 0;  // only copies of the sign, if it fits
    if (bits < 64 && above != 0 && above != -1) throw bad_text{};
    return static_cast<std::uint64_t>(value);
  }
  const auto value = parse<std::uint64_t>(token);
  if (bits < 64 && value >> bits != 0) throw bad_text{};
  return value;
}

float read_float(std::string_view& in, float) { return read_any_float<float>(in); }
double read_float(std::string_view& in, double) { return read_any_float<double>(in); }

std::string read_string(std::string_view& in) {
  if (in.starts_with("hex:")) {
    read_exactly(in, "hex:");
    const std::string_view token = take_token(in);
    if (token.size() % 2 != 0) throw bad_text{};
    std::string value;
    for (std::size_t i = 0; i < token.size(); i += 2)
      value += static_cast<char>(parse<unsigned char>(token.substr(i, 2), 16));
    return value;
  }
  read_exactly(in, "str:");
  const auto size = parse<std::size_t>(in.substr(0, in.find(':')));
  in.remove_prefix(in.find(':') + 1);
  if (size > in.size()) throw bad_text{};
  std::string value(in.substr(0, size));
  in.remove_prefix(size);
  return value;
}

std::size_t read_count(std::string_view& in) { return parse<std::size_t>(take_token(in)); }

// --- Files, as MLX writes to them and reads from them. -----------------------------------------------------

namespace {

constexpr std::string_view version = "1";

[[noreturn]] void fail(const char* operation, const std::filesystem::path& file, const std::string& what) {
  throw checkpoint_error("espalier: " + std::string(operation) + ": '" + file.string() + "' " + what);
}

// Unlike MLX's own, it writes under any name.
class file_writer : public mx::io::Writer {
 public:
  explicit file_writer(const std::filesystem::path& file) : out_(file, std::ios::binary | std::ios::trunc) {}

  bool is_open() const override { return out_.is_open(); }
  bool good() const override { return out_.good(); }
  std::size_t tell() override { return static_cast<std::size_t>(out_.tellp()); }
  void seek(std::int64_t offset, std::ios_base::seekdir way) override { out_.seekp(offset, way); }
  void write(const char* data, std::size_t n) override { out_.write(data, static_cast<std::streamsize>(n)); }
  std::string label() const override { return "a checkpoint"; }

  // Whether everything has been written.
  bool close() {
    out_.close();
    return out_.good();
  }

 private:
  std::ofstream out_;
};

// Unlike MLX's own, it remembers that a read failed: MLX reads arrays on other threads, which drop
// exceptions.
class file_reader : public mx::io::Reader {
 public:
  explicit file_reader(const std::filesystem::path& file) : in_(file, std::ios::binary) {}

  bool is_open() const override { return in_.is_open(); }
  bool good() const override { return in_.good(); }
  std::size_t tell() override { return static_cast<std::size_t>(in_.tellg()); }
  void seek(std::int64_t offset, std::ios_base::seekdir way) override { in_.seekg(offset, way); }
  void read(char* data, std::size_t n) override {
    in_.read(data, static_cast<std::streamsize>(n));
    if (!in_) throw std::runtime_error("the file ends too early");
  }
  void read(char* data, std::size_t n, std::size_t offset) override {
    const std::lock_guard lock(mutex_);
    in_.clear();
    in_.seekg(static_cast<std::streamoff>(offset));
    in_.read(data, static_cast<std::streamsize>(n));
    if (!in_) failed_ = true;
  }
  std::string label() const override { return "a checkpoint"; }

  bool failed() const {
    const std::lock_guard lock(mutex_);
    return failed_;
  }

 private:
  std::ifstream in_;
  mutable std::mutex mutex_;
  bool failed_ = false;
};

// The name of a tensor. A tree that is one array has no path.
std::string tensor_name(const path_view& path) {
  std::string name = path.dotted();
  return name.empty() ? "." : name;
}

std::string text_key(const char* kind, const path_view& path) { return std::string(kind) + ":" + path.dotted(); }

// How an array without elements is kept: MLX writes none.
std::string empty_array_text(const mx::array& a) { return "array:" + describe_value(a); }

// Nodes of one path (an optional vector) are one entry.
void join(std::string& entry, const std::string& text) { entry += (entry.empty() ? "" : " of ") + text; }

}  // namespace

// --- Writing. ----------------------------------------------------------------------------------------------

struct checkpoint_writer::contents {
  std::unordered_map<std::string, mx::array> arrays;
  std::unordered_map<std::string, std::string> metadata;
  std::unordered_map<std::string, std::string> printed;  // of every leaf and aux value, by dotted path: its key path
  std::vector<mismatch> faults;

  // Notes what cannot be told apart or written.
  void claim(const char* kind, const path_view& path) {
    const std::string dotted = path.dotted();
    if (!is_utf8(dotted)) {
      faults.push_back({path.to_string(), "a path of UTF-8", "other bytes in a map key"});
    }
    if (dotted == "__metadata__") {
      faults.push_back({path.to_string(), "a leaf of another name", "the name that safetensors keeps for metadata"});
    }
    // An aux value of a registered node has the node's path, which may be that of its only, transparent,
    // child.
    const auto [other, added] =
        printed.emplace((kind == std::string_view("aux") ? "aux:" : "leaf:") + dotted, path.to_string());
    if (!added) {
      faults.push_back(
          {path.to_string(), "a dotted path of its own (rename a key)",
           "'" + dotted + "', which " + (other->second.empty() ? "the root" : other->second) + " has too"});
    }
  }
};

checkpoint_writer::checkpoint_writer() : contents_(std::make_unique<contents>()) {}
checkpoint_writer::~checkpoint_writer() = default;

void checkpoint_writer::add_array(const path_view& path, const mx::array& value) {
  contents_->claim("leaf", path);
  if (value.dtype() == mx::float64) {
    contents_->faults.push_back(
        {path.to_string(), "a dtype that MLX writes (cast it to float32)", describe_value(value)});
  }
  if (value.size() == 0) {
    contents_->metadata[text_key("leaf", path)] = empty_array_text(value);
  } else {
    contents_->arrays.emplace(tensor_name(path), value);
  }
}

void checkpoint_writer::add_text(const char* kind, const path_view& path, std::string text) {
  const bool is_node = kind == std::string_view("node");
  if (!is_node) contents_->claim(kind, path);
  std::string& entry = contents_->metadata[text_key(kind, path)];
  if (is_node) {
    join(entry, text);
  } else {
    entry = std::move(text);
  }
}

void checkpoint_writer::write(const std::filesystem::path& file, std::uint64_t structure_hash) {
  constexpr const char* operation = "save_safetensors";
  auto& [arrays, metadata, printed, faults] = *contents_;
  if (!faults.empty()) {
    throw checkpoint_error("espalier: save_safetensors: '" + file.string() +
                               "' was not written: these leaves cannot be named, or not be held, in such a file:",
                           std::move(faults));
  }
  for (const auto& [key, text] : metadata) {
    if (!is_utf8(key) || !is_utf8(text))
      fail(operation, file, "was not written: the map key behind '" + key + "' is not UTF-8");
  }
  metadata.emplace("espalier.version", version);
  std::string& hash = metadata["espalier.structure_hash"];
  append_number(hash, structure_hash, 16);
  hash.insert(0, 16 - hash.size(), '0');

  // Evaluated before the file is touched: a traced or failing array throws here.
  std::vector<mx::array> pending;
  pending.reserve(arrays.size());
  for (const auto& entry : arrays) pending.push_back(entry.second);
  mx::eval(std::move(pending));

  std::filesystem::path temporary = file;
  std::string suffix = ".";
  append_number(suffix, std::random_device{}(), 16);
  temporary += suffix + ".tmp";
  std::error_code ignored;
  try {
    const auto out = std::make_shared<file_writer>(temporary);
    if (!out->is_open()) {
      fail(operation, file,
           "cannot be written: no file can be made in its folder. Does the folder exist, and may you write "
           "there?");
    }
    mx::save_safetensors(out, arrays, metadata);
    if (!out->close()) fail(operation, file, "could not be written to its end (is the disk full?)");
    std::filesystem::rename(temporary, file);
  } catch (const checkpoint_error&) {
    std::filesystem::remove(temporary, ignored);
    throw;
  } catch (const std::exception& e) {
    std::filesystem::remove(temporary, ignored);
    fail(operation, file, std::string("could not be written: ") + e.what());
  }
}

// --- Reading. ----------------------------------------------------------------------------------------------

struct checkpoint_reader::contents {
  std::filesystem::path path;
  std::shared_ptr<file_reader> file;
  std::unordered_map<std::string, mx::array> arrays;                 // what nobody asked for yet
  std::unordered_map<std::string, std::string> metadata;             // the same
  std::map<std::string, std::pair<std::string, std::string>> nodes;  // of the tree, by dotted path: text and key path
  std::vector<mx::array> used;
  std::vector<mismatch> faults;
  bool ours = false;
};

checkpoint_reader::checkpoint_reader(const std::filesystem::path& file) : contents_(std::make_unique<contents>()) {
  constexpr const char* operation = "load_safetensors";
  std::error_code fault;
  if (!std::filesystem::exists(file, fault)) fail(operation, file, "does not exist");
  if (std::filesystem::is_directory(file, fault)) fail(operation, file, "is a folder");
  auto reader = std::make_shared<file_reader>(file);
  if (!reader->is_open()) fail(operation, file, "cannot be opened; may you read it?");
  auto& [path, kept, arrays, metadata, nodes, used, faults, ours] = *contents_;
  path = file;
  kept = reader;
  try {
    std::tie(arrays, metadata) = mx::load_safetensors(reader, mx::Device(mx::Device::cpu));
  } catch (const std::exception& e) {
    fail(operation, file, std::string("is no safetensors file, or a damaged one: ") + e.what());
  }
  const auto found = metadata.find("espalier.version");
  ours = found != metadata.end();
  if (ours && found->second != version) {
    fail(operation, file,
         "was written by another version of Espalier (format " + found->second + ", this one reads " +
             std::string(version) + ")");
  }
}
checkpoint_reader::~checkpoint_reader() = default;

mx::array checkpoint_reader::array(const path_view& path, const mx::array& like) {
  const std::string expected = describe_value(like);
  auto& arrays = contents_->arrays;
  auto& metadata = contents_->metadata;
  if (const auto entry = arrays.find(tensor_name(path)); entry != arrays.end()) {
    const mx::array value = std::move(entry->second);
    arrays.erase(entry);
    if (value.dtype() == like.dtype() && value.shape() == like.shape()) {
      contents_->used.push_back(value);
      return value;
    }
    note(path, expected, describe_value(value));
  } else if (const auto text = metadata.find(text_key("leaf", path)); text != metadata.end()) {
    const std::string found = std::move(text->second);
    metadata.erase(text);
    if (like.size() == 0 && found == empty_array_text(like)) return mx::zeros(like.shape(), like.dtype());
    note(path, expected, found);
  } else {
    note(path, expected, "nothing");
  }
  return like;
}

std::optional<std::string> checkpoint_reader::text(const char* kind, const path_view& path,
                                                   const std::string& expected) {
  auto& arrays = contents_->arrays;
  auto& metadata = contents_->metadata;
  if (const auto entry = metadata.find(text_key(kind, path)); entry != metadata.end()) {
    std::string text = std::move(entry->second);
    metadata.erase(entry);
    return text;
  }
  if (const auto entry = arrays.find(tensor_name(path)); kind == std::string_view("leaf") && entry != arrays.end()) {
    note(path, expected, describe_value(entry->second));
    arrays.erase(entry);
  } else {
    note(path, expected, "nothing");
  }
  return std::nullopt;
}

void checkpoint_reader::note(const path_view& path, std::string expected, std::string found) {
  contents_->faults.push_back({path.to_string(), std::move(expected), std::move(found)});
}

void checkpoint_reader::check_node(const path_view& path, const std::string& text) {
  auto& [expected, printed] = contents_->nodes[path.dotted()];
  join(expected, text);
  printed = path.to_string();
}

void checkpoint_reader::finish() {
  auto& [path, file, arrays, metadata, nodes, used, faults, ours] = *contents_;
  if (ours) {
    for (const auto& [dotted, node] : nodes) {
      const auto entry = metadata.find("node:" + dotted);
      const std::string found = entry == metadata.end() ? "nothing" : entry->second;
      if (found != node.first) faults.push_back({node.second, node.first, found});
      if (entry != metadata.end()) metadata.erase(entry);
    }
    std::map<std::string, std::string> unexpected;
    for (const auto& [key, text] : metadata) {
      for (const std::string_view kind : {"leaf:", "aux:", "node:"}) {
        if (key.starts_with(kind)) unexpected.emplace(key.substr(kind.size()), text);
      }
    }
    for (const auto& [name, text] : unexpected) faults.push_back({name, "nothing", text});
  }
  std::map<std::string, std::string> unexpected;
  for (const auto& [name, array] : arrays) unexpected.emplace(name, describe_value(array));
  for (const auto& [name, text] : unexpected) faults.push_back({name, "nothing", text});
  if (!faults.empty()) {
    throw checkpoint_error("espalier: load_safetensors: '" + path.string() +
                               "' does not fit the tree, which was left as it is" +
                               (ours ? "" : " (the file was not written by Espalier, so it has arrays only)") + ":",
                           std::move(faults));
  }
  try {
    mx::eval(used);
  } catch (const std::exception& e) {
    fail("load_safetensors", path, std::string("cannot be read: ") + e.what());
  }
  if (file->failed())
    fail("load_safetensors", path, "is truncated or damaged: it ends before its arrays do. The tree was left as it is");
}

}  // namespace espalier::detail
