"""motus.VideoEncoder: torchcodec's methods, and frame by frame."""
# SPDX-License-Identifier: BSD-2-Clause
import gc
import io
import os

import numpy as np
import pytest
from conftest import T

import motus

CPU = {"backend": "cpu"}


@pytest.fixture
def video(rgb):
    return np.ascontiguousarray(rgb.transpose(0, 3, 1, 2))  # torchcodec's [N, C, H, W]


def test_methods(rgb, video, tmp_path):
    want = motus.encode(rgb, fps=30, crf=20, preset="fast", **CPU)
    encoder = motus.VideoEncoder(video, frame_rate=30)
    settings = {"crf": 20, "preset": "fast", "codec": "libx264", "pixel_format": "yuv420p", **CPU}
    encoder.to_file(tmp_path / "x.mp4", **settings)
    assert (tmp_path / "x.mp4").read_bytes() == want
    tensor = encoder.to_tensor("mp4", **settings)
    assert tensor.ndim == 1 and str(tensor.dtype).endswith("uint8")
    assert bytes(np.asarray(tensor)) == want
    file = io.BytesIO()
    encoder.to_file_like(file, "mp4", **settings)
    assert file.getvalue() == b"".join(motus.stream(rgb, fps=30, crf=20, preset="fast", **CPU))
    assert bytes(np.asarray(encoder.to_tensor("h264", **settings))) == motus.encode(
        rgb, container="h264", fps=30, crf=20, preset="fast", **CPU)


def test_a_tensor_without_pytorch(video, monkeypatch):
    import sys
    monkeypatch.setitem(sys.modules, "torch", None)
    data = motus.VideoEncoder(video, frame_rate=30).to_tensor(**CPU)
    assert isinstance(data, np.ndarray) and data.flags.writeable


def test_a_tensor_of_pytorch(video):
    torch = pytest.importorskip("torch")
    encoder = motus.VideoEncoder(torch.from_numpy(video), frame_rate=30)
    data = encoder.to_tensor(format="mp4", crf=30, **CPU)
    assert isinstance(data, torch.Tensor) and data.dtype == torch.uint8
    assert bytes(data.numpy()[4:8]) == b"ftyp"


@pytest.mark.parametrize("options, settings", [
    ({"preset": "ultrafast"}, {"preset": "faster"}), ({"preset": "veryslow"}, {"preset": "slower"}),
    ({"extra_options": {"g": "2", "bf": 0}}, {"keyint": 2}),
    ({"extra_options": {"profile": "high"}}, {"profile": "high"}),
    ({"extra_options": {"profile": "main", "coder": "cavlc"}}, {"profile": "main", "cabac": False}),
    ({"extra_options": {"profile": "high", "8x8dct": 0}},
     {"profile": "high", "transform_8x8": False}),
    ({"extra_options": {"qp": 30, "rc-lookahead": 0}}, {"qp": 30, "lookahead": 0}),
    ({"extra_options": {"b": 300_000, "maxrate": 300_000, "bufsize": "300000"}},
     {"bitrate": 300_000, "vbv_maxrate": 300_000, "vbv_bufsize": 300_000}),
])
def test_options_of_ffmpeg(rgb, video, options, settings):
    got = motus.VideoEncoder(video, frame_rate=30).to_tensor("mp4", **options, **CPU)
    assert bytes(np.asarray(got)) == motus.encode(rgb, fps=30, **settings, **CPU)


@pytest.mark.parametrize("options", [
    {"codec": "libx265"}, {"pixel_format": "yuv444p"}, {"extra_options": {"tune": "film"}},
    {"extra_options": {"coder": "huffman"}},
    {"extra_options": {"bf": 2}}, {"preset": "fastest"}, {"crf": 52},
])
def test_what_is_not_there(video, tmp_path, options):
    with pytest.raises((motus.ArgumentError, motus.UnsupportedError)):
        motus.VideoEncoder(video, frame_rate=30).to_file(tmp_path / "x.mp4", **options)
    with pytest.raises(motus.ArgumentError, match="container 'mov'"):
        motus.VideoEncoder(video, frame_rate=30).to_tensor("mov")
    with pytest.raises(motus.ArgumentError, match="fps"):
        motus.VideoEncoder(video, frame_rate=0).to_tensor("mp4")
    assert os.listdir(tmp_path) == []


def test_frame_by_frame(rgb, tmp_path):
    path = tmp_path / "x.mp4"
    with motus.VideoEncoder(frame_rate=24).open(path, crf=25, **CPU) as encoder:
        for frame in rgb:
            encoder.add_frame(frame)
        assert not path.exists()
    assert path.read_bytes() == motus.encode(rgb, crf=25, **CPU)
    encoder = motus.VideoEncoder(frame_rate=24).open(path, crf=25, fragment=0, **CPU)
    for frame in rgb:
        encoder.add_frame(frame)
    encoder.close()
    encoder.close()
    assert path.read_bytes() == motus.encode(rgb, crf=25, fragment=0, **CPU)


def test_keyframes(ffmpeg, rgb, tmp_path):
    with motus.VideoEncoder(frame_rate=24).open(tmp_path / "x.mp4", **CPU) as encoder:
        for t, frame in enumerate(rgb):
            encoder.add_frame(frame, keyframe=t == 5)
    packets = ffmpeg.probe(tmp_path / "x.mp4", "-show_packets")["packets"]
    assert [p["flags"][0] == "K" for p in packets] == [t in (0, 5) for t in range(T)]


def test_nothing_is_left(rgb, tmp_path):
    path = tmp_path / "x.mp4"
    with pytest.raises(KeyError, match="model"):
        with motus.VideoEncoder(frame_rate=24).open(path, **CPU) as encoder:
            encoder.add_frame(rgb[0])
            raise KeyError("model")
    with pytest.raises(motus.ArgumentError, match="48x32 for an encoder of"):
        with motus.VideoEncoder(frame_rate=24).open(path, **CPU) as encoder:
            encoder.add_frame(rgb[0])
            encoder.add_frame(rgb[0, :32, :48])
    with pytest.raises(motus.ArgumentError, match="no frames"):
        motus.VideoEncoder(frame_rate=24).open(path, **CPU).close()
    encoder = motus.VideoEncoder(frame_rate=24).open(path, **CPU)
    encoder.add_frame(rgb[0])
    del encoder  # without close
    gc.collect()
    assert os.listdir(tmp_path) == []


def test_out_of_order(rgb, tmp_path):
    encoder = motus.VideoEncoder(frame_rate=24)
    with pytest.raises(motus.StateError, match="not open"):
        encoder.add_frame(rgb[0])
    with pytest.raises(motus.StateError, match="without frames"):
        encoder.to_tensor()
    encoder.open(tmp_path / "x.mp4", **CPU)
    with pytest.raises(motus.StateError, match="open already"):
        encoder.open(tmp_path / "y.mp4", **CPU)
    encoder.add_frame(rgb[0])
    encoder.close()
    assert os.listdir(tmp_path) == ["x.mp4"]
