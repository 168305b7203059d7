"""Ordinary MP4: index in front, exact times, sound; judged by ffprobe and ffmpeg."""
# SPDX-License-Identifier: BSD-2-Clause
import io
import os
import struct
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from conftest import H, T, W, clip
from test_mp4 import boxes

import motus
from motus import _mp4_file
from motus._packet import Packet

CPU = {"backend": "cpu"}


def test_the_index_is_in_front(rgb):
    data = motus.encode(rgb, qp=28, **CPU)
    assert [name for name, _ in boxes(data)] == ["ftyp", "moov", "mdat"]
    assert dict(boxes(data))["ftyp"][:4] == b"isom" and b"moof" not in data


@pytest.mark.parametrize("fps", [24, 29.97, 120, 1, Fraction(1, 3), Fraction(100000, 3003)])
@pytest.mark.parametrize("keyint", [250, 4, 1])
def test_times_and_pictures(ffmpeg, rgb, tmp_path, fps, keyint):
    path = tmp_path / "x.mp4"
    motus.encode(rgb, path, fps=fps, qp=30, keyint=keyint, **CPU)
    motus.encode(rgb, tmp_path / "x.264", fps=fps, qp=30, keyint=keyint, **CPU)
    with motus.Encoder(W, H, fps, qp=30, **CPU) as encoder:
        rate = encoder.fps
    probed = ffmpeg.probe(path, "-show_streams", "-show_packets", "-show_format")
    stream, packets = probed["streams"][0], probed["packets"]
    unit = Fraction(stream["time_base"])
    for name in ("pts", "dts"):
        assert [p[name] * unit for p in packets] == [t / rate for t in range(T)]
    assert all(p["duration"] * unit == 1 / rate for p in packets)
    assert [p["flags"][0] == "K" for p in packets] == [t % keyint == 0 for t in range(T)]
    assert stream["nb_frames"] == str(T)
    assert float(stream["duration"]) == pytest.approx(float(T / rate), abs=1e-5)
    assert float(probed["format"]["duration"]) == pytest.approx(float(T / rate), abs=1e-3)
    want = {"codec_tag_string": "avc1", "is_avc": "true", "width": W, "height": H,
            "profile": "Constrained Baseline", "sample_aspect_ratio": "1:1",
            "color_space": "bt709", "avg_frame_rate": f"{rate.numerator}/{rate.denominator}"}
    assert {name: stream[name] for name in want} == want
    assert ffmpeg.decode(path) == ffmpeg.decode(tmp_path / "x.264")


@pytest.mark.parametrize("profile, name, more", [
    ("baseline", "Constrained Baseline", b""), ("main", "Main", b""),
    ("high", "High", b"\xfd\xf8\xf8\0"),
])
@pytest.mark.parametrize("fragment", [None, 1])
def test_profiles(ffmpeg, rgb, tmp_path, profile, name, more, fragment):
    settings = {"profile": profile, "qp": 30, **CPU}
    motus.encode(rgb, tmp_path / "x.mp4", fragment=fragment, **settings)
    motus.encode(rgb, tmp_path / "x.264", **settings)
    assert ffmpeg.probe(tmp_path / "x.mp4", "-show_streams")["streams"][0]["profile"] == name
    assert ffmpeg.decode(tmp_path / "x.mp4") == ffmpeg.decode(tmp_path / "x.264")
    data = (tmp_path / "x.mp4").read_bytes()
    at = data.index(b"avcC")
    size, = struct.unpack_from(">I", data, at - 4)
    _, pps = motus.mp4.nal_units(motus.Encoder(
        W, H, 24, colour="bt709", **settings).headers)
    assert data[at - 4:at - 4 + size].endswith(pps + more)


def test_the_head_is_put_in_front(tmp_path, monkeypatch):
    """Also if the file is longer than a block, and the head longer or shorter than one."""
    monkeypatch.setattr(_mp4_file, "_BLOCK", 1000)
    content = np.random.default_rng(5).integers(0, 256, 12345, np.uint8).tobytes()
    for size in (0, 1, 999, 1000, 1001, 12345):
        for head in (content[:10], content[:1000], content[:5000]):
            file = io.BytesIO()
            file.write(content[:size])
            _mp4_file.put_in_front(file, head)
            assert file.getvalue() == head + content[:size]


def writer(fps=30):
    with motus.Encoder(W, H, fps, qp=30, **CPU) as encoder:
        return encoder.mp4_file(None)


def test_places_of_64_bits():
    """Past 4 GiB of samples, which are not made here."""

    class Long(bytes):

        def __len__(self):
            return 3 << 30

    packet = Packet(b"\0\0\1\x65abc", 0, 0, 1, True, "I", 20, 20.0, (0, 0, 0), 1, 0)
    for n, name in ((1, b"stco"), (2, b"co64")):
        mp4 = writer()
        for t in range(n):
            mp4.add(packet)
            mp4._size += 3 << 30
        head = mp4.head()
        assert name in head and (name == b"stco") == (struct.unpack(">I", head[-8:-4])[0] > 1)
        if n == 2:
            assert head[-16:-8] == struct.pack(">I4s", 1, b"mdat")
            assert struct.unpack(">Q", head[-8:])[0] == 16 + mp4._size


def test_long_durations():
    """More than 32 bits of the time scale."""
    mp4, step = writer(30), 1 << 22
    for t in range(5):
        mp4.add(Packet(b"\0\0\1\x65abc", t, t * step, step, True, "I", 20, 20.0, (0, 0, 0), 1,
                       t * step))
    mvhd = dict(boxes(dict(boxes(mp4.head() + mp4._size * b"\0"))["moov"]))["mvhd"]
    assert mvhd[0] == 1 and struct.unpack_from(">IQ", mvhd, 20) == (15360, 5 * step * 512)


@pytest.mark.parametrize("fragment", [-1, -0.5, float("nan"), "1", b""])
def test_fragments_are_seconds(rgb, fragment):
    with pytest.raises(motus.ArgumentError, match="is not a number of seconds, 0 or more"):
        motus.encode(rgb, fragment=fragment, **CPU)
    for wrong in (fragment, None):
        with pytest.raises(motus.ArgumentError, match="seconds, 0 or more"):
            motus.stream(rgb, fragment=wrong, **CPU)
        with motus.Encoder(W, H, qp=30, **CPU) as encoder, pytest.raises(motus.ArgumentError):
            encoder.mp4(wrong)


def test_one_endless_fragment(rgb):
    data = motus.encode(rgb, qp=30, fragment=float("inf"), **CPU)
    assert [name for name, _ in boxes(data)] == ["ftyp", "moov", "moof", "mdat"]


# ---- Sound ---------------------------------------------------------------------------------------

RATE = 48000


def tone(seconds, channels=1, rate=RATE):
    t = np.arange(int(seconds * rate)) / rate
    return np.stack([0.5 * np.sin(2 * np.pi * 440 * (k + 1) * t) for k in range(channels)], 1)


def loudest(samples, rate):
    """Returns the frequency that is loudest in the second half."""
    half = samples[len(samples) // 2:]
    return np.argmax(np.abs(np.fft.rfft(half))) * rate / len(half)


def sound_of(path):
    """Returns samples from time 0 on."""
    av = pytest.importorskip("av")
    with av.open(str(path)) as container:
        frames = list(container.decode(audio=0))
    early = max(-round(frames[0].time * frames[0].sample_rate), 0)
    return np.concatenate([frame.to_ndarray() for frame in frames], 1)[:, early:]


@pytest.mark.parametrize("fragment", [None, 1.0, 0])
@pytest.mark.parametrize("channels, dtype, form", [(1, np.float32, "1D"), (2, np.int16, "columns"),
                                                   (2, np.float64, "rows")])
def test_samples(ffmpeg, tmp_path, fragment, channels, dtype, form):
    pytest.importorskip("av")
    video, samples = clip(60), tone(3, channels)  # two seconds of pictures
    samples = (samples * 32767).astype(dtype) if dtype == np.int16 else samples.astype(dtype)
    samples = {"1D": samples[:, 0], "columns": samples, "rows": samples.T}[form]
    path = tmp_path / "x.mp4"
    motus.encode(video, path, fps=30, qp=30, fragment=fragment, audio=(samples, RATE), **CPU)
    motus.encode(video, tmp_path / "v.mp4", fps=30, qp=30, **CPU)
    probed = ffmpeg.probe(path, "-show_streams", "-show_packets", "-show_format")
    picture, sound = probed["streams"]
    assert (sound["codec_name"], sound["channels"], sound["sample_rate"]) == (
        "aac", channels, str(RATE))
    times = [float(p["pts_time"]) for p in probed["packets"] if p["codec_type"] == "audio"]
    assert times[0] <= 0 and 1.95 < times[-1] < 2 and np.allclose(np.diff(times), 1024 / RATE,
                                                                  atol=1e-4)
    assert float(picture["start_time"]) == 0 and float(probed["format"]["duration"]) < 2.03
    heard = sound_of(path)
    assert heard.shape[0] == channels and abs(heard.shape[1] / RATE - 2) < 0.1
    for k in range(channels):
        assert abs(loudest(heard[k], RATE) - 440 * (k + 1)) < 3
    assert ffmpeg.decode(path).startswith(ffmpeg.decode(tmp_path / "v.mp4")[:T * W * H])
    data = path.read_bytes()
    assert ("moof" in [name for name, _ in boxes(data)]) == (fragment is not None)


def test_nothing_is_printed(tmp_path):
    """Also if the sound is longer than the pictures: the encoder of AAC has frames left then."""
    pytest.importorskip("av")
    code = ("import sys, numpy, motus; sound = (numpy.zeros(480000, 'f4'), 48000)\n"
            "video = numpy.zeros((30, 64, 64, 3), 'u1')\n"
            "motus.encode(video, sys.argv[1], backend='cpu', audio=sound)\n"
            "pieces = motus.stream(video, backend='cpu', audio=sound); next(pieces), next(pieces)")
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(motus.__file__))}
    run = subprocess.run([sys.executable, "-c", code, str(tmp_path / "x.mp4")], text=True,
                         env=environment, check=True, capture_output=True)
    assert (run.stdout, run.stderr) == ("", "")


def test_the_sound_is_where_its_pictures_are(tmp_path):
    """A beep at one second."""
    pytest.importorskip("av")
    samples = tone(2)[:, 0]
    samples[:RATE] = 0
    for fragment in (None, 0.5):
        motus.encode(clip(60), tmp_path / "x.mp4", fps=30, qp=30, fragment=fragment,
                     audio=(samples, RATE), **CPU)
        heard = np.abs(sound_of(tmp_path / "x.mp4")[0])
        assert abs(np.argmax(heard > 0.1) / RATE - 1) < 0.001


@pytest.mark.parametrize("codec, ending", [("aac", "m4a"), ("aac", "aac"), ("pcm_s16le", "wav"),
                                           ("flac", "flac"), ("aac", "mkv")])
def test_a_file(ffmpeg, tmp_path, codec, ending):
    """AAC with its configuration is copied, everything else becomes AAC."""
    pytest.importorskip("av")
    source, path = tmp_path / f"in.{ending}", tmp_path / "x.mp4"
    subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine=440:duration=1:sample_rate="
                    "44100", "-c:a", codec, str(source)], check=True)
    motus.encode(clip(60), path, fps=30, qp=30, audio=source, **CPU)
    sound = ffmpeg.probe(path, "-show_streams")["streams"][1]
    assert (sound["codec_name"], sound["sample_rate"]) == ("aac", "44100")
    heard = sound_of(path)
    assert abs(heard.shape[1] / 44100 - 1) < 0.08 and abs(loudest(heard[0], 44100) - 440) < 3
    if ending == "m4a":
        first = ffmpeg.probe(source, "-show_packets")["packets"]
        again = ffmpeg.probe(path, "-show_packets", "-select_streams", "a")["packets"]
        assert [p["size"] for p in again] == [p["size"] for p in first]
        assert [p["pts_time"] for p in again] == [p["pts_time"] for p in first]


@pytest.mark.parametrize("audio, error", [
    ("no-such-file.wav", FileNotFoundError), (__file__, Exception), (3, motus.ArgumentError),
    ((np.zeros((9, 9, 9)), 48000), motus.ArgumentError), ((np.zeros(99, int), 48000), TypeError),
    ((np.zeros(99), -1), motus.ArgumentError), ((np.zeros(99), 12345), motus.ArgumentError),
    ((np.zeros(99), 44100.5), TypeError), ((np.full(99, np.nan), 48000), motus.ArgumentError),
])
def test_no_sound(rgb, tmp_path, audio, error):
    pytest.importorskip("av")
    with pytest.raises(error):
        motus.encode(rgb, tmp_path / "x.mp4", audio=audio, **CPU)
    assert list(tmp_path.iterdir()) == []


def test_sound_that_is_clipped(rgb):
    pytest.importorskip("av")
    with pytest.warns(UserWarning, match="audio of up to 1.638e\\+04: outside -1 to 1") as caught:
        motus.encode(rgb, audio=(tone(0.3)[:, 0] * 32767, RATE), **CPU)
    assert caught[0].filename == __file__


def test_pictures_are_no_sound(rgb, tmp_path):
    pytest.importorskip("av")
    motus.encode(rgb, tmp_path / "in.mp4", **CPU)
    with pytest.raises(motus.ArgumentError, match="has no audio"):
        motus.encode(rgb, audio=tmp_path / "in.mp4", **CPU)
    with pytest.raises(motus.ArgumentError, match="no audio; container"):
        motus.encode(rgb, tmp_path / "x.264", audio=tmp_path / "in.mp4", **CPU)


def test_without_pyav(rgb, monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(motus.UnsupportedError, match="needs PyAV"):
        motus.encode(rgb, audio="x.wav", **CPU)
