"""motus.encode and motus.stream: the program's streams, layouts and types, errors, files."""
# SPDX-License-Identifier: BSD-2-Clause
import io
import os
import subprocess
from fractions import Fraction

import numpy as np
import pytest
from conftest import H, T, W, clip

import motus

CPU = {"backend": "cpu"}


def h264(frames, **settings):
    return motus.encode(frames, container="h264", **{"qp": 28, **CPU, **settings})


@pytest.mark.parametrize("settings, options", [
    ({"qp": 28}, "--qp 28"),
    ({}, ""),
    ({"crf": 31.5, "preset": "fast", "keyint": 4, "aq_mode": "auto"},
     "--crf 31.5 --preset fast --keyint 4 --aq-mode 2"),
    ({"bitrate": 200_000, "vbv_maxrate": 250_000, "vbv_bufsize": 100_000, "lookahead": 3,
      "scenecut": 0},
     "--bitrate 200 --vbv-maxrate 250 --vbv-bufsize 100 --rc-lookahead 3 --scenecut 0"),
    ({"qp": 25, "slices": 2}, "--qp 25 --slices 2"),
    ({"qp": 20, "subpel": "half", "range": 5, "deblock": False, "aud": True},
     "--qp 20 --subpel half --range 5 --no-deblock --aud"),
])
def test_same_stream_as_the_program(program, i420, tmp_path, settings, options):
    source, out = tmp_path / "in.yuv", tmp_path / "out.264"
    i420.tofile(source)
    always = f"--size {W}x{H} --fps 24000/1001 --backend cpu --quiet --profile baseline"
    subprocess.run([program, "encode", str(source), "-o", str(out), *always.split(),
                    *options.split()], check=True)
    ours = motus.encode(i420, fps=23.976, layout="I420", container="h264", **CPU, **settings)
    assert ours == out.read_bytes()


def layouts(rgb):
    """Yields the same video in many forms."""
    units = rgb.astype(np.float32) / 255
    wide = np.zeros((T, H, W + 7, 3), np.uint8)
    wide[:, :, 3:-4] = rgb
    yield "HWC", rgb
    yield "list", list(rgb)
    yield "generator", (frame for frame in rgb)
    yield "CHW", rgb.transpose(0, 3, 1, 2)
    yield "CHW packed", np.ascontiguousarray(rgb.transpose(0, 3, 1, 2))
    alpha = np.full((T, H, W, 1), 77, np.uint8)
    yield "RGBA", np.concatenate([rgb, alpha], 3)
    yield "ARGB's last three", np.concatenate([alpha, rgb], 3)[..., 1:]
    yield "BGR backwards", np.ascontiguousarray(rgb[..., ::-1])[..., ::-1]
    yield "a window", wide[:, :, 3:-4]
    yield "upside down twice", np.ascontiguousarray(rgb[:, ::-1])[:, ::-1]
    yield "mirrored twice", np.ascontiguousarray(rgb[:, :, ::-1])[:, :, ::-1]
    yield "every second frame", np.repeat(rgb, 2, 0)[::2]
    yield "Fortran's order", np.asfortranarray(rgb)
    yield "float HWC", units
    yield "float CHW", np.ascontiguousarray(units.transpose(0, 3, 1, 2))
    yield "float window", np.pad(units, ((0, 0), (0, 0), (2, 3), (0, 0)))[:, :, 2:-3]
    yield "double", units.astype(np.float64)
    yield "read only", np.frombuffer(rgb.tobytes(), np.uint8).reshape(rgb.shape)


@pytest.mark.parametrize("name", [name for name, _ in layouts(np.zeros((T, H, W, 3), np.uint8))])
def test_every_layout_gives_one_stream(rgb, name):
    assert h264(dict(layouts(rgb))[name]) == h264(rgb)


def test_half_floats(rgb):
    units = rgb.astype(np.float32) / 255
    assert h264(units.astype(np.float16)) == h264(units.astype(np.float16).astype(np.float32))


def test_grey(rgb):
    grey = np.ascontiguousarray(rgb[..., 1])
    assert h264(list(grey)) == h264(grey[..., None]) == h264(np.repeat(grey[..., None], 3, 3))


def test_yuv_forms(i420):
    chroma = i420[:, H:].reshape(T, 2, H // 2, W // 2)
    y, u, v = i420[:, :H], chroma[:, 0], chroma[:, 1]
    pairs = np.stack([u, v], 3)
    nv12 = np.concatenate([y, pairs.reshape(T, H // 2, W)], 1)
    want = h264(i420, layout="I420")
    assert h264(zip(y, u, v)) == want
    assert h264(zip(y, pairs)) == want
    assert h264(zip(y, pairs.reshape(T, H // 2, W)), layout="NV12") == want
    assert h264(nv12, layout="NV12") == want
    assert h264(np.pad(nv12, ((0, 0), (0, 0), (1, 1)))[:, :, 1:-1], layout="NV12") == want


def test_colours(rgb, ffmpeg, tmp_path):
    seen = set()
    for colour, full, space, span in (("bt709", False, "bt709", "tv"),
                                      ("bt601", False, "smpte170m", "tv"),
                                      ("bt709", True, "bt709", "pc")):
        for name in ("c.264", "c.mp4"):
            motus.encode(rgb, tmp_path / name, qp=20, colour=colour, full_range=full, **CPU)
            stream = ffmpeg.probe(tmp_path / name, "-show_streams")["streams"][0]
            told = stream["color_space"], stream["color_range"], stream["chroma_location"]
            assert told == (space, span, "center")
        seen.add((tmp_path / "c.264").read_bytes())
        first = np.frombuffer(ffmpeg.decode(tmp_path / "c.mp4"), np.uint8)[:H * W].reshape(H, W)
        kr, kb = (0.2126, 0.0722) if colour == "bt709" else (0.299, 0.114)
        y = kr * 250 + (1 - kr - kb) * 40 + kb * 90  # of clip()'s square
        assert abs(first[14:22, 10:16].mean() - (y if full else 16 + y * 219 / 255)) < 2
    assert len(seen) == 3


def test_outputs(rgb, tmp_path):
    whole = motus.encode(rgb, qp=28, **CPU)
    path, file, again = tmp_path / "a.mp4", io.BytesIO(), tmp_path / "again.m4v"
    for output in (path, file, str(path)):  # the last one replaces the first
        assert motus.encode(rgb, output, qp=28, **CPU) is None
    motus.encode(rgb, again, qp=28, fragment=1, **CPU)
    assert path.read_bytes() == whole and again.read_bytes() == file.getvalue() != whole
    assert file.getvalue() == b"".join(motus.stream(rgb, qp=28, **CPU))
    assert file.getvalue() == motus.encode(rgb, qp=28, fragment=1.0, **CPU)
    assert whole[4:8] == b"ftyp" and motus.encode(rgb, tmp_path / "b.H264", qp=28, **CPU) is None
    assert (tmp_path / "b.H264").read_bytes() == h264(rgb)
    assert path.stat().st_mode & 0o777 == 0o666 & ~current_umask()


def current_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_stream_comes_as_it_is_made(rgb):
    asked = []

    def frames():
        for t, frame in enumerate(rgb):
            asked.append(t)
            yield frame

    pieces = motus.stream(frames(), fps=25, fragment=0, lookahead=0, **CPU)
    assert b"moov" in next(pieces) and asked == [0]
    for t in range(T):
        assert next(pieces)[4:8] == b"moof" and asked == list(range(t + 1))
    assert list(pieces) == []


@pytest.mark.parametrize("frames, cause", [
    (np.zeros((2, 33, 32, 3), np.uint8), "odd"),
    (np.zeros((2, 32, 31, 3), np.uint8), "odd"),
    (np.zeros((2, 32, 32, 5), np.uint8), "is not"),
    (np.zeros((2, 3, 32, 3), np.uint8), "may be"),
    (np.zeros((32, 32, 3), np.uint8), "is no video"),
    (np.zeros((1, 2, 32, 32, 3), np.uint8), "is no video"),
    (np.zeros((0, 32, 32, 3), np.uint8), "no frames"),
    ([], "no frames"),
    ([np.zeros((32, w, 3), np.uint8) for w in (32, 48)], "48x32 for an encoder of 32x32"),
    ([np.zeros((16400, 2, 3), np.uint8)], "outside"),
])
def test_wrong_shapes(frames, cause, tmp_path):
    with pytest.raises(motus.ArgumentError, match=cause):
        motus.encode(frames, tmp_path / "x.mp4", qp=28, **CPU)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("frame", [*(np.zeros((32, 32, 3), t) for t in (np.int16, bool, complex)),
                                   "frame", None, object(), [object()]])
def test_wrong_types(frame):
    with pytest.raises(TypeError):
        motus.encode([frame], qp=28, **CPU)


@pytest.mark.parametrize("settings", [
    {"crf": 52}, {"qp": -1}, {"qp": 3, "crf": 3}, {"preset": "veryslow"}, {"fps": 0}, {"fps": "x"},
    {"fps": -5.0}, {"keyint": 1 << 40}, {"colour": "bt2020"}, {"colour": None}, {"layout": "WHC"},
    {"container": "avi"}, {"device": -7}, {"devices": [1 << 40]}, {"devices": [0, 0]},
])
def test_wrong_settings(rgb, settings):
    with pytest.raises(motus.ArgumentError):
        motus.encode(rgb, **{**CPU, **settings})


@pytest.mark.parametrize("settings", [{"no_such": 1}, {"keyint": 2.5}, {"devices": ["first"]}])
def test_settings_of_wrong_types(rgb, settings):
    with pytest.raises(TypeError):
        motus.encode(rgb, **{**CPU, **settings})


def test_the_librarys_words(rgb):
    with pytest.raises(motus.ArgumentError, match="QP 99 is outside 0..51") as caught:
        motus.encode(rgb, qp=99, **CPU)
    assert caught.value.status == -1
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, motus.Error)


def test_an_iterable_that_fails(rgb, tmp_path):

    def frames():
        yield from rgb[:5]
        raise KeyError("camera")

    with pytest.raises(KeyError, match="camera"):
        motus.encode(frames(), tmp_path / "x.mp4", qp=28, **CPU)
    assert os.listdir(tmp_path) == []


def test_a_file_that_fails(rgb, tmp_path):

    class Full(io.RawIOBase):

        def write(self, data):
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        motus.encode(rgb, Full(), qp=28, **CPU)
    with pytest.raises(FileNotFoundError):
        motus.encode(rgb, tmp_path / "nowhere" / "x.mp4", qp=28, **CPU)


@pytest.mark.parametrize("fps, want", [
    (24, "24"), (29.97, "30000/1001"), (23.976, "24000/1001"), (59.94, "60000/1001"),
    (12.5, "25/2"), ("30000/1001", "30000/1001"), ((25, 1), "25"), (60.0, "60"),
    (np.float64(30), "30"), (0.5, "1/2"),
])
def test_rates(fps, want):
    with motus.Encoder(32, 32, fps, qp=30, **CPU) as encoder:
        assert encoder.fps == Fraction(want)


def test_seeds_differ():
    assert h264(clip(seed=1)) != h264(clip(seed=2))
