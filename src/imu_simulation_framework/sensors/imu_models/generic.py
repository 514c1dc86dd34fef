"""Gazebo's generic IMU plug-in, libgazebo_ros_imu_sensor.so."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imu_simulation_framework.noise.streams import NormalStreams, run_seed
from imu_simulation_framework.sensors.imu_models.base import (
    ImuModel,
    ImuReading,
    ImuTruth,
    diagonal,
    no_bias,
    require_numbers,
)

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

    _NO_BIAS = no_bias(())

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

    def step(self, truth: ImuTruth) -> ImuReading:
        noise = self.parameters.gaussian_noise * self._numbers.next()
        return self._read(truth, noise, self._NO_BIAS)

    def steps(self, truth: ImuTruth) -> tuple[ImuReading, np.ndarray]:
        samples = len(truth.orientation)
        numbers = np.array([self._numbers.next() for _ in range(samples)])
        noise = self.parameters.gaussian_noise * numbers
        return self._read(truth, noise, no_bias((samples,))), self.new_samples(samples)

    def batch(self, truth: ImuTruth, runs: int = 1, first_run: int = 0) -> ImuReading:
        samples = np.shape(truth.orientation)[0]
        noise = np.empty((runs, samples, _NUMBERS_PER_SAMPLE))
        for run in range(runs):
            noise[run] = self._streams(run_seed(self._seed, first_run + run)).take(samples)
        noise *= self.parameters.gaussian_noise
        return self._read(truth, noise, no_bias((runs, samples)))

    @staticmethod
    def _read(truth, noise, biases):
        return ImuReading(
            truth.orientation + noise[..., _ORIENTATION],
            truth.angular_velocity + noise[..., _RATE],
            truth.specific_force + noise[..., _FORCE],
            *biases,
        )

    def covariances(self):
        variance = self.parameters.gaussian_noise**2
        return (diagonal(variance, variance, variance),) * 3
