"""Paths of the package's own files, and bounded reading of files of unknown origin.

Only regular files are read, up to a limit of size. XML is checked for its depth and number of tags
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
"""Largest file of settings or parameters [bytes]; larger files are rejected."""

TABLE_LIMIT = 4 * 2**30
"""Largest table as text [bytes]; a day of an IMU at 100 Hz has 3.5 GB as ``rostopic echo -p``."""

BLOCK_SIZE = 2**20
"""Size of the blocks in which files are read [bytes]."""


class UnusableFileError(OSError):
    """A file of the wrong kind or size; the text is the end of a message."""


class _NonBlockingFile(io.FileIO):
    """A file that ends where no data are available, such as /proc/kmsg.

    Python returns None for a read that would block.
    """

    def readinto(self, buffer):
        return super().readinto(buffer) or 0

    def readall(self):
        return super().readall() or b""


def open_regular(path):
    """Open a regular file, or a link to a regular file, for binary reading.

    FIFOs, which block until there is a writer, and devices, which may never end, are rejected
    before they are opened.

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
    # Opening a device may have an effect: rewind a tape, take a terminal.
    _require_regular(os.stat(path))
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        # The file may have been replaced between the check and the opening.
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
    """Read the remainder of a file, up to a limit.

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
    # Reading in blocks allocates memory for existing data only.
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
    """Return the folder of the package's files: config.ini, config, urdf, data and others.

    Returns
    -------
    Path
        Root of the repository, if the library runs from its source or devel space; otherwise
        share/imu_simulation_framework of the install space.

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
    raise FrameworkError(f"the folder of the package {PACKAGE} was not found above {library}")


def plain_path(path) -> str:
    """Remove ``..`` and ``.`` from a path.

    Parameters
    ----------
    path : str or Path
        Absolute or relative path.

    Returns
    -------
    str
        The shortened path. Where a ``..`` follows a symbolic link, shortening would lead to
        another place; there it is the real path.
    """
    shortened, real = os.path.normpath(path), os.path.realpath(path)
    return shortened if os.path.realpath(shortened) == real else real


RECORDING_SUFFIXES = (
    *(".bag", ".db3", ".mcap", ".csv", ".tsv", ".txt", ".log", ".tum", ".gz", ".zst", ".zip"),
    *(".nmea", ".gpx", ".ubx", ".vbo", ".ulg", ".bin", ".mat", ".npy", ".npz", ".h5", ".hdf5"),
    *(".parquet", ".xlsx", ".json"),
)
"""Suffixes of recordings; other text after a point is a part of the name, as in a date."""


def recording_name(path) -> str:
    """Return the name of a recording's file or folder without its suffixes.

    Parameters
    ----------
    path : str or Path
        File or folder of the recording.

    Returns
    -------
    str
        Last part of the path without the suffixes of recordings and compression.
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
        File ``config.ini`` in the package's share folder.
    """
    return package_share() / "config.ini"


def urdf_path(name: str) -> Path:
    """Return the path of a file of the bundled robot description.

    Parameters
    ----------
    name : str
        Name of the file in the folder ``urdf``.

    Returns
    -------
    Path
        File in the package's share folder.
    """
    return package_share() / "urdf" / name


def drive_folder() -> Path:
    """Return the folder of the bundled drives and of those that are generated on first use.

    Returns
    -------
    Path
        The package's data folder if it is writable, otherwise a folder in ``ROS_HOME``, as in a
        system-wide installation.
    """
    bundled = package_share() / "data"
    if os.access(bundled, os.W_OK):
        return bundled
    home = os.environ.get("ROS_HOME") or Path.home() / ".ros"
    return Path(home) / PACKAGE


def format_json(value) -> str:
    """Format a value as the text of a JSON file.

    Parameters
    ----------
    value : object
        Value that :func:`to_json_types` converts.

    Returns
    -------
    str
        Indented JSON that ends with a newline.
    """
    return json.dumps(to_json_types(value), indent=2, allow_nan=False) + "\n"


def to_json_types(value):
    """Convert a value to the types of JSON.

    Parameters
    ----------
    value : object
        A value, nested to any depth.

    Returns
    -------
    dict, list, str, int, float, bool or None
        The value with Python's numbers in place of numpy's. Numbers that are not finite become
        None, values of other types become text.
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
"""Largest XML file [bytes], far above any description of a robot or an aircraft."""

MAX_TAGS = 200_000  #: elements of an XML file
MAX_DEPTH = 200  #: levels of tags; recursive parsers, such as JSBSim's, overflow their stack


class UnusableXmlError(ValueError):
    """XML that is rejected.

    Parameters
    ----------
    reason : str
        Text of the error, the end of a message.
    line : int
        Number of the line.
    """

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


def require_bounded_xml(content: bytes) -> None:
    """Check that XML is not too deeply nested, has a limited number of tags, and no entities.

    The check builds no tree, so its memory and recursion depth are constant. XML that is not
    well-formed passes; the parser that reads it afterwards reports the error.

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
            refuse(f"tags are nested more than {MAX_DEPTH} deep")
        if tags > MAX_TAGS:
            refuse(f"it has more than {MAX_TAGS} tags")

    def end(*_):
        nonlocal depth
        depth -= 1

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.EntityDeclHandler = lambda *_: refuse("entities are not read; remove them")
    if len(content) > XML_LIMIT:
        raise UnusableXmlError(f"it is larger than {XML_LIMIT // 2**20} MiB", 1)
    with suppress(expat.ExpatError, LookupError):  # LookupError: unknown encoding
        parser.Parse(content, True)
