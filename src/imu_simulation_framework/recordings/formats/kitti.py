"""Raw recordings of KITTI: the fused GNSS and inertial solution of the car's OXTS RT3003.

A folder ``oxts`` contains ``timestamps.txt``, with a local time in each line, and for each line a
file with 30 numbers in ``data``, whose name is the line number counted from 0 (readme.txt of the
raw data development kit). The numbers are positions with their accuracy, orientation, rates and
accelerations, at 10 Hz (``sync``) or 100 Hz (``extract``). All of them belong to the same
navigation solution, which can be a reference for another IMU, but not for the IMU of this
navigator.
"""

import re

import numpy as np

from ...core.errors import RecordingError
from ...core.sentences import quote
from ...core.tables import ACCEL, EULER, GYRO
from ..cleaning import VELOCITY, Samples
from ..column_maps import QUANTITIES
from ..file_access import kitti_folder, read_start

# Indices of the used values among the 30 numbers. Positions are in degrees, angles in radians;
# axes are forward-left-up, and yaw counts from the east, as in this package.
_PLACE_AND_VELOCITY = ("latitude", "longitude", "altitude", *EULER, *reversed(VELOCITY))
_VALUES = {name: place for place, name in enumerate(_PLACE_AND_VELOCITY)}
_VALUES.update({**dict(zip(ACCEL, range(11, 14))), **dict(zip(GYRO, range(17, 20)))})
_POSITION_ACCURACY = 23  # index of the accuracy of north and east [m]
_NUMBERS = 30  # number of values in the file of a sample
_TIME = re.compile(r"(?:19|20)\d\d-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?")
_MAX_TIMES = 64 * 2**20  # bytes of timestamps.txt, about six hours at 100 Hz
_MAX_SAMPLE = 2**14  # bytes; a file with 30 numbers has less than 1000


def read_kitti(path) -> Samples:
    """Read the samples of a KITTI folder ``oxts``, or of the folder that contains it.

    The times have no time zone and are interpreted as UTC.

    Parameters
    ----------
    path : path-like
        Folder.

    Returns
    -------
    Samples
        Samples as recorded.

    Raises
    ------
    RecordingError
        A file is missing, or its content is not valid.
    """
    folder = kitti_folder(path)
    if folder is None:
        raise RecordingError(f"{path}: oxts/timestamps.txt is missing, expected a KITTI folder")
    files = sorted((folder / "data").glob("[0-9]*.txt"))
    if not files:
        raise RecordingError(
            f"{folder / 'data'}: sample files are missing, expected files such as 0000000000.txt"
        )
    times = _times(folder / "timestamps.txt")
    for file in files:
        if not file.stem.isdecimal() or len(file.stem) > 18 or int(file.stem) >= len(times):
            raise RecordingError(
                f"{file}: no timestamp for this file, since timestamps.txt has {len(times)} lines, "
                "expected one line per file"
            )
    numbers = [int(file.stem) for file in files]
    values = np.array([_values(file) for file in files])
    columns = {name: values[:, index] for name, index in _VALUES.items()}
    columns["stamp"] = times[numbers]
    with np.errstate(over="ignore"):  # an accuracy whose square overflows is treated as unknown
        columns["variance_east"] = columns["variance_north"] = values[:, _POSITION_ACCURACY] ** 2
    stated_units = {
        name: next(iter(QUANTITIES[name].units)) for name in columns if name in QUANTITIES
    }
    return Samples(
        str(path), "kitti", columns, np.array(numbers), "file", stated_units=stated_units
    )


def _times(path):
    times = []
    for line, text in enumerate(_text(path, _MAX_TIMES).rstrip().splitlines(), start=1):
        try:
            if not _TIME.fullmatch(text.strip()):
                raise ValueError
            times.append(np.datetime64(text.strip(), "ns").astype(np.int64))
        except ValueError:
            raise RecordingError(
                f"{path}: line {line} is {quote(text)}, expected a time such as "
                "2011-09-26 13:02:25.964389445"
            ) from None
    return np.array(times) / 1e9


def _text(path, limit):
    content = read_start(path, limit)
    if len(content) >= limit:
        raise RecordingError(f"{path}: has {limit} bytes or more, expected fewer in a KITTI drive")
    return content.decode("utf-8-sig", errors="replace")


def _values(file):
    numbers = _text(file, _MAX_SAMPLE).split()
    try:
        values = [float(word) for word in numbers]
    except ValueError:
        values = []
    if len(values) != _NUMBERS:
        raise RecordingError(f"{file}: expected {_NUMBERS} numbers separated by spaces")
    return values
