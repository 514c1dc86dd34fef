"""Detection of stationary periods and turns in a recording.

A half-second block is at rest if

* the scatter of its readings is at most three times that of the quietest tenth of all blocks,
* its medians differ from those of both neighbours by at most ten times their noise, or by at most a
  fiftieth of the limit for successive seconds in :mod:`.characterisation.samples_at_rest`, and
* its angular velocity equals that of the slowest blocks, which excludes a turn at constant rate.

Consecutive blocks at rest form a stationary period. Its first and last block are excluded, because
a movement may begin or end in them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping, Sequence

import numpy as np

from ...core.checks import AXES, Axes, check_number
from ...core.errors import RecordingError
from ..samples_at_rest import MAX_CHANGES, block_medians

_BLOCK_DURATION = 0.25  # s; duration of the blocks over which a magnetometer is averaged
_REST_BLOCK = 0.5  # s; duration of the blocks that are tested for rest
_MIN_BLOCK_SAMPLES = 5
_MAX_SCATTER_RATIO = 3.0  # largest scatter at rest, relative to the quietest 10 % of the blocks
_QUIET_SHARE = 0.1
_MAX_NOISE_RATIO = 10.0  # largest change of a median at rest, relative to its standard deviation
_MIN_CHANGE_SHARE = 0.02  # changes of up to this fraction of MAX_CHANGES are always accepted


@dataclass(frozen=True)
class RestTime:
    """Stationary period of a recording.

    Attributes
    ----------
    start, stop : int
        Index of the first sample, and index after the last sample.
    """

    start: int
    stop: int


def find_rest(times, values, names, source, minimum_duration=5.0) -> list[RestTime]:
    """Find the periods of a recording in which the sensor is at rest.

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
        Shortest duration of a stationary period [s].

    Returns
    -------
    list of RestTime
        Stationary periods in chronological order.

    Raises
    ------
    RecordingError
        The sensor is never at rest, or a value is not finite.
    """
    minimum = check_number("minimum_duration", minimum_duration, above=0.0)
    values = np.asarray(values, dtype=float)
    if len(values) != len(times) or not (np.isfinite(values).all() and np.isfinite(times).all()):
        raise RecordingError(
            f"{source}: a sample is not a finite number, expected finite numbers; remove the sample"
        )
    rests = _find_rest_times(np.asarray(times, dtype=float), values.T, names, minimum)
    if not rests:
        raise RecordingError(
            f"{source}: the sensor is never at rest for {minimum:g} s, expected stationary periods"
        )
    return rests


def _find_rest_times(times, values, names, minimum) -> list[RestTime]:
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
        # The limits have a lower bound, because a quantised signal may be constant for some time.
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
    # A gap in the time stamps ends a stationary period.
    long = np.flatnonzero(np.diff(times) > max(_REST_BLOCK, 1.5 / rate))
    still[np.minimum(long // size, blocks - 1)] = False
    edges = np.flatnonzero(np.diff(np.concatenate([[0], still.astype(int), [0]])))
    parts = []
    for first, last in zip(edges[::2], edges[1::2]):
        # The blocks next to a movement are excluded, but not the ends of the recording.
        start = 0 if first == 0 else first + 1
        stop = last if last == blocks else last - 1
        if (stop - start) * size / rate >= minimum:
            parts.append(RestTime(int(start * size), int(stop * size)))
    return parts


_MAX_SCALE_ERROR = 0.3  # relative; a larger deviation implies a different number of rotations
_MIN_AXIS_SHARE = 0.9  # smallest share of a turn's angle that is about one axis of the sensor
_LONG_STEP = 1.5  # sampling periods; a longer time step implies missing samples
_MIN_ANGLE = np.radians(30.0)  # rad; smallest turn of the reference that is used


@dataclass(frozen=True)
class Turn:
    """Turn of a sensor between two stationary periods.

    Attributes
    ----------
    start, stop : int
        Index of the first sample, and index after the last sample.
    angle : tuple of float
        True angle about each axis of the sensor [rad].
    sigma : float
        Standard deviation of an angle from a reference [rad].
    marked : bool
        Whether the sensor was turned by hand about an axis, from one mark to another.
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
    """Find the movements that consist of a known number of full rotations about a sensor axis.

    Movements of less than two thirds of this number are changes of orientation between turns.

    Parameters
    ----------
    times : ndarray, shape (n,)
        Time of each sample [s].
    gyro : ndarray, shape (n, 3)
        Angular velocity [rad/s].
    rests : sequence of RestTime
        Stationary periods between the movements.
    turns : float or mapping of str to float
        Number of whole turns in each movement, in either direction; or a number for each of ``x``,
        ``y`` and ``z``.
    source : str
        Name of the recording in messages.

    Returns
    -------
    list of Turn
        Turns in chronological order.

    Raises
    ------
    RecordingError
        The number is missing, no movement has this number of turns, a turn is not about an axis or
        has a different angle, or samples are missing in a turn.
    """
    if turns is None:
        raise RecordingError(
            f"{source}: the angle of the turns is unknown, but is needed for the gyroscope's scale "
            "factor; state the number of whole turns, or a reference"
        )
    counts = dict(turns) if isinstance(turns, Mapping) else dict.fromkeys(AXES, turns)
    if not set(counts) <= set(AXES) or not all(
        np.isfinite(count) and count > 0 and count == round(count) for count in counts.values()
    ):
        raise RecordingError(
            f"{source}: number of turns is {turns!r}, expected a whole number above 0, for all "
            "axes or for each of x, y and z"
        )
    marked_turns = []
    for start, stop, angle in _find_movements(times, gyro, rests):
        axis = int(np.abs(angle).argmax())
        count = counts.get(AXES[axis])
        if count is None or abs(angle[axis]) < 2.0 * np.pi * count * 2.0 / 3.0:
            continue
        subject = f"{source}: the turn that starts at {times[start] - times[0]:.1f} s"
        if abs(angle[axis]) < _MIN_AXIS_SHARE * np.linalg.norm(angle):
            raise RecordingError(
                f"{subject} is about an oblique axis, expected the axis x, y or z of the sensor"
            )
        if abs(abs(angle[axis]) / (2.0 * np.pi * count) - 1.0) > _MAX_SCALE_ERROR:
            raise RecordingError(
                f"{subject} consists of about {abs(angle[axis]) / (2.0 * np.pi):.1f} turns about "
                f"{AXES[axis]}, expected {count:g}"
            )
        _require_all_samples(times, start, stop, subject)
        x, y, z = (np.sign(angle[axis]) * 2.0 * np.pi * count * np.eye(3)[axis]).tolist()
        marked_turns.append(Turn(start, stop, (x, y, z)))
    if not marked_turns:
        expected = ", ".join(f"{count:g} about {axis}" for axis, count in counts.items())
        raise RecordingError(
            f"{source}: no movement between stationary periods has the stated number of whole "
            f"turns ({expected})"
        )
    return marked_turns


def find_reference_turns(
    times: np.ndarray,
    gyro: np.ndarray,
    rests: Sequence[RestTime],
    reference_times: np.ndarray,
    reference_yaw: np.ndarray,
    sigma: float,
    source: str = "the recording",
) -> list[Turn]:
    """Find turns on level ground, and determine their angles from a reference heading.

    Parameters
    ----------
    times : ndarray, shape (n,)
        Time of each sample [s].
    gyro : ndarray, shape (n, 3)
        Angular velocity [rad/s].
    rests : sequence of RestTime
        Stationary periods between the movements.
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
        Turns in chronological order.

    Raises
    ------
    RecordingError
        The reference covers no turn of at least 30 degrees, or samples are missing in a turn.
    """
    turns = []
    for start, stop, _ in _find_movements(times, gyro, rests):
        begin, end = times[start - 1], times[stop - 1]
        if begin < reference_times[0] or end > reference_times[-1]:
            continue
        yaw = np.interp([begin, end], reference_times, reference_yaw)
        angle = float(yaw[1] - yaw[0])
        if abs(angle) < _MIN_ANGLE:
            continue
        subject = f"{source}: the turn that starts at {times[start] - times[0]:.1f} s"
        _require_all_samples(times, start, stop, subject)
        turns.append(Turn(start, stop, (0.0, 0.0, angle), np.sqrt(2.0) * sigma, marked=False))
    if not turns:
        raise RecordingError(
            f"{source}: the reference has no turn between stationary periods, expected at least "
            "one turn of 30 degrees or more"
        )
    return turns


def _find_movements(times, gyro, rests):
    """Return the sample range and rotation angles of each movement between stationary periods."""
    movements = []
    for previous, following in zip(rests, rests[1:]):
        start, stop = previous.stop, following.start
        stationary_rates = np.concatenate(
            [gyro[previous.start : start], gyro[stop : following.stop]]
        )
        steps = np.diff(times[start - 1 : stop])
        angle = (gyro[start:stop] - stationary_rates.mean(axis=0)).T @ steps
        movements.append((start, stop, angle))
    return movements


def _require_all_samples(times, start, stop, subject):
    steps = np.diff(times[start - 1 : stop])
    if steps.max() > _LONG_STEP * np.median(np.diff(times)):
        raise RecordingError(f"{subject} has missing samples, expected all samples of a turn")


_MIN_FIELD_CHANGE = 0.05  # fraction of the field's magnitude; a 3-degree change of direction
_MAX_DIRECTION_DURATION = 2.0  # s; samples beyond this duration in one direction are ignored


def find_turning_times(times: np.ndarray, readings: np.ndarray) -> list[RestTime]:
    """Find the periods in which a magnetometer is turned, limited to two seconds per direction.

    A direction ends when the field changes by 3 degrees. The limit is needed because a magnetometer
    at rest repeats the same reading, so that minutes at rest would dominate a calibration.

    Parameters
    ----------
    times : ndarray, shape (n,)
        Time of each sample [s].
    readings : ndarray, shape (n, 3)
        Magnetic field [T].

    Returns
    -------
    list of RestTime
        Periods to use; the complete recording if the sensor is always turning, or if there are few
        readings.
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
    """Return the approximate magnitude of a magnetic field, half of the largest axis range.

    The outermost levels are excluded, so that individual readings have no effect. In contrast to a
    mean, a range does not depend on the time at rest.
    """
    outer = min(3 + len(levels) // 1000, len(levels) // 10)
    inner = np.sort(levels, axis=0)[outer : len(levels) - outer]
    return 0.5 * float(np.ptp(inner, axis=0).max())
