"""The programs of examples/python, if their dependencies are installed."""
# SPDX-License-Identifier: BSD-2-Clause
import asyncio
import importlib
import os
import sys
import urllib.request

import numpy as np
import pytest
from conftest import H, ROOT, T, W, clip


@pytest.fixture
def recipe(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "python"))

    def load(name):
        sys.modules.pop(name, None)
        return importlib.import_module(name)

    return load


def test_export_to_video(recipe, ffmpeg, rgb, tmp_path):
    export = recipe("export_to_video").export_to_video
    sizes = []
    for quality in (2.0, 8.0):
        frames = list(rgb.astype(np.float32) / 255)
        path = export(frames, str(tmp_path / "a.mp4"), fps=8, quality=quality)
        assert path == str(tmp_path / "a.mp4")
        stream = ffmpeg.probe(path, "-show_streams", "-count_frames")["streams"][0]
        assert (stream["width"], stream["height"]) == (W, H)
        assert (int(stream["nb_read_frames"]), stream["avg_frame_rate"]) == (T, "8/1")
        sizes.append((tmp_path / "a.mp4").stat().st_size)
    assert sizes[0] < sizes[1]
    made = export(rgb)
    assert made.endswith(".mp4") and ffmpeg.probe(made, "-show_streams")["streams"]
    os.unlink(made)


def test_pil_images(recipe, tmp_path, rgb):
    image = pytest.importorskip("PIL.Image")
    export = recipe("export_to_video").export_to_video
    export([image.fromarray(frame) for frame in rgb], str(tmp_path / "a.mp4"))
    export(list(rgb), str(tmp_path / "b.mp4"))
    assert (tmp_path / "a.mp4").read_bytes() == (tmp_path / "b.mp4").read_bytes()


def test_mp4_while_it_is_made(recipe, ffmpeg, tmp_path):
    stream = recipe("stream")
    demo = stream.Demo(stream.options_of(["--port", "0", "--mp4", "--backend", "cpu"]))
    try:
        with urllib.request.urlopen(demo.url) as answer:
            assert b"/video.mp4" in answer.read()
        with urllib.request.urlopen(demo.url + "/video.mp4?seconds=0.5&fps=24") as answer:
            content = answer.read()
            assert answer.headers["content-type"] == "video/mp4" and content.count(b"moof") == 12
    finally:
        demo.close()
    (tmp_path / "x.mp4").write_bytes(content)
    stream = ffmpeg.probe(tmp_path / "x.mp4", "-show_streams", "-count_frames")["streams"][0]
    assert int(stream["nb_read_frames"]) == 12


def test_aiortc(recipe, monkeypatch):
    """Sends H.264 between two connections of this process, over 127.0.0.1, to FFmpeg's decoder."""
    aiortc = pytest.importorskip("aiortc")
    import aioice.ice
    sender = importlib.import_module("aiortc.rtcrtpsender")
    monkeypatch.setattr(aioice.ice, "get_host_addresses", lambda use_ipv4, use_ipv6: ["127.0.0.1"])
    monkeypatch.setattr(sender, "get_encoder", sender.get_encoder)  # restored at the end
    stream = recipe("stream")
    made = []

    class Counted(stream.MotusEncoder):

        def __init__(self):
            super().__init__()
            made.append(self)

    monkeypatch.setattr(stream, "MotusEncoder", Counted)
    stream.install()
    from av import VideoFrame
    video = clip(60, 96, 128)

    class Track(aiortc.VideoStreamTrack):

        async def recv(self):
            pts, time_base = await self.next_timestamp()
            frame = VideoFrame.from_ndarray(video[(pts // 3000) % 60], format="rgb24")
            frame.pts, frame.time_base = pts, time_base
            return frame

    async def talk():
        config = aiortc.RTCConfiguration(iceServers=[])
        a, b = aiortc.RTCPeerConnection(config), aiortc.RTCPeerConnection(config)
        seen, done = [], asyncio.Event()

        @b.on("track")
        def on_track(track):

            async def watch():
                while len(seen) < 15:
                    seen.append(await track.recv())
                done.set()

            asyncio.ensure_future(watch())

        transceiver = a.addTransceiver(Track(), direction="sendonly")
        codecs = aiortc.RTCRtpSender.getCapabilities("video").codecs
        transceiver.setCodecPreferences([c for c in codecs if c.mimeType == "video/H264"])
        await a.setLocalDescription(await a.createOffer())
        await b.setRemoteDescription(a.localDescription)
        await b.setLocalDescription(await b.createAnswer())
        await a.setRemoteDescription(b.localDescription)
        try:
            await asyncio.wait_for(done.wait(), 60)
        finally:
            await a.close()
            await b.close()
        return seen

    seen = asyncio.run(talk())
    assert len(made) == 1 and [(f.width, f.height) for f in seen] == [(128, 96)] * 15
    luma = seen[-1].to_ndarray(format="yuv420p")[:96].astype(int)
    lumas = 16 + 219 / 255 * video @ [0.299, 0.587, 0.114]
    assert min(abs(luma - want).mean() for want in lumas) < 6
