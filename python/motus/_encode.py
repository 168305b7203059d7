"""Whole videos in one call."""
# SPDX-License-Identifier: BSD-2-Clause
from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING, Any, Iterable, Iterator

import numpy as np

from ._arrays import View, is_array, view_of
from ._errors import ArgumentError
from ._frames import Frames, picture_of
from ._mp4_file import put_in_front
from ._output import is_direct, open_output
from ._settings import Rate, frames_of
from .encoder import Encoder
from .mp4 import check_fragment

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._settings import Settings

CONTAINERS = ("mp4", "h264")
_ENDINGS = {".mp4": "mp4", ".m4v": "mp4", ".264": "h264", ".h264": "h264", ".avc": "h264"}
_FRAGMENT = 1.0  # seconds, where an ordinary file is not possible


def _each(frames: Any, form: Frames) -> Iterator[Any]:
    """Yields the frames of an array (along its first axis) or of an iterable."""
    if not is_array(frames):
        yield from frames
        return
    # Other types are converted frame by frame.
    is_plain = str(getattr(frames, "dtype", "uint8")).endswith(("uint8", "float32"))
    video = view_of(frames) if is_plain and form.is_plain else frames
    shape, is_420 = tuple(video.shape), form.layout in ("I420", "NV12")
    if len(shape) != (3 if is_420 else 4):
        what = "[T, H * 3 / 2, W]" if is_420 else "[T, H, W, C] or [T, C, H, W]"
        raise ArgumentError(f"an array of shape {shape} is no video: {what} is needed; or give an "
                            "iterable of frames")
    # The array's own library looks at the values of the first frame on a device.
    looks = (isinstance(video, View) and video.device is not None and video.dtype == np.float32
             and hasattr(frames, "min"))
    for i in range(shape[0]):
        yield frames[i] if looks and i == 0 else video[i]


def _container(path: str | None, container: str | None) -> str:
    """Returns the container that was asked for, or that of the path's ending."""
    ending = os.path.splitext(path)[1].lower() if path is not None else ""
    by_ending = _ENDINGS.get(ending)
    if container is not None and container not in CONTAINERS:
        raise ArgumentError(f"container {container!r} is none of {', '.join(CONTAINERS)}")
    if path is None or is_direct(path):
        return container or by_ending or "mp4"
    if container and by_ending not in (None, container):
        raise ArgumentError(f"{path} has the ending of another container than {container!r}")
    if not container and not by_ending:
        raise ArgumentError(f"{path}: the ending is none of {', '.join(_ENDINGS)}; these are all "
                            "that is written (container= allows any name)")
    return container or by_ending or "mp4"


def _open(frame: Any, fps: Rate, settings: dict[str, Any]) -> Encoder:
    form = frames_of(dict(settings))
    form.is_quiet = True  # the encoder looks at this frame again
    picture = picture_of(frame, form)
    settings.setdefault("colour", "bt709" if picture.is_rgb else None)
    if picture.device is not None and picture.device >= 0 and not settings.get("devices"):
        settings.setdefault("device", picture.device)
    return Encoder(*picture.size, fps, **settings)


def _coded(frames: Any, fps: Rate, wait: float | None, settings: dict[str, Any]) -> Iterator[Any]:
    """Yields the encoder, then its packets."""
    encoder = None
    try:
        for frame in _each(frames, frames_of(dict(settings))):
            if encoder is None:
                encoder = _open(frame, fps, settings)
                yield encoder
            encoder.send(frame)
            yield from encoder.packets(wait)
        if encoder is None:
            raise ArgumentError("there are no frames")
        yield from encoder.finish()
    finally:
        if encoder is not None:
            encoder.close()


def stream(frames: Any, fps: Rate = 24, *, container: str = "mp4", fragment: float = _FRAGMENT,
           audio: Any = None, **settings: Unpack[Settings]) -> Iterator[bytes]:
    """Encodes frames and yields the video in pieces as it is made: fragmented MP4, or a plain H.264
    stream (container="h264").

    frames, audio: as in motus.encode; the first frame sets the size (and the device). fragment:
    seconds of MP4 in a piece. 0: a piece a picture, yielded before the next frame is read unless
    lookahead needs that frame."""
    container = _container(None, container)
    check_fragment(fragment)
    _check_audio(audio, container)
    return _stream(frames, fps, container, fragment, audio, dict(settings))


def _check_audio(audio: Any, container: str) -> None:
    if audio is not None and container != "mp4":
        raise ArgumentError("a plain H.264 stream has no audio; container 'mp4' has")


def _stream(frames: Any, fps: Rate, container: str, fragment: float, audio: Any,
            settings: dict[str, Any]) -> Iterator[bytes]:
    coded = _coded(frames, fps, 0 if fragment else None, settings)
    try:
        encoder = next(coded)
        if container == "h264":
            for packet in coded:
                yield packet.data
            return
        mp4 = encoder.mp4(fragment, audio=audio)
        yield mp4.header()
        for packet in coded:
            if piece := mp4.add(packet):
                yield piece
        if piece := mp4.finish():
            yield piece
    finally:
        coded.close()  # type: ignore[attr-defined]


class _Ordinary:
    """An ordinary MP4: pieces to append, then its head."""

    def __init__(self, frames: Any, fps: Rate, audio: Any, settings: dict[str, Any]) -> None:
        self._coded, self._audio = _coded(frames, fps, 0, settings), audio
        self.head = b""

    def pieces(self) -> Iterator[bytes]:
        try:
            mp4 = next(self._coded)._mp4_file(self._audio)
            for packet in self._coded:
                yield mp4.add(packet)
            yield mp4.finish()
            self.head = mp4.head()
        finally:
            self._coded.close()  # type: ignore[attr-defined]


def encode(frames: Iterable[Any], output: str | os.PathLike[str] | IO[bytes] | None = None,
           fps: Rate = 24, *, container: str | None = None, fragment: float | None = None,
           audio: Any = None, **settings: Unpack[Settings]) -> bytes | None:
    """Encodes a video.

        motus.encode(frames, "out.mp4", fps=24, crf=23)

    frames: one array, [T, H, W, C] or [T, C, H, W] with 1, 3 (RGB) or 4 channels (the fourth is
    ignored), uint8 or floats of 0..1; or an iterable of such frames without T, or of [H, W] (grey),
    (Y, Cb, Cr) or (Y, CbCr); with layout="I420" or "NV12" arrays [H * 3 / 2, W]. Arrays of NumPy,
    PyTorch, CuPy or JAX; those on a GPU are encoded there, on their own stream. Sizes are even
    unless pad or crop is set. Floats outside value_range are clipped, with one warning (of arrays
    on a GPU the first frame is looked at).

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
    path = os.fspath(output) if isinstance(output, (str, os.PathLike)) else None
    container = _container(path, container)
    _check_audio(audio, container)
    grows = output is not None and (path is None or is_direct(path))
    if container == "mp4" and fragment is None and not grows:
        return _encode_ordinary(path, _Ordinary(frames, fps, audio, dict(settings)))
    pieces = stream(frames, fps, container=container, audio=audio,
                    fragment=_FRAGMENT if fragment is None else fragment, **settings)
    if output is None:
        return b"".join(pieces)
    if path is not None:
        with open_output(path) as file:
            for piece in pieces:
                file.write(piece)
    else:
        for piece in pieces:
            output.write(piece)  # type: ignore[union-attr]
    return None


def _encode_ordinary(path: str | None, video: _Ordinary) -> bytes | None:
    if path is None:
        pieces = list(video.pieces())
        return b"".join([video.head, *pieces])
    with open_output(path) as file:
        for piece in video.pieces():
            file.write(piece)
        put_in_front(file, video.head)
    return None
