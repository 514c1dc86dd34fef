"""Access to files of recordings: unpacking, and recognition of their format."""

from __future__ import annotations

import codecs
import itertools
import os
import re
import tempfile
import zlib
from contextlib import contextmanager
from pathlib import Path

from ..core.errors import RecordingError
from ..core.files import BLOCK_SIZE, TABLE_LIMIT, format_size, open_regular

FORMATS = ("bag", "rostopic_csv", "csv", "tum", "kitti", "tables")
COLUMN_FORMATS = ("csv", "tables")
"""Formats of named columns, from which a column map chooses."""
BAG_MAGIC = b"#ROSBAG V"
SQLITE_MAGIC, MCAP_MAGIC, ZSTD_MAGIC = b"SQLite format 3\0", b"\x89MCAP", b"\x28\xb5\x2f\xfd"
_GZIP_MAGIC = b"\x1f\x8b"
_GZIP = 16 + zlib.MAX_WBITS
_PACKED_BLOCK = 2**14  # bytes; the remainder of a block is copied for each part of a gzip file

UNPACKED_LIMIT = TABLE_LIMIT
RATIO_LIMIT = 200
RATIO_FROM = 256 * 2**20
"""Limits of unpacking: largest size [bytes], largest ratio to the packed size, and size from which
on the ratio is checked [bytes]. Recordings of sensors shrink to a half or a tenth, equal lines to a
hundredth; the most that gzip reaches is a thousandth."""

GNSS_INS_SIM = ("time", "ref_pos", "ref_att_euler")
"""Files of a folder of gnss-ins-sim, without their ending."""

_TABLES = {
    b"PK\x03\x04": "zip",
    b"ULog\x01\x12\x35": "ulog",
    b"\xa3\x95\x80": "dataflash",
    b"FMT, 128,": "dataflash_text",
    b"PAR1": "parquet",
    b"\xd0\xcf\x11\xe0": "workbook",
    b"MATLAB": "matlab",
    b"\x89HDF": "hdf5",
    b"\x93NUMPY": "numpy",
}
"""First bytes of a file of tables -> its kind; see :func:`table_kind`."""
_SENTENCE = re.compile(
    rb"(?:\A|\n)[^\n$\"]{0,60}\$"
    rb"(?:[A-Z]{2}(?:GGA|GNS|GLL|RMC|VTG|GSA|GSV|GST|HDT|THS|ZDA)|VN[A-Z]{3}),"
)
_NOVATEL = re.compile(rb"(?:\A|\n)[^\n$\"]{0,60}[#%][A-Z0-9_]{4,20}A,[^\n;]{10,120};")
_ECHOED = re.compile(rb"(?:---\s*\n)?[A-Za-z_]\w*:[ \r\n]")
_WORD_AND_NUMBER = re.compile(rb"\b[A-Za-z][A-Za-z_. ]{0,60}\d?\]?\s{0,9}[:=]\s{0,9}[+-]?\.?\d")
_JSON = re.compile(rb"\s*(\[\s*)?\{|\s*\[\s*\[\s*-?\d")
_BINARY = {
    b"\xb5b": "UBX of u-blox, of which its u-center makes NMEA and RTKLIB positions",
    b"\xfd7zXZ": "packed by xz, as R packs its data",
    b"BZh": "packed by bzip2",
    b"RDX": "data of R",
    b"RDA": "data of R",
}
_ROS2_NAMES = ("*.db3", "*.mcap", "*.db3.zst*", "*.mcap.zst*")
_LONGEST_QUATERNION = 2.0  # largest component, above which numbers are not quaternion


def read_start(path, size=65536) -> bytes:
    """Return the first bytes of a file, unpacked.

    Parameters
    ----------
    path : path-like
        The recording.
    size : int, optional
        Smallest number of bytes of a longer file.

    Returns
    -------
    bytes
        Beginning of the content.

    Raises
    ------
    RecordingError
        The file is missing, no file, not readable, empty or damaged.
    """
    if not os.path.exists(path):
        raise RecordingError(f"{path}: the recording does not exist")
    start = b""
    with _opened(path) as (blocks, _):
        for block in blocks:
            start += block
            if len(start) >= size:
                break
    if not start:
        raise RecordingError(f"{path}: the recording is empty")
    return start[:size]


def storage_files(path) -> list[Path]:
    """Return the files of a ROS 2 bag in the order of their numbers.

    Parameters
    ----------
    path : path-like
        File or folder of the bag.

    Returns
    -------
    list of Path
        Storage files.

    Raises
    ------
    RecordingError
        The folder has no such files.
    """
    path = Path(path)
    if not path.is_dir():
        return [path]
    files = _storage_files(path)
    if not files:
        raise RecordingError(
            f"{path}: this is a folder, expected a bag, CSV or TUM file, the folder of a ROS 2 "
            "bag with files .db3 or .mcap, one of KITTI's with oxts/timestamps.txt, or one of a "
            "telephone's with CSV files of its sensors"
        )
    return sorted(files, key=lambda file: (len(file.name), file.name))


def _storage_files(folder) -> set[Path]:
    return {file for pattern in _ROS2_NAMES for file in Path(folder).glob(pattern)}


def kitti_folder(path) -> Path | None:
    """Return the folder with KITTI's ``timestamps.txt``.

    Parameters
    ----------
    path : path-like
        Folder of a drive, or its folder ``oxts``.

    Returns
    -------
    Path or None
        Folder, or None without such a file.
    """
    folders = (Path(path), Path(path) / "oxts")
    return next((folder for folder in folders if (folder / "timestamps.txt").exists()), None)


def recording_format(path) -> str:
    """Determine the format of a recording by its first bytes or, if they are ambiguous, its name.

    Parameters
    ----------
    path : path-like
        The recording.

    Returns
    -------
    str
        One of ``FORMATS``.

    Raises
    ------
    RecordingError
        The file has none of the formats.
    """
    if is_ros2_bag(path):
        return "bag"
    if os.path.isdir(path):
        return "kitti" if kitti_folder(path) else "tables"
    start = read_start(path)
    if start.startswith(BAG_MAGIC):
        return "bag"
    name = str(path).lower()
    name = name[:-3] if name.endswith(".gz") else name
    if name.endswith((".bag", ".bag.active")):
        raise RecordingError(
            f"{path}: not a ROS 1 bag, its first line should begin with #ROSBAG V2.0"
        )
    if table_kind(path, start):
        return "tables"
    if b"\0" in start:
        kind = _match_magic(_BINARY, start, "binary")
        raise RecordingError(
            f"{path}: this is neither a text file nor a bag ({kind}), expected a bag, CSV or TUM "
            "file; export it as CSV"
        )
    text = start.decode("utf-8-sig", errors="replace")
    lines = [line for line in text.splitlines() if line.strip()]
    if lines and lines[0].startswith("%time"):
        return "rostopic_csv"
    first = next((line for line in lines if not line.startswith("#")), "")
    return "tum" if name.endswith(".tum") or _is_tum(first) else "csv"


def has_columns(path) -> bool:
    """Return whether a recording has named columns for a column map.

    Parameters
    ----------
    path : path-like
        The recording.

    Returns
    -------
    bool
        True for tables and texts with columns.

    Raises
    ------
    RecordingError
        The path is not a recording.
    """
    return recording_format(path) in COLUMN_FORMATS


def table_kind(path, start=None) -> str:
    """Return the kind of a file or folder of tables.

    Parameters
    ----------
    path : path-like
        The recording.
    start : bytes, optional
        Its first bytes, if they are known.

    Returns
    -------
    str
        Kind, by which a reader is chosen; empty if it is none.
    """
    if os.path.isdir(path):
        names = {file.name.partition(".csv")[0] for file in csv_files(path)}
        return "gnss_ins_sim" if names.issuperset(GNSS_INS_SIM) else "folder"
    start = read_start(path) if start is None else start
    if _JSON.match(start):
        return "json"
    # Without a checksum, a match may be the name of an NMEA sentence in a cell of a CSV file.
    if _SENTENCE.search(start) and (b"*" in start or start.startswith(b"$")):
        return "sentences"
    if _NOVATEL.search(start):
        return "novatel"
    if b"[header]" in start and b"[column names]" in start:
        return "vbox"
    if b"<gpx" in start[:2000]:
        return "gpx"
    if _ECHOED.match(start) and b"\n---" in start:
        return "echoed"
    if _has_words(start):
        return "words"
    return _match_magic(_TABLES, start, "") or ("tagged" if _has_tags(start) else "")


def _match_magic(kinds, start, otherwise) -> str:
    return next((kind for magic, kind in kinds.items() if start.startswith(magic)), otherwise)


def versions_of(files) -> tuple:
    """Return the versions of files, which change with their content.

    Parameters
    ----------
    files : iterable of path-like
        Existing files.

    Returns
    -------
    tuple of tuple of int
        Time of modification [ns], size [bytes] and inode of each file.
    """
    status = [os.stat(file) for file in files]
    return tuple((file.st_mtime_ns, file.st_size, file.st_ino) for file in status)


def _has_words(start) -> bool:
    """Return whether a third of the first lines have a word and a sign before several numbers."""
    lines = [line for line in start.splitlines()[:40] if line.strip()]
    named = [line for line in lines if len(_WORD_AND_NUMBER.findall(line)) > 1]
    return len(named) > len(lines) // 3


_TAG = re.compile(r"[A-Za-z]\w*\Z")
_TAG_NAMES = ("messagetype", "msgtype", "sensor", "sensorname", "sensortype", "type")


def tag_place(cells) -> tuple[int, list[str]]:
    """Return the place of the cell with the kind of a line, and the other cells of a header.

    The kind is a word, in the first cell or behind a number, or in the column that a header names.

    Parameters
    ----------
    cells : list of str
        Cells of the first line.

    Returns
    -------
    place : int
        Index of the cell; -1 without one.
    header : list of str
        Other cells, if the line is a header.
    """
    for place, cell in enumerate(cells):
        if re.sub(r"[ _]", "", cell.lower()) in _TAG_NAMES:
            return place, cells[:place] + cells[place + 1 :]
    return next((k for k, cell in enumerate(cells[:2]) if _TAG.match(cell)), -1), []


def tag_cells(line) -> list[str]:
    """Split a line into cells at semicolons or, without one, at commas.

    Parameters
    ----------
    line : str
        Line of a text file.

    Returns
    -------
    list of str
        Cells without blanks and quotation marks around them.
    """
    return [cell.strip(' \r"') for cell in line.split(";" if ";" in line else ",")]


TAG_COMMENTS = ("#", "//", "%")


def _has_tags(start) -> bool:
    """Return whether a word in each of the first lines states one of several kinds.

    Without a header, lines must differ in width or the kinds must alternate.
    """
    lines = start.decode("latin-1").split("\n")[:-1]
    lines = [line for line in lines if line.strip() and not line.startswith(TAG_COMMENTS)]
    rows = [tag_cells(line) for line in lines]
    place, header = tag_place(rows[0]) if rows else (-1, [])
    rows = rows[1:] if header else rows
    if place < 0 or any(len(row) <= place or not _TAG.match(row[place]) for row in rows):
        return False
    tags = [row[place] for row in rows]
    changes = sum(tag != following for tag, following in zip(tags, tags[1:]))
    several = 1 < len(set(tags)) <= len(tags) // 3
    widths = {len(row) for row in rows}
    is_alternating = changes > len(tags) // (20 if header else 3)
    return several and (is_alternating or (len(widths) > 1 and not header))


def csv_files(path) -> list[Path]:
    """Return the CSV files of a folder, or of a folder in it, except those of a result.

    Parameters
    ----------
    path : path-like
        Folder.

    Returns
    -------
    list of Path
        Sorted files; empty without any.
    """
    folders = [Path(path), *sorted(f for f in Path(path).glob("[!_.]*") if f.is_dir())]
    for folder in folders:
        files = [file for ending in ("csv", "csv.gz") for file in folder.glob(f"[!.]*.{ending}")]
        if files and not any("trajectory_data.csv" in file.name for file in files):
            return sorted(files)
    return []


def is_ros2_bag(path) -> bool:
    """Return whether a path is a ROS 2 bag, or a folder of no other kind.

    Parameters
    ----------
    path : path-like
        File or folder.

    Returns
    -------
    bool
        True for a storage file, and for a folder that is neither KITTI's nor one of CSV files.
    """
    if os.path.isdir(path):
        return not (kitti_folder(path) or (not _storage_files(path) and csv_files(path)))
    magics = (SQLITE_MAGIC, MCAP_MAGIC, ZSTD_MAGIC)
    return os.path.exists(path) and read_start(path).startswith(magics)


def _is_tum(line) -> bool:
    """Return whether a line has eight numbers, the last four of which may be a quaternion."""
    try:
        numbers = [float(number) for number in line.split()]
    except ValueError:
        return False
    return len(numbers) == 8 and not max(map(abs, numbers[4:])) > _LONGEST_QUATERNION


def text_blocks(path, progress=None):
    """Return the content of a text file block by block, unpacked.

    Parameters
    ----------
    path : path-like
        The recording.
    progress : callable, optional
        Called with the number of bytes of each block.

    Returns
    -------
    iterator of str
        Blocks of text.

    Raises
    ------
    RecordingError
        The file is damaged, no text, or too large.
    """
    return decoded(path, unpacked_blocks(path), progress)


_LATIN = "recordings.latin"


def _as_latin(error):
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error(_LATIN, _as_latin)


def decoded(path, blocks, progress=None):
    """Decode blocks of bytes as UTF-8 or, where that is invalid, as Latin-1.

    Older programs write the signs of units in Latin-1.

    Parameters
    ----------
    path : path-like
        The recording, for messages.
    blocks : iterable of bytes
        Content of the file.
    progress : callable, optional
        Called with the number of bytes of each block.

    Yields
    ------
    str
        Blocks of text.

    Raises
    ------
    RecordingError
        The content is not a text, or too large.
    """
    decoder = codecs.getincrementaldecoder("utf-8-sig")(_LATIN)
    size, lines = 0, 1
    for block in itertools.chain(blocks, [b""]):
        if b"\0" in block:
            line = lines + block[: block.index(b"\0")].count(b"\n")
            raise RecordingError(f"{path}: line {line} contains the character NUL, expected text")
        size += len(block)
        if size > TABLE_LIMIT:
            raise RecordingError(
                f"{path}: larger than {format_size(TABLE_LIMIT)}, which is more than can be read "
                "as text; record a bag, or split it"
            )
        text = decoder.decode(block, final=not block)
        lines += block.count(b"\n")
        if progress:
            progress(len(block))
        yield text


@contextmanager
def unpacked(path):
    """Provide the path of an unpacked file, which is temporary if the file is compressed by gzip.

    Parameters
    ----------
    path : path-like
        The recording.

    Yields
    ------
    Path
        Unpacked file.

    Raises
    ------
    RecordingError
        The file is damaged or too large, or the disk is full.
    """
    with _opened(path) as (_, packed):
        pass
    if not packed:
        yield Path(path)
        return
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "recording"
        with _reading(path), open(plain, "wb") as target:
            for block in unpacked_blocks(path):
                target.write(block)
        yield plain


def unpacked_blocks(path):
    """Yield the content of a file block by block, unpacked within the limits of :func:`limited`.

    Parameters
    ----------
    path : path-like
        The recording.

    Yields
    ------
    bytes
        Blocks of the content.
    """
    with _opened(path) as (blocks, packed):
        yield from limited(path, blocks) if packed else blocks


def limited(path, blocks, packed=None):
    """Yield unpacked blocks within the limits of a recording, see ``RATIO_LIMIT``.

    Parameters
    ----------
    path : path-like
        The packed file.
    blocks : iterable of bytes
        Unpacked blocks.
    packed : int, optional
        Number of packed bytes; by default the size of the file.

    Yields
    ------
    bytes
        The same blocks.

    Raises
    ------
    RecordingError
        The blocks exceed a limit.
    """
    packed, size = os.stat(path).st_size if packed is None else packed, 0
    for block in blocks:
        size += len(block)
        if size > UNPACKED_LIMIT or (size > RATIO_FROM and size > RATIO_LIMIT * packed):
            raise RecordingError(
                f"{path}: its {format_size(packed)} unpack to {format_size(size)} and more, "
                "which is not read; unpack it yourself if it is a recording"
            )
        yield block


@contextmanager
def _opened(path):
    """Provide the unpacked blocks of a file, and whether it is compressed by gzip."""
    with _reading(path), open_regular(path) as file:
        packed = file.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC
        file.seek(0)
        yield (_gunzipped(file) if packed else iter(lambda: file.read(BLOCK_SIZE), b"")), packed


def _gunzipped(file):
    """Yield the content of a gzip file without zeros behind it, which fill a device's block."""
    packed = file.read(_PACKED_BLOCK)
    while packed:
        unpacker = zlib.decompressobj(wbits=_GZIP)
        while not unpacker.eof:
            packed = packed or file.read(_PACKED_BLOCK)
            block = unpacker.decompress(packed, BLOCK_SIZE)
            if not (packed or block or unpacker.eof):
                raise EOFError("its end is missing")
            packed = unpacker.unconsumed_tail
            if block:
                yield block
        packed = unpacker.unused_data.lstrip(b"\0")
        for more in iter(lambda: file.read(_PACKED_BLOCK), b"") if not packed else ():
            packed = more.lstrip(b"\0")
            if packed:
                break


@contextmanager
def _reading(path):
    try:
        yield
    except (EOFError, zlib.error) as error:
        raise RecordingError(f"{path}: the gzip file is truncated or damaged: {error}") from None
    except OSError as error:
        raise RecordingError(f"{path}: cannot be read: {error.strerror or error}") from None
