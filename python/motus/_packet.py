"""Coded pictures and their NAL units."""
# SPDX-License-Identifier: BSD-2-Clause
from __future__ import annotations

from dataclasses import dataclass, field
from math import log10

import numpy as np


@dataclass(frozen=True)
class Packet:
    """A coded picture: an access unit with start codes (Annex B); a key picture begins with its
    parameter sets."""
    data: bytes
    number: int  # of the picture in display order, from 0
    pts: int  # in units of the encoder's time_base, as `duration`
    duration: int
    is_key: bool
    type: str  # "I", "P" or "B"
    qp: int
    mean_qp: float
    ssd: tuple[int, int, int]  # squared differences from the source frame: Y, Cb, Cr; with measure
    luma_samples: int
    dts: int  # decoding time, as `pts`; rises from packet to packet, at most pts
    # With keep_mvs: a structured array with the fields x, y, w, h, mv_x, mv_y (quarter samples),
    # skip, list and distance (pictures to the reference); none of intra macroblocks.
    mvs: np.ndarray | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        return (f"<motus.Packet {self.number}: {self.type}{', key' if self.is_key else ''}, "
                f"{len(self.data)} bytes, QP {self.qp}, pts {self.pts}>")

    @property
    def psnr(self) -> float:
        """PSNR of luma in dB, 100 if nothing differs or nothing was measured."""
        return 10 * log10(255 * 255 * self.luma_samples / self.ssd[0]) if self.ssd[0] else 100.0


def nal_units(stream: bytes) -> list[bytes]:
    """Splits a byte stream at its start codes. Zeros before a start code belong to it, since a NAL
    unit never ends in a zero byte (7.4.1)."""
    return [unit for unit in (piece.rstrip(b"\0") for piece in stream.split(b"\0\0\1")) if unit]
