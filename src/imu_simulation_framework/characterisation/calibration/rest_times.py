"""When a sensor was at rest or turned, and the units that gravity shows.

Half a second is one of rest if

* its readings scatter about their median no more than three times as much as in the
  quietest tenth of all,
* its medians differ from those of both neighbours by no more than ten times their noise, or by a
  fiftieth of what :mod:`.characterisation.samples_at_rest` allows from second to second, and
* its angular velocity is that of the slowest of them, which a sensor that is turned evenly is not.

Parts at rest that follow each other are one time at rest; the first and the last of them are
left out, since a movement may begin or end in them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping, Sequence

import numpy as np

from ...core.checks import AXES, Axes, check_number
from ...core.errors import RecordingError
from ..samples_at_rest import CHANGES, block_medians

_BLOCK = 0.25  # s
_REST_BLOCK = 0.5  # s
_MIN_SAMPLES = 5
_SCATTER = 3.0
_QUIET_SHARE = 0.1
_NOISE = 10.0
_MIN_CHANGE = 0.02


@dataclass(frozen=True)
class RestTime:
    """A time at rest: samples from ``start`` to one before ``stop``."""

    start: int
    stop: int


def find_rest(times, values, names, source, minimum_duration=5.0) -> list[RestTime]:
    """Return when the sensor was at rest.

    ``times`` (n,) [s]; ``values`` (n, axes): angular velocities [rad/s] and specific forces
    [m/s^2]; ``names``: of the axes, beginning with ``gyro`` or ``accel``; ``source``: to begin a
    sentence with; ``minimum_duration``: shorter times do not count [s]. Raises RecordingError:
    there is none, or a value is not finite.
    """
    minimum = check_number("minimum_duration", minimum_duration, above=0.0)
    values = np.asarray(values, dtype=float)
    if len(values) != len(times) or not (np.isfinite(values).all() and np.isfinite(times).all()):
        raise RecordingError(f"{source}: a sample is not a finite number, leave it out")
    found = _still_parts(np.asarray(times, dtype=float), values.T, names, minimum)
    if not found:
        raise RecordingError(
            f"{source}: the sensor is never at rest for {minimum:g} s, expected times at which "
            "nobody moves it"
        )
    return found


def _still_parts(times, values, names, minimum) -> list[RestTime]:
    if len(times) < 2:
        return []
    rate = (len(times) - 1) / (times[-1] - times[0])
    size = max(_MIN_SAMPLES, round(_REST_BLOCK * rate))
    blocks = values.shape[1] // size
    if blocks < 3:
        return []
    still = np.ones(blocks, dtype=bool)
    medians = block_medians(values, size)
    for signal, level, name in zip(values, medians, names):
        scatter = signal[: blocks * size].reshape(blocks, size).std(axis=1)
        quiet = np.quantile(scatter, _QUIET_SHARE)
        kind = name.split("_")[0]
        # A quantised signal may be constant for a while.
        least = _MIN_CHANGE * CHANGES[kind]
        still &= scatter <= _SCATTER * quiet + least
        change = np.abs(np.diff(level)) > max(least, _NOISE * quiet / np.sqrt(size))
        still[1:] &= ~change
        still[:-1] &= ~change
    rates = medians[[name.startswith("gyro") for name in names]]
    if still.any() and len(rates):
        slowest = np.argmin(np.where(still, np.sum(rates**2, axis=0), np.inf))
        near = np.all(np.abs(rates - rates[:, [slowest]]) <= CHANGES["gyro"], axis=0)
        centre = np.median(rates[:, near & still], axis=1)
        still &= np.all(np.abs(rates - centre[:, None]) <= CHANGES["gyro"], axis=0)
    # A gap in time ends a rest.
    long = np.flatnonzero(np.diff(times) > max(_REST_BLOCK, 1.5 / rate))
    still[np.minimum(long // size, blocks - 1)] = False
    edges = np.flatnonzero(np.diff(np.concatenate([[0], still.astype(int), [0]])))
    parts = []
    for first, last in zip(edges[::2], edges[1::2]):
        # What begins or ends with the recording has no movement there.
        start = 0 if first == 0 else first + 1
        stop = last if last == blocks else last - 1
        if (stop - start) * size / rate >= minimum:
            parts.append(RestTime(int(start * size), int(stop * size)))
    return parts


# A scale factor is never that wrong: less is another number of turns.
_LARGEST_ERROR = 0.3
_MOSTLY = 0.9
_LONG_STEP = 1.5
_MIN_ANGLE = np.radians(30.0)


@dataclass(frozen=True)
class Turn:
    """A turn from rest to rest, by samples from ``start`` to one before ``stop``.

    ``angle`` (3,) is about the sensor's axes, ``sigma`` the standard deviation of the angle that a
    reference gives [rad]. ``marked`` says whether a person turned it from mark to mark about an
    axis.
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

    ``times`` (n,) [s]; ``gyro`` (n, 3) [rad/s]. ``turns`` (float or mapping of str to float): whole
    turns of each movement, either way; or those about ``x``, ``y`` and ``z``. Movements by less
    than two thirds of that bring the sensor from one position to the next. ``source``: to begin a
    sentence with. Raises RecordingError: no number is given, no movement is such a turn, one is
    about no axis or by another angle, or samples are missing in one.
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
        x, y, z = (np.sign(angle[axis]) * 2.0 * np.pi * count * np.eye(3)[axis]).tolist()
        found.append(Turn(start, stop, (x, y, z)))
    if not found:
        reported = ", ".join(f"{count:g} about {axis}" for axis, count in wanted.items())
        raise RecordingError(
            f"{source}: no movement from rest to rest is one of as many whole turns as stated "
            f"({reported})"
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

    ``times``, ``gyro``, ``rests``, ``source``: as for :func:`whole_turns`; ``reference_times``
    (m,): on the same clock [s]; ``reference_yaw`` (m,) [rad], unwrapped; ``sigma``: standard
    deviation of a yaw of the reference at rest [rad]. Raises RecordingError: the reference does not
    cover one movement by 30 degrees or more, or samples are missing.
    """
    found = []
    for start, stop, _ in _movements(times, gyro, rests):
        before, after = times[start - 1], times[stop - 1]
        if before < reference_times[0] or after > reference_times[-1]:
            continue
        yaw = np.interp([before, after], reference_times, reference_yaw)
        angle = float(yaw[1] - yaw[0])
        if abs(angle) < _MIN_ANGLE:
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


_ANOTHER = 0.05  # of the field: three degrees
_LONGEST = 2.0  # s in which one direction counts


def turning_times(times: np.ndarray, readings: np.ndarray) -> list[RestTime]:
    """Return the times that count: of each direction two seconds, until it changes by 3 degrees.

    A magnetometer that lies says the same again and again, and of one place. Were all of it
    counted, minutes before and after the turning would weigh more than that, and so would the field
    of the table. All is one time if the sensor was always turned, or if there are few readings (n,
    3).
    """
    everything = [RestTime(0, len(times))]
    if len(times) < 3:
        return everything
    period = float(np.median(np.diff(times)))
    size = max(1, round(_BLOCK / period))
    edges = np.arange(0, len(times), size)
    levels = np.array([readings[edge : edge + size].mean(axis=0) for edge in edges])
    unit = _field(levels)
    kept = np.ones(len(edges), dtype=bool)
    anchor, begun = levels[0], times[0]
    for place, (edge, level) in enumerate(zip(edges.tolist(), levels)):
        if np.linalg.norm(level - anchor) > _ANOTHER * unit:
            anchor, begun = level, times[edge]
        kept[place] = times[edge] - begun < _LONGEST
    ends = np.flatnonzero(np.diff(np.concatenate([[0], kept.astype(int), [0]])))
    return [
        RestTime(first * size, min(last * size, len(times)))
        for first, last in zip(ends[::2].tolist(), ends[1::2].tolist())
    ]


def _field(levels):
    """Return about the size of the field: half of the widest axis, without its outermost levels.

    However long the sensor lay, it counts how far it was turned, but single readings do not.
    """
    spare = min(3 + len(levels) // 1000, len(levels) // 10)
    inner = np.sort(levels, axis=0)[spare : len(levels) - spare]
    return 0.5 * float(np.ptp(inner, axis=0).max())
