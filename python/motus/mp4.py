"""Fragmented MP4 (ISO/IEC 14496-12, with H.264: 14496-15): a header, then fragments that can be
sent as soon as they are made."""
# SPDX-License-Identifier: BSD-2-Clause
from __future__ import annotations

from fractions import Fraction
from struct import pack

from ._errors import ArgumentError
from ._packet import Packet, nal_units

_SPS, _PPS = 7, 8
_MATRIX = pack(">9I", 0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)
_KEY, _NOT_KEY = 0x02000000, 0x01010000  # sample_depends_on, sample_is_non_sync_sample (8.8.3.1)
_LEAST_TIMESCALE = 10000  # players round times to it


def _box(name: bytes, *content: bytes) -> bytes:
    size = 8 + sum(map(len, content))
    return b"".join((pack(">I", size), name) + content)


def _full(name: bytes, version: int, flags: int, *content: bytes) -> bytes:
    return _box(name, pack(">I", version << 24 | flags), *content)


class Mp4Writer:
    """Writes an encoder's packets as fragmented MP4, in memory:

        mp4 = encoder.mp4()
        out.write(mp4.header())
        for packet in packets:
            out.write(mp4.add(packet))
        out.write(mp4.finish())

    fragment: seconds; each key picture begins a fragment. 0: a fragment a picture, for live
    streams. headers: SPS and PPS with start codes. colour: primaries, transfer, matrix (H.264
    tables E-3 to E-5) and full range, for a `colr` box."""

    def __init__(self, headers: bytes, width: int, height: int, time_base: Fraction, *,
                 colour: tuple[int, int, int, bool] | None = None, fragment: float = 1.0) -> None:
        units = nal_units(headers)
        self._sps = [u for u in units if u[0] & 31 == _SPS]
        self._pps = [u for u in units if u[0] & 31 == _PPS]
        if not self._sps or not self._pps or len(self._sps[0]) < 4:
            raise ArgumentError("these headers hold no SPS and PPS")
        factor = 1
        while time_base.denominator * factor < _LEAST_TIMESCALE:
            factor *= 2
        self.timescale = time_base.denominator * factor
        self._unit = time_base.numerator * factor  # of pts, in the time scale
        if self.timescale >= 1 << 32:
            raise ArgumentError(f"a time base of {time_base} is too fine")
        self.width, self.height, self._colour = width, height, colour
        self._most = fragment * self.timescale
        # The current fragment's samples: data, pts, duration, is a key picture.
        self._samples: list[tuple[bytes, int, int, bool]] = []
        self._sequence = 0

    # ---- Header --------------------------------------------------------------------------------

    def _sample_entry(self) -> bytes:
        sps, pps = ([pack(">H", len(u)) + u for u in units] for units in (self._sps, self._pps))
        head = pack(">B3sBB", 1, self._sps[0][1:4], 0xFF, 0xE0 | len(sps))
        avcc = _box(b"avcC", head, *sps, pack(">B", len(pps)), *pps)
        colr = b""
        if self._colour:
            *numbers, full = self._colour
            colr = _box(b"colr", b"nclx", pack(">HHHB", *numbers, full << 7))
        visual = pack(">6xH16xHHIIIH32xHh", 1, self.width, self.height, 0x480000, 0x480000, 0, 1,
                      24, -1)
        return _box(b"avc1", visual, avcc, colr, _box(b"pasp", pack(">II", 1, 1)))

    def header(self) -> bytes:
        """Returns ftyp and moov, which precede the first fragment."""
        empty = [_full(name, 0, 0, pack(">I", 0)) for name in (b"stts", b"stsc", b"stco")]
        stsd = _full(b"stsd", 0, 0, pack(">I", 1), self._sample_entry())
        stbl = _box(b"stbl", stsd, *empty, _full(b"stsz", 0, 0, pack(">II", 0, 0)))
        dref = _full(b"dref", 0, 0, pack(">I", 1), _full(b"url ", 0, 1))
        minf = _box(b"minf", _full(b"vmhd", 0, 1, pack(">8x")), _box(b"dinf", dref), stbl)
        mdhd = _full(b"mdhd", 0, 0, pack(">8xIIHH", self.timescale, 0, 0x55C4, 0))  # "und"
        hdlr = _full(b"hdlr", 0, 0, pack(">4x4s12x", b"vide"), b"motus\0")
        tkhd = _full(b"tkhd", 0, 3, pack(">8xI4xI8xHHHH", 1, 0, 0, 0, 0, 0), _MATRIX,
                     pack(">II", self.width << 16, self.height << 16))
        mvhd = _full(b"mvhd", 0, 0, pack(">8xIIIH10x", self.timescale, 0, 0x10000, 0x100), _MATRIX,
                     pack(">24xI", 2))
        mvex = _box(b"mvex", _full(b"trex", 0, 0, pack(">IIIII", 1, 1, 0, 0, 0)))
        trak = _box(b"trak", tkhd, _box(b"mdia", mdhd, hdlr, minf))
        ftyp = _box(b"ftyp", b"iso5", pack(">I", 512), b"iso5iso6avc1mp41")
        return ftyp + _box(b"moov", mvhd, trak, mvex)

    # ---- Fragments -----------------------------------------------------------------------------

    def _fragment(self) -> bytes:
        if not self._samples:
            return b""
        self._sequence += 1
        n, entries = len(self._samples), []
        for i, (data, pts, duration, key) in enumerate(self._samples):
            if i + 1 < n:
                duration = self._samples[i + 1][1] - pts
            entries.append(pack(">III", duration, len(data), _KEY if key else _NOT_KEY))

        def moof(offset: int) -> bytes:
            # Flags: data offset; each sample's duration, size and flags.
            trun = _full(b"trun", 0, 0x701, pack(">Ii", n, offset), *entries)
            traf = _box(b"traf", _full(b"tfhd", 0, 0x20000, pack(">I", 1)),
                        _full(b"tfdt", 1, 0, pack(">Q", self._samples[0][1])), trun)
            return _box(b"moof", _full(b"mfhd", 0, 0, pack(">I", self._sequence)), traf)

        size = len(moof(0))
        made = moof(size + 8) + _box(b"mdat", *(sample[0] for sample in self._samples))
        self._samples = []
        return made

    def add(self, packet: Packet) -> bytes:
        """Adds a packet and returns the fragment that it completes, or b"". Times must rise."""
        pts, duration = packet.pts * self._unit, packet.duration * self._unit
        if pts < 0 or self._samples and pts <= self._samples[-1][1]:
            raise ArgumentError(
                f"packet {packet.number}: time {packet.pts} does not come after the one before")
        done = b""
        if self._samples and (packet.is_key or pts + duration - self._samples[0][1] > self._most):
            done = self._fragment()
        units = (u for u in nal_units(packet.data) if u[0] & 31 not in (_SPS, _PPS))
        data = b"".join(pack(">I", len(u)) + u for u in units)
        self._samples.append((data, pts, duration, packet.is_key))
        return done + (self._fragment() if self._most <= 0 else b"")

    def finish(self) -> bytes:
        """Returns the last fragment."""
        return self._fragment()
