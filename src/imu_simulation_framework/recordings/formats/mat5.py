"""Files of MATLAB of version 5, as far as they hold numbers and structs of numbers.

From MathWorks, MAT-File Format, R2024a, chapter 1. scipy reads them, too, but in C, and a damaged
file can end the process.
"""

from __future__ import annotations

import math
import struct
import zlib
from typing import Any, Iterator

import numpy as np

from imu_simulation_framework.recordings.file_access import UNPACKED_LIMIT

_KINDS = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "f4",
    9: "f8",
    12: "i8",
    13: "u8",
}
_MATRIX, _PACKED, _HEADER = 14, 15, 128
_STRUCT, _NUMBERS, _OPAQUE = 2, range(6, 16), 17
_COMPLEX = 0x800
_DEEPEST = 20


class Mat5:
    """The variables of a file: ``content`` by name, structs as dictionaries.

    ``opaque``: whether there are objects that only MATLAB reads. Raises ValueError, struct.error or
    zlib.error: the file is damaged.
    """

    def __init__(self, data: bytes):
        self._order = {b"IM": "<", b"MI": ">"}[data[126:128]]
        self.content: dict[str, Any] = {}
        self.opaque = False
        for kind, content in self._elements(data[_HEADER:]):
            if kind == _PACKED:
                ((kind, content),) = self._elements(_unpacked(content))
            if kind == _MATRIX:
                name, value = self._matrix(content)
                if name and value is not None:
                    self.content[name] = value

    def _elements(self, data) -> Iterator[tuple[int, bytes]]:
        place = 0
        while place < len(data):
            kind, size = struct.unpack_from(self._order + "II", data, place)
            begin, end = place + 8, place + 8 + size
            if kind >> 16:
                kind, size = kind & 0xFFFF, kind >> 16
                begin, end, after = place + 4, place + 4 + size, place + 8
            else:
                after = end if kind == _PACKED else begin + -(-size // 8) * 8
            if end > len(data) or after < end:
                raise ValueError("an element is longer than the file")
            yield kind, data[begin:end]
            place = after

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


def _unpacked(packed):
    unpacker = zlib.decompressobj()
    data = unpacker.decompress(packed, UNPACKED_LIMIT)
    if not unpacker.eof:
        raise ValueError("a packed variable that is cut off, or larger than a recording")
    return data
