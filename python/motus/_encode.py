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
    """The frames of an array, whose first axis they are, or of anything else that can be iterated over."""
    if not is_array(frames):
        yield from frames
        return
    # What has to be converted, half precision for one, is so frame by frame.
    video = view_of(frames) if str(getattr(frames, "dtype", "uint8")).endswith(("uint8", "float32")) else frames
    shape = tuple(video.shape)
    if len(shape) != (3 if layout in ("I420", "NV12") else 4):
        what = "[T, H * 3 / 2, W]" if layout in ("I420", "NV12") else "[T, H, W, C] or [T, C, H, W]"
        raise ArgumentError(f"an array of shape {shape} is no video: {what} is needed; or give an iterable of frames")
    for i in range(shape[0]):
        yield video[i]


def stream(frames: Any, fps: Rate = 24, *, container: str = "mp4", fragment: float = 1.0, layout: str = "auto", **settings: Unpack[Settings]) -> Iterator[bytes]:
    """Encodes frames and hands the video out as it is made, in pieces that may be sent on at once: fragmented MP4, or a plain H.264 stream (container="h264").

    frames: as motus.encode takes them. fragment: seconds of MP4 in a piece; 0: every picture is one, and is waited for before the next frame is asked for, as far as
    it does not need that frame: with lookahead=0 it never does. The encoder is opened for the size (and on the device) of the first frame."""
    if container not in CONTAINERS:
        raise ArgumentError(f"container {container!r} is none of {', '.join(CONTAINERS)}")
    return _stream(frames, fps, container, fragment, layout, dict(settings))


def _open(frame: Any, fps: Rate, layout: str, settings: dict[str, Any]) -> Encoder:
    picture = picture_of(frame, layout)
    settings.setdefault("colour", "bt709" if picture.is_rgb else None)
    if picture.device is not None and picture.device >= 0 and not settings.get("devices"):
        settings.setdefault("device", picture.device)
    return Encoder(*picture.size, fps, layout=layout, **settings)


def _stream(frames: Any, fps: Rate, container: str, fragment: float, layout: str, settings: dict[str, Any]) -> Iterator[bytes]:
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
    """A file that has its name once it is whole; nothing is left where it does not get that far."""
    directory, name = os.path.split(os.path.abspath(path))
    mask = os.umask(0)
    os.umask(mask)
    handle, part = tempfile.mkstemp(prefix=name + ".motus-", suffix=".part", dir=directory)
    try:
        with os.fdopen(handle, "wb") as out:
            yield out
        os.chmod(part, 0o666 & ~mask)
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise


def encode(frames: Iterable[Any], output: str | os.PathLike[str] | IO[bytes] | None = None, fps: Rate = 24, *, container: str | None = None, fragment: float = 1.0,
           layout: str = "auto", **settings: Unpack[Settings]) -> bytes | None:
    """Encodes a video.

        motus.encode(frames, "out.mp4", fps=24, crf=23)

    frames: one array, [T, H, W, C] or [T, C, H, W] with 1, 3 (RGB) or 4 channels (the fourth is not read), uint8 or floats of 0..1; or any iterable of such frames
    without T, or of [H, W] (grey), (Y, Cb, Cr) or (Y, CbCr); with layout="I420" or "NV12" arrays [H * 3 / 2, W]. NumPy, PyTorch, CuPy, JAX: what is on a GPU is
    encoded there, on its own stream, and only the video comes to the host. Sizes are even.

    output: a path (a file appears there once it is whole), a file object, or None: the video is returned as bytes. container: "mp4" or "h264"; by default what the
    path ends in, else MP4, in fragments. settings: see Settings. RGB becomes 4:2:0 by BT.709 in limited range unless `colour` and `full_range` say otherwise, and the
    stream and the file say so.

    Errors: ArgumentError (a ValueError), TypeError, other motus.Error, what the iterable or the file raises."""
    path, file = (os.fspath(output), None) if isinstance(output, (str, os.PathLike)) else (None, output)
    if container is None:
        container = "h264" if path is not None and path.lower().endswith((".264", ".h264")) else "mp4"
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
