"""Atomic writing of files, and explanations of file errors."""

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
    """Write a file atomically: either completely or not at all.

    Parameters
    ----------
    path : str or Path
        The file; an existing one is replaced.
    content : bytes
        Content of the file.

    Raises
    ------
    ResultError
        The file cannot be written; the message contains the reason and a remedy.
    """
    with replace_file(path) as aside, open(aside, "wb") as file:
        file.write(content)


def make_folder(path) -> Path:
    """Create a folder and its parents, unless it exists.

    Parameters
    ----------
    path : str or Path
        The folder.

    Returns
    -------
    Path

    Raises
    ------
    ResultError
        The folder cannot be made.
    """
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ResultError(f"{path}: cannot create this folder: {error.strerror}") from error
    return Path(path)


# Metadata that differ between machines or days: program, version and date.
_OMITTED_METADATA = {
    "png": {"Software": None},
    "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
    "svg": {"Creator": None, "Date": None},
}

FIGURE_FORMATS = tuple(_OMITTED_METADATA)
"""Figure formats, as file suffixes."""


def render_figure(figure, format="png") -> bytes:
    """Render a figure reproducibly: identical figures yield identical bytes.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Picture to write.
    format : str, optional
        Format, of :data:`FIGURE_FORMATS`.

    Returns
    -------
    bytes
        Content of the file.
    """
    # Nodes without figures do not load matplotlib.
    import matplotlib

    content = io.BytesIO()
    # Identifiers in an SVG are random without a salt.
    with matplotlib.rc_context({"svg.hashsalt": "figure"}):
        figure.savefig(content, format=format, metadata=_OMITTED_METADATA[format])
    return content.getvalue()


@contextmanager
def replace_file(path):
    """Replace a file by a temporary file that the block writes.

    The temporary file becomes ``path`` at the end of the block. It is removed if the block raises.

    Parameters
    ----------
    path : str or Path
        The file. The new file has the mode and the owner of an existing one.

    Yields
    ------
    Path
        The temporary file, which the block has to write.

    Raises
    ------
    ResultError
        The file cannot be written; the message contains the reason and a remedy. A folder, a
        device, a FIFO and a link are never replaced.
    """
    path = Path(path)
    try:
        status = _stat_replaceable(path)
        # No other user can enter the folder or predict its name, so no link can be planted in it;
        # and the file gets the mode of any new file.
        folder = path.parent / f".{secrets.token_hex(16)}.part"
        try:
            os.mkdir(folder, 0o700)
            aside = folder / "whole"
            yield aside
            _sync(aside)
            if status is not None:
                _copy_owner_and_mode(aside, status)
            os.replace(aside, path)
        finally:
            # Unfinished files are removed on KeyboardInterrupt as well.
            _remove(folder)
    except OSError as error:
        raise ResultError(f"{path}: cannot be written: {explain_file_error(error)}") from error
    # Some file systems cannot synchronise folders.
    with suppress(OSError):
        _sync(path.parent)


def refuse_overwriting(path, inputs):
    """Check that a result does not overwrite an input.

    Parameters
    ----------
    path : str or Path
        File of the result.
    inputs : iterable of str or Path
        Files that the program reads.

    Raises
    ------
    ResultError
        The result and an input are the same file, also through links.
    """
    for source in inputs:
        # A file that does not exist or cannot be examined cannot be overwritten either.
        with suppress(OSError):
            if os.path.samefile(path, source):
                raise ResultError(
                    f"{path}: this is the input {source} itself; choose another name for the output"
                )


def describe_file_kind(mode) -> str:
    """Describe the kind of a file that is not regular, as in "a folder".

    Parameters
    ----------
    mode : int
        Mode of the file, ``st_mode``.

    Returns
    -------
    str
        Noun with article.
    """
    return next((words for test, words in _KINDS if test(mode)), "a file of unknown type")


_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a FIFO (named pipe)"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISLNK, "a link"),
)


def _stat_replaceable(path):
    """Return the status of a regular file, None if there is no file."""
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


def _copy_owner_and_mode(path, status):
    """Set the owner and the mode of a file to those of the file that it replaces."""
    now = os.stat(path)
    if (now.st_uid, now.st_gid) != (status.st_uid, status.st_gid):
        # Only root may change the owner.
        with suppress(PermissionError):
            os.chown(path, status.st_uid, status.st_gid)
    os.chmod(path, stat.S_IMODE(status.st_mode))


def _remove(folder):
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except KeyboardInterrupt:
        # The signal has interrupted the removal.
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _sync(path):
    """Flush a file or a folder to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def explain_file_error(error) -> str:
    """Explain why a file cannot be read or written.

    Parameters
    ----------
    error : OSError or UnicodeDecodeError
        Error of opening, reading or writing a file.

    Returns
    -------
    str
        Reason and, if there is one, remedy: the end of a message.
    """
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the disk is full or the quota exhausted; free space or choose another output folder"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"{os.strerror(error.errno)}; choose a writable output folder"
    return os.strerror(error.errno) if error.errno else str(error)
