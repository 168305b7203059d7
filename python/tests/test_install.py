"""pip install from this folder, without a network. MOTUS_PIP_BUILD=1: also building the library."""
# SPDX-License-Identifier: BSD-2-Clause
import importlib.util
import os
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT

from motus import _lib

PIP = [sys.executable, *"-m pip install --quiet --no-build-isolation --no-deps --no-index".split()]
TRY = """
import motus, numpy
assert motus.__file__.startswith({place!r}), motus.__file__
video = numpy.zeros((3, 32, 48, 3), numpy.uint8)
assert motus.encode(video, backend="cpu")[4:8] == b"ftyp"
print(motus.library_version)
"""


def install(tmp_path, **environment):
    source, target = tmp_path / "source" / "python", tmp_path / "installed"
    ignored = shutil.ignore_patterns("build", "*.egg-info", "__pycache__")
    shutil.copytree(ROOT / "python", source, ignore=ignored)
    merged = {**os.environ, **environment}
    done = subprocess.run([*PIP, "--target", str(target), str(source)], text=True,
                          env={name: value for name, value in merged.items() if value is not None},
                          capture_output=True)
    return target, done


@pytest.fixture(autouse=True)
def pip():
    for module in ("pip", "setuptools", "wheel"):
        if not importlib.util.find_spec(module):
            pytest.skip(f"{module} is not installed")


def tried(target, library):
    """Runs a program that imports the installed package."""
    environment = {name: value for name, value in os.environ.items() if name != "MOTUS_LIBRARY"}
    if library:
        environment["MOTUS_LIBRARY"] = library
    return subprocess.run([sys.executable, "-c", TRY.format(place=str(target))], cwd="/", text=True,
                          env={**environment, "PYTHONPATH": str(target)}, capture_output=True)


def test_with_a_library_that_is_there(tmp_path):
    target, done = install(tmp_path, MOTUS_LIBRARY=_lib.candidates()[0])
    assert done.returncode == 0, done.stdout + done.stderr
    assert (target / "motus" / "py.typed").exists() and (target / "motus" / "libmotus.so").exists()
    run = tried(target, None)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == _lib.lib.motus_version().decode()


def test_without_library_and_sources(tmp_path):
    target, done = install(tmp_path, MOTUS_LIBRARY=None)
    assert done.returncode != 0 and not target.exists()
    assert "installed one: MOTUS_LIBRARY=" in done.stdout + done.stderr


def test_with_the_systems_library(tmp_path):
    target, done = install(tmp_path, MOTUS_LIBRARY="system")
    assert done.returncode == 0, done.stderr
    assert not (target / "motus" / "libmotus.so").exists()
    run = tried(target, _lib.candidates()[0])
    assert run.returncode == 0, run.stderr
    run = tried(target, str(tmp_path / "gone.so"))
    assert run.returncode == 1 and "gone.so" in run.stderr
    assert "ImportError: libmotus was not found" in run.stderr


@pytest.mark.skipif(os.environ.get("MOTUS_PIP_BUILD") != "1",
                    reason="MOTUS_PIP_BUILD=1 builds the library, for minutes")
def test_building_the_library(tmp_path):
    target = tmp_path / "installed"
    environment = {name: value for name, value in os.environ.items() if name != "MOTUS_LIBRARY"}
    subprocess.run([*PIP, "--target", str(target), str(ROOT / "python")], env=environment,
                   check=True)
    run = tried(target, None)
    assert run.returncode == 0, run.stderr
