"""Whole videos in one call."""
# SPDX-License-Identifier: BSD-2-Clause
from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING, Any, Iterable, Iterator

import numpy as np

from ._arrays import View, is_array, view_of
from ._errors import ArgumentError
from ._frames import CHANNELS, Frames
from ._settings import Rate
from ._video import FRAGMENT, Output, Video, VideoFile, container_of
from .mp4 import check_fragment

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._settings import Settings


def each_frame(frames: Any, form: Frames) -> Iterator[Any]:
    """Yields the frames of an array (along its first axis) or of an iterable."""
    if not is_array(frames):
        yield from frames
        return
    # Other types are converted frame by frame.
    is_plain = str(getattr(frames, "dtype", "uint8")).endswith(("uint8", "float32"))
    video = view_of(frames) if is_plain and form.is_plain else frames
    shape, is_420 = tuple(video.shape), form.layout in ("I420", "NV12")
    is_grey = len(shape) == 3 and not is_420 and shape[2] not in CHANNELS
    if is_grey and form.layout == "auto" and shape[0] in (3, 4):
        raise ArgumentError(f"an array of shape {shape} may be {shape[0]} grey frames [T, H, W] or "
                            "one frame [C, H, W]: say layout='HWC' for grey frames, or give "
                            "array[None] for the one")
    if len(shape) != (3 if is_420 else 4) and not is_grey:
        what = ("[T, H * 3 / 2, W]" if is_420
                else "[T, H, W, C], [T, C, H, W] or [T, H, W] (grey)")
        raise ArgumentError(f"an array of shape {shape} is no video: {what} is needed; or give an "
                            "iterable of frames")
    # The array's own library looks at the values of the first frame on a device.
    looks = (isinstance(video, View) and video.device is not None and video.dtype == np.float32
             and hasattr(frames, "min"))
    for i in range(shape[0]):
        yield frames[i] if looks and i == 0 else video[i]


def stream(frames: Any, fps: Rate = 24, *, container: str = "mp4", fragment: float = FRAGMENT,
           audio: Any = None, **settings: Unpack[Settings]) -> Iterator[bytes]:
    """Encodes frames and yields the video in pieces as it is made: fragmented MP4, or a plain H.264
    stream (container="h264").

    frames, audio: as in motus.encode; the first frame sets the size (and the device). fragment:
    seconds of MP4 in a piece. 0: a piece a picture, yielded before the next frame is read unless
    lookahead needs that frame."""
    check_fragment(fragment)
    video = Video(fps, container_of(None, container), fragment, audio, dict(settings))
    return _stream(frames, video)


def _stream(frames: Any, video: Video) -> Iterator[bytes]:
    try:
        for frame in each_frame(frames, video.form):
            yield from video.add(frame)
        yield from video.finish()
    finally:
        video.close()


def encode(frames: Iterable[Any], output: str | os.PathLike[str] | IO[bytes] | None = None,
           fps: Rate = 24, *, container: str | None = None, fragment: float | None = None,
           audio: Any = None, **settings: Unpack[Settings]) -> bytes | None:
    """Encodes a video.

        motus.encode(frames, "out.mp4", fps=24, crf=23)

    frames: one array, [T, H, W, C] or [T, C, H, W] with 1, 3 (RGB) or 4 channels (the fourth is
    ignored), or [T, H, W] (grey); uint8, floats of 0..1, or uint16, of which the upper bytes are
    encoded, with one warning; or an iterable of such frames without T, or of (Y, Cb, Cr) or
    (Y, CbCr); with layout="I420" or "NV12" arrays [H * 3 / 2, W]. Arrays of NumPy, PyTorch, CuPy or
    JAX; those on a GPU are encoded there, on their own stream. Sizes are even unless pad or crop is
    set. Floats outside value_range are clipped, with one warning (of arrays on a GPU the first
    frame is looked at).

    output: a path, a file object, or None: the video is returned as bytes. The file of a path
    appears when it is complete; pipes and devices are written directly, links followed, permissions
    kept. container: "mp4" or "h264"; by default from the path's ending (.mp4 .m4v .264 .h264 .avc),
    or "mp4". fragment: seconds of a fragment, 0: a picture; None: an ordinary MP4 with its index in
    front, but for pipes, devices and file objects fragments of a second. audio: a path, or
    (samples, rate) with [samples] or [samples, channels], int16 or floats of -1..1. It becomes AAC
    unless it is, ends with the pictures, and needs PyAV. settings: see motus.Settings. RGB becomes
    4:2:0 by BT.709 in limited range unless `colour` and `full_range` say otherwise; stream and file
    carry that.

    Raises ArgumentError (a ValueError), TypeError, other motus.Error, and the exceptions of the
    iterable and the file."""
    to = Output(output, container)
    with VideoFile(to, fps, fragment, audio, dict(settings)) as video:
        for frame in each_frame(frames, video.form):
            video.add(frame)
    return video.file.getvalue() if output is None else None  # type: ignore[union-attr]
