#!/usr/bin/env python3
"""Tests examples/python/stream.py --gstreamer: motush264enc sends to a headless Chromium here
until it has shown a hundred pictures.

usage: webrtc_test.py [--size WxH]
Exit status 77 without Chromium, GStreamer's Python bindings, the elements that WebRTC takes, or a
network address.
SPDX-License-Identifier: BSD-2-Clause
"""
import argparse
import os
import socket
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from browser import ASK_FOR_KEY_PICTURE, Browser, find_chromium  # noqa: E402

PICTURES = 100
# R'G'B' of videotestsrc's bars
BARS = [(255, 255, 255), (255, 255, 0), (0, 255, 255), (0, 255, 0), (255, 0, 255), (255, 0, 0),
        (0, 0, 255)]


def skip(why):
    print("SKIP:", why)
    sys.exit(77)


def needed():
    """Returns the name of what is missing, or None."""
    try:
        import gi
        gi.require_version("Gst", "1.0")
        gi.require_version("GstSdp", "1.0")
        gi.require_version("GstWebRTC", "1.0")
        from gi.repository import Gst
    except (ImportError, ValueError) as error:
        # Debian's bindings are for Debian's Python, which need not be the first on the path.
        system = "/usr/bin/python3"
        if sys.executable != system and os.path.exists(system):
            os.execv(system, [system, *sys.argv])
        return str(error)
    Gst.init(None)
    for name in ("webrtcbin", "nicesrc", "dtlsenc", "srtpenc", "rtph264pay", "videotestsrc",
                 "videoconvert"):
        if not Gst.ElementFactory.find(name):
            return f"GStreamer has no element {name}"
    if not hears_itself():
        return ("no network address but loopback's, which libnice leaves out, or none that this "
                "machine reaches")
    return None if find_chromium() else "Chromium was not found"


def hears_itself():
    """True if a datagram to this machine's own address arrives."""
    udp = (socket.AF_INET, socket.SOCK_DGRAM)
    with socket.socket(*udp) as one, socket.socket(*udp) as other:
        try:
            one.connect(("192.0.2.1", 9))  # sends nothing: only asks for a route
            other.bind((one.getsockname()[0], 0))
            other.settimeout(2)
            one.connect(other.getsockname())
            one.send(b"?")
            return other.recv(1) == b"?"
        except OSError:
            return False


def bars(browser):
    """The middle of each bar in the upper part of what the browser shows."""
    return browser.run("""(() => {
        const canvas = document.createElement("canvas"), c = canvas.getContext("2d");
        canvas.width = video.videoWidth, canvas.height = video.videoHeight;
        c.drawImage(video, 0, 0);
        const colour = (x) => [...c.getImageData(x, canvas.height / 4, 1, 1).data].slice(0, 3);
        return [...Array(7).keys()].map(i => colour(Math.floor((i + 0.5) * canvas.width / 7)));
    })()""")


def judge(browser, width, height):
    shown, stats = browser.run("shown"), browser.run("report()")
    print("shown", shown, "stats", stats)
    colours = bars(browser)
    farthest = max(abs(a - b) for got, want in zip(colours, BARS) for a, b in zip(got, want))
    checks = {
        "pictures shown": shown["frames"] >= PICTURES,
        "pictures decoded": stats["decoded"] >= PICTURES,
        "size shown": (shown["width"], shown["height"]) == (width, height),
        "size decoded": (stats["width"], stats["height"]) == (width, height),
        "H.264": stats["mime"] == "video/H264" and "packetization-mode=1" in stats["fmtp"],
        "key pictures": stats["keys"] >= 1,
        f"colours ({colours})": farthest <= 24,  # by the browser's own conversion
        f"no errors ({browser.errors})": not browser.errors,
    }
    return [name for name, good in checks.items() if not good]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", default="320x240")
    width, height = map(int, parser.parse_args().size.split("x"))
    missing = needed()
    if missing:
        skip(missing)
    # Bars, and noise in a corner: each picture has something to code.
    source = "videotestsrc is-live=true pattern=smpte"
    script = os.path.join(HERE, "..", "..", "examples", "python", "stream.py")
    server = subprocess.Popen([sys.executable, script, "--gstreamer", "--port", "0", "--source",
                               source, "--size", f"{width}x{height}"],
                              stdout=subprocess.PIPE, text=True)
    browser = None
    try:
        url = server.stdout.readline().strip()
        if not url:
            sys.exit("FAILED: the server does not start")
        browser = Browser(find_chromium(),
                          "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
                          "--allow-loopback-in-peer-connection",
                          "--autoplay-policy=no-user-gesture-required")
        browser.open(url)
        browser.wait_for(f"shown.frames >= {PICTURES}", 60)
        # The browser's figures may lag behind.
        browser.wait_for(f"report().then(r => r.mime && r.fmtp && r.decoded >= {PICTURES})", 30)
        failed = judge(browser, width, height)
        keys = browser.run("report()")["keys"]
        browser.run(ASK_FOR_KEY_PICTURE)
        browser.wait_for(f"report().then(r => r.plis > 0 && r.keys > {keys})", 30)
        first = browser.run("peer.connectionState")
        browser.open(url)  # a second connection: the first one's pipeline goes, another comes
        browser.wait_for("shown.frames >= 10", 60)
        if first != "connected" or browser.run("peer.connectionState") != "connected":
            failed.append("connected twice")
    finally:
        if browser:
            browser.close()
        server.terminate()
        server.wait()
    print("FAILED: " + ", ".join(failed) if failed else "ok")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
