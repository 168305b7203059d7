"""motus.pyav: packets for PyAV's decoders and containers."""
# SPDX-License-Identifier: BSD-2-Clause
from fractions import Fraction

import numpy as np
import pytest
from conftest import H, T, W, clip

import motus

av = pytest.importorskip("av")
pyav = pytest.importorskip("motus.pyav")


def pictures(packets):
    decoder = av.CodecContext.create("h264", "r")
    return [frame for packet in [*packets, None] for frame in decoder.decode(packet)]


def frames_of(video, unit=Fraction(1, 90000), step=3000):
    for t, array in enumerate(video):
        frame = av.VideoFrame.from_ndarray(array, format="rgb24")
        frame.pts, frame.time_base = 5 + t * step, unit
        yield frame


@pytest.mark.parametrize("kind", ["arrays", "frames"])
def test_a_packet_a_frame(rgb, kind):
    encoder, packets = pyav.PacketEncoder(30, bitrate=500_000, backend="cpu"), []
    for t, frame in enumerate(rgb if kind == "arrays" else frames_of(rgb)):
        packet, = encoder.encode(frame, keyframe=t == 4)
        assert isinstance(packet, av.Packet) and packet.pts == packet.dts
        want = (t, Fraction(1, 30)) if kind == "arrays" else (5 + 3000 * t, Fraction(1, 90000))
        assert (packet.pts, packet.time_base) == want
        assert (b"\0\0\1\x67" in bytes(packet)) == (t in (0, 4))
        packets.append(packet)
    assert encoder.encode(None) == []
    shown = pictures(packets)
    assert len(shown) == T and [f.pts for f in shown] == [p.pts for p in packets]
    error = shown[-1].to_ndarray(format="rgb24").astype(int) - rgb[-1]
    assert abs(error).mean() < 12


def test_lookahead_and_the_rest(rgb):
    encoder = pyav.PacketEncoder(30, lookahead=4, backend="cpu")
    counts = [len(encoder.encode(frame)) for frame in rgb]
    assert counts[:4] == [0] * 4 and sum(counts) + len(encoder.encode(None)) == T


def test_another_bitrate():
    video = clip(120, 96, 128)
    encoder = pyav.PacketEncoder(30, bitrate=400_000, backend="cpu")
    sizes = []
    for t, frame in enumerate(video):
        if t == 60:
            encoder.bitrate = 80_000
        sizes += [packet.size for packet in encoder.encode(frame)]
    assert encoder.bitrate == 80_000 and sum(sizes[75:]) < 0.6 * sum(sizes[:60]) * 45 / 60
    with pytest.raises(motus.ArgumentError):
        encoder.bitrate = 0
    assert encoder.bitrate == 80_000
    assert len(encoder.encode(video[0])) == 1


def test_another_size(rgb):
    encoder = pyav.PacketEncoder(30, backend="cpu")
    small = [np.ascontiguousarray(frame[:32, :48]) for frame in rgb[:3]]
    packets = [p for frame in [*frames_of(rgb[:3]), *frames_of(small)]
               for p in encoder.encode(frame)]
    assert [(f.width, f.height) for f in pictures(packets)] == [(W, H)] * 3 + [(48, 32)] * 3


@pytest.mark.parametrize("fragment", [None, 0.1])
def test_any_frame_of_gops_of_two(rgb, tmp_path, fragment):
    """As loaders of robots' data sets seek: one or two packets give the frame."""
    path = tmp_path / "x.mp4"
    motus.encode(rgb, path, fps=25, keyint=2, crf=20, fragment=fragment, backend="cpu")
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        want = [frame.to_ndarray(format="rgb24") for frame in container.decode(stream)]
        for t in reversed(range(T)):
            container.seek(round(Fraction(t, 25) / stream.time_base), stream=stream)
            frame = next(f for f in container.decode(stream) if f.time > (t - 0.5) / 25)
            assert np.array_equal(frame.to_ndarray(format="rgb24"), want[t])
            container.seek(round(Fraction(t, 25) / stream.time_base), stream=stream)
            first = next(container.demux(stream))
            assert round(first.pts * stream.time_base * 25) == t // 2 * 2


@pytest.mark.parametrize("ending", ["mp4", "mkv", "ts"])
def test_a_container(ffmpeg, tmp_path, rgb, ending):
    path = tmp_path / f"x.{ending}"
    encoder = pyav.PacketEncoder(25, backend="cpu", keyint=4)
    with av.open(str(path), "w") as container:
        if ending == "mp4" and not pyav._has_duration():
            with pytest.raises(motus.UnsupportedError, match="take no duration"):
                encoder.add_stream(container, rgb[0])
            return
        encoder.add_stream(container, rgb[0])
        with pytest.raises(ValueError):
            encoder.encode(rgb[0, :33])
        for frame in [*rgb, None]:
            for packet in encoder.encode(frame):
                container.mux(packet)
    packets = ffmpeg.probe(path, "-show_packets")["packets"]
    times = np.array([float(p["pts_time"]) for p in packets])
    assert np.allclose(times - times[0], np.arange(T) / 25, atol=1e-3)
    assert [p["flags"][0] == "K" for p in packets] == [t % 4 == 0 for t in range(T)]
    assert len(ffmpeg.decode(path)) == T * W * H * 3 // 2
    encoder.encode(rgb[0])
    with pytest.raises(motus.StateError, match="before the first frame"):
        encoder.add_stream(None, rgb[0])
