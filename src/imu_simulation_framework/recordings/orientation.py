"""Orientation of a recorded IMU that gives none, fused from its other readings.

An orientation for a recorded IMU that has none, from its gyroscope and accelerometer.

The filters of :mod:`.fusion.choice` want even steps, which stamps of a
recording rarely have. The integral of the rate is therefore taken at the recorded times and read
off on an even grid: what was turned in all is kept, whatever the stamps' jitter.

The orientation of a recorded IMU that gives none, and what is to be said about it.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from imu_simulation_framework.core.angles import roll_pitch_yaw_from_quaternion, unwrap
from imu_simulation_framework.core.columns import ACCEL, GYRO
from imu_simulation_framework.sensors.fusion.choice import make_filter
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


GRAVITY_SHOWS = 5.0
"""Below it [m/s^2] the accelerometer does not measure gravity; some IMUs subtract it."""


def made_orientation(table, conventions, stamps):
    """Make roll, pitch and yaw of an IMU's gyroscope and, if it shows gravity, accelerometer.

    Parameters
    ----------
    table : pandas.DataFrame
        ImuRecord in the robot's axes with at least ``gyro_z``.
    conventions : ImuConventions
        Of which the filter counts.
    stamps : StampReport

    Returns
    -------
    angles : ndarray, shape (n, 3)
        Roll, pitch, yaw [rad]; the yaw starts at zero.
    about : dict
        Fields ``orientation_source``, ``fusion`` and ``remarks`` of a RecordingReport.
    """
    times = table.index.to_numpy()
    complete = all(name in table for name in GYRO + ACCEL)
    size = _usual_length(table) if complete else 0.0
    if size >= GRAVITY_SHOWS:
        output = OutputSpecification(
            filter=conventions.filter,
            filter_time_constant=conventions.filter_time_constant,
            filter_rate_bias=conventions.filter_rate_bias,
        )
        angles = fused_angles(times, table[list(GYRO)], table[list(ACCEL)], output)
        bias = "with" if output.filter_rate_bias else "without"
        remark = (
            "the orientation is made of gyroscope and accelerometer, by the filter "
            f"{output.filter} with a time constant of {output.filter_time_constant:g} s {bias} "
            "an estimate of the gyroscope's bias; its yaw starts at 0"
        )
        source = "fused"
        settings = {
            "filter": output.filter,
            "filter_time_constant": output.filter_time_constant,
            "filter_rate_bias": output.filter_rate_bias,
        }
    else:
        yaw = integral(times, table["gyro_z"].to_numpy())
        angles = np.column_stack([np.zeros((len(yaw), 2)), yaw])
        why = "there is no accelerometer"
        if complete:
            why = (
                f"the accelerometer does not show gravity (usually {size:.2f} m/s^2; is "
                "accel_unit right?)"
            )
        remark = (
            f"{why}: the yaw is the integral of the rate about the robot's z axis, which is taken "
            "for vertical; roll and pitch are taken for 0"
        )
        source, settings = "integrated", {}
    remarks = [remark]
    if stamps.gaps:
        remarks.append(
            f"across gaps, the longest of {stamps.longest_gap:.3f} s, the rate is interpolated, so "
            "that the yaw is uncertain by what the robot turned there"
        )
    about = {"orientation_source": source, "fusion": settings, "remarks": tuple(remarks)}
    return angles, about


def _usual_length(table):
    return float(np.median(np.linalg.norm(table[list(ACCEL)].to_numpy(), axis=1)))
