"""Espalier's core from this checkout: `conan create packaging/conan`. The MLX engine is not part of it, since MLX is in
no Conan repository."""

import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir

required_conan_version = ">=2.0"


class EspalierConan(ConanFile):
    name = "espalier"
    description = "Static pytrees for C++20: plain structs, trained flat"
    license = "BSL-1.0"
    topics = ("pytree", "reflection", "machine-learning", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps"
    no_copy_source = True

    @property
    def checkout(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        self.version = re.search(r"\n  VERSION ([\d.]+)", load(self, os.path.join(self.checkout, "CMakeLists.txt")))[1]

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "modules/espalier.cppm", "reflect/*"):
            copy(self, pattern, self.checkout, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        self.requires("boost/[>=1.88 <2]", transitive_headers=True)

    def validate(self):
        check_min_cppstd(self, 20)

    def package_id(self):
        self.info.clear()

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("BUILD_TESTS", "BUILD_BENCH", "BUILD_EXAMPLES", "FETCH_DEPENDENCIES", "MLX"):
            toolchain.cache_variables[f"ESPALIER_{part}"] = "OFF"
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        for folder in ("lib", "share/licenses"):  # CMakeDeps writes the CMake configuration itself
            rmdir(self, os.path.join(self.package_folder, folder))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "espalier")
        for name, requires in (("reflect", ["boost::headers"]), ("espalier", ["reflect"])):
            component = self.cpp_info.components[name]
            component.set_property("cmake_target_name", f"espalier::{name}")
            component.requires = requires
            component.bindirs = component.libdirs = []
