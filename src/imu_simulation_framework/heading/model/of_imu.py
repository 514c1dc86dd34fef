r"""The sources of an IMU's yaw error, its magnetic heading's among them.

What a magnetic heading makes of a yaw error: it forgets, and hears the magnetometer.

With T the time constant of the heading (:mod:`.sensors.fusion.magnetic_heading`), b and n the
errors of the yaw rate and m the error of the heading that the field has,

.. math:: \dot e = -(b + n) - (e - m) / T :

the yaw error without a magnetometer passes a high-pass, that of the magnetometer a low-pass. White
noise N of the rate leaves the variance :math:`N^2 T / 2`, that of a magnetometer, :math:`N_m` in a
level field H, :math:`N_m^2 / (2 T H^2)`, a constant bias b the error b T, and a random walk K of
the rate still grows, as :math:`K^2 T^2 t`. A field that dips by :math:`\delta` is turned by a tilt
:math:`\epsilon` of the filter, by :math:`\epsilon \tan \delta`: that is a Gauss-Markov process with
the time constant of the tilt, :math:`T_a`, and the variance
:math:`N^2 T_a / 2 + N_a^2 / (2 T_a g^2)` of the noise of gyroscope and accelerometer.

What is the same in every run, disturbed fields, iron and felt accelerations, the filter itself
tells, once, from readings without noise; so the rejection of disturbances is in it as far as noise
does not decide it.

Which errors of an IMU make its yaw error, by what says which errors it has.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Union, cast

import numpy as np
from scipy.signal import lfilter

from imu_simulation_framework.core.constants import STANDARD_GRAVITY
from imu_simulation_framework.core.errors import ConfigurationError, MotionError
from imu_simulation_framework.core.yaml_files import by_name
from imu_simulation_framework.heading.model.model import YawErrorModel
from imu_simulation_framework.heading.model.of_specification import (
    error_of_filter,
    of_specification,
)
from imu_simulation_framework.heading.model.parameters import YawErrorParameters
from imu_simulation_framework.heading.model.sources import (
    AngleRandomWalk,
    KnownError,
    RandomConstant,
    RateGaussMarkov,
    Source,
    YawGaussMarkov,
    YawNoise,
)
from imu_simulation_framework.motion.earth_motion import EarthMotion
from imu_simulation_framework.motion.kinematics import absolute_turn
from imu_simulation_framework.motion.motion import Motion
from imu_simulation_framework.sensors.files import read_magnetic_environment
from imu_simulation_framework.sensors.imu_models.plugins import (
    GenericParameters,
    HectorParameters,
    drift_stationary_std,
)
from imu_simulation_framework.sensors.imu_models.specification import SpecificationParameters
from imu_simulation_framework.sensors.imu_specification import (
    ImuSpecification,
    MagnetometerSpecification,
)
from imu_simulation_framework.sensors.magnetism.environment import MagneticEnvironment
from imu_simulation_framework.sensors.simulation import named_errors

MAGNETOMETER_NOISE = "magnetometer noise"
MAGNETIC_FIELD = "magnetic field"
FILTER_TILT = "filter's tilt"

USUAL_FIELD = MagneticEnvironment(earth=(0.0, 20e-6, -45e-6))
"""Where no other is given: as in central Europe, undisturbed."""


def with_heading(
    sources: list[Source],
    imu: ImuSpecification,
    motion: Motion | EarthMotion,
    time: np.ndarray,
    sample: float,
    environment: MagneticEnvironment | None,
) -> tuple[list[Source], list[str]]:
    """Return a yaw error's sources with a magnetic heading, and where they are not all.

    Parameters
    ----------
    sources : list of Source
        Of the same sensor without.
    imu : ImuSpecification
        With a magnetometer and a magnetic heading.
    motion : Motion or EarthMotion
    time : ndarray, shape (n,)
        Of the model, in even steps [s].
    sample : float
        Time from one of the sensor's samples to the next [s].
    environment : MagneticEnvironment or None
        None for :data:`USUAL_FIELD`.

    Returns
    -------
    sources : list of Source
        Curves are those that remain; processes are to be taken with the heading's time constant.
    limits : list of str

    Raises
    ------
    ConfigurationError
        The field has no level part.
    """
    constant = imu.output.magnetic_time_constant
    limits = []
    if environment is None:
        environment = USUAL_FIELD
        limits.append(
            "No magnetic environment is given: the field is taken for undisturbed and 20 uT strong "
            "on the level."
        )
    kept: list[Source] = []
    for source in sources:
        if isinstance(source, KnownError):
            source = replace(source, curve=high_passed(source.curve, time, constant))
        elif isinstance(source, RandomConstant):
            source = replace(source, regressor=high_passed(source.regressor, time, constant))
        kept.append(source)
    magnetometer = imu.magnetometer or MagnetometerSpecification()
    level = float(np.hypot(*environment.undisturbed[:2]))
    if level == 0.0:
        raise ConfigurationError(
            "The magnetic environment has no level field, so that there is no magnetic heading."
        )
    # What is level in the sensor is so in the world where it is level; one number for all of it.
    noise = float(np.sqrt(np.mean(np.square(magnetometer.white_noise[:2]))))
    if noise > 0.0:
        # Of each reading a share is added, after what was before has lost that share.
        density = noise / level * math.expm1(sample / constant) / sample
        kept.append(AngleRandomWalk(MAGNETOMETER_NOISE, density))
    dip = abs(environment.undisturbed[2]) / level
    tilt = _tilt(imu)
    if tilt * dip > 0.0:
        kept.append(
            RateGaussMarkov(FILTER_TILT, tilt * dip / constant, imu.output.filter_time_constant)
        )
    curve = _of_the_field(imu, magnetometer, motion, time, environment)
    if np.any(curve):
        kept.append(KnownError(MAGNETIC_FIELD, curve))
    return kept, limits + _left_out(imu, magnetometer, dip)


def high_passed(curve: np.ndarray, time: np.ndarray, constant: float) -> np.ndarray:
    """Return what of a curve (n,) a high-pass of a time constant [s] leaves, from zero.

    Exact for a curve that is straight between its times, which have even steps.
    """
    ratio = (time[1] - time[0]) / constant
    keep = np.exp(-ratio)
    left = np.zeros(len(curve))
    left[1:] = lfilter([-np.expm1(-ratio) / ratio], [1.0, -keep], np.diff(curve))
    return left


def _left_out(imu, magnetometer, dip) -> list[str]:
    """Return sentences on what of a magnetic heading's errors the sources do not have."""
    limits = []
    left_out = [
        name
        for name in ("bias_instability", "random_walk", "gauss_markov_sigma", "turn_on_bias_sigma")
        if any(getattr(magnetometer, name))
    ]
    if left_out:
        limits.append(
            f"The magnetometer's {', '.join(left_out).replace('_', ' ')} are left out: their part "
            "in the heading depends on where the sensor heads."
        )
    if dip > 0.0 and any(
        any(values[:2])
        for triad in (imu.gyroscope, imu.accelerometer)
        for values in (triad.turn_on_bias, triad.turn_on_bias_sigma, triad.bias_instability)
    ):
        limits.append(
            "The tilt that biases of the level axes cause turns a field that dips; that part of "
            "the heading's error is left out."
        )
    if imu.output.filter_rate_bias:
        limits.append(
            "The filter estimates the rate's bias from the heading: what that takes from the error "
            "is left out."
        )
    limits.append(
        f"In the first {imu.output.magnetic_time_constant:g} s the heading is a mean of all "
        "readings so far, the first of them a noisy one: the errors there are larger than these."
    )
    return limits


def _tilt(imu):
    """Return the standard deviation of the filter's tilt about a level axis [rad]."""
    constant = imu.output.filter_time_constant
    rate, force = (
        float(np.mean(np.square(triad.white_noise[:2])))
        for triad in (imu.gyroscope, imu.accelerometer)
    )
    return math.sqrt(rate * constant / 2.0 + force / (2.0 * constant * STANDARD_GRAVITY**2))


def _of_the_field(imu, magnetometer, motion, time, environment):
    """Return the yaw error (len(time),) [rad] of a sensor that has no noise, from its filter."""
    known = MagnetometerSpecification(
        hard_iron=magnetometer.hard_iron,
        soft_iron=magnetometer.soft_iron,
        turn_on_bias=magnetometer.turn_on_bias,
        scale_factor_and_misalignment=magnetometer.scale_factor_and_misalignment,
    )
    ideal = ImuSpecification(output=imu.output, magnetometer=known)
    return error_of_filter(ideal, motion, time, environment)


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


@by_name(imu=named_errors, magnetic_environment=read_magnetic_environment)
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
