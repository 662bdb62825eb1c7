// A fuzz target under clang's libFuzzer: fuzz.path.libfuzzer -runs=10000000 FOLDER

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)fuzz::read({reinterpret_cast<const char*>(data), size});
  return 0;
}
