#!/usr/bin/env python3
"""From float RGB frames in device memory to an MP4 in memory: motus beside libx264 ultrafast on all cores, in one run. Needs PyTorch with a GPU and libx264.

    python3 python/bench.py                                       243 frames of 1344x768, made here
    python3 python/bench.py --input street_1080p.y4m              frames of a .y4m, to and fro, seen through a window that wanders; else of any film (by ffmpeg), scaled
    python3 python/bench.py --gop-coders 4,8,16 --keyint 16,31         all of these settings for each preset
    python3 python/bench.py --host --frames 12 --size 320x192     without a GPU: arrays in host memory, to try the script
    python3 python/bench.py --convert                             user time of making 4:2:0 of a 1080p frame on one core, AVX2 and plain C

Ways, best of --runs each, with what the host's processors worked (user + system):
  motus       motus.encode(frames) where the frames are, opening the encoder included; then the same from CuPy's and JAX's arrays where those are
  strongest   4:2:0 on the GPU (our kernel), one copy to pinned memory, libx264
  usual       frames to the host as they are (pageable), 4:2:0 there by all cores (our AVX2), libx264
  services    frames to the host as they are, bytes by NumPy, 4:2:0 by one thread (our AVX2 in place of swscale), libx264: what Diffusers' export_to_video does, without its pipe
x264 has one key picture, and its threads are its own choice. Bytes are compared at equal luma PSNR: between those of x264 at several CRFs. Where --qp is not given, ours is the largest
whose PSNR is not below that of x264 at CRF 23. Copies from the device are counted by PyTorch's profiler in a run of their own."""
# SPDX-License-Identifier: BSD-2-Clause
import argparse
import ctypes
import json
import os
import resource
import subprocess
import sys
import time
from math import exp, log

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import x264  # noqa: E402

import motus  # noqa: E402
from motus import _lib  # noqa: E402
from motus._frames import picture_of  # noqa: E402
from motus._search import _BT709 as BT709  # noqa: E402
from motus._search import _frame as frame_at  # noqa: E402

FPS = 24


class Exec(ctypes.Structure):
    """MotusExec."""
    _fields_ = [("threads", ctypes.c_int), ("plain_c", ctypes.c_int)]


def make(frames, width, height):
    """Textures of several scales that move at their own speeds, objects over them, some grain: uint8 [T, H, W, 3]."""
    rng = np.random.default_rng(1)
    layers = [np.kron(rng.normal(0, 1, (height // s + 2, width // s + 2, 3)), np.ones((s, s, 1)))[:height, :width] for s in (4, 16, 64)]
    for i, s in enumerate((4, 16, 64)):  # blocks made soft
        for axis in (0, 1):
            layers[i] = sum(np.roll(layers[i], d, axis) for d in range(s)) / s
    grain = rng.normal(0, 1.5, (height, width, 3))
    video = np.empty((frames, height, width, 3), np.uint8)
    for t in range(frames):
        picture = 120 + sum(np.roll(layer, (t * (i + 1) // 2, t * (3 - i)), (0, 1)) * (12, 25, 40)[i] for i, layer in enumerate(layers))
        for k in range(6):
            y, x = (37 * k + (k + 1) * t) % (height - 70), (91 * k + (7 - k) * t) % (width - 90)
            picture[y:y + 64, x:x + 80] = (40 + 30 * k, 220 - 25 * k, 90 + 20 * k)
        video[t] = np.clip(picture + np.roll(grain, 31 * t, 1), 0, 255)
    return video


def read_y4m(path, most):
    """The first pictures of a 4:2:0 .y4m of BT.709 in limited range, as RGB: uint8 [T, H, W, 3]."""
    with open(path, "rb") as file:
        words = file.readline().split()
        width, height = (int(next(w[1:] for w in words if w[:1] == tag)) for tag in (b"W", b"H"))
        luma, video = width * height, []
        while len(video) < most and file.readline().startswith(b"FRAME"):
            data = np.frombuffer(file.read(luma * 3 // 2), np.uint8).astype(np.float32)
            y = (data[:luma].reshape(height, width) - 16) * (255 / 219)
            cb, cr = (np.kron(c.reshape(height // 2, width // 2) - 128, np.ones((2, 2), np.float32)) * (255 / 224) for c in (data[luma:luma * 5 // 4], data[luma * 5 // 4:]))
            rgb = np.stack([y + 1.5748 * cr, y - 0.1873 * cb - 0.4681 * cr, y + 1.8556 * cb], 2)
            video.append(np.clip(rgb + 0.5, 0, 255).astype(np.uint8))
    return np.stack(video)


def window(video, frames, width, height):
    """The video to and fro, through a window that wanders over it, some two samples a frame."""
    room = video.shape[1] - height, video.shape[2] - width
    if min(room) < 0:
        raise SystemExit(f"pictures of {video.shape[2]}x{video.shape[1]} have no window of {width}x{height}")
    order = np.resize(np.concatenate([np.arange(len(video)), np.arange(len(video) - 2, 0, -1)]), frames)
    out = np.empty((frames, height, width, 3), np.uint8)
    for t, n in enumerate(order):
        y, x = (int(r * (0.5 - 0.5 * np.cos(s * t))) for r, s in zip(room, (0.011, 0.008)))
        out[t] = video[n, y:y + height, x:x + width]
    return out


def read(path, frames, width, height):
    if path.endswith(".y4m"):
        return window(read_y4m(path, frames), frames, width, height)
    out = subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-i", path, "-frames:v", str(frames), "-vf", f"scale={width}:{height}", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"],
                         check=True, capture_output=True).stdout
    video = np.frombuffer(out, np.uint8).reshape(-1, height, width, 3)
    there_and_back = np.concatenate([np.arange(len(video)), np.arange(len(video) - 2, 0, -1)])
    return video[np.resize(there_and_back, frames)]


def timed(work, runs, settle):
    """The least seconds, the processors' seconds of that run, and the result."""
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
    """By the library, on the host or the device where the frames are; `out` is one block of bytes there. threads: an Exec; None: all."""
    size = width * height * 3 // 2
    for t in range(len(frames)):
        picture, start = picture_of(frames[t]), (out.ctypes.data if isinstance(out, np.ndarray) else out.data_ptr()) + t * size
        frame = frame_at(width, height, [start, start + width * height, start + width * height * 5 // 4])
        if picture.device is None:
            status = _lib.lib.motus_image_convert(ctypes.byref(frame), ctypes.byref(picture.image), ctypes.byref(BT709), ctypes.byref(threads) if threads else None)
        else:
            status = _lib.lib.motus_cuda_image_convert(ctypes.byref(frame), ctypes.byref(picture.image), ctypes.byref(BT709), picture.stream, None)
        _lib.check(status)


def psnr_of(frames, width, height, settings):
    """Mean luma PSNR of our pictures, by the encoder's own sums (against the frames as 4:2:0)."""
    with motus.Encoder(width, height, FPS, **settings) as encoder:
        for t in range(len(frames)):
            encoder.send(frames[t])
        return float(np.mean([packet.psnr for packet in encoder.finish()]))


def bytes_at(psnr, points):
    """x264's bytes at a PSNR, between two of (PSNR, bytes); None outside of all."""
    points = sorted(points)
    for (a, x), (b, y) in zip(points, points[1:]):
        if a <= psnr <= b:
            return exp(log(x) + (psnr - a) / (b - a) * (log(y) - log(x)))
    return None


def copies(torch, work):
    """Copies from device to host in one run: how many, and their bytes where the profiler tells."""
    from torch.profiler import ProfilerActivity, profile
    path = "/tmp/motus-bench-trace.json"
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        work()
        torch.cuda.synchronize()
    profiler.export_chrome_trace(path)
    with open(path, encoding="utf-8") as file:
        events = [e for e in json.load(file)["traceEvents"] if e.get("cat") == "gpu_memcpy" and "DtoH" in e["name"]]
    os.unlink(path)
    return len(events), sum(e["args"].get("bytes", 0) for e in events), max([e["args"].get("bytes", 0) for e in events], default=0)


def conversion():
    height, width, n = 1080, 1920, 6
    rgba = np.random.default_rng(1).integers(0, 256, (height, width, 4), dtype=np.uint8)
    rgb, out = np.ascontiguousarray(rgba[..., :3]), np.empty(width * height * 3 // 2, np.uint8)
    start = out.ctypes.data
    frame = frame_at(width, height, [start, start + width * height, start + width * height * 5 // 4])
    planes, unit = np.ascontiguousarray(rgb.transpose(2, 0, 1)), rgb.astype(np.float32) / 255
    forms = {"RGB24": rgb, "RGBA": rgba, "byte planes": planes, "float RGB": unit, "float planes": np.ascontiguousarray(unit.transpose(2, 0, 1)),
             "NV12": (rgb[..., 0].copy(), rgb[::2, ::2, :2].copy())}
    for name, form in forms.items():
        picture, figures = picture_of(form), []
        for plain in (0, 1):
            best = 1e9
            for _ in range(7):
                began = resource.getrusage(resource.RUSAGE_SELF).ru_utime
                for _ in range(n):
                    _lib.check(_lib.lib.motus_image_convert(ctypes.byref(frame), ctypes.byref(picture.image), ctypes.byref(BT709), ctypes.byref(Exec(1, plain))))
                best = min(best, resource.getrusage(resource.RUSAGE_SELF).ru_utime - began)
            figures.append(1000 * best / n)
        print(f"{name:14} {figures[0]:6.2f} ms   plain C {figures[1]:6.2f} ms")


class Peers:
    """The ways with libx264, over the same frames."""

    def __init__(self, args, torch, frames, width, height):
        self.x264, self.torch, self.frames, self.width, self.height = x264.X264(args.libx264), torch, frames, width, height
        self.n, size = len(frames), width * height * 3 // 2
        self.planes = np.empty(self.n * size, np.uint8)
        if torch:
            self.pinned = torch.empty(self.n * size, dtype=torch.uint8, pin_memory=True)
            self.device_planes = torch.empty(self.n * size, dtype=torch.uint8, device="cuda")

    def encode(self, start, **options):
        size = self.width * self.height * 3 // 2
        return self.x264.encode([start + t * size for t in range(self.n)], self.width, self.height, FPS, "ultrafast", **options)

    def on_host(self):
        return self.frames.cpu().numpy() if self.torch else self.frames.copy()

    def usual(self, **options):
        to_i420(self.on_host(), self.planes, self.width, self.height)
        return self.encode(self.planes.ctypes.data, **options)[0]

    def services(self, **options):
        size, host = self.width * self.height * 3 // 2, self.on_host().transpose(0, 2, 3, 1)
        for t in range(self.n):
            pixels = np.ascontiguousarray((host[t] * 255).round().astype(np.uint8))
            to_i420(pixels[None], self.planes[t * size:], self.width, self.height, Exec(1, 0))
        return self.encode(self.planes.ctypes.data, **options)[0]

    def strongest(self, **options):
        to_i420(self.frames, self.device_planes, self.width, self.height)
        self.pinned.copy_(self.device_planes)
        return self.encode(self.pinned.data_ptr(), **options)[0]

    def points(self):
        """(PSNR, bytes) at several CRFs, 23 first."""
        to_i420(self.on_host(), self.planes, self.width, self.height)
        found = []
        for crf in (23, 14, 18, 20, 26, 30, 34):
            stream, psnr = self.encode(self.planes.ctypes.data, crf=crf, psnr=1)
            found.append((psnr, len(stream)))
        return found


def qp_for(psnr, measure):
    """The largest QP at which a preset is not below a PSNR."""
    low, high = 0, 51
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if measure(middle) >= psnr else (low, middle - 1)
    return low


def others(frames):
    """The same memory as arrays of other libraries: name, array, or why there is none."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    makers = {"CuPy": lambda: __import__("cupy").from_dlpack(frames), "JAX": lambda: __import__("jax.dlpack").dlpack.from_dlpack(frames)}
    for name, make_array in makers.items():
        try:
            yield name, make_array(), None
        except Exception as error:  # whatever a library raises that is not there, or finds no device
            yield name, None, f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"


def numbers(text):
    return [int(word) for word in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=243)
    parser.add_argument("--size", default="1344x768")
    parser.add_argument("--input")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--presets", default="faster,fast,medium")
    parser.add_argument("--qp", type=int, help="of P pictures; nothing but the stream then leaves the device")
    parser.add_argument("--crf", type=float, help="also with this CRF, with look-ahead")
    parser.add_argument("--gop-coders", type=numbers, default=[0], metavar="N,...", help="0: the library's choice")
    parser.add_argument("--keyint", type=numbers, default=[31], metavar="N,...")
    parser.add_argument("--libx264", help="path of the library")
    parser.add_argument("--host", action="store_true")
    parser.add_argument("--convert", action="store_true")
    args = parser.parse_args()
    if args.convert:
        return conversion()
    width, height = map(int, args.size.split("x"))
    rgb = read(args.input, args.frames, width, height) if args.input else make(args.frames, width, height)
    size, n = width * height * 3 // 2, len(rgb)
    torch = None
    if args.host:
        frames, settle = (rgb.astype(np.float32) / 255).transpose(0, 3, 1, 2), lambda: None
    else:
        import torch
        frames, settle = torch.from_numpy(rgb).cuda().permute(0, 3, 1, 2).float().div_(255).contiguous(), torch.cuda.synchronize
        print(f"device: {torch.cuda.get_device_name()}")
    peers = Peers(args, torch, frames, width, height)
    print(f"{n} frames of {width}x{height}, float32 RGB [T, 3, H, W] in {'host' if args.host else 'device'} memory, {args.input or 'made here'}; "
          f"{os.cpu_count()} processors; libmotus {motus.library_version}, libx264 build {peers.x264.build}")

    def report(name, best, extra=""):
        print(f"{name:42} {1000 * best[0]:8.1f} ms {n / best[0]:6.0f} frames/s  processors {1000 * best[1]:8.1f} ms {len(best[2]):9} bytes  {extra}", flush=True)

    points = peers.points()
    print("x264 ultrafast, PSNR and bytes: " + ", ".join(f"{p:.2f} dB {b}" for p, b in sorted(points)))
    for name in ("strongest", "usual", "services") if torch else ("usual", "services"):
        report(f"{name}, x264 ultrafast, CRF 23", timed(lambda name=name: getattr(peers, name)(crf=23), args.runs, settle), f"{points[0][0]:.2f} dB")
    fastest = None
    for preset in args.presets.split(","):
        base = {"preset": preset, "gop_coders": args.gop_coders[0], "keyint": args.keyint[0], "backend": "cpu" if args.host else "cuda"}
        qp = qp_for(points[0][0], lambda q, base=base: psnr_of(frames, width, height, {**base, "qp": q})) if args.qp is None else args.qp
        for rate in [{"qp": qp}] + ([{"crf": args.crf}] if args.crf is not None else []):
            for keyint in args.keyint:
                psnr = psnr_of(frames, width, height, {**base, **rate, "keyint": keyint})
                theirs = bytes_at(psnr, points)
                for gop_coders in args.gop_coders:
                    settings = {**base, **rate, "gop_coders": gop_coders, "keyint": keyint}
                    best = timed(lambda settings=settings: motus.encode(frames, fps=FPS, **settings), args.runs, settle)
                    share = f"{100 * len(best[2]) / theirs:.1f} % of x264's bytes at that PSNR" if theirs else "outside x264's points"
                    report(f"motus {preset}, {' '.join(f'{k} {v}' for k, v in rate.items())}, keyint {keyint}, gop_coders {gop_coders}", best, f"{psnr:.2f} dB, {share}")
                    if "qp" in rate and (not fastest or best[0] < fastest[0]):
                        fastest = best[0], settings, best[2]
    if not torch:
        return
    _, settings, stream = fastest
    number, total, largest = copies(torch, lambda: motus.encode(frames, fps=FPS, **settings))
    print(f"the fastest, {settings}: from the device to the host {number} copies, {total} bytes, the largest {largest} (a frame as 4:2:0: {size}; the stream: {len(stream)})")
    for name, array, why in others(frames):
        if why:
            print(f"{name}: {why}")
            continue
        best = timed(lambda array=array: motus.encode(array, fps=FPS, **settings), args.runs, settle)
        report(f"motus, the same from {name}'s array", best, "the same bytes" if best[2] == stream else "OTHER BYTES")


if __name__ == "__main__":
    main()
