"""What frames look like: layouts of arrays, made into the library's MotusImage."""
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
    """An image and what keeps its memory alive."""
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


def _image(width: int, height: int, samples: int, places: list[tuple[int, int, int]]) -> _lib.Image:
    """places: address, bytes to the next row, bytes to the next sample, of each component."""
    image = _lib.Image(size=ctypes.sizeof(_lib.Image), width=width, height=height, samples=samples)
    for k, (address, row, pixel) in enumerate(places):
        image.data[k], image.row[k], image.pixel[k] = address, row, pixel
    return image


def _samples(view: View) -> View:
    """As bytes or single precision: other floats in host memory are converted (a copy of that one frame)."""
    if view.dtype in (np.uint8, np.float32):
        return view
    if view.dtype.kind == "f" and view.device is None:
        return view_of(np.asarray(_as_array(view), np.float32))
    raise TypeError(f"frames of {view.dtype}; uint8 (0..255) or floats (0..1) are needed")


class _Borrowed:
    """A view of host memory for NumPy."""

    def __init__(self, view: View) -> None:
        self.__array_interface__ = {"version": 3, "typestr": view.dtype.str, "shape": view.shape, "strides": view.strides, "data": (view.address, True)}
        self.owner = view.owner


def _as_array(view: View) -> np.ndarray[Any, Any]:
    return np.asarray(_Borrowed(view))


def _axes(shape: tuple[int, ...], layout: str) -> tuple[int, int, int | None]:
    """Which axes are rows, columns and channels (None: grey)."""
    if len(shape) == 2 and layout in ("auto", "HWC", "CHW"):
        return 0, 1, None
    last, first = len(shape) == 3 and shape[2] in _CHANNELS, len(shape) == 3 and shape[0] in _CHANNELS
    if layout == "HWC" and last or layout == "auto" and last and not first:
        return 0, 1, 2
    if layout == "CHW" and first or layout == "auto" and first and not last:
        return 1, 2, 0
    if first and last:
        raise ArgumentError(f"a frame of shape {shape} may be [H, W, C] or [C, H, W]: say layout='HWC' or 'CHW'")
    raise ArgumentError(f"a frame of shape {shape} is not [H, W, C] or [C, H, W] with 1, 3 or 4 channels, nor [H, W]" if layout == "auto" else
                        f"a frame of shape {shape} is not {layout} with 1, 3 or 4 channels")


def _rgb(view: View, layout: str) -> Picture:
    view = _samples(view)
    y, x, c = _axes(view.shape, layout)
    step = 0 if c is None or view.shape[c] == 1 else view.strides[c]
    places = [(view.address + k * step, view.strides[y], view.strides[x]) for k in range(3)]
    return Picture(_image(view.shape[x], view.shape[y], _RGB if view.dtype == np.uint8 else _RGB_FLOAT, places), (view,))


def _plane(view: View, shape: tuple[int, int], name: str) -> tuple[int, int, int]:
    if view.dtype != np.uint8:
        raise TypeError(f"a {name} plane of {view.dtype}; 4:2:0 is uint8")
    if view.shape != shape:
        raise ArgumentError(f"a {name} plane of shape {view.shape}, not {shape}")
    return view.address, view.strides[0], view.strides[1]


def _planar(views: tuple[View, ...], layout: str) -> Picture:
    """Y, Cb, Cr, or Y and [H/2, W/2, 2] or [H/2, W]."""
    if len(views[0].shape) != 2:
        raise ArgumentError(f"a Y plane of shape {views[0].shape}")
    height, width = views[0].shape
    half = ((height + 1) // 2, (width + 1) // 2)
    if any((v.device, v.stream) != (views[0].device, views[0].stream) for v in views):
        raise ArgumentError("planes in different memory, or on different streams")
    y = _plane(views[0], (height, width), "Y")
    if len(views) == 3 and layout in ("auto", "I420"):
        places = [y, _plane(views[1], half, "Cb"), _plane(views[2], half, "Cr")]
    elif len(views) == 2 and layout in ("auto", "NV12"):
        pairs = views[1]
        if len(pairs.shape) == 2:
            pairs = replace(pairs, shape=(pairs.shape[0], pairs.shape[1] // 2, 2), strides=(pairs.strides[0], 2 * pairs.strides[1], pairs.strides[1]))
        if len(pairs.shape) != 3 or pairs.shape[2] != 2:
            raise ArgumentError(f"a chroma plane of shape {pairs.shape}, not {half + (2,)}")
        each = [replace(pairs, address=pairs.address + k * pairs.strides[2], shape=pairs.shape[:2], strides=pairs.strides[:2]) for k in range(2)]
        places = [y] + [_plane(component, half, "chroma") for component in each]
    else:
        raise ArgumentError(f"{len(views)} planes for layout {layout}")
    return Picture(_image(width, height, _YUV420, places), views)


def _packed_420(view: View, layout: str) -> Picture:
    """[H * 3 / 2, W]: all planes in one array, as OpenCV and PyAV have them."""
    if view.dtype != np.uint8:
        raise TypeError(f"{layout} frames of {view.dtype}; uint8 is needed")
    if len(view.shape) != 2 or view.shape[0] % 3 or view.shape[1] % 2:
        raise ArgumentError(f"an {layout} frame of shape {view.shape} is not [H * 3 / 2, W] with even H and W")
    height, width = view.shape[0] // 3 * 2, view.shape[1]
    if view.strides != (width, 1):
        if view.device is not None:
            raise ArgumentError(f"{layout} in one array of device memory has to be without gaps; give the planes one by one")
        view = view_of(np.ascontiguousarray(_as_array(view)))
    luma = width * height
    chroma = [(luma, width // 2, 1), (luma + luma // 4, width // 2, 1)] if layout == "I420" else [(luma, width, 2), (luma + 1, width, 2)]
    places = [(view.address, width, 1)] + [(view.address + at, row, pixel) for at, row, pixel in chroma]
    return Picture(_image(width, height, _YUV420, places), (view,))


def picture_of(frame: Any, layout: str = "auto") -> Picture:
    """A frame as the library takes it. TypeError: not uint8 or floats. ArgumentError: a shape that is none of the layout's."""
    if layout not in LAYOUTS:
        raise ArgumentError(f"layout {layout!r} is none of {', '.join(LAYOUTS)}")
    if isinstance(frame, (tuple, list)) and len(frame) in (2, 3) and all(len(v.shape) > 1 for v in map(view_of, frame)):
        return _planar(tuple(view_of(plane) for plane in frame), layout)
    view = view_of(frame)
    return _packed_420(view, layout) if layout in ("I420", "NV12") else _rgb(view, layout)
