"""When a magnetometer was turned: what a fit of an ellipsoid learns from.

A sensor that lies says the same again and again, and of one place. Were all of it counted, minutes
before and after the turning would weigh more than that, and so would the field of the table.
"""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.identification.calibration.rest_times import RestTime

_BLOCK = 0.25  # s
_ANOTHER = 0.05  # of the field: three degrees
_LONGEST = 2.0  # s in which one direction counts


def turning_times(times: np.ndarray, readings: np.ndarray) -> list[RestTime]:
    """Return the times that count: of each direction two seconds, until it changes by 3 degrees.

    Parameters
    ----------
    times : ndarray, shape (n,)
        [s]
    readings : ndarray, shape (n, 3)

    Returns
    -------
    list of RestTime
        In their order; all in one if the sensor was always turned, or if there are few samples.
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
