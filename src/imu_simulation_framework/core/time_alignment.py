"""How far one clock lags behind another, found from the heading that both recorded."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from imu_simulation_framework.core import angles
from imu_simulation_framework.core.spectrum import median_rate, uniform_grid

MINIMUM_SAMPLES = 16
MINIMUM_CORRELATION = 0.3  # below it two headings have too little in common for a shift
_TRIED = 41
"""Delays from which the best one begins a fit."""
_FITS = 3
"""Of a delay, each with the misfit that the one before has left as the size of errors."""


class TimeShift(NamedTuple):
    """A delay and how well it is supported.

    ``shift`` [s] is positive when the signal is late: signal(t) looks like
    reference(t - shift), so ``shift`` is to be subtracted from the signal's stamps.
    ``correlation`` is the coefficient of the yaw rates at that shift. ``problem`` is
    empty, or a sentence that says why no shift was found; then ``shift`` is zero.
    """

    shift: float
    correlation: float
    problem: str = ""


def find_time_shift(signal_time, signal_yaw, reference_time, reference_yaw, max_shift) -> TimeShift:
    """Find the delay of a heading against another by cross-correlation of yaw rates.

    Rates are correlated rather than headings, for a heading that drifts, or that turns on
    and on, correlates with any other. Each lag's coefficient is normalised by the energy
    of the part that overlaps, and a parabola through the largest and its neighbours gives
    a fraction of a sample.

    ``signal_time``, ``reference_time`` (array_like): strictly ascending stamps [s]. ``signal_yaw``,
    ``reference_yaw`` (array_like): headings [rad]; any multiple of a full turn may be added to a
    sample. ``max_shift`` (float): largest shift looked for, to either side [s].
    """
    signal_time = np.asarray(signal_time, dtype=float)
    reference_time = np.asarray(reference_time, dtype=float)
    if min(len(signal_time), len(reference_time)) < 2:
        return TimeShift(0.0, 0.0, "there are too few samples to align in time")
    rate = max(median_rate(signal_time), median_rate(reference_time))
    start = max(signal_time[0], reference_time[0])
    stop = min(signal_time[-1], reference_time[-1])
    if (stop - start) * rate < MINIMUM_SAMPLES:
        return TimeShift(0.0, 0.0, "there are too few samples to align in time")
    grid = uniform_grid(start, stop, rate)
    late = _yaw_rate(grid, signal_time, signal_yaw, rate)
    reference = _yaw_rate(grid, reference_time, reference_yaw, rate)

    # More than half the drive as a shift would compare two different drives.
    largest_lag = min(int(np.ceil(max_shift * rate)), len(grid) // 2)
    lags = np.arange(-largest_lag, largest_lag + 1)
    correlation = normalised_correlation(late, reference, lags)
    best = int(np.argmax(correlation))
    found = float(correlation[best])
    if found < MINIMUM_CORRELATION:
        problem = f"the yaw rates correlate by {found:.2f} at best, at least "
        problem += f"{MINIMUM_CORRELATION:g} is needed to align in time"
        return TimeShift(0.0, found, problem)
    if best in (0, len(lags) - 1):
        problem = f"the yaw rates fit best at the largest shift allowed, {max_shift:g} s, so none "
        return TimeShift(0.0, found, problem + "was applied; allow a larger one")
    return TimeShift(float((lags[best] + parabola_peak(correlation, best)) / rate), found)


def delay_of_integral(times, increments, integral, used, largest) -> tuple[float, float]:
    """Return how late an integral is against measured increments, and its standard deviation.

    The delay [s] that brings them nearest to each other, by robust least squares. Unlike a
    correlation it says how sure it is. 0 and an infinite deviation where nothing tells.

    ``times`` (n,) [s]; ``increments`` (n - 1, m) of what the ``integral``, a function of k times
    that returns (k, m), should have changed by between them; ``used`` (n - 1,): which of them
    count. ``largest`` delay, to either side [s].
    """
    from scipy.optimize import least_squares

    used = used & (times[:-1] > times[0] + largest) & (times[1:] < times[-1] - largest)

    def apart(delay):
        return (increments - np.diff(integral(times + delay), axis=0))[used].ravel()

    if np.count_nonzero(used) < MINIMUM_SAMPLES:
        return 0.0, np.inf
    # A motion that repeats itself has several delays that fit better than their neighbours.
    tried = np.linspace(-largest, largest, _TRIED)
    delay = tried[np.argmin([np.abs(apart(one)).sum() for one in tried])]
    limits = -largest, largest
    # A delay makes the misfit large, whose size is that without it.
    for _ in range(_FITS):
        size = max(1.4826 * float(np.median(np.abs(apart(delay)))), 1e-9)
        found = least_squares(
            apart, delay, bounds=limits, loss="soft_l1", f_scale=size, diff_step=1e-3
        )
        delay = float(found.x[0])
    squares = float(np.sum(found.jac**2))
    if squares == 0.0 or abs(delay) > 0.99 * largest:
        return 0.0, np.inf
    return delay, size / np.sqrt(squares)


def parabola_peak(values, best) -> float:
    """Return how far beside the index of the largest value the parabola through it has its peak.

    In samples, at most half a one; 0 at the ends, where there is no neighbour.
    """
    if not 0 < best < len(values) - 1:
        return 0.0
    before, peak, after = values[best - 1 : best + 2]
    curvature = before - 2.0 * peak + after
    return float(0.5 * (before - after) / curvature) if curvature < 0.0 else 0.0


def _yaw_rate(grid, time, yaw, rate):
    resampled = np.interp(grid, time, angles.unwrap(yaw))
    yaw_rate = np.gradient(resampled) * rate
    return yaw_rate - np.mean(yaw_rate)


def normalised_correlation(late, reference, lags):
    """Return the coefficient of late[k + lag] with reference[k] over the k where both exist.

    They may be of different lengths.
    """
    from scipy import signal

    count = len(reference)
    products = signal.correlate(late, reference, mode="full", method="fft")[lags + count - 1]
    late_energy = np.concatenate(([0.0], np.cumsum(late**2)))
    reference_energy = np.concatenate(([0.0], np.cumsum(reference**2)))
    first_late = np.maximum(lags, 0)
    first_reference = np.maximum(-lags, 0)
    overlap = np.minimum(len(late) - first_late, count - first_reference)
    energy = (late_energy[first_late + overlap] - late_energy[first_late]) * (
        reference_energy[first_reference + overlap] - reference_energy[first_reference]
    )
    return np.divide(
        products, np.sqrt(energy), out=np.zeros_like(products), where=energy > 1e-24 * count**2
    )
