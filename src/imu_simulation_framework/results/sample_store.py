"""Samples of one kind, in order of their stamps, that go to a file as they come in."""

from __future__ import annotations

import json
import os
import struct
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from imu_simulation_framework.errors import ResultError
from imu_simulation_framework.files.reading import open_regular
from imu_simulation_framework.files.whole_files import reason_of

_ROWS_IN_MEMORY = 20
"""So many samples may be lost when the process is killed: 0.2 s of an IMU, a second of commands."""

_ROWS_PER_BLOCK = 20_000
_LONGEST_HEADER = 10_000


class SampleStore:
    """A growing table of a stamp [ns] and some numbers per row.

    It is kept in memory until :meth:`keep_in`; from then on memory holds some rows only. While the
    disk is full it holds what finds no room, and tries again.

    Parameters
    ----------
    columns : sequence of str
        Names of the numbers.
    """

    def __init__(self, columns) -> None:
        self.columns = tuple(columns)
        self._row = struct.Struct(f"<q{len(self.columns)}d")
        self._type: np.dtype = np.dtype([("stamp", "<i8"), ("values", "<f8", (len(self.columns),))])
        # One thread adds while another looks how far it has come.
        self._lock = threading.Lock()
        # To be written without a buffer, or to be read; None while all is in memory.
        self._file: Any = None
        self._path = None
        self._first_byte = 0
        self._rows_in_file = 0
        self._tail = bytearray()
        self._due = self._row.size * _ROWS_IN_MEMORY
        self._newest: int | None = None

    @classmethod
    def open(cls, path) -> SampleStore:
        """Open what a process has left that did not come to its end.

        Raises
        ------
        ResultError
            It is not there or no such file.
        """
        try:
            file = open_regular(path)
            header = file.readline(_LONGEST_HEADER)
        except OSError as error:
            raise ResultError(f"{path}: cannot be read: {reason_of(error)}") from error
        try:
            store = cls([str(name) for name in json.loads(header)["columns"]])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise ResultError(f"{path}: is no file of recorded samples") from None
        store._file, store._path, store._first_byte = file, path, len(header)
        size = os.fstat(file.fileno()).st_size - len(header)
        # What was killed may have left half a row.
        store._rows_in_file = max(0, size) // store._row.size
        if store._rows_in_file:
            store._newest = store.stamps[len(store) - 1]
        return store

    def keep_in(self, path) -> None:
        """Write what there is and will be to a new file.

        Raises
        ------
        ResultError
            It cannot be made.
        """
        header = json.dumps({"columns": self.columns}).encode() + b"\n"
        try:
            # Unbuffered: how much of it is on the disk is known.
            file = open(path, "x+b", buffering=0)  # noqa: SIM115 (open until all is written)
            file.write(header)
        except OSError as error:
            raise ResultError(f"{path}: cannot be written: {reason_of(error)}") from error
        with self._lock:
            self._file, self._path, self._first_byte = file, path, len(header)
            self._write_out(len(self._tail) - self._row.size)

    def flush(self) -> None:
        """Bring the last rows to the file too, if there is one: nothing more will come."""
        with self._lock:
            if self._file is not None:
                self._write_out(len(self._tail))

    def discard(self) -> None:
        """Remove the file, if there is one: its content is elsewhere now."""
        with self._lock:
            if self._path is not None:
                self._file.close()
                with suppress(FileNotFoundError):
                    os.unlink(self._path)
            self._file = self._path = None
            self._rows_in_file = 0
            self._tail = bytearray()

    def append(self, stamp: int, values) -> None:
        """Add a row, whose stamp is not smaller than the last one's; an equal one replaces it."""
        row = self._row.pack(stamp, *values)
        with self._lock:
            if stamp == self._newest:
                self._tail[-self._row.size :] = row
                return
            self._newest = stamp
            self._tail += row
            if self._file is not None and len(self._tail) >= self._due:
                # The last one may be replaced yet.
                self._write_out(len(self._tail) - self._row.size)

    def append_rows(self, stamps, values) -> None:
        """Add rows with ascending stamps, the first one greater than the last one's so far.

        Parameters
        ----------
        stamps : array_like of int, shape (n,)
            [ns]; at least one.
        values : array_like, shape (n, columns)
        """
        rows = np.empty(len(stamps), dtype=self._type)
        rows["stamp"], rows["values"] = stamps, values
        with self._lock:
            self._newest = int(stamps[-1])
            self._tail += rows.tobytes()
            if self._file is not None and len(self._tail) >= self._due:
                self._write_out(len(self._tail) - self._row.size)

    def _write_out(self, count) -> None:
        """Bring so many bytes of the tail to the file, as far as there is room."""
        size = self._row.size
        start = self._first_byte + self._rows_in_file * size
        rows = memoryview(bytes(self._tail[: max(0, count)]))
        written = 0
        with suppress(OSError):
            while written < len(rows):
                written += os.pwrite(self._file.fileno(), rows[written:], start + written)
        # Half a row is written once more.
        whole = written // size
        self._rows_in_file += whole
        del self._tail[: whole * size]
        self._due = len(self._tail) + size * _ROWS_IN_MEMORY

    def __len__(self) -> int:
        with self._lock:
            return self._rows_in_file + len(self._tail) // self._row.size

    @property
    def newest(self):
        """The last stamp [ns]; None without any."""
        return self._newest

    @property
    def stamps(self):
        """All stamps [ns], as a sequence that reads each one when it is asked for."""
        return _Stamps(self)

    def rows(self, first: int, last: int):
        """Return rows from number ``first`` to before ``last``.

        Returns
        -------
        stamps : ndarray of int64, shape (n,)
            [ns]
        values : ndarray, shape (n, columns)

        Raises
        ------
        ResultError
            They cannot be read any more.
        """
        size = self._row.size
        with self._lock:
            split = min(max(self._rows_in_file, first), last)
            content = bytearray()
            wanted = (split - first) * size
            try:
                while len(content) < wanted:
                    place = self._first_byte + first * size + len(content)
                    part = os.pread(self._file.fileno(), wanted - len(content), place)
                    if not part:
                        raise ResultError(f"{self._path}: is shorter than it was")
                    content += part
            except OSError as error:
                raise ResultError(f"{self._path}: cannot be read: {reason_of(error)}") from error
            offset = split - self._rows_in_file
            if split < last:
                content += self._tail[offset * size : (last - self._rows_in_file) * size]
        table = np.frombuffer(bytes(content), dtype=self._type)
        return table["stamp"].astype(np.int64), table["values"].astype(float)

    def blocks(self, first: int, last: int):
        """Yield what :meth:`rows` returns, some thousand rows at a time."""
        for begin in range(first, last, _ROWS_PER_BLOCK):
            yield self.rows(begin, min(begin + _ROWS_PER_BLOCK, last))


class _Stamps(Sequence):
    def __init__(self, store):
        self._store = store

    def __len__(self):
        return len(self._store)

    def __getitem__(self, place):
        return int(self._store.rows(place, place + 1)[0][0])
