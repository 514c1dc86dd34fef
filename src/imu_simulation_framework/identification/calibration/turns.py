"""Turns between times at rest, by an angle that is known without the gyroscope."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping, Sequence

import numpy as np

from imu_simulation_framework.checked_values import AXES, Axes
from imu_simulation_framework.errors import RecordingError
from imu_simulation_framework.identification.calibration.rest_times import RestTime

# A scale factor is never that wrong: less is another number of turns.
_LARGEST_ERROR = 0.3
_MOSTLY = 0.9
_LONG_STEP = 1.5
_LEAST_ANGLE = np.radians(30.0)


@dataclass(frozen=True)
class Turn:
    """A turn from rest to rest, by samples from ``start`` to one before ``stop``.

    Attributes
    ----------
    start, stop : int
    angle : 3 float
        About the sensor's axes [rad].
    sigma : float
        Standard deviation of the angle that a reference gives [rad].
    marked : bool
        Whether a person turned it from mark to mark about an axis of the sensor.
    """

    start: int
    stop: int
    angle: Axes
    sigma: float = 0.0
    marked: bool = True


def whole_turns(
    times: np.ndarray,
    gyro: np.ndarray,
    rests: Sequence[RestTime],
    turns: float | Mapping[str, float] | None,
    source: str = "the recording",
) -> list[Turn]:
    """Return the movements that are so many whole turns about an axis.

    Parameters
    ----------
    times : ndarray, shape (n,)
        [s]
    gyro : ndarray, shape (n, 3)
        [rad/s]
    rests : sequence of RestTime
    turns : float or mapping of str to float
        Whole turns of each movement, either way; or those about ``x``, ``y`` and ``z``.
        Movements by less than two thirds of that bring the sensor from one position to the next.
    source : str
        To begin a sentence with.

    Raises
    ------
    RecordingError
        No number is given, no movement is such a turn, one is about no axis or by another angle,
        or samples are missing in one.
    """
    if turns is None:
        raise RecordingError(
            f"{source}: a gyroscope's scale factor takes turns by a known angle, state how many "
            "whole turns they are, or give a reference"
        )
    wanted = dict(turns) if isinstance(turns, Mapping) else dict.fromkeys(AXES, turns)
    if not set(wanted) <= set(AXES) or not all(
        np.isfinite(count) and count > 0 and count == round(count) for count in wanted.values()
    ):
        raise RecordingError(
            f"{source}: whole turns are a number above 0 for x, y, z or all of them, but this is "
            f"{turns!r}"
        )
    found = []
    for start, stop, angle in _movements(times, gyro, rests):
        axis = int(np.abs(angle).argmax())
        count = wanted.get(AXES[axis])
        if count is None or abs(angle[axis]) < 2.0 * np.pi * count * 2.0 / 3.0:
            continue
        said = f"{source}: the turn from {times[start] - times[0]:.1f} s on"
        if abs(angle[axis]) < _MOSTLY * np.linalg.norm(angle):
            raise RecordingError(f"{said} is about no axis of the sensor, expected one of them")
        if abs(abs(angle[axis]) / (2.0 * np.pi * count) - 1.0) > _LARGEST_ERROR:
            raise RecordingError(
                f"{said} is by about {abs(angle[axis]) / (2.0 * np.pi):.1f} turns about "
                f"{AXES[axis]}, expected {count:g}"
            )
        _require_all_samples(times, start, stop, said)
        whole = np.zeros(3)
        whole[axis] = np.sign(angle[axis]) * 2.0 * np.pi * count
        found.append(Turn(start, stop, _axes(whole)))
    if not found:
        told = ", ".join(f"{count:g} about {axis}" for axis, count in wanted.items())
        raise RecordingError(
            f"{source}: no movement from rest to rest is one of as many whole turns as stated "
            f"({told})"
        )
    return found


def turns_of_reference(
    times: np.ndarray,
    gyro: np.ndarray,
    rests: Sequence[RestTime],
    reference_times: np.ndarray,
    reference_yaw: np.ndarray,
    sigma: float,
    source: str = "the recording",
) -> list[Turn]:
    """Return movements on level ground, with the turn that a reference saw.

    Parameters
    ----------
    times, gyro, rests, source
        As for :func:`whole_turns`.
    reference_times : ndarray, shape (m,)
        On the same clock [s].
    reference_yaw : ndarray, shape (m,)
        [rad], unwrapped.
    sigma : float
        Standard deviation of a yaw of the reference at rest [rad].

    Raises
    ------
    RecordingError
        The reference does not cover one movement by 30 degrees or more, or samples are missing.
    """
    found = []
    for start, stop, _ in _movements(times, gyro, rests):
        before, after = times[start - 1], times[stop - 1]
        if before < reference_times[0] or after > reference_times[-1]:
            continue
        yaw = np.interp([before, after], reference_times, reference_yaw)
        angle = float(yaw[1] - yaw[0])
        if abs(angle) < _LEAST_ANGLE:
            continue
        said = f"{source}: the turn from {times[start] - times[0]:.1f} s on"
        _require_all_samples(times, start, stop, said)
        found.append(Turn(start, stop, (0.0, 0.0, angle), np.sqrt(2.0) * sigma, marked=False))
    if not found:
        raise RecordingError(
            f"{source}: the reference saw no turn by 30 degrees or more from rest to rest"
        )
    return found


def _movements(times, gyro, rests):
    """Return first sample, one behind the last, and the angle of movements between rests."""
    found = []
    for before, after in zip(rests, rests[1:]):
        start, stop = before.stop, after.start
        still = np.concatenate([gyro[before.start : start], gyro[stop : after.stop]])
        steps = np.diff(times[start - 1 : stop])
        angle = (gyro[start:stop] - still.mean(axis=0)).T @ steps
        found.append((start, stop, angle))
    return found


def _require_all_samples(times, start, stop, said):
    steps = np.diff(times[start - 1 : stop])
    if steps.max() > _LONG_STEP * np.median(np.diff(times)):
        raise RecordingError(f"{said} lacks samples, which makes its angle unknown")


def _axes(values) -> Axes:
    x, y, z = (float(value) for value in values)
    return x, y, z
