"""Tables from arrays in files of MATLAB (``.mat`` of versions 5 to 7.3), HDF5 and NumPy (``.npz``).

Arrays of equal length form a table. Vectors are columns by their names, a matrix of up to nine
columns is ``gyro[0]``, ``gyro[1]``, ..., or has the names in ``gyro_label``, as in logs of
ArduPilot's ground station. Each struct, or group, is a table by its name; arrays of different
lengths in it are several tables. Version 7.3 and HDF5 need the extra ``formats``. Only MATLAB can
read timetables, as of MATLAB Mobile: write them as CSV files there. Numbers, texts and structs of
version 5 are read here (MathWorks, MAT-File Format, R2024a, chapter 1): scipy reads them in C, so
that a damaged file can end the process.
"""

from __future__ import annotations

import collections
import math
import struct
import zlib
from typing import Any, Iterator

import numpy as np
import pandas as pd

from ...core.errors import RecordingError, import_optional
from ...core.files import format_size
from ..cleaning import MINIMUM_SAMPLES
from ..file_access import (
    RATIO_FROM,
    RATIO_LIMIT,
    UNPACKED_LIMIT,
    unpacked,
    unpacked_blocks,
)
from ..text_table import distinct_names

_MOST_COLUMNS = 9  # of a matrix that is read, as a rotation matrix has
_DAMAGE: tuple = (ArithmeticError, AttributeError, EOFError, LookupError, MemoryError, OSError)
_DAMAGE += (RuntimeError, StopIteration, TypeError, ValueError, struct.error, zlib.error)
_HDF5_START = 512  # bytes of MATLAB's header in front of HDF5


def read_mat(path) -> dict[str, pd.DataFrame]:
    """Read the tables of a MATLAB file.

    Parameters
    ----------
    path : path-like
        The file, ``.mat`` of any version.

    Returns
    -------
    dict of str to DataFrame
        Table by variable.

    Raises
    ------
    RecordingError
        The file is damaged, or contains only objects of MATLAB such as timetables.
    """
    with unpacked(path) as plain:
        with open(plain, "rb") as file:
            is_hdf5 = file.read(_HDF5_START + 4)[_HDF5_START:] == b"\x89HDF"
        try:
            mat = None if is_hdf5 else Mat5(b"".join(unpacked_blocks(plain)))
        except _DAMAGE as error:
            raise damaged(path, "data of MATLAB", error) from None
    return read_hdf5(path) if mat is None else _tables(path, mat.content, mat.opaque)


def read_numpy(path) -> dict[str, pd.DataFrame]:
    """Read the tables of arrays of NumPy.

    Parameters
    ----------
    path : path-like
        The file, ``.npy`` or ``.npz``.

    Returns
    -------
    dict of str to DataFrame
        Table by array.

    Raises
    ------
    RecordingError
        The file is damaged.
    """
    with unpacked(path) as plain:
        try:
            loaded = np.load(plain, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                loaded = {"array": loaded}
            content = {name: loaded[name] for name in loaded}
        except Exception as error:  # Python's own parsers read the header and raise any exception
            raise damaged(path, "arrays of NumPy", error) from None
    return _tables(path, content, False)


def read_hdf5(path) -> dict[str, pd.DataFrame]:
    """Read the tables of an HDF5 file.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    dict of str to DataFrame
        Table by group or data set.

    Raises
    ------
    RecordingError
        The file is damaged, or contains only objects of MATLAB.
    """
    library = import_optional("h5py", "data of MATLAB 7.3 and HDF5")
    with unpacked(path) as plain:
        try:
            with library.File(plain, "r") as file:
                opaque = "#subsystem#" in file
                content = _group(library, path, file, [])
        except _DAMAGE as error:
            raise damaged(path, "HDF5, as MATLAB 7.3 writes it", error) from None
    return _tables(path, content, opaque)


def _group(library, path, group, sizes):
    """Return the content of a group as dictionaries and arrays, without links to other files."""
    content: dict[str, Any] = {}
    for name in group:
        link = group.get(name, getlink=True)
        if name.startswith("#") or not isinstance(link, library.HardLink):
            continue
        member = group[name]
        if isinstance(member, library.Group):
            content[name] = _group(library, path, member, sizes)
        elif member.dtype.kind in "iufbV" and member.external is None and not member.is_virtual:
            sizes.append(member.nbytes)
            if sum(sizes) > UNPACKED_LIMIT:
                raise RecordingError(f"{path}: contains more than {format_size(UNPACKED_LIMIT)}")
            content[name] = member[()]
    return content


def _tables(path, content, opaque):
    tables: dict[str, dict] = collections.defaultdict(dict)
    _collect(content, "", tables)
    if not tables:
        raise RecordingError(
            f"{path}: contains no numeric arrays, expected vectors of the same length"
            + ", but timetables or other objects of MATLAB, which only MATLAB reads: there "
            "writetable(timetable2table(Position), 'Position.csv') for each, in a folder" * opaque
        )
    return {name: pd.DataFrame(columns) for name, columns in tables.items()}


def _collect(content, place, tables):
    """Add arrays of equal length as a table."""
    lengths = collections.defaultdict(dict)
    for name, value in content.items():
        path, labels = f"{place}{name}", content.get(f"{name}_label")
        if isinstance(labels, list) and np.shape(value)[1:] == np.shape(labels):
            # ArduPilot's ground station writes its logs so.
            tables[path].update(zip(distinct_names([*map(str, labels)])[0], value.T))
        elif isinstance(value, dict):
            _collect(value, f"{path}.", tables)
        elif isinstance(value, np.ndarray) and value.dtype.names:
            _collect({k: value[k] for k in value.dtype.names}, f"{path}.", tables)
        elif isinstance(value, np.ndarray) and value.dtype.kind in "iufb":
            _columns(name, np.squeeze(value), lengths)
    for length, columns in lengths.items():
        own = place.rstrip(".")
        several = f"{own}_{length}".lstrip("_") if len(lengths) > 1 else own
        tables[several or "table"].update(columns)


def _columns(name, array, lengths):
    if array.ndim == 2 and array.shape[0] < array.shape[1]:
        array = array.T
    if array.ndim not in (1, 2) or len(array) < MINIMUM_SAMPLES:
        return
    if array.ndim == 1:
        lengths[len(array)][name] = array
    elif array.shape[1] <= _MOST_COLUMNS:
        lengths[len(array)].update({f"{name}[{k}]": array[:, k] for k in range(array.shape[1])})


def damaged(path, kind, error) -> RecordingError:
    """Return the error of a file that a library cannot read as its apparent kind.

    Parameters
    ----------
    path : path-like
        The file.
    kind : str
        Apparent kind of the file, for the message.
    error : Exception
        Error of the library.

    Returns
    -------
    RecordingError
        Error with file, kind and reason.
    """
    reason = " ".join(str(error).split()) or type(error).__name__
    return RecordingError(f"{path}: cannot be read as {kind}, it is truncated or damaged: {reason}")


_KINDS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4"}
_KINDS.update({9: "f8", 12: "i8", 13: "u8"})
_MATRIX, _PACKED, _HEADER = 14, 15, 128
_CELL, _STRUCT, _TEXT, _NUMBERS, _OPAQUE = 1, 2, 4, range(6, 16), 17
_UTF_8 = 16  # type of an element of text
_COMPLEX = 0x800  # flag of an array
_DEEPEST = 20  # structs inside each other, which damage may make endless


class Mat5:
    """Variables of a file of MATLAB, version 5.

    ``content`` has them by name, structs as dictionaries and cells as lists. ``opaque`` is true if
    there are objects that only MATLAB reads.

    Parameters
    ----------
    data : bytes
        Content of the file.

    Raises
    ------
    ValueError, struct.error, zlib.error
        The file is damaged.
    """

    def __init__(self, data: bytes):
        self._order = {b"IM": "<", b"MI": ">"}[data[126:128]]
        self.content: dict[str, Any] = {}
        self.opaque = False
        for kind, content in self._elements(data[_HEADER:]):
            if kind == _PACKED:
                unpacker = zlib.decompressobj()
                most = min(UNPACKED_LIMIT, max(RATIO_FROM, RATIO_LIMIT * len(content)))
                plain = unpacker.decompress(content, most)
                if not unpacker.eof:
                    raise ValueError("a packed variable is truncated, or larger than a recording")
                ((kind, content),) = self._elements(plain)
            if kind == _MATRIX:
                name, value = self._matrix(content)
                if name and value is not None:
                    self.content[name] = value

    def _elements(self, data) -> Iterator[tuple[int, bytes]]:
        place = 0
        while place < len(data):
            kind, size = struct.unpack_from(self._order + "II", data, place)
            begin, room = place + 8, size if kind == _PACKED else -(-size // 8) * 8
            if kind >> 16:
                kind, size, begin, room = kind & 0xFFFF, kind >> 16, place + 4, 4
            if begin + size > len(data) or size > room:
                raise ValueError("an element is longer than the file")
            yield kind, data[begin : begin + size]
            place = begin + room

    def _matrix(self, data, depth=0):
        """Return name and value of a matrix; None if it is none of numbers, struct, cells, text."""
        if not data:
            return "", None
        if depth > _DEEPEST:
            raise ValueError("structs inside structs without end")
        elements = self._elements(data)
        (flags, *_) = struct.unpack_from(self._order + "I", next(elements)[1])
        kind = flags & 0xFF
        if kind == _OPAQUE:
            self.opaque = True
            return "", None
        shape = np.frombuffer(next(elements)[1], self._order + "i4").tolist()
        name = next(elements)[1].decode("ascii", "replace")
        if kind == _STRUCT:
            return name, self._struct(elements, shape, depth)
        if kind == _CELL:
            return name, [self._matrix(part, depth + 1)[1] for _, part in elements]
        if kind == _TEXT:
            stored, content = next(elements)
            characters = content if stored == _UTF_8 else np.frombuffer(content, _KINDS[stored])
            return name, "".join(map(chr, characters))
        if kind not in _NUMBERS or flags & _COMPLEX:
            return name, None
        stored, content = next(elements)
        numbers = np.frombuffer(content, self._order + _KINDS[stored])
        return name, numbers.reshape(shape, order="F").astype(numbers.dtype.newbyteorder("="))

    def _struct(self, elements, shape, depth):
        (length,) = struct.unpack_from(self._order + "i", next(elements)[1])
        names = next(elements)[1]
        count = len(names) // length
        fields = [names[k * length :][:length].split(b"\0")[0].decode() for k in range(count)]
        values: dict[str, list] = {field: [] for field in fields}
        for _ in range(math.prod(shape)):
            for field in fields:
                values[field].append(self._matrix(next(elements)[1], depth + 1)[1])
        if math.prod(shape) == 1:
            return {field: value for field, (value,) in values.items() if value is not None}
        return {
            field: np.array([value.item() for value in several])
            for field, several in values.items()
            if all(isinstance(value, np.ndarray) and value.size == 1 for value in several)
        }
