"""Puts libmotus into the package: a copy of the one that MOTUS_LIBRARY names, or one built here by CMake from the sources around this folder. With MOTUS_LIBRARY=system
there is none, and the package takes what the system's loader finds. MOTUS_CMAKE_ARGS: further settings for CMake, such as -DMOTUS_CUDA=OFF."""
# SPDX-License-Identifier: BSD-2-Clause
import os
import shlex
import shutil
import subprocess

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


def build_library(folder: str) -> str:
    """Builds the shared library in `folder`; returns its path."""
    if not os.path.exists(os.path.join(ROOT, "encoder", "CMakeLists.txt")):
        raise SystemExit("motus: the library's sources are not around this folder; name an installed one: MOTUS_LIBRARY=/path/to/libmotus.so (or system)")
    ninja = ["-G", "Ninja"] if shutil.which("ninja") else []
    subprocess.run(["cmake", *ninja, "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", "-DMOTUS_TOOLS=OFF", "-DMOTUS_TESTS=OFF", "-DMOTUS_MEDIA=OFF",
                    "-DMOTUS_MPI=OFF", "-DMOTUS_GSTREAMER=OFF", *shlex.split(os.environ.get("MOTUS_CMAKE_ARGS", ""))], check=True)
    subprocess.run(["cmake", "--build", folder, "--target", "motus_shared", "--parallel"], check=True)
    return os.path.join(folder, "libmotus.so")


class BuildWithLibrary(build_py):

    def run(self) -> None:
        super().run()
        given = os.environ.get("MOTUS_LIBRARY")
        if given == "system":
            return
        library = given or build_library(os.path.abspath(os.path.join(self.get_finalized_command("build").build_temp, "library")))
        shutil.copyfile(os.path.realpath(library), os.path.join(self.build_lib, "motus", "libmotus.so"))


class BinaryDistribution(Distribution):
    """Not for every machine, whatever setuptools thinks of a package without extension modules."""

    def has_ext_modules(self) -> bool:
        return True


setup(cmdclass={"build_py": BuildWithLibrary}, distclass=BinaryDistribution)
