"""Paths of the package's files, and reading of untrusted files within limits.

Only regular files are read, up to a size limit. The depth and the number of tags of XML are checked
before a parser builds a tree.
"""

import io
import json
import math
import os
import stat
from contextlib import suppress
from pathlib import Path
from xml.parsers import expat

import numpy as np

from .errors import FrameworkError
from .whole_files import describe_file_kind

SETTINGS_LIMIT = 16 * 2**20
"""Largest accepted size of a settings or parameter file [bytes]."""

TABLE_LIMIT = 4 * 2**30
"""Largest size of a text table [bytes]; ``rostopic echo -p`` writes 3.5 GB a day at 100 Hz."""

BLOCK_SIZE = 2**20
"""Block size for reading files [bytes]."""


class UnusableFileError(OSError):
    """A file has the wrong type or size; the message is a reason to append to the file's name."""


class _NonBlockingFile(io.FileIO):
    """Non-blocking file, such as /proc/kmsg, that ends where no further data are available.

    Python returns None for a read that would block.
    """

    def readinto(self, buffer):
        return super().readinto(buffer) or 0

    def readall(self):
        return super().readall() or b""


def open_regular(path):
    """Open a regular file, or a link to a regular file, for binary reading.

    FIFOs and devices are rejected before they are opened, because a FIFO blocks until there is a
    writer, and a device may have no end.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    io.BufferedReader
        The open file.

    Raises
    ------
    OSError
        The file cannot be opened, or is not a regular file.
    """
    # Opening a device can have side effects, such as rewinding a tape or seizing a terminal.
    _require_regular(os.stat(path))
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        # The file may have been replaced after the first check and before it was opened.
        _require_regular(os.fstat(descriptor))
        return io.BufferedReader(_NonBlockingFile(descriptor))
    except BaseException:
        os.close(descriptor)
        raise


def read_settings(path) -> str:
    """Read the text of a settings or parameter file.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    str

    Raises
    ------
    OSError
        The file cannot be read, is not a regular file, or exceeds :data:`SETTINGS_LIMIT`.
    UnicodeDecodeError
        The file is not encoded in UTF-8.
    """
    with open_regular(path) as file:
        return read_at_most(file, SETTINGS_LIMIT).decode("utf-8")


def read_at_most(file, limit) -> bytes:
    """Read the remainder of a file, up to a size limit.

    Parameters
    ----------
    file : binary file
        An open file.
    limit : int
        Largest number of bytes.

    Returns
    -------
    bytes
        The remainder of the file.

    Raises
    ------
    UnusableFileError
        The remainder exceeds the limit.
    """
    # Reading in blocks allocates memory for the actual data only, not for the size limit.
    blocks, size = [], 0
    for block in iter(lambda: file.read(BLOCK_SIZE), b""):
        size += len(block)
        if size > limit:
            raise UnusableFileError(f"it is larger than {format_size(limit)}")
        blocks.append(block)
    return b"".join(blocks)


def format_size(size) -> str:
    """Format a size with a binary unit, as in ``16 MiB``.

    Parameters
    ----------
    size : int
        Size [bytes].

    Returns
    -------
    str
        Size with three significant digits.
    """
    for unit in ("bytes", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.3g} {unit}"
        size /= 1024
    return f"{size:.3g} GiB"


def _require_regular(state) -> None:
    if not stat.S_ISREG(state.st_mode):
        raise UnusableFileError(f"it is {describe_file_kind(state.st_mode)}, not a regular file")


PACKAGE = "imu_simulation_framework"


def package_share() -> Path:
    """Return the folder that contains the package's files, such as config.ini, urdf and data.

    Returns
    -------
    Path
        Root of the repository if the library runs from its source or devel space, and
        share/imu_simulation_framework in the install space if it is installed.

    Raises
    ------
    FrameworkError
        Neither folder exists.
    """
    library = Path(__file__).resolve().parents[1]
    source = library.parents[1]
    if (source / "package.xml").is_file() and (source / "urdf").is_dir():
        return source
    # <prefix>/lib/python3*/{dist,site}-packages/imu_simulation_framework -> <prefix>/share
    for prefix in library.parents:
        share = prefix / "share" / PACKAGE
        if (share / "package.xml").is_file():
            return share
    raise FrameworkError(
        f"{library}: no folder above it contains the files of the package {PACKAGE}; reinstall the "
        "package"
    )


def plain_path(path) -> str:
    """Remove the components ``..`` and ``.`` from a path.

    Parameters
    ----------
    path : str or Path
        Absolute or relative path.

    Returns
    -------
    str
        The shortened path. If ``..`` follows a symbolic link, so that the shortened path would
        refer to another file, the result is the real path.
    """
    shortened, real = os.path.normpath(path), os.path.realpath(path)
    return shortened if os.path.realpath(shortened) == real else real


RECORDING_SUFFIXES = (
    *(".bag", ".db3", ".mcap", ".csv", ".tsv", ".txt", ".log", ".tum", ".gz", ".zst", ".zip"),
    *(".nmea", ".gpx", ".ubx", ".vbo", ".ulg", ".bin", ".mat", ".npy", ".npz", ".h5", ".hdf5"),
    *(".parquet", ".xlsx", ".json"),
)
"""File suffixes of recordings; other text after a dot belongs to the name, as in a date."""


def recording_name(path) -> str:
    """Return the name of a recording: the name of its file or folder, without suffixes.

    Parameters
    ----------
    path : str or Path
        File or folder of the recording.

    Returns
    -------
    str
        Last component of the path, without the suffixes of recordings and of compressed files.
    """
    name = Path(path).name
    while Path(name).suffix.lower() in RECORDING_SUFFIXES:
        name = Path(name).stem
    return name


def default_configuration_path() -> Path:
    """Return the path of the bundled config.ini.

    Returns
    -------
    Path
        The file ``config.ini`` in the package's share folder.
    """
    return package_share() / "config.ini"


DEFAULT_ROBOT = "robot.yaml"
"""File in the folder urdf with the parameters of the bundled robot."""


def urdf_path(name: str) -> Path:
    """Return the path of a file in the bundled robot description.

    Parameters
    ----------
    name : str
        Name of a file in the folder ``urdf``.

    Returns
    -------
    Path
        File in the package's share folder.
    """
    return package_share() / "urdf" / name


def drive_folder() -> Path:
    """Return the folder of the bundled drives and of the drives that are generated on first use.

    Returns
    -------
    Path
        The package's data folder if it is writable. If it is not, as in a system-wide
        installation, a folder in ``ROS_HOME``.
    """
    bundled = package_share() / "data"
    if os.access(bundled, os.W_OK):
        return bundled
    home = os.environ.get("ROS_HOME") or Path.home() / ".ros"
    return Path(home) / PACKAGE


def format_json(value) -> str:
    """Format a value as JSON text for a file.

    Parameters
    ----------
    value : object
        Any value that :func:`to_json_types` can convert.

    Returns
    -------
    str
        Indented JSON text, with a newline at its end.
    """
    return json.dumps(to_json_types(value), indent=2, allow_nan=False) + "\n"


def to_json_types(value):
    """Convert a value to types that JSON supports.

    Parameters
    ----------
    value : object
        A value, possibly nested.

    Returns
    -------
    dict, list, str, int, float, bool or None
        The value, with Python numbers instead of numpy numbers. Numbers that are not finite become
        None, and values of other types become strings.
    """
    if isinstance(value, dict):
        return {str(key): to_json_types(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json_types(item) for item in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    return value if value is None or isinstance(value, str) else str(value)


XML_LIMIT = 8 * 2**20
"""Largest size of an XML file [bytes]; robot and aircraft descriptions are far smaller."""

MAX_TAGS = 200_000  #: largest number of elements in an XML file
MAX_DEPTH = 200  #: largest depth of tags; deeper files overflow the stack of recursive parsers


class UnusableXmlError(ValueError):
    """XML text exceeds a limit or declares entities, and is therefore not parsed.

    Parameters
    ----------
    reason : str
        Text of the error, to be appended to a message.
    line : int
        Line number of the problem.
    """

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


def require_bounded_xml(content: bytes) -> None:
    """Check that XML text is not too large or nested too deeply, and declares no entities.

    The check builds no tree, so its memory and recursion depth are constant. XML text that is not
    well-formed is accepted here, since the parser that reads it afterwards reports the error.

    Parameters
    ----------
    content : bytes
        Content of a file.

    Raises
    ------
    UnusableXmlError
        The XML exceeds :data:`MAX_DEPTH`, :data:`MAX_TAGS` or :data:`XML_LIMIT`, or declares
        entities.
    """
    parser = expat.ParserCreate()
    depth = tags = 0

    def refuse(reason):
        raise UnusableXmlError(reason, parser.CurrentLineNumber)

    def start(*_):
        nonlocal depth, tags
        depth, tags = depth + 1, tags + 1
        if depth > MAX_DEPTH:
            refuse(f"tags are nested more than {MAX_DEPTH} levels deep")
        if tags > MAX_TAGS:
            refuse(f"it has more than {MAX_TAGS} tags")

    def end(*_):
        nonlocal depth
        depth -= 1

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.EntityDeclHandler = lambda *_: refuse("entities are not supported; remove them")
    if len(content) > XML_LIMIT:
        raise UnusableXmlError(f"it is larger than {XML_LIMIT // 2**20} MiB", 1)
    with suppress(expat.ExpatError, LookupError):  # LookupError: unknown encoding
        parser.Parse(content, True)
