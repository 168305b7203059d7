"""Ordinary MP4 with its index in front, which makes it play before all of it is there."""
# SPDX-License-Identifier: BSD-2-Clause
from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import groupby
from struct import pack
from typing import IO, TYPE_CHECKING

from ._boxes import Track, box, full, mvhd, sample_of, stbl, timescale_of, trak
from .mp4 import tracks_of

if TYPE_CHECKING:
    from ._audio import Audio
    from ._packet import Packet

_INTERLEAVE = Fraction(1, 2)  # seconds of pictures, then their sound
_INDEX = 40  # most bytes that a sample takes in the index
_BLOCK = 1 << 22


class _Samples:
    """Tables of one track's samples."""

    def __init__(self, track: Track) -> None:
        self.track = track
        self.sizes: list[int] = []
        self.times: list[int] = []  # of decoding
        self.offsets: list[int] = []  # from there to the times they are shown at
        self.delay = 0  # of the first one: 0 without B pictures
        self.end = 0  # of the last sample
        self.keys: list[int] = []  # from 1
        self.chunks: list[list[int]] = []  # place and number of samples

    def add(self, place: int, size: int, time: int, duration: int, key: bool, joins: bool,
            offset: int = 0) -> None:
        """joins: the sample belongs to the last chunk."""
        self.offsets.append(offset)
        self.sizes.append(size)
        self.times.append(time)
        self.end = time + duration
        if key:
            self.keys.append(len(self.sizes))
        if joins and self.chunks:
            self.chunks[-1][1] += 1
        else:
            self.chunks.append([place, 1])

    def _stts(self) -> bytes:
        durations = [b - a for a, b in zip(self.times, self.times[1:] + [self.end])]
        runs = [(len(list(run)), duration) for duration, run in groupby(durations)]
        return full(b"stts", 0, 0, pack(">I", len(runs)), *(pack(">II", *run) for run in runs))

    def _ctts(self) -> bytes:
        runs = [(len(list(run)), offset) for offset, run in groupby(self.offsets)]
        return full(b"ctts", 0, 0, pack(">I", len(runs)), *(pack(">II", *run) for run in runs))

    def _stsc(self) -> bytes:
        runs, first = [], 1
        for n, run in groupby(chunk[1] for chunk in self.chunks):
            runs.append(pack(">III", first, n, 1))
            first += len(list(run))
        return full(b"stsc", 0, 0, pack(">I", len(runs)), *runs)

    def trak(self, timescale: int, start: int, is_large: bool) -> bytes:
        """start: of the first sample's data in the file."""
        n, tables = len(self.sizes), [self._stts(), self._stsc()]
        if any(self.offsets):
            tables.append(self._ctts())
        if len(self.keys) < n:
            tables.append(full(b"stss", 0, 0, pack(f">I{len(self.keys)}I", len(self.keys),
                                                   *self.keys)))
        tables.append(full(b"stsz", 0, 0, pack(f">II{n}I", 0, n, *self.sizes)))
        places = [start + chunk[0] for chunk in self.chunks]
        name, kind = (b"co64", "Q") if is_large else (b"stco", "I")
        tables.append(full(name, 0, 0, pack(f">I{len(places)}{kind}", len(places), *places)))
        track = replace(self.track, delay=self.track.delay + self.delay)
        return trak(track, self.duration(timescale), self.end, stbl(track, *tables))

    def duration(self, timescale: int) -> int:
        return (self.end - self.track.delay) * timescale // self.track.timescale


class Mp4File:
    """Takes packets and returns the bytes to append, then those that belong in front of them."""

    def __init__(self, headers: bytes, width: int, height: int, time_base: Fraction, *,
                 colour: tuple[int, int, int, bool] | None = None,
                 audio: Audio | None = None) -> None:
        self._timescale, self._unit = timescale_of(time_base)
        tracks = tracks_of(headers, width, height, self._timescale, colour, audio)
        self._video, *sound = map(_Samples, tracks)
        self._sound, self._audio = sound[0] if sound else None, audio
        self._size, self._next = 0, _INTERLEAVE
        self._joins = False

    def header(self) -> bytes:
        """Returns b"": nothing is known before the end."""
        return b""

    def _sound_until(self, time: Fraction) -> bytes:
        if not self._audio or not self._sound:
            return b""
        samples = self._audio.until(time)
        for i, (data, pts, duration) in enumerate(samples):
            self._sound.add(self._size, len(data), pts, duration, True, i > 0)
            self._size += len(data)
            self._joins = False
        return b"".join(sample[0] for sample in samples)

    def add(self, packet: Packet) -> bytes:
        if not self._video.sizes:
            self._video.delay = (packet.pts - packet.dts) * self._unit
        time, sound = packet.dts * self._unit + self._video.delay, b""
        if time >= self._next * self._timescale:
            begun = Fraction(time, self._timescale) // _INTERLEAVE * _INTERLEAVE
            sound = self._sound_until(begun)
            self._next = begun + _INTERLEAVE
            self._joins = False  # this picture begins a chunk
        data = sample_of(packet.data)
        self._video.add(self._size, len(data), time, packet.duration * self._unit, packet.is_key,
                        self._joins, (packet.pts - packet.dts) * self._unit)
        self._size, self._joins = self._size + len(data), True
        return sound + data

    def finish(self) -> bytes:
        """Returns the rest of the sound, which ends with the pictures."""
        return self._sound_until(Fraction(self._video.end, self._timescale))

    def head(self) -> bytes:
        """Returns the boxes in front of the samples: ftyp, moov and the beginning of mdat."""
        tracks = [self._video] + ([self._sound] if self._sound and self._sound.sizes else [])
        index = 4096 + _INDEX * sum(len(track.sizes) for track in tracks)
        is_large = self._size + index >= 1 << 32  # of 64-bit places
        ftyp = box(b"ftyp", b"isom", pack(">I", 512), b"isomiso2avc1mp41")
        mdat = pack(">I4sQ", 1, b"mdat", self._size + 16) if is_large else pack(
            ">I4s", self._size + 8, b"mdat")

        def moov(start: int) -> bytes:
            duration = max(track.duration(self._timescale) for track in tracks)
            return box(b"moov", mvhd(self._timescale, duration, len(tracks) + 1),
                       *(track.trak(self._timescale, start, is_large) for track in tracks))

        before = len(ftyp) + len(moov(0)) + len(mdat)
        return ftyp + moov(before) + mdat


def put_in_front(file: IO[bytes], head: bytes) -> None:
    """Moves all that a file has towards its end, and writes `head` in front."""
    at = file.seek(0, 2)
    while at > 0:
        size = min(at, _BLOCK)
        at -= size
        file.seek(at)
        block = file.read(size)
        file.seek(at + len(head))
        file.write(block)
    file.seek(0)
    file.write(head)
