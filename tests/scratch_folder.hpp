// A folder of one test's own, gone when the test ends.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

struct scratch_folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("espalier_" + std::to_string(std::random_device{}()) + "_" +
                                                testing::UnitTest::GetInstance()->current_test_info()->name());

  scratch_folder() { std::filesystem::create_directories(path); }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  ~scratch_folder() { std::filesystem::remove_all(path); }

  std::filesystem::path file(const std::string& name, const std::string& text) const {
    std::ofstream(path / name, std::ios::binary) << text;
    return path / name;
  }
};

inline std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
