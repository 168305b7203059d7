"""libmotus through ctypes: structures, functions, loading, errors.

tests/test_layout.py compares the structures with the headers by a C compiler. load() refuses a
library of another series or with another configuration."""
# SPDX-License-Identifier: BSD-2-Clause
from __future__ import annotations

import ctypes
import ctypes.util
import glob
import os
import re
from contextlib import contextmanager
from ctypes import CDLL, POINTER, Structure
from typing import Any, Iterator

from ._errors import error_of

BLOCKS, MB_KINDS, STAGES = 41, 8, 7
OK, END, AGAIN = 0, 1, 2
SERIES = "0.2"  # of the library; structures do not change within a series

_TYPES: dict[str, Any] = {
    "void": None, "char": ctypes.c_char, "int": ctypes.c_int, "float": ctypes.c_float,
    "double": ctypes.c_double, "size_t": ctypes.c_size_t, "ptrdiff_t": ctypes.c_ssize_t,
    "uint8_t": ctypes.c_uint8, "int16_t": ctypes.c_int16, "uint16_t": ctypes.c_uint16,
    "uint32_t": ctypes.c_uint32, "int64_t": ctypes.c_int64, "uint64_t": ctypes.c_uint64,
}


def _type(name: str, stars: int) -> Any:
    """Returns the ctypes type of a C type, or of one of the structures below, with pointers."""
    if name == "char" and stars == 1:
        return ctypes.c_char_p
    made = _TYPES[name] if name in _TYPES else globals()[name]
    for _ in range(stars):
        made = POINTER(made)
    return made


def _members(declarations: str) -> list[tuple[str, Any]]:
    """Returns the _fields_ of C declarations such as "int a, b; float *c[3];"."""
    fields = []
    for declaration in declarations.strip().rstrip(";").split(";"):
        type_name, names = declaration.split(None, 1)
        for name in names.split(","):
            match = re.fullmatch(r"\s*(\**)(\w+)(?:\[(\d+)\])?\s*", name)
            assert match, declaration
            made = _type(type_name, len(match[1]))
            fields.append((match[2], made * int(match[3]) if match[3] else made))
    return fields


class Rational(Structure):
    _fields_ = _members("int num, den;")


class Colour(Structure):
    _fields_ = _members("""
        Rational sar; int full_range, primaries, transfer, matrix, chroma_location;""")


class Error(Structure):
    _fields_ = _members("int status; char text[248];")


class Plane(Structure):
    _fields_ = _members("void *data; ptrdiff_t stride; int width, height;")


class Frame(Structure):
    _fields_ = _members("int width, height; Plane plane[3]; int64_t number; void *owner;")


class Image(Structure):
    _fields_ = _members("""
        size_t size; int width, height, samples; void *data[3]; ptrdiff_t row[3], pixel[3];""")


class EncoderConfig(Structure):
    _fields_ = _members("""
        size_t size; int width, height; Rational fps; Colour colour;
        int profile, cabac, transform_8x8, deblock;
        int keyint, min_keyint, scenecut, intra_refresh, bframes, b_adapt, b_pyramid, references,
        keep_references; int preset, range, subpel; uint32_t partitions;
        int direct, weightp, weightb; int rate, qp, qp_i_offset; double crf;
        int64_t bitrate, vbv_maxrate, vbv_bufsize; int hrd, qp_min, qp_max, qp_step;
        double ip_ratio, pb_ratio; Rational time_base; int lookahead, aq_mode;
        double aq_strength; int mb_tree, pass_; char *pass_log; int slices, slice_max_size, aud;
        int backend, threads, gop_coders, device, n_devices; int *devices;
        int stream_only, packet_memory, export_field, time_stages, no_ssd;
        int64_t first_picture, first_gop;""")


class Mv(Structure):
    _fields_ = _members("int16_t x, y;")


class CodedMv(Structure):
    _fields_ = _members("""
        uint16_t x, y; uint8_t width, height, skip, list; Mv mv; int16_t distance;""")


class FrameParams(Structure):
    _fields_ = _members("""
        size_t size; int64_t pts, duration; void *opaque; int force_idr; void *qp_offset;
        size_t n_qp_offset; void *external_mvs; uint32_t external_modes; int external_final;
        void *reference_mvs; size_t n_reference_mvs;""")


class PictureStats(Structure):
    _fields_ = _members(f"""
        uint32_t mb[{MB_KINDS}], sub[4], transform_8x8[2];
        uint64_t bits_header, bits_mode, bits_mv, bits_luma, bits_chroma, ssd[3];
        uint64_t direct;""")


class Packet(Structure):
    _fields_ = _members(f"""
        uint8_t *data; size_t size; int64_t number, pts, duration; void *opaque; int is_idr;
        char type; int qp; Frame *recon, *source; void *mvs; size_t n_mvs; PictureStats stats;
        double mean_qp; int coded_again; int64_t vbv_fullness; char *pass_log;
        float stage_us[{STAGES}]; void *field; uint32_t field_modes; int slices;
        void *device_data; int device; int64_t dts;""")


class MeConfig(Structure):
    _fields_ = _members("""
        int width, height, range, subpel; uint32_t modes; int threads, backend; Error *error;
        int device;""")


class MeHints(Structure):
    _fields_ = _members("void *centre, *predictor, *lambda_; uint32_t lambda_q8;")


class MeTarget(Structure):
    _fields_ = _members("""
        void *reference; MeHints *hints; void *skip_mv, *mv, *sad, *satd, *cost;
        void *skip_sad, *skip_satd, *zero_sad;""")


class MeRegion(Structure):
    _fields_ = _members("int x, y, width, height;")


class MeRequest(Structure):
    _fields_ = _members("""
        size_t size, target_size; Plane *cur; MeTarget *target; int n_targets; void *modes;
        MeRegion region; void *stats; int memory, hints_memory, results_memory;
        void *stream, *event, *opaque, *keep;""")


class _LongEncoderConfig(Structure):
    """Space for the longer configuration that a newer library may return."""
    _fields_ = _members("EncoderConfig config; uint8_t more[4096];")


class _LongMeConfig(Structure):
    _fields_ = _members("MeConfig config; uint8_t more[1024];")


# The library's objects are void *, a MotusStatus is int.
_PROTOTYPES = """
    char *motus_version()
    char *motus_status_text(int)
    char *motus_preset_name(int)
    int motus_image_convert(Frame *, Image *, Colour *, void *)
    int motus_cuda_image_convert(Frame *, Image *, Colour *, void *, Error *)
    int motus_cuda_alloc(void **, size_t, Error *)
    void motus_cuda_free(void *)
    _LongEncoderConfig motus_encoder_config_default(int, int, Rational)
    int motus_encoder_open(void **, EncoderConfig *, Error *)
    int motus_encoder_send(void *, Frame *, FrameParams *)
    int motus_encoder_send_image(void *, Image *, FrameParams *)
    int motus_encoder_send_image_device(void *, Image *, void *, FrameParams *)
    int motus_encoder_set_rate(void *, int64_t, int64_t, int64_t)
    int motus_encoder_reference_lost(void *, int64_t)
    int motus_encoder_receive(void *, Packet **, int)
    void *motus_encoder_headers(void *, size_t *)
    int motus_encoder_level(void *)
    Error *motus_encoder_error(void *)
    int motus_encoder_backend(void *)
    int motus_encoder_gop_coders(void *)
    void motus_encoder_close(void **)
    void motus_packet_unref(Packet **)
    _LongMeConfig motus_me_config_default(int, int)
    int motus_me_open(void **, MeConfig *)
    int motus_me_reference_alloc(void **, void *)
    int motus_me_reference_fill(void *, void *, Plane *, int, void *)
    void motus_me_reference_unref(void **)
    int motus_me_request(void *, MeRequest *)
    int motus_me_wait(void *, void **, int)
    Error *motus_me_error(void *)
    void motus_me_close(void **)
"""


def _declare(dll: CDLL) -> CDLL:
    for prototype in _PROTOTYPES.strip().splitlines():
        match = re.fullmatch(r"\s*(\w+) (\**)(\w+)\((.*)\)", prototype)
        assert match, prototype
        function = getattr(dll, match[3])  # AttributeError: another series
        function.restype = _type(match[1], len(match[2]))
        arguments = [argument.split() for argument in match[4].split(",") if argument]
        function.argtypes = [_type(name, len("".join(stars))) for name, *stars in arguments]
    return dll


def candidates() -> list[str]:
    """Returns paths of the library, best first: MOTUS_LIBRARY, or else beside this file (pip puts
    it there), then the system's loader."""
    if path := os.environ.get("MOTUS_LIBRARY"):
        return [path]
    found = sorted(glob.glob(os.path.join(os.path.dirname(__file__), "libmotus.so*")))
    return found + [n for n in ("libmotus.so.0.2", ctypes.util.find_library("motus")) if n]


def _check(dll: CDLL, path: str) -> None:
    """Raises ImportError if the library's structures are not those of this package."""
    version = dll.motus_version().decode()
    if version.split(".")[:2] != SERIES.split("."):
        raise ImportError(f"{path}: libmotus {version}, but this package is for {SERIES}")
    size = dll.motus_encoder_config_default(16, 16, Rational(25, 1)).config.size
    ours = ctypes.sizeof(EncoderConfig)
    if size < ours:
        raise ImportError(f"{path}: its encoder configuration has {size} bytes, this package's "
                          f"{ours}: the library is too old")
    me = dll.motus_me_config_default(16, 16)  # carries no size, but its last member is -1
    if me.config.device != -1:
        raise ImportError(f"{path}: its MotusMeConfig is not this package's: versions differ")


@contextmanager
def _passive_threads() -> Iterator[None]:
    """Makes idle OpenMP threads sleep if the runtime is loaded now: spinning ones take the
    processors from the encoder's own threads."""
    before = os.environ.get("OMP_WAIT_POLICY")
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        yield
    finally:
        if before is None:
            del os.environ["OMP_WAIT_POLICY"]


def load() -> CDLL:
    """Loads the library. Its calls release the interpreter lock."""
    tried = []
    for path in candidates():
        try:
            with _passive_threads():
                dll = _declare(CDLL(path))
        except (OSError, AttributeError) as error:
            tried.append(f"{path}: {error}")
            continue
        _check(dll, path)
        return dll
    raise ImportError("libmotus was not found; install it, or name it in MOTUS_LIBRARY ("
                      + "; ".join(tried or ["no candidates"]) + ")")


lib = load()


def check(status: int, error: Error | None = None) -> int:
    """Raises an exception for an error (below 0); returns other statuses."""
    if status >= 0:
        return status
    text = ""
    if error is not None and error.status == status:
        text = error.text.decode(errors="replace")
    raise error_of(status, text or lib.motus_status_text(status).decode())
