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
    with replace_file(path) as temporary_path, open(temporary_path, "wb") as file:
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
        The folder cannot be created.
    """
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ResultError(f"{path}: the folder cannot be created: {error.strerror}") from error
    return Path(path)


# These metadata (program, version and date) differ between machines or between days.
_OMITTED_METADATA = {
    "png": {"Software": None},
    "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
    "svg": {"Creator": None, "Date": None},
}

FIGURE_FORMATS = tuple(_OMITTED_METADATA)
"""Supported figure formats, as file suffixes."""


def render_figure(figure, format="png") -> bytes:
    """Render a figure reproducibly: identical figures yield identical bytes.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Figure to render.
    format : str, optional
        A format in :data:`FIGURE_FORMATS`.

    Returns
    -------
    bytes
        Content of the file.
    """
    # Imported on first use, so that nodes without figures do not load matplotlib.
    import matplotlib

    content = io.BytesIO()
    # Without a fixed salt, the identifiers in an SVG file are random.
    with matplotlib.rc_context({"svg.hashsalt": "figure"}):
        figure.savefig(content, format=format, metadata=_OMITTED_METADATA[format])
    return content.getvalue()


@contextmanager
def replace_file(path):
    """Replace a file with a temporary file that is written in the ``with`` block.

    The temporary file is renamed to ``path`` at the end of the block. It is removed if the block
    raises an exception.

    Parameters
    ----------
    path : str or Path
        The file to replace or create. A replaced file's mode and owner are preserved.

    Yields
    ------
    Path
        The temporary file, which the block must write.

    Raises
    ------
    ResultError
        The file cannot be written; the message contains the reason and a remedy. A folder, a
        device, a FIFO and a link are never replaced.
    """
    path = Path(path)
    try:
        status = _stat_replaceable(path)
        # Other users can neither enter nor predict this folder, so they cannot plant a link in it.
        # A file that is created in the folder gets the default mode of new files.
        folder = path.parent / f".{secrets.token_hex(16)}.part"
        try:
            os.mkdir(folder, 0o700)
            temporary_path = folder / "whole"
            yield temporary_path
            _sync(temporary_path)
            if status is not None:
                _copy_owner_and_mode(temporary_path, status)
            os.replace(temporary_path, path)
        finally:
            # The unfinished file is also removed on KeyboardInterrupt.
            _remove(folder)
    except OSError as error:
        raise ResultError(f"{path}: cannot be written: {explain_file_error(error)}") from error
    # Some file systems do not support fsync on folders.
    with suppress(OSError):
        _sync(path.parent)


def refuse_overwriting(path, inputs):
    """Check that a result file does not overwrite an input file.

    Parameters
    ----------
    path : str or Path
        File of the result.
    inputs : iterable of str or Path
        Files that the program reads.

    Raises
    ------
    ResultError
        The result and an input are the same file, possibly through links.
    """
    for source in inputs:
        # A file that does not exist or cannot be accessed cannot be overwritten either.
        with suppress(OSError):
            if os.path.samefile(path, source):
                raise ResultError(
                    f"{path}: this is the input file {source}; choose another name for the output"
                )


def describe_file_kind(mode) -> str:
    """Describe the type of a file that is not regular, such as "a folder".

    Parameters
    ----------
    mode : int
        Mode of the file, as in ``st_mode``.

    Returns
    -------
    str
        Noun with its article.
    """
    return next(
        (description for test, description in _KINDS if test(mode)), "a file of unknown type"
    )


_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a FIFO (named pipe)"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISLNK, "a link"),
)


def _stat_replaceable(path):
    """Return the status of a regular file, or None if the file does not exist."""
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
        f"{path}: is {kind}, expected a regular file or a new name; choose another name"
    )


def _copy_owner_and_mode(path, status):
    """Set the owner and the mode of a file to those of the file that it replaces."""
    now = os.stat(path)
    if (now.st_uid, now.st_gid) != (status.st_uid, status.st_gid):
        # Only root can change the owner.
        with suppress(PermissionError):
            os.chown(path, status.st_uid, status.st_gid)
    os.chmod(path, stat.S_IMODE(status.st_mode))


def _remove(folder):
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except KeyboardInterrupt:
        # If a signal has interrupted the removal, it is repeated.
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
        Error raised while opening, reading or writing a file.

    Returns
    -------
    str
        Reason and, if there is one, remedy, to be appended to a message.
    """
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the disk is full or the quota exceeded; free space or choose another output folder"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"{os.strerror(error.errno)}; choose a writable output folder"
    return os.strerror(error.errno) if error.errno else str(error)
