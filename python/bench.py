#!/usr/bin/env python3
"""From float RGB frames in device memory to an MP4 in memory: motus beside libx264 ultrafast on all cores, in one run. Needs PyTorch with a GPU and libx264.

    python3 python/bench.py                                       243 frames of 1344x768, made here
    python3 python/bench.py --input film.mp4                      the first frames of a film (by ffmpeg), scaled, to and fro
    python3 python/bench.py --host --frames 12 --size 320x192     without a GPU: arrays in host memory, to try the script
    python3 python/bench.py --convert                             user time of making 4:2:0 of a 1080p frame on one core, AVX2 and plain C

Ways, best of --runs each, with what the host's processors worked (user + system):
  motus       motus.encode(frames) where the frames are
  usual       frames to the host as they are (pageable), 4:2:0 there by all cores, libx264
  strongest   4:2:0 on the GPU (our kernel), one copy to pinned memory, libx264
Bytes are compared at equal luma PSNR: between those of x264 at several CRFs. Copies from the device are counted by PyTorch's profiler in a run of their own."""
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


def read(path, frames, width, height):
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


def to_i420(frames, out, width, height):
    """By the library, on the host or the device where the frames are; `out` is one block of bytes there."""
    size = width * height * 3 // 2
    for t in range(len(frames)):
        picture, start = picture_of(frames[t]), (out.ctypes.data if isinstance(out, np.ndarray) else out.data_ptr()) + t * size
        frame = frame_at(width, height, [start, start + width * height, start + width * height * 5 // 4])
        if picture.device is None:
            status = _lib.lib.motus_image_convert(ctypes.byref(frame), ctypes.byref(picture.image), ctypes.byref(BT709), None)
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


class Exec(ctypes.Structure):
    """MotusExec."""
    _fields_ = [("threads", ctypes.c_int), ("plain_c", ctypes.c_int)]


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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=243)
    parser.add_argument("--size", default="1344x768")
    parser.add_argument("--input")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--presets", default="faster,fast,medium")
    parser.add_argument("--qp", type=int, default=27, help="of P pictures; nothing but the stream then leaves the device")
    parser.add_argument("--crf", type=float, default=23, help="for a second row of each preset, with look-ahead")
    parser.add_argument("--lanes", type=int, default=0)
    parser.add_argument("--keyint", type=int, default=30)
    parser.add_argument("--libx264", help="path of the library")
    parser.add_argument("--host", action="store_true")
    parser.add_argument("--convert", action="store_true")
    args = parser.parse_args()
    if args.convert:
        return conversion()
    width, height = map(int, args.size.split("x"))
    rgb = read(args.input, args.frames, width, height) if args.input else make(args.frames, width, height)
    size, n = width * height * 3 // 2, len(rgb)
    peer = x264.X264(args.libx264)
    torch = None
    if args.host:
        frames, settle = (rgb.astype(np.float32) / 255).transpose(0, 3, 1, 2), lambda: None
    else:
        import torch
        frames, settle = torch.from_numpy(rgb).cuda().permute(0, 3, 1, 2).float().div_(255).contiguous(), torch.cuda.synchronize
        print(f"device: {torch.cuda.get_device_name()}")
    print(f"{n} frames of {width}x{height}, float32 RGB [T, 3, H, W] in {'host' if args.host else 'device'} memory; {os.cpu_count()} processors; libmotus "
          f"{motus.library_version}, libx264 build {peer.build}")

    planes = np.empty(n * size, np.uint8)
    pinned = torch.empty(n * size, dtype=torch.uint8, pin_memory=True) if torch else None
    device_planes = torch.empty(n * size, dtype=torch.uint8, device="cuda") if torch else None
    addresses = [planes.ctypes.data + t * size for t in range(n)]

    def with_x264(places, **options):
        return peer.encode(places, width, height, FPS, "ultrafast", keyint=args.keyint, **options)[0]

    def usual(**options):
        to_i420(frames.cpu().numpy() if torch else frames.copy(), planes, width, height)
        return with_x264(addresses, **options)

    def strongest(**options):
        to_i420(frames, device_planes, width, height)
        pinned.copy_(device_planes)
        return with_x264([pinned.data_ptr() + t * size for t in range(n)], **options)

    def report(name, best, extra=""):
        print(f"{name:34} {1000 * best[0]:9.1f} ms  {n / best[0]:7.0f} frames/s  processors {1000 * best[1]:9.1f} ms  {len(best[2]):9} bytes  {extra}", flush=True)

    to_i420(frames if not torch else frames.cpu().numpy(), planes, width, height)
    points = []
    for crf in (14, 18, 22, 26, 30, 34):
        stream, psnr = peer.encode(addresses, width, height, FPS, "ultrafast", keyint=args.keyint, crf=crf, psnr=1)
        points.append((psnr, len(stream)))
    print("x264 ultrafast, PSNR and bytes: " + ", ".join(f"{p:.2f} dB {b}" for p, b in points))
    report("usual, x264 ultrafast, CRF 23", timed(lambda: usual(crf=23), args.runs, settle))
    if torch:
        report("strongest, x264 ultrafast, CRF 23", timed(lambda: strongest(crf=23), args.runs, settle))
    for preset in args.presets.split(","):
        for rate in ({"qp": args.qp}, {"crf": args.crf}):
            settings = {**rate, "preset": preset, "keyint": args.keyint, "lanes": args.lanes, "backend": "cpu" if args.host else "cuda"}
            best = timed(lambda settings=settings: motus.encode(frames, fps=FPS, **settings), args.runs, settle)
            psnr = psnr_of(frames, width, height, settings)
            theirs = bytes_at(psnr, points)
            share = f"{100 * len(best[2]) / theirs:.1f} % of x264's bytes at that PSNR" if theirs else "outside x264's points"
            report(f"motus {preset}, {next(iter(rate))} {next(iter(rate.values()))}", best, f"{psnr:.2f} dB, {share}")
            if torch:
                number, total, largest = copies(torch, lambda settings=settings: motus.encode(frames, fps=FPS, **settings))
                print(f"{'':34} from the device to the host: {number} copies, {total} bytes, the largest {largest} (a frame as 4:2:0: {size})")


if __name__ == "__main__":
    main()
