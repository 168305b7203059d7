"""Fixtures of the tests: sequences, the program, FFmpeg."""
# SPDX-License-Identifier: BSD-2-Clause
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
if not os.environ.get("MOTUS_INSTALLED"):
    sys.path.insert(0, str(ROOT / "python"))
sys.dont_write_bytecode = True

T, H, W = 9, 64, 80


def clip(frames=T, height=H, width=W, seed=1):
    """Returns RGB: a moving texture and a bright square with another motion."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, 256, (height // 4 + 2, width // 4 + 2, 3))
    texture = np.kron(coarse, np.ones((4, 4, 1))).astype(np.uint8)[:height, :width]
    video = np.stack([np.roll(texture, (t, 2 * t), (0, 1)) for t in range(frames)])
    for t in range(frames):
        video[t, 10:26, 5 + 3 * t:21 + 3 * t] = (250, 40, 90)
    return video


@pytest.fixture(scope="session")
def rgb():
    return clip()


@pytest.fixture(scope="session")
def i420():
    """[T, H * 3 / 2, W]."""
    rng = np.random.default_rng(2)
    luma = clip()[..., 1]
    chroma = np.repeat(rng.integers(100, 150, (T, 1, 1)), H // 2 * W, 2).astype(np.uint8)
    return np.concatenate([luma, chroma.reshape(T, H // 2, W)], 1)


@pytest.fixture(scope="session")
def program():
    path = os.environ.get("MOTUS_PROGRAM")
    if not path:
        pytest.skip("MOTUS_PROGRAM does not name the program")
    return path


@pytest.fixture(scope="session")
def ffmpeg():
    if not shutil.which("ffmpeg") or not shutil.which("ffprobe"):
        pytest.skip("ffmpeg and ffprobe are not installed")

    def run(*command):
        out = subprocess.run(command, check=True, capture_output=True)
        assert not out.stderr, out.stderr
        return out.stdout

    class Ffmpeg:

        @staticmethod
        def probe(path, *what):
            return json.loads(run("ffprobe", "-v", "error", "-of", "json", *what, str(path)))

        @staticmethod
        def decode(path):
            """Returns Y, Cb, Cr of all pictures."""
            return run("ffmpeg", "-nostdin", "-v", "warning", "-i", str(path), "-f", "rawvideo",
                       "-fps_mode", "passthrough", "-")

    return Ffmpeg
