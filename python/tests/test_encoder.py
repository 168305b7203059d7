"""motus.Encoder: key pictures, rates, times, QP offsets, threads, memory."""
# SPDX-License-Identifier: BSD-2-Clause
import gc
import os
import subprocess
import threading
from fractions import Fraction

import numpy as np
import pytest
from conftest import H, T, W, clip

import motus

CPU = {"backend": "cpu"}


def run(frames, **settings):
    with motus.Encoder(W, H, 25, **{**CPU, **settings}) as encoder:
        packets = [packet for frame in frames for packet in encoder.encode(frame)]
        return packets + list(encoder.finish())


def test_packets(rgb):
    packets = run(rgb, qp=28)
    assert [p.number for p in packets] == [p.pts for p in packets] == list(range(T))
    assert [p.is_key for p in packets] == [True] + [False] * (T - 1)
    for p in packets:
        assert p.data[:3] in (b"\0\0\1", b"\0\0\0") and p.duration == 1 and 20 < p.psnr < 60
        assert (p.type, p.qp) == (("I", 25) if p.is_key else ("P", 28))
    stream = motus.encode(rgb, container="h264", fps=25, qp=28, **CPU)
    assert b"".join(p.data for p in packets) == stream


def test_key_pictures_where_they_are_wanted(rgb):
    with motus.Encoder(W, H, 25, qp=28, **CPU) as encoder:
        for t, frame in enumerate(rgb):
            encoder.send(frame, keyframe=t in (3, 4, 7))
        packets = list(encoder.finish())
        assert packets[3].data.startswith(encoder.headers)
    assert [p.number for p in packets if p.is_key] == [0, 3, 4, 7]
    assert run([], crf=30) == []


def test_gops_of_two(rgb):
    """As data sets for robots want them: any frame is at most one picture behind a key."""
    packets = run(rgb, crf=25, keyint=2)
    assert [p.is_key for p in packets] == [t % 2 == 0 for t in range(T)]


def test_another_rate():
    video = clip(120, 96, 128)

    def sizes(change):
        with motus.Encoder(128, 96, 30, bitrate=400_000, lookahead=0, **CPU) as encoder:
            packets = []
            for t, frame in enumerate(video):
                if t == 60 and change:
                    encoder.reconfigure(bitrate=80_000)
                packets += encoder.encode(frame)
            packets += encoder.finish()
        return sum(len(p.data) for p in packets[:60]), sum(len(p.data) for p in packets[75:])

    (first, later), (same, lower) = sizes(False), sizes(True)
    assert first == same and lower < 0.6 * later
    with motus.Encoder(W, H, 25, qp=28, **CPU) as encoder:
        with pytest.raises(motus.UnsupportedError, match="cannot be changed"):
            encoder.reconfigure(bitrate=1000)
    with motus.Encoder(W, H, 25, bitrate=1000, **CPU) as encoder:
        with pytest.raises(motus.ArgumentError):
            encoder.reconfigure(bitrate=0)


def test_lost_references(rgb):
    def types(keep):
        with motus.Encoder(W, H, 25, qp=28, keep_references=keep, **CPU) as encoder:
            for number in range(8):
                encoder.send(rgb[number])
                if number == 5:
                    assert encoder.receive(None).number == 0
                    encoder.reference_lost(3)
            with pytest.raises(motus.ArgumentError, match="has not been coded"):
                encoder.reference_lost(8)
            packets = list(encoder.finish())
        return "".join("I" if p.is_key else "P" for p in packets)

    assert types(4) == "PPPPPPP" and types(2) == "PPPPPIP"


def test_times(rgb):
    times = [0, 3, 4, 9, 10, 11, 20, 21, 30]
    with motus.Encoder(W, H, 25, qp=28, time_base=Fraction(1, 1000), **CPU) as encoder:
        for frame, pts in zip(rgb, times):
            encoder.send(frame, pts=pts, duration=7)
        assert [(p.pts, p.duration) for p in encoder.finish()] == [(t, 7) for t in times]


@pytest.mark.parametrize("call", [
    lambda: motus.Encoder(2**32 + 64, 48), lambda: motus.Encoder(64, 48 - 2**32),
    lambda: motus.Encoder(2**32 + 63, 48, pad=True), lambda: motus.Encoder(64, 48, keyint=2**32),
    lambda: motus.Encoder(64, 48, bitrate=2**64 + 10**6),
    lambda: motus.Encoder(W, H).send(clip(1)[0], pts=2**70),
    lambda: motus.Encoder(W, H).send(clip(1)[0], duration=-2**63 - 1),
    lambda: motus.Encoder(W, H, bitrate=10**5).reconfigure(bitrate=2**64 + 10**5),
    lambda: motus.Encoder(W, H, bitrate=10**5).reconfigure(bitrate=10**5, vbv_maxrate=2**64,
                                                           vbv_bufsize=2**64),
    lambda: motus.search(clip(1)[0], clip(1)[0], range=2**32 + 16),
    lambda: motus.search(clip(1)[0], clip(1)[0], threads=2**32),
    lambda: motus.search(clip(1)[0], clip(1)[0], lambda_q8=2**32),
    lambda: motus.search(clip(1)[0], clip(1)[0], lambda_q8=65536),
])
def test_numbers_that_no_c_integer_holds(call):
    with pytest.raises(motus.ArgumentError, match="is out"):
        call()


@pytest.mark.parametrize("call", [
    lambda: motus.Encoder(64.0, 48), lambda: motus.Encoder("64", 48),
    lambda: motus.Encoder(W, H).send(clip(1)[0], pts=0.5),
    lambda: motus.Encoder(W, H, bitrate=10**5).reconfigure(bitrate=1e5),
])
def test_numbers_that_are_not_whole(call):
    with pytest.raises(TypeError, match="no whole number"):
        call()


def test_the_largest_times(rgb):
    with motus.Encoder(W, H, 25, qp=28, **CPU) as encoder:
        encoder.send(rgb[0], pts=2**63 - 1, duration=np.int64(2**62))
        packet, = encoder.finish()
    assert (packet.pts, packet.duration) == (2**63 - 1, 2**62)


def test_waiting(rgb):
    with motus.Encoder(W, H, 25, qp=28, **CPU) as encoder:
        encoder.send(rgb[0])
        assert encoder.receive(float("inf")).number == 0
        assert encoder.receive(-1) is None
        with pytest.raises(ValueError):
            encoder.receive(float("nan"))


def test_a_packet_is_shown_in_one_line(rgb):
    packet = run(rgb[:1], qp=28)[0]
    assert repr(packet) == (f"<motus.Packet 0: I, key, {len(packet.data)} bytes, QP 25, pts 0>")


def test_no_driver():
    """Without a driver CUDA speaks of an insufficient version."""
    if os.path.exists("/proc/driver/nvidia/version"):
        pytest.skip("there is a driver")
    with pytest.raises(motus.Error) as caught:
        motus.Encoder(W, H, backend="cuda")
    if isinstance(caught.value, motus.UnsupportedError):
        pytest.skip("a build without CUDA")
    assert isinstance(caught.value, motus.DeviceError)
    assert str(caught.value) == "CUDA: there is no NVIDIA driver"


def test_qp_offsets(rgb):
    offsets = np.zeros((H // 16, W // 16), int)
    plain = run(rgb[:1], qp=28)[0]
    with motus.Encoder(W, H, 25, qp=28, **CPU) as encoder:
        encoder.send(rgb[0], qp_offset=offsets)
        encoder.send(rgb[0], qp_offset=offsets - 12, keyframe=True)
        with pytest.raises(motus.ArgumentError, match="2 QP offsets for"):
            encoder.send(rgb[0], qp_offset=[1, 2])
        with pytest.raises(motus.ArgumentError, match="whole numbers"):
            encoder.send(rgb[0], qp_offset=offsets + 200)
        same, finer = encoder.finish()
    assert same.data == plain.data and finer.mean_qp == 13 and len(finer.data) > len(same.data)


def test_mvs(rgb, i420, program, tmp_path):
    """Vectors of the program's table give about the same stream; other ones another."""
    (tmp_path / "in.yuv").write_bytes(i420.tobytes())
    subprocess.run([program, "encode", str(tmp_path / "in.yuv"), "--size", f"{W}x{H}", "--quiet",
                    "--backend", "cpu", "--qp", "28", "--bframes", "2", "--mvs",
                    str(tmp_path / "mvs.npy"), "-o", str(tmp_path / "out.264"), "-y"], check=True)
    table = np.load(tmp_path / "mvs.npy")

    def size(change=0, **parameters):
        with motus.Encoder(W, H, 25, qp=28, profile="high", bframes=2, layout="I420",
                           **CPU) as encoder:
            for t, frame in enumerate(i420):
                mvs = table[table["frame"] == t]
                mvs["mv_x"] += change
                encoder.send(frame, mvs=mvs, **parameters)
            return sum(len(packet.data) for packet in encoder.finish())

    searched = (tmp_path / "out.264").stat().st_size
    assert abs(size() - searched) < 0.05 * searched
    with motus.Encoder(W, H, 25, qp=28, profile="high", bframes=2, layout="I420", keep_mvs=True,
                       **CPU) as encoder:
        for frame in i420:
            encoder.send(frame)
        packets = list(encoder.finish())
    for p in packets:
        for name in p.mvs.dtype.names:
            assert np.array_equal(p.mvs[name], table[table["frame"] == p.number][name])
    assert size(64, mvs_final=True) > 1.1 * searched
    with motus.Encoder(W, H, 25, **CPU) as encoder:
        with pytest.raises(motus.ArgumentError, match="missing: distance, h, mv_x"):
            encoder.send(rgb[0], mvs=np.zeros(2, [("x", int), ("y", int), ("w", int)]))
        wrong = table[:1].copy()
        wrong["x"] = 640
        with pytest.raises(motus.ArgumentError, match="outside the picture"):
            encoder.send(rgb[0], mvs=wrong)
        wrong = table[:1].astype([(name, int) for name in table.dtype.names])
        wrong["mv_y"] = 40000
        with pytest.raises(motus.ArgumentError, match="values of mv_y"):
            encoder.send(rgb[0], mvs=wrong)


def test_out_of_order(rgb):
    encoder = motus.Encoder(W, H, 25, crf=23, **CPU)
    for timeout in (0, 0.01, None):
        assert encoder.receive(timeout) is None
    encoder.send(rgb[0])
    assert encoder.receive(None) is None  # lookahead needs more frames
    assert len(list(encoder.finish())) == 1
    with pytest.raises(motus.StateError):
        encoder.send(rgb[0])
    encoder.close()
    encoder.close()
    for call in (lambda: encoder.send(rgb[0]), encoder.receive, encoder.end,
                 lambda: encoder.backend, lambda: encoder.headers):
        with pytest.raises(motus.StateError, match="closed"):
            call()


def test_properties():
    with motus.Encoder(W, H, 25, crf=23, **CPU) as encoder:
        assert encoder.backend == "cpu" and encoder.gop_coders >= 1
        assert encoder.level == 10 and encoder.headers[:5] == b"\0\0\0\1\x67"


def test_a_bad_frame_does_no_harm(rgb):
    with motus.Encoder(W, H, 25, qp=28, **CPU) as encoder:
        for bad in (rgb[0, :10], rgb[0].astype(np.int32), "x"):
            with pytest.raises((motus.ArgumentError, TypeError)):
                encoder.send(bad)
        for frame in rgb:
            encoder.send(frame)
        packets = list(encoder.finish())
    assert [p.data for p in packets] == [p.data for p in run(rgb, qp=28)]


def test_the_frame_may_change_at_once(rgb):
    buffer = np.empty_like(rgb[0])
    with motus.Encoder(W, H, 25, crf=23, **CPU) as encoder:
        for frame in rgb:
            buffer[:] = frame
            encoder.send(buffer)
            buffer[:] = 0
        assert [p.data for p in encoder.finish()] == [p.data for p in run(rgb, crf=23)]


def test_many_encoders_in_threads(rgb):
    want, got = {qp: [p.data for p in run(rgb, qp=qp)] for qp in range(24, 30)}, {}

    def work(qp):
        got[qp] = [p.data for p in run(rgb, qp=qp)]

    threads = [threading.Thread(target=work, args=(qp,)) for qp in want]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == want


def test_one_sends_another_receives(rgb):
    video, got = list(rgb) * 8, []
    with motus.Encoder(W, H, 25, crf=25, lookahead=5, **CPU) as encoder:

        def receive():
            while len(got) < len(video):
                if packet := encoder.receive(0.05):
                    got.append(packet)

        receiver = threading.Thread(target=receive)
        receiver.start()
        for frame in video:
            encoder.send(frame)
        encoder.end()
        receiver.join()
    assert [p.data for p in got] == [p.data for p in run(video, crf=25, lookahead=5)]


def test_closing_while_another_thread_is_at_work(rgb):
    for _ in range(20):
        encoder, seen = motus.Encoder(W, H, 25, qp=28, **CPU), []

        def work():
            try:
                for frame in list(rgb) * 50:
                    encoder.send(frame)
                    list(encoder.packets())
            except motus.StateError as error:
                seen.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        encoder.close()
        thread.join()
        assert len(seen) == 1


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


def test_a_thousand_encoders_leave_nothing():
    frames = clip(2, 32, 48)

    def one(i):
        encoder = motus.Encoder(48, 32, 25, qp=30, threads=1, preset="faster", **CPU)
        for frame in frames:
            encoder.send(frame)
        if i % 3:
            assert len(list(encoder.finish())) == 2
        if i % 2:
            encoder.close()  # the others are left to the collector

    for i in range(100):
        one(i)
    gc.collect()
    before = resident()
    for i in range(1000):
        one(i)
    gc.collect()
    assert resident() - before < 4 << 20
