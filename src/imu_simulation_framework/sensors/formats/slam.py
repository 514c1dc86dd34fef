"""Noise of the IMU in the configuration files of visual-inertial SLAM, in OpenCV's form of YAML.

VINS-Mono and VINS-Fusion (``estimator/parameters.cpp``, ``factor/integration_base.h``):

==================== ==================================================================
key                  ours
==================== ==================================================================
``gyr_n``, ``acc_n`` ``white_noise * sqrt(rate)``: of a sample
``gyr_w``, ``acc_w`` ``random_walk * sqrt(rate)``: the noise whose sum times dt is the bias
==================== ==================================================================

The files call the first the standard deviation of a measurement; the second enters the covariance
as ``(dt sigma)^2`` per sample, so that its density is ``sigma sqrt(dt)``. The sensor's rate is
nowhere in the file.

ORB-SLAM3 (``Tracking::newParameterLoader``, which multiplies the first by sqrt(rate) and divides
the second by it):

======================================= ==================================================
key                                     ours
======================================= ==================================================
``IMU.NoiseGyro``, ``IMU.NoiseAcc``     ``white_noise``
``IMU.GyroWalk``, ``IMU.AccWalk``       ``random_walk``
``IMU.Frequency``                       ``output.rate`` [Hz]
======================================= ==================================================

These numbers are tuned for an estimator, often ten times what the sensor has. They are read only.
"""

from __future__ import annotations

import math

from imu_simulation_framework.sensors.formats.base import Reading, read_rate
from imu_simulation_framework.sensors.formats.yaml import read_mapping
from imu_simulation_framework.sensors.imu_specification import (
    ImuSpecification,
    OutputSpecification,
    TriadSpecification,
)

_VINS = {"gyroscope": ("gyr_n", "gyr_w"), "accelerometer": ("acc_n", "acc_w")}
_ORB_SLAM3 = {
    "gyroscope": ("IMU.NoiseGyro", "IMU.GyroWalk"),
    "accelerometer": ("IMU.NoiseAcc", "IMU.AccWalk"),
}
_FREQUENCY = "IMU.Frequency"
_TUNED = (
    "These numbers are tuned for an estimator and often far above what the sensor has; for the "
    "sensor's own take a recording at rest (allan_analysis.py) or the datasheet."
)


def read_vins(path, rate: float | None = None) -> Reading:
    """Read the noise in a configuration of VINS-Mono or VINS-Fusion.

    Parameters
    ----------
    path : str or Path
    rate : float, optional
        The sensor's, which the file does not state [Hz].

    Raises
    ------
    ConfigurationError
        A key is missing, its value is not a number above zero, or no rate was given.
    """
    values = read_mapping(path)
    _require(values, _VINS)
    sample_rate = read_rate(
        None, rate, f"{path}: the noise is that of samples, whose rate VINS does not state"
    )
    remark = f"All four were divided by sqrt({sample_rate:g} Hz), as VINS has them per sample."
    return _reading(values, _VINS, sample_rate, math.sqrt(sample_rate), [remark, _TUNED])


def read_orb_slam3(path, rate: float | None = None) -> Reading:
    """Read the noise in a configuration of ORB-SLAM3.

    Parameters
    ----------
    path : str or Path
    rate : float, optional
        Not needed: the format states the rate, and nothing depends on it.

    Raises
    ------
    ConfigurationError
        A key is missing, or its value is not a number above zero.
    """
    values = read_mapping(path)
    _require(values, _ORB_SLAM3, _FREQUENCY)
    return _reading(values, _ORB_SLAM3, values.positive(_FREQUENCY), 1.0, [_TUNED])


def _require(values, keys, *more):
    values.require([key for pair in keys.values() for key in pair] + list(more))


def _reading(values, keys, rate, divisor, remarks):
    triads = {
        triad: TriadSpecification(
            white_noise=(values.positive(noise) / divisor,) * 3,
            random_walk=(values.positive(walk) / divisor,) * 3,
        )
        for triad, (noise, walk) in keys.items()
    }
    return Reading(ImuSpecification(output=OutputSpecification(rate=rate), **triads), remarks)
