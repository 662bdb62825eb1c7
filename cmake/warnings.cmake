# Warnings for Espalier's own code. An internal target: never exported, so that nobody else inherits it. Warnings
# are errors where the presets `test` and those of the continuous integration say so, not for every user.
add_library(espalier_warnings INTERFACE)
target_compile_options(
  espalier_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-Wall;-Wextra;-Wpedantic;-Wconversion;-Wshadow>)
