"""What all IMU models share: their signals, their interface, the checks of their parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import NamedTuple, Tuple

import numpy as np

from imu_simulation_framework.checked_values import checked_number
from imu_simulation_framework.noise.streams import run_seed

Covariance = Tuple[float, ...]


class ImuTruth(NamedTuple):
    """True signals, of one sample or, with the samples as the first axis, of many.

    ``orientation`` (..., 4): quaternion x, y, z, w of the IMU in the world.
    ``angular_velocity`` (..., 3) [rad/s] and ``specific_force`` (..., 3) [m/s^2] in its axes.
    """

    orientation: np.ndarray
    angular_velocity: np.ndarray
    specific_force: np.ndarray


class ImuReading(NamedTuple):
    """Simulated signals, of one sample or, with leading axes (runs, samples), of many.

    The first three are those of :class:`ImuTruth` with errors. The others are the errors that
    change slowly, as Hector's plug-in publishes them: ``angular_velocity_bias`` (..., 3) [rad/s],
    ``specific_force_bias`` (..., 3) [m/s^2], ``yaw_bias`` (...) [rad], and ``orientation_bias``
    (..., 4), the rotation in the world that leads from the true orientation to the simulated one.
    """

    orientation: np.ndarray
    angular_velocity: np.ndarray
    specific_force: np.ndarray
    angular_velocity_bias: np.ndarray
    specific_force_bias: np.ndarray
    yaw_bias: float | np.ndarray
    orientation_bias: np.ndarray


class ImuModel(ABC):
    """An IMU with errors.

    Parameters
    ----------
    parameters : dataclass
        The model's own kind.
    period : float
        Time from one sample to the next [s].
    seed : int or numpy.random.SeedSequence
        Of all runs; each has random numbers of its own (:mod:`.noise.streams`). A stepped model
        is in run 0, after each :meth:`reset` in the next one, and equals that run of a batch.

    Raises
    ------
    ConfigurationError
        The period is not a positive number.
    """

    def __init__(self, parameters, period: float, seed=0):
        checked_number("The IMU's period", period, above=0.0)
        self.parameters = parameters
        self.period = period
        self._seed = seed
        self._run = 0

    @property
    def has_new_sample(self) -> bool:
        """Whether the last :meth:`step` gave a new sample of the sensor."""
        return True

    @property
    def drop_repeated(self) -> bool:
        """Whether a sample that is not new shall be left out."""
        return False

    @property
    @abstractmethod
    def label(self) -> str:
        """Name and telling parameters, without blanks, commas and ``=``: it names a folder."""

    def reset(self):
        """Begin the next run: slow errors start anew, with other random numbers."""
        self._run += 1
        self._begin(run_seed(self._seed, self._run))

    @abstractmethod
    def _begin(self, seed: np.random.SeedSequence):
        """Begin a run that is stepped, with the run's seed."""

    @abstractmethod
    def step(self, truth: ImuTruth) -> ImuReading:
        """Return the reading of the next sample."""

    def steps(self, truth: ImuTruth) -> tuple[ImuReading, np.ndarray]:
        """Return the readings of the next samples, the same numbers as of so many :meth:`step`.

        Parameters
        ----------
        truth : ImuTruth
            Arrays (samples, 4), (samples, 3), (samples, 3), at least one sample.

        Returns
        -------
        reading : ImuReading
            Arrays (samples, ...).
        new : ndarray of bool, (samples,)
            Which of them are new ones of the sensor.
        """
        readings, new = [], []
        for sample in zip(*truth):
            readings.append(self.step(ImuTruth(*sample)))
            new.append(self.has_new_sample)
        return ImuReading(*(np.array(values) for values in zip(*readings))), np.array(new)

    @abstractmethod
    def batch(self, truth: ImuTruth, runs: int = 1, first_run: int = 0) -> ImuReading:
        """Return independent realisations of a whole series of samples.

        Each run starts anew, and a stepped model's state is neither used nor changed. Runs may be
        drawn in as many batches as one likes. The arrays may be read-only views where runs do not
        differ.

        Parameters
        ----------
        truth : ImuTruth
            Arrays (samples, 4), (samples, 3), (samples, 3).
        runs : int
            How many.
        first_run : int
            Number of the first of them.

        Returns
        -------
        ImuReading
            Arrays (runs, samples, ...).
        """

    def new_samples(self, samples: int) -> np.ndarray:
        """Return which of a batch's samples are new ones of the sensor, (samples,) of bool."""
        return np.ones(samples, dtype=bool)

    @abstractmethod
    def covariances(self) -> tuple[Covariance, Covariance, Covariance]:
        """Return what the plug-in publishes as covariances, row by row.

        Returns
        -------
        orientation, angular_velocity, linear_acceleration : tuple of 9 float
            [rad^2], [rad^2/s^2], [m^2/s^4]; all zero means unknown (sensor_msgs/Imu).
        """


def diagonal(xx: float, yy: float, zz: float) -> Covariance:
    """Return a covariance without correlations, row by row."""
    return (xx, 0.0, 0.0, 0.0, yy, 0.0, 0.0, 0.0, zz)


LARGEST_PARAMETER = 1e6
"""Of an IMU, in SI units; beyond it no error is one of a sensor, and squares might overflow."""


def require_numbers(parameters, not_negative=()):
    """Check that all fields of a dataclass are numbers of an IMU, and some of them not negative.

    Raises
    ------
    ConfigurationError
        Naming the field.
    """
    for field in fields(parameters):
        checked_number(
            f"The IMU's {field.name}",
            getattr(parameters, field.name),
            minimum=0.0 if field.name in not_negative else None,
            maximum=LARGEST_PARAMETER,
        )


def no_bias(shape: tuple[int, ...]):
    """Return the slow errors of a model that has none, for readings of this leading shape."""
    zero = np.broadcast_to(np.zeros(3), (*shape, 3))
    identity = np.broadcast_to(np.array([0.0, 0.0, 0.0, 1.0]), (*shape, 4))
    yaw = np.broadcast_to(0.0, shape) if shape else 0.0
    return zero, zero, yaw, identity


def repeat_runs(values: np.ndarray, runs: int) -> np.ndarray:
    """Return a view of the values with ``runs`` equal entries along a new first axis."""
    return np.broadcast_to(values, (runs, *np.shape(values)))
