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

import numpy as np
from scipy.spatial.transform import Rotation

from imu_simulation_framework.core.angles import difference, turns, unwrap, yaw_from_quaternion
from imu_simulation_framework.core.constants import STANDARD_GRAVITY
from imu_simulation_framework.core.errors import ConfigurationError
from imu_simulation_framework.heading.model.sources import (
    AngleRandomWalk,
    KnownError,
    RandomConstant,
    RateGaussMarkov,
    RateRandomWalk,
    Source,
    YawNoise,
)
from imu_simulation_framework.motion.earth_motion import EarthMotion
from imu_simulation_framework.motion.motion import Motion
from imu_simulation_framework.sensors.imu_specification import ImuSpecification
from imu_simulation_framework.sensors.magnetism.environment import MagneticEnvironment
from imu_simulation_framework.sensors.noise.processes import flicker_processes
from imu_simulation_framework.sensors.simulation import imu_model, imu_truth
from imu_simulation_framework.sensors.triad_errors import TriadResponse

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

_LARGEST_TILT = math.radians(10.0)
_LEAST_YAW = 1e-6
"""What the filter's tilt makes of the yaw [rad]; less is left out."""


def of_specification(
    imu: ImuSpecification, motion: Motion | EarthMotion, time: np.ndarray, sample: float
) -> tuple[list[Source], list[str]]:
    """Return the sources of a specification's yaw error, and sentences on what is left out.

    ``motion``: of the IMU itself, evenly sampled. ``time`` (k,): of the model, from the beginning
    of the motion on [s]. ``sample``: time from one of the sensor's samples to the next [s]. Raises
    ConfigurationError if the sensor does without its gyroscope.
    """
    if imu.output.orientation_reference == "truth":
        return [], []
    if imu.output.filter == "compass":
        raise ConfigurationError(
            "a yaw error's model is that of a gyroscope, but the specification's filter is "
            "compass, which uses none"
        )
    level = motion.local_orientation if isinstance(motion, EarthMotion) else motion.orientation
    up = Rotation.from_quat(level).as_matrix()[:, 2, :]
    vertical = _Vertical(motion, up, time)
    rate, force = motion.means()
    sources = [
        *_of_bias(imu.gyroscope, motion, vertical, sample),
        *_of_white_noise(imu.gyroscope, vertical),
        *_of_response(imu, motion, vertical, rate, force),
        *_of_digits(imu.gyroscope, vertical, sample),
    ]
    if imu.output.magnetic_heading:
        return sources, _limits(imu, up, rate, sample)  # the rest is in the field's curve
    curve = _of_felt_acceleration(imu, motion, time, force)
    if isinstance(motion, EarthMotion):
        turning = rate.copy()
        turning[1:] -= turns(level[:-1], level[1:]) / motion.period
        sources += vertical.known(EARTH_TURNING, turning)
        # The filter feels both.
        curve = curve - vertical.integrated(turning) if np.any(curve) else curve
    if np.max(np.abs(curve)) > _LEAST_YAW:
        sources.append(KnownError(FELT_ACCELERATION, curve))
    return sources, _limits(imu, up, rate, sample)


def _of_bias(gyroscope, motion, vertical, sample) -> list[Source]:
    """Return what the gyroscope's bias and its changes with time lead to."""
    everywhere = np.ones((len(motion), 3))
    sources = vertical.known(RATE_BIAS, gyroscope.turn_on_bias * everywhere)
    for axis, sigma in enumerate(gyroscope.turn_on_bias_sigma):
        regressor = vertical.integrated(np.eye(3)[axis] * everywhere)
        if sigma > 0.0 and np.any(regressor):
            sources.append(RandomConstant(RATE_BIAS, regressor, sigma))
    coefficient = vertical.effective(gyroscope.bias_instability)
    if coefficient > 0.0:
        times, sigmas = flicker_processes(gyroscope.bias_instability_band, sample)
        sources += [
            RateGaussMarkov(BIAS_INSTABILITY, coefficient * sigma, correlation_time)
            for correlation_time, sigma in zip(times, sigmas)
        ]
    density = vertical.effective(gyroscope.random_walk)
    if density > 0.0:
        sources.append(RateRandomWalk(RATE_RANDOM_WALK, density))
    for axis, sigma in enumerate(gyroscope.gauss_markov_sigma):
        sigma *= math.sqrt(vertical.weights[axis])
        if sigma > 0.0:
            correlation_time = gyroscope.gauss_markov_time[axis]
            sources.append(RateGaussMarkov(GAUSS_MARKOV, sigma, correlation_time))
    since_start = (motion.time - motion.time[0] + motion.period)[:, np.newaxis]
    return sources + vertical.known(RATE_RAMP, np.array(gyroscope.rate_ramp) * since_start)


def _of_white_noise(gyroscope, vertical) -> list[Source]:
    density = vertical.effective(gyroscope.white_noise)
    return [AngleRandomWalk(ANGLE_RANDOM_WALK, density)] if density > 0.0 else []


def _of_response(imu, motion, vertical, rate, force) -> list[Source]:
    """Return what the gyroscope makes of rates, forces, warmth, voltage and vibration."""
    gyroscope, since_start = imu.gyroscope, motion.time - motion.time[0]
    matrix = np.array(gyroscope.scale_factor_and_misalignment)
    scale = np.diag(np.diag(matrix))

    def excess(condition):
        values = condition.at(since_start) - condition.reference
        return np.broadcast_to(values, since_start.shape)[:, np.newaxis]

    def coefficient_of(name):
        return np.array(getattr(gyroscope, f"{name}_bias")) + (
            np.array(getattr(gyroscope, f"{name}_scale_factor")) * rate
        )

    sources = [
        *vertical.known(SCALE_FACTOR, rate @ scale.T),
        *vertical.known(MISALIGNMENT, rate @ (matrix - scale).T),
        *vertical.known(G_SENSITIVITY, force @ np.array(gyroscope.g_sensitivity).T),
        *vertical.known(TEMPERATURE, excess(imu.temperature) * coefficient_of("temperature")),
        *vertical.known(SUPPLY, excess(imu.supply) * coefficient_of("supply")),
        *vertical.known(NONLINEARITY, np.array(gyroscope.nonlinearity) * np.square(rate)),
    ]
    if imu.vibration.active:
        response = TriadResponse("gyroscope", imu)
        speed = np.linalg.norm(motion.velocity, axis=1)
        sources += vertical.known(VIBRATION, response.rectified(speed))
    return sources


def _of_digits(gyroscope, vertical, sample) -> list[Source]:
    """Return what quantisation and resolution of the readings lead to."""
    sources: list[Source] = []
    coefficient = vertical.effective(gyroscope.quantisation)
    if coefficient > 0.0:
        # The error of the angle is Q (w_k - w_0).
        sources.append(YawNoise(QUANTISATION, coefficient))
        sources.append(RandomConstant(QUANTISATION, np.ones(len(vertical.time)), coefficient))
    step = vertical.effective(gyroscope.resolution)
    if step > 0.0:
        # Rounding adds a uniform error to each reading, as long as the noise exceeds the step.
        sources.append(AngleRandomWalk(RESOLUTION, step * math.sqrt(sample / 12.0)))
    return sources


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
    return error_of_filter(ImuSpecification(output=imu.output), motion, time)


def error_of_filter(
    imu: ImuSpecification,
    motion: Motion | EarthMotion,
    time: np.ndarray,
    environment: MagneticEnvironment | None = None,
) -> np.ndarray:
    """Return the yaw error of a sensor without noise, by running it once.

    ``imu``: with nothing random in it. ``time`` (k,): from the beginning of the motion on [s].
    ``environment``: for one with a magnetometer. The result is (k,) [rad].
    """
    orientation = (
        imu_model(imu, motion.period)
        .batch(imu_truth(motion, environment), 1, parts=("orientation",))
        .orientation[0]
    )
    error = unwrap(difference(motion.yaw, yaw_from_quaternion(orientation)))
    return np.interp(time, motion.time - motion.time[0], error)


class _Vertical:
    """What of errors of the rate goes into the yaw, along a motion of n samples.

    ``motion`` (Motion or EarthMotion). ``up`` (n, 3): the vertical in the body's axes. ``time``
    (k,): of a model, from the beginning of the motion on [s]. ``weights`` (3,): mean squares of the
    components of the vertical.
    """

    def __init__(self, motion, up, time):
        self.time = time
        self.weights = np.mean(up**2, axis=0)
        self._up = up
        self._period = motion.period
        self._since_start = motion.time - motion.time[0]

    def effective(self, values):
        """Return the strength of one process in the place of those on three axes."""
        return math.sqrt(float(np.sum(self.weights * np.square(values))))

    def known(self, name, rate_error) -> list[Source]:
        """Return the source that errors of the rate (n, 3) are; none where they leave the yaw."""
        curve = self.integrated(rate_error)
        return [KnownError(name, curve)] if np.any(curve) else []

    def integrated(self, rate_error):
        """Return yaw error (k,) [rad] that errors of the rate (n, 3) lead to."""
        turned = np.sum(self._up * rate_error, axis=1)
        angle = np.zeros(len(turned))
        np.cumsum(turned[1:] * self._period, out=angle[1:])
        return -np.interp(self.time, self._since_start, angle)


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
