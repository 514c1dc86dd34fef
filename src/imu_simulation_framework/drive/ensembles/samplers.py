"""Sources of yaw errors for an ensemble: simulated sensors, linear models, or experiments."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...core.angles import difference, unwrap, yaw_from_quaternion
from ...core.errors import ConfigurationError, EnsembleError, MotionError
from ...heading.model.model import YawErrorModel
from ...motion.earth_motion import EarthMotion
from ...motion.motion import Motion
from ...sensors import simulation
from ...sensors.imu_models.base import ImuModel, ImuTruth
from ...sensors.magnetism.environment import MagneticEnvironment
from ...sensors.noise.streams import run_seed
from ...sensors.operation import Operation
from ...sensors.simulation import ImuErrors
from ..configuration import Configuration
from ..configured_paths import robot_file
from ..experiment.environment import make_magnetic_environment
from ..experiment.imu import make_experiment_imu
from ..prepared_drive import PreparedDrive, prepare_drive
from ..recorded_drive.check import ensure_plausible
from ..turning import load_robot_parameters


class Drawing(ABC):
    """Base class of yaw error sources, from which each run can be drawn independently.

    Attributes
    ----------
    time : ndarray, shape (n,)
        Times of the yaw errors since the start of the drive [s].
    chunk : int
        Number of runs that are simulated and stored together; a chunk starts at a multiple of it.
    """

    time: np.ndarray
    chunk: int

    @abstractmethod
    def errors(self, first_run: int, runs: int) -> np.ndarray:
        """Draw the yaw errors of consecutive runs, true yaw minus measured yaw.

        The result of a run does not depend on the runs that are drawn in the same call.

        Parameters
        ----------
        first_run, runs : int
            Index of the first run, and number of runs.

        Returns
        -------
        ndarray, shape (runs, n)
            Unwrapped yaw errors [rad].
        """

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """Return all parameters that determine the errors, as values for JSON."""


@dataclass(frozen=True)
class SensorDrawing(Drawing):
    """Source that simulates the complete sensor, including its fusion filter, along a motion.

    Parameters
    ----------
    motion : Motion or EarthMotion
        Evenly sampled motion of the IMU.
    imu : ImuErrors
        Errors of the IMU.
    seed : int
        Seed of all runs.
    period : float
        Period of the yaw errors [s], a multiple of the sensor's period.
    chunk : int
        Number of runs that are simulated together.
    magnetic_environment : MagneticEnvironment, optional
        Magnetic environment of the magnetometer.
    operation : Operation, optional
        Gyroscope zeroing, for a sensor with a specification.

    Raises
    ------
    MotionError
        The motion is not evenly sampled, or is shorter than the period.
    ConfigurationError
        The errors of the IMU are invalid, or the period is not a multiple of the sensor's.
    """

    motion: Motion | EarthMotion
    imu: ImuErrors
    seed: int = 1
    period: float = 1.0
    chunk: int = 64
    magnetic_environment: MagneticEnvironment | None = None
    operation: Operation | None = None

    def __post_init__(self) -> None:
        if len(self._indices) < 2:
            raise MotionError(
                f"the motion lasts {self.motion.duration:g} s, expected at least one period of the "
                f"yaw error, {self.period:g} s"
            )

    @property
    def time(self) -> np.ndarray:  # type: ignore[override]
        """Times of the yaw errors, shape (n,) [s]."""
        return self._indices * self.motion.period

    @cached_property
    def _indices(self) -> np.ndarray:
        """Indices of the motion samples at the yaw error times, each with a new IMU sample."""
        period = self.motion.period
        new = np.flatnonzero(self._model.new_samples(len(self.motion)))
        sensor = period * float(new[1] - new[0]) if len(new) > 1 else period
        step = max(1, round(self.period / sensor))
        if abs(step * sensor - self.period) > 1e-6 * self.period:
            raise ConfigurationError(
                f"the yaw error's period is {self.period:g} s, expected a multiple of the "
                f"sensor's period of {sensor:g} s"
            )
        return new[::step]

    @cached_property
    def _truth(self) -> ImuTruth:
        speed = self._model.requires_speed
        return simulation.imu_truth(self.motion, self.magnetic_environment, speed=speed)

    @property
    def _model(self) -> ImuModel:
        errors = simulation.operated(self.imu, self.operation, self.motion)
        return simulation.imu_model(errors, self.motion.period, self.seed)

    def __getstate__(self):
        # Cached values are not pickled; other processes compute them again.
        return {name: value for name, value in self.__dict__.items() if not name.startswith("_")}

    def errors(self, first_run: int, runs: int) -> np.ndarray:
        model = self._model
        true = yaw_from_quaternion(self._truth.orientation[self._indices])
        errors = np.empty((runs, len(true)))
        for row, run in zip(errors, range(first_run, first_run + runs)):
            # Only the orientation is computed, and only its values at the yaw error times are used.
            (orientation,) = model.batch(self._truth, 1, run, parts=("orientation",)).orientation
            row[...] = unwrap(difference(true, yaw_from_quaternion(orientation[self._indices])))
        return errors

    def identity(self) -> dict[str, Any]:
        return {
            "what": "sensor",
            "motion": digest(self.motion.period, *(s for s in self._truth if s is not None)),
            "imu": described(simulation.operated(self.imu, self.operation, self.motion)),
            "seed": self.seed,
            "period": self.period,
        }


@dataclass(frozen=True)
class LinearDrawing(Drawing):
    """Source that draws yaw errors from the linear yaw error model of a sensor along a motion.

    Attributes
    ----------
    model : YawErrorModel
        Linear model of the yaw error.
    seed : int
        Seed of all runs.
    chunk : int
        Number of runs that are drawn together.
    """

    model: YawErrorModel
    seed: int = 1
    chunk: int = 4096

    @property
    def time(self) -> np.ndarray:  # type: ignore[override]
        """Times of the yaw errors, shape (n,) [s]."""
        return self.model.time

    def errors(self, first_run: int, runs: int) -> np.ndarray:
        return self.model.realisations(runs, self.seed, first_run)

    def identity(self) -> dict[str, Any]:
        return {
            "what": "linear",
            "model": [described(source) for source in self.model.sources],
            "sensor period": self.model.sensor_period,
            "standstills": [self.model.standstill, *map(list, self.model.standstills)],
            "time": digest(self.model.time),
            "seed": self.seed,
        }


@dataclass(frozen=True)
class ExperimentDrawing(Drawing):
    """Source that simulates complete experiments in MuJoCo.

    The seeds of the IMU errors and of the bumps on the ground differ between runs.

    Parameters
    ----------
    configuration : Configuration
        Configuration of the experiment; its seeds are not used.
    seed : int
        Seed of all runs.
    period : float
        Period of the yaw errors [s].
    chunk : int
        Number of runs that are drawn together.

    Raises
    ------
    FrameworkError
        The experiment cannot run with this configuration.
    """

    configuration: Configuration
    seed: int = 1
    period: float = 1.0
    chunk: int = 4

    def __post_init__(self) -> None:
        if len(self.time) < 2:
            raise MotionError(
                f"the drive is too short, expected at least one sampling period of the "
                f"yaw error, {self.period:g} s"
            )

    @cached_property
    def _drive(self) -> PreparedDrive:
        # The main process reads the drive, so that workers do not need the recording.
        check = ensure_plausible(self.configuration)
        return prepare_drive(self.configuration, check.reference)

    @cached_property
    def time(self) -> np.ndarray:  # type: ignore[override]
        """Times of the yaw errors, shape (n,) [s]."""
        end = float(self._drive.trajectory.index[-1])
        return self.period * np.arange(int(end / self.period * (1.0 + 1e-9)) + 1)

    def errors(self, first_run: int, runs: int) -> np.ndarray:
        return np.array([self._error(run) for run in range(first_run, first_run + runs)])

    def _error(self, run):
        # The 64-bit seeds are halved, because the settings accept only 63-bit seeds.
        seeds = run_seed(self.seed, run).generate_state(2, np.uint64) // 2
        experiment = dataclasses.replace(self.configuration.experiment, seed=int(seeds[0]))
        terrain = dataclasses.replace(self.configuration.terrain, seed=int(seeds[1]))
        configuration = dataclasses.replace(
            self.configuration, experiment=experiment, terrain=terrain
        )
        # MuJoCo is imported here, because other ensembles do not need it.
        from ..in_process import drive_in_process

        record = drive_in_process(configuration, self._drive)
        tables = record.tables(0, record.ground_truth.newest)
        truth, imu = tables["ground_truth"].whole(["yaw"]), tables["imu_simulated"].whole(["yaw"])
        error = unwrap(np.interp(imu.index, truth.index, truth["yaw"]) - imu["yaw"].to_numpy())
        error -= 2.0 * np.pi * np.round(error[0] / (2.0 * np.pi))
        if imu.index[-1] < self.time[-1] - self.period:
            raise EnsembleError(
                f"the experiment of run {run} ended after {imu.index[-1]:g} s, before the end of "
                "the drive"
            )
        return np.interp(self.time, imu.index, error)

    def identity(self) -> dict[str, Any]:
        configuration = self.configuration
        environment = make_magnetic_environment(configuration)
        field = {} if environment is None else {"magnetic environment": described(environment)}
        return {
            **field,
            "what": "experiment",
            "drive": digest(self._drive.trajectory.index, self._drive.trajectory),
            "imu": described(make_experiment_imu(configuration).parameters),
            "imu rate": configuration.imu.rate,
            "robot": described(load_robot_parameters(robot_file(configuration))),
            "control": described(configuration.control),
            "simulation": described(configuration.simulation),
            "terrain": described(dataclasses.replace(configuration.terrain, seed=0)),
            "seed": self.seed,
            "period": self.period,
        }


def digest(*values) -> str:
    """Return a hash of array shapes and values.

    Parameters
    ----------
    *values : array_like
        Arrays of numbers.

    Returns
    -------
    str
        Hexadecimal hash.
    """
    hashed = hashlib.sha256()
    for value in values:
        array = np.ascontiguousarray(value, dtype=float)
        hashed.update(json.dumps(array.shape).encode())
        hashed.update(array.tobytes())
    return hashed.hexdigest()


def described(value) -> Any:
    """Convert parameters to values for JSON.

    Parameters
    ----------
    value : object
        Dataclass, array, container or plain value.

    Returns
    -------
    object
        Dataclasses as dictionaries with their type, arrays as hashes, and containers with converted
        elements.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        fields = {name: described(getattr(value, name)) for name in names}
        return {"kind": type(value).__name__, **fields}
    if isinstance(value, np.ndarray):
        return digest(value)
    if isinstance(value, dict):
        return {str(key): described(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [described(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
