"""Motion search of one picture in another."""
# SPDX-License-Identifier: BSD-2-Clause
from __future__ import annotations

import ctypes
from ctypes import byref
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _lib
from ._arrays import View, view_of
from ._errors import ArgumentError
from ._frames import Picture, picture_of
from ._lib import lib
from ._settings import number_in, number_of, whole


class Block(NamedTuple):
    """Position and size inside a macroblock, luma samples."""
    x: int
    y: int
    width: int
    height: int


def _blocks() -> tuple[Block, ...]:
    table = (ctypes.c_uint8 * 5 * _lib.BLOCKS).in_dll(lib, "motus_blocks")
    return tuple(Block(*entry[:4]) for entry in table)


BLOCKS: tuple[Block, ...] = _blocks()
"""The 41 blocks of a macroblock, in the order of a result's first axis: 16x16, 16x8, 8x16, 8x8,
8x4, 4x8, 4x4, each in raster order."""

if TYPE_CHECKING:  # NumPy 1.21 has no parameters at run time
    Array = np.ndarray[Any, Any]
_BT709 = _lib.Colour(_lib.Rational(1, 1), 0, 1, 1, 1, 1)


@dataclass(frozen=True)
class SearchResult:
    """Results for block b of the macroblock in row y and column x.

    mv[b, y, x]: (x, y) from the block to its match in the reference, quarter samples, int16.
    sad[b, y, x]: sum of absolute differences of the match, uint16. cost[b, y, x]: the minimized
    cost, uint32: SAD, or SATD after refinement, plus the cost of the vector's bits."""
    mv: Any
    sad: Any
    cost: Any


def _luma(frame: Any, layout: str) -> tuple[_lib.Plane, View, Any]:
    """Returns the luma plane, its view and the owner of its memory. RGB and floats are converted to
    4:2:0."""
    view = view_of(frame) if not isinstance(frame, (tuple, list)) else None
    if view is not None and len(view.shape) == 2 and view.dtype == np.uint8 and layout == "auto":
        if view.strides[1] != 1 or view.strides[0] < view.shape[1]:
            if view.device is not None:
                raise ArgumentError("rows of planes in device memory have to be contiguous")
            view = view_of(np.ascontiguousarray(frame))
        plane = _lib.Plane(view.address, view.strides[0], view.shape[1], view.shape[0])
        return plane, view, view
    picture = picture_of(frame, layout)
    width, height = picture.size
    size = width * height + 2 * ((width + 1) // 2 * ((height + 1) // 2))
    memory: Any = np.empty(size, np.uint8) if picture.device is None else _DeviceMemory(size)
    frame = frame_at(memory.ctypes.data if picture.device is None else memory.address.value,
                     width, height)
    convert(frame, picture)
    return frame.plane[0], picture.views[0], (memory, picture)


class _DeviceMemory:
    def __init__(self, size: int) -> None:
        self.address, error = ctypes.c_void_p(), _lib.Error()
        _lib.check(lib.motus_cuda_alloc(byref(self.address), size, byref(error)), error)

    def __del__(self) -> None:
        lib.motus_cuda_free(self.address)


def frame_at(address: int, width: int, height: int) -> _lib.Frame:
    """Returns a 4:2:0 frame whose planes follow one another from an address on."""
    frame = _lib.Frame(width=width, height=height)
    for k in range(3):
        w, h = (width, height) if k == 0 else ((width + 1) // 2, (height + 1) // 2)
        frame.plane[k] = _lib.Plane(address, w, w, h)
        address += w * h
    return frame


def convert(frame: _lib.Frame, picture: Picture, threads: Any = None) -> None:
    """Converts a picture to 4:2:0 by BT.709, in its memory. threads: a MotusExec; None: all."""
    image, colour, error = byref(picture.image), byref(_BT709), _lib.Error()
    if picture.device is None:
        status = lib.motus_image_convert(byref(frame), image, colour, threads)
    else:
        status = lib.motus_cuda_image_convert(byref(frame), image, colour, picture.stream,
                                              byref(error))
    _lib.check(status, error)


def _results(rows: int, columns: int) -> tuple[Array, Array, Array]:
    shape = (_lib.BLOCKS, rows, columns)
    return (np.zeros(shape + (2,), np.int16), np.zeros(shape, np.uint16),
            np.zeros(shape, np.uint32))


def _device_results(out: Any, rows: int, columns: int) -> list[View]:
    """Checks the caller's arrays for results."""
    views = [view_of(array) for array in out]
    shape = (_lib.BLOCKS, rows, columns)
    for view, want, size in zip(views, (shape + (2,), shape, shape), (2, 2, 4)):
        is_packed = view.strides[0] * want[0] == size * prod(want)
        if (view.device is None or view.shape != want or view.dtype.itemsize != size
                or not is_packed):
            raise ArgumentError(
                f"out has an array of {view.dtype} {view.shape}; {size}-byte integers {want} "
                "without gaps, in device memory, are needed")
    if len(views) != 3:
        raise ArgumentError("out is (mv, sad, cost)")
    return views


def _check(me: ctypes.c_void_p, status: int) -> None:
    _lib.check(status, None if status >= 0 else lib.motus_me_error(me).contents)


def _search(me: ctypes.c_void_p, cur: _lib.Plane, ref: _lib.Plane, view: View,
            hints: _lib.MeHints, addresses: list[int], results_memory: int) -> None:
    """Searches planes in the memory of `view`; addresses: of mv, sad and cost."""
    memory, stream = int(view.device is not None), view.stream
    reference = ctypes.c_void_p()
    _check(me, lib.motus_me_reference_alloc(byref(reference), me))
    try:
        _check(me, lib.motus_me_reference_fill(reference, me, byref(ref), memory, stream))
        target = _lib.MeTarget(reference, ctypes.pointer(hints))
        target.mv, target.sad, target.cost = addresses
        request = _lib.MeRequest(ctypes.sizeof(_lib.MeRequest), ctypes.sizeof(target),
                                 ctypes.pointer(cur), ctypes.pointer(target), 1, memory=memory,
                                 results_memory=results_memory, stream=stream)
        _check(me, lib.motus_me_request(me, byref(request)))
        _check(me, lib.motus_me_wait(me, None, -1))
    finally:
        lib.motus_me_reference_unref(byref(reference))


def search(cur: Any, ref: Any, range: int = 16, *, subpel: str = "quarter", lambda_q8: int = 0,
           backend: str = "auto", threads: int = 0, layout: str = "auto",
           out: Any = None) -> SearchResult:
    """Searches each of the 41 blocks of each macroblock of `cur` in `ref`: all displacements of up
    to `range` samples (1..128) each way, then around the best in steps of subpel: "full", "half" or
    "quarter"; "best" refines to quarter samples from several starts.

    cur, ref: luma [H, W] of uint8, or frames as in motus.encode (their luma is searched), of one
    size; both in host memory, or both on one CUDA device, which then searches. lambda_q8: cost of
    one bit of a vector, in 1/256 of a difference, 0..65535. out: (mv, sad, cost) in device memory,
    of the shapes of SearchResult, to leave the results there."""
    (cur_plane, cur_view, a), (ref_plane, ref_view, b) = _luma(cur, layout), _luma(ref, layout)
    on_device = cur_view.device is not None
    width, height = cur_plane.width, cur_plane.height
    if (width, height) != (ref_plane.width, ref_plane.height):
        raise ArgumentError(
            f"pictures of {width}x{height} and {ref_plane.width}x{ref_plane.height}")
    if on_device != (ref_view.device is not None):
        raise ArgumentError("one picture in host memory, the other in device memory")
    me, error = ctypes.c_void_p(), _lib.Error()
    config = lib.motus_me_config_default(width, height).config
    config.range, config.threads = whole("range", range), whole("threads", threads)
    config.subpel = number_in("subpel", subpel, ("full", "half", "quarter", "best"))
    config.backend = number_of("backend", "cuda" if on_device and backend == "auto" else backend)
    config.device, config.error = cur_view.device if on_device else -1, ctypes.pointer(error)
    rows, columns = (height + 15) // 16, (width + 15) // 16
    device_out = _device_results(out, rows, columns) if out is not None else None
    arrays = _results(rows, columns) if device_out is None else None
    addresses = ([array.ctypes.data for array in arrays] if arrays
                 else [view.address for view in device_out or ()])
    if device_out and not on_device:
        raise ArgumentError("results can stay on a device only if the pictures are there")
    if not 0 <= whole("lambda_q8", lambda_q8) <= 65535:
        raise ArgumentError(f"lambda_q8 {lambda_q8} is outside 0..65535")
    hints = _lib.MeHints(lambda_q8=lambda_q8)
    _lib.check(lib.motus_me_open(byref(me), byref(config)), error)
    try:
        _search(me, cur_plane, ref_plane, cur_view, hints, addresses, int(device_out is not None))
    finally:
        lib.motus_me_close(byref(me))
        del a, b
    return SearchResult(*(arrays if arrays else out))
