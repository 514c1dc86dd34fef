"""Files as they lie on the disk: packed or not, and which format they have."""

from __future__ import annotations

import gzip
import os
import shutil
import tempfile
import zlib
from contextlib import contextmanager
from pathlib import Path

from imu_simulation_framework.errors import RecordingError

FORMATS = ("bag", "rostopic_csv", "csv", "tum")
BAG_MAGIC = b"#ROSBAG V"
SQLITE_MAGIC, MCAP_MAGIC, ZSTD_MAGIC = b"SQLite format 3\0", b"\x89MCAP", b"\x28\xb5\x2f\xfd"
_GZIP_MAGIC = b"\x1f\x8b"
_BINARY = {
    b"\xfd7zXZ": "packed by xz, as R packs its data",
    b"BZh": "packed by bzip2",
    b"PK": "packed by zip",
    b"RDX": "data of R",
    b"RDA": "data of R",
    b"\x89HDF": "HDF5",
    b"MATLAB": "data of MATLAB",
    b"ULog": "a log of PX4",
}
_ROS2_MAGICS = (SQLITE_MAGIC, MCAP_MAGIC, ZSTD_MAGIC)
_ROS2_NAMES = ("*.db3", "*.mcap", "*.db3.zst*", "*.mcap.zst*")
_TUM_NUMBERS = 8


def read_start(path, size=65536) -> bytes:
    """The first bytes of a file, unpacked.

    Raises
    ------
    RecordingError
        It is not there, no file, not readable, empty, or damaged.
    """
    if not os.path.exists(path):
        raise RecordingError(f"{path}: there is no such recording")
    with _reading(path), _open(path) as file:
        start = file.read(size)
    if not start:
        raise RecordingError(f"{path}: the recording is empty")
    return start


def storage_files(path) -> list[Path]:
    """The files of a ROS 2 bag, which is one file or a folder, in the order of their numbers.

    Raises
    ------
    RecordingError
        It is a folder without such files.
    """
    path = Path(path)
    if not path.is_dir():
        return [path]
    found = {file for pattern in _ROS2_NAMES for file in path.glob(pattern)}
    if not found:
        raise RecordingError(
            f"{path}: this is a folder, expected a bag, CSV or TUM file, or the folder of a ROS 2 "
            "bag with files .db3 or .mcap"
        )
    return sorted(found, key=lambda file: (len(file.name), file.name))


def is_ros2_bag(path) -> bool:
    """Whether this is a ROS 2 bag, or a folder, which can be nothing else."""
    if os.path.isdir(path):
        return True
    return os.path.exists(path) and read_start(path).startswith(_ROS2_MAGICS)


def detect_format(path, start) -> str:
    """Tell the format from the first bytes and, where they do not say, the name.

    Raises
    ------
    RecordingError
        It is none of those that can be read.
    """
    if start.startswith(BAG_MAGIC):
        return "bag"
    name = str(path).lower()
    name = name[:-3] if name.endswith(".gz") else name
    if name.endswith((".bag", ".bag.active")):
        raise RecordingError(
            f"{path}: not a ROS 1 bag, its first line should begin with #ROSBAG V2.0"
        )
    if b"\0" in start:
        what = next((what for magic, what in _BINARY.items() if start.startswith(magic)), "binary")
        raise RecordingError(
            f"{path}: this is no text and no bag ({what}), expected a bag, CSV or TUM file; "
            "export it as CSV"
        )
    text = start.decode("utf-8-sig", errors="replace")
    lines = [line for line in text.splitlines() if line.strip()]
    if lines and lines[0].startswith("%time"):
        return "rostopic_csv"
    content = [line for line in lines if not line.startswith("#")]
    if name.endswith(".tum") or (content and _is_tum(content[0])):
        return "tum"
    return "csv"


def _is_tum(line) -> bool:
    numbers = line.split()
    if len(numbers) != _TUM_NUMBERS:
        return False
    try:
        [float(number) for number in numbers]
    except ValueError:
        return False
    return True


def read_text(path) -> str:
    """The whole of a text file, unpacked.

    Raises
    ------
    RecordingError
        It is damaged, or not text.
    """
    with _reading(path), _open(path) as file:
        content = file.read()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise RecordingError(f"{path}: line {line} is not text in UTF-8") from None


@contextmanager
def unpacked(path):
    """Give the path of a file without gzip; a temporary one, removed afterwards, if it has it.

    Raises
    ------
    RecordingError
        It is damaged, or there is no room for it.
    """
    if not _is_packed(path):
        yield Path(path)
        return
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "recording"
        with _reading(path), _open(path) as source, open(plain, "wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
        yield plain


def _is_packed(path) -> bool:
    with open(path, "rb") as file:
        return file.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC


def _open(path):
    return gzip.open(path, "rb") if _is_packed(path) else open(path, "rb")


@contextmanager
def _reading(path):
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise RecordingError(f"{path}: the gzip file is truncated or damaged: {error}") from None
    except OSError as error:
        raise RecordingError(f"{path}: cannot be read: {error.strerror or error}") from None
