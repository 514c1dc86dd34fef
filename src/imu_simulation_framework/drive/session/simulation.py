"""The robot in MuJoCo and its IMU, a control period at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, NamedTuple

import numpy as np

from ...core.errors import ConfigurationError
from ...core.stamps import NANOSECONDS
from ...sensors.imu_models.base import ImuModel, ImuReading, ImuTruth
from ...sensors.imu_models.plugins import make_imu_model
from ...sensors.magnetism.environment import rotate_vectors
from ..configuration import Configuration
from ..experiment.environment import add_earth_rotation, make_magnetic_environment, make_terrain
from ..experiment.gnss_and_odometer import experiment_gnss, experiment_odometer
from ..experiment.imu import experiment_imu_model
from ..mujoco import MujocoSimulator, SimulatorState
from ..results.record import STORED_OF_RECEIVER
from ..turning import load_robot_parameters
from .recording import ticks_between_wheels

if TYPE_CHECKING:
    import pandas as pd

    from .gnss_and_odometer import OdometerSession, PositioningSession

MEASURED_AT_ONCE = 400
"""Samples; of more than some the fusion takes them in another way, with other last digits."""


class SimulatedSamples(NamedTuple):
    """Samples that follow each other.

    ``stamps`` (n,) [ns]. ``state`` and ``reading`` have the samples as the first axis of all their
    arrays. ``published``: numbers of the readings that the IMU gives away, some perhaps several
    times; None where it gives away each once.
    ``wheels``: at which of the samples the robot says how its joints stand and turn; ``motors``
    (len(wheels), m): how its motors turn then, see :meth:`.RobotParameters.motor_rows`.
    ``has_magnetic_field``: whether the readings have one. ``fixes``: what a GNSS receiver on the
    robot has said in each control period of them, tables GnssRecord; ``odometry``: stamps and rows
    of what an odometer has said, likewise.
    """

    stamps: np.ndarray
    state: SimulatorState
    reading: ImuReading
    published: np.ndarray | None
    wheels: np.ndarray
    motors: np.ndarray
    has_magnetic_field: bool
    fixes: tuple[pd.DataFrame, ...] = ()
    odometry: tuple[tuple[np.ndarray, np.ndarray], ...] = ()

    @property
    def with_wheels(self) -> bool:
        """Whether the robot says at the last of them how its joints stand and turn."""
        return len(self.wheels) > 0

    def imu_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Stamps and values of the IMU's readings, as an :class:`.ExperimentRecord` takes them."""
        reading = self.reading
        return self._published(
            reading.orientation, reading.angular_velocity, reading.specific_force
        )

    def bias_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Stamps and slow errors of the same readings, in the same order."""
        reading = self.reading
        return self._published(
            reading.orientation_bias, reading.angular_velocity_bias, reading.specific_force_bias
        )

    def magnetic_rows(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Stamps and magnetic fields (n, 3) [T] of the same readings; None without them."""
        if not self.has_magnetic_field:
            return None
        return self._published(self.reading.magnetic_field)

    def reported_fixes(self) -> list[tuple[str, np.ndarray, np.ndarray]]:
        """Kinds, stamps and rows of what the receiver said meanwhile, as they are recorded."""
        if not self.fixes:
            return []
        # Imported here, as the receiver itself.
        from ...sensors.gnss.specification import reported_fixes

        return [
            (kind, *reported)
            for fixes in self.fixes
            for kind, reported in zip(STORED_OF_RECEIVER, reported_fixes(fixes))
        ]

    def odometer_rows(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Stamps and rows of what the odometer has said; None where that is nothing."""
        if not self.odometry:
            return None
        stamps, rows = zip(*self.odometry)
        return np.concatenate(stamps), np.concatenate(rows)

    def _published(self, *parts) -> tuple[np.ndarray, np.ndarray]:
        rows = np.concatenate(parts, axis=1)
        if self.published is None:
            return self.stamps, rows
        return self.stamps[self.published], rows[self.published]

    def ground_truth_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Stamps and values of the ground truth, as an :class:`.ExperimentRecord` takes them."""
        state = self.state
        columns = (state.position, state.orientation, state.linear_velocity, state.angular_velocity)
        return self.stamps, np.concatenate(columns, axis=1)

    def wheel_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Stamps and rows (n, m) of what of the motors joint states have."""
        return self.stamps[self.wheels], self.motors


class DrivenSamples(NamedTuple):
    """True samples of one control period, which the IMU has yet to measure.

    ``stamps`` (n,) [ns], ``numbers`` (n,) counted from the drive's beginning, ``state``, ``fixes``,
    ``odometry`` and ``with_wheels`` as of :class:`SimulatedSamples`.
    """

    stamps: np.ndarray
    numbers: np.ndarray
    state: SimulatorState
    fixes: pd.DataFrame | None
    odometry: tuple[np.ndarray, np.ndarray] | None
    with_wheels: bool


class SimulatedRobot:
    """The configured robot at rest, its IMU's errors beginning.

    Raises FrameworkError: something of it cannot be simulated. ``robot``: its
    parameters; ``positioning``, ``odometer``: the
    GNSS receiver and the odometer on it, if it has them; ``imu``: the IMU's error model; ``last``:
    the samples of the last tick; before the first one, that of the robot where it stands.
    """

    imu: ImuModel
    last: SimulatedSamples

    def __init__(self, configuration: Configuration) -> None:
        if configuration.simulation.simulator == "external":
            raise ConfigurationError(
                "[simulation] simulator is external, a robot that only the nodes of "
                "run_experiment.py drive; expected mujoco"
            )
        self._rate = configuration.imu.rate
        self._samples_per_tick = _samples_per_control_period(configuration)
        ticks = ticks_between_wheels(1.0 / configuration.control.rate)
        self._samples_between_wheels = ticks * self._samples_per_tick
        robot = load_robot_parameters(configuration.robot.parameters or None)
        self.robot = robot
        environment = make_magnetic_environment(configuration)
        self._simulator = MujocoSimulator(
            robot,
            sample_rate=self._rate,
            terrain=make_terrain(configuration),
            bodies=[] if environment is None else (*environment.ellipsoids, *environment.bars),
            gravity=configuration.simulation.gravity,
            mean_torques=environment is not None and bool(environment.motors),
        )
        self._environment = environment
        self._latitude = configuration.simulation.latitude
        self._imu_place, _ = self._simulator.imu_mounting
        self._samples = 0
        self._driven: list[DrivenSamples] = []
        self.positioning, self.odometer = _sensors_on_robot(configuration)
        model, parameters = experiment_imu_model(configuration)
        self.set_imu(model, parameters, configuration.experiment.seed)

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self._samples / self._rate

    def set_pose(self, x: float, y: float, yaw: float) -> None:
        """Put the robot at rest at this pose [m, m, rad]; its IMU starts anew."""
        self._simulator.set_pose(x, y, yaw)
        self._read(make_imu_model(*self._imu_arguments))

    def set_imu(self, model: str, parameters: Mapping[str, Any], seed: int) -> None:
        """Give the robot another IMU, whose errors begin now.

        Raises ConfigurationError: there is no such model, or it refuses the parameters; the IMU
        stays as it was.
        """
        arguments = (model, parameters, 1.0 / self._rate, seed)
        self._read(make_imu_model(*arguments))
        self._imu_arguments = arguments

    def tick(self, *commands: float) -> SimulatedSamples:
        """Drive for one control period with commands of the drivetrain; return its samples."""
        self.drive(*commands)
        return self.measured()

    def drive(self, *commands: float) -> DrivenSamples:
        """Drive for one control period as :meth:`tick` does; its IMU's readings can wait.

        What an IMU says does not move the robot, and several control periods are read faster at
        once: see :meth:`measured`.
        """
        self._simulator.command(*commands)
        state = self._simulator.steps(self._samples_per_tick)
        numbers = np.arange(self._samples + 1, self._samples + 1 + self._samples_per_tick)
        self._samples += self._samples_per_tick
        return self._wait(numbers, state)

    @property
    def waiting(self) -> int:
        """How many samples have been driven and not been measured."""
        if not self._driven:
            return 0
        return int(self._driven[-1].numbers[-1] - self._driven[0].numbers[0]) + 1

    def measured(self) -> SimulatedSamples:
        """Return the samples since the last time; there must be any.

        They are the same to the bit in how many parts one asks for them, as long as these have no
        more than :data:`MEASURED_AT_ONCE` samples.
        """
        driven, self._driven = self._driven, []
        state = driven[0].state
        if len(driven) > 1:
            state = SimulatorState(*map(np.concatenate, zip(*(part.state for part in driven))))
        numbers = np.concatenate([part.numbers for part in driven])
        reading, new = self._readings(state)
        wheels = np.flatnonzero(numbers % self._samples_between_wheels == 0)
        self.last = SimulatedSamples(
            np.concatenate([part.stamps for part in driven]),
            state,
            reading,
            self.imu.emitted(numbers / self._rate, new),
            wheels,
            self.robot.motor_rows(state.wheel_positions[wheels], state.wheel_velocities[wheels]),
            self._feels_field,
            tuple(part.fixes for part in driven if part.fixes is not None),
            tuple(part.odometry for part in driven if part.odometry is not None),
        )
        return self.last

    def _read(self, imu) -> None:
        self.imu = imu
        imu.gravity = self._simulator.gravity
        standing = self._simulator.state
        for sensor in (self.positioning, self.odometer):
            if sensor is not None:
                sensor.restart()
        self._driven = []
        state = SimulatorState(*(np.array([values]) for values in standing))
        self._wait(np.array([self._samples]), state)
        self.measured()

    def _wait(self, numbers, state) -> DrivenSamples:
        stamps = np.rint(numbers / self._rate * NANOSECONDS).astype(np.int64)
        fixes = odometry = None
        pose = (stamps, state.position, state.orientation)
        if self.positioning is not None:
            fixes = self.positioning.add(*pose, state.linear_velocity, state.angular_velocity)
        if self.odometer is not None:
            odometry = self.odometer.add(*pose, state.linear_velocity)
        with_wheels = bool(numbers[-1] % self._samples_between_wheels == 0)
        driven = DrivenSamples(stamps, numbers, state, fixes, odometry, with_wheels)
        self._driven.append(driven)
        return driven

    @property
    def _feels_field(self) -> bool:
        return self._environment is not None and self.imu.has_magnetometer

    def _readings(self, state) -> tuple[ImuReading, np.ndarray]:
        truth: ImuTruth = add_earth_rotation(state.imu_truth, self._latitude)
        if self._feels_field or self.imu.requires_speed:
            field = self._field(state) if self._feels_field else None
            speed = None
            if self.imu.requires_speed:
                speed = np.linalg.norm(state.linear_velocity, axis=1)
            truth = ImuTruth(*truth[:3], field, speed)
        return self.imu.steps(truth)

    def _field(self, state) -> np.ndarray:
        assert self._environment is not None
        torques = None
        if self._environment.motors:
            torques = state.wheel_torques.reshape(len(state.time), 2, -1).sum(axis=2)
        place = state.position + rotate_vectors(state.orientation, self._imu_place)
        return self._environment.measured_field(place, state.imu_orientation, torques)


def _sensors_on_robot(configuration) -> tuple[PositioningSession | None, OdometerSession | None]:
    gnss, odometer = experiment_gnss(configuration), experiment_odometer(configuration)
    if gnss is None and odometer is None:
        return None, None
    # Imported here, since they take 100 MB, and few experiments have one.
    from .gnss_and_odometer import OdometerSession, PositioningSession

    seed = configuration.experiment.seed
    positioning = None if gnss is None else PositioningSession(gnss, seed)
    return positioning, None if odometer is None else OdometerSession(odometer, seed)


def _samples_per_control_period(configuration: Configuration) -> int:
    sample_rate, control_rate = configuration.imu.rate, configuration.control.rate
    ratio = sample_rate / control_rate
    if abs(ratio - round(ratio)) > 1e-9 or ratio < 1.0:
        raise ConfigurationError(
            "[imu] rate must be a multiple of [control] rate in lock-step, "
            f"got {sample_rate:g} and {control_rate:g} Hz"
        )
    return round(ratio)
