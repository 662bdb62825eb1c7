#include "results.hpp"

#include <fstream>
#include <random>
#include <system_error>

namespace examples {
namespace fs = std::filesystem;

void require_writable(const fs::path& file, const std::string& option) {
  std::error_code ignored;
  if (fs::is_directory(file, ignored)) {
    throw training_error("option " + option + ": " + full_name(file) + " is a folder; name a file.");
  }
  fs::path probe = file;
  probe += std::to_string(std::random_device{}()).append(".tmp");
  const bool made = static_cast<bool>(std::ofstream(probe) << std::flush);
  fs::remove(probe, ignored);
  if (!made) {
    throw training_error("option " + option + ": " + full_name(file) +
                         " cannot be written. Check that its folder exists and that you may write there, or name "
                         "another file.");
  }
}

std::optional<fs::path> keep_previous(const fs::path& file) {
  if (!fs::exists(file)) return std::nullopt;
  fs::path previous = file;
  previous += ".previous";
  fs::rename(file, previous);
  return previous;
}

std::string counted(std::size_t n, const std::string& noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

std::string full_name(const fs::path& file) { return fs::absolute(file).lexically_normal().string(); }

}  // namespace examples
