"""Tables from arrays in MATLAB files (``.mat``, versions 5 to 7.3), HDF5 and NumPy (``.npz``).

Arrays of the same length form a table. A vector is a column with the name of the vector. The
columns of a matrix, at most nine, are named ``gyro[0]``, ``gyro[1]``, ..., or as in ``gyro_label``
in logs of ArduPilot's ground station. Each struct or group is a table with its name; if its arrays
have different lengths, it is split into several tables. Version 7.3 and HDF5 require the extra
``formats``. Only MATLAB can read timetables, such as those of MATLAB Mobile: export them from
MATLAB as CSV files. Numbers, texts and structs of version 5 are parsed in Python (MathWorks,
MAT-File Format, R2024a, chapter 1), since a damaged file can crash scipy's reader, which is written
in C.
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

_MOST_COLUMNS = 9  # largest number of columns of a matrix: the elements of a rotation matrix
_DAMAGE: tuple = (ArithmeticError, AttributeError, EOFError, LookupError, MemoryError, OSError)
_DAMAGE += (RuntimeError, StopIteration, TypeError, ValueError, struct.error, zlib.error)
_HDF5_START = 512  # bytes of the MATLAB header before the HDF5 data


def read_mat(path) -> dict[str, pd.DataFrame]:
    """Read the tables of a MATLAB file.

    Parameters
    ----------
    path : path-like
        MATLAB file (``.mat``) of any version.

    Returns
    -------
    dict of str to DataFrame
        Table by variable.

    Raises
    ------
    RecordingError
        The file is damaged, or contains only MATLAB objects such as timetables.
    """
    with unpacked(path) as plain:
        with open(plain, "rb") as file:
            is_hdf5 = file.read(_HDF5_START + 4)[_HDF5_START:] == b"\x89HDF"
        try:
            mat = None if is_hdf5 else Mat5(b"".join(unpacked_blocks(plain)))
        except _DAMAGE as error:
            raise damaged(path, "a MATLAB file", error) from None
    return read_hdf5(path) if mat is None else _tables(path, mat.content, mat.opaque)


def read_numpy(path) -> dict[str, pd.DataFrame]:
    """Read the tables of a NumPy file.

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
        except Exception as error:  # NumPy evaluates the header, which may raise any error
            raise damaged(path, "a NumPy file", error) from None
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
        The file is damaged, or contains only MATLAB objects.
    """
    library = import_optional("h5py", "files of MATLAB 7.3 and HDF5")
    with unpacked(path) as plain:
        try:
            with library.File(plain, "r") as file:
                opaque = "#subsystem#" in file
                content = _group(library, path, file, [])
        except _DAMAGE as error:
            raise damaged(path, "an HDF5 file, the format of MATLAB 7.3", error) from None
    return _tables(path, content, opaque)


def _group(library, path, group, sizes):
    """Return an HDF5 group as nested dictionaries of arrays; external links are ignored."""
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
                raise RecordingError(
                    f"{path}: the content is too large, expected at most "
                    f"{format_size(UNPACKED_LIMIT)}"
                )
            content[name] = member[()]
    return content


def _tables(path, content, opaque):
    tables: dict[str, dict] = collections.defaultdict(dict)
    _collect(content, "", tables)
    if not tables:
        raise RecordingError(
            f"{path}: numeric arrays are missing, expected vectors of the same length"
            + "; the file contains timetables or other objects that only MATLAB can read; export "
            "each from MATLAB into a folder with writetable(timetable2table(Position), "
            "'Position.csv')" * opaque
        )
    return {name: pd.DataFrame(columns) for name, columns in tables.items()}


def _collect(content, place, tables):
    """Collect the arrays of a nested dictionary; arrays of the same length form a table."""
    lengths = collections.defaultdict(dict)
    for name, value in content.items():
        path, labels = f"{place}{name}", content.get(f"{name}_label")
        if isinstance(labels, list) and np.shape(value)[1:] == np.shape(labels):
            # ArduPilot's ground station writes a list of column labels next to each log array.
            tables[path].update(zip(distinct_names([*map(str, labels)])[0], value.T))
        elif isinstance(value, dict):
            _collect(value, f"{path}.", tables)
        elif isinstance(value, np.ndarray) and value.dtype.names:
            _collect({k: value[k] for k in value.dtype.names}, f"{path}.", tables)
        elif isinstance(value, np.ndarray) and value.dtype.kind in "iufb":
            _columns(name, np.squeeze(value), lengths)
    for length, columns in lengths.items():
        parent = place.rstrip(".")
        several = f"{parent}_{length}".lstrip("_") if len(lengths) > 1 else parent
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
    """Return the error for a file that cannot be read in its apparent format.

    Parameters
    ----------
    path : path-like
        The file.
    kind : str
        Apparent format of the file, for the message.
    error : Exception
        Error of the library.

    Returns
    -------
    RecordingError
        Error with file, format and reason.
    """
    reason = " ".join(str(error).split()) or type(error).__name__
    return RecordingError(f"{path}: truncated or damaged file, expected {kind} ({reason})")


_KINDS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4"}
_KINDS.update({9: "f8", 12: "i8", 13: "u8"})
_MATRIX, _PACKED, _HEADER = 14, 15, 128
_CELL, _STRUCT, _TEXT, _NUMBERS, _OPAQUE = 1, 2, 4, range(6, 16), 17
_UTF_8 = 16  # type code of a text element
_COMPLEX = 0x800  # flag of a complex array
_DEEPEST = 20  # maximum nesting depth of structs; damage may cause an endless recursion


class Mat5:
    """Variables of a MATLAB version 5 file.

    ``content`` contains the variables by name, with structs as dictionaries and cells as lists.
    ``opaque`` is true if there are objects that only MATLAB can read.

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
                    raise ValueError("a compressed variable is truncated or too large")
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
                raise ValueError("an element ends beyond the end of the file")
            yield kind, data[begin : begin + size]
            place = begin + room

    def _matrix(self, data, depth=0):
        """Return the name and value of a matrix; the value is None if its type is not supported."""
        if not data:
            return "", None
        if depth > _DEEPEST:
            raise ValueError(f"structs are nested more than {_DEEPEST} levels deep")
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
