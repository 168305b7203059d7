#!/usr/bin/env python3
"""Measures how much the equalizing curve moves from frame to frame in a darkened sequence, for
several weights of smoothing.

usage: flicker.py LIBMOTUS.so FILE.y4m [PERCENT]
Before it is equalized, luma is brought down to a quarter of its range, with noise and a lamp that
flickers by up to PERCENT (0).
SPDX-License-Identifier: BSD-2-Clause
"""
import ctypes as C
import signal
import sys

import numpy as np

signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it without a word
lib = C.CDLL(sys.argv[1])
lib.motus_equalizer_curves.restype = C.c_void_p
rng = np.random.default_rng(4)
lamp = float(sys.argv[3]) / 100 if len(sys.argv) > 3 else 0


class Plane(C.Structure):
    _fields_ = [("data", C.c_void_p), ("stride", C.c_ssize_t), ("width", C.c_int),
                ("height", C.c_int)]


class Equalize(C.Structure):
    _fields_ = [(n, C.c_int) for n in ("tiles_x", "tiles_y", "clip_q8", "smooth_q8")]


def luma(path):
    """Luma planes of a 4:2:0 y4m file."""
    with open(path, "rb") as f:
        words = f.readline().split()
        w, h = (int(next(x for x in words if x[:1] == c)[1:]) for c in (b"W", b"H"))
        while f.readline():
            y = np.frombuffer(f.read(w * h), np.uint8)
            if y.size < w * h:
                return
            f.seek(2 * ((w + 1) // 2) * ((h + 1) // 2), 1)
            yield y.reshape(h, w)


dark = []
for y in luma(sys.argv[2]):
    v = 16 + (y.astype(float) - 16) / 4 * (1 + rng.uniform(-lamp, lamp))
    v = v + rng.normal(0, 1, y.shape)
    dark.append(np.clip(v, 0, 255).astype(np.uint8))
h, w = dark[0].shape
plane = lambda a: C.byref(Plane(a.ctypes.data, a.strides[0], w, h))
out = np.zeros((h, w), np.uint8)
for tiles, clip in ((1, 0), (8, 512)):
    for smooth in (0, 128, 224, 240):
        handle, before, moved, level = C.c_void_p(), None, [], []
        assert lib.motus_equalizer_open(C.byref(handle),
                                        C.byref(Equalize(tiles, tiles, clip, smooth)), w, h) == 0
        for a in dark:
            assert lib.motus_equalizer_run(handle, plane(out), plane(a), None) == 0
            n = C.c_int()
            at = lib.motus_equalizer_curves(handle, C.byref(n))
            curves = (C.c_uint8 * (256 * n.value)).from_address(at)
            curve = np.ctypeslib.as_array(curves).astype(int)
            if before is not None:
                moved.append(np.abs(curve - before).mean())
            before = curve
            level.append(out.mean())
        lib.motus_equalizer_close(C.byref(handle))
        print(f"{'CLAHE 8x8' if tiles > 1 else 'one curve'}, smooth {smooth:3d}: the curve moves "
              f"by {np.mean(moved):.3f} a frame on average, {np.max(moved):.3f} at most; the mean "
              f"level by {np.abs(np.diff(level)).mean():.3f}")
