"""libx264 in this process, for bench.py: planes in memory to a stream in memory. It touches only
members that have had the same offsets since 2011."""
# SPDX-License-Identifier: BSD-2-Clause
from __future__ import annotations

import ctypes
import ctypes.util
import glob
import os
from contextlib import contextmanager
from ctypes import byref, c_char_p, c_double, c_int, c_int64, c_uint8, c_void_p

I420 = 2  # X264_CSP_I420 since version 155; 1 before
_WIDTH = 28  # offset of i_width, i_height and i_csp in x264_param_t


class Image(ctypes.Structure):
    _fields_ = [("csp", c_int), ("planes", c_int), ("stride", c_int * 4), ("plane", c_void_p * 4)]


class Picture(ctypes.Structure):
    _fields_ = [("type", c_int), ("qpplus1", c_int), ("pic_struct", c_int), ("keyframe", c_int),
                ("pts", c_int64), ("dts", c_int64), ("param", c_void_p), ("image", Image),
                ("pointers", c_void_p * 4), ("ssim", c_double), ("psnr_avg", c_double),
                ("psnr", c_double * 3), ("more", c_uint8 * 4096)]


class Nal(ctypes.Structure):
    _fields_ = [("ref_idc", c_int), ("type", c_int), ("long_start", c_int), ("first", c_int),
                ("last", c_int), ("size", c_int), ("data", c_void_p), ("padding", c_int)]


@contextmanager
def silence():
    """Hides stderr: x264 measures PSNR only if it may also print it."""
    before, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before), os.close(nothing)


class X264:
    """The library libx264. OSError: not found."""

    def __init__(self, path: str | None = None) -> None:
        installed = sorted(glob.glob("/usr/lib/*/libx264.so.*"))
        found = [path, ctypes.util.find_library("x264"), *installed]
        d = self.dll = ctypes.CDLL(next((name for name in found if name), "libx264.so"))
        builds = (n for n in range(250, 118, -1) if hasattr(d, f"x264_encoder_open_{n}"))
        self.build = next(builds, 0)
        if not self.build:
            raise OSError("a libx264 of unknown version")
        self.open = getattr(d, f"x264_encoder_open_{self.build}")
        self.open.restype, self.open.argtypes = c_void_p, [c_void_p]
        nals, count = ctypes.POINTER(ctypes.POINTER(Nal)), ctypes.POINTER(c_int)
        d.x264_encoder_encode.argtypes = [c_void_p, nals, count, c_void_p, c_void_p]
        d.x264_encoder_delayed_frames.argtypes = d.x264_encoder_close.argtypes = [c_void_p]
        d.x264_param_parse.argtypes = [c_void_p, c_char_p, c_char_p]
        d.x264_param_default_preset.argtypes = [c_void_p, c_char_p, c_char_p]

    def encode(self, frames, width: int, height: int, fps: int, preset: str,
               **options) -> tuple[bytes, float]:
        """Returns the stream and, with psnr=1, the mean luma PSNR. frames: addresses of Y, Cb, Cr
        without gaps."""
        param = (c_uint8 * 16384)()
        if self.dll.x264_param_default_preset(param, preset.encode(), None):
            raise ValueError(f"x264 has no preset {preset}")
        size = (c_int * 3).from_buffer(param, _WIDTH)
        size[0], size[1], size[2] = width, height, I420 if self.build >= 155 else 1
        for name, value in {"fps": fps, "log": 2 if options.get("psnr") else 0, **options}.items():
            option = name.replace("_", "-").encode()
            if self.dll.x264_param_parse(param, option, str(value).encode()):
                raise ValueError(f"x264 refuses {name}={value}")
        with silence():
            encoder = self.open(param)
            if not encoder:
                raise OSError("x264_encoder_open failed")
            try:
                return self._run(encoder, frames, width, height)
            finally:
                self.dll.x264_encoder_close(encoder)

    def _run(self, encoder, frames, width, height):
        picture, out, nals, count = Picture(), Picture(), ctypes.POINTER(Nal)(), c_int()
        self.dll.x264_picture_init(byref(picture))
        picture.image.csp, picture.image.planes = I420 if self.build >= 155 else 1, 3
        picture.image.stride[0:3] = [width, width // 2, width // 2]
        pieces, psnr = [], []

        def take(source):
            size = self.dll.x264_encoder_encode(encoder, byref(nals), byref(count), source,
                                                byref(out))
            if size < 0:
                raise OSError("x264_encoder_encode failed")
            if size:
                pieces.append(ctypes.string_at(nals[0].data, size))
                psnr.append(out.psnr[0])

        for t, address in enumerate(frames):
            picture.pts = t
            luma = width * height
            picture.image.plane[0:3] = [address, address + luma, address + luma * 5 // 4]
            take(byref(picture))
        while self.dll.x264_encoder_delayed_frames(encoder):
            take(None)
        return b"".join(pieces), sum(psnr) / max(len(psnr), 1)
