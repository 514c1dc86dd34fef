"""Gazebo's generic IMU plug-in, libgazebo_ros_imu_sensor.so."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imu_simulation_framework.noise.streams import NormalStreams, run_seed
from imu_simulation_framework.sensors.imu_models.base import ImuModel, diagonal, require_numbers
from imu_simulation_framework.sensors.imu_models.reading import AnyTruth, ImuReading, without_bias

_ORIENTATION, _FORCE, _RATE = slice(0, 4), slice(4, 7), slice(7, 10)
_NUMBERS_PER_SAMPLE = 10


@dataclass(frozen=True)
class GenericParameters:
    """The plug-in's only error parameter.

    Parameters
    ----------
    gaussian_noise : float
        Standard deviation of the white noise on each axis of the gyroscope [rad/s] and the
        accelerometer [m/s^2], and on each component of the quaternion. The default was tuned to
        a BNO055.

    Raises
    ------
    ConfigurationError
        It is negative or no number.
    """

    gaussian_noise: float = 0.00215

    def __post_init__(self) -> None:
        require_numbers(self, not_negative=("gaussian_noise",))


class GenericImu(ImuModel):
    """White noise of one standard deviation on everything, no drift.

    The quaternion is not normalised again after the noise, as in the plug-in.
    """

    @property
    def label(self) -> str:
        return f"generic_sigma{self.parameters.gaussian_noise:g}"

    def __init__(self, parameters: GenericParameters, period: float, seed=0):
        super().__init__(parameters, period, seed)
        self._begin(run_seed(seed, 0))

    def _begin(self, seed):
        self._numbers = self._streams(seed)

    def _streams(self, seed):
        return NormalStreams(seed, [self.parameters.gaussian_noise > 0.0] * _NUMBERS_PER_SAMPLE)

    def step(self, truth: AnyTruth) -> ImuReading:
        return self._read(truth, self.parameters.gaussian_noise * self._numbers.next())

    def steps(self, truth: AnyTruth) -> tuple[ImuReading, np.ndarray]:
        samples = len(truth.orientation)
        noise = self.parameters.gaussian_noise * self._numbers.take(samples)
        return self._read(truth, noise), self.new_samples(samples)

    def _realise(self, truth, seed):
        numbers = self._streams(seed).take(len(truth.orientation))
        noise = self.parameters.gaussian_noise * numbers
        return self._read(truth, noise)

    @staticmethod
    def _read(truth, noise):
        return ImuReading(
            without_bias,
            orientation=truth.orientation + noise[..., _ORIENTATION],
            angular_velocity=truth.angular_velocity + noise[..., _RATE],
            specific_force=truth.specific_force + noise[..., _FORCE],
        )

    def covariances(self):
        variance = self.parameters.gaussian_noise**2
        return (diagonal(variance, variance, variance),) * 3
