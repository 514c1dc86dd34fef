"""When a sensor was at rest while it was recorded: the times that a calibration uses.

Half a second is one of rest if

* its readings scatter about their median no more than three times as much as in the
  quietest tenth of all,
* its medians differ from those of both neighbours by no more than ten times their noise, or by a
  fiftieth of what :mod:`.identification.rest_check` allows from second to second, and
* its angular velocity is that of the slowest of them, which a sensor that is turned evenly is not.

Parts at rest that follow each other are one time at rest; the first and the last of them are
left out, since a movement may begin or end in them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imu_simulation_framework.checked_values import checked_number
from imu_simulation_framework.errors import RecordingError
from imu_simulation_framework.identification.rest_check import CHANGES, block_medians

_BLOCK = 0.5  # s
_LEAST_SAMPLES = 5
_SCATTER = 3.0
_QUIET_SHARE = 0.1
_NOISE = 10.0
_LEAST_CHANGE = 0.02


@dataclass(frozen=True)
class RestTime:
    """A time at rest: samples from ``start`` to one before ``stop``."""

    start: int
    stop: int


def find_rest(times, values, names, source, minimum_duration=5.0) -> list[RestTime]:
    """Return when the sensor was at rest.

    Parameters
    ----------
    times : ndarray, shape (n,)
        [s]
    values : ndarray, shape (n, axes)
        Angular velocities [rad/s] and specific forces [m/s^2].
    names : sequence of str
        Of the axes, beginning with ``gyro`` or ``accel``.
    source : str
        To begin a sentence with.
    minimum_duration : float
        Shorter times do not count [s].

    Raises
    ------
    RecordingError
        There is none, or a value is not finite.
    """
    minimum = checked_number("minimum_duration", minimum_duration, above=0.0)
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
    size = max(_LEAST_SAMPLES, round(_BLOCK * rate))
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
        least = _LEAST_CHANGE * CHANGES[kind]
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
    long = np.flatnonzero(np.diff(times) > max(_BLOCK, 1.5 / rate))
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
