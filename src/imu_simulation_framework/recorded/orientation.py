"""An orientation for a recorded IMU that has none, from its gyroscope and accelerometer.

The filters of :mod:`~imu_simulation_framework.sensors.fusion` want even steps, which stamps of a
recording rarely have. The integral of the rate is therefore taken at the recorded times and read
off on an even grid: what was turned in all is kept, whatever the stamps' jitter.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from imu_simulation_framework.angles import roll_pitch_yaw_from_quaternion, unwrap
from imu_simulation_framework.sensors.fusion import make_filter
from imu_simulation_framework.sensors.imu_specification import OutputSpecification

LEVEL_TIME = 0.5
"""Over this long a beginning the accelerometer is averaged to start level [s]."""

_MOST_GRID = 3.0  # steps of the grid for each sample


def fused_angles(times, gyro, accel, output: OutputSpecification):
    """Fuse gyroscope and accelerometer.

    Parameters
    ----------
    times : array_like, shape (n,)
        Strictly growing [s], at least 2.
    gyro, accel : array_like, shape (n, 3)
        Angular velocity [rad/s] and specific force [m/s^2] in axes forward-left-up.
    output : OutputSpecification
        Of which the filter counts.

    Returns
    -------
    ndarray, shape (n, 3)
        Roll, pitch [rad] and yaw [rad, unwrapped]; the yaw starts at zero, and roll and pitch as
        the accelerometer has them.

    Raises
    ------
    ConfigurationError
        The filter needs a library that is not installed.
    """
    times = np.asarray(times, dtype=float) - times[0]
    gyro, accel = np.asarray(gyro, dtype=float), np.asarray(accel, dtype=float)
    period = _grid_period(times)
    # The last sample lasts until the grid ends.
    grid = period * np.arange(int(times[-1] / period) + 2)
    lasting = np.append(times, grid[-1])
    turned = integral(lasting, np.vstack([gyro, gyro[-1]]))
    rates = np.diff(_on_grid(grid, lasting, turned), axis=0) / period
    forces = _on_grid(grid, times, accel)

    filter = make_filter(output, period)
    beginning = accel[times <= LEVEL_TIME].mean(axis=0)
    first = filter.start(np.array([0.0, 0.0, 0.0, 1.0]), beginning)
    quaternions = np.vstack([first, filter.update_all(rates, forces[1:])])
    fused = Slerp(grid, Rotation.from_quat(quaternions))(times)
    angles = roll_pitch_yaw_from_quaternion(fused.as_quat())
    yaw = unwrap(angles[:, 2])
    return np.column_stack([angles[:, :2], yaw - yaw[0]])


def integral(times, values):
    """Return integral from the first time to each, by the trapezoidal rule; shape of the values."""
    values = np.asarray(values, dtype=float)
    steps = np.diff(times).reshape((-1,) + (1,) * (values.ndim - 1))
    parts = 0.5 * steps * (values[1:] + values[:-1])
    return np.concatenate([np.zeros_like(values[:1]), np.cumsum(parts, axis=0)])


def _grid_period(times):
    """Return the median step, unless stamps came in bursts, when the grid would be far too fine."""
    period = float(np.median(np.diff(times)))
    return max(period, times[-1] / (_MOST_GRID * len(times)))


def _on_grid(grid, times, columns):
    return np.column_stack([np.interp(grid, times, column) for column in columns.T])
