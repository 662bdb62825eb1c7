# Installation and the package that find_package(espalier) finds. Two export files: one for the core, one for
# the MLX engine, so that the core can be used where MLX is not.
include(CMakePackageConfigHelpers)
set(_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/espalier")

install(TARGETS espalier_reflect espalier EXPORT espalier-core FILE_SET HEADERS)
install(EXPORT espalier-core NAMESPACE espalier:: FILE espalier-core-targets.cmake DESTINATION "${_package_dir}")
if(ESPALIER_HAS_MLX)
  install(TARGETS espalier_mlx EXPORT espalier-mlx FILE_SET HEADERS)
  install(EXPORT espalier-mlx NAMESPACE espalier:: FILE espalier-mlx-targets.cmake DESTINATION "${_package_dir}")
endif()

configure_package_config_file(cmake/espalier-config.cmake.in espalier-config.cmake INSTALL_DESTINATION "${_package_dir}")
# 0.x: each minor version may break the one before.
write_basic_package_version_file(espalier-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/espalier-config.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/espalier-config-version.cmake" DESTINATION "${_package_dir}")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATADIR}/licenses/espalier")
