#!/usr/bin/env python3
"""Compares the filters and the 8x8 DCT with SciPy's DCT, PyWavelets, OpenCV's histogram, CLAHE and
HSV, and NumPy.

usage: filters.py LIBMOTUS.so [--time]
Needs python3-numpy, -scipy, -pywt, -opencv. A missing one skips its checks: exit status 77, unless
another check fails.
SPDX-License-Identifier: BSD-2-Clause
"""
import ctypes as C
import importlib
import signal
import sys
import time

try:
    import numpy as np
except ImportError:
    print("SKIP   numpy is not installed")
    sys.exit(77)

signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it without a word
lib = C.CDLL(sys.argv[1])
rng = np.random.default_rng(20)


class Plane(C.Structure):
    _fields_ = [("data", C.c_void_p), ("stride", C.c_ssize_t), ("width", C.c_int),
                ("height", C.c_int)]


class Coefs(Plane):
    pass


class Exec(C.Structure):
    _fields_ = [("threads", C.c_int), ("plain_c", C.c_int)]


class Equalize(C.Structure):
    _fields_ = [(n, C.c_int) for n in ("tiles_x", "tiles_y", "clip_q8", "smooth_q8")]


class Key(C.Structure):
    _fields_ = [(n, C.c_int)
                for n in ("hue", "saturation", "value", "hue_range", "sat_range", "value_range",
                          "plain_hue", "soft_q8", "spill_q8", "matrix_709", "full_range")]


class Band(C.Structure):
    _fields_ = [("offset", C.c_size_t), ("width", C.c_int), ("height", C.c_int),
                ("stride", C.c_int)]


class Shape(C.Structure):
    _fields_ = [("width", C.c_int), ("height", C.c_int), ("levels", C.c_int), ("edge", C.c_int),
                ("band", Band * 3 * 10), ("low", Band), ("in_width", C.c_int * 10),
                ("in_height", C.c_int * 10), ("low_offset", C.c_size_t * 10), ("size", C.c_size_t)]


lib.motus_key_config.restype = Key
failures = 0


def plane(a):
    return Plane(a.ctypes.data, a.strides[0], a.shape[1], a.shape[0])


def check(what, ok, figure):
    global failures
    failures += not ok
    print(f"{'ok    ' if ok else 'FAILED'} {what}: {figure}")


def module(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"SKIP   {name} is not installed")
        return None


def picture(h, w):
    """Smooth shapes and noise."""
    y, x = np.mgrid[0:h, 0:w]
    waves = 100 + 60 * np.sin(x / 37) * np.cos(y / 23)
    return np.clip(waves + rng.normal(0, 9, (h, w)), 0, 255).astype(np.uint8)


def dct(fft):
    a, q = picture(128, 200), rng.integers(1, 40, 64).astype(np.uint16)
    out = np.zeros((128, 200), np.int16)
    want = fft.dctn((a - 128.0).reshape(16, 8, 25, 8), axes=(1, 3), norm="ortho").reshape(128, 200)
    steps = np.tile(q.reshape(8, 8), (16, 25))
    for kind, name, bound in ((0, "float", 0.004), (1, "integer", 0.35)):
        lib.motus_dct8_forward(C.byref(plane(out)), C.byref(plane(a)), q.ctypes.data, kind, None)
        error = (np.abs(out - want / steps) * steps - steps / 2).max()
        check(f"8x8 DCT ({name}) and SciPy", error < bound,
              f"beyond half a step by {error:.4f} at most")


def transform(a, levels, edge):
    shape = Shape()
    assert lib.motus_wavelet_shape(C.byref(shape), a.shape[1], a.shape[0], levels, edge) == 0
    coefs = np.zeros(shape.size, np.float32)
    assert lib.motus_wavelet_forward(coefs.ctypes.data, C.byref(plane(a)), C.byref(shape),
                                     None) == 0

    def cut(b):
        whole = coefs[b.offset:b.offset + b.height * b.stride]
        return whole.reshape(b.height, b.stride)[:, :b.width]

    return cut(shape.low), [[cut(shape.band[l][k]) for k in range(3)] for l in range(levels)]


def wavelet(pywt):
    for h, w in ((64, 96), (61, 83), (37, 20)):
        a = picture(h, w)
        low, bands = transform(a, 3, 1)
        want = pywt.wavedec2(a.astype(float), "db2", mode="symmetric", level=3)
        error = np.abs(low - want[0]).max()
        for l in range(3):  # PyWavelets: (along y, along x, both), the coarsest level first
            y, x, xy = want[3 - l]
            error = max(error, *(np.abs(m - t).max() for m, t in zip(bands[l], (x, y, xy))))
        check(f"symmetric D4, 3 levels, {w}x{h}, and PyWavelets", error < 0.01,
              f"largest difference {error:.2e} of {np.abs(want[0]).max():.0f}")
    a = picture(64, 96)
    low, bands = transform(a, 3, 0)
    x, error = a.astype(float), 0
    for l in range(3):  # its periodization begins one sample earlier
        x, d = pywt.dwt2(np.roll(x, (-1, -1), (0, 1)), "db2", mode="periodization")
        error = max(error, *(np.abs(m - t).max() for m, t in zip(bands[l], (d[1], d[0], d[2]))))
    error = max(error, np.abs(low - x).max())
    check("periodic D4, 3 levels, 96x64, and PyWavelets", error < 0.01,
          f"largest difference {error:.2e}")


def equalized(a, config):
    handle, out = C.c_void_p(), np.zeros_like(a)
    assert lib.motus_equalizer_open(C.byref(handle), C.byref(config), a.shape[1], a.shape[0]) == 0
    assert lib.motus_equalizer_run(handle, C.byref(plane(out)), C.byref(plane(a)), None) == 0
    lib.motus_equalizer_close(C.byref(handle))
    return out


def equalize(cv2):
    a = picture(480, 640)
    counts = np.zeros(256, np.uint32)
    lib.motus_histogram(counts.ctypes.data, C.byref(plane(a)), None)
    check("histogram and OpenCV",
          (cv2.calcHist([a], [0], None, [256], [0, 256]).ravel() == counts).all(), "256 counts")
    share = np.cumsum(np.bincount(a.ravel(), minlength=256)) / a.size
    want = np.floor(255 * share + 0.5).astype(np.uint8)[a]
    ours = equalized(a, Equalize(1, 1, 0, 0))
    check("equalization and the formula in NumPy", (want == ours).all(),
          f"{(want != ours).sum()} of {a.size} samples differ")
    other = cv2.equalizeHist(a).astype(int)
    check("equalization and OpenCV (which leaves the first bin out)",
          np.abs(other - ours).max() <= 1, f"largest difference {np.abs(other - ours).max()}")
    for clip in (1.5, 2.0, 4.0):
        other = cv2.createCLAHE(clip, (8, 8)).apply(a).astype(int)
        ours = equalized(a, Equalize(8, 8, int(clip * 256), 0))
        check(f"CLAHE, clip limit {clip}, and OpenCV", np.abs(other - ours).max() <= 1,
              f"{100 * (other != ours).mean():.2f} % of the samples differ, by "
              f"{np.abs(other - ours).max()} at most")


def key(cv2):
    noise = rng.normal(0, 60, (240, 320, 3))
    fg = np.clip(np.array([70, 180, 80]) + noise, 0, 255).astype(np.uint8)
    bg = rng.integers(0, 256, fg.shape).astype(np.uint8)
    k, out = lib.motus_key_config(70, 180, 80), np.zeros_like(fg)
    flat = lambda a: Plane(a.ctypes.data, a.strides[0], 3 * a.shape[1], a.shape[0])
    assert lib.motus_key_rgb24(C.byref(flat(out)), C.byref(flat(fg)), C.byref(flat(bg)), C.byref(k),
                               None) == 0
    hsv = cv2.cvtColor(fg.astype(np.float32) / 255, cv2.COLOR_RGB2HSV).astype(float)
    d = np.abs(hsv[..., 0] - k.hue / 16)
    distance = np.stack([np.minimum(d, 360 - d), np.abs(hsv[..., 1] - k.saturation / 1024),
                         np.abs(hsv[..., 2] - k.value / 1024)], -1)
    limit = np.array([k.hue_range / 16, k.sat_range / 1024, k.value_range / 1024])
    sure = (np.abs(distance - limit) > 1e-4 * limit).all(-1)
    want = np.where((distance < limit).all(-1)[..., None], bg, fg)
    wrong = (want != out).any(-1) & sure
    check("chroma key and OpenCV's HSV", not wrong.any(),
          f"{wrong.sum()} of {sure.sum()} pixels differ")


def timing(cv2):
    """OpenCV's functions beside ours, best of 5, milliseconds."""
    def best(f):
        times = []
        for _ in range(5):
            start = time.perf_counter()
            f()
            times.append(time.perf_counter() - start)
        return 1e3 * min(times)
    a = np.resize(picture(1024, 1024), (7862, 7646))
    out, handles = np.zeros_like(a), {}
    for name, config in (("equalization", Equalize(1, 1, 0, 0)),
                         ("CLAHE 8x8", Equalize(8, 8, 512, 0))):
        handle = handles[name] = C.c_void_p()
        lib.motus_equalizer_open(C.byref(handle), C.byref(config), a.shape[1], a.shape[0])
        other = {"equalization": lambda: cv2.equalizeHist(a),
                 "CLAHE 8x8": lambda: cv2.createCLAHE(2.0, (8, 8)).apply(a)}[name]
        for threads in (1, 0):
            cv2.setNumThreads(threads if threads else -1)
            ex = Exec(threads, 0)
            ours = best(lambda: lib.motus_equalizer_run(handle, C.byref(plane(out)),
                                                        C.byref(plane(a)), C.byref(ex)))
            print(f"time   {name} 7646x7862, {'1 thread' if threads else 'all cores'}: motus "
                  f"{ours:.2f}, OpenCV {best(other):.2f} ms")


fft, waves, cv = module("scipy.fft"), module("pywt"), module("cv2")
if fft:
    dct(fft)
if waves:
    wavelet(waves)
if cv:
    equalize(cv)
    key(cv)
    if "--time" in sys.argv:
        timing(cv)
sys.exit(1 if failures else 77 if None in (fft, waves, cv) else 0)
