"""Hector's IMU plug-in, libhector_gazebo_ros_imu.so."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from imu_simulation_framework.checked_values import checked_axes
from imu_simulation_framework.noise.streams import NormalStreams, run_seed
from imu_simulation_framework.sensors.imu_models.base import ImuModel, diagonal, require_numbers
from imu_simulation_framework.sensors.imu_models.hector_drift import (
    drift_correlation,
    drift_innovation_std,
)
from imu_simulation_framework.sensors.imu_models.reading import AnyTruth, ImuReading

# Columns of the seven drifting quantities, and of the thirteen random numbers of a sample: seven
# innovations, then the white noise of accelerometer and gyroscope.
_FORCE, _RATE, _YAW = slice(0, 3), slice(3, 6), 6
_DRIFTS = slice(0, 7)
_FORCE_NOISE, _RATE_NOISE = slice(7, 10), slice(10, 13)
_NUMBERS_PER_SAMPLE = 13


@dataclass(frozen=True)
class HectorParameters:
    """The plug-in's parameters under its own names; each sensor's hold for all three axes.

    The defaults for the yaw are those that were tuned to a BNO055; the others are the plug-in's.

    Parameters
    ----------
    yaw_offset, rate_offset, accel_offset : float
        Constant error [rad, rad/s, m/s^2].
    yaw_drift, rate_drift, accel_drift : float
        Strength of the drift [rad, rad/s, m/s^2], which is not its standard deviation: see
        :mod:`imu_simulation_framework.sensors.imu_models.hector_drift`.
    yaw_drift_frequency, rate_drift_frequency, accel_drift_frequency : float
        Inverse of the drift's correlation time [1/s; the plug-in says Hz].
    yaw_gaussian_noise : float
        Never reaches the orientation; only its square is published, as the yaw's variance [rad].
    rate_gaussian_noise, accel_gaussian_noise : float
        Standard deviation of the white noise [rad/s, m/s^2].
    rate_scale_error, accel_scale_error : float
        Factor on the true value.

    Raises
    ------
    ConfigurationError
        A value is no number, or negative where only its size counts.
    """

    yaw_offset: float = 0.0
    yaw_drift: float = 0.5
    yaw_drift_frequency: float = 0.005
    yaw_gaussian_noise: float = 0.00215
    rate_offset: float = 0.0
    rate_drift: float = 0.0
    rate_drift_frequency: float = 1.0 / 3600.0
    rate_gaussian_noise: float = 0.0
    rate_scale_error: float = 1.0
    accel_offset: float = 0.0
    accel_drift: float = 0.0
    accel_drift_frequency: float = 1.0 / 3600.0
    accel_gaussian_noise: float = 0.0
    accel_scale_error: float = 1.0

    def __post_init__(self) -> None:
        sizes = ("drift", "drift_frequency", "gaussian_noise")
        require_numbers(
            self, not_negative=[f.name for f in fields(self) if f.name.split("_", 1)[1] in sizes]
        )


class HectorImu(ImuModel):
    """Offset, scale, noise and drift on gyroscope and accelerometer; a separate drift of the yaw.

    The orientation is the truth turned, in the world, by the yaw's bias and by the tilt that the
    accelerometer's bias would make an attitude filter believe; the gyroscope's errors do not
    reach it. Bias means offset and drift, without the white noise.

    The plug-in starts its drift from a normal number of standard deviation ``drift``, ten times
    too much at 100 Hz. Here, as when it is loaded with zero drift and told its parameters
    afterwards, drift starts at zero.
    """

    def __init__(self, parameters: HectorParameters, period: float, seed=0):
        super().__init__(parameters, period, seed)
        p = parameters
        drift = _per_quantity(p.accel_drift, p.rate_drift, p.yaw_drift)
        frequency = _per_quantity(
            p.accel_drift_frequency, p.rate_drift_frequency, p.yaw_drift_frequency
        )
        self._correlation = drift_correlation(frequency, period)
        self._innovation_std = drift_innovation_std(drift, frequency, period)
        self._offset = _per_quantity(p.accel_offset, p.rate_offset, p.yaw_offset)
        # Turning by a tilt costs more than the rest of a step, and mostly there is none.
        self._tilts = p.accel_offset != 0.0 or p.accel_drift != 0.0
        self._random = [
            *(self._innovation_std > 0.0),
            *[p.accel_gaussian_noise > 0.0] * 3,
            *[p.rate_gaussian_noise > 0.0] * 3,
        ]
        self._begin(run_seed(seed, 0))

    @property
    def label(self) -> str:
        p = self.parameters
        label = f"hector_sigma{p.yaw_drift:g}_fd{p.yaw_drift_frequency:g}"
        for field in fields(p):
            value = getattr(p, field.name)
            if field.name not in ("yaw_drift", "yaw_drift_frequency") and value != field.default:
                label += f"_{field.name}{value:g}"
        return label

    def _begin(self, seed):
        self._drift = np.zeros(7)
        self._numbers = NormalStreams(seed, self._random)

    def set_drift(self, angular_velocity=None, specific_force=None):
        # SensorModel::reset(value) of the plug-in: the offset stays, and the drift wanders on.
        drift = self._drift.copy()
        for name, part, values in (
            ("angular_velocity", _RATE, angular_velocity),
            ("specific_force", _FORCE, specific_force),
        ):
            if values is not None:
                drift[part] = checked_axes(name, tuple(values))
        self._drift = drift
        self._tilts = self._tilts or specific_force is not None

    def step(self, truth: AnyTruth) -> ImuReading:
        numbers = self._numbers.next()
        self._drift = self._correlation * self._drift + self._innovation_std * numbers[_DRIFTS]
        return self._read(truth, self._drift + self._offset, numbers)

    def steps(self, truth: AnyTruth) -> tuple[ImuReading, np.ndarray]:
        # What a step costs is mostly that of the call, whether it turns one row or five.
        samples = len(truth.orientation)
        numbers = self._numbers.take(samples)
        bias = np.empty((samples, _DRIFTS.stop))
        for row, innovation in zip(bias, self._innovation_std * numbers[:, _DRIFTS]):
            row[:] = self._drift = self._correlation * self._drift + innovation
        return self._read(truth, bias + self._offset, numbers), self.new_samples(samples)

    def _realise(self, truth, seed):
        # Imported here, since every node knows the models, and it takes 40 MB.
        from scipy.signal import lfilter

        numbers = NormalStreams(seed, self._random).take(len(truth.orientation))
        bias = np.empty((len(numbers), _DRIFTS.stop))
        bias[...] = self._offset
        for index in np.flatnonzero(self._innovation_std):
            innovation = self._innovation_std[index] * numbers[:, index]
            bias[:, index] += lfilter([1.0], [1.0, -self._correlation[index]], innovation)
        return self._read(truth, bias, numbers)

    def _read(self, truth, bias, numbers):
        # For one sample or for a row of them.
        p = self.parameters
        force_bias, rate_bias, yaw_bias = bias[..., _FORCE], bias[..., _RATE], bias[..., _YAW]
        orientation, orientation_bias = self._turn(truth.orientation, force_bias, yaw_bias)
        return ImuReading(
            orientation=orientation,
            angular_velocity=p.rate_scale_error * truth.angular_velocity
            + (rate_bias + p.rate_gaussian_noise * numbers[..., _RATE_NOISE]),
            specific_force=p.accel_scale_error * truth.specific_force
            + (force_bias + p.accel_gaussian_noise * numbers[..., _FORCE_NOISE]),
            angular_velocity_bias=rate_bias,
            specific_force_bias=force_bias,
            yaw_bias=yaw_bias,
            orientation_bias=orientation_bias,
        )

    def _turn(self, orientation, force_bias, yaw_bias):
        from scipy.spatial.transform import Rotation

        true = Rotation.from_quat(orientation)
        bias = np.zeros(np.shape(orientation))
        bias[..., 2] = np.sin(0.5 * yaw_bias)
        bias[..., 3] = np.cos(0.5 * yaw_bias)
        error = Rotation.from_quat(bias)
        if self._tilts:
            # A filter takes a horizontal error a of the accelerometer for a tilt of a / g.
            in_world = true.apply(force_bias) / self.gravity
            tilt = np.zeros_like(bias)
            tilt[..., 0] = 0.5 * in_world[..., 1]
            tilt[..., 1] = -0.5 * in_world[..., 0]
            tilt[..., 3] = 1.0
            error = error * Rotation.from_quat(tilt)
            bias = error.as_quat()
        return (error * true).as_quat(), bias

    def covariances(self):
        """Return what the plug-in publishes as covariances, row by row.

        It fills those of gyroscope and accelerometer once, when it is loaded: here, with the
        Gaussian noise of the parameters.
        """
        p = self.parameters
        tilt = (p.accel_gaussian_noise / self.gravity) ** 2
        rate = p.rate_gaussian_noise**2
        force = p.accel_gaussian_noise**2
        return (
            diagonal(tilt, tilt, p.yaw_gaussian_noise**2),
            diagonal(rate, rate, rate),
            diagonal(force, force, force),
        )


def _per_quantity(accel, rate, yaw):
    return np.array([accel] * 3 + [rate] * 3 + [yaw], dtype=float)
