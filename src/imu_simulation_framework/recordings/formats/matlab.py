"""Data of MATLAB (``.mat`` of versions 5 to 7.3) and HDF5: arrays of one length are a table.

Vectors are columns by their names, a matrix of up to nine columns is ``gyro[0]``, ``gyro[1]``, ...
Each struct, or group, is a table by its name; arrays of different lengths in one are several. So
are arrays of NumPy. Of version 5 numbers, texts and structs are read (MathWorks, MAT-File Format,
R2024a, chapter 1): scipy reads them, too, but in C, and a damaged file can end the process.
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

_MOST_COLUMNS = 9
_DAMAGE: tuple = (ArithmeticError, AttributeError, EOFError, LookupError, MemoryError, OSError)
_DAMAGE += (RuntimeError, StopIteration, TypeError, ValueError, struct.error, zlib.error)
_HDF5_AT = 512  # bytes; what MATLAB puts before HDF5


def read_mat(path) -> dict[str, pd.DataFrame]:
    """Return the tables of a file of MATLAB.

    Raises RecordingError: it is damaged, or holds nothing but objects of MATLAB, as timetables are.
    """
    with unpacked(path) as plain:
        with open(plain, "rb") as file:
            is_hdf5 = file.read(_HDF5_AT + 4)[_HDF5_AT:] == b"\x89HDF"
        try:
            mat = None if is_hdf5 else Mat5(b"".join(unpacked_blocks(plain)))
        except _DAMAGE as error:
            raise damaged(path, "data of MATLAB", error) from None
    return read_hdf5(path) if mat is None else _tables(path, mat.content, mat.opaque)


def read_numpy(path) -> dict[str, pd.DataFrame]:
    """Return the tables of arrays of NumPy, ``.npy`` or ``.npz``; raises as :func:`read_mat`."""
    with unpacked(path) as plain:
        try:
            loaded = np.load(plain, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                loaded = {"array": loaded}
            content = {name: loaded[name] for name in loaded}
        except Exception as error:  # of a header that Python's own parsers read
            raise damaged(path, "arrays of NumPy", error) from None
    return _tables(path, content, False)


def read_hdf5(path) -> dict[str, pd.DataFrame]:
    """Return the tables of an HDF5 file; raises as :func:`read_mat`."""
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
    """Return what is in a group as dictionaries and arrays; nothing that is in another file."""
    found = {}
    for name in group:
        link = group.get(name, getlink=True)
        if name.startswith("#") or not isinstance(link, library.HardLink):
            continue
        one = group[name]
        if isinstance(one, library.Group):
            found[name] = _group(library, path, one, sizes)
        elif one.dtype.kind in "iufbV" and one.external is None and not one.is_virtual:
            sizes.append(one.nbytes)
            if sum(sizes) > UNPACKED_LIMIT:
                raise RecordingError(f"{path}: holds more than {format_size(UNPACKED_LIMIT)}")
            found[name] = one[()]
    return found


def _tables(path, content, opaque):
    found: dict[str, dict] = collections.defaultdict(dict)
    _collect(content, "", found)
    if not found:
        raise RecordingError(
            f"{path}: holds no arrays of numbers, expected vectors of one length"
            + ", but timetables or other objects of MATLAB, which only MATLAB reads: there "
            "writetable(timetable2table(Position), 'Position.csv') for each, in a folder" * opaque
        )
    return {name: pd.DataFrame(columns) for name, columns in found.items()}


def _collect(content, place, found):
    """Put arrays of one length into a table of ``found``."""
    lengths = collections.defaultdict(dict)
    for name, value in content.items():
        below, labels = f"{place}{name}", content.get(f"{name}_label")
        if isinstance(labels, list) and np.shape(value)[1:] == np.shape(labels):
            # As ArduPilot's ground station writes its logs.
            found[below].update(zip(distinct_names([*map(str, labels)])[0], value.T))
        elif isinstance(value, dict):
            _collect(value, f"{below}.", found)
        elif isinstance(value, np.ndarray) and value.dtype.names:
            _collect({k: value[k] for k in value.dtype.names}, f"{below}.", found)
        elif isinstance(value, np.ndarray) and value.dtype.kind in "iufb":
            _columns(name, np.squeeze(value), lengths)
    for length, columns in lengths.items():
        own = place.rstrip(".")
        several = f"{own}_{length}".lstrip("_") if len(lengths) > 1 else own
        found[several or "table"].update(columns)


def _columns(name, array, lengths):
    if array.ndim == 2 and array.shape[0] < array.shape[1]:
        array = array.T
    if array.ndim not in (1, 2) or len(array) < MINIMUM_SAMPLES:
        return
    if array.ndim == 1:
        lengths[len(array)][name] = array
    elif array.shape[1] <= _MOST_COLUMNS:
        lengths[len(array)].update({f"{name}[{k}]": array[:, k] for k in range(array.shape[1])})


def damaged(path, what, error) -> RecordingError:
    """Return the error of a file that a library cannot read as what it seems to be."""
    reason = " ".join(str(error).split()) or type(error).__name__
    return RecordingError(f"{path}: cannot be read as {what}, it is truncated or damaged: {reason}")


_KINDS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4"}
_KINDS.update({9: "f8", 12: "i8", 13: "u8"})
_MATRIX, _PACKED, _HEADER = 14, 15, 128
_CELL, _STRUCT, _TEXT, _NUMBERS, _OPAQUE = 1, 2, 4, range(6, 16), 17
_UTF_8 = 16
_COMPLEX = 0x800
_DEEPEST = 20


class Mat5:
    """The variables of a file: ``content`` by name, structs as dictionaries, cells as lists.

    ``opaque``: whether there are objects that only MATLAB reads. Raises ValueError, struct.error or
    zlib.error: the file is damaged.
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
                    raise ValueError("a packed variable is cut off, or larger than a recording")
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
        """Return name and value of a matrix; None for what is neither numbers nor struct."""
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
            return {field: one for field, (one,) in values.items() if one is not None}
        return {
            field: np.array([one.item() for one in several])
            for field, several in values.items()
            if all(isinstance(one, np.ndarray) and one.size == 1 for one in several)
        }
