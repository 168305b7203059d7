"""The encoder: frames in, packets out."""
# SPDX-License-Identifier: BSD-2-Clause
from __future__ import annotations

import ctypes
import threading
from collections import deque
from dataclasses import dataclass
from fractions import Fraction
from math import log10
from typing import TYPE_CHECKING, Any, Iterator, Sequence

import numpy as np

from . import _lib
from ._errors import ArgumentError, StateError
from ._frames import picture_of
from ._settings import Rate, config_of, name_of, rational
from .mp4 import Mp4Writer

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._settings import Settings


@dataclass(frozen=True)
class Packet:
    """A coded picture: an access unit with start codes (Annex B), the parameter sets in front of a key picture."""
    data: bytes
    number: int  # of the picture, from 0
    pts: int  # in units of the encoder's time_base, as is the duration
    duration: int
    is_key: bool
    type: str  # "I" or "P"
    qp: int
    mean_qp: float
    ssd: tuple[int, int, int]  # squared differences from the frame as it was encoded, Y, Cb, Cr
    luma_samples: int

    @property
    def psnr(self) -> float:
        """Of luma, dB; 100 where nothing differs."""
        return 10 * log10(255 * 255 * self.luma_samples / self.ssd[0]) if self.ssd[0] else 100.0


class Encoder:
    """Encodes frames of one size.

        with motus.Encoder(1280, 720, fps=30, crf=23) as encoder:
            for frame in frames:
                for packet in encoder.encode(frame):
                    out.write(packet.data)
            for packet in encoder.finish():
                out.write(packet.data)

    One thread may send while another receives. Settings: see Settings. MotusEncoder, in motus/encoder.h, tells the rest."""

    def __init__(self, width: int, height: int, fps: Rate = 24, *, layout: str = "auto", time_base: Fraction | None = None, **settings: Unpack[Settings]) -> None:
        self._encoder = ctypes.c_void_p()
        self._sending, self._receiving = threading.RLock(), threading.RLock()
        self._held: deque[tuple[int, Any]] = deque()  # arrays in device memory whose library knows nothing of streams
        self._sent = 0
        self.fps = rational(fps)
        self.time_base = 1 / self.fps if time_base is None else rational(time_base, "time base")
        self.layout = layout
        self._config = config_of(width, height, self.fps, dict(settings))
        if time_base is not None:
            self._config.time_base = _lib.Rational(self.time_base.numerator, self.time_base.denominator)
        error = _lib.Error()
        _lib.check(_lib.lib.motus_encoder_open(ctypes.byref(self._encoder), ctypes.byref(self._config), ctypes.byref(error)), error)
        self.width, self.height = width, height

    # ---- What it is -----------------------------------------------------------------------------------------------------------------------------

    @property
    def _open(self) -> ctypes.c_void_p:
        if not self._encoder:
            raise StateError("the encoder is closed", -7)
        return self._encoder

    @property
    def backend(self) -> str:
        """"cpu" or "cuda"."""
        return name_of("backend", _lib.lib.motus_encoder_backend(self._open))

    @property
    def gop_coders(self) -> int:
        return int(_lib.lib.motus_encoder_gop_coders(self._open))

    @property
    def level(self) -> int:
        """level_idc: 31 for level 3.1."""
        return int(_lib.lib.motus_encoder_level(self._open))

    @property
    def headers(self) -> bytes:
        """SPS and PPS with start codes."""
        size = ctypes.c_size_t()
        data = _lib.lib.motus_encoder_headers(self._open, ctypes.byref(size))
        return ctypes.string_at(data, size.value)

    def mp4(self, fragment: float = 1.0) -> Mp4Writer:
        """A writer of fragmented MP4 for this encoder's packets."""
        c = self._config.colour
        colour = (c.primaries, c.transfer, c.matrix, c.full_range == 1) if (c.primaries, c.transfer, c.matrix) != (2, 2, 2) else None
        return Mp4Writer(self.headers, self.width, self.height, self.time_base, colour=colour, fragment=fragment)

    # ---- Frames in ------------------------------------------------------------------------------------------------------------------------------

    def _check(self, status: int) -> int:
        return _lib.check(status, None if status >= 0 else _lib.lib.motus_encoder_error(self._encoder).contents)

    def _params(self, pts: int | None, duration: int | None, keyframe: bool, qp_offset: Any) -> tuple[_lib.FrameParams, Any]:
        params = _lib.FrameParams(size=ctypes.sizeof(_lib.FrameParams), pts=self._sent if pts is None else pts, duration=1 if duration is None else duration,
                                  force_idr=bool(keyframe))
        if qp_offset is None:
            return params, None
        given = np.asarray(qp_offset)
        offsets = np.ascontiguousarray(given, np.int8)
        if not np.array_equal(offsets, given):
            raise ArgumentError("QP offsets are whole numbers of -128..127")
        params.qp_offset, params.n_qp_offset = offsets.ctypes.data, offsets.size
        return params, offsets

    def send(self, frame: Any, *, pts: int | None = None, duration: int | None = None, keyframe: bool = False, qp_offset: Sequence[Any] | None = None) -> None:
        """Gives the next frame: [H, W, C], [C, H, W] or [H, W] (grey), uint8 or floats of 0..1; 4:2:0 as (Y, Cb, Cr), (Y, CbCr), or in one array with
        layout="I420" or "NV12". It is only read, and not needed any more when the call returns; an array on a GPU is read there, on its own stream.
        pts, duration: in units of time_base; by default the frame's number, and 1. keyframe: a GOP begins here. qp_offset: added to each macroblock's QP."""
        with self._sending:
            encoder = self._open
            picture = picture_of(frame, self.layout)
            if picture.size != (self.width, self.height):
                raise ArgumentError(f"a frame of {picture.image.width}x{picture.image.height} for an encoder of {self.width}x{self.height}", -1)
            params, alive = self._params(pts, duration, keyframe, qp_offset)
            if picture.device is None:
                status = _lib.lib.motus_encoder_send_image(encoder, ctypes.byref(picture.image), ctypes.byref(params))
            else:
                status = _lib.lib.motus_encoder_send_image_device(encoder, ctypes.byref(picture.image), picture.stream, ctypes.byref(params))
            del alive
            self._check(status)
            if any(view.hold for view in picture.views):
                self._held.append((self._sent, picture.views))
            self._sent += 1

    def end(self) -> None:
        """No more frames will come."""
        with self._sending:
            self._check(_lib.lib.motus_encoder_send(self._open, None, None))

    def reconfigure(self, *, bitrate: int, vbv_maxrate: int = 0, vbv_bufsize: int = 0) -> None:
        """Another rate from the next frame on, bits a second and bits; for encoders with a bitrate."""
        with self._sending:
            self._check(_lib.lib.motus_encoder_set_rate(self._open, bitrate, vbv_maxrate, vbv_bufsize))

    # ---- Packets out ----------------------------------------------------------------------------------------------------------------------------

    def receive(self, timeout: float | None = 0) -> Packet | None:
        """The next packet, waiting up to `timeout` seconds, None: as long as it takes. None: it is not there yet, needs frames that have not come, or all have been
        handed out."""
        with self._receiving:
            encoder, packet = self._open, ctypes.POINTER(_lib.Packet)()
            wait = -1 if timeout is None else min(max(int(timeout * 1000), 0), (1 << 31) - 1)
            if self._check(_lib.lib.motus_encoder_receive(encoder, ctypes.byref(packet), wait)) != _lib.OK:
                return None
            p, ssd = packet.contents, packet.contents.stats.ssd
            try:
                made = Packet(ctypes.string_at(p.data, p.size), p.number, p.pts, p.duration, bool(p.is_idr), p.type.decode(), p.qp, p.mean_qp, (ssd[0], ssd[1], ssd[2]),
                              self.width * self.height)
            finally:
                _lib.lib.motus_packet_unref(ctypes.byref(packet))
            while self._held and self._held[0][0] <= made.number:
                self._held.popleft()
            return made

    def packets(self, timeout: float | None = 0) -> Iterator[Packet]:
        """Those that are there (timeout 0), or that the frames sent so far are enough for (None)."""
        while (packet := self.receive(timeout)) is not None:
            yield packet

    def encode(self, frame: Any, **parameters: Any) -> list[Packet]:
        """send(), and the packets that are there by then."""
        self.send(frame, **parameters)
        return list(self.packets())

    def finish(self) -> Iterator[Packet]:
        """end(), and all packets that are left."""
        self.end()
        return self.packets(None)

    def close(self) -> None:
        """Gives everything back; pictures that are under way are dropped. Calls that other threads are in come to their end first."""
        with self._sending, self._receiving:
            _lib.lib.motus_encoder_close(ctypes.byref(self._encoder))
            self._held.clear()

    def __enter__(self) -> Encoder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_encoder", None):
            _lib.lib.motus_encoder_close(ctypes.byref(self._encoder))
