"""An encoder with the methods of torchcodec's, which takes frames one by one as well."""
# SPDX-License-Identifier: BSD-2-Clause
from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING, Any, Mapping

import numpy as np

from ._encode import each_frame
from ._errors import ArgumentError, StateError, UnsupportedError
from ._settings import Rate
from ._video import Output, VideoFile

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._settings import Settings

_CODECS = (None, "h264", "libx264")
_PIXEL_FORMATS = (None, "yuv420p")
# x264's presets that have another name here.
_PRESETS = {"ultrafast": "faster", "superfast": "faster", "veryfast": "faster",
            "veryslow": "slower"}
# FFmpeg's options: the setting, and what makes its value.
_OPTIONS = {"g": "keyint", "keyint_min": "min_keyint", "b": "bitrate", "maxrate": "vbv_maxrate",
            "bufsize": "vbv_bufsize", "qp": "qp", "sc_threshold": "scenecut",
            "rc-lookahead": "lookahead", "threads": "threads", "profile": "profile",
            "coder": "cabac", "8x8dct": "transform_8x8", "bf": "bframes",
            "b_strategy": "b_adapt", "b-pyramid": "b_pyramid",
            "direct-pred": "direct",
            "refs": "references", "weightb": "weightb",
            "weightp": "weightp"}
_CODERS = {"cabac": True, "ac": True, "1": True, "cavlc": False, "vlc": False, "0": False}


def _settings(codec: str | None, pixel_format: str | None, extra_options: dict[str, Any] | None,
              settings: dict[str, Any]) -> dict[str, Any]:
    """Returns motus.Settings of torchcodec's arguments."""
    if codec not in _CODECS:
        raise UnsupportedError(f"codec {codec!r}: only H.264 (\"h264\") is encoded")
    if pixel_format not in _PIXEL_FORMATS:
        raise UnsupportedError(f"pixel_format {pixel_format!r}: only \"yuv420p\" is encoded")
    made = {name: value for name, value in settings.items() if value is not None}
    if "preset" in made:
        made["preset"] = _PRESETS.get(made["preset"], made["preset"])
    if extra_options is not None and not isinstance(extra_options, Mapping):
        raise ArgumentError(f"extra_options {extra_options!r} is no dict such as {{'g': 12}}")
    for name, value in (extra_options or {}).items():
        if name not in _OPTIONS:
            raise ArgumentError(f"extra option {name!r} is none of {', '.join(_OPTIONS)}")
        made[_OPTIONS[name]] = _value(name, value)
    return made


def _value(name: str, value: Any) -> Any:
    """Returns the setting's value of an FFmpeg option's."""
    if name == "profile":
        return value
    if name == "coder":
        if str(value) not in _CODERS:
            raise ArgumentError(f"coder {value!r} is none of {', '.join(_CODERS)}")
        return _CODERS[str(value)]
    try:
        number = int(value)
    except (TypeError, ValueError):
        raise ArgumentError(f"extra option {name!r}: {value!r} is no whole number") from None
    return bool(number) if name == "8x8dct" else number


class VideoEncoder:
    """Takes the place of torchcodec.encoders.VideoEncoder:

        encoder = motus.VideoEncoder(frames, frame_rate=30)
        encoder.to_file("out.mp4", crf=23)
        data = encoder.to_tensor("mp4")

    and takes frames one by one, in bounded memory:

        with motus.VideoEncoder(frame_rate=30).open("out.mp4", crf=23) as encoder:
            for frame in decoder:
                encoder.add_frame(model(frame))

    frames: as in motus.encode (torchcodec's [N, C, H, W] of uint8 among them). Each method accepts
    codec ("h264", "libx264"), pixel_format ("yuv420p"), extra_options (g, b, qp and others of
    FFmpeg's), x264's names of presets, and motus.Settings."""

    def __init__(self, frames: Any = None, *, frame_rate: Rate) -> None:
        self._frames, self._frame_rate = frames, frame_rate
        self._file: VideoFile | None = None

    def _opened(self, output: Any, container: str | None, audio: Any = None,
                fragment: float | None = None, codec: str | None = None,
                pixel_format: str | None = None, extra_options: dict[str, Any] | None = None,
                **settings: Any) -> VideoFile:
        made = _settings(codec, pixel_format, extra_options, settings)
        return VideoFile(Output(output, container), self._frame_rate, fragment, audio, made)

    def _encode(self, output: Any, container: str | None, options: dict[str, Any]) -> VideoFile:
        if self._frames is None:
            raise StateError("the encoder was made without frames; open() takes them one by one")
        with self._opened(output, container, **options) as video:
            for frame in each_frame(self._frames, video.form):
                video.add(frame)
        return video

    def to_file(self, dest: str | os.PathLike[str], **options: Any) -> None:
        """Writes a file; its ending chooses the container."""
        self._encode(dest, None, options)

    def to_file_like(self, file_like: IO[bytes], format: str = "mp4", **options: Any) -> None:
        """Writes to an object with `write`."""
        self._encode(file_like, format, options)

    def to_tensor(self, format: str = "mp4", **options: Any) -> Any:
        """Returns the file's bytes as uint8: a tensor, without PyTorch an array of NumPy."""
        file = self._encode(None, format, options).file
        data = np.frombuffer(bytearray(file.getvalue()), np.uint8)  # type: ignore[union-attr]
        try:
            import torch
        except ImportError:
            return data
        return torch.from_numpy(data)

    # ---- Frame by frame --------------------------------------------------------------------------

    def open(self, dest: str | os.PathLike[str] | IO[bytes], *, format: str | None = None,
             audio: Any = None, fragment: float | None = None, codec: str | None = None,
             pixel_format: str | None = None, extra_options: dict[str, Any] | None = None,
             **settings: Unpack[Settings]) -> VideoEncoder:
        """Begins a file. audio, fragment: as in motus.encode."""
        if self._file is not None:
            raise StateError("the encoder is open already")
        file = self._opened(dest, format, audio, fragment, codec, pixel_format, extra_options,
                            **settings)
        self._file = file.__enter__()
        return self

    def add_frame(self, frame: Any, *, keyframe: bool = False) -> None:
        """Encodes one frame. keyframe: begins a GOP."""
        if self._file is None:
            raise StateError("the encoder is not open: open(dest) comes first")
        self._file.add(frame, keyframe=keyframe)

    def close(self) -> None:
        """Completes the file."""
        self.__exit__(None, None, None)

    def __enter__(self) -> VideoEncoder:
        return self

    def __exit__(self, *error: Any) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.__exit__(*error)

    def __del__(self) -> None:
        if getattr(self, "_file", None) is not None:
            self.__exit__(GeneratorExit, GeneratorExit(), None)
