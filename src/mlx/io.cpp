#include <mlx/io.h>
#include <mlx/ops.h>
#include <mlx/transforms.h>

#include <espalier/mlx/io.hpp>
#include <fstream>
#include <ios>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace espalier::detail {

namespace mx = ::mlx::core;

// --- Files, as MLX writes to them and reads from them. -----------------------------------------------------

namespace {

constexpr std::string_view version = "1";

[[noreturn]] void fail(const char* operation, const std::filesystem::path& file, const std::string& what) {
  throw checkpoint_error("espalier: " + std::string(operation) + ": '" + file.string() + "' " + what);
}

// MLX appends a file's label to sentences such as "Invalid json header length".
std::string label_of(const std::filesystem::path& file) { return "of '" + file.filename().string() + "'"; }

// Unlike MLX's own, it writes under any name.
class file_writer : public mx::io::Writer {
 public:
  explicit file_writer(const std::filesystem::path& file)
      : out_(file, std::ios::binary | std::ios::trunc), label_(label_of(file)) {}

  bool is_open() const override { return out_.is_open(); }
  bool good() const override { return out_.good(); }
  std::size_t tell() override { return static_cast<std::size_t>(out_.tellp()); }
  void seek(std::int64_t offset, std::ios_base::seekdir way) override { out_.seekp(offset, way); }
  void write(const char* data, std::size_t n) override { out_.write(data, static_cast<std::streamsize>(n)); }
  std::string label() const override { return label_; }

  // Whether everything has been written.
  bool close() {
    out_.close();
    return out_.good();
  }

 private:
  std::ofstream out_;
  std::string label_;
};

// Unlike MLX's own, it remembers that a read failed: MLX reads arrays on other threads, which drop exceptions.
class file_reader : public mx::io::Reader {
 public:
  explicit file_reader(const std::filesystem::path& file) : in_(file, std::ios::binary), label_(label_of(file)) {}

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
  std::string label() const override { return label_; }

  bool failed() const {
    const std::lock_guard lock(mutex_);
    return failed_;
  }

 private:
  std::ifstream in_;
  std::string label_;
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
  std::unordered_map<std::string, mx::array> arrays;      // what nobody asked for yet
  std::unordered_map<std::string, std::string> metadata;  // the same
  std::map<std::string, std::string> nodes;               // of the tree, by dotted path
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
  contents_->faults.push_back({path.dotted(), std::move(expected), std::move(found)});
}

void checkpoint_reader::check_node(const path_view& path, const std::string& text) {
  join(contents_->nodes[path.dotted()], text);
}

void checkpoint_reader::finish() {
  auto& [path, file, arrays, metadata, nodes, used, faults, ours] = *contents_;
  std::vector<mismatch> all;  // nodes first: they are why other entries are missing or unexpected
  if (ours) {
    for (const auto& [dotted, expected] : nodes) {
      const auto entry = metadata.find("node:" + dotted);
      const std::string found = entry == metadata.end() ? "nothing" : entry->second;
      if (found != expected) all.push_back({dotted, expected, found});
      if (entry != metadata.end()) metadata.erase(entry);
    }
  }
  all.insert(all.end(), std::make_move_iterator(faults.begin()), std::make_move_iterator(faults.end()));
  faults = std::move(all);

  // By path and kind: one path may have a node, a leaf and an aux value.
  std::multimap<std::string, std::string> unexpected;
  for (const auto& [name, array] : arrays) unexpected.emplace(name == "." ? "" : name, describe_value(array));
  if (ours) {
    const std::pair<std::string_view, std::string_view> kinds[] = {
        {"node:", ""}, {"leaf:", "the leaf "}, {"aux:", "the aux value "}};
    for (const auto& [prefix, words] : kinds) {
      for (const auto& [key, text] : metadata) {
        if (key.starts_with(prefix)) unexpected.emplace(key.substr(prefix.size()), std::string(words) + text);
      }
    }
  }
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
