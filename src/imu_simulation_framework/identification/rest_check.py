"""Whether a sensor was at rest while it was recorded.

Compared are the medians of neighbouring seconds. At rest they differ by what is left of the noise;
a bias that wanders, or a sensor that warms up, changes over minutes. Whoever carries or drives a
sensor changes them by far more, from one second to the next.
"""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.errors import RecordingError

_BLOCK = 1.0  # s
_LEAST_SAMPLES = 5
_NOISE = 10.0
CHANGES = {"gyro": 0.02, "accel": 0.3}
"""By how much the median of a second may differ from the next one's at rest, by kind of axis."""

_UNITS = {"gyro": "rad/s", "accel": "m/s^2"}
_MANY = 0.01
_SORTED_AT_ONCE = 1_000_000


def check_at_rest(times, values, names, rate, source) -> list[str]:
    """Refuse what was recorded in motion.

    Parameters
    ----------
    times : ndarray, shape (n,)
        [s]
    values : ndarray, shape (axes, n), or sequence of ndarray, shape (n,)
        Angular rates [rad/s] and specific forces [m/s^2].
    names : sequence of str
        Of the axes, beginning with ``gyro`` or ``accel``.
    rate : float
        [Hz]
    source : str
        To begin the sentence with.

    Returns
    -------
    list of str
        A remark if the sensor was moved, but hardly ever.

    Raises
    ------
    RecordingError
        It moves for more than 1 % of the time.
    """
    size = max(_LEAST_SAMPLES, round(_BLOCK * rate))
    blocks = len(times) // size
    if blocks < 2:
        return []
    moved = np.zeros(blocks - 1, dtype=bool)
    worst = (0.0, "", 0.0)
    for signal, name in zip(values, names):
        kind = name.split("_")[0]
        changes = np.abs(np.diff(block_medians(signal[None, :], size)[0]))
        steps = np.diff(signal)
        steps -= np.mean(steps)
        noise = np.sqrt(np.dot(steps, steps) / len(steps) / size)
        del steps
        limit = max(CHANGES[kind], _NOISE * noise)
        moved |= changes > limit
        largest = float(changes.max())
        if largest / limit > worst[0]:
            worst = (largest / limit, name, largest)
    if not moved.any():
        return []
    first = float(times[(int(np.argmax(moved)) + 1) * size] - times[0])
    share = np.mean(moved)
    _, name, largest = worst
    found = (
        f"in {moved.sum()} of {len(moved)} seconds, the first at {first:.0f} s; {name} changes by "
        f"up to {largest:.2g} {_UNITS[name.split('_')[0]]} from one second to the next"
    )
    if share > _MANY:
        raise RecordingError(f"{source}: the sensor moves, expected it at rest: {found}")
    return [f"the sensor was moved {found}; better leave that part out"]


def block_medians(values, size) -> np.ndarray:
    """Return the medians of blocks of so many samples, shape (axes, blocks)."""
    blocks = values.shape[1] // size
    medians = np.empty((len(values), blocks))
    # The median copies what it sorts.
    at_once = max(1, _SORTED_AT_ONCE // size)
    for first in range(0, blocks, at_once):
        last = min(first + at_once, blocks)
        some = values[:, first * size : last * size].reshape(len(values), last - first, size)
        medians[:, first:last] = np.median(some, axis=2)
    return medians
