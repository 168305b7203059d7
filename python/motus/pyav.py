"""Packets of PyAV (av.Packet), for its containers and for aiortc. `import motus.pyav` needs av."""
# SPDX-License-Identifier: BSD-2-Clause
from __future__ import annotations

import io
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import av

from ._errors import ArgumentError, StateError, UnsupportedError
from ._frames import picture_of
from ._packet import Packet
from ._settings import Rate, frames_of, rational
from .encoder import Encoder

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._settings import Settings

_BUFFER = 2  # a VBV of 1/2 second


def _has_duration() -> bool:
    try:
        av.Packet().duration = 1
    except AttributeError:
        return False
    return True


class PacketEncoder:
    """Encodes frames at a bitrate that may change at any time.

        encoder = motus.pyav.PacketEncoder(30, bitrate=1_000_000)
        stream = encoder.add_stream(container, first)       # if the packets go into a file
        for frame in frames:                                # av.VideoFrame, or arrays
            for packet in encoder.encode(frame):
                container.mux(packet)                       # or return it from a track's recv()
            encoder.bitrate = channel()
        for packet in encoder.encode(None): container.mux(packet)

    Settings are those of motus.Settings; lookahead is 0 and preset "faster" unless they say
    otherwise, so that each frame gives its packet at once. The size of av.VideoFrames may change,
    that of arrays after encode(None)."""

    def __init__(self, frame_rate: Rate = 30, *, bitrate: int = 1_000_000,
                 **settings: Unpack[Settings]) -> None:
        self._fps, self._bitrate = rational(frame_rate), bitrate
        self._settings: dict[str, Any] = {"lookahead": 0, "preset": "faster", **settings}
        self._encoder: Encoder | None = None
        self._size = (0, 0)
        self._time_base = 1 / self._fps  # of the open encoder's packets
        self._next = Fraction(0)  # seconds: time of a frame that has none
        self._stream: Any = None

    @property
    def bitrate(self) -> int:
        """Bits a second, from the next frame on."""
        return self._bitrate

    @bitrate.setter
    def bitrate(self, bitrate: int) -> None:
        if self._encoder is not None:
            self._encoder.reconfigure(**self._rate(bitrate))
        self._bitrate = bitrate

    @staticmethod
    def _rate(bitrate: int) -> dict[str, int]:
        size = max(bitrate // _BUFFER, 1)
        return {"bitrate": bitrate, "vbv_maxrate": bitrate, "vbv_bufsize": size}

    def _open(self, frame: Any, settings: dict[str, Any]) -> Encoder:
        form = frames_of(dict(settings))
        form.is_quiet = True  # the encoder looks at this frame again
        picture = picture_of(frame, form)
        if not picture.is_rgb:
            settings = {"colour": None, **settings}
        self._size = picture.size
        return Encoder(*picture.size, self._fps, measure=False, **settings,
                       **self._rate(self._bitrate))

    def _prepared(self, frame: Any) -> tuple[Any, dict[str, Any]]:
        """Returns an array and its settings."""
        if not isinstance(frame, av.VideoFrame):
            return frame, self._settings
        if (frame.width | frame.height) & 1:
            raise ArgumentError(f"a frame of {frame.width}x{frame.height}: the size is odd; "
                                "frame.reformat(width=, height=) makes it even")
        return frame.to_ndarray(format="yuv420p"), {**self._settings, "layout": "I420"}

    def _fits(self, frame: Any) -> bool:
        """True if the open encoder may take the frame: its size, and a time that is a multiple of
        the encoder's unit."""
        if not isinstance(frame, av.VideoFrame):
            return True
        if self._size != (frame.width, frame.height):
            return False
        return frame.pts is None or not frame.time_base or (
            frame.pts * Fraction(frame.time_base) / self._time_base).denominator == 1

    def _time(self, frame: Any) -> Fraction:
        """Returns a frame's time in seconds: its own, or one duration after the last frame."""
        if not isinstance(frame, av.VideoFrame) or frame.pts is None:
            return self._next
        return frame.pts * Fraction(frame.time_base or 1 / self._fps)

    def encode(self, frame: Any, *, keyframe: bool = False) -> list[av.Packet]:
        """Returns the packets that are ready; frame None: all that are left. av.VideoFrame's times
        are kept; frames without a time and arrays follow the last frame by 1 / frame_rate. A time
        that is no multiple of the first frame's time_base begins a GOP with its own. keyframe:
        begins a GOP."""
        if frame is None:
            return self._flush()
        array, settings = self._prepared(frame)
        left = [] if self._fits(frame) else self._flush()
        if self._encoder is None:
            self._encoder = self._open(array, settings)
            own = frame.time_base if isinstance(frame, av.VideoFrame) else None
            self._time_base = Fraction(own or 1 / self._fps)
        time = self._time(frame)
        self._encoder.send(array, pts=round(time / self._time_base), duration=self._duration,
                           keyframe=keyframe)
        self._next = time + 1 / self._fps
        return left + [self._packet(packet) for packet in self._encoder.packets(None)]

    @property
    def _duration(self) -> int:
        return max(round(1 / self._fps / self._time_base), 1)

    def _flush(self) -> list[av.Packet]:
        encoder, self._encoder = self._encoder, None
        if encoder is None:
            return []
        with encoder:
            return [self._packet(packet) for packet in encoder.finish()]

    def _packet(self, packet: Packet) -> av.Packet:
        made = av.Packet(packet.data)
        made.pts, made.dts = packet.pts, packet.dts
        made.time_base = self._time_base
        with suppress(AttributeError):  # older PyAV; containers look into the data
            made.is_keyframe = packet.is_key
        with suppress(AttributeError):
            made.duration = self._duration
        if self._stream is not None:
            made.stream = self._stream
        return made

    def add_stream(self, container: Any, frame: Any) -> Any:
        """Adds a stream for this encoder's packets, of the size of `frame`, to an output
        container."""
        if self._encoder is not None:
            raise StateError("add_stream comes before the first frame")
        if "mp4" in container.format.extensions and not _has_duration():
            raise UnsupportedError(f"packets of PyAV {av.__version__} take no duration, which MP4 "
                                   "needs of the last one: take a newer PyAV, or motus.encode")
        array, settings = self._prepared(frame)
        with self._open(array, settings) as encoder:
            encoder.send(array)
            start = b"".join(packet.data for packet in encoder.finish())
        with av.open(io.BytesIO(start), format="h264") as source:
            template = source.streams.video[0]
            if hasattr(container, "add_stream_from_template"):
                self._stream = container.add_stream_from_template(template)
            else:
                self._stream = container.add_stream(template=template)
        return self._stream
