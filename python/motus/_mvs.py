"""Motion vectors of coded pictures as arrays with the columns of `motus encode --mvs`."""
# SPDX-License-Identifier: BSD-2-Clause
from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from . import _lib
from ._errors import ArgumentError

_C = _lib.CodedMv
# Column, type, place in MotusCodedMv.
_COLUMNS: list[tuple[str, str, int]] = [
    ("x", "<u2", _C.x.offset), ("y", "<u2", _C.y.offset), ("mv_x", "<i2", _C.mv.offset),
    ("mv_y", "<i2", _C.mv.offset + 2), ("w", "u1", _C.width.offset), ("h", "u1", _C.height.offset),
    ("skip", "u1", _C.skip.offset), ("list", "u1", _C.list.offset),
    ("distance", "<i2", _C.distance.offset)]
_NOT_READ = ("skip", "list")
_DTYPE = np.dtype({"names": [c[0] for c in _COLUMNS], "formats": [c[1] for c in _COLUMNS],
                   "offsets": [c[2] for c in _COLUMNS], "itemsize": ctypes.sizeof(_C)})


def coded_of(table: Any) -> np.ndarray:
    """Returns the library's array of a table."""
    table = np.asarray(table)
    needed = [name for name, *_ in _COLUMNS if name not in _NOT_READ]
    missing = sorted(set(needed) - set(table.dtype.names or ()))
    if missing or table.ndim != 1:
        raise ArgumentError(f"mvs: a one-dimensional structured array with the fields "
                            f"{', '.join(needed)}; missing: {', '.join(missing) or 'none'}")
    coded = np.zeros(table.size, _DTYPE)
    for name in needed:
        coded[name] = table[name]
        if not np.array_equal(coded[name], table[name]):
            raise ArgumentError(f"mvs: values of {name} are no whole numbers of its range")
    return coded


def table_of(packet: _lib.Packet) -> np.ndarray:
    """Returns a copy of a packet's MVs."""
    size = packet.n_mvs * ctypes.sizeof(_C)
    return np.frombuffer(ctypes.string_at(packet.mvs, size) if size else b"", _DTYPE)
