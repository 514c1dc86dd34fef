"""Which errors of an IMU make its yaw error, by what says which errors it has."""

from __future__ import annotations

from typing import Union, cast

import numpy as np

from imu_simulation_framework.errors import ConfigurationError, MotionError
from imu_simulation_framework.evaluation.yaw_error_model.heading_reference import with_heading
from imu_simulation_framework.evaluation.yaw_error_model.model import YawErrorModel
from imu_simulation_framework.evaluation.yaw_error_model.of_specification import of_specification
from imu_simulation_framework.evaluation.yaw_error_model.parameters import YawErrorParameters
from imu_simulation_framework.evaluation.yaw_error_model.sources import (
    KnownError,
    Source,
    YawGaussMarkov,
    YawNoise,
)
from imu_simulation_framework.magnetism.environment import MagneticEnvironment
from imu_simulation_framework.motion.earth.earth_motion import EarthMotion
from imu_simulation_framework.motion.motion import Motion
from imu_simulation_framework.motion.turning import absolute_turn
from imu_simulation_framework.sensors.imu_models import (
    GenericParameters,
    HectorParameters,
    SpecificationParameters,
)
from imu_simulation_framework.sensors.imu_models.hector_drift import drift_stationary_std
from imu_simulation_framework.sensors.imu_specification import ImuSpecification

YAW_OFFSET = "yaw offset"
YAW_DRIFT = "yaw drift"
YAW_NOISE = "yaw noise"


LinearImu = Union[
    ImuSpecification,
    SpecificationParameters,
    HectorParameters,
    GenericParameters,
    YawErrorParameters,
]
"""What says which errors an IMU has, of those whose yaw error is linear in them."""


def yaw_error_model(
    imu: LinearImu,
    motion: Motion | EarthMotion,
    period: float = 1.0,
    magnetic_environment: MagneticEnvironment | None = None,
    sample: float | None = None,
) -> YawErrorModel:
    """Return the distribution of an IMU's yaw error along a motion.

    Parameters
    ----------
    imu : LinearImu
        Its errors.
    motion : Motion or EarthMotion
        Of the IMU itself, evenly sampled.
    period : float
        Time from one of the model's times to the next [s]. Where it is no whole multiple of the
        sensor's, the sensor's processes are taken in continuous time.
    magnetic_environment : MagneticEnvironment, optional
        For a sensor with a magnetic heading; by default an undisturbed field as in Europe.
    sample : float, optional
        Time from one of the sensor's samples to the next, where the motion is sampled more
        coarsely [s]; by default the motion's. A slower sensor has its own.

    Raises
    ------
    ConfigurationError
        The errors are of another kind, or the sensor does without its gyroscope.
    MotionError
        The motion is not evenly sampled, or shorter than the period.
    """
    sample = motion.period if sample is None else sample
    if isinstance(imu, SpecificationParameters):
        # The parameters have made one of a mapping.
        imu = cast(ImuSpecification, imu.specification)
    if isinstance(imu, ImuSpecification):
        sample = max(sample, 1.0 / imu.output.rate)
    steps = int(motion.duration / period * (1.0 + 1e-9))
    if steps < 1:
        raise MotionError(
            f"the motion of {motion.duration:g} s is shorter than the yaw error's period of "
            f"{period:g} s"
        )
    time = period * np.arange(steps + 1)
    constant = None
    if isinstance(imu, ImuSpecification):
        sources, limits = of_specification(imu, motion, time, sample)
        if imu.output.fuses_magnetometer:
            constant = imu.output.magnetic_time_constant
            sources, more = with_heading(sources, imu, motion, time, sample, magnetic_environment)
            limits = limits + more
    elif isinstance(imu, YawErrorParameters):
        sources, limits = _of_identified(imu, motion, time)
    elif isinstance(imu, HectorParameters):
        sources, limits = _of_hector(imu, time, sample)
    elif isinstance(imu, GenericParameters):
        # Of q = (0, 0, s, c) the yaw changes by 2 (c dz - s dw).
        sources, limits = [YawNoise(YAW_NOISE, 2.0 * imu.gaussian_noise)], []
    else:
        raise ConfigurationError(
            f"a yaw error's model needs an ImuSpecification, a plug-in's or identified parameters, "
            f"but this is a {type(imu).__name__}"
        )
    ratio = period / sample
    whole = round(ratio) >= 1 and abs(ratio - round(ratio)) < 1e-6 * ratio
    return YawErrorModel(time, tuple(sources), sample if whole else None, tuple(limits), constant)


def _of_identified(parameters, motion, time):
    since_start, yaw = motion.time - motion.time[0], motion.yaw
    net = np.interp(time, since_start, yaw - yaw[0])
    absolute = np.interp(time, since_start, absolute_turn(yaw))
    return parameters.sources(time, net, absolute), list(parameters.limits)


def _of_hector(parameters, time, sample):
    sources: list[Source] = []
    if parameters.yaw_offset:
        sources.append(KnownError(YAW_OFFSET, np.full(len(time), -parameters.yaw_offset)))
    if parameters.yaw_drift and parameters.yaw_drift_frequency:
        frequency = parameters.yaw_drift_frequency
        sigma = float(drift_stationary_std(parameters.yaw_drift, frequency, sample))
        sources.append(YawGaussMarkov(YAW_DRIFT, sigma, 1.0 / frequency, stationary=False))
    return sources, []
