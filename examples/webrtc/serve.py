#!/usr/bin/env python3
"""Shows live pictures in a browser: motush264enc -> WebRTC, with an HTTP server for the page and for the two descriptions (SDP) that a connection needs.

    python3 serve.py                                       a test picture at http://127.0.0.1:8080
    python3 serve.py --source "v4l2src"                    a camera; or any other GStreamer source
    python3 serve.py --host 0.0.0.0 --address 192.168.1.5  for other machines

Needs Debian's gstreamer1.0-plugins-good, -bad and -nice, python3-gi, gir1.2-gst-plugins-bad-1.0; and GST_PLUGIN_PATH where libgstmotus.so is not installed.
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

# A key picture is coded when the browser asks for one (it does when it joins, and when packets got lost): none are needed in between. packetization-mode is said
# since the offer may be made before rtph264pay has said it.
PIPELINE = """
  {source} ! videoconvert ! videoscale ! videorate ! video/x-raw,format=I420,width={width},height={height},framerate={fps}/1
  ! queue max-size-buffers=1 leaky=downstream
  ! motush264enc name=encoder tune=zerolatency speed-preset=faster bitrate={bitrate} vbv-buf-capacity=300 key-int-max=2147483647
  ! rtph264pay aggregate-mode=zero-latency config-interval=-1 pt=96 ! application/x-rtp,media=video,encoding-name=H264,payload=96,packetization-mode=(string)1
  ! webrtcbin name=peer bundle-policy=max-bundle
"""


class Viewer:
    """One browser's connection: a pipeline of its own, so that it has its own rate and key pictures."""

    def __init__(self, options, gone):
        self.pipeline = Gst.parse_launch(PIPELINE.format(**vars(options)))
        self.peer = self.pipeline.get_by_name("peer")
        self.candidates, self.gathered, self.wanted = [], threading.Event(), threading.Event()
        self.peer.connect("on-negotiation-needed", lambda _: self.wanted.set())
        self.peer.connect("on-ice-candidate", lambda _, line, text: self.candidates.append({"sdpMLineIndex": line, "candidate": text}))
        self.peer.connect("notify::ice-gathering-state", self._gathering)
        self.peer.connect("notify::connection-state", self._state, gone)
        if options.address:
            agent = self.peer.get_property("ice-agent")
            agent._ref()  # its reference is a floating one in GStreamer 1.22, which Python would take away from webrtcbin
            agent.emit("add-local-ip-address", options.address)
        self.pipeline.set_state(Gst.State.PLAYING)

    def _gathering(self, peer, _):
        if peer.get_property("ice-gathering-state") == GstWebRTC.WebRTCICEGatheringState.COMPLETE:
            self.gathered.set()

    @staticmethod
    def _state(peer, _, gone):
        states = GstWebRTC.WebRTCPeerConnectionState
        if peer.get_property("connection-state") in (states.FAILED, states.CLOSED, states.DISCONNECTED):
            threading.Thread(target=gone, daemon=True).start()  # a pipeline cannot be stopped from within

    def _check(self):
        message = self.pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
        if message:
            raise RuntimeError(message.parse_error()[0].message)

    def offer(self):
        """What we offer to send, and the addresses it comes from."""
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
        self.peer.emit("set-remote-description", GstWebRTC.WebRTCSessionDescription.new(GstWebRTC.WebRTCSDPType.ANSWER, sdp), promise)
        promise.wait()
        self._check()

    def close(self):
        self.pipeline.set_state(Gst.State.NULL)


class Handler(http.server.BaseHTTPRequestHandler):
    """GET /: the page. POST /offer: a new viewer and what we offer it. POST /answer?N and /bye?N: from viewer N."""

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
                viewer = server.viewers[number] = Viewer(server.options, lambda: server.drop(number))
                result = dict(viewer.offer(), number=number)
            elif what == "/answer":
                server.viewers[number].answer(body)
            elif what == "/bye":
                server.drop(number)
            else:
                return self._reply(404, b"", "text/plain")
        except KeyError:
            return self._reply(404, b"no such viewer", "text/plain")
        except Exception as error:  # what went wrong belongs on the page, too
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

    def number(self):
        with self.lock:
            self.count += 1
            return str(self.count)

    def drop(self, number):
        viewer = self.viewers.pop(number, None)
        if viewer:
            viewer.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", default="videotestsrc is-live=true pattern=ball", help="a GStreamer source, or a chain that ends in raw pictures")
    parser.add_argument("--width", type=int, default=640)
    parser.add_argument("--height", type=int, default=360)
    parser.add_argument("--fps", type=int, default=30)
    parser.add_argument("--bitrate", type=int, default=1500, help="kbit/s")
    parser.add_argument("--host", default="127.0.0.1", help="where the HTTP server listens")
    parser.add_argument("--port", type=int, default=8080, help="0: any free one")
    parser.add_argument("--address", default="127.0.0.1", help="the local address that pictures are sent from; empty: all there are")
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
