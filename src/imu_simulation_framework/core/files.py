"""Files: where the package's own are, and reading those that anybody may have put there.

Those are read only if they are regular ones, and not without a limit; XML is bounded before a
parser makes anything of it.
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
"""Bytes of a file of settings or parameters; more is no such file."""

TABLE_LIMIT = 4 * 2**30
"""Bytes of a table as text, which is read as a whole: a day of an IMU at 100 Hz has 3.5 GB as
``rostopic echo -p`` prints it."""

BLOCK_SIZE = 2**20
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
    """Open a regular file, or a link to one, as a binary file to read.

    Opening a FIFO would wait for somebody to write into it, and a device like /dev/zero never
    ends; both are refused before that.

    Raises OSError: it cannot be opened, or is no regular file.
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

    Raises OSError: it cannot be read, is no regular file, or is larger than any such file;
    UnicodeDecodeError: it is no text in UTF-8.
    """
    with open_regular(path) as file:
        return read_at_most(file, SETTINGS_LIMIT).decode("utf-8")


def read_at_most(file, limit) -> bytes:
    """Return all that is left in a file.

    ``file`` (binary file). ``limit``: bytes. Raises OSError: it is more than the limit.
    """
    # Block by block: memory is only taken for what is there.
    blocks, size = [], 0
    for block in iter(lambda: file.read(BLOCK_SIZE), b""):
        size += len(block)
        if size > limit:
            raise UnusableFileError(f"it is larger than {format_size(limit)}")
        blocks.append(block)
    return b"".join(blocks)


def format_size(size) -> str:
    """Return a size as a person writes it, like ``16 MiB``."""
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
    """Return the folder with config.ini, urdf, data, ...

    That is the repository's root when the library runs from its source or devel space, and
    share/imu_simulation_framework of the install space otherwise.

    Raises :class:`.FrameworkError`: neither is found.
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
    """Return the path without ``..`` and ``.``, as a person would write it, to the same place.

    Where a link is in front of a ``..`` the way without both would lead elsewhere; there it
    is the path behind all links.
    """
    shortened, real = os.path.normpath(path), os.path.realpath(path)
    return shortened if os.path.realpath(shortened) == real else real


RECORDING_SUFFIXES = (
    *(".bag", ".db3", ".mcap", ".csv", ".tsv", ".txt", ".log", ".tum", ".gz", ".zst", ".zip"),
    *(".nmea", ".gpx", ".ubx", ".vbo", ".ulg", ".bin", ".mat", ".npy", ".npz", ".h5", ".hdf5"),
    *(".parquet", ".xlsx", ".json"),
)
"""Endings of recordings; anything else behind a point is a part of the name, as in a date."""


def recording_name(path) -> str:
    """Return the name of a recording's file or folder without its endings."""
    name = Path(path).name
    while Path(name).suffix.lower() in RECORDING_SUFFIXES:
        name = Path(name).stem
    return name


def default_configuration_path() -> Path:
    """Return the bundled config.ini."""
    return package_share() / "config.ini"


def urdf_path(name: str) -> Path:
    """Return a file of the bundled robot description."""
    return package_share() / "urdf" / name


def drive_folder() -> Path:
    """Return where the bundled drives are, and the others are made on first use.

    That is the package's data folder, or where ROS keeps its files (``ROS_HOME``) when the
    package's folder cannot be written, as when it is installed for everybody.
    """
    bundled = package_share() / "data"
    if os.access(bundled, os.W_OK):
        return bundled
    home = os.environ.get("ROS_HOME") or Path.home() / ".ros"
    return Path(home) / PACKAGE


def format_json(value) -> str:
    """Return the text of a JSON file."""
    return json.dumps(to_json_types(value), indent=2, allow_nan=False) + "\n"


def to_json_types(value):
    """Only what JSON knows: numpy's numbers become Python's, what is not finite None."""
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
"""Bytes of a file; far above any robot's or aircraft's."""

MAX_TAGS = 200_000
MAX_DEPTH = 200  # a reader that calls itself for each, as JSBSim does, overflows its stack


class UnusableXmlError(ValueError):
    """XML that is not read; its text ends a sentence, ``line`` is where."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


def require_bounded_xml(content: bytes) -> None:
    """Refuse XML that is nested too deeply, has too many tags, or declares entities.

    Nothing is built of it: memory and depth do not grow with what is in it. What is not well-formed
    the parser refuses that reads it then, at the same place.

    ``content``: a whole file. Raises :class:`.UnusableXmlError`: it is so, or larger than
    ``XML_LIMIT``.
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
    with suppress(expat.ExpatError, LookupError):  # an encoding that is not known
        parser.Parse(content, True)
