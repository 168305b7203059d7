"""Fragmented MP4, judged by ffprobe and ffmpeg, and box by box."""
# SPDX-License-Identifier: BSD-2-Clause
import struct
from fractions import Fraction

import numpy as np
import pytest
from conftest import H, T, W

import motus
from motus.mp4 import nal_units

CPU = {"backend": "cpu"}


def boxes(data):
    at = 0
    while at < len(data):
        size, name = struct.unpack_from(">I4s", data, at)
        assert size >= 8 and at + size <= len(data)
        yield name.decode(), data[at + 8:at + size]
        at += size


@pytest.mark.parametrize("fps", [24, 25, 29.97, 59.94, 120, "24000/1001", 1, Fraction(1, 3),
                                 Fraction(100000, 3003)])
def test_times_are_exact(ffmpeg, rgb, tmp_path, fps):
    path = tmp_path / "x.mp4"
    motus.encode(rgb, path, fps=fps, qp=30, **CPU)
    with motus.Encoder(W, H, fps, qp=30, **CPU) as encoder:
        rate = encoder.fps
    probed = ffmpeg.probe(path, "-show_streams", "-show_packets")
    stream, packets = probed["streams"][0], probed["packets"]
    unit = Fraction(stream["time_base"])
    for name in ("pts", "dts"):
        assert [p[name] * unit for p in packets] == [t / rate for t in range(T)]
    assert all(p["duration"] * unit == 1 / rate for p in packets)
    want = {"codec_tag_string": "avc1", "is_avc": "true", "width": W, "height": H,
            "profile": "Constrained Baseline", "sample_aspect_ratio": "1:1"}
    assert {name: stream[name] for name in want} == want


@pytest.mark.parametrize("fragment, keyint", [(0, 250), (0.1, 250), (1.0, 4), (1.0, 250),
                                              (100.0, 1)])
def test_same_pictures_as_the_stream(ffmpeg, rgb, tmp_path, fragment, keyint):
    settings = {"qp": 26, "fps": 30, "keyint": keyint, **CPU}
    motus.encode(rgb, tmp_path / "x.264", **settings)
    motus.encode(rgb, tmp_path / "x.mp4", fragment=fragment, **settings)
    assert ffmpeg.decode(tmp_path / "x.mp4") == ffmpeg.decode(tmp_path / "x.264")
    packets = ffmpeg.probe(tmp_path / "x.mp4", "-show_packets")["packets"]
    assert [p["flags"][0] == "K" for p in packets] == [t % keyint == 0 for t in range(T)]


def test_fragments(rgb):
    data = motus.encode(rgb, fps=30, qp=26, keyint=4, fragment=0.1, aud=True, **CPU)
    names = [name for name, _ in boxes(data)]
    # A tenth of a second is three pictures, and every fourth is a key picture.
    assert names == ["ftyp", "moov"] + ["moof", "mdat"] * 5
    numbers, starts, counts = [], [], []
    for name, content in boxes(data):
        if name == "mdat":
            at = 0
            while at < len(content):
                size = struct.unpack_from(">I", content, at)[0]
                assert size > 0 and content[at + 4] & 31 in (1, 5, 9)  # no parameter sets
                at += 4 + size
            assert at == len(content)
        if name == "moof":
            parts = dict(boxes(content))
            traf = dict(boxes(parts["traf"]))
            numbers.append(struct.unpack(">II", parts["mfhd"])[1])
            starts.append(struct.unpack(">IQ", traf["tfdt"])[1])
            counts.append(struct.unpack_from(">II", traf["trun"])[1])
    assert numbers == [1, 2, 3, 4, 5] and counts == [3, 1, 3, 1, 1]
    mvhd = dict(boxes(dict(boxes(data))["moov"]))["mvhd"]
    timescale = struct.unpack_from(">I", mvhd, 12)[0]
    assert [s * 30 / timescale for s in starts] == [0, 3, 4, 7, 8]


def test_no_colour_no_box(i420):
    assert b"colr" not in motus.encode(i420, layout="I420", qp=28, **CPU)


@pytest.mark.parametrize("profile, more", [("baseline", b""), ("high", b"\xfd\xf8\xf8\0")])
def test_avcc(rgb, profile, more):
    with motus.Encoder(W, H, 25, qp=30, profile=profile, **CPU) as encoder:
        sps, pps = nal_units(encoder.headers)
        header = encoder.mp4().header()
    at = header.index(b"avcC") + 4
    assert header[at:at + 6] == bytes([1]) + sps[1:4] + b"\xff\xe1"
    sets = struct.pack(">H", len(sps)) + sps + b"\1" + struct.pack(">H", len(pps)) + pps
    assert header[at + 6:].startswith(sets + more)
    assert struct.unpack_from(">I", header, at - 8)[0] == 8 + 6 + len(sets + more)


@pytest.mark.parametrize("fragment", [None, 0, 0.1, 1.0])
def test_b_pictures(ffmpeg, rgb, tmp_path, fragment):
    path = tmp_path / "x.mp4"
    motus.encode(rgb, path, fps=25, qp=30, profile="main", bframes=2, keyint=5, fragment=fragment,
                 **CPU)
    probed = ffmpeg.probe(path, "-show_streams", "-show_packets")
    unit = Fraction(probed["streams"][0]["time_base"])
    packets = probed["packets"]
    assert sorted(p["pts"] * unit for p in packets) == [Fraction(t, 25) for t in range(T)]
    assert [p["dts"] * unit for p in packets] == [Fraction(t - 1, 25) for t in range(T)]
    assert any(p["pts"] == p["dts"] for p in packets)


def test_uneven_times(ffmpeg, rgb, tmp_path):
    times = [5, 8, 9, 20, 21, 40, 41, 42, 60]
    with motus.Encoder(W, H, 25, qp=30, time_base="1/1000", **CPU) as encoder:
        mp4 = encoder.mp4(fragment=0.012)
        video = mp4.header()
        for frame, pts in zip(rgb, times):
            encoder.send(frame, pts=pts, duration=40)
        for packet in encoder.finish():
            video += mp4.add(packet)
        with pytest.raises(motus.ArgumentError, match="does not come after"):
            mp4.add(packet)
        (tmp_path / "x.mp4").write_bytes(video + mp4.finish())
    probed = ffmpeg.probe(tmp_path / "x.mp4", "-show_streams", "-show_packets")
    unit = Fraction(probed["streams"][0]["time_base"])
    assert [p["pts"] * unit for p in probed["packets"]] == [Fraction(t, 1000) for t in times]


def test_start_codes():
    stream = b"\0\0\0\1\x67ab\0\0\1\x68c\0\0\0\0\1\x65d\0\0\3\1e"
    assert nal_units(stream) == [b"\x67ab", b"\x68c", b"\x65d\0\0\3\1e"]
    assert nal_units(b"") == []
    with pytest.raises(motus.ArgumentError, match="no SPS"):
        motus.Mp4Writer(b"\0\0\1\x65abc", 16, 16, Fraction(1, 25))


def test_long_pictures_of_noise(ffmpeg, tmp_path):
    """Needs much emulation prevention, and sizes of more than 16 bits."""
    noise = np.random.default_rng(3).integers(0, 256, (3, 144, 176, 3), dtype=np.uint8)
    motus.encode(noise, tmp_path / "x.mp4", qp=1, **CPU)
    motus.encode(noise, tmp_path / "x.264", qp=1, **CPU)
    assert ffmpeg.decode(tmp_path / "x.mp4") == ffmpeg.decode(tmp_path / "x.264")
