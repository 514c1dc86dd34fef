"""Access to recording files: decompression, and recognition of the format."""

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
"""Formats with named columns, for which a column map is used."""
BAG_MAGIC = b"#ROSBAG V"
SQLITE_MAGIC, MCAP_MAGIC, ZSTD_MAGIC = b"SQLite format 3\0", b"\x89MCAP", b"\x28\xb5\x2f\xfd"
_GZIP_MAGIC = b"\x1f\x8b"
_GZIP = 16 + zlib.MAX_WBITS
_PACKED_BLOCK = 2**14  # bytes; small, since the remainder of a block is copied for each gzip member

UNPACKED_LIMIT = TABLE_LIMIT
RATIO_LIMIT = 200
RATIO_FROM = 256 * 2**20
"""Decompression limits, which protect against decompression bombs.

They are the largest size [bytes], the largest compression ratio, and the size above which the ratio
is checked [bytes]. The compression ratio of sensor recordings is 2 to 10, that of identical lines
100, and the largest ratio of gzip is 1000."""

GNSS_INS_SIM = ("time", "ref_pos", "ref_att_euler")
"""Names, without suffix, of the files by which a folder of gnss-ins-sim is recognised."""

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
"""Types of table files by their first bytes; see :func:`table_kind`."""
_SENTENCE = re.compile(
    rb"(?:\A|\n)[^\n$\"]{0,60}\$"
    rb"(?:[A-Z]{2}(?:GGA|GNS|GLL|RMC|VTG|GSA|GSV|GST|HDT|THS|ZDA)|VN[A-Z]{3}),"
)
_NOVATEL = re.compile(rb"(?:\A|\n)[^\n$\"]{0,60}[#%][A-Z0-9_]{4,20}A,[^\n;]{10,120};")
_ECHOED_MESSAGE = re.compile(rb"(?:---\s*\n)?[A-Za-z_]\w*:[ \r\n]")
_WORD_AND_NUMBER = re.compile(rb"\b[A-Za-z][A-Za-z_. ]{0,60}\d?\]?\s{0,9}[:=]\s{0,9}[+-]?\.?\d")
_JSON = re.compile(rb"\s*(\[\s*)?\{|\s*\[\s*\[\s*-?\d")
_BINARY = {
    b"\xb5b": "u-blox UBX, which u-center converts to NMEA and RTKLIB to positions",
    b"\xfd7zXZ": "compressed with xz, as are data files of R",
    b"BZh": "compressed with bzip2",
    b"RDX": "data file of R",
    b"RDA": "data file of R",
}
_ROS2_NAMES = ("*.db3", "*.mcap", "*.db3.zst*", "*.mcap.zst*")
_LONGEST_QUATERNION = 2.0  # largest component of a quaternion that is not normalised


def read_start(path, size=65536) -> bytes:
    """Return the first bytes of a file after decompression.

    Parameters
    ----------
    path : path-like
        The recording.
    size : int, optional
        Largest number of bytes.

    Returns
    -------
    bytes
        Beginning of the content.

    Raises
    ------
    RecordingError
        The path does not exist or is not a regular file, or the file is unreadable, empty or
        damaged.
    """
    if not os.path.exists(path):
        raise RecordingError(f"{path}: no such file, expected a recording")
    start = b""
    with _opened(path) as (blocks, _):
        for block in blocks:
            start += block
            if len(start) >= size:
                break
    if not start:
        raise RecordingError(f"{path}: empty file, expected a recording")
    return start[:size]


def storage_files(path) -> list[Path]:
    """Return the storage files of a ROS 2 bag in the order of their numbers.

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
        The folder contains no storage files.
    """
    path = Path(path)
    if not path.is_dir():
        return [path]
    files = _storage_files(path)
    if not files:
        raise RecordingError(
            f"{path}: folder without a known recording, expected a bag, CSV or TUM file, a "
            "ROS 2 bag folder with .db3 or .mcap files, a KITTI folder with oxts/timestamps.txt, "
            "or the folder of a smartphone app with a CSV file per sensor"
        )
    return sorted(files, key=lambda file: (len(file.name), file.name))


def _storage_files(folder) -> set[Path]:
    return {file for pattern in _ROS2_NAMES for file in Path(folder).glob(pattern)}


def kitti_folder(path) -> Path | None:
    """Return the folder that contains ``timestamps.txt`` of a KITTI drive.

    Parameters
    ----------
    path : path-like
        Folder of a drive, or its folder ``oxts``.

    Returns
    -------
    Path or None
        Folder; None if there is no such file.
    """
    folders = (Path(path), Path(path) / "oxts")
    return next((folder for folder in folders if (folder / "timestamps.txt").exists()), None)


def recording_format(path) -> str:
    """Determine the format of a recording from its first bytes and, if necessary, its name.

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
        The file has an unknown format.
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
        raise RecordingError(f"{path}: not a ROS 1 bag, expected #ROSBAG V2.0 at the beginning")
    if table_kind(path, start):
        return "tables"
    if b"\0" in start:
        kind = _match_magic(_BINARY, start, "binary")
        raise RecordingError(
            f"{path}: neither a text file nor a bag ({kind}), expected a bag, CSV or TUM file; "
            "export the recording as CSV"
        )
    text = start.decode("utf-8-sig", errors="replace")
    lines = [line for line in text.splitlines() if line.strip()]
    if lines and lines[0].startswith("%time"):
        return "rostopic_csv"
    first = next((line for line in lines if not line.startswith("#")), "")
    return "tum" if name.endswith(".tum") or _is_tum(first) else "csv"


def has_columns(path) -> bool:
    """Return whether a recording has named columns, to which a column map can refer.

    Parameters
    ----------
    path : path-like
        The recording.

    Returns
    -------
    bool
        True for tables and text files with columns.

    Raises
    ------
    RecordingError
        The path does not contain a recording.
    """
    return recording_format(path) in COLUMN_FORMATS


def table_kind(path, start=None) -> str:
    """Return the type of a file or folder that contains tables.

    Parameters
    ----------
    path : path-like
        The recording.
    start : bytes, optional
        First bytes of the file, if they have been read.

    Returns
    -------
    str
        Type, which determines the reader; empty if the path has no tables.
    """
    if os.path.isdir(path):
        names = {file.name.partition(".csv")[0] for file in csv_files(path)}
        return "gnss_ins_sim" if names.issuperset(GNSS_INS_SIM) else "folder"
    start = read_start(path) if start is None else start
    if _JSON.match(start):
        return "json"
    # A match without a checksum may be the name of an NMEA sentence in a cell of a CSV file.
    if _SENTENCE.search(start) and (b"*" in start or start.startswith(b"$")):
        return "sentences"
    if _NOVATEL.search(start):
        return "novatel"
    if b"[header]" in start and b"[column names]" in start:
        return "vbox"
    if b"<gpx" in start[:2000]:
        return "gpx"
    if _ECHOED_MESSAGE.match(start) and b"\n---" in start:
        return "echoed"
    if _has_words(start):
        return "words"
    return _match_magic(_TABLES, start, "") or ("tagged" if _has_tags(start) else "")


def _match_magic(formats, start, otherwise) -> str:
    return next((kind for magic, kind in formats.items() if start.startswith(magic)), otherwise)


def versions_of(files) -> tuple:
    """Return version identifiers of files, which change if the files are modified.

    Parameters
    ----------
    files : iterable of path-like
        Existing files.

    Returns
    -------
    tuple of tuple of int
        Modification time [ns], size [bytes] and inode of each file.
    """
    status = [os.stat(file) for file in files]
    return tuple((file.st_mtime_ns, file.st_size, file.st_ino) for file in status)


def _has_words(start) -> bool:
    """Return whether over a third of the first lines contain several labelled numbers."""
    lines = [line for line in start.splitlines()[:40] if line.strip()]
    named = [line for line in lines if len(_WORD_AND_NUMBER.findall(line)) > 1]
    return len(named) > len(lines) // 3


_TAG = re.compile(r"[A-Za-z]\w*\Z")
_TAG_NAMES = ("messagetype", "msgtype", "sensor", "sensorname", "sensortype", "type")


def tag_place(cells) -> tuple[int, list[str]]:
    """Find the cell that contains the record type of a line, and return the other header cells.

    The record type is a word in the first cell, in the second cell after a number, or in the column
    that a header names.

    Parameters
    ----------
    cells : list of str
        Cells of the first line.

    Returns
    -------
    place : int
        Index of the cell; -1 if there is no such cell.
    header : list of str
        Other cells, if the line is a header.
    """
    for place, cell in enumerate(cells):
        if re.sub(r"[ _]", "", cell.lower()) in _TAG_NAMES:
            return place, cells[:place] + cells[place + 1 :]
    return next((k for k, cell in enumerate(cells[:2]) if _TAG.match(cell)), -1), []


def tag_cells(line) -> list[str]:
    """Split a line into cells at semicolons, or at commas if there is no semicolon.

    Parameters
    ----------
    line : str
        Line of a text file.

    Returns
    -------
    list of str
        Cells without surrounding spaces and quotation marks.
    """
    return [cell.strip(' \r"') for cell in line.split(";" if ";" in line else ",")]


TAG_COMMENTS = ("#", "//", "%")


def _has_tags(start) -> bool:
    """Return whether each of the first lines contains a record type, such as ``imu``.

    Without a header, lines must differ in the number of cells, or the record types must alternate.
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
    """Return the CSV files in a folder or one of its subfolders, except files of results.

    Parameters
    ----------
    path : path-like
        Folder.

    Returns
    -------
    list of Path
        Sorted files; empty if there are none.
    """
    folders = [Path(path), *sorted(f for f in Path(path).glob("[!_.]*") if f.is_dir())]
    for folder in folders:
        files = [file for ending in ("csv", "csv.gz") for file in folder.glob(f"[!.]*.{ending}")]
        if files and not any("trajectory_data.csv" in file.name for file in files):
            return sorted(files)
    return []


def is_ros2_bag(path) -> bool:
    """Return whether a path is a ROS 2 bag; unknown folders also count as bags.

    Parameters
    ----------
    path : path-like
        File or folder.

    Returns
    -------
    bool
        True for a storage file, and for a folder that contains neither a KITTI drive nor CSV files.
    """
    if os.path.isdir(path):
        return not (kitti_folder(path) or (not _storage_files(path) and csv_files(path)))
    magics = (SQLITE_MAGIC, MCAP_MAGIC, ZSTD_MAGIC)
    return os.path.exists(path) and read_start(path).startswith(magics)


def _is_tum(line) -> bool:
    """Return whether a line has eight numbers, of which the last four may be a quaternion."""
    try:
        numbers = [float(number) for number in line.split()]
    except ValueError:
        return False
    return len(numbers) == 8 and not max(map(abs, numbers[4:])) > _LONGEST_QUATERNION


def text_blocks(path, progress=None):
    """Yield the decompressed content of a text file in blocks.

    Parameters
    ----------
    path : path-like
        The recording.
    progress : callable, optional
        Function that is called with the number of bytes of each block.

    Returns
    -------
    iterator of str
        Blocks of text.

    Raises
    ------
    RecordingError
        The file is damaged, not a text file, or too large.
    """
    return decoded(path, unpacked_blocks(path), progress)


_LATIN = "recordings.latin"


def _as_latin(error):
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error(_LATIN, _as_latin)


def decoded(path, blocks, progress=None):
    """Decode blocks of bytes as UTF-8, and invalid bytes as Latin-1.

    Older programs write unit symbols in Latin-1.

    Parameters
    ----------
    path : path-like
        Recording, for messages.
    blocks : iterable of bytes
        Content of the file.
    progress : callable, optional
        Function that is called with the number of bytes of each block.

    Yields
    ------
    str
        Blocks of text.

    Raises
    ------
    RecordingError
        The content is not text, or too large.
    """
    decoder = codecs.getincrementaldecoder("utf-8-sig")(_LATIN)
    size, lines = 0, 1
    for block in itertools.chain(blocks, [b""]):
        if b"\0" in block:
            line = lines + block[: block.index(b"\0")].count(b"\n")
            raise RecordingError(f"{path}: line {line} contains a NUL character, expected text")
        size += len(block)
        if size > TABLE_LIMIT:
            raise RecordingError(
                f"{path}: the text is too large, expected at most {format_size(TABLE_LIMIT)}; "
                "record a bag, or split the file"
            )
        text = decoder.decode(block, final=not block)
        lines += block.count(b"\n")
        if progress:
            progress(len(block))
        yield text


@contextmanager
def unpacked(path):
    """Provide the path of an uncompressed file; a gzip file is decompressed to a temporary file.

    Parameters
    ----------
    path : path-like
        The recording.

    Yields
    ------
    Path
        Uncompressed file.

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


def is_compressed(path) -> bool:
    """Return whether a file is compressed with gzip.

    Parameters
    ----------
    path : path-like
        File or folder.

    Returns
    -------
    bool
        False for a folder.

    Raises
    ------
    RecordingError
        The file cannot be read.
    """
    if os.path.isdir(path):
        return False
    with _opened(path) as (_, packed):
        return packed


_RATIO_SAMPLE = 2**20  # bytes of compressed data from which the compression ratio is estimated


def uncompressed_size(path) -> float:
    """Estimate the size of a file after decompression from the beginning of the file.

    Parameters
    ----------
    path : path-like
        The recording.

    Returns
    -------
    float
        Size [bytes]; exact if the file is not compressed.

    Raises
    ------
    RecordingError
        The file cannot be read.
    """
    size = os.path.getsize(path)
    if not is_compressed(path):
        return size
    with _reading(path), open_regular(path) as file:
        packed = file.read(_RATIO_SAMPLE)
        unpacker = zlib.decompressobj(wbits=_GZIP)
        unpacked_length = len(unpacker.decompress(packed, RATIO_LIMIT * len(packed)))
    return size * unpacked_length / len(packed)


def unpacked_blocks(path):
    """Yield the decompressed content of a file in blocks, within the limits of :func:`limited`.

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
    """Yield decompressed blocks and raise an error if they exceed a limit, see ``RATIO_LIMIT``.

    Parameters
    ----------
    path : path-like
        Compressed file.
    blocks : iterable of bytes
        Decompressed blocks.
    packed : int, optional
        Number of compressed bytes; by default the size of the file.

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
                f"{path}: {format_size(packed)} of compressed data expand to more than "
                f"{format_size(size)}, which exceeds the limits; decompress the file before you "
                "use it, if it is a recording"
            )
        yield block


@contextmanager
def _opened(path):
    """Provide the decompressed blocks of a file, and whether it is compressed with gzip."""
    with _reading(path), open_regular(path) as file:
        packed = file.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC
        file.seek(0)
        yield (_gunzipped(file) if packed else iter(lambda: file.read(BLOCK_SIZE), b"")), packed


def _gunzipped(file):
    """Yield the content of a gzip file; trailing zeros, as from block devices, are ignored."""
    packed = file.read(_PACKED_BLOCK)
    while packed:
        unpacker = zlib.decompressobj(wbits=_GZIP)
        while not unpacker.eof:
            packed = packed or file.read(_PACKED_BLOCK)
            block = unpacker.decompress(packed, BLOCK_SIZE)
            if not (packed or block or unpacker.eof):
                raise EOFError("the end is missing")
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
