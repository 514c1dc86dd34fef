"""From samples as recorded to samples that can be computed with, and a report on the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.core.stamps import StampLimits, examine_stamps, find
from imu_simulation_framework.recordings.report import RecordingReport

POSITION = ("x", "y")
GLOBAL_POSITION = ("latitude", "longitude")
VELOCITY = ("velocity_east", "velocity_north")
VARIANCES = ("variance_east", "variance_north")


MIN_VALUE = 1e-30
"""In any SI unit: what is smaller is zero to every sensor, but squares and quotients of it leave
the range of numbers."""


@dataclass
class Samples:
    """Samples in the order of recording; a number below :data:`MIN_VALUE` is zero.

    Attributes
    ----------
    format : str
        ``bag``, ``rostopic_csv``, ``csv`` or ``tum``.
    columns : dict of str to ndarray, shape (n,)
        ``stamp`` [s, nan where not set], ``receipt`` [s, when it was recorded; ROS only], and
        quantities in SI units: ``x y z``, ``qx qy qz qw``, ``roll pitch yaw``, ``gyro_x`` ...,
        ``accel_x`` ..., ``latitude longitude`` [deg] ``altitude variance_east
        variance_north position_error hdop status covariance_type speed course velocity_east
        velocity_north``, and ``orientation_covariance gyro_covariance accel_covariance``, the
        first element of each matrix. Axes, senses of rotation and orders are the recording's;
        :mod:`~imu_simulation_framework.recordings.frames` turns them.
    places : ndarray of int, shape (n,)
        Number of each sample in the file, as a person counts.
    place_name : str
        What ``places`` counts: ``message`` or ``line``.
    topic, message_type : str
        Empty if the format does not tell.
    yaw_conventions : dict of str to str
        Of ``yaw`` and ``course``, where the column map says it in words.
    stated_units : frozenset of str
        Quantities whose unit the recording or its column map states.
    """

    path: str
    format: str
    columns: dict[str, np.ndarray]
    places: np.ndarray
    place_name: str
    topic: str = ""
    message_type: str = ""
    yaw_conventions: dict[str, str] = field(default_factory=dict)
    stated_units: frozenset[str] = frozenset()

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
        """Return whether all these columns are there."""
        return all(name in self.columns for name in names)

    def matrix(self, names) -> np.ndarray:
        """Return these columns side by side, shape (n, len(names))."""
        return np.column_stack([self.columns[name] for name in names])

    @property
    def source(self) -> str:
        """File and topic, to begin a sentence with."""
        return f"{self.path}, topic {self.topic}" if self.topic else self.path


MINIMUM_SAMPLES = 10
"""Fewer usable samples are no recording of a drive."""

NORM_TOLERANCE = 1e-3
"""A quaternion whose length is further from 1 was not rounded but wrong."""

LATEST = 1e19
"""Of a time [s], also below zero: nanoseconds since 1970 that somebody calls seconds are below."""

LARGEST_VALUE = 1e9
"""In any SI unit, or degrees: further away than the moon, and angles lose their digits there."""

_NO_QUATERNION = 0.1

ZERO_NORM = 1e-6
"""A shorter quaternion is none."""


class Cleaner:
    """Leaves out step by step what cannot be used, and counts it.

    ``time_offset`` [s] is added to all times. Raises RecordingError if no sample has a time.
    """

    def __init__(self, samples: Samples, time_offset=0.0):
        self.samples = samples
        self.keep = np.ones(len(samples), dtype=bool)
        self.counted: dict[str, Any] = {}
        self.remarks: list[str] = []
        self.times = samples.columns["stamp"]
        source = "column" if "receipt" not in samples else "header stamp"
        if not np.isfinite(self.times).any():
            if "receipt" not in samples:
                raise RecordingError(f"{samples.source}: no sample has a time")
            self.times, source = samples.columns["receipt"], "receipt time"
        self.times = self.times + time_offset if time_offset else self.times
        self.counted["time_source"] = source

    def drop(self, mask, name, reason):
        """Leave out samples that are still in and in the mask.

        Raises RecordingError if none would remain; ``reason`` ends its sentence.
        """
        mask = mask & self.keep
        self.keep &= ~mask
        self.count(mask, name)
        if not self.keep.any():
            raise RecordingError(
                f"{self.samples.source}: none of {len(self.samples)} samples can be used: {reason}"
            )

    def count(self, mask, name):
        """Put into the report where a mask is true."""
        self.counted[name] = find(mask, self.times, self.samples.places)

    def drop_nan(self, names):
        """Leave out samples of which one of these columns is not finite.

        Raises RecordingError if none would remain, or one holds a number that no sensor says.
        """
        values = self.samples.matrix(names)
        finite = np.isfinite(values).all(axis=1)
        self.drop(~finite, "nan", f"values of {', '.join(names)} are not numbers")
        refuse_absurd(self.samples, names, self.keep)

    def unit_quaternions(self, names) -> np.ndarray:
        """Normalise quaternions and leave out those of length zero; shape (n, 4).

        Raises RecordingError if they are all of length zero, or usually of one far from 1.
        """
        quaternions = self.samples.matrix(names)
        norms = np.linalg.norm(quaternions, axis=1)
        zero = norms < ZERO_NORM
        self.drop(zero, "zero_quaternions", "quaternions have length zero")
        usual = float(np.median(norms[self.keep]))
        if abs(usual - 1.0) > _NO_QUATERNION:
            raise RecordingError(
                f"{self.samples.source}: {', '.join(names)} have a length of usually {usual:g}, "
                "expected 1, as quaternions of an orientation have"
            )
        with np.errstate(invalid="ignore"):
            self.count(
                self.keep & (np.abs(norms - 1.0) > NORM_TOLERANCE), "unnormalised_quaternions"
            )
        norms = np.where(self.keep, norms, 1.0)
        return quaternions / norms[:, None]

    def finish(self, limits: StampLimits, minimum_samples, absent=()):
        """Put the remaining samples in order.

        Returns
        -------
        order : ndarray of int
            Indices of the remaining samples, in the order of their times.
        report : RecordingReport
            With what is ``absent``.

        Raises
        ------
        RecordingError
            The clock runs backwards, or fewer than ``minimum_samples`` remain.
        """
        samples = self.samples
        with np.errstate(invalid="ignore"):
            absurd = np.flatnonzero(self.keep & ((self.times > LATEST) | (self.times < -LATEST)))
        if len(absurd):
            raise RecordingError(
                f"{samples.source}: {samples.place_name} {samples.places[absurd[0]]}: its time is "
                f"{self.times[absurd[0]]:g} s, expected at most {LATEST:g}; leave the sample out"
            )
        kept = None if self.keep.all() else np.flatnonzero(self.keep)
        times, places = self.times, samples.places
        if kept is not None:
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
        report = RecordingReport(
            path=samples.path,
            format=samples.format,
            place_name=samples.place_name,
            samples=len(samples),
            topic=samples.topic,
            message_type=samples.message_type,
            stamps=stamps,
            absent=tuple(absent),
            remarks=tuple(self.remarks),
            **self.counted,
        )
        return order if kept is None else kept[order], report


def refuse_absurd(samples: Samples, names, keep) -> None:
    """Raise RecordingError where a column, as far as kept, holds a number that no sensor says."""
    values = samples.matrix(names)
    absurd = np.argwhere(keep[:, None] & (np.abs(values) > LARGEST_VALUE))
    if len(absurd):
        row, column = absurd[0]
        raise RecordingError(
            f"{samples.source}: {samples.place_name} {samples.places[row]}: "
            f"{names[column]} is {values[row, column]:g}, expected at most {LARGEST_VALUE:g}; "
            "leave the sample out"
        )
