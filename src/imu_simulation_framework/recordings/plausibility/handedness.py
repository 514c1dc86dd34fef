"""Check the sign of a gyroscope against the lateral acceleration of the same IMU."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.tables import ACCEL, GYRO

SHORTEST_WINDOW = 0.5
"""Shortest window over which motion is averaged for the comparison [s]."""

MINIMUM_WINDOWS = 40
"""Smallest number of windows with known accelerations that suffices for a decision."""

SIGNIFICANT = 4.0
"""Number of standard errors by which both accelerometer responses must differ from zero."""

SMALLEST_RESPONSES, LARGEST_RESPONSE = (0.05, 0.25), 2.5
"""Bounds of the accelerometer's responses to changes of speed and to curves, which are 1 in theory.

Position noise reduces the responses, above all the response to a change of speed."""

SMALLEST_SINE = 0.8
"""Smallest sine of the angle between the accelerometer responses, which is 90 deg in theory."""

CORRELATED_WINDOWS = 3.0
"""Number of consecutive windows with correlated noise; a speed is a difference of two positions."""


@dataclass(frozen=True)
class Handedness:
    """Response of the accelerometer to changes of speed and to curves.

    On a robot that drives forwards, the specific force is dv/dt along its x axis and v times the
    yaw rate along its y axis. Seen from above, the second response is the first response rotated by
    +90 deg, independently of the rotation of the sensor about the vertical, of the sign of the
    accelerometer, and of the direction of the reference yaw.

    Attributes
    ----------
    sine : float
        Sine of the angle from the first to the second response about the vertical of the
        accelerometer: +1 if gyroscope and accelerometer agree, -1 if they contradict each other.
    ahead : ndarray, shape (3,)
        Unit vector of the forward acceleration in the axes of the accelerometer. It is reversed if
        the accelerometer outputs gravity instead of specific force.
    windows : int
        Number of windows that were compared.
    """

    sine: float
    ahead: np.ndarray
    windows: int


def handedness(reference, imu, delay=0.0) -> Handedness | None:
    """Compare the accelerometer with the speed along a path and the yaw rate of the gyroscope.

    Parameters
    ----------
    reference : DataFrame
        Poses with positions x, y [m] over time [s]. The yaw is not used.
    imu : DataFrame or None
        ImuRecord with the same clock, with accelerometer [m/s^2] and gyroscope [rad/s].
    delay : float, optional
        Delay of the IMU's stamps relative to the reference [s].

    Returns
    -------
    Handedness or None
        None if the recording is not conclusive: if one of the sensors is missing, if there are no
        changes of speed or no curves, or if the robot often drives backwards.
    """
    if imu is None or not set(ACCEL) <= set(imu) or not set(GYRO) <= set(imu):
        return None
    forces = imu[list(ACCEL)].to_numpy()
    mean = forces.mean(axis=0) if len(forces) else np.zeros(3)
    size = np.linalg.norm(mean)
    if not size > 0.0:
        return None
    up = mean / size
    times = reference.index.to_numpy(dtype=float), imu.index.to_numpy(dtype=float) - delay
    windows = _Windows.shared_by(*times)
    if windows is None:
        return None
    places = windows.means(times[0], reference[["x", "y"]].to_numpy())
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1) / windows.length
    speed, change = 0.5 * (steps[1:] + steps[:-1]), np.diff(steps) / windows.length
    rates = imu[list(GYRO)].to_numpy() @ up
    horizontal = _horizontal(up)
    measured = windows.means(times[1], np.column_stack([forces @ horizontal.T, rates]))
    measured = 0.25 * measured[:-2] + 0.5 * measured[1:-1] + 0.25 * measured[2:]
    responses, count = _responses(measured[:, :2], change, speed * measured[:, 2])
    if responses is None:
        return None
    along_direction, across_direction = responses / np.linalg.norm(responses, axis=1)[:, None]
    sine = float(
        along_direction[0] * across_direction[1] - along_direction[1] * across_direction[0]
    )
    return (
        Handedness(sine, along_direction @ horizontal, count) if abs(sine) > SMALLEST_SINE else None
    )


def _horizontal(up) -> np.ndarray:
    """Return two horizontal unit vectors (2, 3) that form a right-handed frame with ``up``."""
    first = np.cross(np.eye(3)[np.argmin(np.abs(up))], up)
    first /= np.linalg.norm(first)
    return np.array([first, np.cross(up, first)])


@dataclass(frozen=True)
class _Windows:
    """Consecutive windows of equal ``length`` [s] that begin and end at ``edges`` [s]."""

    edges: np.ndarray
    length: float

    @classmethod
    def shared_by(cls, *times) -> _Windows | None:
        if min(map(len, times)) < MINIMUM_WINDOWS:
            return None
        start, stop = max(t[0] for t in times), min(t[-1] for t in times)
        length = max(SHORTEST_WINDOW, *(2.0 * float(np.median(np.diff(t))) for t in times))
        count = int((stop - start) / length)
        if count < MINIMUM_WINDOWS:
            return None
        return cls(start + length * np.arange(count + 1), length)

    def means(self, times, values) -> np.ndarray:
        """Return the mean of ``values`` (n, m) in each window; nan for empty windows."""
        place = np.searchsorted(self.edges, times, side="right") - 1
        inside = (place >= 0) & (place < len(self.edges) - 1)
        place, values = place[inside], values[inside]
        count = np.bincount(place, minlength=len(self.edges) - 1)
        sums = [np.bincount(place, column, minlength=len(count)) for column in values.T]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.column_stack(sums) / count[:, None]


def _responses(forces, change, centripetal):
    """Regress forces (n, 2) on longitudinal and centripetal accelerations, each (n,).

    Returns both responses, shape (2, 2), or None if one is not significant, and the number of
    windows that were compared.
    """
    known = np.isfinite(forces).all(axis=1) & np.isfinite(change) & np.isfinite(centripetal)
    count = int(known.sum())
    if count < MINIMUM_WINDOWS:
        return None, count
    motion = np.column_stack([change, centripetal, np.ones(len(change))])[known]
    fitted, _, rank, _ = np.linalg.lstsq(motion, forces[known], rcond=None)
    if rank < motion.shape[1]:
        return None, count
    residuals = forces[known] - motion @ fitted
    variance = CORRELATED_WINDOWS * np.sum(residuals**2) / (2.0 * (count - motion.shape[1]))
    errors = np.sqrt(variance * np.diag(np.linalg.inv(motion.T @ motion)))[:2]
    sizes = np.linalg.norm(fitted[:2], axis=1)
    plausible = (sizes > SMALLEST_RESPONSES) & (sizes < LARGEST_RESPONSE)
    is_significant = bool(np.all(plausible & (sizes > SIGNIFICANT * errors)))
    return (fitted[:2] if is_significant else None), count
