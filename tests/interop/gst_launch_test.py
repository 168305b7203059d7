#!/usr/bin/env python3
"""Tests motush264enc in common pipelines: its stream is that of motus encode, files and segments
decode to it, refusals are told, and docs/gstreamer.md lists its properties.

usage: gst_launch_test.py PLUGIN_FOLDER MOTUS
Exit status 77 without gst-launch-1.0, the elements of the pipelines, or ffmpeg.
SPDX-License-Identifier: BSD-2-Clause
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ELEMENTS = ("videotestsrc filesrc y4mdec h264parse mp4mux qtmux matroskamux mpegtsmux splitmuxsink "
            "rtph264pay rtph264depay").split()
PIECE = 240  # seconds that a pipeline may take on a busy machine
failures = []


def check(good, what):
    if not good:
        failures.append(what)
        print("FAILED:", what)


def run(*command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=PIECE, **more)


def launch(text):
    result = run("gst-launch-1.0", "-q", *text.split())
    check(result.returncode == 0 and "ERROR" not in result.stdout, f"{text}: {result.stdout[:400]}")


def pictures(path):
    """Checksums of what libavcodec decodes."""
    result = run("ffmpeg", "-v", "error", "-i", path, "-f", "framemd5", "-")
    lines = [line for line in result.stdout.splitlines() if not line.startswith("#")]
    check(result.returncode == 0 and all(line.count(",") == 5 for line in lines),
          f"{path}: {result.stdout[:300]}")
    return [line.split(",")[5].strip() for line in lines]


def same_streams(motus):
    """The element's streams against the program's, to the last byte. The program's input says the
    colours that GStreamer gives to a file without any."""
    colours = ("-colorspace smpte170m -color_primaries smpte170m -color_trc smpte170m -color_range "
               "tv -chroma_sample_location center")
    check(run("ffmpeg", "-v", "error", "-i", "in.y4m", "-c:v", "ffv1", *colours.split(),
              "in.mkv").returncode == 0, "ffmpeg in.mkv")
    for name, element, options in (
            ("quant", "pass=quant quantizer=29 key-int-max=12", "--qp 29 --keyint 12"),
            ("qual", "pass=qual quantizer=27 rc-lookahead=8 speed-preset=fast",
             "--crf 27 --rc-lookahead 8 --preset fast"),
            ("cbr", "bitrate=250 vbv-buf-capacity=500",
             "--bitrate 250 --vbv-maxrate 250 --vbv-bufsize 125"),
            ("live", "bitrate=250 tune=zerolatency vbv-buf-capacity=300",
             "--bitrate 250 --vbv-maxrate 250 --vbv-bufsize 75 --tune zerolatency")):
        launch(f"filesrc location=in.y4m ! y4mdec ! motush264enc backend=cpu {element} ! filesink "
               f"location={name}.264")
        result = run(motus, "encode", "in.mkv", "-o", f"{name}.want.264", "--backend", "cpu",
                     "--aud", "--quiet", "--profile", "baseline", *options.split())
        check(result.returncode == 0, f"motus encode {options}: {result.stdout}")
        with open(f"{name}.264", "rb") as got, open(f"{name}.want.264", "rb") as want:
            check(got.read() == want.read(), f"{name}: not the stream of motus encode {options}")


def files():
    want = pictures("cbr.264")
    check(len(want) == 40, f"{len(want)} pictures")
    source = ("filesrc location=in.y4m ! y4mdec ! motush264enc backend=cpu bitrate=250 "
              "vbv-buf-capacity=500")
    for tail, path in (("! h264parse ! mp4mux ! filesink location=x.mp4", "x.mp4"),
                       ("! mp4mux ! filesink location=avc.mp4", "avc.mp4"),
                       ("! h264parse ! qtmux ! filesink location=x.mov", "x.mov"),
                       ("! matroskamux ! filesink location=x.mkv", "x.mkv"),
                       ("! h264parse ! mpegtsmux ! filesink location=x.ts", "x.ts"),
                       ("! rtph264pay mtu=600 ! rtph264depay ! h264parse ! "
                        "video/x-h264,stream-format=byte-stream ! filesink location=rtp.264",
                        "rtp.264")):
        launch(f"{source} {tail}")
        check(pictures(path) == want, f"{path}: other pictures")


def segments():
    """splitmuxsink asks for a key picture where a segment is to begin. The source is live since
    GStreamer 1.22 may lose the end of segments that are over at once."""
    launch("videotestsrc is-live=true num-buffers=60 pattern=ball ! "
           "video/x-raw,width=96,height=64,framerate=20/1 ! motush264enc backend=cpu "
           "key-int-max=1000 rc-lookahead=4 ! h264parse ! splitmuxsink muxer=mpegtsmux "
           "max-size-time=1000000000 send-keyframe-requests=true location=part%d.ts")
    counts = [len(pictures(f"part{i}.ts")) if os.path.exists(f"part{i}.ts") else 0
              for i in range(3)]
    check(counts == [20, 20, 20], f"segments of {counts} pictures")


def refusals():
    for caps, word in (("video/x-raw,format=Y42B", "Y42B"),
                       ("video/x-raw,format=I420,width=33", "33"),
                       ("video/x-raw,format=I420,interlace-mode=interleaved", "interleaved")):
        result = run("gst-launch-1.0", "videotestsrc", "num-buffers=2", "!", caps, "!",
                     "motush264enc", "!", "fakesink")
        said = ("motush264enc0 can't handle caps" in result.stdout
                or "not-negotiated" in result.stdout or "could not link" in result.stdout)
        check(result.returncode != 0 and said and word in result.stdout, f"{caps}: {result.stdout}")
    refused_at_start("bitrate=500 vbv-maxrate=100", "bitrate 500000 is above the VBV's rate")
    refused_at_start("pass=pass2 multipass-cache-file=none.log", "none.log")


def refused_at_start(properties, words):
    """Settings that cannot work fail the state change, before the source makes a buffer: only then
    is gst-launch-1.0 sure to end."""
    pipeline = f"videotestsrc num-buffers=2 ! motush264enc {properties} ! fakesink"
    result = run("gst-launch-1.0", *pipeline.split())
    check(result.returncode != 0 and words in result.stdout, f"{properties}: {result.stdout}")
    check("PREROLLING" not in result.stdout, f"{properties} fails after the state change")


def documented():
    """Properties, but for those of the base classes, against the table in the documentation."""
    text = run("gst-inspect-1.0", "motush264enc").stdout
    properties = set(re.findall(r"^  ([a-z-]+) *: ", text.split("Element Properties:")[1],
                                re.M)) - {"name", "parent", "qos", "min-force-key-unit-interval"}
    with open(os.path.join(HERE, "..", "..", "docs", "gstreamer.md"), encoding="utf-8") as file:
        table = set(re.findall(r"`([a-z-]+)`",
                               "".join(line.split("|")[1] for line in file
                                       if line.startswith("| `"))))
    check(properties == table,
          f"only in gst-inspect-1.0: {properties - table}; only documented: {table - properties}")


def main():
    plugin, motus = map(os.path.abspath, sys.argv[1:3])
    for tool in ("gst-launch-1.0", "gst-inspect-1.0", "ffmpeg"):
        if not shutil.which(tool):
            print(f"SKIP: no {tool}")
            sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(GST_PLUGIN_PATH=plugin, GST_DEBUG_NO_COLOR="1", LC_ALL="C")
        os.chdir(folder)
        for name in ELEMENTS:
            if run("gst-inspect-1.0", "--exists", name).returncode:
                print(f"SKIP: GStreamer has no element {name} here")
                sys.exit(77)
        check(run(motus, "synth", "in.y4m", "--size", "176x144", "--frames", "40", "--pan", "2,1",
                  "--objects", "3").returncode == 0, "motus synth")
        same_streams(motus)
        files()
        segments()
        refusals()
        documented()
    print(f"{len(failures)} failures" if failures else "ok")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
