"""Boxes of MP4 (ISO/IEC 14496-12; H.264: 14496-15, AAC: 14496-14) that files with and without
fragments share."""
# SPDX-License-Identifier: BSD-2-Clause
from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from struct import pack

from ._errors import ArgumentError
from ._packet import nal_units

_SPS, _PPS = 7, 8
_HIGH = (100, 110, 122, 144)  # profile_idc whose avcC has more fields
_MATRIX = pack(">9I", 0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)
_LEAST_TIMESCALE = 10000  # players round times to it


def box(name: bytes, *content: bytes) -> bytes:
    size = 8 + sum(map(len, content))
    return b"".join((pack(">I", size), name) + content)


def full(name: bytes, version: int, flags: int, *content: bytes) -> bytes:
    return box(name, pack(">I", version << 24 | flags), *content)


def sample_of(access_unit: bytes) -> bytes:
    """Returns an access unit with lengths in place of start codes, without parameter sets."""
    units = (u for u in nal_units(access_unit) if u[0] & 31 not in (_SPS, _PPS))
    return b"".join(pack(">I", len(u)) + u for u in units)


@dataclass(frozen=True)
class Track:
    """A track's constants. `delay`: samples of audio before its time 0."""
    number: int
    timescale: int
    entry: bytes  # of its sample description
    width: int = 0
    height: int = 0
    delay: int = 0

    @property
    def is_video(self) -> bool:
        return self.width > 0


def timescale_of(time_base: Fraction) -> tuple[int, int]:
    """Returns a time scale, and the time base in its units."""
    factor = 1
    while time_base.denominator * factor < _LEAST_TIMESCALE:
        factor *= 2
    if time_base.denominator * factor >= 1 << 32:
        raise ArgumentError(f"a time base of {time_base} is too fine")
    return time_base.denominator * factor, time_base.numerator * factor


def video_entry(headers: bytes, width: int, height: int,
                colour: tuple[int, int, int, bool] | None) -> bytes:
    units = nal_units(headers)
    all_sps = [u for u in units if u[0] & 31 == _SPS]
    all_pps = [u for u in units if u[0] & 31 == _PPS]
    if not all_sps or not all_pps or len(all_sps[0]) < 4:
        raise ArgumentError("these headers hold no SPS and PPS")
    sps, pps = ([pack(">H", len(u)) + u for u in sets] for sets in (all_sps, all_pps))
    head = pack(">B3sBB", 1, all_sps[0][1:4], 0xFF, 0xE0 | len(sps))
    # From High on: 4:2:0, 8 bits of luma and chroma, no extensions of the SPS.
    more = b"\xfd\xf8\xf8\0" if all_sps[0][1] in _HIGH else b""
    avcc = box(b"avcC", head, *sps, pack(">B", len(pps)), *pps, more)
    colr = b""
    if colour:
        *numbers, full_range = colour
        colr = box(b"colr", b"nclx", pack(">HHHB", *numbers, full_range << 7))
    visual = pack(">6xH16xHHIIIH32xHh", 1, width, height, 0x480000, 0x480000, 0, 1, 24, -1)
    return box(b"avc1", visual, avcc, colr, box(b"pasp", pack(">II", 1, 1)))


def audio_entry(rate: int, channels: int, config: bytes) -> bytes:
    """config: AudioSpecificConfig of AAC (ISO/IEC 14496-3)."""

    def descriptor(tag: int, content: bytes) -> bytes:
        return pack(">BB", tag, len(content)) + content

    decoder = pack(">BB3xII", 0x40, 0x15, 0, 0) + descriptor(5, config)
    es = pack(">HB", 0, 0) + descriptor(4, decoder) + descriptor(6, b"\2")
    sound = pack(">6xH8xHHHHI", 1, channels, 16, 0, 0, (rate if rate < 1 << 16 else 0) << 16)
    return box(b"mp4a", sound, full(b"esds", 0, 0, descriptor(3, es)))


def stbl(track: Track, *tables: bytes) -> bytes:
    return box(b"stbl", full(b"stsd", 0, 0, pack(">I", 1), track.entry), *tables)


def _wide(duration: int) -> tuple[int, str, str]:
    """Returns version, and the formats of two dates and of a duration."""
    return (1, "16x", "Q") if duration >> 32 else (0, "8x", "I")


def trak(track: Track, duration: int, media_duration: int, tables: bytes) -> bytes:
    """duration: in the movie's time scale; both are 0 in fragmented files."""
    volume, handler = (0, b"vide") if track.is_video else (0x100, b"soun")
    version, dates, time = _wide(duration)
    head = full(b"tkhd", version, 3, pack(f">{dates}I4x{time}8xHHHH", track.number, duration, 0, 0,
                                          volume, 0),
                _MATRIX, pack(">II", track.width << 16, track.height << 16))
    edits = b""
    if track.delay:
        edits = box(b"edts", full(b"elst", 1, 0, pack(">IQqHH", 1, duration, track.delay, 1, 0)))
    version, dates, time = _wide(media_duration)
    mdhd = full(b"mdhd", version, 0,
                pack(f">{dates}I{time}HH", track.timescale, media_duration, 0x55C4, 0))  # "und"
    hdlr = full(b"hdlr", 0, 0, pack(">4x4s12x", handler), b"motus\0")
    dref = full(b"dref", 0, 0, pack(">I", 1), full(b"url ", 0, 1))
    kind = full(b"vmhd", 0, 1, pack(">8x")) if track.is_video else full(b"smhd", 0, 0, pack(">4x"))
    minf = box(b"minf", kind, box(b"dinf", dref), tables)
    return box(b"trak", head, edits, box(b"mdia", mdhd, hdlr, minf))


def mvhd(timescale: int, duration: int, next_track: int) -> bytes:
    version, dates, time = _wide(duration)
    return full(b"mvhd", version, 0,
                pack(f">{dates}I{time}IH10x", timescale, duration, 0x10000, 0x100), _MATRIX,
                pack(">24xI", next_track))
