"""A video while it is made: frames in, pieces of a file out."""
# SPDX-License-Identifier: BSD-2-Clause
from __future__ import annotations

import os
from contextlib import contextmanager
from io import BytesIO
from typing import IO, Any, Iterable, Iterator, Protocol

from ._audio import Audio, audio_of
from ._errors import ArgumentError
from ._frames import picture_of
from ._mp4_file import Mp4File, put_in_front
from ._output import is_direct, open_output
from ._packet import Packet
from ._settings import Rate, frames_of
from .encoder import Encoder
from .mp4 import check_fragment

CONTAINERS = ("mp4", "h264")
FRAGMENT = 1.0  # seconds, where an ordinary file is not possible
_ENDINGS = {".mp4": "mp4", ".m4v": "mp4", ".264": "h264", ".h264": "h264", ".avc": "h264"}

_FOREIGN = (".mkv", ".mov", ".ts", ".m2ts", ".mts", ".avi", ".flv")


class _Muxer(Protocol):
    def header(self) -> bytes: ...
    def add(self, packet: Packet) -> bytes: ...
    def finish(self) -> bytes: ...


class _Plain:
    """A byte stream without a container."""

    def header(self) -> bytes:
        return b""

    def add(self, packet: Packet) -> bytes:
        return packet.data

    def finish(self) -> bytes:
        return b""


class Video:
    """fragment: seconds; None: an ordinary MP4, whose `head` belongs in front at the end."""

    def __init__(self, fps: Rate, container: str, fragment: float | None, audio: Any,
                 settings: dict[str, Any]) -> None:
        if fragment is not None:
            check_fragment(fragment)
        if audio is not None and container != "mp4":
            raise ArgumentError("a plain H.264 stream has no audio; container 'mp4' has")
        self._fps, self._container, self._fragment = fps, container, fragment
        self._audio, self._settings = audio, settings
        self._encoder: Encoder | None = None
        self._muxer: _Muxer = _Plain()
        self.form = frames_of(dict(settings))

    @property
    def head(self) -> bytes:
        return self._muxer.head() if isinstance(self._muxer, Mp4File) else b""

    def _open(self, frame: Any) -> Encoder:
        """Opens an encoder of the frame's size, on its device."""
        self.form.is_quiet = True  # the encoder looks at this frame again
        picture = picture_of(frame, self.form)
        settings = self._settings
        settings.setdefault("colour", "bt709" if picture.is_rgb else None)
        if picture.device is not None and picture.device >= 0 and not settings.get("devices"):
            settings.setdefault("device", picture.device)
        self._encoder = encoder = Encoder(*picture.size, self._fps, measure=False,
                                          **settings)
        if self._container == "mp4":
            self._audio = audio_of(self._audio)
            self._muxer = (encoder.mp4_file(self._audio) if self._fragment is None
                           else encoder.mp4(self._fragment, audio=self._audio))
        return encoder

    def _pieces(self, packets: Iterable[Packet]) -> Iterator[bytes]:
        for packet in packets:
            if piece := self._muxer.add(packet):
                yield piece

    def add(self, frame: Any, **parameters: Any) -> Iterator[bytes]:
        encoder = self._encoder
        if encoder is None:
            encoder = self._open(frame)
            if header := self._muxer.header():
                yield header
        encoder.send(frame, **parameters)
        yield from self._pieces(encoder.packets(None if self._fragment == 0 else 0))

    def finish(self) -> Iterator[bytes]:
        if self._encoder is None:
            raise ArgumentError("there are no frames")
        yield from self._pieces(self._encoder.finish())
        if piece := self._muxer.finish():
            yield piece

    def close(self) -> None:
        if self._encoder is not None:
            self._encoder.close()
        if isinstance(self._audio, Audio):
            self._audio.close()


# ---- Where it goes -------------------------------------------------------------------------------


def _remedy(path: str, ending: str) -> str:
    """Returns advice for containers that others write."""
    if ending not in _FOREIGN:
        return ""
    name = os.path.basename(path)
    stem = os.path.splitext(name)[0]
    return (f". Write {stem}.mp4, then `ffmpeg -i {stem}.mp4 -c copy {name}`; or give PyAV the "
            "packets of motus.pyav.PacketEncoder")


def container_of(path: str | None, container: str | None) -> str:
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
                            f"that is written (container= allows any name){_remedy(path, ending)}")
    return container or by_ending or "mp4"


class Output:
    """A path, a file object, or None: memory."""

    def __init__(self, output: str | os.PathLike[str] | IO[bytes] | None,
                 container: str | None) -> None:
        is_path = isinstance(output, (str, os.PathLike))
        if not is_path and output is not None and not hasattr(output, "write"):
            raise TypeError(f"output {output!r} is no path, no file object and not None")
        self._path = os.fspath(output) if is_path else None  # type: ignore[arg-type]
        self._file = None if is_path else output
        self.container = container_of(self._path, container)
        # Pipes, devices and file objects are written from the first byte to the last.
        grows = self._file is not None or self._path is not None and is_direct(self._path)
        self._fragment = FRAGMENT if grows else None

    def fragment(self, asked: float | None) -> float | None:
        return self._fragment if asked is None else asked

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        if self._path is not None:
            with open_output(self._path) as file:
                yield file
        else:
            yield BytesIO() if self._file is None else self._file  # type: ignore[misc]


class VideoFile:
    """Writes a video. As a context manager it completes the file; after an exception no file has
    the output's name."""

    def __init__(self, output: Output, fps: Rate, fragment: float | None, audio: Any,
                 settings: dict[str, Any]) -> None:
        self._video = Video(fps, output.container, output.fragment(fragment), audio, settings)
        self.form = self._video.form
        self._opened = output.open()
        self.file: IO[bytes] | None = None

    def __enter__(self) -> VideoFile:
        self.file = self._opened.__enter__()
        return self

    def add(self, frame: Any, **parameters: Any) -> None:
        for piece in self._video.add(frame, **parameters):
            self.file.write(piece)  # type: ignore[union-attr]

    def _finish(self, file: IO[bytes]) -> None:
        for piece in self._video.finish():
            file.write(piece)
        if head := self._video.head:
            put_in_front(file, head)

    def __exit__(self, *error: Any) -> None:
        try:
            if error[0] is None:
                self._finish(self.file)  # type: ignore[arg-type]
        except BaseException as own:
            error = type(own), own, own.__traceback__
            raise
        finally:
            self._video.close()
            self._opened.__exit__(*error)
