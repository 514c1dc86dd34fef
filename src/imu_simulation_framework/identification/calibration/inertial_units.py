"""Whether gyroscope and accelerometer are in rad/s and m/s^2, as gravity tells."""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.constants import STANDARD_GRAVITY
from imu_simulation_framework.errors import RecordingError

_BLOCK = 0.25  # s
_LEAST_BLOCKS = 6
_LEAST_TURN = np.radians(5.0)  # of gravity within a block
_NEAR_GRAVITY = 0.2  # so that the sensor is turned and not thrown
_FACTOR = 2.0  # by which a ratio may miss that of a unit: axes differ, and hands shake


def check_inertial_units(
    times: np.ndarray,
    gyro: np.ndarray | None,
    accel: np.ndarray,
    gravity: float = STANDARD_GRAVITY,
    source: str = "the recording",
) -> None:
    r"""Refuse readings that can only be in g or in deg/s.

    A sensor that is mostly at rest feels gravity, and where it is turned gravity turns in its axes
    as fast as the gyroscope says, :math:`\dot u = -\omega \times u`.

    Parameters
    ----------
    times : ndarray, shape (n,)
        [s]
    gyro : ndarray, shape (n, 3), or None
        As recorded.
    accel : ndarray, shape (n, 3)
        As recorded.
    gravity : float
        At the place [m/s^2].
    source : str
        To begin a sentence with.

    Raises
    ------
    RecordingError
        They are in g or in deg/s.
    """
    lengths = np.linalg.norm(accel, axis=1)
    usual = float(np.median(lengths))
    # Readings of 1.6 are gravity on the moon, too: what is stated counts first.
    if abs(usual / gravity - 1.0) > 0.5 and abs(usual * STANDARD_GRAVITY / gravity - 1.0) < 0.5:
        raise RecordingError(
            f"{source}: the accelerometer's readings are usually {usual:.3g} long, which is "
            "gravity in g, expected m/s^2; state their unit"
        )
    ratio = _turns_told_by_gravity(times, gyro, accel, usual) if gyro is not None else None
    if ratio is not None and np.degrees(1.0) / _FACTOR < ratio < np.degrees(1.0) * _FACTOR:
        raise RecordingError(
            f"{source}: the gyroscope turns {ratio:.0f} times as far as gravity does, so its "
            "readings are in deg/s, expected rad/s; state their unit"
        )


def _turns_told_by_gravity(times, gyro, accel, usual):
    """Return how much further the gyroscope turns than gravity does; None where nothing turns."""
    if len(times) < 2 * _LEAST_BLOCKS or usual <= 0.0:
        return None
    period = float(np.median(np.diff(times)))
    size = max(2, round(_BLOCK / period))
    edges = np.arange(0, len(times) - size, size)
    up = np.array([np.median(accel[edge : edge + max(1, size // 4)], axis=0) for edge in edges])
    if len(up) < _LEAST_BLOCKS:
        return None
    lengths = np.linalg.norm(up, axis=1)
    fine = np.abs(lengths / usual - 1.0) < _NEAR_GRAVITY
    up = up / np.maximum(lengths, 1e-9)[:, None]
    turned = np.arccos(np.clip(np.sum(up[1:] * up[:-1], axis=1), -1.0, 1.0))
    means = np.array([gyro[a:b].mean(axis=0) for a, b in zip(edges[:-1], edges[1:])])
    middle = up[1:] + up[:-1]
    middle = middle / np.maximum(np.linalg.norm(middle, axis=1), 1e-9)[:, None]
    felt = np.linalg.norm(np.cross(means, middle), axis=1) * np.diff(times[edges])
    seen = fine[1:] & fine[:-1] & (turned > _LEAST_TURN) & (turned < np.pi / 2.0)
    return float(np.median(felt[seen] / turned[seen])) if seen.sum() >= _LEAST_BLOCKS else None
