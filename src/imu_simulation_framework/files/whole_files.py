"""Files that are written as a whole or not at all, and why that may fail."""

from __future__ import annotations

import errno
import io
import os
from contextlib import contextmanager, suppress
from pathlib import Path

from imu_simulation_framework.errors import ResultError


def write_whole(path, content):
    """Write a file so that it is there as a whole or not at all.

    Parameters
    ----------
    path : str or Path
        The file; an existing one is replaced.
    content : bytes

    Raises
    ------
    ResultError
        It cannot be written; the sentence says why and what to do.
    """
    with written_aside(path) as aside, open(aside, "wb") as file:
        file.write(content)


def make_folder(path) -> Path:
    """Make a folder, and those above it, if it is not there.

    Raises
    ------
    ResultError
        It cannot be made.
    """
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ResultError(f"{path}: cannot make this folder: {error.strerror}") from error
    return Path(path)


def picture(figure) -> bytes:
    """Return a matplotlib figure as the content of a PNG file, the same bytes each time."""
    content = io.BytesIO()
    # The program's version would be the only thing that differs between two machines' files.
    figure.savefig(content, format="png", metadata={"Software": None})
    return content.getvalue()


@contextmanager
def written_aside(path):
    """Give the name of a file to be written, which becomes ``path`` when the block has ended well.

    If it has not, nothing is left of what was written.

    Parameters
    ----------
    path : str or Path
        The file; an existing one is replaced.

    Raises
    ------
    ResultError
        It cannot be written; the sentence says why and what to do.
    """
    path = Path(path)
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        try:
            yield aside
            _sync(aside)
            os.replace(aside, path)
        except BaseException:
            # Also on KeyboardInterrupt: nothing half-written may stay.
            if aside.exists():
                aside.unlink()
            raise
    except OSError as error:
        raise ResultError(f"{path}: cannot be written: {reason_of(error)}") from error
    # Not every file system can force a new name to the disk.
    with suppress(OSError):
        _sync(path.parent)


def _sync(path):
    """Force a file, or a new name in a folder, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def reason_of(error) -> str:
    """Why a file could not be read or written, and what to do, for the end of a sentence."""
    if isinstance(error, UnicodeDecodeError):
        return "it is no UTF-8 text"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the disk is full or the quota used up; free space or choose another output folder"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"{os.strerror(error.errno)}; choose an output folder you may write to"
    return os.strerror(error.errno) if error.errno else str(error)
