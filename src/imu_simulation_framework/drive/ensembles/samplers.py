"""What an ensemble is drawn from: a sensor on a motion, its linear model, or whole experiments."""

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
from ..experiment.environment import make_magnetic_environment
from ..experiment.imu import make_experiment_imu
from ..prepared_drive import PreparedDrive, prepare_drive
from ..recorded_drive.check import ensure_plausible
from ..turning import load_robot_parameters


class Drawing(ABC):
    """Something whose yaw errors can be drawn run by run, in any process.

    ``time`` (ndarray, shape (n,)): of the errors, from the drive's start [s]; ``chunk``: how many
    runs are drawn and kept together; a chunk begins at a multiple of it.
    """

    time: np.ndarray
    chunk: int

    @abstractmethod
    def errors(self, first_run: int, runs: int) -> np.ndarray:
        """Return yaw errors, true less measured, unwrapped, (runs, n) [rad].

        A run's numbers are the same in whichever call they are drawn.
        """

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """Return what the numbers depend on, as values that JSON knows."""


@dataclass(frozen=True)
class SensorDrawing(Drawing):
    """The full sensor, with its filter of the orientation, on a motion.

    Raises MotionError: the motion is not evenly sampled, or shorter than the period. Raises
    ConfigurationError: the IMU's errors are no such thing, or the period does not go with the
    sensor's. ``motion``: of the IMU itself, evenly sampled; ``seed``: of all runs; ``period``: from
    one of the errors' times to the next [s]; a whole multiple of the sensor's;
    ``magnetic_environment``: what its magnetometer is in; ``operation``: how a specified sensor is
    used.
    """

    motion: Motion | EarthMotion
    imu: ImuErrors
    seed: int = 1
    period: float = 1.0
    chunk: int = 64
    magnetic_environment: MagneticEnvironment | None = None
    operation: Operation | None = None

    def __post_init__(self) -> None:
        if len(self._places) < 2:
            raise MotionError(
                f"the motion of {self.motion.duration:g} s is shorter than the yaw error's "
                f"period of {self.period:g} s, so that there is no drift to draw"
            )

    @property
    def time(self) -> np.ndarray:  # type: ignore[override]
        return self._places * self.motion.period

    @cached_property
    def _places(self) -> np.ndarray:
        """Which of the motion's samples are those of the errors: new ones of the sensor."""
        period = self.motion.period
        new = np.flatnonzero(self._model.new_samples(len(self.motion)))
        sensor = period * float(new[1] - new[0]) if len(new) > 1 else period
        step = max(1, round(self.period / sensor))
        if abs(step * sensor - self.period) > 1e-6 * self.period:
            raise ConfigurationError(
                f"the yaw error's period of {self.period:g} s is no multiple of the sensor's "
                f"{sensor:g} s"
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
        # What every process finds for itself need not travel.
        return {name: value for name, value in self.__dict__.items() if not name.startswith("_")}

    def errors(self, first_run: int, runs: int) -> np.ndarray:
        model = self._model
        true = yaw_from_quaternion(self._truth.orientation[self._places])
        errors = np.empty((runs, len(true)))
        for row, run in zip(errors, range(first_run, first_run + runs)):
            # Of a series of a hundred readings a second only one yaw is wanted.
            (orientation,) = model.batch(self._truth, 1, run, parts=("orientation",)).orientation
            row[...] = unwrap(difference(true, yaw_from_quaternion(orientation[self._places])))
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
    """The linear model of a sensor's yaw error on a motion; ``seed``: of all runs."""

    model: YawErrorModel
    seed: int = 1
    chunk: int = 4096

    @property
    def time(self) -> np.ndarray:  # type: ignore[override]
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
    """Whole experiments in the embedded simulator, with physics.

    The seed of each run is that of the IMU's errors and of the ground's bumps, if there are some.
    Raises FrameworkError: the experiment cannot be done. ``configuration``: its own seeds do not
    count; ``seed``: of all runs; ``period``: from one of the errors' times to the next [s].
    """

    configuration: Configuration
    seed: int = 1
    period: float = 1.0
    chunk: int = 4

    def __post_init__(self) -> None:
        if len(self.time) < 2:
            raise MotionError(
                f"the drive is shorter than the yaw error's period of {self.period:g} s, so that "
                "there is no drift to draw"
            )

    @cached_property
    def _drive(self) -> PreparedDrive:
        # Read where the drawing is made, so that no worker needs the recording.
        check = ensure_plausible(self.configuration)
        return prepare_drive(self.configuration, check.reference)

    @cached_property
    def time(self) -> np.ndarray:  # type: ignore[override]
        end = float(self._drive.trajectory.index[-1])
        return self.period * np.arange(int(end / self.period * (1.0 + 1e-9)) + 1)

    def errors(self, first_run: int, runs: int) -> np.ndarray:
        return np.array([self._error(run) for run in range(first_run, first_run + runs)])

    def _error(self, run):
        # Halves of it: larger seeds are refused.
        seeds = run_seed(self.seed, run).generate_state(2, np.uint64) // 2
        experiment = dataclasses.replace(self.configuration.experiment, seed=int(seeds[0]))
        terrain = dataclasses.replace(self.configuration.terrain, seed=int(seeds[1]))
        configuration = dataclasses.replace(
            self.configuration, experiment=experiment, terrain=terrain
        )
        # It needs MuJoCo, which other ensembles do without.
        from ..in_process import drive_in_process

        record = drive_in_process(configuration, self._drive)
        tables = record.tables(0, record.ground_truth.newest)
        truth, imu = tables["ground_truth"].whole(["yaw"]), tables["imu_simulated"].whole(["yaw"])
        error = unwrap(np.interp(imu.index, truth.index, truth["yaw"]) - imu["yaw"].to_numpy())
        error -= 2.0 * np.pi * np.round(error[0] / (2.0 * np.pi))
        if imu.index[-1] < self.time[-1] - self.period:
            raise EnsembleError(
                f"the experiment of run {run} ended after {imu.index[-1]:g} s, before the drive"
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
            "robot": described(load_robot_parameters(configuration.robot.parameters or None)),
            "control": described(configuration.control),
            "simulation": described(configuration.simulation),
            "terrain": described(dataclasses.replace(configuration.terrain, seed=0)),
            "seed": self.seed,
            "period": self.period,
        }


def digest(*values) -> str:
    """Return a hash of arrays of numbers, of their shapes and of all their digits."""
    found = hashlib.sha256()
    for value in values:
        array = np.ascontiguousarray(value, dtype=float)
        found.update(json.dumps(array.shape).encode())
        found.update(array.tobytes())
    return found.hexdigest()


def described(value) -> Any:
    """Return parameters as values that JSON knows: dataclasses by fields, arrays as hashes."""
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
