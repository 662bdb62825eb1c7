# CUDA, for the tests and the example of device code: where CMake finds nvcc 13, and a host compiler that it takes. An
# internal target, espalier_cuda, has what a user's own target needs too. (The standard is an option here, since CMake
# 3.25 knows of no nvcc with C++20.)
include_guard(GLOBAL)

include(CheckLanguage)
check_language(CUDA)
if(CMAKE_CUDA_COMPILER)
  enable_language(CUDA)
endif()
if(CMAKE_CUDA_COMPILER AND NOT CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 13)
  add_library(espalier_cuda INTERFACE)
  target_compile_options(espalier_cuda INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20;--expt-relaxed-constexpr>)
  message(STATUS "Espalier: CUDA ${CMAKE_CUDA_COMPILER_VERSION} (${CMAKE_CUDA_COMPILER})")
else()
  message(STATUS "Espalier: without CUDA 13: the tests and the example of device code are not built")
endif()
