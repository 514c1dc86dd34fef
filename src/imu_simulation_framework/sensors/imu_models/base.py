"""What all IMU models share: their interface, and the checks of their parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import Any, Iterable, Tuple

import numpy as np

from imu_simulation_framework.checked_values import checked_number
from imu_simulation_framework.constants import WORLD_GRAVITY
from imu_simulation_framework.errors import ConfigurationError
from imu_simulation_framework.noise.streams import run_seed
from imu_simulation_framework.sensors.imu_models.reading import (
    SIGNALS,
    AnyTruth,
    ImuReading,
    checked_parts,
    gathered,
    joined,
)

Covariance = Tuple[float, ...]


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

    gravity: float = WORLD_GRAVITY
    """Of the world [m/s^2], for what takes an error of the accelerometer for a tilt."""

    def given_away(self, time: np.ndarray, new: np.ndarray) -> np.ndarray | None:
        """Return which samples the sensor gives away, by number, in order; None for each once.

        Parameters
        ----------
        time : ndarray, (samples,)
            Of samples that follow each other, from the first of all on [s].
        new : ndarray of bool, (samples,)
            Which are new ones of the sensor.
        """
        return np.flatnonzero(new) if self.drop_repeated else None

    @property
    def has_magnetometer(self) -> bool:
        """Whether its readings have the :data:`.reading.MAGNETIC_PARTS` where there is a field."""
        return False

    @property
    def feels_speed(self) -> bool:
        """Whether its truth must have the speed, as it is shaken by it."""
        return False

    @property
    def bno055_mode(self) -> str:
        """The mode as which it says how far it is calibrated; empty for one that does not."""
        return ""

    @property
    @abstractmethod
    def label(self) -> str:
        """Name and telling parameters, without blanks, commas and ``=``: it names a folder."""

    def reset(self):
        """Begin the next run: slow errors start anew, with other random numbers."""
        self._run += 1
        self._begin(run_seed(self._seed, self._run))

    def set_drift(self, angular_velocity=None, specific_force=None):
        """Let slow errors go on from here, as the services of Hector's plug-in do.

        Parameters
        ----------
        angular_velocity, specific_force : 3 float, optional
            [rad/s], [m/s^2]; what is left out goes on as it was.

        Raises
        ------
        ConfigurationError
            The model has no such thing, or they are not three numbers.
        """
        raise ConfigurationError(
            "The IMU's model has no drift that could be set; that of Hector's plug-in has."
        )

    @abstractmethod
    def _begin(self, seed: np.random.SeedSequence):
        """Begin a run that is stepped, with the run's seed."""

    @abstractmethod
    def step(self, truth: AnyTruth) -> ImuReading:
        """Return the reading of the next sample."""

    def steps(self, truth: AnyTruth) -> tuple[ImuReading, np.ndarray]:
        """Return the readings of the next samples, the same numbers as of so many :meth:`step`.

        Parameters
        ----------
        truth : ImuTruth or MagneticTruth
            Arrays (samples, 4), (samples, 3), (samples, 3), of the latter one more
            (samples, 3); at least one sample.

        Returns
        -------
        reading : ImuReading
            Arrays (samples, ...).
        new : ndarray of bool, (samples,)
            Which of them are new ones of the sensor.
        """
        readings, new = [], []
        kind = type(truth)
        for sample in zip(*truth):
            readings.append(self.step(kind(*sample)))
            new.append(self.has_new_sample)
        return joined(readings), np.array(new)

    def batch(
        self,
        truth: AnyTruth,
        runs: int = 1,
        first_run: int = 0,
        parts: Iterable[str] = SIGNALS,
    ) -> ImuReading:
        """Return independent realisations of a whole series of samples.

        Each run starts anew, and a stepped model's state is neither used nor changed. Runs may be
        drawn in as many batches as one likes. Of all runs at once only the parts that are asked for
        are in memory. The arrays may be read-only views where runs do not differ.

        Parameters
        ----------
        truth : ImuTruth or MagneticTruth
            Arrays (samples, 4), (samples, 3), (samples, 3), of the latter (samples, 3) more.
        runs : int
            How many.
        first_run : int
            Number of the first of them.
        parts : iterable of str
            Which of :data:`.reading.PARTS` the reading shall have, and of
            :data:`.reading.MAGNETIC_PARTS` if there is a magnetometer.

        Returns
        -------
        ImuReading
            Arrays (runs, samples, ...).

        Raises
        ------
        ValueError
            There is no such part.
        """
        parts = checked_parts(parts)
        truth = type(truth)(*(np.asarray(values, dtype=float) for values in truth))
        numbers = range(first_run, first_run + runs)
        prepared = self._prepared(truth)
        readings = (self._realise(prepared, run_seed(self._seed, run)) for run in numbers)
        return gathered(readings, parts, runs)

    def _prepared(self, truth: AnyTruth) -> Any:
        """Return what all runs of a batch share."""
        return truth

    @abstractmethod
    def _realise(self, prepared: Any, seed: np.random.SeedSequence) -> ImuReading:
        """Return the reading of one run of what was prepared, with all parts, (samples, ...)."""

    def new_samples(self, samples: int) -> np.ndarray:
        """Return which of a batch's samples are new ones of the sensor, (samples,) of bool."""
        return np.ones(samples, dtype=bool)

    def magnetic_covariance(self) -> Covariance:
        """Return the covariance of a magnetometer's readings, row by row [T^2]; zero is unknown."""
        return diagonal(0.0, 0.0, 0.0)

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
