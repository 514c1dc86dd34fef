"""Files that are written as a whole or not at all, and why that may fail."""

import errno
import io
import os
import secrets
import shutil
import stat
from contextlib import contextmanager, suppress
from pathlib import Path

from .errors import ResultError


def write_whole(path, content):
    """Write a file so that it is there as a whole or not at all.

    ``path``: the file; an existing one is replaced. ``content`` (bytes). Raises
    :class:`.ResultError`: it cannot be written; the sentence says why and what to do.
    """
    with replace_file(path) as aside, open(aside, "wb") as file:
        file.write(content)


def make_folder(path) -> Path:
    """Make a folder, and those above it, if it is not there.

    Raises :class:`.ResultError`: it cannot be made.
    """
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ResultError(f"{path}: cannot make this folder: {error.strerror}") from error
    return Path(path)


_UNREPEATABLE = {
    "png": {"Software": None},
    "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
    "svg": {"Creator": None, "Date": None},
}
"""What would differ between the files of two machines or days: program, version, date."""
FIGURE_FORMATS = tuple(_UNREPEATABLE)


def render_figure(figure, format="png") -> bytes:
    """Return a matplotlib figure as the content of a file, the same bytes each time.

    ``figure`` (Figure). ``format``: ``png``, ``pdf`` or ``svg``.
    """
    # Whoever has a figure has loaded it; nodes without figures shall not.
    import matplotlib

    content = io.BytesIO()
    # The names of an SVG's parts are random otherwise.
    with matplotlib.rc_context({"svg.hashsalt": "figure"}):
        figure.savefig(content, format=format, metadata=_UNREPEATABLE[format])
    return content.getvalue()


@contextmanager
def replace_file(path):
    """Give the name of a file to be written, which becomes ``path`` when the block has ended well.

    If it has not, nothing is left of what was written.

    ``path``: the file. An existing one is replaced by one of the same mode and owner. Raises
    :class:`.ResultError`: it cannot be written; the sentence says why and what to do. What is
    there, but no regular file (a folder, a device, a FIFO, a link), is left alone.
    """
    path = Path(path)
    try:
        before = _replaceable(path)
        # A folder that no other user may enter, of a name that was unknown before: no link can wait
        # in it, and the file gets the mode of any new file.
        folder = path.parent / f".{secrets.token_hex(16)}.part"
        try:
            os.mkdir(folder, 0o700)
            aside = folder / "whole"
            yield aside
            _sync(aside)
            if before is not None:
                _take_after(aside, before)
            os.replace(aside, path)
        finally:
            # Also on KeyboardInterrupt: nothing half-written may stay.
            _remove(folder)
    except OSError as error:
        raise ResultError(f"{path}: cannot be written: {explain_file_error(error)}") from error
    # Not every file system can force a new name to the disk.
    with suppress(OSError):
        _sync(path.parent)


def refuse_overwriting(path, inputs):
    """Refuse to write a result over what it is made from.

    ``path``: where the result is to go. ``inputs`` (iterable of str or Path): what the tool reads.
    Raises :class:`.ResultError`: it is one of them, by whatever name.
    """
    for source in inputs:
        # What is not there, or cannot be looked at, is not overwritten either.
        with suppress(OSError):
            if os.path.samefile(path, source):
                raise ResultError(
                    f"{path}: this is the input {source} itself; choose another name for the output"
                )


def describe_file_kind(mode) -> str:
    """Return what a file is that is no regular one, in words, by its ``st_mode``."""
    return next((words for test, words in _KINDS if test(mode)), "no file of a known kind")


_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a FIFO (named pipe)"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISLNK, "a link"),
)


def _replaceable(path):
    """Return the state of the regular file that is there, None if nothing is."""
    try:
        state = os.lstat(path)
    except FileNotFoundError:
        return None
    if stat.S_ISREG(state.st_mode):
        return state
    kind = describe_file_kind(state.st_mode)
    if stat.S_ISLNK(state.st_mode):
        kind = f"a link to {os.readlink(path)}"
    raise ResultError(
        f"{path}: is {kind}, and only a regular file is replaced; choose another name"
    )


def _take_after(path, before):
    """Give a file the owner and the mode of the one that it is to replace."""
    now = os.stat(path)
    if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        # Only root may give files away.
        with suppress(PermissionError):
            os.chown(path, before.st_uid, before.st_gid)
    os.chmod(path, stat.S_IMODE(before.st_mode))


def _remove(folder):
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except KeyboardInterrupt:
        # A signal in this very moment.
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _sync(path):
    """Force a file, or a new name in a folder, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def explain_file_error(error) -> str:
    """Return why a file could not be read or written, and what to do, for the end of a sentence."""
    if isinstance(error, UnicodeDecodeError):
        return "it is no UTF-8 text"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the disk is full or the quota used up; free space or choose another output folder"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"{os.strerror(error.errno)}; choose an output folder you may write to"
    return os.strerror(error.errno) if error.errno else str(error)
