"""Read static IMU recordings that may not fit into memory.

The recording is read in blocks. Each column is stored in a temporary file until it is processed.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, replace
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from ..core.errors import RecordingError
from ..core.stamps import StampLimits
from ..core.tables import ACCEL, GYRO
from . import cleaning, messages
from .evidence import refuse_contradicted_units
from .frames import ImuConventions, conventional_imu
from .imu import mask_unknown_parts
from .quantities import SampleRequest, sample_blocks

_ROWS_AT_ONCE = 20_000  # maximum number of text rows in memory at the same time
_TIMES = ("stamp", "receipt")
_USED_COLUMNS = (*_TIMES, *GYRO, *ACCEL, "gyro_covariance", "accel_covariance")


class ColumnsOnDisk:
    """Numeric columns in temporary files; ``columns[k]`` reads or replaces a column.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    """

    def __init__(self, names: Sequence[str]):
        self.names = tuple(names)
        # The files stay open while the columns are in use, and are deleted when the process ends.
        self._files = {name: tempfile.TemporaryFile() for name in names}  # noqa: SIM115

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, place: int) -> np.ndarray:
        if not 0 <= place < len(self):
            raise IndexError(place)
        file = self._files[self.names[place]]
        file.seek(0)
        return np.fromfile(file)

    def __setitem__(self, place: int, values: np.ndarray) -> None:
        file = self._files[self.names[place]]
        file.seek(0)
        file.truncate()
        file.write(np.ascontiguousarray(values, dtype=float).data)
        file.flush()

    def append(self, columns: Mapping[str, np.ndarray]) -> None:
        """Append samples to each column.

        Parameters
        ----------
        columns : mapping of str to ndarray, shape (n,)
            New samples for all columns.
        """
        for name, file in self._files.items():
            file.write(np.ascontiguousarray(columns[name], dtype=float).data)

    def only(self, names: Sequence[str]) -> ColumnsOnDisk:
        """Return a view of the named columns, which shares their files.

        Parameters
        ----------
        names : sequence of str
            Names of the columns.

        Returns
        -------
        ColumnsOnDisk
            Selected columns in the same files.
        """
        some = ColumnsOnDisk(())
        some.names = tuple(names)
        some._files = {name: self._files[name] for name in names}
        return some


@dataclass(frozen=True)
class RecordedAtRest:
    """Recorded angular velocities and specific forces of an IMU at rest.

    Parameters
    ----------
    times : numpy.ndarray, shape (n,)
        Strictly increasing times [s].
    axes : ColumnsOnDisk
        Some or all of the columns ``gyro_x`` ... [rad/s] and ``accel_x`` ... [m/s^2].
    report : RecordingReport
        Report on used and ignored samples.
    """

    times: np.ndarray
    axes: ColumnsOnDisk
    report: cleaning.RecordingReport


def read_at_rest(
    path: str | os.PathLike[str],
    topic: str = "",
    columns: Mapping[str, str] | None = None,
    *,
    conventions: ImuConventions | None = None,
    rate: float | None = None,
    stamp_limits: StampLimits | None = None,
    progress: Callable[[int], object] | None = None,
) -> RecordedAtRest:
    """Read the gyroscope and the accelerometer of a static recording, or some of their axes.

    Parameters
    ----------
    path : path-like
        Recording.
    topic : str, optional
        Topic in a bag; empty for the only topic of type sensor_msgs/Imu.
    columns : mapping of str to str, optional
        Column map, quantity -> ``"column [unit]"``.
    conventions : ImuConventions, optional
        Axes and units of the recording.
    rate : float, optional
        Sample rate of a recording without times [Hz].
    stamp_limits : StampLimits, optional
        Limits on gaps and on stamps in the wrong order.
    progress : callable, optional
        Function that is called with the size of each block [bytes] after it has been read.

    Returns
    -------
    RecordedAtRest
        Samples in SI units, in the axes of the robot.

    Raises
    ------
    RecordingError
        The recording cannot be read or used, its values contradict their units, or the disk is
        full.
    """
    try:
        return _read(
            path,
            topic,
            columns,
            conventions or ImuConventions(),
            rate,
            stamp_limits or StampLimits(),
            progress,
        )
    except OSError as error:
        raise RecordingError(
            f"{path}: the samples cannot be stored in {tempfile.gettempdir()}: "
            f"{error.strerror or error}; set the environment variable TMPDIR to another folder"
        ) from None


def _read(
    path: Any,
    topic: str,
    columns: Any,
    conventions: ImuConventions,
    rate: float | None,
    limits: Any,
    progress: Any,
) -> RecordedAtRest:
    kept: Any = None
    masks, places, count = [], [], 0
    request = SampleRequest("IMU", messages.IMU_TYPES, topic, columns=columns, timed=rate is None)
    for samples in sample_blocks(path, request, rows_at_once=_ROWS_AT_ONCE, progress=progress):
        used = {name: values for name, values in samples.columns.items() if name in _USED_COLUMNS}
        if rate is not None:
            used["stamp"] = (count + np.arange(len(samples))) / rate
            used.pop("receipt", None)
        count += len(samples)
        samples = mask_unknown_parts(replace(samples, columns=used))
        samples = conventional_imu(samples, conventions)
        if kept is None:
            refuse_contradicted_units(samples, conventions.stated_units)
            groups = [tuple(axis for axis in group if axis in used) for group in (GYRO, ACCEL)]
            groups = [group for group in groups if group]
            kept = ColumnsOnDisk([name for name in _USED_COLUMNS[:8] if name in used])
        finite = [np.isfinite(samples.matrix(group)).all(axis=1) for group in groups]
        for group, mask in zip(groups, finite):
            cleaning.refuse_absurd(samples, group, mask)
        kept.append(samples.columns)
        masks.append(np.array(finite).reshape(len(groups), -1))
        places.append(_range_of(samples.places))
    usable = np.concatenate(masks, axis=1)
    filled = [row for row, mask in enumerate(usable) if mask.any()]
    if not filled:
        alternatives = " or ".join(", ".join(group) for group in groups)
        raise RecordingError(f"{samples.source}: no sample has finite values of {alternatives}")
    names = [axis for row in filled for axis in groups[row]]
    times = {name: kept[place] for place, name in enumerate(kept.names) if name in _TIMES}
    measured = (kept[kept.names.index(name)] for name in names)
    repeated = cleaning.repeated_samples(measured, None if rate else times["stamp"])
    remarks = samples.remarks
    if repeated.any():
        remarks = (*remarks, cleaning.repeated_sentence(repeated))
        if rate is not None:
            times["stamp"] = (np.cumsum(~repeated) - 1) / rate
    cleaner = cleaning.Cleaner(
        replace(samples, columns=times, places=_joined(places), remarks=remarks)
    )
    del times, places
    if repeated.any():
        cleaner.leave_out(repeated)
    if not usable[filled].all():
        missing = ~usable[filled].all(axis=0)
        cleaner.drop(missing, "nan", f"values of {', '.join(names)} are not finite numbers")
    order, report = cleaner.finish(limits, cleaning.MINIMUM_SAMPLES)
    axes, recorded = kept.only(names), cleaner.times
    if len(order) < len(recorded) or report.stamps.unordered:
        recorded = recorded[order]
        for place in range(len(names)):
            axes[place] = axes[place][order]
    return RecordedAtRest(recorded, axes, report)


def _joined(places: list[Any]) -> Any:
    first, last, count = places[0][0], places[-1][-1], sum(map(len, places))
    return range(first, last + 1) if last - first + 1 == count else np.concatenate(places)


def _range_of(places: np.ndarray) -> range | np.ndarray:
    """Return increasing integers; if they are consecutive, return a range to save memory."""
    first, last = int(places[0]), int(places[-1])
    return range(first, last + 1) if last - first + 1 == len(places) else places
