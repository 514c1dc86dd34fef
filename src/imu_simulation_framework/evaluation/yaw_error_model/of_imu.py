r"""The sources of the yaw error that an IMU's errors cause on a given motion.

With R the rotation from the body to the world, the error :math:`\delta\omega` of the gyroscope's
reading turns the estimated body about the vertical by :math:`h \cdot \delta\omega`, h the third row
of R; the accelerometer's correction of the tilt is perpendicular to the vertical. So

.. math:: \dot e = -h \cdot \left((M + S_T \Delta T) \omega + G f + b + b_T \Delta T + n\right)

to first order in the errors, in the words of :mod:`.sensors.imu_models.specification`. What is the
same in every run is integrated along the motion; a random process on three axes acts as one
process of the strength that the mean of :math:`h^2` gives to them, which is exact on level ground
and at a constant tilt. On the turning Earth the vertical is that of the place, and the gyroscope
feels the turning of east, north and up besides, of which the sensor's filter knows nothing. One
thing is of second order and not small beside a quiet gyroscope: the filter leans while the body
accelerates.
"""

from __future__ import annotations

import math
from typing import Union, cast

import numpy as np
from scipy.spatial.transform import Rotation

from imu_simulation_framework.angles import difference, turns, unwrap, yaw_from_quaternion
from imu_simulation_framework.constants import STANDARD_GRAVITY
from imu_simulation_framework.errors import ConfigurationError, MotionError
from imu_simulation_framework.evaluation.yaw_error_model.heading_reference import with_heading
from imu_simulation_framework.evaluation.yaw_error_model.model import YawErrorModel
from imu_simulation_framework.evaluation.yaw_error_model.parameters import YawErrorParameters
from imu_simulation_framework.evaluation.yaw_error_model.sources import (
    AngleRandomWalk,
    KnownError,
    RandomConstant,
    RateGaussMarkov,
    RateRandomWalk,
    Source,
    YawGaussMarkov,
    YawNoise,
)
from imu_simulation_framework.magnetism.environment import MagneticEnvironment
from imu_simulation_framework.motion.earth.earth_motion import EarthMotion
from imu_simulation_framework.motion.motion import Motion
from imu_simulation_framework.motion.turning import absolute_turn
from imu_simulation_framework.noise.flicker import flicker_processes
from imu_simulation_framework.sensors.imu_models import (
    GenericParameters,
    HectorParameters,
    SpecificationParameters,
)
from imu_simulation_framework.sensors.imu_models.hector_drift import drift_stationary_std
from imu_simulation_framework.sensors.imu_specification import ImuSpecification
from imu_simulation_framework.sensors.simulation import imu_model, imu_truth
from imu_simulation_framework.sensors.triad_response import TriadResponse

RATE_BIAS = "rate bias"
BIAS_INSTABILITY = "bias instability"
RATE_RANDOM_WALK = "rate random walk"
ANGLE_RANDOM_WALK = "angle random walk"
GAUSS_MARKOV = "Gauss-Markov bias"
RATE_RAMP = "rate ramp"
SCALE_FACTOR = "scale factor"
MISALIGNMENT = "misalignment"
G_SENSITIVITY = "g-sensitivity"
TEMPERATURE = "temperature"
SUPPLY = "supply voltage"
NONLINEARITY = "nonlinearity"
VIBRATION = "rectified vibration"
QUANTISATION = "quantisation"
RESOLUTION = "resolution"
FELT_ACCELERATION = "felt acceleration"
EARTH_TURNING = "Earth's turning"
YAW_OFFSET = "yaw offset"
YAW_DRIFT = "yaw drift"
YAW_NOISE = "yaw noise"

_LARGEST_TILT = math.radians(10.0)
_LEAST_YAW = 1e-6
"""What the filter's tilt makes of the yaw [rad]; less is left out."""


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

    Raises
    ------
    ConfigurationError
        The errors are of another kind, or the sensor does without its gyroscope.
    MotionError
        The motion is not evenly sampled, or shorter than the period.
    """
    sample = motion.period
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
        sources, limits = _of_specification(imu, motion, time, sample)
        if imu.output.fuses_magnetometer:
            constant = imu.output.magnetic_time_constant
            sources, more = with_heading(sources, imu, motion, time, sample, magnetic_environment)
            limits = limits + more
    elif isinstance(imu, YawErrorParameters):
        sources, limits = _of_identified(imu, motion, time)
    elif isinstance(imu, HectorParameters):
        sources, limits = _of_hector(imu, motion, time)
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


def _of_hector(parameters, motion, time):
    sources: list[Source] = []
    if parameters.yaw_offset:
        sources.append(KnownError(YAW_OFFSET, np.full(len(time), -parameters.yaw_offset)))
    if parameters.yaw_drift and parameters.yaw_drift_frequency:
        frequency = parameters.yaw_drift_frequency
        sigma = float(drift_stationary_std(parameters.yaw_drift, frequency, motion.period))
        sources.append(YawGaussMarkov(YAW_DRIFT, sigma, 1.0 / frequency, stationary=False))
    return sources, []


def _of_specification(imu, motion, time, sample):
    if imu.output.orientation_reference == "truth":
        return [], []
    if imu.output.filter == "compass":
        raise ConfigurationError(
            "a yaw error's model is that of a gyroscope, but the specification's filter is "
            "compass, which uses none"
        )
    gyroscope = imu.gyroscope
    # Of the rate's errors into those of the yaw.
    on_earth = isinstance(motion, EarthMotion)
    level = motion.local_orientation if on_earth else motion.orientation
    up = Rotation.from_quat(level).as_matrix()[:, 2, :]
    weights = np.mean(up**2, axis=0)
    along = _Along(motion, up, time)
    sources: list[Source] = []

    def effective(values):
        return math.sqrt(float(np.sum(weights * np.square(values))))

    def known(name, rate_error):
        curve = along.integrated(rate_error)
        if np.any(curve):
            sources.append(KnownError(name, curve))

    rate, force = motion.means()
    matrix = np.array(gyroscope.scale_factor_and_misalignment)
    scale = np.diag(np.diag(matrix))
    excess = imu.temperature.at(motion.time - motion.time[0]) - imu.temperature.reference
    warmth = np.broadcast_to(excess, motion.time.shape)[:, np.newaxis]
    since_start = (motion.time - motion.time[0] + motion.period)[:, np.newaxis]

    known(RATE_BIAS, np.broadcast_to(gyroscope.turn_on_bias, rate.shape))
    for axis, sigma in enumerate(gyroscope.turn_on_bias_sigma):
        regressor = along.integrated(np.eye(3)[axis] * np.ones_like(rate))
        if sigma > 0.0 and np.any(regressor):
            sources.append(RandomConstant(RATE_BIAS, regressor, sigma))
    coefficient = effective(gyroscope.bias_instability)
    if coefficient > 0.0:
        times, sigmas = flicker_processes(gyroscope.bias_instability_band, sample)
        sources += [
            RateGaussMarkov(BIAS_INSTABILITY, coefficient * sigma, correlation_time)
            for correlation_time, sigma in zip(times, sigmas)
        ]
    if effective(gyroscope.random_walk) > 0.0:
        sources.append(RateRandomWalk(RATE_RANDOM_WALK, effective(gyroscope.random_walk)))
    for axis, sigma in enumerate(gyroscope.gauss_markov_sigma):
        sigma *= math.sqrt(weights[axis])
        if sigma > 0.0:
            correlation_time = gyroscope.gauss_markov_time[axis]
            sources.append(RateGaussMarkov(GAUSS_MARKOV, sigma, correlation_time))
    known(RATE_RAMP, np.array(gyroscope.rate_ramp) * since_start)
    if effective(gyroscope.white_noise) > 0.0:
        sources.append(AngleRandomWalk(ANGLE_RANDOM_WALK, effective(gyroscope.white_noise)))
    known(SCALE_FACTOR, rate @ scale.T)
    known(MISALIGNMENT, rate @ (matrix - scale).T)
    known(G_SENSITIVITY, force @ np.array(gyroscope.g_sensitivity).T)
    known(
        TEMPERATURE,
        warmth
        * (
            np.array(gyroscope.temperature_bias)
            + np.array(gyroscope.temperature_scale_factor) * rate
        ),
    )
    voltage = imu.supply.at(motion.time - motion.time[0]) - imu.supply.reference
    known(
        SUPPLY,
        np.broadcast_to(voltage, motion.time.shape)[:, np.newaxis]
        * (np.array(gyroscope.supply_bias) + np.array(gyroscope.supply_scale_factor) * rate),
    )
    known(NONLINEARITY, np.array(gyroscope.nonlinearity) * np.square(rate))
    if imu.vibration.active:
        response = TriadResponse("gyroscope", imu)
        known(VIBRATION, response.rectified(np.linalg.norm(motion.velocity, axis=1)))
    coefficient = effective(gyroscope.quantisation)
    if coefficient > 0.0:
        # The error of the angle is Q (w_k - w_0).
        sources.append(YawNoise(QUANTISATION, coefficient))
        sources.append(RandomConstant(QUANTISATION, np.ones(len(time)), coefficient))
    step = effective(gyroscope.resolution)
    if step > 0.0:
        # Rounding adds a uniform error to each reading, as long as the noise exceeds the step.
        sources.append(AngleRandomWalk(RESOLUTION, step * math.sqrt(sample / 12.0)))
    if imu.output.magnetic_heading:
        return sources, _limits(imu, up, rate, sample)  # the rest is in the field's curve
    curve = _of_felt_acceleration(imu, motion, time, force)
    if on_earth:
        turning = rate.copy()
        turning[1:] -= turns(level[:-1], level[1:]) / motion.period
        known(EARTH_TURNING, turning)
        # The filter feels both.
        curve = curve - along.integrated(turning) if np.any(curve) else curve
    if np.max(np.abs(curve)) > _LEAST_YAW:
        sources.append(KnownError(FELT_ACCELERATION, curve))
    return sources, _limits(imu, up, rate, sample)


def _of_felt_acceleration(imu, motion, time, force):
    """Return the yaw error (len(time),) [rad] of a sensor that has no errors but its filter's.

    The filter takes the vertical from the specific force, so that it tilts while the body
    accelerates, and a tilted body that turns about the vertical changes its yaw at another rate.
    That is of second order in the acceleration; so it is the filter itself that tells it, once.
    """
    nothing = np.zeros(len(time))
    level = np.all(np.abs(force[:, :2]) < 1e-9 * STANDARD_GRAVITY)
    if level or imu.output.orientation_reference != "fusion":
        return nothing
    ideal = ImuSpecification(output=imu.output)
    orientation = (
        imu_model(ideal, motion.period)
        .batch(imu_truth(motion), 1, parts=("orientation",))
        .orientation[0]
    )
    error = unwrap(difference(motion.yaw, yaw_from_quaternion(orientation)))
    return np.interp(time, motion.time - motion.time[0], error)


class _Along:
    """Integrals along a motion, at the times of a model."""

    def __init__(self, motion, up, time):
        self._up = up
        self._period = motion.period
        self._since_start = motion.time - motion.time[0]
        self._time = time

    def integrated(self, rate_error):
        """Return yaw error (len(time),) [rad] that errors of the rate (samples, 3) lead to."""
        turned = np.sum(self._up * rate_error, axis=1)
        angle = np.zeros(len(turned))
        np.cumsum(turned[1:] * self._period, out=angle[1:])
        return -np.interp(self._time, self._since_start, angle)


def _limits(imu, up, rate, sample):
    """Return sentences on where this sensor on this motion is not linear."""
    gyroscope, limits = imu.gyroscope, []
    tilt = float(np.max(np.arccos(np.clip(up[:, 2], -1.0, 1.0))))
    if tilt > _LARGEST_TILT:
        limits.append(
            f"The motion tilts by up to {math.degrees(tilt):.0f} deg: the noise of the three axes "
            "is mixed as on average, and the filter's own error of the tilt is left out."
        )
    if gyroscope.saturation is not None:
        largest = np.max(np.abs(rate), axis=0)
        for axis, name in enumerate("xyz"):
            if largest[axis] > gyroscope.saturation[axis]:
                limits.append(
                    f"The gyroscope's {name} saturates at {gyroscope.saturation[axis]:g} rad/s, "
                    f"but the motion turns at up to {largest[axis]:.3g} rad/s: what is cut off is "
                    "left out."
                )
    noise = gyroscope.white_noise[2] / math.sqrt(sample)
    if gyroscope.resolution[2] > 2.0 * noise:
        limits.append(
            f"The gyroscope's resolution of {gyroscope.resolution[2]:.3g} rad/s exceeds twice its "
            f"noise of {noise:.3g} rad/s: readings stick to steps, which is no random noise."
        )
    biased = imu.output.filter_rate_bias and not imu.output.magnetic_heading
    if imu.output.filter == "vqf" and biased:
        limits.append(
            "The filter vqf estimates the rate's bias whenever the sensor rests: what that takes "
            "from the drift is left out."
        )
    return limits
