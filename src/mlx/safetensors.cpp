#include <mlx/io.h>
#include <mlx/transforms.h>

#include <algorithm>
#include <cstdint>
#include <espalier/detail/json.hpp>
#include <espalier/mlx/safetensors.hpp>
#include <exception>
#include <fstream>
#include <ios>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "atomic_file.hpp"

namespace espalier::detail {

namespace mx = ::mlx::core;

namespace {

constexpr std::string_view version = "1";
constexpr std::uint64_t longest_header = 100'000'000;  // as the format's own reader has it

std::string operation_on(const char* operation, const std::filesystem::path& file) {
  return "espalier: " + std::string(operation) + ": '" + file.string() + "'";
}

[[noreturn]] void fail(const char* operation, const std::filesystem::path& file, const std::string& what) {
  throw checkpoint_error(operation_on(operation, file) + " " + what);
}

}  // namespace

// Unlike MLX's own, it remembers that a read failed: MLX reads arrays on other threads, which drop exceptions.
class file_reader : public mx::io::Reader {
 public:
  explicit file_reader(const std::filesystem::path& file)
      : in_(file, std::ios::binary), label_("of '" + file.filename().string() + "'") {}

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

// --- The header. ------------------------------------------------------------------------------------------------------

// MLX trusts a header in much (sizes that overflow, arrays that overlap, names that come twice), and stops at the first
// fault. Here every entry is looked at: https://huggingface.co/docs/safetensors, "Format".
namespace {

struct header_fault {
  std::string reason;
  std::size_t line, column;
  header_fault(std::string why, std::size_t at_line, std::size_t at_column)
      : reason(std::move(why)), line(at_line), column(at_column) {}
};

struct header_entry {
  std::string name;
  std::optional<std::string> dtype;
  std::optional<std::vector<std::uint64_t>> shape;
  std::optional<std::vector<std::uint64_t>> offsets;
};

// Bytes of an element; nothing for those that MLX does not have.
std::optional<std::uint64_t> element_bytes(std::string_view dtype) {
  constexpr std::pair<std::string_view, std::uint64_t> all[] = {
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E4M3", 1}, {"F8_E8M0", 1}, {"U16", 2}, {"I16", 2}, {"F16", 2},
      {"BF16", 2}, {"U32", 4}, {"I32", 4}, {"F32", 4},     {"U64", 8},     {"I64", 8}, {"C64", 8}};
  for (const auto& [name, bytes] : all) {
    if (name == dtype) return bytes;
  }
  return std::nullopt;
}

std::vector<header_entry> parse_header(std::string_view text) {
  json_reader<header_fault> json(text);
  std::vector<header_entry> entries;
  const auto numbers = [&] {
    std::vector<std::uint64_t> list;
    json.array([&] { list.push_back(json.whole_number()); });
    return list;
  };
  json.object([&](const std::string& name, std::size_t) {
    if (name == "__metadata__") {
      if (!json.null()) json.object([&](const std::string&, std::size_t) { json.string(); });
      return;
    }
    header_entry entry{name, {}, {}, {}};
    try {
      json.object([&](const std::string& member, std::size_t at) {
        if (member == "dtype") {
          entry.dtype = json.string();
        } else if (member == "shape") {
          entry.shape = numbers();
        } else if (member == "data_offsets") {
          entry.offsets = numbers();
        } else {
          json.fail("a tensor has dtype, shape and data_offsets only", at);
        }
      });
    } catch (header_fault& f) {
      f.reason += ", in the entry of '" + name + "'";
      throw;
    }
    entries.push_back(std::move(entry));
  });
  json.end();
  return entries;
}

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  std::string text = "[";
  for (const std::uint64_t extent : shape) text.append(text.size() > 1 ? ", " : "").append(std::to_string(extent));
  return text + "]";
}

std::string bytes_text(std::uint64_t begin, std::uint64_t end) {
  return "bytes " + std::to_string(begin) + " to " + std::to_string(end);
}

// What an entry is without its neighbours; nothing is wrong with it if `faults` does not grow.
void check_entry(const header_entry& entry, std::uint64_t data_bytes, std::vector<mismatch>& faults) {
  const auto fault = [&](std::string expected, std::string found) {
    faults.push_back({entry.name, std::move(expected), std::move(found)});
  };
  if (!entry.dtype || !entry.shape || !entry.offsets || entry.offsets->size() != 2) {
    return fault("dtype, shape, and data_offsets of two numbers", "an entry without all of them");
  }
  const std::optional<std::uint64_t> element = element_bytes(*entry.dtype);
  if (!element) return fault("a dtype that MLX has", "'" + *entry.dtype + "'");
  const std::uint64_t begin = (*entry.offsets)[0];
  const std::uint64_t end = (*entry.offsets)[1];
  std::uint64_t bytes = *element;
  for (const std::uint64_t extent : *entry.shape) {
    if (extent > static_cast<std::uint64_t>(std::numeric_limits<mx::ShapeElem>::max())) {
      return fault("extents below 2147483648", "shape " + shape_text(*entry.shape));
    }
    if (extent != 0 && bytes > std::numeric_limits<std::uint64_t>::max() / extent) {
      return fault("an array that a file can hold", "shape " + shape_text(*entry.shape));
    }
    bytes *= extent;
  }
  if (begin > end || end - begin != bytes) {
    return fault(std::to_string(bytes) + " bytes for " + *entry.dtype + shape_text(*entry.shape),
                 bytes_text(begin, end));
  }
  if (end > data_bytes) {
    return fault(
        "arrays within the " + std::to_string(data_bytes) + " bytes behind the header (is the file truncated?)",
        bytes_text(begin, end));
  }
}

// Arrays follow one another without overlap or hole to the end of the file.
void check_layout(std::vector<header_entry>& entries, std::uint64_t data_bytes, std::vector<mismatch>& faults) {
  std::sort(entries.begin(), entries.end(), [](const header_entry& a, const header_entry& b) {
    return std::tie(*a.offsets, a.name) < std::tie(*b.offsets, b.name);
  });
  std::uint64_t expected = 0;
  std::string before = "the header";
  for (const header_entry& entry : entries) {
    const std::uint64_t begin = (*entry.offsets)[0];
    const std::uint64_t end = (*entry.offsets)[1];
    if (begin != expected) {
      faults.push_back({entry.name, "to begin at byte " + std::to_string(expected) + ", behind " + before,
                        bytes_text(begin, end) + (begin < expected ? ", which overlap" : ", behind a gap")});
    }
    expected = std::max(expected, end);
    before = "'" + entry.name + "'";
  }
  if (faults.empty() && expected != data_bytes) {
    faults.push_back({"(end)", "the file to end with " + before,
                      std::to_string(data_bytes - expected) + " bytes more that belong to no array"});
  }
}

// Throws checkpoint_error for a file that MLX must not see. Leaves `in` at the beginning, for MLX.
void check_header(const std::filesystem::path& file, mx::io::Reader& in) {
  constexpr const char* operation = "load_safetensors";
  in.seek(0, std::ios::end);
  const std::uint64_t file_bytes = in.tell();
  in.seek(0, std::ios::beg);
  const std::string damaged = "is no safetensors file, or a damaged one: ";
  std::uint64_t length = 0;
  if (file_bytes < sizeof(length)) fail(operation, file, damaged + "it has " + std::to_string(file_bytes) + " bytes");
  in.read(reinterpret_cast<char*>(&length), sizeof(length));
  const std::uint64_t rest = file_bytes - sizeof(length);
  if (length > std::min(rest, longest_header)) {
    fail(operation, file,
         damaged + "its header should have " + std::to_string(length) + " bytes, " +
             (length > rest ? "but " + std::to_string(rest) + " follow (is it truncated?)"
                            : "more than the " + std::to_string(longest_header) + " that the format allows"));
  }
  std::string text(length, '\0');
  in.read(text.data(), length);
  in.seek(0, std::ios::beg);

  std::vector<header_entry> entries;
  try {
    entries = parse_header(text);
  } catch (const header_fault& f) {
    fail(operation, file,
         damaged + "its header is not as it should be in line " + std::to_string(f.line) + ", column " +
             std::to_string(f.column) + ": " + f.reason);
  }
  const std::uint64_t data_bytes = rest - length;
  std::vector<mismatch> faults;
  for (const header_entry& entry : entries) check_entry(entry, data_bytes, faults);
  if (faults.empty()) check_layout(entries, data_bytes, faults);
  if (!faults.empty()) {
    throw checkpoint_error(
        operation_on(operation, file) + " is a damaged safetensors file, or one that MLX cannot read:",
        std::move(faults));
  }
}

}  // namespace

// --- Reading. ---------------------------------------------------------------------------------------------------------

safetensors_file::safetensors_file(const std::filesystem::path& file) : path_(file) {
  constexpr const char* operation = "load_safetensors";
  std::error_code fault;
  if (!std::filesystem::exists(file, fault)) fail(operation, file, "does not exist");
  if (!std::filesystem::is_regular_file(file, fault)) {
    fail(operation, file, std::filesystem::is_directory(file, fault) ? "is a folder" : "is no regular file");
  }
  reader_ = std::make_shared<file_reader>(file);
  if (!reader_->is_open()) fail(operation, file, "cannot be opened; may you read it?");
  try {
    check_header(file, *reader_);
    std::tie(entries.arrays, entries.texts) = mx::load_safetensors(reader_, mx::Device(mx::Device::cpu));
  } catch (const checkpoint_error&) {
    throw;
  } catch (const std::exception& e) {
    fail(operation, file, std::string("is no safetensors file, or a damaged one: ") + e.what());
  }
  const auto found = entries.texts.find("espalier.version");
  entries.typed = found != entries.texts.end();
  if (entries.typed && found->second != version) {
    fail(operation, file,
         "was written by another version of Espalier (format " + found->second + ", this one reads " +
             std::string(version) + ")");
  }
}

std::string safetensors_file::name() const { return operation_on("load_safetensors", path_); }

void safetensors_file::require_whole() const {
  if (reader_->failed()) {
    fail("load_safetensors", path_,
         "is truncated or damaged: it ends before its arrays do. The tree was left as it is");
  }
}

// --- Writing. ---------------------------------------------------------------------------------------------------------

std::string not_written(const std::filesystem::path& file) {
  return operation_on("save_safetensors", file) + " was not written";
}

void write_safetensors(const std::filesystem::path& file, named_entries entries, std::uint64_t structure_hash) {
  auto& [arrays, metadata, typed] = entries;
  metadata.emplace("espalier.version", version);
  std::string& hash = metadata["espalier.structure_hash"];
  append_number(hash, structure_hash, 16);
  hash.insert(0, 16 - hash.size(), '0');

  // Evaluated before the file is touched: a traced or failing array throws here.
  std::vector<mx::array> pending;
  pending.reserve(arrays.size());
  for (const auto& entry : arrays) pending.push_back(entry.second);
  mx::eval(std::move(pending));

  try {
    const auto out = std::make_shared<atomic_file>(file);
    mx::save_safetensors(out, arrays, metadata);
    out->commit();
  } catch (const std::exception& e) {
    throw checkpoint_error(operation_on("save_safetensors", file) + " could not be written: " + e.what());
  }
}

}  // namespace espalier::detail
