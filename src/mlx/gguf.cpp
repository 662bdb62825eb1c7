#include <mlx/io.h>
#include <mlx/ops.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <espalier/mlx/gguf.hpp>
#include <exception>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace espalier {

namespace mx = ::mlx::core;

namespace {

std::string operation_on(const std::filesystem::path& file) { return "espalier: load_gguf: '" + file.string() + "'"; }

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& what) {
  throw checkpoint_error(operation_on(file) + " " + what);
}

// --- The header. ------------------------------------------------------------------------------------------------------

// The library below MLX trusts a header: names and offsets beyond the file, an alignment of zero or an unknown type end the
// program. So all of it is looked at first:
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.

enum value_type : std::uint32_t { boolean = 7, string = 8, list = 9, end_of_types = 13, unsigned_32 = 4 };

// Bytes of a value, by type; 0 for those that say their length.
constexpr std::array<std::uint64_t, end_of_types> value_bytes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

struct tensor_type {
  std::uint32_t id;
  const char* name;
  std::uint64_t block;  // weights
  std::uint64_t bytes;  // of a block
};

// Those that MLX reads.
constexpr std::uint32_t bf16 = 30;
constexpr std::array<tensor_type, 12> tensor_types = {{{0, "F32", 1, 4},
                                                       {1, "F16", 1, 2},
                                                       {2, "Q4_0", 32, 18},
                                                       {3, "Q4_1", 32, 20},
                                                       {8, "Q8_0", 32, 34},
                                                       {10, "Q2_K", 256, 84},
                                                       {12, "Q4_K", 256, 144},
                                                       {14, "Q6_K", 256, 210},
                                                       {24, "I8", 1, 1},
                                                       {25, "I16", 1, 2},
                                                       {26, "I32", 1, 4},
                                                       {bf16, "BF16", 1, 2}}};

struct tensor_info {
  std::string name;
  std::vector<std::uint64_t> shape;  // GGUF's order: the fastest first
  std::uint32_t type = 0;
  std::uint64_t offset = 0;  // in the file, once the header is read
};

// Reads a file from its beginning; nothing beyond its end.
class header_reader {
 public:
  explicit header_reader(const std::filesystem::path& file)
      : path_(file), in_(file, std::ios::binary), size_(std::filesystem::file_size(file)) {}

  std::vector<tensor_info> read() {
    if (size_ < 24 || bytes(4) != "GGUF") fail(path_, "is no GGUF file");
    if (const auto version = number<std::uint32_t>(); version != 2 && version != 3) {
      fail(path_, "is a GGUF file of version " + std::to_string(version) + "; versions 2 and 3 can be read");
    }
    const auto tensors = number<std::uint64_t>();
    const auto values = number<std::uint64_t>();
    for (std::uint64_t i = 0; i < values; ++i) value();
    std::vector<tensor_info> infos;
    for (std::uint64_t i = 0; i < tensors; ++i) infos.push_back(info());
    const std::uint64_t data = at_ + (alignment_ - at_ % alignment_) % alignment_;
    std::vector<mismatch> faults;
    std::set<std::string_view> names;
    for (tensor_info& tensor : infos) {
      if (!names.insert(tensor.name).second) faults.push_back({tensor.name, "one tensor", "another of the same name"});
      check(tensor, data, faults);
    }
    if (!faults.empty()) {
      throw checkpoint_error(operation_on(path_) + " is a damaged GGUF file, or one that MLX cannot read:",
                             std::move(faults));
    }
    return infos;
  }

 private:
  [[noreturn]] void damaged(const std::string& what) const {
    fail(path_, "is a damaged GGUF file: " + what + " at byte " + std::to_string(at_) + " of " + std::to_string(size_));
  }

  void require(std::uint64_t n) const {
    if (n > size_ - at_) damaged("it ends too early (is it truncated?),");
  }
  std::string bytes(std::uint64_t n) {
    require(n);
    std::string text(n, '\0');
    if (!in_.read(text.data(), static_cast<std::streamsize>(n))) fail(path_, "cannot be read");
    at_ += n;
    return text;
  }
  template <class T> T number() {
    T value;
    const std::string from = bytes(sizeof(T));
    std::memcpy(&value, from.data(), sizeof(T));
    return value;
  }
  std::string text() { return bytes(number<std::uint64_t>()); }

  void value() {
    const std::string key = text();
    if (!keys_.insert(key).second) damaged("the key '" + key + "' comes a second time,");
    const auto type = number<std::uint32_t>();
    if (key == "general.alignment" && type == unsigned_32) {
      alignment_ = number<std::uint32_t>();
      if (alignment_ == 0 || (alignment_ & (alignment_ - 1)) != 0) {
        damaged("an alignment of " + std::to_string(alignment_) + ", which is no power of two,");
      }
    } else if (type == list) {
      const auto element = number<std::uint32_t>();
      const auto count = number<std::uint64_t>();
      if (element == list) fail(path_, "has an array of arrays, '" + key + "', which MLX does not read");
      if (count > static_cast<std::uint64_t>(std::numeric_limits<mx::ShapeElem>::max())) {
        damaged("the array '" + key + "' of " + std::to_string(count) + " elements");
      }
      elements(key, element, count);
    } else {
      elements(key, type, 1);
    }
  }

  void elements(const std::string& key, std::uint32_t type, std::uint64_t count) {
    if (type >= end_of_types || type == list) damaged("'" + key + "' has the unknown type " + std::to_string(type));
    if (type == string) {
      for (std::uint64_t i = 0; i < count; ++i) text();
      return;
    }
    require(count * value_bytes[type]);
    const std::string held = bytes(count * value_bytes[type]);
    if (type == boolean && held.find_first_not_of(std::string_view("\0\1", 2)) != std::string::npos) {
      damaged("'" + key + "' has a bool that is neither true nor false");
    }
  }

  tensor_info info() {
    tensor_info tensor;
    tensor.name = text();
    const auto dimensions = number<std::uint32_t>();
    if (dimensions > 8) damaged("'" + tensor.name + "' has " + std::to_string(dimensions) + " dimensions");
    for (std::uint32_t i = 0; i < dimensions; ++i) tensor.shape.push_back(number<std::uint64_t>());
    tensor.type = number<std::uint32_t>();
    tensor.offset = number<std::uint64_t>();
    return tensor;
  }

  // Turns the offset into the file's.
  void check(tensor_info& tensor, std::uint64_t data, std::vector<mismatch>& faults) const {
    const auto fault = [&](std::string expected, std::string found) {
      faults.push_back({tensor.name, std::move(expected), std::move(found)});
    };
    const auto* const type = std::find_if(tensor_types.begin(), tensor_types.end(),
                                          [&](const tensor_type& t) { return t.id == tensor.type; });
    if (type == tensor_types.end()) {
      std::string names;
      for (const tensor_type& t : tensor_types) names.append(names.empty() ? "" : ", ").append(t.name);
      return fault("one of the types that MLX reads (" + names + ")", "type " + std::to_string(tensor.type));
    }
    std::uint64_t weights = 1;
    for (const std::uint64_t extent : tensor.shape) {
      if (extent > static_cast<std::uint64_t>(std::numeric_limits<mx::ShapeElem>::max())) {
        return fault("extents below 2147483648", "one of " + std::to_string(extent));
      }
      if (extent != 0 && weights > size_ * type->block / extent) {  // each block takes a byte at least
        return fault("a tensor that fits into the file's " + std::to_string(size_) + " bytes", "a larger one");
      }
      weights *= extent;
    }
    if (type->block > 1 && (tensor.shape.empty() || tensor.shape[0] % type->block != 0)) {
      return fault(std::string(type->name) + " rows of a multiple of " + std::to_string(type->block) + " weights",
                   "rows of " + std::to_string(tensor.shape.empty() ? 1 : tensor.shape[0]));
    }
    const std::uint64_t size = weights / type->block * type->bytes;
    if (data > size_ || tensor.offset > size_ - data || size > size_ - data - tensor.offset) {
      return fault("a tensor within the file (is it truncated?)",
                   std::to_string(size) + " bytes at offset " + std::to_string(tensor.offset));
    }
    tensor.offset += data;
  }

  std::filesystem::path path_;
  std::ifstream in_;
  std::uint64_t size_;
  std::uint64_t at_ = 0;
  std::uint64_t alignment_ = 32;
  std::set<std::string> keys_;
};

// MLX makes float16 of these, which does not hold what they do.
mx::array read_bf16(const std::filesystem::path& file, const tensor_info& tensor) {
  mx::Shape shape;
  std::size_t size = 1;
  for (auto extent = tensor.shape.rbegin(); extent != tensor.shape.rend(); ++extent) {
    shape.push_back(static_cast<mx::ShapeElem>(*extent));
    size *= *extent;
  }
  std::vector<std::uint16_t> bits(size);
  std::ifstream in(file, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(tensor.offset));
  if (!in.read(reinterpret_cast<char*>(bits.data()), static_cast<std::streamsize>(2 * size)))
    fail(file, "cannot be read");
  return mx::view(mx::array(bits.begin(), shape, mx::uint16), mx::bfloat16);
}

}  // namespace

struct gguf_file::contents {
  std::filesystem::path path;
  std::unordered_map<std::string, mx::array> arrays;
  std::unordered_map<std::string, mx::GGUFMetaData> metadata;

  const mx::GGUFMetaData& at(const std::string& key) const {
    const auto found = metadata.find(key);
    if (found == metadata.end()) {
      throw checkpoint_error("espalier: gguf_file::get: '" + path.string() + "' has no key '" + key +
                             "' in its metadata");
    }
    return found->second;
  }
};

gguf_file::gguf_file(const std::filesystem::path& file) {
  std::error_code fault;
  if (!std::filesystem::exists(file, fault)) fail(file, "does not exist");
  if (!std::filesystem::is_regular_file(file, fault)) {
    fail(file, std::filesystem::is_directory(file, fault) ? "is a folder" : "is no regular file");
  }
  if (!std::ifstream(file).is_open()) fail(file, "cannot be opened; may you read it?");
  const std::vector<tensor_info> tensors = header_reader(file).read();
  auto read = std::make_shared<contents>();
  read->path = file;
  try {
    std::tie(read->arrays, read->metadata) = mx::load_gguf(file.string());
  } catch (const std::exception& e) {
    fail(file, std::string("cannot be read (MLX opens it for writing; may you?): ") + e.what());
  }
  for (const tensor_info& tensor : tensors) {
    if (tensor.type == bf16) read->arrays.insert_or_assign(tensor.name, read_bf16(file, tensor));
  }
  contents_ = std::move(read);
}

std::vector<std::string> gguf_file::keys() const {
  std::vector<std::string> keys;
  for (const auto& entry : contents_->metadata) keys.push_back(entry.first);
  std::sort(keys.begin(), keys.end());
  return keys;
}

bool gguf_file::contains(std::string_view key) const { return contents_->metadata.count(std::string(key)) != 0; }

detail::named_entries gguf_file::entries() const { return {contents_->arrays, {}, false}; }

std::string gguf_file::name() const { return operation_on(contents_->path); }

void gguf_file::wrong_type(const std::string& key, const std::string& expected) const {
  const mx::GGUFMetaData& held = contents_->at(key);
  std::string found = "nothing";
  if (const auto* text = std::get_if<std::string>(&held)) {
    found = describe_value(*text);
  } else if (const auto* all = std::get_if<std::vector<std::string>>(&held)) {
    found = std::to_string(all->size()) + " strings";
  } else if (const auto* array = std::get_if<mx::array>(&held)) {
    found = describe_value(*array);
    if (array->ndim() == 0) {
      found = std::visit([](auto value) { return describe_value(value); }, number(key)) + " (" + found + ")";
    }
  }
  throw checkpoint_error("espalier: gguf_file::get: '" + contents_->path.string() + "': '" + key + "': expected " +
                         expected + ", found " + found);
}

std::variant<bool, std::int64_t, std::uint64_t, double> gguf_file::number(const std::string& key) const {
  const auto* const held = std::get_if<mx::array>(&contents_->at(key));
  if (held == nullptr || held->ndim() != 0) wrong_type(key, "one number or bool");
  mx::array value = *held;
  if (value.dtype() == mx::bool_) return value.item<bool>();
  if (value.dtype() == mx::uint64) return value.item<std::uint64_t>();
  if (mx::issubdtype(value.dtype(), mx::integer)) return mx::astype(value, mx::int64).item<std::int64_t>();
  return static_cast<double>(mx::astype(value, mx::float32).item<float>());
}

const std::string& gguf_file::text(const std::string& key) const {
  const auto* const held = std::get_if<std::string>(&contents_->at(key));
  if (held == nullptr) wrong_type(key, "a string");
  return *held;
}

const std::vector<std::string>& gguf_file::texts(const std::string& key) const {
  const auto* const held = std::get_if<std::vector<std::string>>(&contents_->at(key));
  if (held == nullptr) wrong_type(key, "an array of strings");
  return *held;
}

const mx::array& gguf_file::array(const std::string& key) const {
  const auto* const held = std::get_if<mx::array>(&contents_->at(key));
  if (held == nullptr) wrong_type(key, "numbers");
  return *held;
}

}  // namespace espalier
