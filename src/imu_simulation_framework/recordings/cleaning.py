"""Samples of a recording, removal of unusable samples, and a report on the removed samples."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from ..core.errors import RecordingError
from ..core.stamps import Occurrences, StampLimits, StampReport, count_occurrences, examine_stamps


@dataclass(frozen=True)
class RecordingReport:
    """Report on the samples of a recording that are used, corrected or dropped.

    Parameters
    ----------
    path, format, place_name, topic, message_type : str
        See :class:`Samples`.
    samples : int
        Number of samples in the recording.
    time_source : str
        ``header stamp``, ``receipt time`` or ``column``.
    stamps : StampReport
        Report on the stamps of the samples with usable values; its ``usable`` counts the samples
        that remain.
    nan, zero_quaternions : Occurrences
        Samples that were dropped because a value is nan, or the norm of a quaternion is zero.
    unnormalised_quaternions : Occurrences
        Quaternions with a norm other than 1 that were normalised.
    no_fix : Occurrences
        Satellite positions without a fix that were dropped.
    unknown_variance : Occurrences
        Satellite positions for which a typical variance is assumed.
    absent : tuple of str
        Missing signals of the recording, among ``orientation``, ``gyro`` and ``accel``.
    orientation_source : str
        Source of an IMU's orientation: ``recorded``, ``fused`` (from gyroscope and accelerometer),
        ``integrated`` (the yaw alone, from the gyroscope), or empty without an orientation.
    fusion : dict
        Settings of the filter that fused the orientation.
    positioning : dict or None
        Report on the path computed from satellite positions, see
        :class:`~imu_simulation_framework.motion.positioning.FixReport`.
    fixes : pandas.DataFrame or None
        Satellite positions as received: x, y [m] in the axes of the path.
    latitude : float or None
        Latitude of the first fix [deg].
    remarks : tuple of str
        Further remarks for the report.
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
        """Number of samples that are used."""
        return self.stamps.usable

    def sentences(self) -> list[str]:
        """Describe the number of used samples, and the dropped samples by reason.

        Returns
        -------
        list of str
            Messages for the user.
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
            (self.zero_quaternions, "with a quaternion of norm 0, dropped"),
            (self.unnormalised_quaternions, "with a quaternion whose norm is not 1, normalised"),
            (self.unknown_variance, "with unknown variance, a typical variance is assumed"),
            (stamps.missing, "without a time stamp, dropped"),
            (stamps.unordered, "earlier than a previous sample, sorted"),
            (stamps.duplicates, "with a duplicate time stamp, dropped"),
        )
        for occurrence, treatment in occurrences:
            if occurrence:
                sentences.append(self._counted(occurrence, "sample", treatment))
        if stamps.packets_text:
            sentences.append(stamps.packets_text)
        elif stamps.gaps:
            longest = f"{stamps.longest_gap:.3f} s at {stamps.longest_gap_time:.3f} s"
            extent = f"longer than the usual sampling period, the longest {longest}"
            sentences.append(self._counted(stamps.gaps, "gap", extent))
        if self.absent:
            sentences.append(f"the recording has no {' and no '.join(self.absent)}")
        return sentences + list(self.remarks)

    def _counted(self, seen: Occurrences, name, clause) -> str:
        count = f"{seen.count} {name}" if seen.count == 1 else f"{seen.count} {name}s"
        time = "" if seen.first_time is None else f" at {seen.first_time:.3f} s"
        return f"{count} {clause}, the first is {self.place_name} {seen.first_place}{time}"

    def to_dict(self) -> dict:
        """Return the report as a dictionary for the summary of an experiment.

        Returns
        -------
        dict of str to object
            Plain values by name; the counts of dropped samples are nested.
        """
        values = asdict(replace(self, fixes=None))
        # Neither of these fields belongs in a summary.
        del values["fixes"], values["latitude"]
        lists = {"absent": list(self.absent), "remarks": list(self.remarks)}
        return {**values, "stamps": self.stamps.to_dict(), **lists, "usable": self.usable}


POSITION = ("x", "y")
GLOBAL_POSITION = ("latitude", "longitude")
VELOCITY = ("velocity_east", "velocity_north")
VARIANCES = ("variance_east", "variance_north")

# Degrees; a drive whose median position is farther from 0, 0 does not pass through 0, 0.
_MIN_DISTANCE_FROM_ORIGIN = 1.0


def is_missing_fix(latitude, longitude) -> np.ndarray:
    """Return a mask of positions at 0 deg, 0 deg, which receivers output without a fix.

    Parameters
    ----------
    latitude, longitude : ndarray, shape (n,)
        Geodetic coordinates [deg].

    Returns
    -------
    ndarray of bool, shape (n,)
        True for positions at 0 deg, 0 deg if the recording was made elsewhere.
    """
    zero = (latitude == 0.0) & (longitude == 0.0)
    distances = np.hypot(latitude, longitude)
    distances = distances[np.isfinite(distances) & ~zero]
    return zero & bool(len(distances) and np.median(distances) > _MIN_DISTANCE_FROM_ORIGIN)


MIN_VALUE = 1e-30
"""Smallest nonzero absolute value in any SI unit.

Smaller values are below the resolution of any sensor, and their squares or quotients may underflow
or overflow."""


@dataclass
class Samples:
    """Samples as recorded; absolute values below :data:`MIN_VALUE` are set to zero.

    Axes, directions of rotation, and the order of samples are those of the recording;
    :mod:`~imu_simulation_framework.recordings.frames` converts them.

    Parameters
    ----------
    path : str
        Path of the recording.
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
        Name of the numbered element: ``message``, ``line``, ``row`` or ``file``.
    topic, message_type : str
        Empty for formats without them.
    yaw_conventions : dict of str to str
        Conventions of ``yaw`` and ``course`` that the column map states.
    stated_units : dict of str to str
        Quantity -> unit that the recording or its column map states.
    remarks : tuple of str
        Remarks on how the samples were read.
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
        """Return whether all named columns are present.

        Parameters
        ----------
        names : iterable of str
            Names of the columns.

        Returns
        -------
        bool
            True if no column is missing.
        """
        return all(name in self.columns for name in names)

    def matrix(self, names) -> np.ndarray:
        """Return a matrix of the named columns.

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
        """File and, in a bag, topic: the prefix of messages about the samples."""
        return f"{self.path}, topic {self.topic}" if self.topic else self.path


def describe_samples(samples: Samples) -> str:
    """Describe the number, rate and duration of the samples.

    Parameters
    ----------
    samples : Samples
        Samples with stamps or, if no stamp is set, times of reception.

    Returns
    -------
    str
        For example ``1200 samples, usually 100 per second, over 12.0 s from 3.000 s on``.
    """
    number = f"{len(samples)} samples"
    times = samples.columns.get("stamp", np.zeros(0))
    if not np.isfinite(times).any():
        times = samples.columns.get("receipt", times)
    known = times[np.isfinite(times)]
    known.sort()
    steps = np.diff(known)
    steps = steps[steps > 0.0]
    if len(steps) == 0:
        return f"{number} without times"
    duration = known[-1] - known[0]
    rate = 1.0 / float(np.median(steps, overwrite_input=True))
    return (
        f"{number}, usually {rate:.4g} per second, over {duration:.1f} s from {known[0]:.3f} s on"
    )


_FEWEST_RUNS = 20  # minimum number of runs of identical samples for evaluating the median length
_MANY_REPEATED = 0.05  # share of repeated stamps with repeated values that is not accidental
_SAME_LENGTH = 0.9  # minimum share of runs with the median length if a logger repeats samples


def repeated_samples(columns, stamps=None) -> np.ndarray:
    """Return a mask of the samples that repeat the previous sample.

    If two nodes publish a message, or a bag was merged with itself, each sample is recorded twice;
    a logger that is faster than its sensor records each sample the same number of times. A sensor
    at rest with a coarse resolution repeats values by chance, and each a different number of times:
    these samples are not marked.

    Parameters
    ----------
    columns : iterable of array_like, shape (n,)
        Measured quantities; the iterable is read once.
    stamps : array_like, shape (n,), optional
        Times [s]. Samples are also marked if many have the same time and the same values as the
        previous sample.

    Returns
    -------
    ndarray of bool, shape (n,)
        True for a repeated sample.
    """
    repeated = None
    for values in columns:
        values = np.asarray(values, dtype=float)
        is_repeated = (values[1:] == values[:-1]) | (np.isnan(values[1:]) & np.isnan(values[:-1]))
        repeated = is_repeated if repeated is None else repeated & is_repeated
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
    """Describe the number of repeated samples for a report.

    Parameters
    ----------
    repeated : ndarray of bool, shape (n,)
        Result of :func:`repeated_samples`.

    Returns
    -------
    str
        Clause with the numbers of repeated and of all samples.
    """
    return (
        f"{np.count_nonzero(repeated)} of {len(repeated)} samples repeat the previous one, dropped"
    )


MINIMUM_SAMPLES = 10
"""Smallest number of usable samples in a recording."""
LARGEST_VALUE = 1e9
"""Largest absolute value in SI units or degrees.

It exceeds the distance to the Moon in metres, and larger angles have too few significant digits."""
ZERO_NORM = 1e-6
"""Norm below which a quaternion does not represent an orientation."""
_NO_QUATERNION = 0.1  # deviation of the median norm from 1 above which values are not quaternions
_NORM_TOLERANCE = 1e-3  # deviation of a norm from 1 that cannot result from rounding
_LATEST = 1e19  # s, largest absolute time; nanoseconds since 1970 read as seconds are 1.8e18


class Cleaner:
    """Stepwise removal of unusable samples, with counts for the report.

    Parameters
    ----------
    samples : Samples
        Samples as recorded.
    time_offset : float
        Offset that is added to all times [s].

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
                raise RecordingError(f"{samples.source}: no sample has a time, expected stamps")
            self.times, source = samples.columns["receipt"], "receipt time"
        self.times = self.times + time_offset if time_offset else self.times
        self.counted: dict[str, Any] = {"time_source": source}

    def leave_out(self, mask):
        """Remove samples without counting them.

        Parameters
        ----------
        mask : ndarray of bool, shape (n,)
            Samples to remove; they are reported elsewhere.
        """
        self.keep &= ~mask

    def drop(self, mask, name, reason):
        """Remove samples and count them in a field of the report.

        Parameters
        ----------
        mask : ndarray of bool, shape (n,)
            Samples to remove.
        name : str
            Field of :class:`RecordingReport`.
        reason : str
            Reason in the error message if no sample remains.

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
                f"{self.samples.source}: 0 of {len(self.samples)} samples can be used, since "
                f"{reason}"
            )

    def count(self, mask, name):
        """Count samples in a field of the report, without removing them.

        Parameters
        ----------
        mask : ndarray of bool, shape (n,)
            Samples to count.
        name : str
            Field of :class:`RecordingReport`.
        """
        self.counted[name] = count_occurrences(mask, self.times, self.samples.places)

    def drop_nan(self, names):
        """Remove samples with a value that is not finite.

        Parameters
        ----------
        names : sequence of str
            Columns of the values.

        Raises
        ------
        RecordingError
            No sample would remain, or a value is beyond :data:`LARGEST_VALUE`.
        """
        finite = np.ones(len(self.samples), dtype=bool)
        for name in names:
            finite &= np.isfinite(self.samples.columns[name])
        self.drop(~finite, "nan", f"values of {', '.join(names)} are not finite numbers")
        refuse_absurd(self.samples, names, self.keep)

    def unit_quaternions(self, names) -> np.ndarray:
        """Normalise quaternions and remove samples with a quaternion of norm zero.

        Parameters
        ----------
        names : sequence of str
            Columns of x, y, z and w.

        Returns
        -------
        ndarray, shape (n, 4)
            Unit quaternions; quaternions of removed samples are not normalised.

        Raises
        ------
        RecordingError
            All quaternions have norm zero, or their median norm is far from 1.
        """
        quaternions = self.samples.matrix(names)
        norms = np.linalg.norm(quaternions, axis=1)
        zero = norms < ZERO_NORM
        self.drop(zero, "zero_quaternions", "the quaternions have norm 0")
        usual = float(np.median(norms[self.keep]))
        if abs(usual - 1.0) > _NO_QUATERNION:
            raise RecordingError(
                f"{self.samples.source}: the median norm of {', '.join(names)} is {usual:g}, "
                "expected 1 for quaternions"
            )
        with np.errstate(invalid="ignore"):
            self.count(
                self.keep & (np.abs(norms - 1.0) > _NORM_TOLERANCE), "unnormalised_quaternions"
            )
        norms = np.where(self.keep, norms, 1.0)
        return quaternions / norms[:, None]

    def finish(self, limits: StampLimits, minimum_samples, absent=()):
        """Sort the remaining samples by time.

        Parameters
        ----------
        limits : StampLimits
            Limits on gaps and on stamps in the wrong order.
        minimum_samples : int
            Smallest number of samples that must remain.
        absent : sequence of str
            Missing signals of the recording, for the report.

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
                f"{samples.source}: {samples.place_name} {samples.places[absurd[0]]}: the time is "
                f"{self.times[absurd[0]]:g} s, expected at most {_LATEST:g}; remove the sample"
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
        shared_fields = ("path", "format", "place_name", "topic", "message_type")
        report = RecordingReport(
            **{name: getattr(samples, name) for name in shared_fields},
            samples=len(samples),
            stamps=stamps,
            absent=tuple(absent),
            remarks=tuple(self.remarks),
            **self.counted,
        )
        return order if kept is None else kept[order], report


def refuse_absurd(samples: Samples, names, keep) -> None:
    """Raise an error if the magnitude of a used value exceeds :data:`LARGEST_VALUE`.

    Parameters
    ----------
    samples : Samples
        Samples with the columns.
    names : sequence of str
        Columns to check.
    keep : ndarray of bool, shape (n,)
        Samples that are used.

    Raises
    ------
    RecordingError
        A used value exceeds the limit.
    """
    absurd = {
        name: np.flatnonzero(keep & (np.abs(samples.columns[name]) > LARGEST_VALUE))
        for name in names
    }
    rows = {name: places[0] for name, places in absurd.items() if len(places)}
    if rows:
        name = min(rows, key=lambda name: rows[name])
        raise RecordingError(
            f"{samples.source}: {samples.place_name} {samples.places[rows[name]]}: "
            f"{name} is {samples.columns[name][rows[name]]:g}, expected at most {LARGEST_VALUE:g}; "
            "remove the sample"
        )
