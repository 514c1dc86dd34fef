"""Whether a sensor that was recorded has noise, and that which somebody states."""

from __future__ import annotations

from typing import Sequence

import numpy as np

from imu_simulation_framework.checked_values import AXES
from imu_simulation_framework.identification.calibration.rest_times import RestTime
from imu_simulation_framework.identification.calibration.slow_noise import SlowNoise

_MUCH = 3.0


def noise_remarks(
    sensor: str,
    noise: Sequence[SlowNoise],
    times: np.ndarray,
    readings: np.ndarray,
    rests: Sequence[RestTime],
) -> list[str]:
    """Return a remark where readings at rest scatter far more than the noise that is stated.

    Less is usual: sensors filter.

    Parameters
    ----------
    sensor : str
        To begin a sentence with.
    noise : 3 SlowNoise
        As stated.
    times : ndarray, shape (n,)
        [s]
    readings : ndarray, shape (n, 3)
    rests : sequence of RestTime
    """
    period = float(np.median(np.diff(times)))
    steps = np.concatenate([np.diff(readings[r.start : r.stop], axis=0) for r in rests])
    scatter = np.sqrt(np.mean(steps**2, axis=0) / 2.0)
    stated = np.array([one.white_noise for one in noise]) / np.sqrt(period)
    if not len(steps) or np.any(stated <= 0.0) or np.max(scatter / stated) < _MUCH:
        return []
    return [
        f"{sensor}: readings at rest scatter {np.max(scatter / stated):.2g} times as much as the "
        "stated noise does; if it is another sensor's, the intervals are too narrow by as much"
    ]


def constant_remarks(sensor: str, readings: np.ndarray, rests: Sequence[RestTime]) -> list[str]:
    """Return a remark where an axis says the same throughout each time at rest.

    Parameters
    ----------
    sensor, readings, rests
        As for :func:`noise_remarks`.
    """
    same = np.ones(3, dtype=bool)
    for rest in rests:
        same &= np.ptp(readings[rest.start : rest.stop], axis=0) == 0.0
    axes = [name for name, constant in zip(AXES, same) if constant]
    if not rests or not axes:
        return []
    return [
        f"{sensor}: readings of {', '.join(axes)} do not change at all at rest, of an axis that is "
        "not there or whose steps are larger than its noise: their intervals mean nothing"
    ]
