#include <algorithm>
#include <charconv>
#include <espalier/mlx/checkpoint_manager.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace espalier {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view prefix = "step_";
constexpr std::string_view suffix = ".safetensors";
constexpr std::string_view temporary_suffix = ".tmp";

// Eight digits at least, so that a listing by name is one by step.
std::string name_of(std::uint64_t step) {
  std::string digits = std::to_string(step);
  if (digits.size() < 8) digits.insert(0, 8 - digits.size(), '0');
  return std::string(prefix) + digits + std::string(suffix);
}

std::optional<std::uint64_t> step_of(std::string_view name) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix)) return std::nullopt;
  std::uint64_t step = 0;
  std::from_chars(name.data() + prefix.size(), name.data() + name.size(), step);
  return name == name_of(step) ? std::optional(step) : std::nullopt;
}

// step_00000100.safetensors.1f2e3d.tmp
bool is_temporary(std::string_view name) {
  if (!name.ends_with(temporary_suffix)) return false;
  name.remove_suffix(temporary_suffix.size());
  const std::size_t dot = name.rfind('.');
  return dot != std::string_view::npos && step_of(name.substr(0, dot)).has_value();
}

// Calls f(entry, name) for each file in the folder; none, if the folder is not there.
template <class F> void each_file(const fs::path& folder, F f) {
  std::error_code fault;
  if (!fs::exists(folder, fault) && !fault) return;
  fs::directory_iterator at(folder, fault);
  for (; !fault && at != fs::directory_iterator(); at.increment(fault)) {
    std::error_code ignored;
    if (at->is_regular_file(ignored)) f(at->path(), at->path().filename().string());
  }
  if (fault) {
    throw checkpoint_error("espalier: checkpoint_manager: the folder '" + folder.string() +
                           "' cannot be read: " + fault.message());
  }
}

}  // namespace

fs::path checkpoint_manager::path(std::uint64_t step) const { return folder / name_of(step); }

std::vector<std::uint64_t> checkpoint_manager::all_steps() const {
  std::vector<std::uint64_t> steps;
  each_file(folder, [&](const fs::path&, const std::string& name) {
    if (const auto step = step_of(name)) steps.push_back(*step);
  });
  std::sort(steps.begin(), steps.end());
  return steps;
}

std::optional<std::uint64_t> checkpoint_manager::latest_step() const {
  const std::vector<std::uint64_t> steps = all_steps();
  return steps.empty() ? std::nullopt : std::optional(steps.back());
}

void checkpoint_manager::make_folder() const {
  if (max_to_keep == std::size_t{0}) {
    throw checkpoint_error(
        "espalier: checkpoint_manager: max_to_keep is 0, so nothing would be kept; leave it out to keep all");
  }
  std::error_code fault;
  fs::create_directories(folder, fault);
  if (fault) {
    throw checkpoint_error("espalier: checkpoint_manager: the folder '" + folder.string() +
                           "' cannot be made: " + fault.message());
  }
}

void checkpoint_manager::require_step(std::uint64_t step) const {
  const std::vector<std::uint64_t> steps = all_steps();
  if (std::binary_search(steps.begin(), steps.end(), step)) return;
  std::string text;
  for (const std::uint64_t there : steps) text.append(text.empty() ? "" : ", ").append(std::to_string(there));
  throw checkpoint_error("espalier: checkpoint_manager: '" + folder.string() + "' has no checkpoint of step " +
                         std::to_string(step) + "; " + (steps.empty() ? "it has none" : "it has those of " + text));
}

void checkpoint_manager::remove_old(std::uint64_t saved) const {
  std::error_code ignored;
  each_file(folder, [&](const fs::path& file, const std::string& name) {
    if (is_temporary(name)) fs::remove(file, ignored);
  });
  if (!max_to_keep) return;
  std::vector<std::uint64_t> others = all_steps();
  std::erase(others, saved);
  for (std::size_t i = 0; i + *max_to_keep <= others.size(); ++i) fs::remove(path(others[i]), ignored);
}

}  // namespace espalier
