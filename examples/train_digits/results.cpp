#include "results.hpp"

#include <fstream>
#include <locale>
#include <optional>
#include <random>
#include <sstream>
#include <system_error>

namespace train_digits {
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

training_error diverged(const divergence& d) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << "epoch " << d.epoch << ", step " << d.step << ": " << d.what << ", with --learning-rate " << d.learning_rate
       << ". Training was stopped; try a smaller learning rate. ";
  if (d.saved) {
    text << "The last good checkpoint is untouched: " << full_name(d.checkpoint);
  } else {
    text << "No checkpoint was written.";
  }
  return training_error(text.str());
}

std::string counted(std::size_t n, const std::string& noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

std::string full_name(const fs::path& file) { return fs::absolute(file).lexically_normal().string(); }

}  // namespace train_digits
