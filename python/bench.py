#!/usr/bin/env python3
"""Times motus.encode on float RGB frames in device memory beside libx264 ultrafast on all cores, in
one run. Needs PyTorch with a GPU, and libx264.

    bench.py                                  243 generated frames of 1344x768
    bench.py --input street_1080p.y4m         a .y4m to and fro, through a window that wanders
    bench.py --input film.mp4                 any film, scaled by ffmpeg
    bench.py --gop-coders 4,8,16 --keyint 16,31     all of these settings for each preset
    bench.py --host --frames 12 --size 320x192      without a GPU, to try the script
    bench.py --convert                        user time of RGB to 4:2:0 on one core, 1080p

Each row is the best of --runs, with the CPU time (user + system) of the process:
  motus       motus.encode(frames) with opening the encoder; then from CuPy's and JAX's arrays
  strongest   4:2:0 on the GPU by motus, one copy to pinned memory, libx264
  usual       frames to pageable host memory, 4:2:0 by motus on all cores, libx264
  services    frames to the host, bytes by NumPy, 4:2:0 by motus on one thread, libx264: as
              Diffusers' export_to_video, without its pipe and with motus in place of swscale
x264 makes one key picture and chooses its threads. Sizes are compared at equal luma PSNR, between
x264's at several CRFs. Without --qp, motus uses the largest QP whose PSNR is not below x264's at
CRF 23. PyTorch's profiler counts copies from the device in a separate run."""
# SPDX-License-Identifier: BSD-2-Clause
import argparse
import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import time
from math import exp, log

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import x264  # noqa: E402

import motus  # noqa: E402
from motus._frames import picture_of  # noqa: E402
from motus._search import convert, frame_at  # noqa: E402

FPS = 24


class Exec(ctypes.Structure):
    """MotusExec."""
    _fields_ = [("threads", ctypes.c_int), ("plain_c", ctypes.c_int)]


# ---- Frames ------------------------------------------------------------------------------------


def make(frames, width, height):
    """Returns moving textures of several scales with objects and grain: uint8 [T, H, W, 3]."""
    rng = np.random.default_rng(1)
    scales, layers = (4, 16, 64), []
    for s in scales:
        noise = rng.normal(0, 1, (height // s + 2, width // s + 2, 3))
        layer = np.kron(noise, np.ones((s, s, 1)))[:height, :width]
        for axis in (0, 1):  # smoothed
            layer = sum(np.roll(layer, d, axis) for d in range(s)) / s
        layers.append(layer)
    grain = rng.normal(0, 1.5, (height, width, 3))
    video = np.empty((frames, height, width, 3), np.uint8)
    for t in range(frames):
        picture = np.full((height, width, 3), 120.0)
        for i, (layer, gain) in enumerate(zip(layers, (12, 25, 40))):
            picture += gain * np.roll(layer, (t * (i + 1) // 2, t * (3 - i)), (0, 1))
        for k in range(6):
            y = (37 * k + (k + 1) * t) % (height - 70)
            x = (91 * k + (7 - k) * t) % (width - 90)
            picture[y:y + 64, x:x + 80] = (40 + 30 * k, 220 - 25 * k, 90 + 20 * k)
        video[t] = np.clip(picture + np.roll(grain, 31 * t, 1), 0, 255)
    return video


def read_y4m(path, most):
    """Returns the first pictures of a 4:2:0 .y4m of BT.709 in limited range as RGB."""
    with open(path, "rb") as file:
        words = file.readline().split()
        width, height = (int(next(w[1:] for w in words if w[:1] == tag)) for tag in (b"W", b"H"))
        luma, video = width * height, []
        while len(video) < most and file.readline().startswith(b"FRAME"):
            data = np.frombuffer(file.read(luma * 3 // 2), np.uint8).astype(np.float32)
            y = (data[:luma].reshape(height, width) - 16) * (255 / 219)
            chroma = data[luma:].reshape(2, height // 2, width // 2) - 128
            cb, cr = (np.kron(c, np.ones((2, 2), np.float32)) * (255 / 224) for c in chroma)
            rgb = np.stack([y + 1.5748 * cr, y - 0.1873 * cb - 0.4681 * cr, y + 1.8556 * cb], 2)
            video.append(np.clip(rgb + 0.5, 0, 255).astype(np.uint8))
    return np.stack(video)


def to_and_fro(n, frames):
    return np.resize(np.concatenate([np.arange(n), np.arange(n - 2, 0, -1)]), frames)


def window(video, frames, width, height):
    """Returns the video to and fro through a window that moves some two samples a frame."""
    margin = video.shape[1] - height, video.shape[2] - width
    if min(margin) < 0:
        raise SystemExit(f"pictures of {video.shape[2]}x{video.shape[1]} have no window of "
                         f"{width}x{height}")
    out = np.empty((frames, height, width, 3), np.uint8)
    for t, n in enumerate(to_and_fro(len(video), frames)):
        y, x = (int(m * (0.5 - 0.5 * np.cos(s * t))) for m, s in zip(margin, (0.011, 0.008)))
        out[t] = video[n, y:y + height, x:x + width]
    return out


def read(path, frames, width, height):
    if path.endswith(".y4m"):
        return window(read_y4m(path, frames), frames, width, height)
    command = ["ffmpeg", "-nostdin", "-v", "error", "-i", path, "-frames:v", str(frames), "-vf",
               f"scale={width}:{height}", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    out = subprocess.run(command, check=True, capture_output=True).stdout
    video = np.frombuffer(out, np.uint8).reshape(-1, height, width, 3)
    return video[to_and_fro(len(video), frames)]


# ---- Measures ----------------------------------------------------------------------------------


def timed(work, runs, settle):
    """Returns the least seconds, the CPU seconds of that run, and its result."""
    best = None
    for _ in range(runs):
        settle()
        before, began = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
        result = work()
        settle()
        seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF)
        cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        if best is None or seconds < best[0]:
            best = seconds, cpu, result
    return best


def to_i420(frames, out, width, height, threads=None):
    """Converts frames to 4:2:0 by motus, into one block of bytes in the same memory."""
    start = out.ctypes.data if isinstance(out, np.ndarray) else out.data_ptr()
    for t in range(len(frames)):
        at = frame_at(start + t * (width * height * 3 // 2), width, height)
        convert(at, picture_of(frames[t]), ctypes.byref(threads) if threads else None)


def psnr_of(frames, width, height, settings):
    """Returns the mean luma PSNR of motus's pictures against the frames as 4:2:0."""
    with motus.Encoder(width, height, FPS, **settings) as encoder:
        for t in range(len(frames)):
            encoder.send(frames[t])
        return float(np.mean([packet.psnr for packet in encoder.finish()]))


def bytes_at(psnr, points):
    """Interpolates x264's bytes at a PSNR between (PSNR, bytes); None outside of all points."""
    points = sorted(points)
    for (a, x), (b, y) in zip(points, points[1:]):
        if a <= psnr <= b:
            return exp(log(x) + (psnr - a) / (b - a) * (log(y) - log(x)))
    return None


def copies(torch, work):
    """Returns count, bytes and largest of the copies from device to host in one run."""
    from torch.profiler import ProfilerActivity, profile
    path = "/tmp/motus-bench-trace.json"
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        work()
        torch.cuda.synchronize()
    profiler.export_chrome_trace(path)
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    os.unlink(path)
    sizes = [e["args"].get("bytes", 0) for e in events
             if e.get("cat") == "gpu_memcpy" and "DtoH" in e["name"]]
    return len(sizes), sum(sizes), max(sizes, default=0)


def conversion():
    height, width, n = 1080, 1920, 6
    rgba = np.random.default_rng(1).integers(0, 256, (height, width, 4), dtype=np.uint8)
    rgb = np.ascontiguousarray(rgba[..., :3])
    out = np.empty(width * height * 3 // 2, np.uint8)
    frame, unit = frame_at(out.ctypes.data, width, height), rgb.astype(np.float32) / 255
    forms = {
        "RGB24": rgb, "RGBA": rgba, "byte planes": np.ascontiguousarray(rgb.transpose(2, 0, 1)),
        "float RGB": unit, "float planes": np.ascontiguousarray(unit.transpose(2, 0, 1)),
        "NV12": (rgb[..., 0].copy(), rgb[::2, ::2, :2].copy()),
    }
    for name, form in forms.items():
        picture, figures = picture_of(form), []
        for plain in (0, 1):
            threads, best = ctypes.byref(Exec(1, plain)), 1e9
            for _ in range(7):
                began = resource.getrusage(resource.RUSAGE_SELF).ru_utime
                for _ in range(n):
                    convert(frame, picture, threads)
                best = min(best, resource.getrusage(resource.RUSAGE_SELF).ru_utime - began)
            figures.append(1000 * best / n)
        print(f"{name:14} {figures[0]:6.2f} ms   plain C {figures[1]:6.2f} ms")


class Peers:
    """The rows with libx264, over the same frames."""

    def __init__(self, args, torch, frames, width, height):
        self.x264, self.torch, self.frames = x264.X264(args.libx264), torch, frames
        self.width, self.height, self.size = width, height, width * height * 3 // 2
        self.n = len(frames)
        self.planes = np.empty(self.n * self.size, np.uint8)
        if torch:
            n = self.n * self.size
            self.pinned = torch.empty(n, dtype=torch.uint8, pin_memory=True)
            self.device_planes = torch.empty(n, dtype=torch.uint8, device="cuda")

    def encode(self, start, **options):
        addresses = [start + t * self.size for t in range(self.n)]
        return self.x264.encode(addresses, self.width, self.height, FPS, "ultrafast", **options)

    def on_host(self):
        return self.frames.cpu().numpy() if self.torch else self.frames.copy()

    def usual(self, **options):
        to_i420(self.on_host(), self.planes, self.width, self.height)
        return self.encode(self.planes.ctypes.data, **options)[0]

    def services(self, **options):
        host = self.on_host().transpose(0, 2, 3, 1)
        for t in range(self.n):
            pixels = np.ascontiguousarray((host[t] * 255).round().astype(np.uint8))
            planes = self.planes[t * self.size:]
            to_i420(pixels[None], planes, self.width, self.height, Exec(1, 0))
        return self.encode(self.planes.ctypes.data, **options)[0]

    def strongest(self, **options):
        to_i420(self.frames, self.device_planes, self.width, self.height)
        self.pinned.copy_(self.device_planes)
        return self.encode(self.pinned.data_ptr(), **options)[0]

    def points(self):
        """Returns (PSNR, bytes) at several CRFs, 23 first."""
        to_i420(self.on_host(), self.planes, self.width, self.height)
        found = []
        for crf in (23, 14, 18, 20, 26, 30, 34):
            stream, psnr = self.encode(self.planes.ctypes.data, crf=crf, psnr=1)
            found.append((psnr, len(stream)))
        return found


def qp_for(psnr, measure):
    """Returns the largest QP whose PSNR is not below `psnr`."""
    low, high = 0, 51
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if measure(middle) >= psnr else (low, middle - 1)
    return low


def others(frames):
    """Yields the same memory as arrays of other libraries: name, array, or why there is none."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    makers = {"CuPy": lambda: __import__("cupy").from_dlpack(frames),
              "JAX": lambda: __import__("jax.dlpack").dlpack.from_dlpack(frames)}
    for name, make_array in makers.items():
        try:
            yield name, make_array(), None
        except Exception as error:  # raised by a library that is missing or has no device
            first_line = (str(error).splitlines() or [""])[0]
            yield name, None, f"{type(error).__name__}: {first_line}"


# ---- Rows --------------------------------------------------------------------------------------


class Bench:

    def __init__(self, args):
        self.args = args
        self.width, self.height = map(int, args.size.split("x"))
        size = self.width, self.height
        rgb = read(args.input, args.frames, *size) if args.input else make(args.frames, *size)
        self.n, self.torch, self.settle = len(rgb), None, lambda: None
        if args.host:
            self.frames = (rgb.astype(np.float32) / 255).transpose(0, 3, 1, 2)
        else:
            import torch
            self.torch, self.settle = torch, torch.cuda.synchronize
            planes = torch.from_numpy(rgb).cuda().permute(0, 3, 1, 2)
            self.frames = planes.float().div_(255).contiguous()
            print(f"device: {torch.cuda.get_device_name()}")
        self.peers = Peers(args, self.torch, self.frames, *size)
        print(f"{self.n} frames of {args.size}, float32 RGB [T, 3, H, W] in "
              f"{'host' if args.host else 'device'} memory, {args.input or 'generated'}; "
              f"{os.cpu_count()} processors; libmotus {motus.library_version}, "
              f"libx264 build {self.peers.x264.build}")

    def report(self, name, work, extra):
        """Times `work` and prints a row; extra: a text, or a function of the stream."""
        best = seconds, cpu, stream = timed(work, self.args.runs, self.settle)
        print(f"{name:42} {1000 * seconds:8.1f} ms {self.n / seconds:6.0f} frames/s  "
              f"processors {1000 * cpu:8.1f} ms {len(stream):9} bytes  "
              f"{extra(stream) if callable(extra) else extra}", flush=True)
        return best

    def psnr(self, settings):
        return psnr_of(self.frames, self.width, self.height, settings)

    def rows_of_x264(self):
        points = self.peers.points()
        print("x264 ultrafast, PSNR and bytes: "
              + ", ".join(f"{p:.2f} dB {b}" for p, b in sorted(points)))
        for name in ("strongest", "usual", "services") if self.torch else ("usual", "services"):
            way = getattr(self.peers, name)
            self.report(f"{name}, x264 ultrafast, CRF 23", lambda way=way: way(crf=23),
                        f"{points[0][0]:.2f} dB")
        return points

    def rows_of_preset(self, preset, points):
        """Yields the seconds, settings and stream of each row with a QP."""
        args = self.args
        base = {"preset": preset, "profile": args.profile,
                "backend": "cpu" if args.host else "cuda"}
        first = {**base, "gop_coders": args.gop_coders[0], "keyint": args.keyint[0]}
        qp = args.qp
        if qp is None:
            qp = qp_for(points[0][0], lambda q: self.psnr({**first, "qp": q}))
        rates = [{"qp": qp}] + ([{"crf": args.crf}] if args.crf is not None else [])
        for rate, keyint in ((rate, keyint) for rate in rates for keyint in args.keyint):
            psnr = self.psnr({**first, **rate, "keyint": keyint})
            theirs = bytes_at(psnr, points)
            for gop_coders in args.gop_coders:
                settings = {**base, **rate, "gop_coders": gop_coders, "keyint": keyint}

                def extra(stream, psnr=psnr, theirs=theirs):
                    if not theirs:
                        return f"{psnr:.2f} dB, outside x264's points"
                    share = 100 * len(stream) / theirs
                    return f"{psnr:.2f} dB, {share:.1f} % of x264's bytes at that PSNR"

                name = " ".join(f"{k} {v}" for k, v in rate.items())
                best = self.report(
                    f"motus {args.profile} {preset}, {name}, keyint {keyint}, "
                    f"gop_coders {gop_coders}",
                    lambda settings=settings: self.encode(self.frames, settings), extra)
                if "qp" in rate:
                    yield best[0], settings, best[2]

    @staticmethod
    def encode(frames, settings):
        return motus.encode(frames, fps=FPS, **settings)

    def rows_of_other_arrays(self, settings, stream):
        number, total, largest = copies(self.torch, lambda: self.encode(self.frames, settings))
        print(f"the fastest, {settings}: from the device to the host {number} copies, {total} "
              f"bytes, the largest {largest} (a frame as 4:2:0: {self.peers.size}; the stream: "
              f"{len(stream)})")
        for name, array, why in others(self.frames):
            if why:
                print(f"{name}: {why}")
                continue
            self.report(f"motus, the same from {name}'s array",
                        lambda array=array: self.encode(array, settings),
                        lambda got: "the same bytes" if got == stream else "OTHER BYTES")


def numbers(text):
    return [int(word) for word in text.split(",")]


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it without a word
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--frames", type=int, default=243)
    add("--size", default="1344x768")
    add("--input")
    add("--runs", type=int, default=5)
    add("--presets", default="faster,fast,medium")
    add("--profile", default="baseline")
    add("--qp", type=int, help="of P pictures; nothing but the stream then leaves the device")
    add("--crf", type=float, help="also with this CRF, with lookahead")
    add("--gop-coders", type=numbers, default=[0], metavar="N,...", help="0: library's choice")
    add("--keyint", type=numbers, default=[31], metavar="N,...")
    add("--libx264", help="path of the library")
    add("--host", action="store_true")
    add("--convert", action="store_true")
    args = parser.parse_args()
    if args.convert:
        return conversion()
    bench = Bench(args)
    points = bench.rows_of_x264()
    rows = [row for preset in args.presets.split(",")
            for row in bench.rows_of_preset(preset, points)]
    if bench.torch:
        _, settings, stream = min(rows, key=lambda row: row[0])
        bench.rows_of_other_arrays(settings, stream)


if __name__ == "__main__":
    main()
