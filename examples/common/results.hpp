// What a run writes, and how it says so: folders are tried before training, an older checkpoint is kept.
//
//   require_writable("model.safetensors", "--checkpoint");
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

namespace examples {

// A result that cannot be written, or a run that cannot go on. what() says what to do.
struct training_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws training_error, which names the option, if no file can be made where `file` is to be, or if it is a folder.
// Makes and removes a file beside it; `file` itself is not touched.
void require_writable(const std::filesystem::path& file, const std::string& option);

// Renames `file` to `file`.previous, in place of what had that name. Gives that name, or nothing if there was no file.
std::optional<std::filesystem::path> keep_previous(const std::filesystem::path& file);

// "1 trace", "2 traces".
std::string counted(std::size_t n, const std::string& noun);

// The whole path, as it is printed.
std::string full_name(const std::filesystem::path& file);

}  // namespace examples
