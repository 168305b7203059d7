"""The encoder: frames in, packets out."""
# SPDX-License-Identifier: BSD-2-Clause
from __future__ import annotations

import ctypes
import os
import threading
import weakref
from collections import deque
from ctypes import byref
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Iterator, Sequence

import numpy as np

from . import _lib
from ._audio import audio_of
from ._errors import ArgumentError, StateError
from ._frames import picture_of
from ._lib import lib
from ._mp4_file import Mp4File
from ._mvs import coded_of, table_of
from ._packet import Packet
from ._settings import Rate, config_of, frames_of, name_of, rational, whole
from .mp4 import Mp4Writer

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._settings import Settings


_encoders: weakref.WeakSet[Encoder] = weakref.WeakSet()


def _renew_locks() -> None:
    """Gives a child of fork() locks that no thread of the parent holds. The library refuses calls
    of inherited encoders."""
    for encoder in list(_encoders):
        encoder._sending, encoder._receiving = threading.RLock(), threading.RLock()


os.register_at_fork(after_in_child=_renew_locks)


class Encoder:
    """Encodes frames of one size.

        with motus.Encoder(1280, 720, fps=30, crf=23) as encoder:
            for frame in frames:
                for packet in encoder.encode(frame):
                    out.write(packet.data)
            for packet in encoder.finish():
                out.write(packet.data)

    One thread may send while another receives. `settings` are those of motus.Settings. With pad or
    crop the size may be odd; the attributes `width` and `height` are those of the stream. keep_mvs:
    packets have their motion vectors. measure: packets have their squared errors, which takes some
    time."""

    def __init__(self, width: int, height: int, fps: Rate = 24, *,
                 time_base: Fraction | None = None, keep_mvs: bool = False, measure: bool = True,
                 **settings: Unpack[Settings]) -> None:
        self._encoder = ctypes.c_void_p()
        self._sending, self._receiving = threading.RLock(), threading.RLock()
        # Device arrays of libraries that do not know streams, until their pictures are coded.
        self._held: deque[tuple[int, Any]] = deque()
        self._sent = 0
        self.fps = rational(fps)
        self.time_base = 1 / self.fps if time_base is None else rational(time_base, "time base")
        asked = dict(settings)
        self._frames = frames_of(asked)
        width = self._frames.even(whole("width", width))
        height = self._frames.even(whole("height", height))
        self._config = config_of(width, height, self.fps, asked)
        if time_base is not None:
            unit = self.time_base
            self._config.time_base = _lib.Rational(unit.numerator, unit.denominator)
        self._config.stream_only, self._config.no_ssd = not keep_mvs, not measure
        error = _lib.Error()
        status = lib.motus_encoder_open(byref(self._encoder), byref(self._config), byref(error))
        _lib.check(status, error)
        _encoders.add(self)
        self.width, self.height = width, height
        self._bframes = self._config.bframes

    # ---- Properties ----------------------------------------------------------------------------

    @property
    def _open(self) -> ctypes.c_void_p:
        if not self._encoder:
            raise StateError("the encoder is closed", -7)
        return self._encoder

    @property
    def backend(self) -> str:
        """"cpu" or "cuda"."""
        return name_of("backend", lib.motus_encoder_backend(self._open))

    @property
    def gop_coders(self) -> int:
        return int(lib.motus_encoder_gop_coders(self._open))

    @property
    def level(self) -> int:
        """level_idc: 31 for level 3.1."""
        return int(lib.motus_encoder_level(self._open))

    @property
    def headers(self) -> bytes:
        """SPS and PPS with start codes."""
        size = ctypes.c_size_t()
        data = lib.motus_encoder_headers(self._open, byref(size))
        return ctypes.string_at(data, size.value)

    @property
    def layout(self) -> str:
        return self._frames.layout

    @property
    def _track(self) -> tuple[bytes, int, int, Fraction, tuple[int, int, int, bool] | None]:
        """Arguments of Mp4Writer and Mp4File."""
        c = self._config.colour
        known = (c.primaries, c.transfer, c.matrix) != (2, 2, 2)
        colour = (c.primaries, c.transfer, c.matrix, c.full_range == 1) if known else None
        return self.headers, self.width, self.height, self.time_base, colour

    def mp4(self, fragment: float = 1.0, *, audio: Any = None) -> Mp4Writer:
        """Returns a writer of fragmented MP4 for this encoder's packets. audio: as in
        motus.encode."""
        *track, colour = self._track
        n, levels = self._bframes, bool(self._config.b_pyramid)
        return Mp4Writer(*track, colour=colour, fragment=fragment, audio=audio_of(audio),
                         delay=(n > 0) + (n > 2 and levels) + (n > 6 and levels))

    def mp4_file(self, audio: Any) -> Mp4File:
        """Returns a writer of ordinary MP4."""
        *track, colour = self._track
        return Mp4File(*track, colour=colour, audio=audio_of(audio))

    # ---- Frames in -----------------------------------------------------------------------------

    def _check(self, status: int) -> int:
        error = None if status >= 0 else lib.motus_encoder_error(self._encoder).contents
        return _lib.check(status, error)

    def _params(self, pts: int | None, duration: int | None, keyframe: bool,
                qp_offset: Any, mvs: Any, mvs_final: bool) -> tuple[_lib.FrameParams, Any]:
        params = _lib.FrameParams(
            size=ctypes.sizeof(_lib.FrameParams),
            pts=self._sent if pts is None else whole("pts", pts, 64),
            duration=1 if duration is None else whole("duration", duration, 64),
            force_idr=bool(keyframe), external_final=bool(mvs_final))
        coded = None if mvs is None else coded_of(mvs)
        if coded is not None and coded.size:
            params.reference_mvs, params.n_reference_mvs = coded.ctypes.data, coded.size
        if qp_offset is None:
            return params, coded
        wanted = np.asarray(qp_offset)
        offsets = np.ascontiguousarray(wanted, np.int8)
        if not np.array_equal(offsets, wanted):
            raise ArgumentError("QP offsets are whole numbers of -128..127")
        n_mb = -(-self.width // 16) * -(-self.height // 16)
        if offsets.size != n_mb:
            raise ArgumentError(f"{offsets.size} QP offsets for {n_mb} macroblocks")
        params.qp_offset, params.n_qp_offset = offsets.ctypes.data, offsets.size
        return params, (offsets, coded)

    def send(self, frame: Any, *, pts: int | None = None, duration: int | None = None,
             keyframe: bool = False, qp_offset: Sequence[Any] | None = None,
             mvs: Any = None, mvs_final: bool = False) -> None:
        """Sends the next frame: [H, W, C], [C, H, W] or [H, W] (grey), uint8 or floats of 0..1; or
        4:2:0 as (Y, Cb, Cr), (Y, CbCr), or one array with layout="I420" or "NV12".

        The frame may change once the call returns. An array on a GPU is read there, on its own
        stream. pts, duration: in units of time_base; by default the frame's number, and 1.
        keyframe: begins a GOP. qp_offset: added to the QP of each macroblock. mvs: motion vectors
        in place of the search, as packet.mvs or rows of a picture that `motus encode --mvs` wrote;
        mvs_final: none is refined."""
        with self._sending:
            encoder = self._open
            picture = picture_of(frame, self._frames)
            if picture.size != (self.width, self.height):
                raise ArgumentError(f"a frame of {picture.image.width}x{picture.image.height} for "
                                    f"an encoder of {self.width}x{self.height}", -1)
            params, alive = self._params(pts, duration, keyframe, qp_offset, mvs, mvs_final)
            image = byref(picture.image)
            if picture.device is None:
                status = lib.motus_encoder_send_image(encoder, image, byref(params))
            else:
                status = lib.motus_encoder_send_image_device(encoder, image, picture.stream,
                                                             byref(params))
            del alive
            self._check(status)
            if any(view.hold for view in picture.views):
                self._held.append((self._sent, picture.views))
            self._sent += 1

    def end(self) -> None:
        """Ends the sequence."""
        with self._sending:
            self._check(lib.motus_encoder_send(self._open, None, None))

    def reconfigure(self, *, bitrate: int, vbv_maxrate: int = 0, vbv_bufsize: int = 0) -> None:
        """Changes the rate from the next frame on (bits a second; bits). Only with a bitrate."""
        with self._sending:
            rates = (whole("bitrate", bitrate, 64), whole("vbv_maxrate", vbv_maxrate, 64),
                     whole("vbv_bufsize", vbv_bufsize, 64))
            self._check(lib.motus_encoder_set_rate(self._open, *rates))

    def reference_lost(self, number: int) -> None:
        """Tells that the receiver has lost the picture of packet `number`. The pictures sent from
        now on depend on no lost one: with `keep_references` they predict from an older picture;
        the next one is a key picture if none is left, and always with B pictures."""
        with self._sending:
            self._check(lib.motus_encoder_reference_lost(self._open, whole("number", number, 64)))

    # ---- Packets out ---------------------------------------------------------------------------

    def receive(self, timeout: float | None = 0) -> Packet | None:
        """Returns the next packet; blocks up to `timeout` seconds, or without limit if it is None.

        Returns None if the packet is not ready, needs further frames, or was the last."""
        with self._receiving:
            encoder, packet = self._open, ctypes.POINTER(_lib.Packet)()
            most = (1 << 31) - 1  # milliseconds
            wait = -1 if timeout is None else int(min(max(timeout * 1000, 0), most))
            status = lib.motus_encoder_receive(encoder, byref(packet), wait)
            if self._check(status) != _lib.OK:
                return None
            p, ssd = packet.contents, packet.contents.stats.ssd
            try:
                made = Packet(
                    ctypes.string_at(p.data, p.size), p.number, p.pts, p.duration, bool(p.is_idr),
                    p.type.decode(), p.qp, p.mean_qp, (ssd[0], ssd[1], ssd[2]),
                    self.width * self.height, p.dts,
                    None if self._config.stream_only else table_of(p))
            finally:
                lib.motus_packet_unref(byref(packet))
            while self._held and self._held[0][0] <= made.number - self._bframes:
                self._held.popleft()
            return made

    def packets(self, timeout: float | None = 0) -> Iterator[Packet]:
        """Yields the packets that are ready (timeout 0), or all that need no further frame
        (None)."""
        while (packet := self.receive(timeout)) is not None:
            yield packet

    def encode(self, frame: Any, **parameters: Any) -> list[Packet]:
        """Sends a frame and returns the packets that are ready."""
        self.send(frame, **parameters)
        return list(self.packets())

    def finish(self) -> Iterator[Packet]:
        """Ends the sequence and yields all remaining packets."""
        self.end()
        return self.packets(None)

    def close(self) -> None:
        """Closes the encoder and drops pending pictures. Waits for calls of other threads."""
        with self._sending, self._receiving:
            lib.motus_encoder_close(byref(self._encoder))
            self._held.clear()

    def __enter__(self) -> Encoder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_encoder", None):
            lib.motus_encoder_close(byref(self._encoder))
