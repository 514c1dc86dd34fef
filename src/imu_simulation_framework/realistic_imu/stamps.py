"""The stamps of an ideal IMU's messages: the period that was meant, and what is wrong with them."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from imu_simulation_framework.core.errors import RecordingError
from imu_simulation_framework.motion.stamps import NANOSECONDS
from imu_simulation_framework.recordings.cleaning import LARGEST_VALUE

LONGEST_GAP = 10.0
"""Time without messages [s] that is bridged; behind a longer one all begins anew."""

FIRST_AGAIN = 1.0
"""Time [s] by which stamps go back when the simulation was begun again, and not only disordered."""

_ROUNDING = 1e-3
"""Share of a period by which a measured one may differ from the one that was meant."""


@dataclasses.dataclass
class StreamReport:
    """What there was in the stamps of the ideal IMU.

    Attributes
    ----------
    taken : int
        Messages of which the model made a step.
    repeated : int
        Left out, with the stamp of the one before.
    disordered : int
        Left out, with an earlier stamp than the one before.
    not_finite, absurd : int
        Left out, with a value that is no number, or one above :data:`.LARGEST_VALUE`.
    lacking : int
        Left out, without an orientation, angular velocity or acceleration, which others have.
    oriented_late : int
        With an orientation that is not used, as the first messages had none.
    poses, fields : int
        Of where the robot is and of the magnetic field: left out, as their values cannot be.
    gaps, bridged : int
        Times that messages were missing, and how many steps were made instead of them.
    restarts : int
        Times that the model began anew: stamps jumped back, or far ahead.
    largest_gap : float
        Time from one stamp to the next [s].
    """

    taken: int = 0
    repeated: int = 0
    disordered: int = 0
    not_finite: int = 0
    absurd: int = 0
    lacking: int = 0
    oriented_late: int = 0
    poses: int = 0
    fields: int = 0
    gaps: int = 0
    bridged: int = 0
    restarts: int = 0
    largest_gap: float = 0.0

    def usable(self, values) -> bool:
        """Return whether the values of a message can be used; count it if not."""
        if not all(map(math.isfinite, values)):
            self.not_finite += 1
        elif not self.possible(values):
            self.absurd += 1
        else:
            return True
        return False

    @staticmethod
    def possible(values) -> bool:
        """Return whether all values are numbers that something measured."""
        return all(-LARGEST_VALUE <= value <= LARGEST_VALUE for value in values)

    def sentences(self) -> list[str]:
        """Return what is worth saying, one sentence each."""
        told = []
        for count, why in (
            (self.repeated, "have the stamp of the one before"),
            (self.disordered, "have a stamp before that of the one before"),
            (self.not_finite, "hold values that are no numbers"),
            (self.absurd, f"hold values above {LARGEST_VALUE:g}"),
            (self.lacking, "lack an orientation, rate or acceleration, which others have"),
            (self.poses, "tell no pose of the robot with their numbers"),
            (self.fields, "tell no magnetic field with their numbers"),
        ):
            if count:
                told.append(f"messages left out that {why}: {count}")
        if self.oriented_late:
            told.append(
                f"messages whose orientation is not used, as the first had none: "
                f"{self.oriented_late}"
            )
        if self.gaps:
            told.append(
                f"messages missing: {self.bridged}, at {self.gaps} places, up to "
                f"{self.largest_gap:.3g} s; the IMU's errors went on through them"
            )
        if self.restarts:
            told.append(
                f"stamps jumped back, or ahead by more than {LONGEST_GAP:g} s: {self.restarts}; "
                "the IMU began anew there, with other random numbers"
            )
        return told


def usual_period(stamps, sensor_rate: float | None = None) -> float:
    """Return the time from one sample to the next that was meant, of stamps that may be irregular.

    The mean of the steps that are near their median, as it was before it was rounded to
    nanoseconds: that of a whole part of the sensor's period, or of a whole number of samples a
    second, if it is one to a part in a thousand. Raises RecordingError: no two stamps follow each
    other.

    Parameters
    ----------
    stamps : array_like of int, shape (n,)
        [ns]
    sensor_rate : float, optional
        Of the simulated sensor [Hz].

    Returns
    -------
    float
        [s]
    """
    steps = np.diff(np.asarray(stamps, dtype=np.int64))
    steps = steps[steps > 0]
    if not len(steps):
        raise RecordingError(
            "the ideal IMU has less than two different stamps, so that it has no rate"
        )
    median = np.median(steps)
    period = float(np.mean(steps[np.abs(steps - median) <= 0.5 * median])) / NANOSECONDS
    meant = []
    if sensor_rate is not None:
        ratio = max(1, round(1.0 / (sensor_rate * period)))
        meant.append(1.0 / (sensor_rate * ratio))
    meant.append(1.0 / max(1, round(1.0 / period)))
    return next((value for value in meant if abs(value - period) <= _ROUNDING * period), period)
