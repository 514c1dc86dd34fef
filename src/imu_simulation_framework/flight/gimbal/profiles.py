"""Joints that move as prescribed: not at all, as sines, or along a table.

Times count from the start of the motion.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from imu_simulation_framework.core.checked_values import Axes, checked_number, checked_numbers
from imu_simulation_framework.core.errors import ConfigurationError, MotionError
from imu_simulation_framework.core.sentences import shown
from imu_simulation_framework.flight.gimbal.geometry import JointMotion

_LARGEST_ANGLE = 100.0 * 2.0 * math.pi
_LATE = 1e-6  # s; beyond a table's end by rounding


@dataclass(frozen=True)
class FixedJoints:
    """Joints that stand.

    Parameters
    ----------
    angles : 3 float
        Of pan, tilt, roll [rad].

    Raises
    ------
    ConfigurationError
        A value is not what it must be; the sentence begins with its name.
    """

    angles: Axes = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        angles = checked_numbers("angles", self.angles, 3, maximum=_LARGEST_ANGLE)
        object.__setattr__(self, "angles", angles)

    @property
    def reach(self) -> tuple[tuple[float, float], ...]:
        """Smallest and largest angle of each joint [rad]."""
        return tuple((angle, angle) for angle in self.angles)

    def joints(self, time: np.ndarray) -> JointMotion:
        """Return the joints at times [s]."""
        still = np.zeros((len(time), 3))
        return JointMotion(time, still + self.angles, still, still)


@dataclass(frozen=True)
class SinusoidalJoints:
    r"""Joints that swing, each as :math:`o + A \sin(2 \pi t / P + \varphi)`.

    Parameters
    ----------
    amplitudes : 3 float
        Of pan, tilt, roll [rad].
    periods : 3 float
        [s]
    offsets, phases : 3 float
        [rad]

    Raises
    ------
    ConfigurationError
        A value is not what it must be; the sentence begins with its name.
    """

    amplitudes: Axes = (0.0, 0.0, 0.0)
    periods: Axes = (4.0, 6.0, 10.0)
    offsets: Axes = (0.0, 0.0, 0.0)
    phases: Axes = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        bounds: dict[str, dict[str, float]] = {
            "amplitudes": {"minimum": 0.0, "maximum": _LARGEST_ANGLE},
            "periods": {"minimum": 1e-3, "maximum": 1e6},
            "offsets": {"maximum": _LARGEST_ANGLE},
            "phases": {"maximum": _LARGEST_ANGLE},
        }
        for name, bound in bounds.items():
            value = checked_numbers(name, getattr(self, name), 3, **bound)
            object.__setattr__(self, name, value)

    @property
    def reach(self) -> tuple[tuple[float, float], ...]:
        """Smallest and largest angle of each joint [rad]."""
        return tuple((o - a, o + a) for o, a in zip(self.offsets, self.amplitudes))

    def joints(self, time: np.ndarray) -> JointMotion:
        """Return the joints at times [s]."""
        pulsation = 2.0 * np.pi / np.array(self.periods)
        size = np.array(self.amplitudes)
        phase = np.outer(time - time[0], pulsation) + self.phases
        sine = size * np.sin(phase)
        return JointMotion(
            time,
            self.offsets + sine,
            pulsation * size * np.cos(phase),
            -(pulsation**2) * sine,
        )


@dataclass(frozen=True)
class TabulatedJoints:
    """Joints that go through given angles at given times, between them along cubic splines.

    Parameters
    ----------
    times : sequence of n float
        At least two, increasing [s].
    angles : sequence of n x 3 float
        Pan, tilt, roll [rad].
    source : str
        Where they are from, for sentences.

    Raises
    ------
    ConfigurationError
        Times do not increase, or there are too few; the sentence begins with what is wrong.
    """

    times: tuple[float, ...]
    angles: tuple[Axes, ...]
    source: str = "the table"

    def __post_init__(self) -> None:
        times = tuple(checked_number("times", time) for time in _listed("times", self.times))
        angles = tuple(
            checked_numbers("angles", row, 3, maximum=_LARGEST_ANGLE)
            for row in _listed("angles", self.angles)
        )
        if len(times) < 2 or len(times) != len(angles):
            raise ConfigurationError(
                f"times has {len(times)} values and angles {len(angles)} rows, but there must be "
                "as many of both, at least two."
            )
        for earlier, later in zip(times, times[1:]):
            if not earlier < later:
                raise ConfigurationError(
                    f"times has {later:g} s after {earlier:g} s, but they must increase."
                )
        if not isinstance(self.source, str):
            raise ConfigurationError(f"source is {shown(self.source)}, but it must be a text.")
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "angles", angles)

    @property
    def reach(self) -> tuple[tuple[float, float], ...]:
        """Smallest and largest angle of each joint [rad]."""
        return tuple((min(column), max(column)) for column in zip(*self.angles))

    def joints(self, time: np.ndarray) -> JointMotion:
        """Return the joints at times [s].

        Raises
        ------
        MotionError
            The table does not reach from the first time to the last.
        """
        since = time - time[0]
        first, last = self.times[0], self.times[-1]
        if first > _LATE or since[-1] > last + _LATE:
            raise MotionError(
                f"{self.source}: the gimbal's angles are there from {first:g} s to {last:g} s, but "
                f"the motion needs them from 0 s to {since[-1]:g} s after its start"
            )
        path = JointMotion.from_angles(self.times, self.angles, np.clip(since, first, last))
        return JointMotion(time, path.angle, path.rate, path.acceleration)


def _listed(name, value):
    values = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(values, (list, tuple)):
        raise ConfigurationError(f"{name} is {shown(value)}, but it must be a list.")
    return values
