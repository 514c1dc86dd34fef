"""Files that are written as a whole or not at all, and why that may fail."""

from __future__ import annotations

import errno
import os
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
    path = Path(path)
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        try:
            with open(aside, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(aside, path)
        except BaseException:
            # Also on KeyboardInterrupt: nothing half-written may stay.
            if aside.exists():
                aside.unlink()
            raise
        _sync_folder(path.parent)
    except OSError as error:
        raise ResultError(f"{path}: cannot be written: {reason_of(error)}") from error


def _sync_folder(folder):
    """Force the new name to the disk, where the file system can."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass
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
