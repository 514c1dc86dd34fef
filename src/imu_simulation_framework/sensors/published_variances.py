"""Variances that an IMU publishes with its readings, from its specification.

The equations are in :meth:`.ImuSpecification.covariances`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Tuple

from imu_simulation_framework.core.checked_values import Axes
from imu_simulation_framework.core.constants import STANDARD_GRAVITY
from imu_simulation_framework.sensors.conditions import BandLimit

if TYPE_CHECKING:
    from imu_simulation_framework.sensors.imu_specification import (
        ImuSpecification,
        TriadSpecification,
    )

Covariance = Tuple[float, ...]

_ZERO = (0.0, 0.0, 0.0)
_LEVEL_FIELD = 20e-6  # T


def orientation_variances(specification: ImuSpecification, duration: float) -> Axes:
    """Return the variances of roll, pitch and yaw [rad^2].

    Parameters
    ----------
    duration : float
        After which the yaw's is wanted [s].
    """
    if specification.output.orientation_reference == "truth":
        return _ZERO
    gyroscope, accelerometer = specification.gyroscope, specification.accelerometer
    constant = specification.output.filter_time_constant
    # A turn about x shows on y, and the other way round.
    roll, pitch = (
        (
            accelerometer.white_noise[other] ** 2 / (2.0 * constant)
            + accelerometer.turn_on_bias_sigma[other] ** 2
            + accelerometer.gauss_markov_sigma[other] ** 2
        )
        / STANDARD_GRAVITY**2
        + gyroscope.white_noise[axis] ** 2 * constant / 2.0
        for axis, other in ((0, 1), (1, 0))
    )
    # The drift of a Gauss-Markov bias is bounded by that of a constant one.
    if specification.output.magnetic_heading and specification.magnetometer is not None:
        constant = specification.output.magnetic_time_constant
        level = max(specification.magnetometer.white_noise[:2]) / _LEVEL_FIELD
        return (
            roll,
            pitch,
            gyroscope.white_noise[2] ** 2 * constant / 2.0
            + (
                gyroscope.random_walk[2] ** 2 * duration
                + gyroscope.turn_on_bias_sigma[2] ** 2
                + gyroscope.gauss_markov_sigma[2] ** 2
            )
            * constant**2
            + level**2 / (2.0 * constant),
        )
    yaw = (
        gyroscope.white_noise[2] ** 2 * duration
        + gyroscope.random_walk[2] ** 2 * duration**3 / 3.0
        + (gyroscope.turn_on_bias_sigma[2] ** 2 + gyroscope.gauss_markov_sigma[2] ** 2)
        * duration**2
    )
    return roll, pitch, yaw


def sample_variances(triad: TriadSpecification, period: float) -> Axes:
    """Return the variances of what changes from sample to sample, for each axis.

    Parameters
    ----------
    period : float
        Time between samples [s].
    """
    white_gain, difference_gain = 1.0, 1.0
    if triad.bandwidth is not None and triad.bandwidth < 0.5 / period:
        white_gain, difference_gain = BandLimit(triad.bandwidth, 1.0 / period).noise_gains()
    x, y, z = (
        white_gain * white**2 / period
        + difference_gain * 2.0 * (quantisation / period) ** 2
        + resolution**2 / 12.0
        for white, quantisation, resolution in zip(
            triad.white_noise, triad.quantisation, triad.resolution
        )
    )
    return x, y, z


def diagonal(values: Axes) -> Covariance:
    """Return a covariance without correlations, row by row."""
    xx, yy, zz = values
    return (xx, 0.0, 0.0, 0.0, yy, 0.0, 0.0, 0.0, zz)
