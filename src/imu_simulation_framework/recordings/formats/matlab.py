"""Data of MATLAB (``.mat`` of versions 5 to 7.3) and HDF5: arrays of one length are a table.

Vectors are columns by their names, a matrix of up to nine columns is ``gyro[0]``, ``gyro[1]``, ...
Each struct, or group, is a table by its name; arrays of different lengths in one are several.
"""

from __future__ import annotations

import collections
import struct
import zlib

import numpy as np
import pandas as pd

from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.core.extras import required
from imu_simulation_framework.core.files import size_text
from imu_simulation_framework.recordings.cleaning import MINIMUM_SAMPLES
from imu_simulation_framework.recordings.file_access import (
    UNPACKED_LIMIT,
    unpacked,
    unpacked_blocks,
)
from imu_simulation_framework.recordings.formats.mat5 import Mat5

_MOST_COLUMNS = 9
_DAMAGE = (
    *(ArithmeticError, AttributeError, EOFError, LookupError, MemoryError, StopIteration),
    *(OSError, RuntimeError, TypeError, ValueError, struct.error, zlib.error),
)
_HDF5_AT = 512  # bytes; what MATLAB puts before HDF5


def read_mat(path) -> dict[str, pd.DataFrame]:
    """Return the tables of a file of MATLAB.

    Raises RecordingError: it is damaged, or holds nothing but objects of MATLAB, as timetables are.
    """
    with unpacked(path) as plain:
        with open(plain, "rb") as file:
            is_hdf5 = file.read(_HDF5_AT + 4)[_HDF5_AT:] == b"\x89HDF"
        if is_hdf5:
            return _hdf5(path, plain)
        try:
            mat = Mat5(b"".join(unpacked_blocks(plain)))
        except _DAMAGE as error:
            raise _damaged(path, "data of MATLAB", error) from None
    return _tables(path, mat.content, mat.opaque)


def read_hdf5(path) -> dict[str, pd.DataFrame]:
    """Return the tables of an HDF5 file; raises as :func:`read_mat`."""
    with unpacked(path) as plain:
        return _hdf5(path, plain)


def _hdf5(path, plain):
    library = required("h5py", "data of MATLAB 7.3 and HDF5")
    sizes: list[int] = []
    try:
        with library.File(plain, "r") as file:
            opaque = "#subsystem#" in file
            content = _group(library, path, file, sizes)
    except _DAMAGE as error:
        raise _damaged(path, "HDF5, as MATLAB 7.3 writes it", error) from None
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
                raise RecordingError(f"{path}: holds more than {size_text(UNPACKED_LIMIT)}")
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
        below = f"{place}{name}"
        if isinstance(value, dict):
            _collect(value, f"{below}.", found)
        elif isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
            _collect(
                {k: np.array([one.get(k, np.nan) for one in value]) for k in value[0]},
                f"{below}.",
                found,
            )
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


def _damaged(path, what, error):
    reason = " ".join(str(error).split()) or type(error).__name__
    return RecordingError(f"{path}: cannot be read as {what}, it is truncated or damaged: {reason}")
