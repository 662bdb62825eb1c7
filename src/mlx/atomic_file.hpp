// A file that appears under its name only when all of it is on the disk: it is written beside it, synchronised and
// renamed. MLX writes to it as to every io::Writer.
//
//   const auto out = std::make_shared<atomic_file>("model.safetensors");
//   mx::save_safetensors(out, arrays);
//   out->commit();                      // without it nothing is left
#pragma once

#include <mlx/io/load.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <ios>
#include <string>

namespace espalier::detail {

class atomic_file : public ::mlx::core::io::Writer {
 public:
  // Throws std::system_error if no file can be made in the folder; so do the others if writing fails.
  explicit atomic_file(std::filesystem::path file);
  ~atomic_file() override;
  atomic_file(const atomic_file&) = delete;
  atomic_file& operator=(const atomic_file&) = delete;

  // Replaces the file under the name.
  void commit();

  bool is_open() const override { return out_ != nullptr; }
  bool good() const override { return is_open(); }
  std::size_t tell() override;
  void seek(std::int64_t offset, std::ios_base::seekdir way) override;
  void write(const char* data, std::size_t n) override;
  std::string label() const override;

 private:
  std::filesystem::path file_;
  std::filesystem::path temporary_;
  std::FILE* out_ = nullptr;
};

}  // namespace espalier::detail
