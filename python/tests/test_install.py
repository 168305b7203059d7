"""pip install, from this folder and without a network. MOTUS_PIP_BUILD=1: also with CMake building the library, which takes minutes."""
# SPDX-License-Identifier: BSD-2-Clause
import importlib.util
import os
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT

from motus import _lib

TRY = """
import motus, numpy
assert motus.__file__.startswith({place!r}), motus.__file__
video = numpy.zeros((3, 32, 48, 3), numpy.uint8)
assert motus.encode(video, backend="cpu")[4:8] == b"ftyp"
print(motus.library_version)
"""


def install(tmp_path, **environment):
    source, target = tmp_path / "source" / "python", tmp_path / "installed"
    shutil.copytree(ROOT / "python", source, ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
    environment = {name: value for name, value in {**os.environ, **environment}.items() if value is not None}
    done = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--no-index", "--target", str(target), str(source)],
                          env=environment, capture_output=True, text=True)
    return target, done


@pytest.fixture(autouse=True)
def pip():
    for module in ("pip", "setuptools", "wheel"):
        if not importlib.util.find_spec(module):
            pytest.skip(f"{module} is not installed")


def tried(target, library):
    """A program that imports what was installed."""
    environment = {name: value for name, value in os.environ.items() if name != "MOTUS_LIBRARY"}
    if library:
        environment["MOTUS_LIBRARY"] = library
    return subprocess.run([sys.executable, "-c", TRY.format(place=str(target))], env={**environment, "PYTHONPATH": str(target)}, cwd="/", capture_output=True, text=True)


def test_with_a_library_that_is_there(tmp_path):
    target, done = install(tmp_path, MOTUS_LIBRARY=_lib.candidates()[0])
    assert done.returncode == 0, done.stdout + done.stderr
    assert (target / "motus" / "py.typed").exists() and (target / "motus" / "libmotus.so").exists()
    run = tried(target, None)
    assert (run.returncode, run.stdout.strip()) == (0, _lib.lib.motus_version().decode()), run.stderr


def test_without_library_and_sources(tmp_path):
    target, done = install(tmp_path, MOTUS_LIBRARY=None)
    assert done.returncode != 0 and "name an installed one: MOTUS_LIBRARY=" in done.stdout + done.stderr and not target.exists()


def test_with_the_systems_library(tmp_path):
    target, done = install(tmp_path, MOTUS_LIBRARY="system")
    assert done.returncode == 0 and not (target / "motus" / "libmotus.so").exists(), done.stderr
    run = tried(target, _lib.candidates()[0])
    assert run.returncode == 0, run.stderr
    run = tried(target, str(tmp_path / "gone.so"))
    assert run.returncode == 1 and "ImportError: libmotus was not found" in run.stderr and "gone.so" in run.stderr


@pytest.mark.skipif(os.environ.get("MOTUS_PIP_BUILD") != "1", reason="MOTUS_PIP_BUILD=1 builds the library, for minutes")
def test_building_the_library(tmp_path):
    target = tmp_path / "installed"
    environment = {name: value for name, value in os.environ.items() if name != "MOTUS_LIBRARY"}
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--no-index", "--target", str(target), str(ROOT / "python")],
                   env=environment, check=True)
    run = tried(target, None)
    assert run.returncode == 0, run.stderr
