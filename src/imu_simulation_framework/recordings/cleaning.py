"""Samples of a recording, removal of unusable samples, and the report on it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from ..core.errors import RecordingError
from ..core.stamps import Occurrences, StampLimits, StampReport, count_occurrences, examine_stamps


@dataclass(frozen=True)
class RecordingReport:
    """Report on a recording that was read.

    Parameters
    ----------
    path, format, place_name, topic, message_type : str
        See :class:`Samples`.
    samples : int
        Samples in the recording.
    time_source : str
        ``header stamp``, ``receipt time`` or ``column``.
    stamps : StampReport
        Report on the stamps of the samples with usable values; its ``usable`` counts the samples
        that remain.
    nan, zero_quaternions : Occurrences
        Samples that were dropped for a value that is nan, or for a quaternion of length zero.
    unnormalised_quaternions : Occurrences
        Quaternions of another length than 1 that were normalised.
    no_fix : Occurrences
        Satellite positions without a fix that were dropped.
    unknown_variance : Occurrences
        Satellite positions for which a usual variance is assumed.
    absent : tuple of str
        Parts that the recording lacks, of ``orientation``, ``gyro`` and ``accel``.
    orientation_source : str
        Source of an IMU's orientation: ``recorded``, ``fused`` (from gyroscope and accelerometer),
        ``integrated`` (the yaw alone, from the gyroscope), or empty without an orientation.
    fusion : dict
        Settings of the filter that fused the orientation.
    positioning : dict or None
        Computation of the path from satellite positions, see
        :class:`~imu_simulation_framework.motion.positioning.FixReport`.
    fixes : pandas.DataFrame or None
        Satellite positions as received, x, y [m] in the axes of the path.
    latitude : float or None
        Latitude of the first fix [deg].
    remarks : tuple of str
        Further sentences for the report.
    """

    path: str
    format: str
    place_name: str
    samples: int
    topic: str = ""
    message_type: str = ""
    time_source: str = "column"
    stamps: StampReport = field(default_factory=StampReport)
    nan: Occurrences = field(default_factory=Occurrences)
    zero_quaternions: Occurrences = field(default_factory=Occurrences)
    unnormalised_quaternions: Occurrences = field(default_factory=Occurrences)
    no_fix: Occurrences = field(default_factory=Occurrences)
    unknown_variance: Occurrences = field(default_factory=Occurrences)
    absent: tuple[str, ...] = ()
    orientation_source: str = ""
    fusion: dict = field(default_factory=dict)
    positioning: dict | None = None
    fixes: pd.DataFrame | None = field(default=None, compare=False, repr=False)
    latitude: float | None = field(default=None, compare=False, repr=False)
    remarks: tuple[str, ...] = ()

    @property
    def usable(self) -> int:
        """Samples that remain."""
        return self.stamps.usable

    def sentences(self) -> list[str]:
        """Describe the samples in use and each kind of dropped samples.

        Returns
        -------
        list of str
            Sentences for the user.
        """
        stamps = self.stamps
        kind = f" ({self.message_type})" if self.message_type else ""
        source = f"{self.path}, topic {self.topic}" if self.topic else self.path
        sentences = [
            f"{source}{kind}: {stamps.usable} of {self.samples} samples in use, "
            f"{stamps.duration:.2f} s at {stamps.rate:.2f} Hz"
        ]
        if self.time_source == "receipt time":
            sentences.append("the header stamps are not set, so the times of reception are used")
        occurrences = (
            (self.no_fix, "without a fix, dropped"),
            (self.nan, "with a value that is not a number, dropped"),
            (self.zero_quaternions, "with a quaternion of length zero, dropped"),
            (self.unnormalised_quaternions, "with a quaternion not of length 1, normalised"),
            (self.unknown_variance, "of unknown variance, a typical one is assumed"),
            (stamps.missing, "without a time stamp, dropped"),
            (stamps.unordered, "earlier than one before, sorted"),
            (stamps.duplicates, "with a duplicate time stamp, dropped"),
        )
        for occurrence, treatment in occurrences:
            if occurrence:
                sentences.append(self._counted(occurrence, "sample", treatment))
        if stamps.packets_text:
            sentences.append(stamps.packets_text)
        elif stamps.gaps:
            longest = f"{stamps.longest_gap:.3f} s at {stamps.longest_gap_time:.3f} s"
            extent = f"longer than the usual time between samples, the longest {longest}"
            sentences.append(self._counted(stamps.gaps, "gap", extent))
        if self.absent:
            sentences.append(f"the recording has no {' and no '.join(self.absent)}")
        return sentences + list(self.remarks)

    def _counted(self, seen: Occurrences, name, clause) -> str:
        count = f"{seen.count} {name}" if seen.count == 1 else f"{seen.count} {name}s"
        time = "" if seen.first_time is None else f" at {seen.first_time:.3f} s"
        return f"{count} {clause}, the first is {self.place_name} {seen.first_place}{time}"

    def to_dict(self) -> dict:
        """Return the report for a summary.

        Returns
        -------
        dict of str to object
            Plain values by name; counts of kinds are nested.
        """
        values = asdict(replace(self, fixes=None))
        # Neither is for a summary.
        del values["fixes"], values["latitude"]
        lists = {"absent": list(self.absent), "remarks": list(self.remarks)}
        return {**values, "stamps": self.stamps.to_dict(), **lists, "usable": self.usable}


POSITION = ("x", "y")
GLOBAL_POSITION = ("latitude", "longitude")
VELOCITY = ("velocity_east", "velocity_north")
VARIANCES = ("variance_east", "variance_north")

_FAR = 1.0  # deg; a drive whose median distance from 0, 0 is larger does not pass there


def is_missing_fix(latitude, longitude) -> np.ndarray:
    """Return which positions are 0, 0 because the receiver has no fix.

    Parameters
    ----------
    latitude, longitude : ndarray, shape (n,)
        Geodetic coordinates [deg].

    Returns
    -------
    ndarray of bool, shape (n,)
        True for 0, 0 in a recording that is elsewhere.
    """
    zero = (latitude == 0.0) & (longitude == 0.0)
    distances = np.hypot(latitude, longitude)
    distances = distances[np.isfinite(distances) & ~zero]
    return zero & bool(len(distances) and np.median(distances) > _FAR)


MIN_VALUE = 1e-30
"""Least absolute value in any SI unit: a smaller number is zero to every sensor, but its square or
quotient leaves the range of numbers."""


@dataclass
class Samples:
    """Samples in the order of recording; a number below :data:`MIN_VALUE` is zero.

    Axes, senses of rotation and orders are the recording's;
    :mod:`~imu_simulation_framework.recordings.frames` converts them.

    Parameters
    ----------
    path : str
        The recording.
    format : str
        One of ``file_access.FORMATS``.
    columns : dict of str to numpy.ndarray, shape (n,)
        ``stamp`` [s, nan where not set], ``receipt`` [s, time of recording; ROS only], and
        quantities in SI units: ``x y z``, ``qx qy qz qw``, ``roll pitch yaw``, ``gyro_x`` ...,
        ``accel_x`` ..., ``latitude longitude`` [deg] ``altitude variance_east variance_north
        position_error hdop status covariance_type speed course velocity_east velocity_north``, and
        ``orientation_covariance gyro_covariance accel_covariance``, the first element of each
        matrix.
    places : numpy.ndarray, shape (n,)
        Number of each sample in the file, counted from 1.
    place_name : str
        Kind of place: ``message``, ``line``, ``row`` or ``file``.
    topic, message_type : str
        Empty for formats without them.
    yaw_conventions : dict of str to str
        Conventions of ``yaw`` and ``course``, where the column map states them in words.
    stated_units : dict of str to str
        Quantity -> unit that the recording or its column map states.
    remarks : tuple of str
        Sentences on how the samples were read.
    """

    path: str
    format: str
    columns: dict[str, np.ndarray]
    places: np.ndarray
    place_name: str
    topic: str = ""
    message_type: str = ""
    yaw_conventions: dict[str, str] = field(default_factory=dict)
    stated_units: dict[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    def __post_init__(self):
        for name, column in self.columns.items():
            tiny = (np.abs(column) < MIN_VALUE) & (column != 0.0)
            if tiny.any():
                self.columns[name] = np.where(tiny, 0.0, column)

    def __len__(self):
        return len(self.places)

    def __contains__(self, name):
        return name in self.columns

    def has(self, names) -> bool:
        """Return whether all of several columns are present.

        Parameters
        ----------
        names : iterable of str
            Names of the columns.

        Returns
        -------
        bool
            True if none is missing.
        """
        return all(name in self.columns for name in names)

    def matrix(self, names) -> np.ndarray:
        """Return columns side by side.

        Parameters
        ----------
        names : sequence of str
            Names of the columns.

        Returns
        -------
        ndarray, shape (n, len(names))
            Values in the units of the columns.
        """
        return np.column_stack([self.columns[name] for name in names])

    @property
    def source(self) -> str:
        """File and topic, for the beginning of a message."""
        return f"{self.path}, topic {self.topic}" if self.topic else self.path


def describe_samples(samples: Samples) -> str:
    """Return number, rate and time of samples in words.

    Parameters
    ----------
    samples : Samples
        Samples with stamps or, if no stamp is set, times of reception.

    Returns
    -------
    str
        For example ``1200 samples, usually 100 a second, over 12.0 s from 3.000 s on``.
    """
    number = f"{len(samples)} samples"
    times = samples.columns.get("stamp", np.zeros(0))
    if not np.isfinite(times).any():
        times = samples.columns.get("receipt", times)
    known = np.sort(times[np.isfinite(times)])
    steps = np.diff(known)
    steps = steps[steps > 0.0]
    if len(steps) == 0:
        return f"{number} without times"
    rate, duration = 1.0 / float(np.median(steps)), known[-1] - known[0]
    return (
        f"{number}, usually {rate:.4g} per second, over {duration:.1f} s from {known[0]:.3f} s on"
    )


_FEWEST_RUNS = 20  # runs of equal samples, without which their usual length is not determined
_MANY_REPEATED = 0.05  # share of repeated samples, from which on the recording repeats them
_SAME_LENGTH = 0.9  # share of the runs that have the usual length, if a logger repeats samples


def repeated_samples(columns, stamps=None) -> np.ndarray:
    """Return which samples repeat the sample before them.

    A message that two nodes publish, or a bag that was merged with itself, has every sample twice;
    a logger that is faster than its sensor has each as often. A sensor at rest with coarse steps
    repeats itself by chance, and then not always as often: such samples are none of these.

    Parameters
    ----------
    columns : iterable of array_like, shape (n,)
        Measured quantities, each of which is read once.
    stamps : array_like, shape (n,), optional
        Times [s]. Samples also count as repeated if many have the time and the values of the sample
        before.

    Returns
    -------
    ndarray of bool, shape (n,)
        True for a repetition.
    """
    repeated = None
    for values in columns:
        values = np.asarray(values, dtype=float)
        same = (values[1:] == values[:-1]) | (np.isnan(values[1:]) & np.isnan(values[:-1]))
        repeated = same if repeated is None else repeated & same
    if repeated is None or not repeated.any():
        return np.zeros(0 if repeated is None else len(repeated) + 1, dtype=bool)
    repeated = np.concatenate([[False], repeated])
    lengths = np.diff(np.flatnonzero(~repeated))
    if len(lengths) >= _FEWEST_RUNS:
        usual = int(np.median(lengths))
        if usual > 1 and np.mean(lengths == usual) > _SAME_LENGTH:
            return repeated
    if stamps is not None and np.ptp(stamps) > 0.0:
        repeated &= np.concatenate([[False], stamps[1:] == stamps[:-1]])
        if np.mean(repeated) > _MANY_REPEATED:
            return repeated
    return np.zeros(len(repeated), dtype=bool)


def repeated_sentence(repeated) -> str:
    """Describe the number of repeated samples in a clause of a report.

    Parameters
    ----------
    repeated : ndarray of bool, shape (n,)
        Result of :func:`repeated_samples`.

    Returns
    -------
    str
        Clause with both numbers.
    """
    return (
        f"{np.count_nonzero(repeated)} of {len(repeated)} samples repeat the previous one, dropped"
    )


MINIMUM_SAMPLES = 10
"""Least number of usable samples of a recording."""
LARGEST_VALUE = 1e9
"""Largest absolute value in any SI unit or degrees. It exceeds the distance of the moon in metres,
and larger angles lose their digits."""
ZERO_NORM = 1e-6
"""Length of a quaternion, below which it states no orientation."""
_NO_QUATERNION = (
    0.1  # deviation of the usual length from 1, above which numbers are not quaternions
)
_NORM_TOLERANCE = 1e-3  # deviation of a length from 1 that rounding does not make
_LATEST = 1e19  # s, largest absolute time; nanoseconds since 1970 taken for seconds are 1.8e18


class Cleaner:
    """Removal of unusable samples, step by step, with their counts.

    Parameters
    ----------
    samples : Samples
        Samples as recorded.
    time_offset : float
        Added to all times [s].

    Raises
    ------
    RecordingError
        No sample has a time.
    """

    def __init__(self, samples: Samples, time_offset=0.0):
        self.samples = samples
        self.keep = np.ones(len(samples), dtype=bool)
        self.remarks: list[str] = list(samples.remarks)
        self.times = samples.columns["stamp"]
        source = "column" if "receipt" not in samples else "header stamp"
        if not np.isfinite(self.times).any():
            if "receipt" not in samples:
                raise RecordingError(f"{samples.source}: no sample has a time")
            self.times, source = samples.columns["receipt"], "receipt time"
        self.times = self.times + time_offset if time_offset else self.times
        self.counted: dict[str, Any] = {"time_source": source}

    def leave_out(self, mask):
        """Leave out samples without counting them.

        Parameters
        ----------
        mask : ndarray of bool, shape (n,)
            Samples to leave out, which are reported elsewhere.
        """
        self.keep &= ~mask

    def drop(self, mask, name, reason):
        """Leave out samples, and count them under a name of the report.

        Parameters
        ----------
        mask : ndarray of bool, shape (n,)
            Samples to leave out.
        name : str
            Field of :class:`RecordingReport`.
        reason : str
            End of the message if no sample remains.

        Raises
        ------
        RecordingError
            No sample would remain.
        """
        mask = mask & self.keep
        self.keep &= ~mask
        self.count(mask, name)
        if not self.keep.any():
            raise RecordingError(
                f"{self.samples.source}: none of {len(self.samples)} samples can be used: {reason}"
            )

    def count(self, mask, name):
        """Count the samples of a mask under a name of the report.

        Parameters
        ----------
        mask : ndarray of bool, shape (n,)
            Samples to count.
        name : str
            Field of :class:`RecordingReport`.
        """
        self.counted[name] = count_occurrences(mask, self.times, self.samples.places)

    def drop_nan(self, names):
        """Leave out samples with a value that is not finite.

        Parameters
        ----------
        names : sequence of str
            Columns of the values.

        Raises
        ------
        RecordingError
            No sample would remain, or a value is beyond :data:`LARGEST_VALUE`.
        """
        values = self.samples.matrix(names)
        finite = np.isfinite(values).all(axis=1)
        self.drop(~finite, "nan", f"values of {', '.join(names)} are not numbers")
        refuse_absurd(self.samples, names, self.keep)

    def unit_quaternions(self, names) -> np.ndarray:
        """Normalise quaternions, and leave out those of length zero.

        Parameters
        ----------
        names : sequence of str
            Columns of x, y, z and w.

        Returns
        -------
        ndarray, shape (n, 4)
            Unit quaternions; those that are left out are not normalised.

        Raises
        ------
        RecordingError
            All quaternions have length zero, or their usual length is far from 1.
        """
        quaternions = self.samples.matrix(names)
        norms = np.linalg.norm(quaternions, axis=1)
        zero = norms < ZERO_NORM
        self.drop(zero, "zero_quaternions", "quaternions have length zero")
        usual = float(np.median(norms[self.keep]))
        if abs(usual - 1.0) > _NO_QUATERNION:
            raise RecordingError(
                f"{self.samples.source}: {', '.join(names)} usually have the length {usual:g}, "
                "expected 1 for quaternions of an orientation"
            )
        with np.errstate(invalid="ignore"):
            self.count(
                self.keep & (np.abs(norms - 1.0) > _NORM_TOLERANCE), "unnormalised_quaternions"
            )
        norms = np.where(self.keep, norms, 1.0)
        return quaternions / norms[:, None]

    def finish(self, limits: StampLimits, minimum_samples, absent=()):
        """Order the remaining samples by time.

        Parameters
        ----------
        limits : StampLimits
            Limits on gaps and disorder of the stamps.
        minimum_samples : int
            Least number of samples that have to remain.
        absent : sequence of str
            Parts that the recording lacks, for the report.

        Returns
        -------
        order : numpy.ndarray of int
            Indices of the remaining samples, in the order of their times.
        report : RecordingReport
            Report on the samples.

        Raises
        ------
        RecordingError
            The clock runs backwards, or too few samples remain.
        """
        samples = self.samples
        with np.errstate(invalid="ignore"):
            absurd = np.flatnonzero(self.keep & ((self.times > _LATEST) | (self.times < -_LATEST)))
        if len(absurd):
            raise RecordingError(
                f"{samples.source}: {samples.place_name} {samples.places[absurd[0]]}: its time is "
                f"{self.times[absurd[0]]:g} s, expected at most {_LATEST:g}; leave the sample out"
            )
        kept, times, places = None, self.times, samples.places
        if not self.keep.all():
            kept = np.flatnonzero(self.keep)
            times, places = times[kept], np.asarray(places)[kept]
        order, stamps = examine_stamps(times, places, limits)
        refusal = stamps.refusal(limits, samples.place_name)
        if refusal:
            raise RecordingError(f"{samples.source}: {refusal}")
        if len(order) < minimum_samples:
            raise RecordingError(
                f"{samples.source}: {len(order)} of {len(samples)} samples can be used, "
                f"expected at least {minimum_samples}"
            )
        same = ("path", "format", "place_name", "topic", "message_type")
        report = RecordingReport(
            **{name: getattr(samples, name) for name in same},
            samples=len(samples),
            stamps=stamps,
            absent=tuple(absent),
            remarks=tuple(self.remarks),
            **self.counted,
        )
        return order if kept is None else kept[order], report


def refuse_absurd(samples: Samples, names, keep) -> None:
    """Reject samples with a value beyond :data:`LARGEST_VALUE`.

    Parameters
    ----------
    samples : Samples
        Samples with the columns.
    names : sequence of str
        Columns to check.
    keep : ndarray of bool, shape (n,)
        Samples in use.

    Raises
    ------
    RecordingError
        A value in use is beyond the limit.
    """
    values = samples.matrix(names)
    absurd = np.argwhere(keep[:, None] & (np.abs(values) > LARGEST_VALUE))
    if len(absurd):
        row, column = absurd[0]
        raise RecordingError(
            f"{samples.source}: {samples.place_name} {samples.places[row]}: "
            f"{names[column]} is {values[row, column]:g}, expected at most {LARGEST_VALUE:g}; "
            "leave the sample out"
        )
