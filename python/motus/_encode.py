"""Whole videos in one call."""
# SPDX-License-Identifier: BSD-2-Clause
from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, Iterable, Iterator

from ._arrays import is_array, view_of
from ._errors import ArgumentError
from ._frames import picture_of
from ._settings import Rate
from .encoder import Encoder

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._settings import Settings

CONTAINERS = ("mp4", "h264")


def _each(frames: Any, layout: str) -> Iterator[Any]:
    """Yields the frames of an array (along its first axis) or of an iterable."""
    if not is_array(frames):
        yield from frames
        return
    # Other types are converted frame by frame.
    is_plain = str(getattr(frames, "dtype", "uint8")).endswith(("uint8", "float32"))
    video = view_of(frames) if is_plain else frames
    shape, is_420 = tuple(video.shape), layout in ("I420", "NV12")
    if len(shape) != (3 if is_420 else 4):
        what = "[T, H * 3 / 2, W]" if is_420 else "[T, H, W, C] or [T, C, H, W]"
        raise ArgumentError(f"an array of shape {shape} is no video: {what} is needed; or give an "
                            "iterable of frames")
    for i in range(shape[0]):
        yield video[i]


def stream(frames: Any, fps: Rate = 24, *, container: str = "mp4", fragment: float = 1.0,
           layout: str = "auto", **settings: Unpack[Settings]) -> Iterator[bytes]:
    """Encodes frames and yields the video in pieces as it is made: fragmented MP4, or a plain H.264
    stream (container="h264").

    frames: as in motus.encode; the first one sets the size (and the device). fragment: seconds of
    MP4 in a piece. 0: a piece a picture, yielded before the next frame is read unless lookahead
    needs that frame."""
    if container not in CONTAINERS:
        raise ArgumentError(f"container {container!r} is none of {', '.join(CONTAINERS)}")
    return _stream(frames, fps, container, fragment, layout, dict(settings))


def _open(frame: Any, fps: Rate, layout: str, settings: dict[str, Any]) -> Encoder:
    picture = picture_of(frame, layout)
    settings.setdefault("colour", "bt709" if picture.is_rgb else None)
    if picture.device is not None and picture.device >= 0 and not settings.get("devices"):
        settings.setdefault("device", picture.device)
    return Encoder(*picture.size, fps, layout=layout, **settings)


def _stream(frames: Any, fps: Rate, container: str, fragment: float, layout: str,
            settings: dict[str, Any]) -> Iterator[bytes]:
    encoder = mp4 = None
    wait = 0 if fragment else None
    try:
        for frame in _each(frames, layout):
            if encoder is None:
                encoder = _open(frame, fps, layout, settings)
                if container == "mp4":
                    mp4 = encoder.mp4(fragment)
                    yield mp4.header()
            encoder.send(frame)
            for packet in encoder.packets(wait):
                if piece := mp4.add(packet) if mp4 else packet.data:
                    yield piece
        if encoder is None:
            raise ArgumentError("there are no frames")
        for packet in encoder.finish():
            if piece := mp4.add(packet) if mp4 else packet.data:
                yield piece
        if mp4 and (piece := mp4.finish()):
            yield piece
    finally:
        if encoder is not None:
            encoder.close()


@contextmanager
def _file(path: str) -> Iterator[IO[bytes]]:
    """Opens a temporary file that becomes `path` at the end, or is deleted after an exception."""
    directory, name = os.path.split(os.path.abspath(path))
    mask = os.umask(0)
    os.umask(mask)
    handle, temporary = tempfile.mkstemp(prefix=name + ".motus-", suffix=".part", dir=directory)
    try:
        with os.fdopen(handle, "wb") as out:
            yield out
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def encode(frames: Iterable[Any], output: str | os.PathLike[str] | IO[bytes] | None = None,
           fps: Rate = 24, *, container: str | None = None, fragment: float = 1.0,
           layout: str = "auto", **settings: Unpack[Settings]) -> bytes | None:
    """Encodes a video.

        motus.encode(frames, "out.mp4", fps=24, crf=23)

    frames: one array, [T, H, W, C] or [T, C, H, W] with 1, 3 (RGB) or 4 channels (the fourth is
    ignored), uint8 or floats of 0..1; or an iterable of such frames without T, or of [H, W] (grey),
    (Y, Cb, Cr) or (Y, CbCr); with layout="I420" or "NV12" arrays [H * 3 / 2, W]. Arrays of NumPy,
    PyTorch, CuPy or JAX; those on a GPU are encoded there, on their own stream. Sizes are even.

    output: a path (the file appears when it is complete), a file object, or None: the video is
    returned as bytes. container: "mp4" (fragmented) or "h264"; by default from the path's
    extension, or "mp4". settings: see Settings. RGB becomes 4:2:0 by BT.709 in limited range unless
    `colour` and `full_range` say otherwise; stream and file carry that.

    Raises ArgumentError (a ValueError), TypeError, other motus.Error, and the exceptions of the
    iterable and the file."""
    path, file = None, output
    if isinstance(output, (str, os.PathLike)):
        path, file = os.fspath(output), None
    if container is None:
        is_plain = path is not None and path.lower().endswith((".264", ".h264"))
        container = "h264" if is_plain else "mp4"
    pieces = stream(frames, fps, container=container, fragment=fragment, layout=layout, **settings)
    if path is not None:
        with _file(path) as out:
            out.writelines(pieces)
    elif file is not None:
        for piece in pieces:
            file.write(piece)
    else:
        return b"".join(pieces)
    return None
