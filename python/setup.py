"""Puts libmotus into the package: a copy of MOTUS_LIBRARY, or one that CMake builds from the
sources around this folder (in a source distribution: in library/). MOTUS_LIBRARY=system: none, the
system's loader finds it. MOTUS_CMAKE_ARGS: further settings for CMake, such as -DMOTUS_CUDA=OFF.

The wheel serves every Python. Its tag is computed from the libraries in it: manylinux_2_N where
they need glibc 2.N, libgcc_s and nothing else."""
# SPDX-License-Identifier: BSD-2-Clause
import glob
import os
import re
import shlex
import shutil
import subprocess
import sysconfig

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70.1
    try:
        from wheel.bdist_wheel import bdist_wheel
    except ImportError:  # nobody makes a wheel
        bdist_wheel = object

HERE = os.path.dirname(os.path.abspath(__file__))
BUNDLED = os.path.join(HERE, "library")  # in a source distribution
ROOT = BUNDLED if os.path.isdir(BUNDLED) else os.path.dirname(HERE)
# Sources of the library.
PARTS = ("CMakeLists.txt", "LICENSE", "cmake", "common", "dct", "encoder", "filter", "include",
         "me", "yuv")
# Libraries of every system that manylinux allows, libgcc_s among them.
SYSTEM = re.compile(r"(lib(c|m|dl|rt|pthread|gcc_s)|ld-linux[-_0-9a-z]*)\.so\.\d+")
URL = os.environ.get("MOTUS_URL")  # of the project, for the metadata


def build_library(folder: str) -> str:
    """Builds the wheel's library in `folder`; returns its path."""
    if not os.path.exists(os.path.join(ROOT, "encoder", "CMakeLists.txt")):
        raise SystemExit("motus: the library's sources are not around this folder; name an "
                         "installed one: MOTUS_LIBRARY=/path/to/libmotus.so (or system)")
    if not shutil.which("cmake"):
        raise SystemExit("motus: CMake 3.25 is needed: apt install cmake, or pip install cmake")
    ninja = ["-G", "Ninja"] if shutil.which("ninja") else []
    parts = [f"-DMOTUS_{part}=OFF" for part in ("TOOLS", "TESTS", "INSTALL")]
    more = shlex.split(os.environ.get("MOTUS_CMAKE_ARGS", ""))
    subprocess.run(["cmake", *ninja, "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=Release",
                    "-DMOTUS_WHEEL=ON", *parts, *more], check=True)
    jobs = str(len(os.sched_getaffinity(0)))
    subprocess.run(["cmake", "--build", folder, "--target", "motus_wheel", "--parallel", jobs],
                   check=True)
    return os.path.join(folder, "wheel", "libmotus.so")


def elf(library: str) -> tuple:
    """Returns the names of the libraries that this one needs, True if it looks for them beside
    itself, and the newest glibc 2.N that it asks for."""
    text = subprocess.run(["readelf", "-dVW", library], check=True, stdout=subprocess.PIPE,
                          universal_newlines=True, env={**os.environ, "LC_ALL": "C"}).stdout
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", text)
    versions = re.findall(r"Name: GLIBC_2\.(\d+)", text)
    return needed, "[$ORIGIN]" in text, max(map(int, versions), default=0)


def copy_libraries(library: str, package: str) -> None:
    """Copies the library and, if it looks beside itself, what a system may lack."""
    for old in glob.glob(os.path.join(package, "lib*.so*")):
        os.remove(old)
    shutil.copyfile(os.path.realpath(library), os.path.join(package, "libmotus.so"))
    if not shutil.which("readelf"):
        return
    needed, beside, _ = elf(library)
    if not beside:
        return
    found = subprocess.run(["ldd", library], check=True, stdout=subprocess.PIPE,
                           universal_newlines=True).stdout
    for name in needed:
        path = re.search(rf"^\s*{re.escape(name)} => (\S+)", found, re.M)
        if path and not SYSTEM.fullmatch(name):
            shutil.copyfile(os.path.realpath(path[1]), os.path.join(package, name))


def platform_of(package: str) -> str:
    """Returns the platform tag that the libraries in the package allow."""
    system = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    libraries = glob.glob(os.path.join(package, "lib*.so*"))
    if not libraries or not system.startswith("linux") or not shutil.which("readelf"):
        return system if libraries else "any"
    inside, newest = {os.path.basename(library) for library in libraries}, 17
    for library in libraries:
        needed, _, glibc = elf(library)
        if any(name not in inside and not SYSTEM.fullmatch(name) for name in needed):
            return system
        newest = max(newest, glibc)
    return f"manylinux_2_{newest}_{system[len('linux_'):]}"


class BuildWithLibrary(build_py):

    def run(self) -> None:
        super().run()
        library = os.environ.get("MOTUS_LIBRARY")
        if library == "system":
            return
        if not library:
            folder = os.path.join(self.get_finalized_command("build").build_temp, "library")
            library = build_library(os.path.abspath(folder))
        copy_libraries(library, os.path.join(self.build_lib, "motus"))


class WheelForEveryPython(bdist_wheel):

    def get_tag(self) -> tuple:
        package = os.path.join(self.get_finalized_command("build").build_lib, "motus")
        return "py3", "none", platform_of(package)


class SdistWithSources(sdist):

    def make_release_tree(self, base_dir: str, files: list) -> None:
        super().make_release_tree(base_dir, files)
        for part in PARTS:
            source, target = os.path.join(ROOT, part), os.path.join(base_dir, "library", part)
            if os.path.isdir(source):
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("build*", ".*"))
            else:
                os.makedirs(os.path.dirname(target), exist_ok=True)
                shutil.copyfile(source, target)


class BinaryDistribution(Distribution):
    """Marks the package as specific to a machine although it has no extension modules."""

    def has_ext_modules(self) -> bool:
        return os.environ.get("MOTUS_LIBRARY") != "system"


commands = {"build_py": BuildWithLibrary, "sdist": SdistWithSources}
if bdist_wheel is not object:
    commands["bdist_wheel"] = WheelForEveryPython
urls = {"Homepage": URL, "Source": URL, "Issues": f"{URL}/issues"} if URL else {}
setup(cmdclass=commands, distclass=BinaryDistribution, license="BSD-2-Clause", project_urls=urls)
