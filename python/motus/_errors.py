"""The library's errors as exceptions."""
# SPDX-License-Identifier: BSD-2-Clause
from __future__ import annotations

import sys


class Error(RuntimeError):
    """An error of libmotus; `status` is its MotusStatus, the text is the library's."""

    def __init__(self, text: str, status: int = 0) -> None:
        super().__init__(text)
        self.status = status


class ArgumentError(Error, ValueError):
    """A parameter out of range (MOTUS_ERR_ARGUMENT)."""


class UnsupportedError(Error, NotImplementedError):
    """Valid, but not in this build or version (MOTUS_ERR_UNSUPPORTED)."""


class OutOfMemoryError(Error, MemoryError):
    """MOTUS_ERR_MEMORY."""


class StateError(Error):
    """A call out of order, such as a frame after the end (MOTUS_ERR_STATE)."""


class DeviceError(Error):
    """No usable CUDA device, or a failure of one (MOTUS_ERR_NO_DEVICE, MOTUS_ERR_CUDA)."""


_BY_STATUS = {-1: ArgumentError, -2: OutOfMemoryError, -3: UnsupportedError, -7: StateError,
              -8: DeviceError, -9: DeviceError}


def error_of(status: int, text: str) -> Error:
    return _BY_STATUS.get(status, Error)(text, status)


def callers_level() -> int:
    """Returns the stack level, seen from this function's caller, of the code that uses the
    package."""
    level, frame = 0, sys._getframe(1)
    while frame and str(frame.f_globals.get("__name__")).split(".")[0] == "motus":
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    return level + 1
