"""Reading files that anybody may have put there: regular ones only, and not without a limit."""

from __future__ import annotations

import io
import os
import stat

from imu_simulation_framework.files.whole_files import kind_of

SETTINGS_LIMIT = 16 * 2**20
"""Bytes of a file of settings or parameters; more is no such file."""

TABLE_LIMIT = 4 * 2**30
"""Bytes of a table as text, which is read as a whole: a day of an IMU at 100 Hz has 3.5 GB as
``rostopic echo -p`` prints it."""

BLOCK = 2**20
"""Bytes that are read at once."""


class UnusableFileError(OSError):
    """A file that cannot be read because of what it is; its text ends a sentence."""


class _Unwaited(io.FileIO):
    """A file that ends where nothing is to be read.

    One of the kernel's may have nothing to say yet, like /proc/kmsg. Read without waiting, Python
    gives None for that.
    """

    def readinto(self, buffer):
        return super().readinto(buffer) or 0

    def readall(self):
        return super().readall() or b""


def open_regular(path):
    """Open a regular file, or a link to one, for reading bytes.

    Opening a FIFO would wait for somebody to write into it, and a device like /dev/zero never
    ends; both are refused before that.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    binary file

    Raises
    ------
    OSError
        It cannot be opened, or is no regular file.
    """
    # Opening a device may already do something: rewind a tape, take a terminal.
    _require_regular(os.stat(path))
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        # Somebody may have put another file there meanwhile.
        _require_regular(os.fstat(descriptor))
        return io.BufferedReader(_Unwaited(descriptor))
    except BaseException:
        os.close(descriptor)
        raise


def read_settings(path) -> str:
    """Return the text of a file of settings or parameters, which is small.

    Raises
    ------
    OSError
        It cannot be read, is no regular file, or is larger than any such file.
    UnicodeDecodeError
        It is no text in UTF-8.
    """
    with open_regular(path) as file:
        return read_at_most(file, SETTINGS_LIMIT).decode("utf-8")


def read_at_most(file, limit) -> bytes:
    """Return all that is left in a file.

    Parameters
    ----------
    file : binary file
    limit : int
        Bytes.

    Raises
    ------
    OSError
        It is more than the limit.
    """
    # Block by block: memory is only taken for what is there.
    blocks, size = [], 0
    for block in iter(lambda: file.read(BLOCK), b""):
        size += len(block)
        if size > limit:
            raise UnusableFileError(f"it is larger than {size_text(limit)}")
        blocks.append(block)
    return b"".join(blocks)


def size_text(size) -> str:
    """Return a size as a person writes it, like ``16 MiB``."""
    for unit in ("bytes", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.3g} {unit}"
        size /= 1024
    return f"{size:.3g} GiB"


def _require_regular(state) -> None:
    if not stat.S_ISREG(state.st_mode):
        raise UnusableFileError(f"it is {kind_of(state.st_mode)}, not a regular file")
