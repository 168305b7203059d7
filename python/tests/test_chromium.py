"""A headless Chromium counts: the pictures of files, and of examples/python/stream.py in a session
with aiortc on this machine."""
# SPDX-License-Identifier: BSD-2-Clause
import asyncio
import base64
import json
import sys
import threading
import time

import numpy as np
import pytest
from conftest import ROOT, clip

import motus

sys.path.insert(0, str(ROOT / "tests" / "support"))
from browser import ASK_FOR_KEY_PICTURE, Browser, find_chromium  # noqa: E402

PICTURES = 100
W, H = 320, 240
PAGE = """data:text/html,<html data-ready=yes><video id=video autoplay playsinline muted>"""
JOIN = """(async () => {
    globalThis.peer = new RTCPeerConnection();
    peer.ontrack = event => { video.srcObject = new MediaStream([event.track]); };
    await peer.setRemoteDescription(%s);
    await peer.setLocalDescription(await peer.createAnswer());
    while (peer.iceGatheringState != "complete") await new Promise(done => setTimeout(done, 20));
    return { type: peer.localDescription.type, sdp: peer.localDescription.sdp };
})()"""
REPORT = """peer.getStats().then(stats => {
    const out = { decoded: 0 };
    stats.forEach(s => { if (s.type == "inbound-rtp") Object.assign(out, s); });
    out.mime = (stats.get(out.codecId) || {}).mimeType;
    out.decoded = out.framesDecoded || 0;
    return out;
})"""


@pytest.fixture
def loop():
    """An event loop in another thread: the browser is spoken to from this one."""
    made = asyncio.new_event_loop()
    thread = threading.Thread(target=made.run_forever)
    thread.start()
    yield lambda coroutine: asyncio.run_coroutine_threadsafe(coroutine, made).result(60)
    made.call_soon_threadsafe(made.stop)
    thread.join()
    made.close()


@pytest.fixture
def browser():
    program = find_chromium()
    if not program:
        pytest.skip("Chromium was not found")
    made = Browser(program, "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
                   "--allow-loopback-in-peer-connection",
                   "--disable-features=WebRtcHideLocalIpsWithMdns",
                   "--autoplay-policy=no-user-gesture-required")
    yield made
    made.close()


@pytest.mark.parametrize("sound", [False, True])
def test_files_are_played(browser, tmp_path, sound):
    if sound:
        pytest.importorskip("av")
    for fragment in (None, 0.2, 0):
        audio = (np.sin(np.arange(24000) / 9).astype(np.float32), 48000) if sound else None
        video = motus.encode(clip(15), fps=30, fragment=fragment, audio=audio, backend="cpu")
        data = base64.b64encode(video).decode()
        (tmp_path / "x.html").write_text(
            "<html data-ready=yes><video id=video autoplay muted "
            f"src='data:video/mp4;base64,{data}'></video>")
        browser.open(f"file://{tmp_path}/x.html")
        browser.wait_for("video.ended || video.error", 20)
        seen = browser.run("""({ error: video.error, duration: video.duration,
            frames: video.getVideoPlaybackQuality().totalVideoFrames,
            sound: video.webkitAudioDecodedByteCount })""")
        assert seen["error"] is None and seen["frames"] == 15
        assert abs(seen["duration"] - 0.5) < 0.04 and (seen["sound"] > 0) == sound


def scene(t):
    """Noise that moves, so that each picture costs bits; a red field in the middle."""
    rng = np.random.default_rng(t % 20)
    frame = rng.integers(60, 190, (H // 8, W // 8, 3), np.uint8).repeat(8, 0).repeat(8, 1)
    frame[80:160, 120:200] = (230, 20, 30)
    return frame


def bits_a_picture(browser, pictures):
    """Does not depend on how fast a busy machine is."""
    first = browser.run(REPORT)
    browser.wait_for(f"{REPORT}.then(r => r.decoded >= {first['decoded'] + pictures})", 60)
    last = browser.run(REPORT)
    return 8 * (last["bytesReceived"] - first["bytesReceived"]) / (
        last["decoded"] - first["decoded"])


@pytest.fixture
def aiortc(monkeypatch):
    """On this machine's own address only; examples/python can be imported."""
    module = pytest.importorskip("aiortc")
    import aioice.ice
    monkeypatch.setattr(aioice.ice, "get_host_addresses", lambda use_ipv4, use_ipv6: ["127.0.0.1"])
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "python"))
    sys.modules.pop("stream", None)
    return module


def test_packets_to_chromium(aiortc, loop, browser):
    import stream
    from av import VideoFrame
    pictures = [scene(t) for t in range(20)]

    class Camera(aiortc.VideoStreamTrack):

        async def recv(self):
            pts, time_base = await self.next_timestamp()
            frame = VideoFrame.from_ndarray(pictures[pts // 3000 % 20], format="rgb24")
            frame.pts, frame.time_base = pts, time_base
            return frame

    async def offer():
        peer = aiortc.RTCPeerConnection(aiortc.RTCConfiguration(iceServers=[]))
        track = stream.PacketTrack(Camera(), bitrate=1_000_000, keyint=0, backend="cpu")
        transceiver = peer.addTransceiver(track, direction="sendonly")
        codecs = aiortc.RTCRtpSender.getCapabilities("video").codecs
        transceiver.setCodecPreferences([c for c in codecs if c.mimeType == "video/H264"])
        await peer.setLocalDescription(await peer.createOffer())
        return peer, track, transceiver.sender

    peer, track, sender = loop(offer())
    local = {"type": peer.localDescription.type, "sdp": peer.localDescription.sdp}
    try:
        browser.open(PAGE)
        answer = browser.run(JOIN % json.dumps(local))
        loop(peer.setRemoteDescription(aiortc.RTCSessionDescription(**answer)))
        browser.wait_for(f"{REPORT}.then(r => r.decoded >= {PICTURES})", 60)
        seen = browser.run(REPORT)
        assert seen["mime"] == "video/H264" and (seen["frameWidth"], seen["frameHeight"]) == (W, H)
        colour = browser.run("""(() => {
            const c = document.createElement("canvas").getContext("2d");
            c.drawImage(video, 0, 0);
            return [...c.getImageData(160, 120, 1, 1).data].slice(0, 3);
        })()""")
        assert max(abs(a - b) for a, b in zip(colour, (230, 20, 30))) < 24
        # The program's own rate.
        before = bits_a_picture(browser, 60)
        track.bitrate = 200_000
        time.sleep(0.5)
        after = bits_a_picture(browser, 60)
        print(f"decoded {seen['decoded']}, {before:.0f} bits a picture, then {after:.0f}")
        assert 24_000 < before < 44_000 and 4_500 < after < 10_000  # 33,333 and 6,667
        # A key picture that the browser asks for.
        track.follow(sender)
        keys = browser.run(REPORT)["keyFramesDecoded"]
        browser.run(ASK_FOR_KEY_PICTURE)
        browser.wait_for(f"{REPORT}.then(r => r.pliCount > 0 && r.keyFramesDecoded > {keys})", 30)
        # The rate that it estimates.
        until = time.monotonic() + 30
        while track.bitrate == 200_000 and time.monotonic() < until:
            time.sleep(0.1)
        assert track.bitrate != 200_000 and not browser.errors, browser.errors
    finally:
        loop(peer.close())


def test_delay(aiortc, browser):
    import stream
    demo = stream.Demo(stream.options_of(["--port", "0", "--fps", "20", "--backend", "cpu"]))
    try:
        browser.open(demo.url)
        browser.wait_for("delays.length >= 40", 60)
        delays, line = browser.run("({ delays, line: line.textContent })").values()
        assert all(0 < ms < 60_000 for ms in delays), delays  # codes are read, clocks agree
        print("ms from drawing to display: median", sorted(delays)[len(delays) // 2])
        assert not browser.errors, browser.errors
    finally:
        demo.close()
