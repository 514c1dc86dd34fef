r"""Sources of the yaw error that an IMU's errors cause on a given motion.

With R the rotation from the body frame to the world frame, the error :math:`\delta\omega` of the
gyroscope rotates the estimated body frame about the vertical by :math:`h \cdot \delta\omega`, where
h is the third row of R; the tilt correction from the accelerometer is perpendicular to the
vertical. Hence

.. math:: \dot e = -h \cdot \left((M + S_T \Delta T) \omega + G f + b + b_T \Delta T + n\right)

to first order in the errors, with the symbols of :mod:`.sensors.imu_models.specification`. Errors
that are the same in every run are integrated along the motion. A random process on three axes acts
like one process, whose strength is weighted by the mean of :math:`h^2`; this is exact on level
ground and at a constant tilt. On the rotating Earth, the vertical is the local vertical, and the
gyroscope also measures the rotation of the local frame, which the sensor's filter does not model.
Two errors are of second order, but not negligible for a low-noise gyroscope: the filter estimates a
wrong tilt while the body accelerates, and the known errors of the rate then act about a tilted
vertical. With :math:`\theta` the tilt error and s the scale factor error, the latter adds about
:math:`s \omega \theta^2 / 2` to :math:`\dot e`. Both follow from one run of the filter.

A magnetic heading high-passes the gyroscope's error and low-passes the magnetometer's. With T the
time constant of the heading (:mod:`.sensors.fusion.magnetic_heading`), b and n the errors of the
yaw rate, and m the error of the magnetic heading,

.. math:: \dot e = -(b + n) - (e - m) / T .

White noise N of the rate leads to the variance :math:`N^2 T / 2`; white noise :math:`N_m` of a
magnetometer in a horizontal field H to :math:`N_m^2 / (2 T H^2)`; a constant bias b to the error b
T; and a random walk K of the rate still grows with :math:`K^2 T^2 t`. In a field with the dip angle
:math:`\delta`, a tilt error :math:`\epsilon` of the filter rotates the heading by
:math:`\epsilon \tan \delta`: this is a Gauss-Markov process with the time constant of the tilt,
:math:`T_a`, and the variance :math:`N^2 T_a / 2 + N_a^2 / (2 T_a g^2)` due to the noise of
gyroscope and accelerometer.

Errors that are the same in every run, due to disturbed fields, iron and accelerations, follow from
one run of the filter with noise-free readings, including its rejection of disturbances.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from typing import Any, Callable, Union, cast

import numpy as np
from scipy.spatial.transform import Rotation

from ...core.angles import difference, relative_rotations, unwrap, yaw_from_quaternion
from ...core.errors import ConfigurationError, MotionError
from ...core.units import STANDARD_GRAVITY
from ...core.yaml_files import accept_names
from ...motion.earth_motion import EarthMotion
from ...motion.motion import Motion, absolute_turn
from ...sensors import simulation
from ...sensors.imu_models import plugins
from ...sensors.imu_models.specification import SpecificationParameters
from ...sensors.imu_specification import (
    TOLERANCES,
    ImuSpecification,
    MagnetometerSpecification,
    TriadSpecification,
)
from ...sensors.magnetism.environment import MagneticEnvironment, read_magnetic_environment
from ...sensors.noise.processes import flicker_processes
from ...sensors.odometer import OdometerSpecification
from ...sensors.operation import Operation, Standstill, find_standstills
from .model import YawErrorModel
from .odometer import odometer_sources
from .parameters import YawErrorParameters
from .sources import (
    AngleRandomWalk,
    KnownError,
    RandomConstant,
    RateGaussMarkov,
    RateRandomWalk,
    Source,
    YawGaussMarkov,
    YawNoise,
)

RATE_BIAS = "rate bias"
BIAS_INSTABILITY = "bias instability"
SCALE_FACTOR = "scale factor"
MISALIGNMENT = "misalignment"
G_SENSITIVITY = "g-sensitivity"
_MAX_TILT = math.radians(10.0)
_MIN_YAW = 1e-6
"""Smallest yaw error that counts as an effect of the filter's tilt error [rad]."""
_RESPONSE_ERRORS = tuple(name for name in TOLERANCES if name != "vibration_rectification")
"""Gyroscope errors that are the same in every run, unless they are tolerances over sensors."""


def _specification_sources(imu, motion, time, sample, operation, standstills):
    """Create the sources of a specified IMU's yaw error, and messages on omitted errors."""
    if imu.output.orientation_reference == "truth":
        return [], []
    if imu.output.filter == "compass":
        raise ConfigurationError(
            "a yaw error model requires a gyroscope, but the specification's filter is compass, "
            "which uses none"
        )
    standstill_samples = 0
    if operation.standstill > 0.0:
        standstill_samples = max(1, round(operation.standstill / motion.period))
    vertical_with = _verticals(motion, standstill_samples, float(time[1]), len(time))
    vertical = vertical_with(standstills)
    driven = vertical.driven
    sources = [
        *_bias_and_noise_sources(imu, vertical, sample),
        *_response_sources(imu, vertical, sample, operation.warm_up),
    ]
    limits = _limits(imu, driven, sample)
    if imu.output.magnetic_heading:
        return sources, limits  # the run with a magnetic heading includes all other effects
    sources += vertical.earth_turning
    curve = np.zeros(len(time))
    # A simulation of the filter includes the nonlinear effect of its tilt error.
    if driven.accelerates and imu.output.orientation_reference == "fusion":
        quiet = ImuSpecification(output=imu.output)
        if driven.tilt <= _MAX_TILT:
            quiet = _remove_random_errors(imu)
        zeroed = Operation(standstill=operation.standstill, warm_up=operation.warm_up)
        error = _filter_yaw_error(quiet, motion, zeroed)
        curve = np.interp(time, motion.time - motion.time[0], error)
        # Stops are omitted here, since the simulated filter may detect them at other times.
        vertical = vertical_with(())
        linear: Any = _bias_and_noise_sources(quiet, vertical, sample)
        linear += _response_sources(quiet, vertical, sample, operation.warm_up)
        for source in [*linear, *vertical.earth_turning]:
            curve = curve - source.curve
    if np.max(np.abs(curve)) > _MIN_YAW:
        sources.append(KnownError("acceleration tilt", curve))
    return sources, limits


def _bias_and_noise_sources(imu, vertical, sample) -> list[Source]:
    """Create the sources of yaw error due to the gyroscope's bias, bias drift and white noise."""
    gyroscope, units = imu.gyroscope, imu.units
    since_start = vertical.driven.motion.time - vertical.driven.motion.time[0]
    sources: list[Source] = []
    if any(gyroscope.turn_on_bias):
        bias = gyroscope.turn_on_bias * np.ones((len(since_start), 3))
        sources += vertical.known(RATE_BIAS, bias)
    for axis, sigma in enumerate(gyroscope.turn_on_bias_sigma):
        if sigma > 0.0:
            regressor = vertical.integrated(np.eye(3)[axis] * np.ones((len(since_start), 3)))
            if np.any(regressor):
                sources.append(RandomConstant(RATE_BIAS, regressor, sigma))
    coefficient = vertical.effective(gyroscope.bias_instability)
    if coefficient > 0.0:
        times, sigmas = flicker_processes(gyroscope.bias_instability_band, sample)
        spread = units.bias_instability
        sources += [
            RateGaussMarkov(BIAS_INSTABILITY, coefficient * sigma, time, spread=spread)
            for time, sigma in zip(times, sigmas)
        ]
    density = vertical.effective(gyroscope.random_walk)
    if density > 0.0:
        sources.append(RateRandomWalk("rate random walk", density, units.random_walk))
    for axis, sigma in enumerate(gyroscope.gauss_markov_sigma):
        sigma *= math.sqrt(vertical.weights[axis])
        if sigma > 0.0:
            correlation_time = gyroscope.gauss_markov_time[axis]
            sources.append(RateGaussMarkov("Gauss-Markov bias", sigma, correlation_time))
    if any(gyroscope.rate_ramp):
        age = (since_start + vertical.driven.motion.period)[:, np.newaxis]
        sources += vertical.known("rate ramp", np.array(gyroscope.rate_ramp) * age)
    density = vertical.effective(gyroscope.white_noise)
    if density > 0.0:
        sources.append(AngleRandomWalk("angle random walk", density, spread=units.white_noise))
    return sources


def _response_sources(imu, vertical, sample, warm_up) -> list[Source]:
    """Create sources due to rates, forces, temperature, supply, vibration and resolution."""
    gyroscope, motion = imu.gyroscope, vertical.driven.motion
    rate, force = vertical.driven.rate, vertical.driven.force
    since_start = motion.time - motion.time[0] + warm_up
    matrix = np.array(gyroscope.scale_factor_and_misalignment)
    scale = np.diag(np.diag(matrix))
    response_sources = vertical.tolerance if imu.units.tolerances else vertical.response
    constant = np.ones((len(motion), 3))
    sources = [
        *response_sources(SCALE_FACTOR, scale, rate),
        *response_sources(MISALIGNMENT, matrix - scale, rate),
        *response_sources(G_SENSITIVITY, np.array(gyroscope.g_sensitivity), force),
    ]
    if any(gyroscope.nonlinearity):
        squares = np.square(rate)
        sources += response_sources("nonlinearity", np.diag(gyroscope.nonlinearity), squares)
    for name, condition in (("temperature", imu.temperature), ("supply voltage", imu.supply)):
        key = name.split()[0]
        for part, signal in (("bias", constant), ("scale_factor", rate)):
            coefficients = getattr(gyroscope, f"{key}_{part}")
            if any(coefficients):
                excess = condition.at(since_start) - condition.reference
                excess = np.broadcast_to(excess, since_start.shape)[:, np.newaxis]
                sources += response_sources(name, np.diag(coefficients), excess * signal)
    if imu.vibration.active:
        amplitude = imu.vibration.amplitude(np.linalg.norm(motion.velocity, axis=1))
        power = np.sum(imu.vibration.mean_square) * np.square(amplitude)[:, np.newaxis]
        rectification = np.diag(gyroscope.vibration_rectification)
        sources += response_sources("rectified vibration", rectification, power * constant)
    coefficient = vertical.effective(gyroscope.quantisation)
    if coefficient > 0.0:
        # The angle error is Q w_k, plus Q w at the beginning and end of each integration interval.
        sources.append(YawNoise("quantisation", coefficient))
        sources += [
            RandomConstant("quantisation", curve, coefficient)
            for curve in vertical.instant_curves()
        ]
    step = vertical.effective(gyroscope.resolution)
    if step > 0.0:
        # Rounding adds a uniform error to each reading, if the noise exceeds the resolution.
        sources.append(AngleRandomWalk("resolution", step * math.sqrt(sample / 12.0)))
    return sources


def _remove_random_errors(imu):
    """Return an IMU with only those gyroscope errors that are the same in every run."""
    names = ("turn_on_bias", "rate_ramp")
    if not imu.units.tolerances:
        names = (*names, *_RESPONSE_ERRORS)
    gyroscope = TriadSpecification(**{name: getattr(imu.gyroscope, name) for name in names})
    conditions = {"temperature": imu.temperature, "supply": imu.supply}
    if gyroscope == TriadSpecification():
        conditions = {}  # so that all such sensors share one cached result
    return ImuSpecification(output=imu.output, gyroscope=gyroscope, **conditions)


@lru_cache(maxsize=8)
def _filter_yaw_error(imu, motion, operation):
    """Simulate the yaw error (n,) [rad] of a sensor without random errors, with a cache."""
    return _noise_free_yaw_error(simulation.operated(imu, operation, motion), motion)


def _noise_free_yaw_error(imu, motion, environment=None):
    """Simulate the yaw error (n,) [rad] of a sensor without random errors in a single run."""
    truth = simulation.imu_truth(motion, environment)
    reading = simulation.imu_model(imu, motion.period).batch(truth, 1, parts=("orientation",))
    return unwrap(difference(motion.yaw, yaw_from_quaternion(reading.orientation[0])))


class _DrivenMotion:
    """Motion, including the standstill before the drive, and ideal IMU signals at n samples.

    Attributes
    ----------
    motion : Motion or EarthMotion
        Motion including the standstill.
    standstill_samples : int
        Number of samples of the standstill.
    up : numpy.ndarray
        Vertical in the axes of the body, shape (n, 3).
    rate, force : numpy.ndarray
        Ideal angular velocity [rad/s] and specific force [m/s^2], shape (n, 3) each.
    largest_rate : numpy.ndarray
        Largest angular velocity about each axis during the drive, shape (3,) [rad/s].
    tilt : float
        Largest tilt [rad].
    accelerates : bool
        Whether the body accelerates along or across the drive.
    """

    def __init__(self, motion, standstill_samples):
        self.motion = motion.standing_before(standstill_samples) if standstill_samples else motion
        self.before = standstill_samples
        self.up = Rotation.from_quat(self.motion.local_orientation).as_matrix()[:, 2, :]
        self.rate, self.force = self.motion.means()
        self.tilt = float(np.max(np.arccos(np.clip(self.up[:, 2], -1.0, 1.0))))
        self.largest_rate = np.max(np.abs(self.rate[standstill_samples:]), axis=0)
        level = np.abs(self.force[standstill_samples:, :2])
        self.accelerates = bool(np.any(level >= 1e-9 * STANDARD_GRAVITY))

    def earth_turning(self):
        """Return the Earth's rotation (n, 3) as measured by an ideal gyroscope [rad/s]."""
        level, turning = self.motion.local_orientation, self.rate.copy()
        turning[1:] -= relative_rotations(level[:-1], level[1:]) / self.motion.period
        return turning


MAX_SHARED_SAMPLES = 150_000
"""Maximum number of samples of a motion whose ideal signals are cached for all sensors.

This is 60 MB, or 25 minutes at 100 Hz. Recomputing the signals of longer motions is cheaper than
storing them."""
_driven_motion = lru_cache(maxsize=2)(_DrivenMotion)


def _verticals(motion, standstill_samples, period, samples) -> Callable[[tuple], _Vertical]:
    """Return a function that creates the :class:`_Vertical` for given stops during the drive."""
    if len(motion.time) <= MAX_SHARED_SAMPLES:
        return partial(_vertical, motion, standstill_samples, period, samples)
    driven = _DrivenMotion(motion, standstill_samples)
    return partial(_Vertical, driven, period * np.arange(samples))


@lru_cache(maxsize=4)
def _vertical(motion, standstill_samples, period, samples, standstills) -> _Vertical:
    """Create a :class:`_Vertical` at evenly spaced times, cached with its curves."""
    return _Vertical(
        _driven_motion(motion, standstill_samples), period * np.arange(samples), standstills
    )


class _Vertical:
    """Conversion of gyroscope rate errors to yaw errors along a motion of n samples.

    ``driven``: the motion including any standstill before the drive, whose mean rate is subtracted.
    ``time`` (k,): times of the model since the beginning of the drive [s]. ``standstills``: stops
    during the drive. ``weights`` (3,): mean squares of the components of the vertical.
    """

    def __init__(self, driven, time, standstills=()):
        self.driven = driven
        self.time = time
        motion, up, standstill_samples = driven.motion, driven.up, driven.before
        self.weights = np.mean(up[standstill_samples:] ** 2, axis=0)
        # Like a gyroscope reading, the vertical is a mean since the previous sample.
        self._up = np.vstack([up[:1], 0.5 * (up[1:] + up[:-1])])
        self._period = motion.period
        self._before = standstill_samples
        self._since_start = motion.time[standstill_samples:] - motion.time[standstill_samples]
        # Each sample is a mean over the preceding period, so a stop's samples begin one later.
        places = np.rint(np.array(standstills).reshape(-1, 3) / self._period).astype(int)
        places = np.minimum(standstill_samples + 1 + places, len(up))
        self._stops = [stop for stop in places.tolist() if stop[0] < stop[2]]
        self._axis_curves: dict[tuple[str, int, int], np.ndarray] = {}

    @cached_property
    def earth_turning(self) -> list[KnownError]:
        """Yaw error source of the Earth's rotation; empty if the motion is not on the Earth."""
        if not isinstance(self.driven.motion, EarthMotion):
            return []
        return self.known("Earth's turning", self.driven.earth_turning())

    def effective(self, values):
        """Return the strength of a single process that replaces the processes on three axes."""
        return math.sqrt(float(np.sum(self.weights * np.square(values))))

    def known(self, name, rate_error) -> list[KnownError]:
        """Return the source of known rate errors (n, 3); empty if they do not affect the yaw."""
        curve = self._significant_curve(self.integrated(rate_error), rate_error)
        return [KnownError(name, curve)] if np.any(curve) else []

    def _significant_curve(self, curve, rate_error):
        """Return a yaw error curve (k,), set to zero if it consists of rounding errors alone."""
        # Zero-rate updates remove a constant rate error except for rounding.
        size = float(np.max(np.abs(rate_error))) * max(float(self.time[-1]), self._period)
        is_significant = np.max(np.abs(curve)) > 1e-12 * size
        return curve if is_significant else np.zeros_like(curve)

    def response(self, name, matrix, signal) -> list[KnownError]:
        """Return the source of rate errors that are a known matrix times a signal (n, 3)."""
        return self.known(name, signal @ matrix.T) if np.any(matrix) else []

    def tolerance(self, name, matrix, signal) -> list[Source]:
        """Return sources of rate errors with matrix elements that vary randomly over sensors."""
        sources: list[Source] = []
        for row, column in zip(*np.nonzero(matrix)):
            curve = self._axis_curve(row, column, signal)
            if np.any(curve):
                sources.append(RandomConstant(name, curve, abs(float(matrix[row, column]))))
        return sources

    def _axis_curve(self, row, column, signal):
        """Return the yaw error (k,) if one gyroscope axis has a column of a signal as its error.

        Curves for the signals of the motion are cached, since other sensors need them, too.
        """
        motion_signals = {"rate": self.driven.rate, "force": self.driven.force}
        name = next((name for name, other in motion_signals.items() if other is signal), "")
        if (name, row, column) in self._axis_curves:
            return self._axis_curves[name, row, column]
        error = signal[:, column]
        curve = self._significant_curve(self._yaw(self._up[:, row] * self._zeroed(error)), error)
        if name:
            self._axis_curves[name, row, column] = curve
        return curve

    def integrated(self, rate_error):
        """Return the yaw error (k,) [rad] due to gyroscope rate errors (n, 3)."""
        return self._yaw(np.sum(self._up * self._zeroed(rate_error), axis=1))

    def instant_curves(self):
        """Return the yaw error due to a unit angle error at each end of an integration interval.

        The result is a list of curves (k,) [1]: for the start, and for the ends of each standstill.
        """
        if not (self._before or self._stops):
            return [np.ones(len(self.time))]
        standstill_ends = [-1, self._before - 1] if self._before else []
        places = {
            self._before,
            *standstill_ends,
            *(place - 1 for stop in self._stops for place in stop),
        }
        curves = []
        for place in sorted(places):
            # The rate error is the change in the angle error since the previous sample.
            rate = np.zeros((len(self._up), 3))
            for sample, sign in ((place, 1.0), (place + 1, -1.0)):
                if 0 <= sample < len(rate):
                    rate[sample] = sign / self._period
            curves.append(self._yaw(self._zeroed(rate)[:, 0]))
        return [curve for curve in curves if np.any(curve)]

    def _zeroed(self, rate_error):
        """Subtract the estimated offset from rate errors, and set them to zero at held yaw."""
        zeroed, offset, first = np.zeros_like(rate_error), 0.0, self._before
        if self._before:
            offset = np.mean(rate_error[: self._before], axis=0)
        for start, first_held, end in self._stops:
            zeroed[first:first_held] = rate_error[first:first_held] - offset
            offset, first = np.mean(rate_error[start:end], axis=0), end
        zeroed[first:] = rate_error[first:] - offset
        return zeroed

    def _yaw(self, rate_error):
        """Integrate rate errors about the vertical (n,) [rad/s] to the yaw error (k,) [rad]."""
        drive_rate_error = rate_error[self._before :]
        angle = np.zeros(len(drive_rate_error))
        np.cumsum(drive_rate_error[1:] * self._period, out=angle[1:])
        return -np.interp(self.time, self._since_start, angle)


def _limits(imu, driven, sample):
    """Return messages on the nonlinear errors that the model neglects."""
    gyroscope, limits = imu.gyroscope, []
    if driven.tilt > _MAX_TILT:
        limits.append(
            f"The motion tilts by up to {math.degrees(driven.tilt):.0f} deg: the noise of the "
            "three axes is averaged over the tilt, and the filter's tilt error is neglected."
        )
    for name, limit, largest in zip("xyz", gyroscope.saturation or (), driven.largest_rate):
        if largest > limit:
            limits.append(
                f"The gyroscope's {name} saturates at {limit:g} rad/s, but the motion turns at up "
                f"to {largest:.3g} rad/s: the clipped part of the rate is neglected."
            )
    noise = gyroscope.white_noise[2] / math.sqrt(sample)
    if gyroscope.resolution[2] > 2.0 * noise:
        limits.append(
            f"The gyroscope's resolution of {gyroscope.resolution[2]:.3g} rad/s exceeds twice its "
            f"noise of {noise:.3g} rad/s: readings are quantised, and the error is not random "
            "noise."
        )
    biased = imu.output.filter_rate_bias and not imu.output.magnetic_heading
    if imu.output.filter == "vqf" and biased:
        limits.append(
            "The filter vqf estimates the rate's bias whenever the sensor is at rest: the "
            "resulting reduction of the drift is neglected."
        )
    return limits


USUAL_FIELD = MagneticEnvironment(earth=(0.0, 20e-6, -45e-6))
"""Default magnetic field: undisturbed, as in central Europe."""


def _with_magnetic_heading(sources, imu, motion, time, sample, environment):
    """Adapt yaw error sources to a magnetic heading; return messages on omitted errors.

    ``sources`` are those of the same sensor without a magnetometer. The model has to apply the time
    constant of the heading to the processes.
    """
    constant = imu.output.magnetic_time_constant
    limits = []
    if environment is None:
        environment = USUAL_FIELD
        limits.append(
            "No magnetic environment is given: the field is assumed to be undisturbed, with a "
            "horizontal component of 20 uT."
        )
    kept: list[Source] = []
    for source in sources:
        if isinstance(source, KnownError):
            source = replace(source, curve=high_pass(source.curve, time, constant))
        elif isinstance(source, RandomConstant):
            source = replace(source, regressor=high_pass(source.regressor, time, constant))
        kept.append(source)
    magnetometer = imu.magnetometer or MagnetometerSpecification()
    level = float(np.hypot(*environment.undisturbed[:2]))
    if level == 0.0:
        raise ConfigurationError(
            "The magnetic environment has no horizontal field, so there is no magnetic heading."
        )
    # On level ground, the horizontal axes stay horizontal, so that the mean of both suffices.
    noise = float(np.sqrt(np.mean(np.square(magnetometer.white_noise[:2]))))
    if noise > 0.0:
        # Each reading is weighted by a share, by which the weights of earlier readings decrease.
        density = noise / level * math.expm1(sample / constant) / sample
        kept.append(AngleRandomWalk("magnetometer noise", density, is_gyroscope_error=False))
    dip = abs(environment.undisturbed[2]) / level
    tilt_time = imu.output.filter_time_constant
    rate, force = (
        float(np.mean(np.square(triad.white_noise[:2])))
        for triad in (imu.gyroscope, imu.accelerometer)
    )
    tilt = math.sqrt(rate * tilt_time / 2.0 + force / (2.0 * tilt_time * STANDARD_GRAVITY**2))
    if tilt * dip > 0.0:
        sigma = tilt * dip / constant
        kept.append(RateGaussMarkov("filter's tilt", sigma, tilt_time, is_gyroscope_error=False))
    known = MagnetometerSpecification(
        **{name: getattr(magnetometer, name) for name in _KNOWN_ERRORS}
    )
    ideal = ImuSpecification(output=imu.output, magnetometer=known)
    error = _noise_free_yaw_error(ideal, motion, environment)
    curve = np.interp(time, motion.time - motion.time[0], error)
    if np.any(curve):
        kept.append(KnownError("magnetic field", curve))
    return kept, limits + _heading_limits(imu, magnetometer, dip)


def high_pass(curve: np.ndarray, time: np.ndarray, constant: float) -> np.ndarray:
    """Apply a first-order high-pass filter to a curve, with an initial value of zero.

    The result is exact for a curve that is linear between its times.

    Parameters
    ----------
    curve : numpy.ndarray
        Curve, shape (n,).
    time : numpy.ndarray
        Times with even steps, shape (n,) [s].
    constant : float
        Time constant [s].

    Returns
    -------
    numpy.ndarray
        Filtered curve, shape (n,).
    """
    # Imported here, since it takes 0.3 s and only magnetic headings need it.
    from scipy.signal import lfilter

    ratio = (time[1] - time[0]) / constant
    keep = np.exp(-ratio)
    filtered = np.zeros(len(curve))
    filtered[1:] = lfilter([-np.expm1(-ratio) / ratio], [1.0, -keep], np.diff(curve))
    return filtered


_KNOWN_ERRORS = ("hard_iron", "soft_iron", "turn_on_bias", "scale_factor_and_misalignment")
_DRAWN_ERRORS = ("bias_instability", "random_walk", "gauss_markov_sigma", "turn_on_bias_sigma")
"""Magnetometer errors that are the same in every run, and random magnetometer errors."""


def _heading_limits(imu, magnetometer, dip) -> list[str]:
    """Return messages on magnetic heading errors that the yaw error sources do not include."""
    limits = []
    left_out = [name for name in _DRAWN_ERRORS if any(getattr(magnetometer, name))]
    if left_out:
        limits.append(
            f"The magnetometer's {', '.join(left_out).replace('_', ' ')} are neglected: their "
            "effect on the heading depends on the sensor's heading."
        )
    if dip > 0.0 and any(
        any(values[:2])
        for triad in (imu.gyroscope, imu.accelerometer)
        for values in (triad.turn_on_bias, triad.turn_on_bias_sigma, triad.bias_instability)
    ):
        limits.append(
            "Biases of the horizontal axes cause a tilt error, which changes the heading in an "
            "inclined field; this part of the heading error is neglected."
        )
    if imu.output.filter_rate_bias:
        limits.append(
            "The filter estimates the rate's bias from the heading: the resulting reduction of "
            "the error is neglected."
        )
    limits.append(
        f"In the first {imu.output.magnetic_time_constant:g} s the heading is the mean of all "
        "readings so far, so its errors exceed those of the model."
    )
    return limits


LinearImu = Union[
    ImuSpecification, SpecificationParameters, plugins.HectorParameters,
    plugins.GenericParameters, YawErrorParameters, OdometerSpecification,
]  # fmt: skip
"""Types of IMU and odometer specifications for which a linear yaw error model exists."""


@accept_names(imu=simulation.named_errors, magnetic_environment=read_magnetic_environment)
def yaw_error_model(
    imu: LinearImu,
    motion: Motion | EarthMotion,
    period: float = 1.0,
    magnetic_environment: MagneticEnvironment | None = None,
    sample: float | None = None,
    operation: Operation | None = None,
) -> YawErrorModel:
    """Create the yaw error model of an IMU or an odometer along a motion.

    Parameters
    ----------
    imu : LinearImu
        Errors of the sensor.
    motion : Motion or EarthMotion
        Evenly sampled motion of the IMU, or for an odometer, of the midpoint between the wheels.
    period : float, optional
        Step of the model [s]. If it is not an integer multiple of the sensor's period, the sensor's
        processes are modelled in continuous time.
    magnetic_environment : MagneticEnvironment, optional
        Field for a sensor with a magnetic heading; by default the undisturbed field in Europe.
    sample : float, optional
        Sampling period of the sensor, if the motion has longer steps [s]; by default the period of
        the motion. A sensor with a longer period keeps its period.
    operation : Operation, optional
        Use of a specified sensor, such as zero-rate updates; by default none. Its stops must be
        part of the motion (:meth:`.Operation.insert_stops`).

    Returns
    -------
    YawErrorModel

    Raises
    ------
    ConfigurationError
        If ``imu`` has an unsupported type, the sensor does not use its gyroscope, or the offset is
        to be estimated at stops although the sensor has a magnetic heading.
    MotionError
        If the motion has uneven samples, or is shorter than the step.

    Examples
    --------
    >>> motion = isf.straight(600.0, speed=1.0)
    >>> model = isf.yaw_error_model(isf.HectorParameters(), motion, period=1.0)
    >>> model.realisations(1000, seed=1).shape
    (1000, 601)
    """
    operation = Operation(standstill=0.0) if operation is None else operation
    sample = motion.period if sample is None else sample
    if isinstance(imu, SpecificationParameters):
        # SpecificationParameters have already converted a mapping.
        imu = cast(ImuSpecification, imu.specification)
    steps = int(motion.duration / period * (1.0 + 1e-9))
    if steps < 1:
        raise MotionError(
            f"the duration of the motion is {motion.duration:g} s, expected at least the step of "
            f"the model, {period:g} s"
        )
    time = period * np.arange(steps + 1)
    if isinstance(imu, ImuSpecification):
        return _specification_model(imu, motion, time, sample, operation, magnetic_environment)
    limits: list[str] = []
    sources: list[Source]
    if isinstance(imu, YawErrorParameters):
        since_start, yaw = motion.time - motion.time[0], motion.yaw
        net, absolute = yaw - yaw[0], absolute_turn(yaw)
        net, absolute = (np.interp(time, since_start, turn) for turn in (net, absolute))
        sources, limits = imu.sources(time, net, absolute), list(imu.limits)
    elif isinstance(imu, plugins.HectorParameters):
        sources = _hector_sources(imu, time, sample)
    elif isinstance(imu, OdometerSpecification):
        sample = max(sample, 1.0 / imu.rate)
        sources = odometer_sources(imu, motion.local(), time)
    elif isinstance(imu, plugins.GenericParameters):
        # The yaw of q = (0, 0, s, c) changes by 2 (c dz - s dw).
        sources = [YawNoise("yaw noise", 2.0 * imu.gaussian_noise)]
    else:
        raise ConfigurationError(
            f"the sensor is of type {type(imu).__name__}, expected an ImuSpecification, an "
            "OdometerSpecification, plug-in parameters or identified parameters"
        )
    return YawErrorModel(time, tuple(sources), _whole_period(period, sample), tuple(limits))


def _specification_model(imu, motion, time, sample, operation, magnetic_environment):
    sample = max(sample, 1.0 / imu.output.rate)
    period = float(time[1])
    stops, standstill, constant = (), 0.0, None
    detection_limits: list[str] = []
    if imu.output.orientation_reference != "truth":
        standstill = round(operation.standstill / sample) * sample
        stops, detection_limits = _standstills(imu, motion, operation)
        stops = _placed_standstills(stops, period, float(time[-1]))
    sources, limits = _specification_sources(imu, motion, time, sample, operation, stops)
    limits += detection_limits
    if imu.output.fuses_magnetometer:
        constant = imu.output.magnetic_time_constant
        if stops:
            raise ConfigurationError(
                "stops cannot be combined with a magnetic heading, which changes during stops; set "
                "stops to none"
            )
        sources, heading_limits = _with_magnetic_heading(
            sources, imu, motion, time, sample, magnetic_environment
        )
        limits += heading_limits
    return YawErrorModel(
        time=time,
        sources=tuple(sources),
        sensor_period=_whole_period(period, sample),
        limits=tuple(limits),
        heading_time_constant=constant,
        standstill=standstill,
        standstills=stops,
    )


def _whole_period(period: float, sample: float) -> float | None:
    """Return the sensor's sampling period; None if the model's step is not a multiple of it."""
    ratio = period / sample
    is_whole = round(ratio) >= 1 and abs(ratio - round(ratio)) < 1e-6 * ratio
    return sample if is_whole else None


def _standstills(imu, motion, operation):
    """Return stops at which the gyroscope offset is estimated, and messages on detection errors.

    Detected stops come from one run of the sensor.
    """
    if not operation.detects:
        return operation.standstills(motion), []
    step = motion.period
    model = simulation.imu_model(simulation.operated(imu, operation, motion), step)
    detected = model.detected_standstills(simulation.imu_truth(motion, speed=model.requires_speed))
    stops = find_standstills(motion, operation.min_stop)
    is_stationary, is_held = np.zeros((2, len(motion)), dtype=bool)
    for places, spans in (
        (is_stationary, stops),
        (is_held, [(stop.held_from, stop.end) for stop in detected]),
    ):
        for start, end in spans:
            places[round(start / step) : round(end / step) + 1] = True
    missed = sum(not np.any(is_held[round(a / step) :][: round((b - a) / step)]) for a, b in stops)
    moving = float(np.sum(is_held & ~is_stationary)) * step
    return detected, [
        f"the detector finds {len(stops) - missed} of {len(stops)} stops, and considers the "
        f"robot stationary during {moving:.3g} s in which it moves"
    ]


def _placed_standstills(standstills, period, last):
    """Trim each stop to whole time steps, and omit stops that become too short."""
    placed = []
    for start, held_from, end in standstills:
        start, held_from = (math.ceil(time / period - 1e-6) * period for time in (start, held_from))
        end = min(math.floor(end / period + 1e-6) * period, last)
        if held_from >= end:
            held_from = start  # in a stop of one step, the drift before the yaw is held is small
        if start <= held_from < end:
            placed.append(Standstill(start, held_from, end))
    return tuple(placed)


def _hector_sources(parameters, time, sample):
    offset = -parameters.yaw_offset
    sources: list[Source] = [KnownError("yaw offset", np.full(len(time), offset))] if offset else []
    if parameters.yaw_drift and parameters.yaw_drift_frequency:
        frequency = parameters.yaw_drift_frequency
        sigma = float(plugins.drift_stationary_std(parameters.yaw_drift, frequency, sample))
        sources.append(YawGaussMarkov("yaw drift", sigma, 1.0 / frequency, stationary=False))
    return sources
