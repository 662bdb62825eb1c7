#include "atomic_file.hpp"

#include <cerrno>
#include <espalier/typed_text.hpp>
#include <random>
#include <system_error>
#include <utility>

#ifdef _WIN32
#include <io.h>
#else
#include <fcntl.h>
#include <unistd.h>
#endif

namespace espalier::detail {

namespace {

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

bool synchronise(std::FILE* file) {
#ifdef _WIN32
  return _commit(_fileno(file)) == 0;
#else
  return fsync(fileno(file)) == 0;
#endif
}

// Makes a renaming last. There are file systems that cannot; nothing is lost on them but that.
void synchronise_folder([[maybe_unused]] const std::filesystem::path& folder) {
#ifndef _WIN32
  const int descriptor = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
#endif
}

}  // namespace

atomic_file::atomic_file(std::filesystem::path file) : file_(std::move(file)), temporary_(file_) {
  std::string suffix = ".";
  append_number(suffix, std::random_device{}(), 16);
  temporary_ += suffix + ".tmp";
  out_ = std::fopen(temporary_.string().c_str(), "wbx");
  if (out_ == nullptr) fail("no file can be made in its folder");
}

atomic_file::~atomic_file() {
  if (out_ == nullptr) return;
  std::fclose(out_);
  std::error_code ignored;
  std::filesystem::remove(temporary_, ignored);
}

void atomic_file::commit() {
  if (std::fflush(out_) != 0 || !synchronise(out_)) fail("not all of it could be written");
  std::FILE* const out = std::exchange(out_, nullptr);
  std::error_code fault;
  if (std::fclose(out) == 0) {
    std::filesystem::rename(temporary_, file_, fault);
  } else {
    fault.assign(errno, std::generic_category());
  }
  if (fault) {
    std::error_code ignored;
    std::filesystem::remove(temporary_, ignored);
    throw std::system_error(fault, "what was written could not be renamed");
  }
  synchronise_folder(file_.parent_path());
}

std::size_t atomic_file::tell() { return static_cast<std::size_t>(std::ftell(out_)); }

void atomic_file::seek(std::int64_t offset, std::ios_base::seekdir way) {
  const int origin = way == std::ios_base::beg ? SEEK_SET : way == std::ios_base::end ? SEEK_END : SEEK_CUR;
  if (std::fseek(out_, static_cast<long>(offset), origin) != 0) fail("it could not be written");
}

void atomic_file::write(const char* data, std::size_t n) {
  if (std::fwrite(data, 1, n, out_) != n) fail("not all of it could be written");
}

std::string atomic_file::label() const { return "of '" + file_.filename().string() + "'"; }

}  // namespace espalier::detail
