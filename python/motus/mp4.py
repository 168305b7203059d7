"""Fragmented MP4: a header, then fragments that can be sent as soon as they are made."""
# SPDX-License-Identifier: BSD-2-Clause
from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from struct import pack
from typing import TYPE_CHECKING

from ._boxes import (Track, audio_entry, box, full, mvhd, sample_of, stbl, timescale_of, trak,
                     video_entry)
from ._errors import ArgumentError
from ._packet import Packet, nal_units

if TYPE_CHECKING:
    from ._audio import Audio

__all__ = ["Mp4Writer", "nal_units"]
# sample_depends_on, sample_is_non_sync_sample (8.8.3.1)
_KEY, _NOT_KEY = 0x02000000, 0x01010000


def tracks_of(headers: bytes, width: int, height: int, timescale: int,
              colour: tuple[int, int, int, bool] | None, audio: Audio | None) -> list[Track]:
    tracks = [Track(1, timescale, video_entry(headers, width, height, colour), width, height)]
    if audio:
        entry = audio_entry(audio.rate, audio.channels, audio.config)
        tracks.append(Track(2, audio.rate, entry, delay=audio.delay))
    return tracks


class Mp4Writer:
    """Writes an encoder's packets as fragmented MP4, in memory:

        mp4 = encoder.mp4()
        out.write(mp4.header())
        for packet in packets:
            out.write(mp4.add(packet))
        out.write(mp4.finish())

    fragment: seconds; each key picture begins a fragment. 0: a fragment a picture, for live
    streams. headers: SPS and PPS with start codes. colour: primaries, transfer, matrix (H.264
    tables E-3 to E-5) and full range, for a `colr` box. delay: units of time_base by which the
    first picture is decoded before it is shown; 1 or 2 with B pictures."""

    def __init__(self, headers: bytes, width: int, height: int, time_base: Fraction, *,
                 colour: tuple[int, int, int, bool] | None = None, fragment: float = 1.0,
                 audio: Audio | None = None, delay: int = 0) -> None:
        check_fragment(fragment)
        self.timescale, self._unit = timescale_of(time_base)
        self._delay = delay * self._unit
        self.width, self.height, self._audio = width, height, audio
        self._tracks = tracks_of(headers, width, height, self.timescale, colour, audio)
        self._tracks[0] = replace(self._tracks[0], delay=self._delay)
        self._most = fragment * self.timescale
        # The current fragment's samples: data, decoding time, duration, is a key picture, offset
        # to the time it is shown at.
        self._samples: list[tuple[bytes, int, int, bool, int]] = []
        self._sequence = 0

    def header(self) -> bytes:
        """Returns ftyp and moov, which precede the first fragment."""
        empty = [full(name, 0, 0, pack(">I", 0)) for name in (b"stts", b"stsc", b"stco")]
        tables = (*empty, full(b"stsz", 0, 0, pack(">II", 0, 0)))
        traks = [trak(t, 0, 0, stbl(t, *tables)) for t in self._tracks]
        trex = [full(b"trex", 0, 0, pack(">IIIII", t.number, 1, 0, 0, 0)) for t in self._tracks]
        ftyp = box(b"ftyp", b"iso5", pack(">I", 512), b"iso5iso6avc1mp41")
        head = mvhd(self.timescale, 0, len(traks) + 1)
        return ftyp + box(b"moov", head, *traks, box(b"mvex", *trex))

    # ---- Fragments -----------------------------------------------------------------------------

    def _fragment(self, end: int) -> bytes:
        """Returns a fragment of all samples; `end`: the video's time after it."""
        if not self._samples:
            return b""
        self._sequence += 1
        sound = self._audio.until(Fraction(end, self.timescale)) if self._audio else []
        runs = [(self._tracks[0], self._samples)]
        if sound:
            runs.append((self._tracks[1], [(data, pts, n, True, 0) for data, pts, n in sound]))

        def moof(offset: int) -> bytes:
            trafs = []
            for track, samples in runs:
                trafs.append(_traf(track, samples, offset))
                offset += sum(len(sample[0]) for sample in samples)
            return box(b"moof", full(b"mfhd", 0, 0, pack(">I", self._sequence)), *trafs)

        size = len(moof(0))
        data = (sample[0] for _, samples in runs for sample in samples)
        made = moof(size + 8) + box(b"mdat", *data)
        self._samples = []
        return made

    def add(self, packet: Packet) -> bytes:
        """Adds a packet and returns the fragment that it completes, or b"". Times must rise."""
        # The header's edit list takes `delay` off again.
        time, shown = (packet.dts * self._unit + self._delay, packet.pts * self._unit + self._delay)
        duration = packet.duration * self._unit
        if self._delay:
            time = max(time, 0)
        if time < 0 or self._samples and time <= self._samples[-1][1]:
            raise ArgumentError(
                f"packet {packet.number}: time {packet.pts} does not come after the one before")
        done = b""
        if self._samples and (packet.is_key or time + duration - self._samples[0][1] > self._most):
            done = self._fragment(time)
        self._samples.append((sample_of(packet.data), time, duration, packet.is_key,
                              shown - time))
        return done + (self.finish() if self._most <= 0 else b"")

    def finish(self) -> bytes:
        """Returns the last fragment."""
        last = self._samples[-1] if self._samples else (b"", 0, 0, True, 0)
        return self._fragment(last[1] + last[2])


def check_fragment(fragment: float) -> None:
    """Raises ArgumentError unless `fragment` is seconds, 0 or more."""
    if not isinstance(fragment, (int, float, Fraction)) or not fragment >= 0:
        raise ArgumentError(f"fragment {fragment!r} is not a number of seconds, 0 or more")


def _traf(track: Track, samples: list[tuple[bytes, int, int, bool, int]], offset: int) -> bytes:
    entries = []
    has_offsets = any(sample[4] for sample in samples)
    for i, (data, time, duration, key, shown) in enumerate(samples):
        if i + 1 < len(samples):
            duration = samples[i + 1][1] - time
        entries.append(pack(">III", duration, len(data), _KEY if key else _NOT_KEY))
        if has_offsets:
            entries.append(pack(">I", shown))
    # Flags: data offset; each sample's duration, size and flags; composition time offset.
    trun = full(b"trun", 0, 0xF01 if has_offsets else 0x701,
                pack(">Ii", len(samples), offset), *entries)
    return box(b"traf", full(b"tfhd", 0, 0x20000, pack(">I", track.number)),
               full(b"tfdt", 1, 0, pack(">Q", samples[0][1])), trun)
