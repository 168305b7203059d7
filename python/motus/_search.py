"""Motion vectors of one picture against another."""
# SPDX-License-Identifier: BSD-2-Clause
from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from . import _lib
from ._arrays import View, view_of
from ._errors import ArgumentError
from ._frames import picture_of
from ._settings import number_of


class Block(NamedTuple):
    """Place and size inside a macroblock, luma samples."""
    x: int
    y: int
    width: int
    height: int


def _blocks() -> tuple[Block, ...]:
    table = (ctypes.c_uint8 * 5 * _lib.BLOCKS).in_dll(_lib.lib, "motus_blocks")
    return tuple(Block(*entry[:4]) for entry in table)


BLOCKS: tuple[Block, ...] = _blocks()
"""The 41 blocks of a macroblock, in the order of a result's first axis: 16x16, 16x8, 8x16, 8x8, 8x4, 4x8, 4x4, each in raster order."""

Array = np.ndarray[Any, Any]
_BT709 = _lib.Colour(_lib.Rational(1, 1), 0, 1, 1, 1, 1)


@dataclass(frozen=True)
class SearchResult:
    """Of block b of the macroblock in row y and column x:
    mv[b, y, x] = (x, y) in quarter samples, pointing from the block to its match in the reference, int16;
    sad[b, y, x]: sum of absolute differences there, uint16; cost[b, y, x]: what was minimized, uint32: SAD, or SATD after refinement, plus that of the vector's bits."""
    mv: Any
    sad: Any
    cost: Any


def _luma(frame: Any, layout: str) -> tuple[_lib.Plane, View, Any]:
    """The luma plane, and what keeps it alive: uint8 [H, W] as it lies; what is RGB or floats becomes 4:2:0 first."""
    view = view_of(frame) if not isinstance(frame, (tuple, list)) else None
    if view is not None and len(view.shape) == 2 and view.dtype == np.uint8 and layout == "auto":
        if view.strides[1] != 1 or view.strides[0] < view.shape[1]:
            if view.device is not None:
                raise ArgumentError("planes in device memory have to have their samples one after another")
            view = view_of(np.ascontiguousarray(frame))
        return _lib.Plane(view.address, view.strides[0], view.shape[1], view.shape[0]), view, view
    picture = picture_of(frame, layout)
    width, height = picture.size
    if picture.device is None:
        return _convert_on_host(picture, width, height)
    return _convert_on_device(picture, width, height)


def _convert_on_host(picture: Any, width: int, height: int) -> tuple[_lib.Plane, View, Any]:
    half = ((height + 1) // 2, (width + 1) // 2)
    planes = [np.empty((height, width), np.uint8), np.empty(half, np.uint8), np.empty(half, np.uint8)]
    frame = _frame(width, height, [p.ctypes.data for p in planes])
    _lib.check(_lib.lib.motus_image_convert(ctypes.byref(frame), ctypes.byref(picture.image), ctypes.byref(_BT709), None))
    return frame.plane[0], picture.views[0], planes


class _DeviceMemory:
    def __init__(self, size: int) -> None:
        self.address, error = ctypes.c_void_p(), _lib.Error()
        _lib.check(_lib.lib.motus_cuda_alloc(ctypes.byref(self.address), size, ctypes.byref(error)), error)

    def __del__(self) -> None:
        _lib.lib.motus_cuda_free(self.address)


def _convert_on_device(picture: Any, width: int, height: int) -> tuple[_lib.Plane, View, Any]:
    luma, chroma = width * height, (width + 1) // 2 * ((height + 1) // 2)
    memory, error = _DeviceMemory(luma + 2 * chroma), _lib.Error()
    start = memory.address.value or 0
    frame = _frame(width, height, [start, start + luma, start + luma + chroma])
    _lib.check(_lib.lib.motus_cuda_image_convert(ctypes.byref(frame), ctypes.byref(picture.image), ctypes.byref(_BT709), picture.stream, ctypes.byref(error)), error)
    return frame.plane[0], picture.views[0], (memory, picture)


def _frame(width: int, height: int, addresses: list[int]) -> _lib.Frame:
    frame = _lib.Frame(width=width, height=height)
    for k, address in enumerate(addresses):
        w, h = (width, height) if k == 0 else ((width + 1) // 2, (height + 1) // 2)
        frame.plane[k] = _lib.Plane(address, w, w, h)
    return frame


def _results(rows: int, columns: int) -> tuple[Array, Array, Array]:
    shape = (_lib.BLOCKS, rows, columns)
    return np.zeros(shape + (2,), np.int16), np.zeros(shape, np.uint16), np.zeros(shape, np.uint32)


def _field(rows: int, columns: int, arrays: tuple[Array, ...]) -> _lib.Field:
    field = _lib.Field(mb_width=columns, mb_height=rows, n_mb=rows * columns)
    for b in range(_lib.BLOCKS):
        field.mv[b] = arrays[0][b].ctypes.data_as(ctypes.POINTER(ctypes.c_int16))
        field.sad[b] = arrays[1][b].ctypes.data_as(ctypes.POINTER(ctypes.c_uint16))
        field.cost[b] = arrays[2][b].ctypes.data_as(ctypes.POINTER(ctypes.c_uint32))
    return field


def _given(out: Any, rows: int, columns: int) -> list[View]:
    views = [view_of(array) for array in out]
    shape = (_lib.BLOCKS, rows, columns)
    for view, want, size in zip(views, (shape + (2,), shape, shape), (2, 2, 4)):
        packed = size
        for n in want:
            packed *= n
        if view.device is None or view.shape != want or view.dtype.itemsize != size or view.strides[0] * want[0] != packed:
            raise ArgumentError(f"out has an array of {view.dtype} {view.shape}; {size}-byte integers {want} without gaps, in device memory, are needed")
    if len(views) != 3:
        raise ArgumentError("out is (mv, sad, cost)")
    return views


def _run(me: ctypes.c_void_p, planes: list[_lib.Plane], stream: int, hints: _lib.MeHints, field: _lib.Field | None, out: list[View] | None) -> None:
    lib = _lib.lib
    job = _lib.MeJob(ctypes.pointer(planes[0]), ctypes.pointer(planes[1]), 1, stream, ctypes.pointer(hints), ctypes.pointer(field) if field else None)
    if out:
        job.device_mv, job.device_sad, job.device_cost = (view.address for view in out)
    status = lib.motus_me_submit(me, ctypes.byref(job))
    if status == _lib.OK:
        status = lib.motus_me_receive(me, None)
    _lib.check(status, None if status >= 0 else lib.motus_me_error(me).contents)


def search(cur: Any, ref: Any, range: int = 16, *, subpel: str = "quarter", lambda_q8: int = 0, backend: str = "auto", threads: int = 0, layout: str = "auto",
           out: Any = None) -> SearchResult:
    """Finds, for each of the 41 blocks of each macroblock of `cur`, the best match in `ref` among all displacements of up to `range` samples (1..128) each way, then
    around it in steps of subpel: "full", "half", "quarter".

    cur, ref: luma [H, W] of uint8, or frames as motus.encode takes them (of which luma is searched), of one size; both in host memory, or both on one CUDA device,
    where they are then searched. lambda_q8: what a bit of a vector costs, in 1/256 of a difference, 0..65535. out: (mv, sad, cost) in device memory, of the
    shapes of SearchResult, to leave the results there."""
    (cur_plane, cur_view, a), (ref_plane, ref_view, b) = _luma(cur, layout), _luma(ref, layout)
    on_device = cur_view.device is not None
    if (cur_plane.width, cur_plane.height) != (ref_plane.width, ref_plane.height):
        raise ArgumentError(f"pictures of {cur_plane.width}x{cur_plane.height} and {ref_plane.width}x{ref_plane.height}")
    if on_device != (ref_view.device is not None):
        raise ArgumentError("one picture in host memory, the other in device memory")
    lib, me, error = _lib.lib, ctypes.c_void_p(), _lib.Error()
    config = lib.motus_me_config_default(cur_plane.width, cur_plane.height).config
    config.range, config.subpel, config.threads = range, number_of("subpel", subpel), threads
    config.device = cur_view.device if on_device else -1
    config.backend, config.error = number_of("backend", "cuda" if on_device and backend == "auto" else backend), ctypes.pointer(error)
    config.device = -1 if cur_view.device is None else cur_view.device
    rows, columns = (cur_plane.height + 15) // 16, (cur_plane.width + 15) // 16
    given = _given(out, rows, columns) if out is not None else None
    arrays = _results(rows, columns) if given is None else None
    field = _field(rows, columns, arrays) if arrays else None
    hints = _lib.MeHints(lambda_q8=lambda_q8)
    _lib.check(lib.motus_me_open(ctypes.byref(me), ctypes.byref(config)), error)
    try:
        if on_device:
            _run(me, [cur_plane, ref_plane], cur_view.stream, hints, field, given)
        elif field is not None:
            status = lib.motus_me_search(me, ctypes.byref(cur_plane), ctypes.byref(ref_plane), ctypes.byref(hints), ctypes.byref(field))
            _lib.check(status, None if status >= 0 else lib.motus_me_error(me).contents)
        else:
            raise ArgumentError("results can stay on a device where the pictures are there, too")
    finally:
        lib.motus_me_close(ctypes.byref(me))
        del a, b
    return SearchResult(*(arrays if arrays else out))
