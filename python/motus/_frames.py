"""Layouts of frames, converted to the library's MotusImage."""
# SPDX-License-Identifier: BSD-2-Clause
from __future__ import annotations

import ctypes
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import _lib
from ._arrays import View, view_of
from ._errors import ArgumentError

LAYOUTS = ("auto", "HWC", "CHW", "I420", "NV12")
_YUV420, _RGB, _RGB_FLOAT = 0, 1, 2  # MotusSamples
_CHANNELS = (1, 3, 4)


@dataclass(frozen=True)
class Picture:
    """An image and the views that keep its memory alive."""
    image: _lib.Image
    views: tuple[View, ...]

    @property
    def size(self) -> tuple[int, int]:
        return self.image.width, self.image.height

    @property
    def device(self) -> int | None:
        return self.views[0].device

    @property
    def stream(self) -> int:
        return self.views[0].stream

    @property
    def is_rgb(self) -> bool:
        return bool(self.image.samples != _YUV420)


def _image(width: int, height: int, samples: int,
           components: list[tuple[int, int, int]]) -> _lib.Image:
    """components: address, bytes to the next row, bytes to the next sample."""
    image = _lib.Image(size=ctypes.sizeof(_lib.Image), width=width, height=height, samples=samples)
    for k, (address, row, pixel) in enumerate(components):
        image.data[k], image.row[k], image.pixel[k] = address, row, pixel
    return image


def _samples(view: View) -> View:
    """Returns bytes or single precision; converts other floats in host memory."""
    if view.dtype in (np.uint8, np.float32):
        return view
    if view.dtype.kind == "f" and view.device is None:
        return view_of(np.asarray(_as_array(view), np.float32))
    raise TypeError(f"frames of {view.dtype}; uint8 (0..255) or floats (0..1) are needed")


class _Borrowed:
    """A view of host memory for NumPy."""

    def __init__(self, view: View) -> None:
        self.__array_interface__ = {
            "version": 3, "typestr": view.dtype.str, "shape": view.shape, "strides": view.strides,
            "data": (view.address, True)}
        self.owner = view.owner


def _as_array(view: View) -> np.ndarray[Any, Any]:
    return np.asarray(_Borrowed(view))


def _axes(shape: tuple[int, ...], layout: str) -> tuple[int, int, int | None]:
    """Returns the axes of rows, columns and channels (None: grey)."""
    if len(shape) == 2 and layout in ("auto", "HWC", "CHW"):
        return 0, 1, None
    first, last = (len(shape) == 3 and shape[axis] in _CHANNELS for axis in (0, 2))
    if layout == "HWC" and last or layout == "auto" and last and not first:
        return 0, 1, 2
    if layout == "CHW" and first or layout == "auto" and first and not last:
        return 1, 2, 0
    if first and last:
        raise ArgumentError(f"a frame of shape {shape} may be [H, W, C] or [C, H, W]: "
                            "say layout='HWC' or 'CHW'")
    names, grey = ("[H, W, C] or [C, H, W]", ", nor [H, W]") if layout == "auto" else (layout, "")
    raise ArgumentError(f"a frame of shape {shape} is not {names} with 1, 3 or 4 channels{grey}")


def _rgb(view: View, layout: str) -> Picture:
    view = _samples(view)
    y, x, c = _axes(view.shape, layout)
    step = 0 if c is None or view.shape[c] == 1 else view.strides[c]
    components = [(view.address + k * step, view.strides[y], view.strides[x]) for k in range(3)]
    samples = _RGB if view.dtype == np.uint8 else _RGB_FLOAT
    return Picture(_image(view.shape[x], view.shape[y], samples, components), (view,))


def _plane(view: View, shape: tuple[int, int], name: str) -> tuple[int, int, int]:
    if view.dtype != np.uint8:
        raise TypeError(f"a {name} plane of {view.dtype}; 4:2:0 is uint8")
    if view.shape != shape:
        raise ArgumentError(f"a {name} plane of shape {view.shape}, not {shape}")
    return view.address, view.strides[0], view.strides[1]


def _planar(views: tuple[View, ...], layout: str) -> Picture:
    """Wraps Y, Cb, Cr, or Y and CbCr as [H/2, W/2, 2] or [H/2, W]."""
    if len(views[0].shape) != 2:
        raise ArgumentError(f"a Y plane of shape {views[0].shape}")
    height, width = views[0].shape
    half = ((height + 1) // 2, (width + 1) // 2)
    if any((v.device, v.stream) != (views[0].device, views[0].stream) for v in views):
        raise ArgumentError("planes in different memory, or on different streams")
    y = _plane(views[0], (height, width), "Y")
    if len(views) == 3 and layout in ("auto", "I420"):
        components = [y, _plane(views[1], half, "Cb"), _plane(views[2], half, "Cr")]
    elif len(views) == 2 and layout in ("auto", "NV12"):
        pairs = views[1]
        if len(pairs.shape) == 2:
            (rows, columns), (row, pixel) = pairs.shape, pairs.strides
            pairs = replace(pairs, shape=(rows, columns // 2, 2), strides=(row, 2 * pixel, pixel))
        if len(pairs.shape) != 3 or pairs.shape[2] != 2:
            raise ArgumentError(f"a chroma plane of shape {pairs.shape}, not {half + (2,)}")
        cb = replace(pairs, shape=pairs.shape[:2], strides=pairs.strides[:2])
        cr = replace(cb, address=cb.address + pairs.strides[2])
        components = [y, _plane(cb, half, "chroma"), _plane(cr, half, "chroma")]
    else:
        raise ArgumentError(f"{len(views)} planes for layout {layout}")
    return Picture(_image(width, height, _YUV420, components), views)


def _packed_420(view: View, layout: str) -> Picture:
    """Wraps [H * 3 / 2, W]: all planes in one array, as in OpenCV and PyAV."""
    if view.dtype != np.uint8:
        raise TypeError(f"{layout} frames of {view.dtype}; uint8 is needed")
    if len(view.shape) != 2 or view.shape[0] % 3 or view.shape[1] % 2:
        raise ArgumentError(f"an {layout} frame of shape {view.shape} is not [H * 3 / 2, W] with "
                            "even H and W")
    height, width = view.shape[0] // 3 * 2, view.shape[1]
    if view.strides != (width, 1):
        if view.device is not None:
            raise ArgumentError(f"{layout} in one array of device memory has to be without gaps; "
                                "pass the planes one by one")
        view = view_of(np.ascontiguousarray(_as_array(view)))
    luma = width * height
    cb, cr, row, pixel = luma, luma + luma // 4, width // 2, 1
    if layout == "NV12":
        cr, row, pixel = luma + 1, width, 2
    start = view.address
    components = [(start, width, 1), (start + cb, row, pixel), (start + cr, row, pixel)]
    return Picture(_image(width, height, _YUV420, components), (view,))


def picture_of(frame: Any, layout: str = "auto") -> Picture:
    """Wraps a frame for the library. TypeError: not uint8 or floats. ArgumentError: its shape does
    not fit the layout."""
    if layout not in LAYOUTS:
        raise ArgumentError(f"layout {layout!r} is none of {', '.join(LAYOUTS)}")
    if isinstance(frame, (tuple, list)) and len(frame) in (2, 3):
        views = tuple(map(view_of, frame))
        if all(len(view.shape) > 1 for view in views):
            return _planar(views, layout)
    view = view_of(frame)
    return _packed_420(view, layout) if layout in ("I420", "NV12") else _rgb(view, layout)
