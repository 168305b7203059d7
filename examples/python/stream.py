#!/usr/bin/env python3
"""Shows live pictures in a browser, at http://127.0.0.1:8080: three ways to take them there.

    python3 stream.py                       WebRTC by aiortc: a scene, drawn and encoded on the GPU
                                            if PyTorch has one; the page says how old each picture
                                            is, from drawing to display
    python3 stream.py --size 1920x1080 --fps 60 --bitrate 20000000
    python3 stream.py --mp4                 an MP4 that plays while it is made
    python3 stream.py --gstreamer           WebRTC by motush264enc: a test picture
    python3 stream.py --gstreamer --source v4l2src          a camera; or another GStreamer source
    python3 stream.py --host 0.0.0.0 --address 192.168.1.5  for other machines

Needs motus and NumPy, and aiortc without --mp4. --gstreamer needs none of them, but Debian's
gstreamer1.0-plugins-good, -bad and -nice, python3-gi, gir1.2-gst-plugins-bad-1.0; and
GST_PLUGIN_PATH if libgstmotus.so is not installed.

For your own program, motus in aiortc: Constrained Baseline, which every WebRTC browser decodes,
without lookahead, at the bitrate that the receiver asks for. Prefer H.264, as PeerViewer does.

1. A track of packets, whose rate the program may set:

    track = PacketTrack(camera, bitrate=1_000_000)
    sender = connection.addTrack(track)
    track.follow(sender)                   # key pictures and rates that the receiver asks for
    track.bitrate = 300_000                # or the program's own

2. In place of aiortc's encoder, for all tracks of frames:

    install()                              # before the first connection"""
# SPDX-License-Identifier: BSD-2-Clause
from __future__ import annotations

import argparse
import asyncio
import http.server
import json
import sys
import threading
import time
from pathlib import Path
from typing import Any, Iterator, Optional

try:
    import aiortc.rtcrtpsender
    import motus.pyav
    from aiortc import (MediaStreamTrack, RTCConfiguration, RTCPeerConnection, RTCRtpSender,
                        RTCSessionDescription)
    from aiortc.codecs.h264 import H264Encoder
    from aiortc.rtp import RTCP_PSFB_APP, RtcpPsfbPacket, unpack_remb_fci
    from motus.mp4 import nal_units
except (ImportError, OSError):
    MediaStreamTrack = H264Encoder = object  # type: ignore[assignment,misc]
try:
    import motus
    import numpy as np
except (ImportError, OSError):
    pass
try:
    import gi
    for _name in ("Gst", "GstWebRTC", "GstSdp"):
        gi.require_version(_name, "1.0")
    from gi.repository import Gst, GstSdp, GstWebRTC
except (ImportError, ValueError):
    pass
try:
    import torch
    HAS_GPU = torch.cuda.is_available()
except ImportError:
    HAS_GPU = False

PAGE = Path(__file__).with_suffix(".html")
WAIT = 10  # seconds for candidates and an answer
BITS, SQUARE = 32, 16  # of the bar code: 24 bits of ms, then their three bytes' XOR; in samples

# ---- motus in aiortc -----------------------------------------------------------------------------


class PacketTrack(MediaStreamTrack):
    """Encodes the frames of another track. aiortc sends packets as they are."""
    kind = "video"

    def __init__(self, frames: Any, frame_rate: int = 30, bitrate: int = 1_000_000,
                 **settings: Any) -> None:
        super().__init__()
        self._frames, self._wants_key = frames, False
        self.bitrate = bitrate
        self._encoder = motus.pyav.PacketEncoder(frame_rate, bitrate=bitrate, **settings)

    def request_keyframe(self) -> None:
        self._wants_key = True

    def _encode(self, frame: Any) -> Any:
        if self._encoder.bitrate != self.bitrate:
            self._encoder.bitrate = self.bitrate
        key, self._wants_key = self._wants_key, False
        packet, = self._encoder.encode(frame, keyframe=key)
        return packet

    async def recv(self) -> Any:
        frame = await self._frames.recv()
        return await asyncio.get_event_loop().run_in_executor(None, self._encode, frame)

    def follow(self, sender: Any, least: int = 100_000, most: int = 3_000_000) -> None:
        """Obeys the receiver. aiortc tells a track of packets nothing: this looks into its
        sender."""
        handle = sender._handle_rtcp_packet

        async def listen(packet: Any) -> None:
            if isinstance(packet, RtcpPsfbPacket) and packet.fmt == RTCP_PSFB_APP:
                wanted, _ = unpack_remb_fci(packet.fci)
                self.bitrate = min(max(wanted, least), most)
            await handle(packet)

        sender._handle_rtcp_packet, sender._send_keyframe = listen, self.request_keyframe


class MotusEncoder(H264Encoder):
    """Encodes with motus; aiortc's encoder splits the NAL units into RTP packets."""

    def __init__(self) -> None:
        super().__init__()
        self._encoder: Optional[motus.pyav.PacketEncoder] = None

    def _encode_frame(self, frame: Any, force_keyframe: bool) -> Iterator[bytes]:
        if self._encoder is None:
            self._encoder = motus.pyav.PacketEncoder(30, bitrate=self.target_bitrate, keyint=0)
        elif self._encoder.bitrate != self.target_bitrate:
            self._encoder.bitrate = self.target_bitrate
        for packet in self._encoder.encode(frame, keyframe=force_keyframe):
            yield from nal_units(bytes(packet))


def install() -> None:
    """Makes senders of H.264 use motus."""
    before = aiortc.rtcrtpsender.get_encoder

    def get_encoder(codec: Any) -> Any:
        return MotusEncoder() if codec.mimeType.lower() == "video/h264" else before(codec)

    aiortc.rtcrtpsender.get_encoder = get_encoder


# ---- Pictures ------------------------------------------------------------------------------------


def milliseconds() -> float:
    return time.monotonic() * 1000


def size_of(options: argparse.Namespace) -> tuple[int, int]:
    width, height = map(int, options.size.split("x"))
    return width, height


class Scene(MediaStreamTrack):
    """Waves and a ball under a bar code that says when drawing began, float RGB [height, width, 3]
    from 0 to 1; a picture is drawn when it is due."""
    kind = "video"

    def __init__(self, width: int, height: int, fps: float, on_gpu: bool) -> None:
        super().__init__()
        self._fps, self._on_gpu = fps, on_gpu
        self._count, self._start = 0, milliseconds()
        y, x = np.mgrid[0:height, 0:width].astype(np.float32)
        self._x, self._y = self._array(x), self._array(y)

    def _array(self, values: Any) -> Any:
        return torch.from_numpy(values).cuda() if self._on_gpu else values

    def draw(self) -> Any:
        ms = int(milliseconds()) & 0xFFFFFF
        np_or_torch = torch if self._on_gpu else np
        t, x, y = self._count / self._fps, self._x, self._y
        height, width = x.shape
        ball_x, ball_y = width * (0.5 + 0.4 * np.sin(t)), height * (0.5 + 0.3 * np.sin(1.7 * t))
        ball = (x - ball_x) ** 2 + (y - ball_y) ** 2 < (height / 8) ** 2
        waves = 0.5 + 0.3 * np_or_torch.sin(x / 19 + 2 * t) * np_or_torch.sin(y / 13 - t)
        picture = np_or_torch.stack([waves, 0.2 + 0.6 * ball, 1 - waves], -1)
        word = ms << 8 | (ms >> 16 ^ ms >> 8 ^ ms) & 0xFF
        bits = np.array([word >> (BITS - 1 - i) & 1 for i in range(BITS)], np.float32)
        picture[:SQUARE, :BITS * SQUARE] = self._array(np.repeat(bits, SQUARE))[None, :, None]
        return picture

    async def recv(self) -> Any:
        self._count += 1
        due = self._start + 1000 * self._count / self._fps
        await asyncio.sleep(max(due - milliseconds(), 0) / 1000)
        return await asyncio.get_event_loop().run_in_executor(None, self.draw)


def mp4(options: argparse.Namespace, seconds: float, fps: int) -> Iterator[bytes]:
    """Yields fragmented MP4, each picture as soon as it is coded. A web framework can send this
    generator: StreamingResponse(mp4(...), media_type="video/mp4")."""
    scene = Scene(*size_of(options), fps, options.backend != "cpu" and HAS_GPU)

    def pictures() -> Iterator[Any]:
        for scene._count in range(int(seconds * fps)):
            yield scene.draw()

    return motus.stream(pictures(), fps, fragment=0, lookahead=0, crf=25)


# ---- Viewers: a browser's connection each --------------------------------------------------------


class PeerViewer:
    """Answers the offer of a browser, with a scene and an encoder of its own."""

    def __init__(self, options: argparse.Namespace, loop: asyncio.AbstractEventLoop,
                 gone: Any) -> None:
        self._options, self._loop, self._gone = options, loop, gone
        self._peer: Any = None

    def _run(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    async def _answer(self, offer: dict[str, str]) -> dict[str, str]:
        fps, gpu = self._options.fps, self._options.backend != "cpu" and HAS_GPU
        peer = self._peer = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        track = PacketTrack(Scene(*size_of(self._options), fps, gpu), fps,
                            bitrate=self._options.bitrate, keyint=0,
                            backend="cuda" if gpu else "cpu")
        transceiver = peer.addTransceiver(track, direction="sendonly")
        codecs = RTCRtpSender.getCapabilities("video").codecs
        transceiver.setCodecPreferences([c for c in codecs if c.mimeType == "video/H264"])
        track.follow(transceiver.sender, most=self._options.bitrate)
        peer.on("connectionstatechange", self._changed)
        await peer.setRemoteDescription(RTCSessionDescription(**offer))
        await peer.setLocalDescription(await peer.createAnswer())
        return {"type": peer.localDescription.type, "sdp": peer.localDescription.sdp}

    def _changed(self) -> None:
        if self._peer.connectionState in ("failed", "closed"):
            self._gone(False)

    def describe(self, offer: str) -> dict[str, Any]:
        return self._run(self._answer(json.loads(offer)))

    def close(self) -> None:
        self._run(self._peer.close())


# The browser asks for key pictures when it joins and when packets are lost; no others are needed.
# packetization-mode is set here because the offer may precede rtph264pay's caps.
PIPELINE = """
  {source} ! videoconvert ! videoscale ! videorate
  ! video/x-raw,format=I420,width={width},height={height},framerate={fps}/1
  ! queue max-size-buffers=1 leaky=downstream
  ! motush264enc name=encoder tune=zerolatency speed-preset=faster bitrate={kilobits}
    vbv-buf-capacity=300 key-int-max=2147483647
  ! video/x-h264,profile=constrained-baseline
  ! rtph264pay aggregate-mode=zero-latency config-interval=-1 pt=96
  ! application/x-rtp,media=video,encoding-name=H264,payload=96,packetization-mode=(string)1
  ! webrtcbin name=peer bundle-policy=max-bundle
"""


class PipelineViewer:
    """Makes an offer: a pipeline with its own rate and key pictures."""

    def __init__(self, options: argparse.Namespace, _: Any, gone: Any) -> None:
        self._candidates: list[dict[str, Any]] = []
        self._gathered, self._wanted = threading.Event(), threading.Event()
        width, height = size_of(options)
        self._pipeline = Gst.parse_launch(PIPELINE.format(
            source=options.source, width=width, height=height, fps=options.fps,
            kilobits=options.bitrate // 1000))
        self._peer = self._pipeline.get_by_name("peer")
        self._peer.connect("on-negotiation-needed", lambda _: self._wanted.set())
        self._peer.connect("on-ice-candidate", lambda _, line, text: self._candidates.append(
            {"sdpMLineIndex": line, "candidate": text}))
        self._peer.connect("notify::ice-gathering-state", self._gathering)
        self._peer.connect("notify::connection-state", self._state, gone)
        if options.address:
            agent = self._peer.get_property("ice-agent")
            agent._ref()  # GStreamer 1.22 returns a floating reference, which Python would drop
            agent.emit("add-local-ip-address", options.address)
        self._pipeline.set_state(Gst.State.PLAYING)

    def _gathering(self, peer: Any, _: Any) -> None:
        if peer.get_property("ice-gathering-state") == GstWebRTC.WebRTCICEGatheringState.COMPLETE:
            self._gathered.set()

    @staticmethod
    def _state(peer: Any, _: Any, gone: Any) -> None:
        states = GstWebRTC.WebRTCPeerConnectionState
        ended = states.FAILED, states.CLOSED, states.DISCONNECTED
        if peer.get_property("connection-state") in ended:
            # A pipeline cannot be stopped from its own threads.
            threading.Thread(target=gone, daemon=True).start()

    def _check(self) -> None:
        message = self._pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
        if message:
            raise RuntimeError(message.parse_error()[0].message)

    def _wait(self, event: threading.Event, what: str) -> None:
        if not event.wait(WAIT):
            self._check()
            raise RuntimeError(what)

    def describe(self, _: str) -> dict[str, Any]:
        """Returns the offer and the addresses it is sent from."""
        self._wait(self._wanted, "the pipeline does not start")
        promise = Gst.Promise.new()
        self._peer.emit("create-offer", None, promise)
        promise.wait()
        reply = promise.get_reply()  # holds the offer
        offer = reply.get_value("offer")
        self._peer.emit("set-local-description", offer, Gst.Promise.new())
        self._wait(self._gathered, "no addresses were found")
        return {"type": "offer", "sdp": offer.sdp.as_text(), "candidates": self._candidates}

    def answer(self, text: str) -> None:
        _, sdp = GstSdp.SDPMessage.new_from_text(text)
        promise = Gst.Promise.new()
        answer = GstWebRTC.WebRTCSessionDescription.new(GstWebRTC.WebRTCSDPType.ANSWER, sdp)
        self._peer.emit("set-remote-description", answer, promise)
        promise.wait()
        self._check()

    def close(self) -> None:
        self._pipeline.set_state(Gst.State.NULL)


# ---- The server ----------------------------------------------------------------------------------


class Handler(http.server.BaseHTTPRequestHandler):
    """GET /: the page; /clock: ms of the clock that the bar codes show; /video.mp4: the MP4. POST
    /offer: opens a viewer, from the browser's description of the session to ours. POST /answer?N,
    /bye?N: from viewer N."""
    server: Demo

    def do_GET(self) -> None:
        what, _, query = self.path.partition("?")
        if what == "/":
            self._reply(200, PAGE.read_bytes(), "text/html; charset=utf-8")
        elif what == "/clock":
            state = {"clock": milliseconds(), "way": self.server.way}
            self._reply(200, json.dumps(state).encode(), "application/json")
        elif what == "/video.mp4" and self.server.way == "mp4":
            asked = dict(pair.split("=") for pair in query.split("&") if pair)
            self._reply(200, None, "video/mp4")
            for piece in mp4(self.server.options, float(asked.get("seconds", 10)),
                             int(asked.get("fps", 30))):
                self.wfile.write(piece)
        else:
            self._reply(404, b"", "text/plain")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        what, _, number = self.path.partition("?")
        result: dict[str, Any] = {}
        try:
            if what == "/offer":
                result = self.server.open(body)
            elif what == "/answer":
                self.server.viewers[number].answer(body)
            elif what == "/bye":
                self.server.drop(number)
            else:
                return self._reply(404, b"", "text/plain")
        except KeyError:
            return self._reply(404, b"no such viewer", "text/plain")
        except Exception as error:  # shown on the page, too
            print("stream.py:", error, file=sys.stderr)
            return self._reply(500, str(error).encode(), "text/plain")
        return self._reply(200, json.dumps(result).encode(), "application/json")

    def _reply(self, status: int, data: Optional[bytes], kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if data is not None:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data or b"")

    def log_message(self, *_: Any) -> None:
        pass


class Demo(http.server.ThreadingHTTPServer):
    """Serves until it is closed. `url` is the page's address."""
    daemon_threads = True

    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__((options.host, options.port), Handler)
        self.options, self.viewers, self._count = options, {}, 0  # type: ignore[var-annotated]
        self.way = "mp4" if options.mp4 else "gstreamer" if options.gstreamer else "aiortc"
        self._lock, self._loop = threading.Lock(), asyncio.new_event_loop()
        self._runners = [threading.Thread(target=run, daemon=True) for run in (
            self._loop.run_forever, self.serve_forever)]
        for thread in self._runners:
            thread.start()
        self.url = f"http://{options.host}:{self.server_port}"

    def handle_error(self, *request: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):  # the browser has left
            super().handle_error(*request)

    def open(self, description: str) -> dict[str, Any]:
        with self._lock:
            self._count += 1
            number = str(self._count)
        kind = PipelineViewer if self.way == "gstreamer" else PeerViewer
        viewer = kind(self.options, self._loop, lambda closes=True: self.drop(number, closes))
        self.viewers[number] = viewer
        return dict(viewer.describe(description), number=number)

    def drop(self, number: str, closes: bool = True) -> None:
        viewer = self.viewers.pop(number, None)
        if viewer and closes:
            viewer.close()

    def close(self) -> None:
        for number in list(self.viewers):
            self.drop(number)
        self.shutdown()
        self._loop.call_soon_threadsafe(self._loop.stop)
        for thread in self._runners:
            thread.join()
        self._loop.close()
        self.server_close()


def options_of(arguments: Optional[list[str]] = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--mp4", action="store_true")
    way.add_argument("--gstreamer", action="store_true")
    add("--source", default="videotestsrc is-live=true pattern=ball",
        help="with --gstreamer: a source, or a chain that ends in raw pictures")
    add("--size", default="640x360", help="width x height; at least 512 wide for the page's delays")
    add("--fps", type=int, default=30)
    add("--bitrate", type=int, default=4_000_000, help="bits a second")
    add("--backend", choices=["auto", "cpu"], default="auto")
    add("--host", default="127.0.0.1", help="address of the HTTP server")
    add("--port", type=int, default=8080, help="0: any free one")
    add("--address", default="127.0.0.1",
        help="with --gstreamer: local address of the pictures; empty: all")
    return parser.parse_args(arguments)


def main() -> None:
    options = options_of()
    if options.gstreamer:
        Gst.init(None)
        for name in ("motush264enc", "webrtcbin", "nicesrc", "dtlsenc", "srtpenc", "rtph264pay"):
            if not Gst.ElementFactory.find(name):
                sys.exit(f"stream.py: GStreamer has no element {name} here")
    demo = Demo(options)
    print(demo.url, flush=True)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        demo.close()


if __name__ == "__main__":
    main()
