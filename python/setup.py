"""Puts libmotus into the package: a copy of MOTUS_LIBRARY, or one that CMake builds from the
sources around this folder. MOTUS_LIBRARY=system: none, the system's loader finds it.
MOTUS_CMAKE_ARGS: further settings for CMake, such as -DMOTUS_CUDA=OFF."""
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
        raise SystemExit("motus: the library's sources are not around this folder; name an "
                         "installed one: MOTUS_LIBRARY=/path/to/libmotus.so (or system)")
    ninja = ["-G", "Ninja"] if shutil.which("ninja") else []
    parts = [f"-DMOTUS_{part}=OFF" for part in ("TOOLS", "TESTS", "MEDIA", "MPI", "GSTREAMER")]
    more = shlex.split(os.environ.get("MOTUS_CMAKE_ARGS", ""))
    subprocess.run(["cmake", *ninja, "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", *parts,
                    *more], check=True)
    build = ["cmake", "--build", folder, "--target", "motus_shared", "--parallel"]
    subprocess.run(build, check=True)
    return os.path.join(folder, "libmotus.so")


class BuildWithLibrary(build_py):

    def run(self) -> None:
        super().run()
        library = os.environ.get("MOTUS_LIBRARY")
        if library == "system":
            return
        if not library:
            folder = os.path.join(self.get_finalized_command("build").build_temp, "library")
            library = build_library(os.path.abspath(folder))
        target = os.path.join(self.build_lib, "motus", "libmotus.so")
        shutil.copyfile(os.path.realpath(library), target)


class BinaryDistribution(Distribution):
    """Marks the package as specific to a machine although it has no extension modules."""

    def has_ext_modules(self) -> bool:
        return True


setup(cmdclass={"build_py": BuildWithLibrary}, distclass=BinaryDistribution)
