"""The orientation of a recorded IMU that gives none, and what is to be said about it."""

from __future__ import annotations

import numpy as np

from imu_simulation_framework.columns import ACCEL, GYRO
from imu_simulation_framework.recorded.orientation import fused_angles, integral
from imu_simulation_framework.sensors.imu_specification import OutputSpecification

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
