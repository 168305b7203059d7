#!/usr/bin/env python3
"""Shows live pictures in a browser by motush264enc and WebRTC. An HTTP server delivers the page and
exchanges the two session descriptions (SDP).

    python3 serve.py                                       a test picture at http://127.0.0.1:8080
    python3 serve.py --source "v4l2src"                    a camera; or any other GStreamer source
    python3 serve.py --host 0.0.0.0 --address 192.168.1.5  for other machines

Needs Debian's gstreamer1.0-plugins-good, -bad and -nice, python3-gi, gir1.2-gst-plugins-bad-1.0;
and GST_PLUGIN_PATH if libgstmotus.so is not installed.
SPDX-License-Identifier: BSD-2-Clause
"""
import argparse
import http.server
import json
import os
import sys
import threading

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstWebRTC", "1.0")
gi.require_version("GstSdp", "1.0")
from gi.repository import Gst, GstSdp, GstWebRTC  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
WAIT = 10  # seconds for candidates and an answer

# The browser asks for key pictures when it joins and when packets are lost; no others are needed.
# packetization-mode is set here because the offer may precede rtph264pay's caps.
PIPELINE = """
  {source} ! videoconvert ! videoscale ! videorate
  ! video/x-raw,format=I420,width={width},height={height},framerate={fps}/1
  ! queue max-size-buffers=1 leaky=downstream
  ! motush264enc name=encoder tune=zerolatency speed-preset=faster bitrate={bitrate}
    vbv-buf-capacity=300 key-int-max=2147483647
  ! video/x-h264,profile=constrained-baseline
  ! rtph264pay aggregate-mode=zero-latency config-interval=-1 pt=96
  ! application/x-rtp,media=video,encoding-name=H264,payload=96,packetization-mode=(string)1
  ! webrtcbin name=peer bundle-policy=max-bundle
"""


class Viewer:
    """A browser's connection: a pipeline with its own rate and key pictures."""

    def __init__(self, options, gone):
        self.pipeline = Gst.parse_launch(PIPELINE.format(**vars(options)))
        self.peer = self.pipeline.get_by_name("peer")
        self.candidates, self.gathered, self.wanted = [], threading.Event(), threading.Event()
        self.peer.connect("on-negotiation-needed", lambda _: self.wanted.set())
        self.peer.connect("on-ice-candidate", self._candidate)
        self.peer.connect("notify::ice-gathering-state", self._gathering)
        self.peer.connect("notify::connection-state", self._state, gone)
        if options.address:
            agent = self.peer.get_property("ice-agent")
            agent._ref()  # GStreamer 1.22 returns a floating reference, which Python would drop
            agent.emit("add-local-ip-address", options.address)
        self.pipeline.set_state(Gst.State.PLAYING)

    def _candidate(self, _, line, text):
        self.candidates.append({"sdpMLineIndex": line, "candidate": text})

    def _gathering(self, peer, _):
        if peer.get_property("ice-gathering-state") == GstWebRTC.WebRTCICEGatheringState.COMPLETE:
            self.gathered.set()

    @staticmethod
    def _state(peer, _, gone):
        states = GstWebRTC.WebRTCPeerConnectionState
        ended = states.FAILED, states.CLOSED, states.DISCONNECTED
        if peer.get_property("connection-state") in ended:
            # A pipeline cannot be stopped from its own threads.
            threading.Thread(target=gone, daemon=True).start()

    def _check(self):
        message = self.pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
        if message:
            raise RuntimeError(message.parse_error()[0].message)

    def offer(self):
        """Returns the offer and the addresses it is sent from."""
        self._wait(self.wanted, "the pipeline does not start")
        promise = Gst.Promise.new()
        self.peer.emit("create-offer", None, promise)
        promise.wait()
        reply = promise.get_reply()  # holds the offer
        offer = reply.get_value("offer")
        self.peer.emit("set-local-description", offer, Gst.Promise.new())
        self._wait(self.gathered, "no addresses were found")
        return {"type": "offer", "sdp": offer.sdp.as_text(), "candidates": self.candidates}

    def _wait(self, event, what):
        if not event.wait(WAIT):
            self._check()
            raise RuntimeError(what)

    def answer(self, text):
        _, sdp = GstSdp.SDPMessage.new_from_text(text)
        promise = Gst.Promise.new()
        kind = GstWebRTC.WebRTCSDPType.ANSWER
        answer = GstWebRTC.WebRTCSessionDescription.new(kind, sdp)
        self.peer.emit("set-remote-description", answer, promise)
        promise.wait()
        self._check()

    def close(self):
        self.pipeline.set_state(Gst.State.NULL)


class Handler(http.server.BaseHTTPRequestHandler):
    """GET /: the page. POST /offer: opens a viewer and returns the offer. POST /answer?N, /bye?N:
    from viewer N."""

    def do_GET(self):
        if self.path != "/":
            return self._reply(404, b"", "text/plain")
        with open(os.path.join(HERE, "page.html"), "rb") as file:
            return self._reply(200, file.read(), "text/html; charset=utf-8")

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        what, _, number = self.path.partition("?")
        server, result = self.server, {}
        try:
            if what == "/offer":
                number = server.number()
                viewer = Viewer(server.options, lambda: server.drop(number))
                server.viewers[number] = viewer
                result = dict(viewer.offer(), number=number)
            elif what == "/answer":
                server.viewers[number].answer(body)
            elif what == "/bye":
                server.drop(number)
            else:
                return self._reply(404, b"", "text/plain")
        except KeyError:
            return self._reply(404, b"no such viewer", "text/plain")
        except Exception as error:  # shown on the page, too
            print("serve.py:", error, file=sys.stderr)
            return self._reply(500, str(error).encode(), "text/plain")
        return self._reply(200, json.dumps(result).encode(), "application/json")

    def _reply(self, status, data, kind):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, options):
        super().__init__((options.host, options.port), Handler)
        self.options, self.viewers, self.count, self.lock = options, {}, 0, threading.Lock()

    def handle_error(self, *request):
        if not isinstance(sys.exc_info()[1], ConnectionError):  # the browser has left
            super().handle_error(*request)

    def number(self):
        with self.lock:
            self.count += 1
            return str(self.count)

    def drop(self, number):
        viewer = self.viewers.pop(number, None)
        if viewer:
            viewer.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--source", default="videotestsrc is-live=true pattern=ball",
        help="a GStreamer source, or a chain that ends in raw pictures")
    add("--width", type=int, default=640)
    add("--height", type=int, default=360)
    add("--fps", type=int, default=30)
    add("--bitrate", type=int, default=1500, help="kbit/s")
    add("--host", default="127.0.0.1", help="address of the HTTP server")
    add("--port", type=int, default=8080, help="0: any free one")
    add("--address", default="127.0.0.1", help="local address of the pictures; empty: all")
    options = parser.parse_args()
    Gst.init(None)
    for name in ("motush264enc", "webrtcbin", "nicesrc", "dtlsenc", "srtpenc", "rtph264pay"):
        if not Gst.ElementFactory.find(name):
            sys.exit(f"serve.py: GStreamer has no element {name} here")
    server = Server(options)
    print(f"http://{options.host}:{server.server_port}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    for number in list(server.viewers):
        server.drop(number)


if __name__ == "__main__":
    main()
