"""Preparation of a robot's trajectory from recorded poses: cropping, resampling and smoothing.

All functions accept and return tables as documented in the package, and never modify their
arguments. Samples need not be evenly spaced.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.interpolate import PchipInterpolator

from ..core.errors import TrajectoryError
from ..core.tables import POSES

_MAX_FILLED = 10_000  # largest number of evenly spaced samples per recorded sample
_BLOCK_ELEMENTS = 1_000_000  # largest number of samples of all windows held in memory


def _times(table):
    return table.index.to_numpy(dtype=float)


def _require_samples(table, count, purpose):
    if len(table) < count:
        raise TrajectoryError(
            f"trajectory has {len(table)} samples, expected at least {count} for {purpose}"
        )


def _with_index(values, columns, times):
    return pd.DataFrame(values, columns=columns, index=pd.Index(times, name="time"))


def crop(table, start=None, stop=None):
    """Crop a table to the samples between two times, both inclusive.

    Parameters
    ----------
    table : pandas.DataFrame
        Poses, or another table with a time index [s].
    start, stop : float, optional
        Times relative to the first sample [s]; by default the ends of the table.

    Returns
    -------
    pandas.DataFrame
        Samples between these times; their times are unchanged.

    Raises
    ------
    TrajectoryError
        Fewer than two samples remain.
    """
    _require_samples(table, 2, "cropping")
    elapsed = _times(table) - _times(table)[0]
    first = 0.0 if start is None else start
    last = elapsed[-1] if stop is None else stop
    # The tolerance is needed because a float64 resolves seconds since 1970 to 0.25 us.
    tolerance = 5e-7
    kept = (elapsed >= first - tolerance) & (elapsed <= last + tolerance)
    if np.count_nonzero(kept) < 2:
        raise TrajectoryError(
            f"start {first:g} s and stop {last:g} s select {np.count_nonzero(kept)} samples of a "
            f"trajectory that lasts {elapsed[-1]:.1f} s, expected at least 2"
        )
    return table.loc[kept].copy()


def crop_by_index(table, start=None, stop=None):
    """Crop a table to a range of sample indices, with an exclusive end.

    Parameters
    ----------
    table : pandas.DataFrame
        Poses, or another table.
    start, stop : int, optional
        First index and the index after the last; by default the ends of the table.

    Returns
    -------
    pandas.DataFrame
        Samples between the indices; their times are unchanged.

    Raises
    ------
    TrajectoryError
        An index is outside the table, or fewer than two samples remain.
    """
    first = 0 if start is None else start
    last = len(table) if stop is None else stop
    if first < 0 or last > len(table) or last - first < 2:
        raise TrajectoryError(
            f"start index is {first} and stop index is {last}, expected at least two samples "
            f"between them, within the trajectory's {len(table)} samples"
        )
    return table.iloc[first:last].copy()


def even_times(table, rate):
    """Return evenly spaced times ``first + k / rate`` within the time range of a table.

    Parameters
    ----------
    table : pandas.DataFrame
        Poses, or another table with a time index [s].
    rate : float
        Sample rate [Hz].

    Returns
    -------
    ndarray, shape (n,)
        Times [s].

    Raises
    ------
    TrajectoryError
        The rate is not positive, the table is shorter than one period, or its samples are too far
        apart to determine a path.
    """
    if not (math.isfinite(rate) and rate > 0.0):
        raise TrajectoryError(f"rate of the trajectory is {rate} Hz, expected a positive number")
    _require_samples(table, 2, "resampling")
    times = _times(table)
    elapsed = times - times[0]
    count = math.floor(elapsed[-1] * rate + 1e-4) + 1
    if count < 2:
        raise TrajectoryError(
            f"trajectory lasts {elapsed[-1]:.3g} s, expected at least one period at {rate:g} Hz"
        )
    if count > _MAX_FILLED * len(table):
        raise TrajectoryError(
            f"trajectory has {len(table)} samples in {elapsed[-1]:.3g} s, one per "
            f"{elapsed[-1] / (len(table) - 1):.3g} s, expected at least one per "
            f"{_MAX_FILLED / rate:.3g} s to determine a path; check the unit of time"
        )
    return times[0] + np.arange(count) / rate


def resample(table, rate):
    """Resample a table at a constant rate by :func:`interpolate`.

    Parameters
    ----------
    table : pandas.DataFrame
        Table of numbers with a time index [s].
    rate : float
        Sample rate [Hz].

    Returns
    -------
    pandas.DataFrame
        Same columns at evenly spaced times [s].

    Raises
    ------
    TrajectoryError
        The rate is not positive, the table is shorter than one period, or its samples are too far
        apart to determine a path.
    """
    return interpolate(table, even_times(table, rate))


def interpolate(table, times):
    """Interpolate a table of numbers, with unwrapped angles, at given times.

    Columns are interpolated by monotone cubic polynomials (Fritsch and Carlson, SIAM J.
    Numer. Anal. 17, 1980). Unlike a spline, they do not overshoot near a stop or in a gap; unlike
    straight lines, they have no jumps in velocity. Before the first time and after the last time,
    the first and the last values are returned.

    Parameters
    ----------
    table : pandas.DataFrame
        Table of numbers with a time index [s].
    times : ndarray, shape (n,)
        Times at which to interpolate [s].

    Returns
    -------
    pandas.DataFrame
        Same columns, with the index ``times``.
    """
    recorded = _times(table)
    # Subtracting the first time preserves the precision of the interpolation.
    elapsed = recorded - recorded[0]
    clipped_times = np.clip(times - recorded[0], 0.0, elapsed[-1])
    values = PchipInterpolator(elapsed, table.to_numpy(dtype=float), axis=0)(clipped_times)
    return _with_index(values, table.columns, times)


def smooth(table, window):
    """Smooth x, y and yaw with the same linear filter, without delay.

    Each value is replaced by the value of a quadratic polynomial that is fitted to its neighbours
    in a centred window; at the ends, the window becomes one-sided. Straight lines and turns on the
    spot are preserved. In contrast to a moving average, so is the radius of a bend. Because
    the same linear filter is applied to all columns, yaw remains the direction of motion.

    Parameters
    ----------
    table : pandas.DataFrame
        Poses; other columns are dropped, because they would no longer be consistent.
    window : float
        Full width of the window [s]. Poses are unchanged if it is 0 or contains fewer than four
        samples.

    Returns
    -------
    pandas.DataFrame
        Poses.

    Raises
    ------
    TrajectoryError
        The window is negative.
    """
    if not (math.isfinite(window) and window >= 0.0):
        raise TrajectoryError(f"smoothing window is {window} s, expected zero or a positive number")
    poses = table[list(POSES)].astype(float).copy()
    if window == 0.0 or len(poses) < 4:
        return poses
    times = _times(poses)
    # Subtracting the first coordinates and the first time preserves the precision of the sums.
    origin = poses.to_numpy()[0]
    values = _local_quadratic(times - times[0], poses.to_numpy() - origin, window)
    return _with_index(values + origin, POSES, times)


def _local_quadratic(times, values, window):
    """Replace each value (n, m) with that of a quadratic polynomial fitted around it.

    Neighbours are within half a ``window``; their weights are ``(1 - |d|^3)^3``, where d is the
    distance divided by half a window (Cleveland, "Robust locally weighted regression and smoothing
    scatterplots", J. Am. Stat. Assoc. 74, 1979, here of degree 2 and not robust). A value with
    fewer than three usable neighbours is unchanged.

    scipy has no equivalent: ``savgol_filter`` requires evenly spaced samples (on the bundled drives
    with a tenth of the samples missing, its yaw error is 1.3 times as large), and
    ``make_smoothing_spline`` takes 300 times as long and smooths each column separately, so that
    yaw is no longer the direction of motion.
    """
    half_window = 0.5 * window
    first = np.searchsorted(times, times - half_window, side="left")
    last = np.searchsorted(times, times + half_window, side="right")
    widest = int(np.max(last - first))
    smoothed = values.copy()
    rows_per_block = max(1, _BLOCK_ELEMENTS // widest)
    for begin in range(0, len(times), rows_per_block):
        rows = np.arange(begin, min(begin + rows_per_block, len(times)))
        neighbours = first[rows, np.newaxis] + np.arange(widest)
        inside = neighbours < last[rows, np.newaxis]
        neighbours = np.minimum(neighbours, len(times) - 1)
        distance = (times[neighbours] - times[rows, np.newaxis]) / half_window
        size = np.abs(distance)
        weight = np.maximum(1.0 - size * size * size, 0.0)
        weight = np.where(inside, weight * weight * weight, 0.0)

        # Repeated multiplication is ten times as fast as exponentiation of an array.
        weighted = [weight]
        for _ in range(4):
            weighted.append(weighted[-1] * distance)
        moments = [np.sum(part, axis=1) for part in weighted]
        normal = np.stack([np.stack(moments[row : row + 3], axis=-1) for row in range(3)], axis=-2)
        # A sample is unchanged if fewer than four samples have a significant weight.
        # The regression would then return the sample itself or be ill-conditioned.
        usable = np.linalg.det(normal / moments[0][:, np.newaxis, np.newaxis]) > 1e-6
        usable &= np.count_nonzero(weight > 1e-6, axis=1) > 3
        if not np.any(usable):
            continue
        right = np.stack(weighted[:3], axis=1) @ values[neighbours]
        smoothed[rows[usable]] = np.linalg.solve(normal[usable], right[usable])[:, 0, :]
    return smoothed


def move_to_origin(table):
    """Translate and rotate poses so that they start at x = 0, y = 0, yaw = 0.

    Parameters
    ----------
    table : pandas.DataFrame
        Poses or a Trajectory.

    Returns
    -------
    pandas.DataFrame
        Moved copy; columns other than poses are unchanged.

    Raises
    ------
    TrajectoryError
        There is no sample.
    """
    _require_samples(table, 1, "moving it to the origin")
    moved = table.copy()
    yaw = table["yaw"].iloc[0]
    east = table["x"] - table["x"].iloc[0]
    north = table["y"] - table["y"].iloc[0]
    moved["x"] = math.cos(yaw) * east + math.sin(yaw) * north
    moved["y"] = math.cos(yaw) * north - math.sin(yaw) * east
    moved["yaw"] = table["yaw"] - yaw
    return moved


def scale(table, factor):
    """Scale a path about its first pose.

    Speeds are scaled by the same factor. The yaw over time is unchanged, so that the gyroscope
    measures the same angular velocity.

    Parameters
    ----------
    table : pandas.DataFrame
        Poses or a Trajectory.
    factor : float
        Factor by which lengths are multiplied.

    Returns
    -------
    pandas.DataFrame
        Scaled copy.

    Raises
    ------
    TrajectoryError
        The factor is not positive, or there is no sample.
    """
    if not (math.isfinite(factor) and factor > 0.0):
        raise TrajectoryError(f"scale of the trajectory is {factor}, expected a positive number")
    _require_samples(table, 1, "scaling")
    scaled = table.copy()
    for column in ("x", "y"):
        start = table[column].iloc[0]
        scaled[column] = start + factor * (table[column] - start)
    if "v" in table:
        scaled["v"] = factor * table["v"]
    return scaled


def add_velocities(poses):
    """Add the speed along the robot's axis and the yaw rate to poses.

    Derivatives are second-order central differences for uneven spacing (:func:`numpy.gradient`).
    The speed is the component of the velocity along the heading. It is negative if the robot drives
    backwards and, in contrast to the magnitude of the velocity, it is not increased by noise.

    Parameters
    ----------
    poses : pandas.DataFrame
        Table with x, y [m] and yaw [rad].

    Returns
    -------
    pandas.DataFrame
        Trajectory.

    Raises
    ------
    TrajectoryError
        There are fewer than two samples.
    """
    _require_samples(poses, 2, "velocities")
    times = _times(poses)
    elapsed = times - times[0]
    order = 2 if len(poses) > 2 else 1
    rates = {
        column: np.gradient(poses[column].to_numpy(dtype=float), elapsed, edge_order=order)
        for column in POSES
    }
    yaw = poses["yaw"].to_numpy(dtype=float)
    trajectory = poses[list(POSES)].astype(float).copy()
    trajectory["v"] = np.cos(yaw) * rates["x"] + np.sin(yaw) * rates["y"]
    trajectory["yaw_rate"] = rates["yaw"]
    return trajectory


def motion_at(poses, times):
    """Return a Trajectory at given times, with derivatives from the poses of the complete drive.

    Differentiating only a part of the drive would give one-sided differences at its ends. They
    amplify noise, so that the computed speed of a wheel could exceed the limit at a sample.

    Parameters
    ----------
    poses : pandas.DataFrame
        Poses of the complete drive.
    times : array_like, shape (m,)
        At least two times within the drive, increasing [s].

    Returns
    -------
    pandas.DataFrame
        Trajectory.
    """
    times = np.asarray(times, dtype=float)
    pose_times = _times(poses)
    lead, tail = 2.0 * times[0] - times[1], 2.0 * times[-1] - times[-2]
    # At the ends of the drive, there may be no sample before or after the requested times.
    leading, trailing = int(lead >= pose_times[0]), int(tail <= pose_times[-1])
    around = np.concatenate([[lead] * leading, times, [tail] * trailing])
    return add_velocities(interpolate(poses, around)).iloc[leading : leading + len(times)]


@dataclass(frozen=True)
class SmoothingEffect:
    """Statistics of the changes that smoothing makes to poses.

    Parameters
    ----------
    yaw_rms, yaw_maximum : float
        Root mean square and maximum of the change of yaw [rad].
    position_rms, position_maximum : float
        Root mean square and maximum of the change of position [m].
    """

    yaw_rms: float
    yaw_maximum: float
    position_rms: float
    position_maximum: float


def smoothing_effect(recorded, smoothed) -> SmoothingEffect:
    """Compare poses before and after :func:`smooth`.

    Parameters
    ----------
    recorded, smoothed : pandas.DataFrame
        Poses at the same times.

    Returns
    -------
    SmoothingEffect
    """
    yaw = np.abs((smoothed["yaw"] - recorded["yaw"]).to_numpy())
    distance = np.hypot(smoothed["x"] - recorded["x"], smoothed["y"] - recorded["y"]).to_numpy()
    return SmoothingEffect(
        yaw_rms=float(np.sqrt(np.mean(yaw**2))),
        yaw_maximum=float(yaw.max()),
        position_rms=float(np.sqrt(np.mean(distance**2))),
        position_maximum=float(distance.max()),
    )
