# Espalier's core from the checkout that this port lies in: `vcpkg install espalier --overlay-ports=packaging/vcpkg`.
# The MLX engine is not part of it, since vcpkg has no MLX.
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../.." ABSOLUTE)
set(VCPKG_BUILD_TYPE release) # header-only

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS -DESPALIER_BUILD_TESTS=OFF -DESPALIER_BUILD_BENCH=OFF -DESPALIER_BUILD_EXAMPLES=OFF
          -DESPALIER_FETCH_DEPENDENCIES=OFF -DESPALIER_MLX=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/espalier)

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/lib" "${CURRENT_PACKAGES_DIR}/share/licenses")
file(INSTALL "${CURRENT_PORT_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
