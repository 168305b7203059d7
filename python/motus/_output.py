"""Output files as `motus encode` writes them: a temporary file beside the final name, which it gets
once it is complete. Pipes and devices are written directly."""
# SPDX-License-Identifier: BSD-2-Clause
from __future__ import annotations

import errno
import fcntl
import io
import os
import re
import secrets
import stat
from contextlib import contextmanager, suppress
from typing import IO, Any, Iterator

_MARK, _ENDING = ".motus-", ".part"
_LINKS = 40  # to follow, as the kernel does
_PREFIX = 200  # most bytes of the output's name: a file name may have 255


def _own_descriptor(path: str) -> int | None:
    """Returns the number of the descriptor that a name such as /dev/stdout or /dev/fd/5 stands
    for."""
    own = re.compile(rf"/proc/{os.getpid()}(?:/task/\d+)?/fd/(\d+)")
    for _ in range(_LINKS):
        folder, name = os.path.split(path)
        path = os.path.join(os.path.realpath(folder), name)
        if match := own.fullmatch(path):
            return int(match[1])
        if not os.path.islink(path):
            break
        path = os.path.join(os.path.dirname(path), os.readlink(path))
    return None


def is_direct(path: str) -> bool:
    """True for a pipe, a device, an open descriptor, or another thing that no file may replace."""
    try:
        return not stat.S_ISREG(os.stat(path).st_mode) or _own_descriptor(path) is not None
    except OSError:
        return False


class _Named(io.FileIO):
    """An open file. Errors of writes name the output."""

    def __init__(self, handle: int, mode: str, path: str) -> None:
        super().__init__(handle, mode)
        self._path = path

    def write(self, data: Any) -> int:
        try:
            return os.write(self.fileno(), data)
        except OSError as error:
            error.filename = self._path
            raise


class _Direct(_Named):
    """A pipe or device. Each piece is written at once."""

    def write(self, data: bytes) -> int:
        view = memoryview(data)
        while view:
            view = view[super().write(view):]
        return len(data)


def _is_locked(path: str) -> bool:
    """True if another job holds the lock of this file, and so is writing it."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno == errno.EWOULDBLOCK
    finally:
        os.close(handle)
    return False


def _prefix(name: str) -> str:
    """Returns the beginning of the temporary files for a name."""
    return os.fsdecode(os.fsencode(name)[:_PREFIX]) + _MARK


def _refuse_another_job(target: str) -> None:
    folder, name = os.path.split(target)
    part = re.compile(re.escape(_prefix(name)) + r"[0-9a-f]{12}" + re.escape(_ENDING))
    beside = [entry for entry in os.listdir(folder) if part.fullmatch(entry)]
    if any(_is_locked(path) for path in (target, *(os.path.join(folder, e) for e in beside))):
        raise BlockingIOError(errno.EBUSY, "another job is writing this file", target)


def _create(target: str) -> tuple[str, int]:
    """Creates the temporary file, with the permissions of the file that it will replace, or a new
    file's."""
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, _prefix(name) + secrets.token_hex(6) + _ENDING)
    try:
        handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise OSError(error.errno, os.strerror(error.errno or 0), target) from None
    with suppress(OSError):  # a file system without locks
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with suppress(FileNotFoundError):
        old = os.stat(target)
        with suppress(PermissionError):  # not allowed: it keeps its owner
            os.fchown(handle, old.st_uid, old.st_gid)
        with suppress(PermissionError):
            os.fchmod(handle, old.st_mode & 0o777)
    return temporary, handle


def _rename(file: IO[bytes], temporary: str, target: str) -> None:
    """Makes the data durable, then the name."""
    file.flush()
    os.fsync(file.fileno())
    os.replace(temporary, target)
    with suppress(OSError):  # a folder that may not be read, a file system without fsync
        folder = os.open(os.path.dirname(target), os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@contextmanager
def open_output(path: str) -> Iterator[IO[bytes]]:
    """Opens a pipe or device, or a temporary file that becomes `path` at the end. Symbolic links
    are followed, permissions kept. After an exception the temporary file is deleted."""
    if is_direct(path):
        number = _own_descriptor(path)
        handle = os.open(path, os.O_WRONLY | os.O_CLOEXEC) if number is None else os.dup(number)
        with _Direct(handle, "w", path) as direct:
            yield direct  # type: ignore[misc]
        return
    target = os.path.realpath(path)
    if os.path.islink(target):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
    if os.path.exists(target) and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    if os.access(os.path.dirname(target), os.R_OK):
        _refuse_another_job(target)
    temporary, handle = _create(target)
    try:
        with io.BufferedRandom(_Named(handle, "w+", path)) as file:
            yield file  # type: ignore[misc]
            _rename(file, temporary, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
