"""Layouts of frames, converted to the library's MotusImage."""
# SPDX-License-Identifier: BSD-2-Clause
from __future__ import annotations

import ctypes
import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from . import _lib
from ._arrays import View, extremes, pad_edge, scale, view_of
from ._errors import ArgumentError, callers_level

LAYOUTS = ("auto", "HWC", "CHW", "I420", "NV12")
_YUV420, _RGB, _RGB_FLOAT = 0, 1, 2  # MotusSamples
CHANNELS = (1, 3, 4)


@dataclass
class Frames:
    """Rules for making pictures of frames."""
    layout: str = "auto"
    value_range: tuple[float, float] = (0.0, 1.0)  # of floats: black and white
    odd: str | None = None  # "pad", "crop"; None: odd sizes are refused later
    is_quiet: bool = False  # no warning (or no other)
    _checked: int = field(default=0, repr=False)  # frames
    _is_deep: bool = field(default=False, repr=False)  # has warned of uint16

    def __post_init__(self) -> None:
        if self.layout not in LAYOUTS:
            raise ArgumentError(f"layout {self.layout!r} is none of {', '.join(LAYOUTS)}")
        try:
            low, high = map(float, self.value_range)
        except (TypeError, ValueError):
            raise ArgumentError(f"value_range {self.value_range!r} is not (black, white)") from None
        if not abs(high - low) > 0 or not np.isfinite([low, high]).all():
            raise ArgumentError(f"value_range {self.value_range!r} has no width")
        self.value_range = low, high

    @property
    def is_plain(self) -> bool:
        """True if frames are used where they are."""
        return self.value_range == (0, 1) and self.odd != "pad"

    def even(self, size: int) -> int:
        """Returns a width or height as encoded."""
        return size + (size & 1) * {"pad": 1, "crop": -1}.get(self.odd or "", 0)

    def check(self, view: View, channels: int | None, array: Any) -> None:
        """Warns of floats that are clipped: on the host in every frame, on a device in the
        first."""
        self._checked += 1
        if self.is_quiet or view.dtype != np.float32:
            return
        if view.device is None:
            found = _outside(_as_array(view), channels)
        else:
            found = extremes(array) if self._checked == 1 else None
        if found is None or found[0] >= 0 and found[1] <= 1:  # False for NaN
            return
        self.is_quiet = True
        black, white = self.value_range
        low, high = (black + end * (white - black) for end in found)
        is_nan = bool(np.isnan(low) or np.isnan(high))  # not of the sum: inf - inf is NaN
        what = "NaN" if is_nan else f"floats of {low:.4g} to {high:.4g}"
        hint = "" if self.value_range != (0, 1) or is_nan else _hint(low, high)
        warnings.warn(f"{what} in frame {self._checked - 1}: outside {black:g} to {white:g}, they "
                      f"are clipped, NaN is black{hint}", stacklevel=callers_level())


    def bytes_of(self, view: View) -> View:
        """Returns the upper bytes of uint16, with one warning."""
        if view.device is not None:
            raise TypeError("uint16 frames on a device: convert them there, to uint8 or to floats "
                            "of 0..1")
        if not self.is_quiet and not self._is_deep:
            self._is_deep = True
            warnings.warn("uint16 frames are encoded with 8 bits: value >> 8; 10-bit samples in "
                          "uint16 need a shift to 16 bits first", stacklevel=callers_level())
        return view_of((_as_array(view) >> 8).astype(np.uint8))


def _hint(low: float, high: float) -> str:
    likely = next((r for r in ((-1, 1), (0, 255)) if r[0] <= low and high <= r[1]), None)
    return f"; value_range={likely}?" if likely else ""


def _outside(array: np.ndarray[Any, Any], channels: int | None) -> tuple[float, float] | None:
    """Returns the least and greatest value (NaN: either), or None if all are of 0..1. Bits of such
    floats are at most those of 1.0."""
    if array.view(np.uint32).max(initial=0) <= 0x3F800000:
        return None
    if channels is not None and array.shape[channels] == 4:  # the fourth is not read
        array = array.take(range(3), channels)
    return float(array.min()), float(array.max())


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
    if view.dtype == np.float32 and view.device is None and any(
            place % 4 for place in (view.address, *view.strides)):
        return view_of(np.array(_as_array(view)))  # the library reads whole floats
    if view.dtype in (np.uint8, np.float32):
        return view
    if view.dtype.kind == "f" and view.device is None:
        return view_of(np.asarray(_as_array(view), np.float32))
    raise TypeError(f"frames of {view.dtype}; uint8 (0..255), uint16 (0..65535) or floats (0..1) "
                    "are needed")


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
    first, last = (len(shape) == 3 and shape[axis] in CHANNELS for axis in (0, 2))
    if layout == "HWC" and last or layout == "auto" and last and not first:
        return 0, 1, 2
    if layout == "CHW" and first or layout == "auto" and first and not last:
        return 1, 2, 0
    if first and last:
        raise ArgumentError(f"a frame of shape {shape} may be [H, W, C] or [C, H, W]: "
                            "say layout='HWC' or 'CHW'")
    names, grey = ("[H, W, C] or [C, H, W]", ", nor [H, W]") if layout == "auto" else (layout, "")
    raise ArgumentError(f"a frame of shape {shape} is not {names} with 1, 3 or 4 channels{grey}")


def _fit(view: View, array: Any, axes: tuple[int, ...], odd: str | None) -> tuple[View, Any]:
    """Makes sizes even: repeats the last row and column, or leaves them out."""
    for axis in axes:
        if odd is None or not view.shape[axis] & 1:
            continue
        if odd == "crop":
            shape = list(view.shape)
            shape[axis] -= 1
            view = replace(view, shape=tuple(shape))
        else:
            array = pad_edge(_as_array(view) if view.device is None else array, axis)
            view = view_of(array)
    return view, array


def _rgb(view: View, array: Any, frames: Frames) -> Picture:
    if view.dtype.kind == "u" and view.dtype.itemsize == 2:
        view = frames.bytes_of(view)
        array = _as_array(view)
    view = _samples(view)
    y, x, c = _axes(view.shape, frames.layout)
    frames.check(view, c, array)
    view, _ = _fit(view, array, (y, x), frames.odd)
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


def _even_planes(planes: tuple[Any, ...], odd: str | None) -> tuple[View, ...]:
    """Fits Y, and chroma if that loses a row or column."""
    views = [view_of(plane) for plane in planes]
    if odd is None or len(views[0].shape) != 2:
        return tuple(views)
    height, width = views[0].shape
    views[0], _ = _fit(views[0], planes[0], (0, 1), odd)
    if odd == "crop":
        for k, view in enumerate(views[1:], 1):
            rows, columns = (size >> 1 for size in views[0].shape)
            wide = len(views) == 2 and len(view.shape) == 2  # CbCr as [H/2, W]
            shape = (min(rows, view.shape[0]), min(columns << wide, view.shape[1]))
            views[k] = replace(view, shape=shape + view.shape[2:])
    return tuple(views)


def picture_of(frame: Any, frames: Frames | str = "auto") -> Picture:
    """Wraps a frame for the library. TypeError: not uint8 or floats. ArgumentError: its shape does
    not fit the layout."""
    if isinstance(frames, str):
        frames = Frames(frames)
    if isinstance(frame, (tuple, list)) and len(frame) in (2, 3):
        views = tuple(map(view_of, frame))
        if all(len(view.shape) > 1 for view in views):
            return _planar(_even_planes(tuple(frame), frames.odd), frames.layout)
    view = view_of(frame)
    if frames.layout in ("I420", "NV12"):
        return _packed_420(view, frames.layout)
    if frames.value_range != (0, 1):
        if view.dtype.kind != "f":
            raise ArgumentError(f"value_range is for floats, not for frames of {view.dtype}")
        frame = scale(frame, *frames.value_range)
        view = view_of(frame)
    return _rgb(view, frame, frames)
