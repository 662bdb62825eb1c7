# Boost and MLX: what find_package finds; else, with ESPALIER_FETCH_DEPENDENCIES, binary packages from PyPI in a
# virtual environment inside the build tree. Sets ESPALIER_HAS_MLX. GoogleTest, RapidCheck and Google Benchmark are
# looked for where they are used: espalier_find_googletest(), espalier_find_rapidcheck(), espalier_find_benchmark().
include_guard(GLOBAL)

# Boost.Hash2, which the structure hash uses, first came with Boost 1.88. MLX promises no stable interface
# between minor versions, so the oldest that is tested is the oldest that is accepted.
set(ESPALIER_BOOST_VERSION 1.88)
set(ESPALIER_MLX_VERSION 0.32)
set(ESPALIER_BOOST_PACKAGE "cmeel-boost==1.90.0")
set(ESPALIER_MLX_PACKAGE "mlx[cpu]==0.32.4")

set(ESPALIER_VENV "${CMAKE_CURRENT_BINARY_DIR}/python"
    CACHE PATH "Where missing dependencies are installed; several build trees may share one")
mark_as_advanced(ESPALIER_VENV)

# GLOBAL: a project that adds Espalier as a subdirectory links the imported targets from its own directories.
# A package inside the environment counts only once its installation has ended well (the stamp is written last).
macro(espalier_find_dependencies)
  set(_installed "")
  set(_site "")
  if(EXISTS "${ESPALIER_VENV}/espalier-installed.txt")
    file(STRINGS "${ESPALIER_VENV}/espalier-installed.txt" _installed)
    file(GLOB _site "${ESPALIER_VENV}/lib/python3*/site-packages" "${ESPALIER_VENV}/Lib/site-packages")
  endif()
  set(_boost_paths "")
  set(_mlx_paths "")
  if(ESPALIER_BOOST_PACKAGE IN_LIST _installed)
    list(TRANSFORM _site APPEND "/cmeel.prefix" OUTPUT_VARIABLE _boost_paths)
  endif()
  if(ESPALIER_MLX_PACKAGE IN_LIST _installed)
    list(TRANSFORM _site APPEND "/mlx" OUTPUT_VARIABLE _mlx_paths)
  endif()
  find_package(Boost ${ESPALIER_BOOST_VERSION} CONFIG QUIET GLOBAL PATHS ${_boost_paths})
  if(NOT ESPALIER_MLX STREQUAL "OFF")
    find_package(MLX ${ESPALIER_MLX_VERSION} CONFIG QUIET GLOBAL PATHS ${_mlx_paths})
  endif()
endmacro()

# Installs each package into ${ESPALIER_VENV}; appends the ones that could not be had, with pip's words, to the
# variables named by `failed` and `reasons`.
function(espalier_pip_install failed reasons)
  file(LOCK "${ESPALIER_VENV}.lock" GUARD FUNCTION TIMEOUT 900)
  find_package(Python3 QUIET COMPONENTS Interpreter)
  set(python "${ESPALIER_VENV}/bin/python")
  if(CMAKE_HOST_WIN32)
    set(python "${ESPALIER_VENV}/Scripts/python.exe")
  endif()
  set(lost ${ARGN})
  if(NOT Python3_Interpreter_FOUND)
    set(why "No Python 3 interpreter was found.")
  else()
    list(JOIN ARGN " and " packages)
    message(STATUS "Espalier: installing ${packages} from PyPI into ${ESPALIER_VENV} (once; nothing outside it changes)")
    set(status 0)
    if(NOT EXISTS "${ESPALIER_VENV}/espalier-installed.txt")
      execute_process(COMMAND "${Python3_EXECUTABLE}" -m venv --clear "${ESPALIER_VENV}"
                      RESULT_VARIABLE status OUTPUT_VARIABLE why ERROR_VARIABLE why)
      if(status EQUAL 0)
        file(TOUCH "${ESPALIER_VENV}/espalier-installed.txt")
      endif()
    endif()
    if(status EQUAL 0)
      set(lost "")
      set(why "")
      foreach(package IN LISTS ARGN)
        file(STRINGS "${ESPALIER_VENV}/espalier-installed.txt" installed)
        if(package IN_LIST installed) # by another build tree, while this one waited for the lock
          continue()
        endif()
        execute_process(COMMAND "${python}" -m pip install --quiet --disable-pip-version-check "${package}"
                        RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
        if(status EQUAL 0)
          file(APPEND "${ESPALIER_VENV}/espalier-installed.txt" "${package}\n")
        else()
          list(APPEND lost "${package}")
          string(APPEND why "${text}")
        endif()
      endforeach()
    endif()
  endif()
  set(${failed} "${lost}" PARENT_SCOPE)
  set(${reasons} "${why}" PARENT_SCOPE)
endfunction()

function(espalier_explain_missing result)
  set(text "")
  if(NOT Boost_FOUND)
    string(APPEND text "  Boost >= ${ESPALIER_BOOST_VERSION} (headers and CMake configuration; on PyPI: ${ESPALIER_BOOST_PACKAGE})\n")
  endif()
  if(NOT MLX_FOUND AND NOT ESPALIER_MLX STREQUAL "OFF")
    string(APPEND text "  MLX >= ${ESPALIER_MLX_VERSION} (C++ library and CMake configuration; on PyPI: ${ESPALIER_MLX_PACKAGE})\n")
  endif()
  string(
    APPEND text
    "There are two ways to provide what is missing:\n"
    "  1. install it yourself, and name where: \"-DCMAKE_PREFIX_PATH=PREFIX1;PREFIX2\" (Boost_DIR and MLX_DIR work too);\n"
    "  2. let CMake do it: -DESPALIER_FETCH_DEPENDENCIES=ON, Python 3 with its venv module (Debian: python3-venv), "
    "and a network on which pip reaches PyPI (or a mirror that pip is set up for).\n"
    "-DESPALIER_MLX=OFF builds all but the MLX engine, with Boost alone.")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

if(NOT DEFINED ESPALIER_MLX)
  set(ESPALIER_MLX AUTO)
elseif(NOT ESPALIER_MLX MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "Espalier: ESPALIER_MLX is \"${ESPALIER_MLX}\"; it takes AUTO, ON or OFF.")
endif()

espalier_find_dependencies()
set(_wanted "")
set(_why "")
if(NOT Boost_FOUND)
  list(APPEND _wanted "${ESPALIER_BOOST_PACKAGE}")
endif()
if(NOT MLX_FOUND AND NOT ESPALIER_MLX STREQUAL "OFF")
  list(APPEND _wanted "${ESPALIER_MLX_PACKAGE}")
endif()
if(_wanted AND ESPALIER_FETCH_DEPENDENCIES)
  espalier_pip_install(_lost _why ${_wanted})
  espalier_find_dependencies()
endif()

if(NOT Boost_FOUND OR (ESPALIER_MLX STREQUAL "ON" AND NOT MLX_FOUND))
  espalier_explain_missing(_text)
  if(_why)
    string(PREPEND _why "\nWhat the attempt to install said:\n")
  endif()
  message(FATAL_ERROR "Espalier: not found:\n${_text}${_why}")
endif()

set(ESPALIER_HAS_MLX OFF)
if(MLX_FOUND AND NOT ESPALIER_MLX STREQUAL "OFF")
  set(ESPALIER_HAS_MLX ON)
  message(STATUS "Espalier: Boost ${Boost_VERSION} (${Boost_DIR}), MLX ${MLX_VERSION} (${MLX_DIR})")
else()
  message(STATUS "Espalier: Boost ${Boost_VERSION} (${Boost_DIR}), without MLX: espalier::mlx is not built")
  if(_why)
    message(STATUS "Espalier: MLX could not be installed (-DESPALIER_MLX=OFF stops the attempts):\n${_why}")
  endif()
endif()

# Pinned by the hash of the release's source archive. The download is done here, since FetchContent would end a
# failed one with a page of its own words. SYSTEM: warnings inside are not ours to fix; it stands first, since
# CMake 3.25 takes it for a part of the hash elsewhere.
macro(espalier_fetch name debian_package url hash)
  set(_ways "install it (Debian: ${debian_package}) and name where in CMAKE_PREFIX_PATH, or")
  if(NOT ESPALIER_FETCH_DEPENDENCIES)
    message(FATAL_ERROR "Espalier: ${name} was not found: ${_ways} set -DESPALIER_FETCH_DEPENDENCIES=ON.")
  endif()
  set(_archive "${PROJECT_BINARY_DIR}/_deps/${name}-${hash}.tar.gz")
  string(TOUPPER "FETCHCONTENT_SOURCE_DIR_${name}" _override)
  if(NOT EXISTS "${_archive}" AND NOT ${_override})
    message(STATUS "Espalier: ${name} was not found; downloading ${url} into the build tree (once)")
    file(DOWNLOAD "${url}" "${_archive}.part" STATUS _status)
    file(SHA256 "${_archive}.part" _hash)
    if(NOT _hash STREQUAL "${hash}")
      message(FATAL_ERROR "Espalier: ${name} was not found, and could not be downloaded (status ${_status}, SHA-256 "
                          "${_hash}): ${_ways} configure with a network that reaches ${url}.")
    endif()
    file(RENAME "${_archive}.part" "${_archive}")
  endif()
  include(FetchContent)
  FetchContent_Declare(${name} SYSTEM URL "${_archive}" URL_HASH SHA256=${hash} DOWNLOAD_EXTRACT_TIMESTAMP ON)
  set(CMAKE_COMPILE_WARNING_AS_ERROR OFF)
  FetchContent_MakeAvailable(${name})
endmacro()

function(espalier_find_googletest)
  find_package(GTest QUIET GLOBAL)
  if(NOT TARGET GTest::gtest_main)
    set(INSTALL_GTEST OFF)
    set(BUILD_GMOCK OFF)
    espalier_fetch(googletest libgtest-dev https://github.com/google/googletest/archive/refs/tags/v1.14.0.tar.gz
                   8ad598c73ad796e0d8280b082cebd82a630d73e73cd3c70057938a6501bba5d7)
  endif()
endfunction()

# It has no releases: this is its newest commit, of December 2023.
function(espalier_find_rapidcheck)
  find_package(rapidcheck QUIET GLOBAL)
  if(NOT TARGET rapidcheck)
    espalier_fetch(rapidcheck librapidcheck-dev
                   https://github.com/emil-e/rapidcheck/archive/ff6af6fc683159deb51c543b065eba14dfcf329b.tar.gz
                   7ae7a8d59560f94eb68ed09fda59abd9871fe3b0cfc5acc60506de506289aa24)
  endif()
endfunction()

function(espalier_find_benchmark)
  find_package(benchmark QUIET GLOBAL)
  if(NOT TARGET benchmark::benchmark)
    set(BENCHMARK_ENABLE_TESTING OFF)
    set(BENCHMARK_ENABLE_INSTALL OFF)
    set(BENCHMARK_ENABLE_WERROR OFF)
    espalier_fetch(benchmark libbenchmark-dev https://github.com/google/benchmark/archive/refs/tags/v1.8.3.tar.gz
                   6bc180a57d23d4d9515519f92b0c83d61b05b5bab188961f36ac7b06b0d9e9ce)
  endif()
endfunction()
