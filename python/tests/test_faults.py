"""Inputs that people run into: rates, values, times, shapes, sound."""
# SPDX-License-Identifier: BSD-2-Clause
import subprocess
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from conftest import H, T, W, clip

import motus

CPU = {"backend": "cpu", "qp": 30}


# ---- Rates ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("fps, want", [
    (np.float32(29.97), "30000/1001"), (np.float16(29.97), "30000/1001"),
    (np.float64(59.94), "60000/1001"), (np.array(29.97), "30000/1001"), (np.int64(25), "25"),
    (np.float32(12.5), "25/2"), (Decimal("29.97"), "30000/1001"), (Decimal("12.5"), "25/2"),
    ("29.97", "30000/1001"), ("23.976", "24000/1001"), ("119.88", "120000/1001"),
    ("12.5", "25/2"), ("25", "25"), (23.98, "24000/1001"),
    ("2997/100", "2997/100"), (Fraction(2997, 100), "2997/100"), ((2997, 100), "2997/100"),
    ((np.int32(30000), np.int32(1001)), "30000/1001"), (29.9, "299/10"), (30.0, "30"),
])
def test_one_rule_for_rates(fps, want):
    with motus.Encoder(32, 32, fps, **CPU) as encoder:
        assert encoder.fps == Fraction(want)


@pytest.mark.parametrize("fps", [np.float32("nan"), np.inf, np.float32(-1), "29.97x", 0, None, 1j,
                                 np.array([30, 30]), np.complex64(30)])
def test_no_rates(fps):
    with pytest.raises(motus.ArgumentError, match="is no rate|is out of range"):
        motus.Encoder(32, 32, fps, **CPU)


@pytest.mark.parametrize("word, want", [("29.97", "30000/1001"), ("23.976", "24000/1001"),
                                        ("59.94", "60000/1001"), ("12.5", "25/2"),
                                        ("2997/100", "2997/100")])
def test_the_programs_rates(program, ffmpeg, tmp_path, word, want):
    (tmp_path / "x.yuv").write_bytes(bytes(64 * 64 * 3 // 2 * 5))
    subprocess.run([program, "encode", "x.yuv", "-o", "x.h264", "--size", "64x64", "--fps", word,
                    "--backend", "cpu", "--quiet"], check=True, cwd=tmp_path)
    found = ffmpeg.probe(tmp_path / "x.h264", "-show_streams")["streams"][0]
    assert Fraction(found["r_frame_rate"]) == Fraction(want)


# ---- Values --------------------------------------------------------------------------------------


@pytest.mark.parametrize("values, told", [
    ((np.inf, -np.inf), "floats of -inf to inf"), ((np.inf, 0), "floats of 0 to inf"),
    ((-np.inf, 0), "floats of -inf to"), ((np.nan, np.inf), "NaN in"), ((np.nan, 0), "NaN in"),
])
def test_infinity_is_not_nan(values, told):
    frame = np.full((32, 32, 3), 0.5, np.float32)
    frame[0, 0, :2] = values
    with pytest.warns(UserWarning, match=told):
        motus.encode([frame], **CPU)


def test_grey_videos(rgb):
    grey = rgb[..., 1]
    want = motus.encode(list(grey), **CPU)
    assert motus.encode(grey, **CPU) == want == motus.encode(grey[..., None], **CPU)
    assert motus.encode(grey[:3], layout="HWC", **CPU) == motus.encode(list(grey[:3]), **CPU)
    assert motus.encode(grey[:1], **CPU) == motus.encode(list(grey[:1]), **CPU)
    with pytest.raises(motus.ArgumentError, match=r"3 grey frames \[T, H, W\] or one frame"):
        motus.encode(grey[:3], **CPU)
    with pytest.raises(motus.ArgumentError, match="is no video"):
        motus.encode(rgb[0], **CPU)


@pytest.mark.parametrize("dtype", ["<u2", ">u2"])
@pytest.mark.parametrize("shape", ["video", "frames", "grey"])
def test_uint16(rgb, dtype, shape):
    video = rgb[..., 1] if shape == "grey" else rgb
    deep = video.astype(dtype) << 8 | 0x7F
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        made = motus.encode(list(deep) if shape == "frames" else deep.astype(dtype), **CPU)
    assert made == motus.encode(video, **CPU)
    assert len(told) == 1 and "value >> 8" in str(told[0].message)
    assert told[0].filename == __file__


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.uint32, bool, complex])
def test_other_types(rgb, dtype):
    with pytest.raises(TypeError, match="uint8"):
        motus.encode(rgb.astype(dtype), **CPU)


# ---- Names and options ---------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["mkv", "mov", "ts", "MKV"])
def test_other_containers_say_what_to_do(rgb, tmp_path, ending):
    with pytest.raises(motus.ArgumentError, match=f"ffmpeg -i x.mp4 -c copy x.{ending}"):
        motus.encode(rgb, tmp_path / f"x.{ending}", **CPU)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("options, told", [
    (5, "extra_options 5 is no dict"), ("g=5", "is no dict"), ([("g", 5)], "is no dict"),
    ({"g": "many"}, "'g': 'many' is no whole number"), ({"bf": None}, "is no whole number")])
def test_extra_options(rgb, options, told):
    with pytest.raises(motus.ArgumentError, match=told):
        motus.VideoEncoder(rgb, frame_rate=30).to_tensor(extra_options=options, backend="cpu")


@pytest.mark.parametrize("channels", [1, 2, 6, 7, 8, 9])
def test_channels(rgb, channels):
    pytest.importorskip("av")
    sound = np.zeros((48000, channels), np.float32)
    if channels in (1, 2, 6, 8):
        assert motus.encode(rgb, audio=(sound, 48000), **CPU)
        return
    with pytest.raises(motus.ArgumentError, match=f"audio of .*{channels}"):
        motus.encode(rgb, audio=(sound, 48000), **CPU)


# ---- Packets of PyAV -----------------------------------------------------------------------------


def frame_of(array, pts, unit):
    av = pytest.importorskip("av")
    frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(array), format="rgb24")
    frame.pts, frame.time_base = pts, unit
    return frame


def packets_of(frames, **settings):
    pytest.importorskip("av")
    pyav = pytest.importorskip("motus.pyav")
    encoder = pyav.PacketEncoder(30, backend="cpu", **settings)
    return [packet for frame in [*frames, None] for packet in encoder.encode(frame)]


def check_times(packets, seconds):
    assert sorted(p.pts * p.time_base for p in packets) == seconds
    dts = [p.dts * p.time_base for p in packets]
    assert all(a < b for a, b in zip(dts, dts[1:])), dts
    assert all(p.dts <= p.pts for p in packets)


def test_first_dts_are_frames_apart():
    unit = Fraction(1, 90000)
    video = [frame_of(a, 3000 * t, unit) for t, a in enumerate(clip(20))]
    packets = packets_of(video, bframes=3, b_pyramid="normal", profile="main")
    assert [p.dts for p in packets[:3]] == [-6000, -3000, 0]
    check_times(packets, [Fraction(t, 30) for t in range(20)])


def test_time_bases_change_while_pictures_are_pending():
    units = [Fraction(1, 90000)] * 7 + [Fraction(1, 1000)] * 6 + [Fraction(1, 30)] * 7
    video = [frame_of(a, round(t / 10 / u), u) for t, (a, u) in enumerate(zip(clip(20), units))]
    packets = packets_of(video, lookahead=5, bframes=2, profile="main")
    check_times(packets, [Fraction(t, 10) for t in range(20)])
    assert {p.time_base for p in packets} == {units[0]}


def test_a_finer_time_base_begins_a_gop():
    units = [Fraction(1, 30)] * 10 + [Fraction(1, 90000)] * 10
    times = [Fraction(t, 30) for t in range(10)] + [
        Fraction(1, 3) + Fraction(t * 3001 + 7, 90000) for t in range(10)]
    video = [frame_of(a, int(t / u), u) for a, t, u in zip(clip(20), times, units)]
    check_times(packets_of(video, lookahead=5), times)


def test_frames_without_times_follow():
    video = list(map(frame_of, clip(6), (300, None, None, 15000, None, None),
                     [Fraction(1, 90000)] * 6))
    packets = packets_of(video, lookahead=0)
    assert [p.pts for p in packets] == [300, 3300, 6300, 15000, 18000, 21000]


def test_odd_and_other_sizes():
    with pytest.raises(motus.ArgumentError, match="81x64: the size is odd"):
        packets_of([frame_of(np.zeros((64, 81, 3), np.uint8), 0, Fraction(1, 30))])
    with pytest.raises(motus.ArgumentError, match="a frame of 96x64 for an encoder of 80x64"):
        packets_of([np.zeros((64, 80, 3), np.uint8), np.zeros((64, 96, 3), np.uint8)])
    with pytest.raises(motus.ArgumentError, match="81x64 is odd"):
        packets_of([np.zeros((64, 81, 3), np.uint8)])
