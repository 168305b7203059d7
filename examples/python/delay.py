#!/usr/bin/env python3
"""How old is a picture when a browser shows it? A scene is drawn, on the GPU if PyTorch has one,
and encoded where it lies; WebRTC takes it to a page. A bar code in each picture says when its
drawing began; the page reads the code from what it shows.

    python3 delay.py                                    then open http://127.0.0.1:8080
    python3 delay.py --size 1920x1080 --fps 60 --bitrate 20000000

Needs motus, aiortc and NumPy."""
# SPDX-License-Identifier: BSD-2-Clause
import argparse
import asyncio
import http.server
import json
import threading
import time
from pathlib import Path
from typing import Any, Optional

import numpy as np
from aiortc import (MediaStreamTrack, RTCConfiguration, RTCPeerConnection, RTCRtpSender,
                    RTCSessionDescription)

from webrtc import PacketTrack

try:
    import torch
    HAS_GPU = torch.cuda.is_available()
except ImportError:
    HAS_GPU = False

PAGE = Path(__file__).with_suffix(".html")
BITS, SQUARE = 32, 16  # of the bar code: 24 bits of ms, then their three bytes' XOR; in samples


def milliseconds() -> float:
    return time.monotonic() * 1000


def bar_code(ms: int) -> np.ndarray:
    """A row of samples, 0 or 1."""
    ms &= 0xFFFFFF
    word = ms << 8 | (ms >> 16 ^ ms >> 8 ^ ms) & 0xFF
    bits = [word >> (BITS - 1 - i) & 1 for i in range(BITS)]
    return np.repeat(np.array(bits, np.float32), SQUARE)


class Scene(MediaStreamTrack):
    """Waves and a ball, float RGB [height, width, 3] from 0 to 1; a picture is drawn when it is
    due."""
    kind = "video"

    def __init__(self, width: int, height: int, fps: float, on_gpu: bool) -> None:
        super().__init__()
        self._fps, self._on_gpu = fps, on_gpu
        self._count, self._start = 0, milliseconds()
        self.drawing = 0.0  # ms, of the last picture
        y, x = np.mgrid[0:height, 0:width].astype(np.float32)
        self._x, self._y = self._array(x), self._array(y)

    def _array(self, values: np.ndarray) -> Any:
        return torch.from_numpy(values).cuda() if self._on_gpu else values

    def draw(self) -> Any:
        began = milliseconds()
        np_or_torch = torch if self._on_gpu else np
        t, x, y = self._count / self._fps, self._x, self._y
        height, width = x.shape
        ball_x, ball_y = width * (0.5 + 0.4 * np.sin(t)), height * (0.5 + 0.3 * np.sin(1.7 * t))
        ball = (x - ball_x) ** 2 + (y - ball_y) ** 2 < (height / 8) ** 2
        waves = 0.5 + 0.3 * np_or_torch.sin(x / 19 + 2 * t) * np_or_torch.sin(y / 13 - t)
        picture = np_or_torch.stack([waves, 0.2 + 0.6 * ball, 1 - waves], -1)
        picture[:SQUARE, :BITS * SQUARE] = self._array(bar_code(int(began)))[None, :, None]
        self.drawing = milliseconds() - began
        return picture

    async def recv(self) -> Any:
        self._count += 1
        due = self._start + 1000 * self._count / self._fps
        await asyncio.sleep(max(due - milliseconds(), 0) / 1000)
        return await asyncio.get_event_loop().run_in_executor(None, self.draw)


class Viewers:
    """Connections of browsers; each has its scene and its encoder."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options, self._peers = options, set()  # type: ignore[var-annotated]

    async def answer(self, offer: dict[str, str]) -> dict[str, str]:
        width, height = map(int, self._options.size.split("x"))
        fps, gpu = self._options.fps, self._options.backend != "cpu" and HAS_GPU
        peer = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        track = PacketTrack(Scene(width, height, fps, gpu), fps, bitrate=self._options.bitrate,
                            keyint=0, backend="cuda" if gpu else "cpu")
        transceiver = peer.addTransceiver(track, direction="sendonly")
        codecs = RTCRtpSender.getCapabilities("video").codecs
        transceiver.setCodecPreferences([c for c in codecs if c.mimeType == "video/H264"])
        track.follow(transceiver.sender, most=self._options.bitrate)
        peer.on("connectionstatechange", lambda: self._changed(peer))
        self._peers.add(peer)
        await peer.setRemoteDescription(RTCSessionDescription(**offer))
        await peer.setLocalDescription(await peer.createAnswer())
        return {"type": peer.localDescription.type, "sdp": peer.localDescription.sdp}

    def _changed(self, peer: RTCPeerConnection) -> None:
        if peer.connectionState in ("failed", "closed"):
            self._peers.discard(peer)

    async def close(self) -> None:
        await asyncio.gather(*(peer.close() for peer in list(self._peers)))


class Handler(http.server.BaseHTTPRequestHandler):
    """GET /: the page; /clock: ms of the clock that the codes show. POST /offer: a browser's
    description of the session, answered by ours."""

    def do_GET(self) -> None:
        if self.path == "/":
            self._reply(PAGE.read_bytes(), "text/html; charset=utf-8")
        else:
            self._reply(json.dumps(milliseconds()).encode(), "application/json")

    def do_POST(self) -> None:
        offer = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        coroutine = self.server.viewers.answer(offer)  # type: ignore[attr-defined]
        loop = self.server.loop  # type: ignore[attr-defined]
        answer = asyncio.run_coroutine_threadsafe(coroutine, loop).result()
        self._reply(json.dumps(answer).encode(), "application/json")

    def _reply(self, data: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


class Demo:
    """Serves until it is closed. `url` is the page's address."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._loop = asyncio.new_event_loop()
        self._viewers = Viewers(options)
        self._server = http.server.ThreadingHTTPServer((options.host, options.port), Handler)
        self._server.loop, self._server.viewers = self._loop, self._viewers  # type: ignore
        self._threads = [threading.Thread(target=run) for run in (self._loop.run_forever,
                                                                  self._server.serve_forever)]
        for thread in self._threads:
            thread.start()
        self.url = f"http://{options.host}:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        asyncio.run_coroutine_threadsafe(self._viewers.close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        for thread in self._threads:
            thread.join()
        self._loop.close()
        self._server.server_close()


def options_of(arguments: Optional[list[str]] = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", default="640x360", help="width x height, at least 512 wide")
    parser.add_argument("--fps", type=int, default=60)
    parser.add_argument("--bitrate", type=int, default=4_000_000, help="bits a second")
    parser.add_argument("--backend", choices=["auto", "cpu"], default="auto")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8080, help="0: any free one")
    return parser.parse_args(arguments)


def main() -> None:
    demo = Demo(options_of())
    print(demo.url, flush=True)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        demo.close()


if __name__ == "__main__":
    main()
