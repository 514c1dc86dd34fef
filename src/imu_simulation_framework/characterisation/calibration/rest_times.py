"""Detection of times at rest and of turns in a recording.

A block of half a second is at rest if

* the scatter of its readings is at most three times that of the quietest tenth of all blocks,
* its medians differ from those of both neighbours by at most ten times their noise, or by at most a
  fiftieth of the limit of :mod:`.characterisation.samples_at_rest` from second to second, and
* its angular velocity equals that of the slowest blocks, which excludes an even turn.

Consecutive blocks at rest form a time at rest, without the first and the last block, in which a
movement may begin or end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping, Sequence

import numpy as np

from ...core.checks import AXES, Axes, check_number
from ...core.errors import RecordingError
from ..samples_at_rest import MAX_CHANGES, block_medians

_BLOCK_DURATION = 0.25  # s, of a magnetometer's means
_REST_BLOCK = 0.5  # s
_MIN_BLOCK_SAMPLES = 5
_MAX_SCATTER_RATIO = 3.0  # to the quietest tenth of the blocks
_QUIET_SHARE = 0.1
_MAX_NOISE_RATIO = 10.0  # change of a median over its standard deviation by noise
_MIN_CHANGE_SHARE = 0.02  # of the change that samples_at_rest allows


@dataclass(frozen=True)
class RestTime:
    """Time at rest.

    Attributes
    ----------
    start, stop : int
        First sample and end (exclusive).
    """

    start: int
    stop: int


def find_rest(times, values, names, source, minimum_duration=5.0) -> list[RestTime]:
    """Find the times at which the sensor was at rest.

    Parameters
    ----------
    times : array_like, shape (n,)
        Time of each sample [s].
    values : array_like, shape (n, axes)
        Angular velocities [rad/s] and specific forces [m/s^2].
    names : sequence of str
        Names of the axes, which begin with ``gyro`` or ``accel``.
    source : str
        Name of the recording in messages.
    minimum_duration : float
        Shortest time at rest [s].

    Returns
    -------
    list of RestTime
        Times at rest in their order.

    Raises
    ------
    RecordingError
        The sensor is never at rest, or a value is not finite.
    """
    minimum = check_number("minimum_duration", minimum_duration, above=0.0)
    values = np.asarray(values, dtype=float)
    if len(values) != len(times) or not (np.isfinite(values).all() and np.isfinite(times).all()):
        raise RecordingError(f"{source}: a sample is not a finite number; remove it")
    rests = _still_parts(np.asarray(times, dtype=float), values.T, names, minimum)
    if not rests:
        raise RecordingError(
            f"{source}: the sensor is never at rest for {minimum:g} s, expected stationary periods"
        )
    return rests


def _still_parts(times, values, names, minimum) -> list[RestTime]:
    if len(times) < 2:
        return []
    rate = (len(times) - 1) / (times[-1] - times[0])
    size = max(_MIN_BLOCK_SAMPLES, round(_REST_BLOCK * rate))
    blocks = values.shape[1] // size
    if blocks < 3:
        return []
    still = np.ones(blocks, dtype=bool)
    medians = block_medians(values, size)
    for signal, level, name in zip(values, medians, names):
        scatter = signal[: blocks * size].reshape(blocks, size).std(axis=1)
        quiet = np.quantile(scatter, _QUIET_SHARE)
        kind = name.split("_")[0]
        # A quantised signal may be constant for a while, so that the limits have a minimum.
        smallest = _MIN_CHANGE_SHARE * MAX_CHANGES[kind]
        still &= scatter <= _MAX_SCATTER_RATIO * quiet + smallest
        limit = max(smallest, _MAX_NOISE_RATIO * quiet / np.sqrt(size))
        change = np.abs(np.diff(level)) > limit
        still[1:] &= ~change
        still[:-1] &= ~change
    rates = medians[[name.startswith("gyro") for name in names]]
    if still.any() and len(rates):
        slowest = np.argmin(np.where(still, np.sum(rates**2, axis=0), np.inf))
        near = np.all(np.abs(rates - rates[:, [slowest]]) <= MAX_CHANGES["gyro"], axis=0)
        centre = np.median(rates[:, near & still], axis=1)
        still &= np.all(np.abs(rates - centre[:, None]) <= MAX_CHANGES["gyro"], axis=0)
    # A gap in time ends a time at rest.
    long = np.flatnonzero(np.diff(times) > max(_REST_BLOCK, 1.5 / rate))
    still[np.minimum(long // size, blocks - 1)] = False
    edges = np.flatnonzero(np.diff(np.concatenate([[0], still.astype(int), [0]])))
    parts = []
    for first, last in zip(edges[::2], edges[1::2]):
        # No movement begins or ends at the limits of the recording.
        start = 0 if first == 0 else first + 1
        stop = last if last == blocks else last - 1
        if (stop - start) * size / rate >= minimum:
            parts.append(RestTime(int(start * size), int(stop * size)))
    return parts


_MAX_SCALE_ERROR = 0.3  # relative; a larger error is another number of turns
_MIN_AXIS_SHARE = 0.9  # of a turn's angle about an axis of the sensor
_LONG_STEP = 1.5  # sampling periods; a longer step lacks samples
_MIN_ANGLE = np.radians(30.0)  # rad, of a turn of the reference


@dataclass(frozen=True)
class Turn:
    """Turn from rest to rest.

    Attributes
    ----------
    start, stop : int
        First sample and end (exclusive).
    angle : tuple of float
        Angle about each axis of the sensor [rad].
    sigma : float
        Standard deviation of a reference's angle [rad].
    marked : bool
        Whether the sensor was turned by hand from mark to mark about an axis.
    """

    start: int
    stop: int
    angle: Axes
    sigma: float = 0.0
    marked: bool = True


def find_whole_turns(
    times: np.ndarray,
    gyro: np.ndarray,
    rests: Sequence[RestTime],
    turns: float | Mapping[str, float] | None,
    source: str = "the recording",
) -> list[Turn]:
    """Find the movements of a known number of whole turns about an axis.

    Movements of less than two thirds of this number lead from a position to the next.

    Parameters
    ----------
    times : ndarray, shape (n,)
        Time of each sample [s].
    gyro : ndarray, shape (n, 3)
        Angular velocity [rad/s].
    rests : sequence of RestTime
        Times at rest between the movements.
    turns : float or mapping of str to float
        Whole turns of each movement in either direction, or whole turns about ``x``, ``y`` and
        ``z``.
    source : str
        Name of the recording in messages.

    Returns
    -------
    list of Turn
        Turns in their order.

    Raises
    ------
    RecordingError
        The number is missing, no movement is such a turn, a turn is not about an axis or has
        another angle, or samples are missing in a turn.
    """
    if turns is None:
        raise RecordingError(
            f"{source}: the angle of the turns is unknown, but the gyroscope's scale factor needs "
            "it; state the number of whole turns, or a reference"
        )
    counts = dict(turns) if isinstance(turns, Mapping) else dict.fromkeys(AXES, turns)
    if not set(counts) <= set(AXES) or not all(
        np.isfinite(count) and count > 0 and count == round(count) for count in counts.values()
    ):
        raise RecordingError(
            f"{source}: whole turns are {turns!r}, expected a whole number above 0 for x, y, z or "
            "all of them"
        )
    found = []
    for start, stop, angle in _find_movements(times, gyro, rests):
        axis = int(np.abs(angle).argmax())
        count = counts.get(AXES[axis])
        if count is None or abs(angle[axis]) < 2.0 * np.pi * count * 2.0 / 3.0:
            continue
        subject = f"{source}: the turn from {times[start] - times[0]:.1f} s on"
        if abs(angle[axis]) < _MIN_AXIS_SHARE * np.linalg.norm(angle):
            raise RecordingError(
                f"{subject} is not about an axis of the sensor, expected x, y or z"
            )
        if abs(abs(angle[axis]) / (2.0 * np.pi * count) - 1.0) > _MAX_SCALE_ERROR:
            raise RecordingError(
                f"{subject} is by about {abs(angle[axis]) / (2.0 * np.pi):.1f} turns about "
                f"{AXES[axis]}, expected {count:g}"
            )
        _require_all_samples(times, start, stop, subject)
        x, y, z = (np.sign(angle[axis]) * 2.0 * np.pi * count * np.eye(3)[axis]).tolist()
        found.append(Turn(start, stop, (x, y, z)))
    if not found:
        expected = ", ".join(f"{count:g} about {axis}" for axis, count in counts.items())
        raise RecordingError(
            f"{source}: no movement from rest to rest has the stated number of whole turns "
            f"({expected})"
        )
    return found


def find_reference_turns(
    times: np.ndarray,
    gyro: np.ndarray,
    rests: Sequence[RestTime],
    reference_times: np.ndarray,
    reference_yaw: np.ndarray,
    sigma: float,
    source: str = "the recording",
) -> list[Turn]:
    """Find the turns on level ground with the angles of a reference.

    Parameters
    ----------
    times : ndarray, shape (n,)
        Time of each sample [s].
    gyro : ndarray, shape (n, 3)
        Angular velocity [rad/s].
    rests : sequence of RestTime
        Times at rest between the movements.
    reference_times : ndarray, shape (m,)
        Times of the reference on the same clock [s].
    reference_yaw : ndarray, shape (m,)
        Unwrapped yaw of the reference [rad].
    sigma : float
        Standard deviation of the reference's yaw at rest [rad].
    source : str, optional
        Name of the recording in messages.

    Returns
    -------
    list of Turn
        Turns in their order.

    Raises
    ------
    RecordingError
        The reference covers no turn of at least 30 degrees, or samples are missing in a turn.
    """
    found = []
    for start, stop, _ in _find_movements(times, gyro, rests):
        begin, end = times[start - 1], times[stop - 1]
        if begin < reference_times[0] or end > reference_times[-1]:
            continue
        yaw = np.interp([begin, end], reference_times, reference_yaw)
        angle = float(yaw[1] - yaw[0])
        if abs(angle) < _MIN_ANGLE:
            continue
        subject = f"{source}: the turn from {times[start] - times[0]:.1f} s on"
        _require_all_samples(times, start, stop, subject)
        found.append(Turn(start, stop, (0.0, 0.0, angle), np.sqrt(2.0) * sigma, marked=False))
    if not found:
        raise RecordingError(
            f"{source}: the reference has no turn of 30 degrees or more from rest to rest"
        )
    return found


def _find_movements(times, gyro, rests):
    """Return first sample, end and angle of each movement between times at rest."""
    movements = []
    for previous, following in zip(rests, rests[1:]):
        start, stop = previous.stop, following.start
        still = np.concatenate([gyro[previous.start : start], gyro[stop : following.stop]])
        steps = np.diff(times[start - 1 : stop])
        angle = (gyro[start:stop] - still.mean(axis=0)).T @ steps
        movements.append((start, stop, angle))
    return movements


def _require_all_samples(times, start, stop, subject):
    steps = np.diff(times[start - 1 : stop])
    if steps.max() > _LONG_STEP * np.median(np.diff(times)):
        raise RecordingError(f"{subject} lacks samples, so its angle is unknown")


_MIN_FIELD_CHANGE = 0.05  # of the field, which is three degrees
_MAX_DIRECTION_DURATION = 2.0  # s


def find_turning_times(times: np.ndarray, readings: np.ndarray) -> list[RestTime]:
    """Return the times at which a magnetometer is turned, with two seconds of each direction.

    A direction lasts until the field changes by 3 degrees. A magnetometer at rest repeats the same
    reading, so that minutes before and after the motion would dominate a calibration.

    Parameters
    ----------
    times : ndarray, shape (n,)
        Time of each sample [s].
    readings : ndarray, shape (n, 3)
        Magnetic field, T.

    Returns
    -------
    list of RestTime
        Times to use; the whole recording if the sensor is turned all the time or has few readings.
    """
    everything = [RestTime(0, len(times))]
    if len(times) < 3:
        return everything
    period = float(np.median(np.diff(times)))
    size = max(1, round(_BLOCK_DURATION / period))
    edges = np.arange(0, len(times), size)
    levels = np.array([readings[edge : edge + size].mean(axis=0) for edge in edges])
    unit = _approximate_field(levels)
    kept = np.ones(len(edges), dtype=bool)
    anchor, begin = levels[0], times[0]
    for index, (edge, level) in enumerate(zip(edges.tolist(), levels)):
        if np.linalg.norm(level - anchor) > _MIN_FIELD_CHANGE * unit:
            anchor, begin = level, times[edge]
        kept[index] = times[edge] - begin < _MAX_DIRECTION_DURATION
    ends = np.flatnonzero(np.diff(np.concatenate([[0], kept.astype(int), [0]])))
    return [
        RestTime(first * size, min(last * size, len(times)))
        for first, last in zip(ends[::2].tolist(), ends[1::2].tolist())
    ]


def _approximate_field(levels):
    """Return the approximate magnitude of the field, half the range of the widest axis.

    The outermost levels are left out, so that single readings have no effect. The time at rest has
    no effect on a range.
    """
    outer = min(3 + len(levels) // 1000, len(levels) // 10)
    inner = np.sort(levels, axis=0)[outer : len(levels) - outer]
    return 0.5 * float(np.ptp(inner, axis=0).max())
