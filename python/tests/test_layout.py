"""Structures as the C compiler lays them out, and the package's version."""
# SPDX-License-Identifier: BSD-2-Clause
import ctypes
import re
import shutil
import subprocess

import pytest
from conftest import ROOT

import motus
from motus import _lib, _settings

STRUCTURES = {f"Motus{name}": getattr(_lib, name) for name in (
    "Rational Colour Error Plane Frame Image EncoderConfig Mv CodedMv FrameParams PictureStats "
    "Packet MeConfig MeHints MeTarget MeRegion MeRequest").split()}
C_NAMES = {"pass_": "pass", "lambda_": "lambda"}


def test_structures(tmp_path):
    cc = shutil.which("cc")
    if not cc:
        pytest.skip("no C compiler")
    lines, want = [], []
    for name, structure in STRUCTURES.items():
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        want.append(f"{name} {ctypes.sizeof(structure)}")
        for member, *_ in structure._fields_:
            c_name = C_NAMES.get(member, member)
            lines.append(f'printf("{name}.{member} %zu %zu\\n", offsetof({name}, {c_name}), '
                         f'sizeof((({name} *)0)->{c_name}));')
            field = getattr(structure, member)
            want.append(f"{name}.{member} {field.offset} {field.size}")
    source = tmp_path / "layout.c"
    source.write_text("#include <motus/motus.h>\n#include <stdio.h>\nint main(void) {"
                      + "\n".join(lines) + "}\n")
    program = str(tmp_path / "layout")
    subprocess.run([cc, "-std=c11", "-I", str(ROOT / "include"), str(source), "-o", program],
                   check=True)
    got = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    assert got.splitlines() == want


def test_versions_are_one():
    assert motus.__version__ == motus.library_version
    assert f'version = "{motus.__version__}"' in (ROOT / "python" / "pyproject.toml").read_text()


def documented():
    """Yields the settings whose ranges motus.Settings documents: name, type, ends, default."""
    for name, kind in motus.Settings.__annotations__.items():
        line, = re.findall(rf"^ {{4}}{name}: (.*)$", motus.Settings.__doc__, re.MULTILINE)
        match = re.fullmatch(r"(?:0 or )?([-.\d]+)\.\.([-\w.* ]+?)(?:, default( [-\d.]+)?.*|;.*)?",
                             line)
        if match:
            yield name, kind.__forward_arg__, *match.groups()


def test_documented_names():
    for name, known in _settings._NAMES.items():
        line, = re.findall(rf"^ {{4}}{name}: (.*)$", motus.Settings.__doc__, re.MULTILINE)
        quoted = [f'"{value}"' for value in known]
        assert line.startswith(f"{quoted[0]} to {quoted[-1]}" if name == "preset"
                               else ", ".join(quoted))


def test_documented_ranges():
    """Their ends are accepted, what is beyond is not, and defaults are the library's."""
    config = _lib.lib.motus_encoder_config_default(64, 48, _lib.Rational(25, 1)).config
    tried = set()
    for name, kind, low, high, default in documented():
        step = 0.01 if kind == "float" else 1
        ends = [eval(end, {"keyint": 250}) for end in (low, high)]
        more = {"bitrate": 10**6} if name == "qp_step" else {}
        if name in ("bframes", "weightp"):
            more = {"profile": "main"}
        if name.startswith("vbv"):
            more = {"vbv_maxrate": 10**6, "vbv_bufsize": 10**6}
        if default:
            assert getattr(config, name) == pytest.approx(float(default)), name
        for end, beyond in zip(ends, (ends[0] - step, ends[1] + step)):
            if end and name not in ("slices", "threads", "device", "keyint"):
                motus.Encoder(64, 48, backend="cpu", **{**more, name: end}).close()
            with pytest.raises(motus.Error):
                motus.Encoder(64, 48, backend="cpu", **{**more, name: beyond})
        tried.add(name)
    numbers = {name for name, kind in motus.Settings.__annotations__.items()
               if kind.__forward_arg__ in ("int", "float")}
    assert tried == numbers and "crf" in tried


def test_no_library(monkeypatch, tmp_path):
    other = tmp_path / "libmotus.so"
    other.write_bytes(b"nothing")
    monkeypatch.setenv("MOTUS_LIBRARY", str(other))
    with pytest.raises(ImportError, match="libmotus was not found.*libmotus.so"):
        _lib.load()


def test_configurations_of_another_length(monkeypatch):
    class Library:
        motus_version = staticmethod(_lib.lib.motus_version)
        motus_encoder_config_default = staticmethod(_lib.lib.motus_encoder_config_default)
        motus_me_config_default = staticmethod(_lib.lib.motus_me_config_default)

    _lib._check(Library, "the right one")
    monkeypatch.setattr(Library, "motus_version", staticmethod(lambda: b"0.3.0"))
    with pytest.raises(ImportError, match="libmotus 0.3.0, but this package is for 0.2"):
        _lib._check(Library, "a later one")
    monkeypatch.setattr(Library, "motus_version", staticmethod(lambda: b"0.2.9"))
    longer = _lib._LongMeConfig()
    longer.config.device = 0  # where another member is
    monkeypatch.setattr(Library, "motus_me_config_default", lambda width, height: longer)
    with pytest.raises(ImportError, match="versions differ"):
        _lib._check(Library, "another one")
    older = _lib._LongEncoderConfig()
    older.config.size = 200
    monkeypatch.setattr(Library, "motus_encoder_config_default", lambda width, height, fps: older)
    with pytest.raises(ImportError, match="200 bytes.*too old"):
        _lib._check(Library, "an older one")
