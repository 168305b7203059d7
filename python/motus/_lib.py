"""libmotus through ctypes: where it is, its structures and functions, its errors.

Structures are written down once more here. Those that a caller fills in carry their size, so that a library with more members at their ends is served as well;
tests/test_layout.py holds all of them against the headers with a C compiler, and load() refuses a library whose version or configuration is not the one meant."""
# SPDX-License-Identifier: BSD-2-Clause
from __future__ import annotations

import ctypes
import ctypes.util
import glob
import os
from contextlib import contextmanager
from ctypes import (CDLL, POINTER, Structure, byref, c_char, c_char_p, c_double, c_float, c_int, c_int16, c_int64, c_size_t, c_ssize_t, c_uint8, c_uint16,
                    c_uint32, c_uint64, c_void_p)
from typing import Iterator

from ._errors import error_of

BLOCKS, MB_KINDS, STAGES = 41, 8, 7
OK, END, AGAIN = 0, 1, 2
SERIES = "0.1"  # of the library: structures change from one to the next only


class Rational(Structure):
    _fields_ = [("num", c_int), ("den", c_int)]


class Colour(Structure):
    _fields_ = [("sar", Rational), ("full_range", c_int), ("primaries", c_int), ("transfer", c_int), ("matrix", c_int), ("chroma_location", c_int)]


class Error(Structure):
    _fields_ = [("status", c_int), ("text", c_char * 248)]


class Plane(Structure):
    _fields_ = [("data", c_void_p), ("stride", c_ssize_t), ("width", c_int), ("height", c_int)]


class Frame(Structure):
    _fields_ = [("width", c_int), ("height", c_int), ("plane", Plane * 3), ("number", c_int64), ("owner", c_void_p)]


class Image(Structure):
    _fields_ = [("size", c_size_t), ("width", c_int), ("height", c_int), ("samples", c_int), ("data", c_void_p * 3), ("row", c_ssize_t * 3),
                ("pixel", c_ssize_t * 3)]


class EncoderConfig(Structure):
    _fields_ = [
        ("size", c_size_t), ("width", c_int), ("height", c_int), ("fps", Rational), ("qp", c_int), ("qp_i_offset", c_int), ("keyint", c_int),
        ("preset", c_int), ("range", c_int), ("subpel", c_int), ("partitions", c_uint32), ("deblock", c_int), ("aud", c_int), ("threads", c_int),
        ("stream_only", c_int), ("backend", c_int), ("colour", Colour), ("gop_coders", c_int), ("device", c_int), ("rate", c_int), ("crf", c_double),
        ("bitrate", c_int64), ("vbv_maxrate", c_int64), ("vbv_bufsize", c_int64), ("qp_min", c_int), ("qp_max", c_int), ("qp_step", c_int),
        ("ip_ratio", c_double), ("hrd", c_int), ("time_base", Rational), ("lookahead", c_int), ("min_keyint", c_int), ("scenecut", c_int),
        ("aq_mode", c_int), ("aq_strength", c_double), ("mb_tree", c_int), ("pass_", c_int), ("pass_log", c_char_p), ("first_picture", c_int64),
        ("first_gop", c_int64), ("time_stages", c_int), ("export_field", c_int), ("n_devices", c_int), ("devices", POINTER(c_int)),
        ("slices", c_int), ("slice_max_size", c_int), ("packet_memory", c_int)]  # yapf: disable


class FrameParams(Structure):
    _fields_ = [("size", c_size_t), ("pts", c_int64), ("duration", c_int64), ("opaque", c_void_p), ("force_idr", c_int), ("qp_offset", c_void_p),
                ("n_qp_offset", c_size_t), ("external_mvs", c_void_p), ("external_modes", c_uint32), ("external_final", c_int)]


class PictureStats(Structure):
    _fields_ = [("mb", c_uint32 * MB_KINDS), ("sub", c_uint32 * 4), ("bits_header", c_uint64), ("bits_mode", c_uint64), ("bits_mv", c_uint64),
                ("bits_luma", c_uint64), ("bits_chroma", c_uint64), ("ssd", c_uint64 * 3)]


class Packet(Structure):
    _fields_ = [("data", POINTER(c_uint8)), ("size", c_size_t), ("number", c_int64), ("pts", c_int64), ("duration", c_int64), ("opaque", c_void_p),
                ("is_idr", c_int), ("type", c_char), ("qp", c_int), ("recon", POINTER(Frame)), ("source", POINTER(Frame)), ("mvs", c_void_p),
                ("n_mvs", c_size_t), ("stats", PictureStats), ("mean_qp", c_double), ("coded_again", c_int), ("vbv_fullness", c_int64),
                ("pass_log", c_char_p), ("stage_us", c_float * STAGES), ("field", c_void_p), ("field_modes", c_uint32), ("slices", c_int),
                ("device_data", c_void_p), ("device", c_int)]


class MeConfig(Structure):
    _fields_ = [("width", c_int), ("height", c_int), ("range", c_int), ("subpel", c_int), ("modes", c_uint32), ("threads", c_int), ("backend", c_int),
                ("error", POINTER(Error)), ("device", c_int)]


class MeHints(Structure):
    _fields_ = [("centre", c_void_p), ("predictor", c_void_p), ("lambda_", c_void_p), ("lambda_q8", c_uint32)]


class Field(Structure):
    _fields_ = [("mb_width", c_int), ("mb_height", c_int), ("n_mb", c_int), ("mv", POINTER(c_int16) * BLOCKS), ("sad", POINTER(c_uint16) * BLOCKS),
                ("cost", POINTER(c_uint32) * BLOCKS)]


class MeJob(Structure):
    _fields_ = [("cur", POINTER(Plane)), ("ref", POINTER(Plane)), ("memory", c_int), ("stream", c_void_p), ("hints", POINTER(MeHints)),
                ("field", POINTER(Field)), ("device_mv", c_void_p), ("device_sad", c_void_p), ("device_cost", c_void_p)]


class _Roomy(Structure):
    """A configuration that a newer library returns may be longer than ours; it is returned through memory either way."""
    _fields_ = [("config", EncoderConfig), ("more", c_uint8 * 4096)]


class _RoomyMe(Structure):
    _fields_ = [("config", MeConfig), ("more", c_uint8 * 1024)]


_P, _S = c_void_p, c_int  # an object of the library's, a MotusStatus
FUNCTIONS = {
    "motus_version": (c_char_p, []),
    "motus_status_text": (c_char_p, [_S]),
    "motus_image_convert": (_S, [POINTER(Frame), POINTER(Image), POINTER(Colour), c_void_p]),
    "motus_cuda_image_convert": (_S, [POINTER(Frame), POINTER(Image), POINTER(Colour), c_void_p, POINTER(Error)]),
    "motus_cuda_alloc": (_S, [POINTER(c_void_p), c_size_t, POINTER(Error)]),
    "motus_cuda_free": (None, [c_void_p]),
    "motus_encoder_config_default": (_Roomy, [c_int, c_int, Rational]),
    "motus_encoder_open": (_S, [POINTER(_P), POINTER(EncoderConfig), POINTER(Error)]),
    "motus_encoder_send": (_S, [_P, POINTER(Frame), POINTER(FrameParams)]),
    "motus_encoder_send_image": (_S, [_P, POINTER(Image), POINTER(FrameParams)]),
    "motus_encoder_send_image_device": (_S, [_P, POINTER(Image), c_void_p, POINTER(FrameParams)]),
    "motus_encoder_set_rate": (_S, [_P, c_int64, c_int64, c_int64]),
    "motus_encoder_receive": (_S, [_P, POINTER(POINTER(Packet)), c_int]),
    "motus_encoder_headers": (_P, [_P, POINTER(c_size_t)]),
    "motus_encoder_level": (c_int, [_P]),
    "motus_encoder_error": (POINTER(Error), [_P]),
    "motus_encoder_backend": (c_int, [_P]),
    "motus_encoder_gop_coders": (c_int, [_P]),
    "motus_encoder_close": (None, [POINTER(_P)]),
    "motus_packet_unref": (None, [POINTER(POINTER(Packet))]),
    "motus_me_config_default": (_RoomyMe, [c_int, c_int]),
    "motus_me_open": (_S, [POINTER(_P), POINTER(MeConfig)]),
    "motus_me_search": (_S, [_P, POINTER(Plane), POINTER(Plane), POINTER(MeHints), POINTER(Field)]),
    "motus_me_submit": (_S, [_P, POINTER(MeJob)]),
    "motus_me_receive": (_S, [_P, POINTER(POINTER(Field))]),
    "motus_me_error": (POINTER(Error), [_P]),
    "motus_me_close": (None, [POINTER(_P)]),
}


def candidates() -> list[str]:
    """Where the library may be, best first: MOTUS_LIBRARY, beside this file (pip puts it there), where the system's loader looks."""
    if path := os.environ.get("MOTUS_LIBRARY"):
        return [path]
    found = sorted(glob.glob(os.path.join(os.path.dirname(__file__), "libmotus.so*")))
    return found + [name for name in ("libmotus.so.0.1", ctypes.util.find_library("motus")) if name]


def _declare(dll: CDLL) -> CDLL:
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(dll, name)  # AttributeError: not this series
        function.restype, function.argtypes = result, arguments
    return dll


def _check(dll: CDLL, path: str) -> None:
    """Before anything is done with structures of another length than the library's."""
    version = dll.motus_version().decode()
    if version.split(".")[:2] != SERIES.split("."):
        raise ImportError(f"{path}: libmotus {version}, but this package is for {SERIES}")
    size = dll.motus_encoder_config_default(16, 16, Rational(25, 1)).config.size
    if size < ctypes.sizeof(EncoderConfig):
        raise ImportError(f"{path}: its encoder configuration has {size} bytes, this package's {ctypes.sizeof(EncoderConfig)}: the library is too old")
    me = dll.motus_me_config_default(16, 16)  # which carries no size, but ends in -1
    if me.config.device != -1:
        raise ImportError(f"{path}: its MotusMeConfig is not this package's: the two are of different times")


@contextmanager
def _patient() -> Iterator[None]:
    """GNU OpenMP is told, should it be loaded now, that idle threads are to sleep: spinning, they take the processors from the encoder's own."""
    given = os.environ.get("OMP_WAIT_POLICY")
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        yield
    finally:
        if given is None:
            del os.environ["OMP_WAIT_POLICY"]


def load() -> CDLL:
    """Loads the library. ctypes lets go of the interpreter's lock for as long as each call takes."""
    tried = []
    for path in candidates():
        try:
            with _patient():
                dll = _declare(CDLL(path))
        except (OSError, AttributeError) as error:
            tried.append(f"{path}: {error}")
            continue
        _check(dll, path)
        return dll
    raise ImportError("libmotus was not found; install it, or name it in MOTUS_LIBRARY (" + "; ".join(tried or ["nothing there"]) + ")")


lib = load()


def check(status: int, error: Error | None = None) -> int:
    """Raises what an error is; states (0 and above) are returned."""
    if status >= 0:
        return status
    text = error.text.decode(errors="replace") if error is not None and error.status == status else ""
    raise error_of(status, text or lib.motus_status_text(status).decode())


__all__ = ["lib", "check", "byref"]
