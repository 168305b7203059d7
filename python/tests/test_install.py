"""Installing from this folder, without a network: pip, wheel, source distribution.
MOTUS_PIP_BUILD=1: also building the library."""
# SPDX-License-Identifier: BSD-2-Clause
import email
import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

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


def copy_source(tmp_path):
    source = tmp_path / "source" / "python"
    ignored = shutil.ignore_patterns("build", "*.egg-info", "__pycache__")
    shutil.copytree(ROOT / "python", source, ignore=ignored)
    return source


def install(tmp_path, **environment):
    source, target = copy_source(tmp_path), tmp_path / "installed"
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


def call_hook(hook, source, target, **environment):
    """Calls what pip calls to make a distribution; returns the file."""
    code = f"import setuptools.build_meta as b; print(b.{hook}({str(target)!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=source, text=True, capture_output=True,
                          env={**os.environ, **environment})
    assert done.returncode == 0, done.stdout + done.stderr
    return target / done.stdout.split()[-1]


def library_for_wheels():
    """The build makes it beside the others."""
    library = Path(_lib.candidates()[0]).resolve().parent / "wheel" / "libmotus.so"
    if not library.exists():
        pytest.skip("this build has no library for wheels (MOTUS_WHEEL)")
    return str(library)


def test_wheel_holds_all_that_it_needs(tmp_path):
    wheel = call_hook("build_wheel", copy_source(tmp_path), tmp_path,
                      MOTUS_LIBRARY=library_for_wheels(), MOTUS_URL="https://example.org/motus")
    assert wheel.name.startswith("motus-0.2.0-py3-none-manylinux_2_"), wheel.name
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = email.message_from_bytes(archive.read("motus-0.2.0.dist-info/METADATA"))
        archive.extractall(tmp_path / "unpacked")
    assert {"motus/py.typed", "motus/libmotus.so", "motus/libgomp.so.1"} <= set(names)
    assert metadata["Author"] and metadata["Requires-Python"] == ">=3.9"
    assert "\nLicense: BSD-2-Clause\n" in metadata.as_string()
    assert metadata.get_all("License-File") == ["LICENSE", "LICENSE-bundled"]
    assert "Homepage, https://example.org/motus" in metadata.get_all("Project-URL")
    assert "motus.encode(" in metadata.get_payload()
    found = subprocess.run(["ldd", tmp_path / "unpacked/motus/libmotus.so"], text=True,
                           capture_output=True, check=True).stdout
    assert str(tmp_path) in found.split("libgomp.so.1 =>")[1].split("\n")[0]
    assert "libstdc++" not in found and "not found" not in found


def test_wheel_with_another_library_is_for_this_system(tmp_path):
    wheel = call_hook("build_wheel", copy_source(tmp_path), tmp_path,
                      MOTUS_LIBRARY=_lib.candidates()[0])
    assert wheel.name.startswith("motus-0.2.0-py3-none-linux_"), wheel.name


def test_source_distribution_has_the_library(tmp_path):
    source = tmp_path / "checkout"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns("build*", ".git", "*.egg-info"))
    archive = call_hook("build_sdist", source / "python", tmp_path)
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path / "unpacked")
    unpacked = tmp_path / "unpacked" / "motus-0.2.0"
    assert (unpacked / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    parts = [f"-DMOTUS_{part}=OFF" for part in ("TOOLS", "TESTS", "INSTALL", "CUDA")]
    subprocess.run(["cmake", "-S", unpacked / "library", "-B", tmp_path / "build", *parts],
                   check=True, capture_output=True)  # fails if a source is missing


@pytest.mark.skipif(os.environ.get("MOTUS_PIP_BUILD") != "1",
                    reason="MOTUS_PIP_BUILD=1 builds the library, for minutes")
def test_building_the_library(tmp_path):
    target = tmp_path / "installed"
    environment = {name: value for name, value in os.environ.items() if name != "MOTUS_LIBRARY"}
    subprocess.run([*PIP, "--target", str(target), str(ROOT / "python")], env=environment,
                   check=True)
    run = tried(target, None)
    assert run.returncode == 0, run.stderr
