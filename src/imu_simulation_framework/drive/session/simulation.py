"""Simulation of the robot and its sensors in MuJoCo, in steps of one control period."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, NamedTuple

import numpy as np

from ...core.errors import ConfigurationError
from ...core.stamps import NANOSECONDS
from ...sensors.imu_models.base import ImuModel, ImuReading, ImuTruth
from ...sensors.imu_models.plugins import make_imu_model
from ...sensors.magnetism.environment import rotate_vectors
from ..configuration import Configuration
from ..configured_paths import robot_file
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
"""Maximum number of samples per call of the fusion filter. With more samples, the filter uses a
different order of operations, and its result would depend on the number of samples per call."""


class SimulatedSamples(NamedTuple):
    """Consecutive samples of the robot and its sensors.

    Attributes
    ----------
    stamps : ndarray of int, shape (n,)
        Stamps [ns].
    state : SimulatorState
        Ground truth at these stamps.
    reading : ImuReading
        Output of the IMU at these stamps.
    published : ndarray of int or None
        Indices of the readings that the IMU outputs, possibly with repetitions; None if it outputs
        each reading once.
    wheels : ndarray of int
        Indices of the samples with joint states.
    motors : ndarray, shape (len(wheels), m)
        States of the motors at these samples, see :meth:`.RobotParameters.motor_rows`.
    has_magnetic_field : bool
        Whether the readings contain a magnetic field.
    fixes : tuple of pandas.DataFrame
        Output of a GNSS receiver on the robot, one table GnssRecord per control period.
    odometry : tuple of tuple of ndarray
        Stamps and rows of an odometer on the robot, one pair per control period.
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
        """Whether joint states are available for any of these samples."""
        return len(self.wheels) > 0

    def imu_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the stamps and rows of the IMU samples for an :class:`.ExperimentRecord`.

        Returns
        -------
        stamps : ndarray of int, shape (n,)
            Stamps [ns].
        rows : ndarray, shape (n, 10)
            Orientation, angular velocity [rad/s] and specific force [m/s^2].
        """
        reading = self.reading
        return self._published(
            reading.orientation, reading.angular_velocity, reading.specific_force
        )

    def bias_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the stamps and the slowly varying errors of the IMU readings.

        Returns
        -------
        stamps : ndarray of int, shape (n,)
            Stamps [ns].
        rows : ndarray, shape (n, 10)
            Errors of orientation (quaternion), angular velocity [rad/s] and specific force [m/s^2].
        """
        reading = self.reading
        return self._published(
            reading.orientation_bias, reading.angular_velocity_bias, reading.specific_force_bias
        )

    def magnetic_rows(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the stamps and the magnetic fields of the IMU readings.

        Returns
        -------
        tuple of ndarray, shape (n,) and (n, 3), or None
            Stamps [ns] and magnetic fields [T], or None if there is no magnetometer.
        """
        if not self.has_magnetic_field:
            return None
        return self._published(self.reading.magnetic_field)

    def reported_fixes(self) -> list[tuple[str, np.ndarray, np.ndarray]]:
        """Return the output of the GNSS receiver in the form used for recording.

        Returns
        -------
        list of tuple of str, ndarray and ndarray
            Type of output, stamps [ns] and rows.
        """
        if not self.fixes:
            return []
        # The import is local, because few experiments have a receiver.
        from ...sensors.gnss.specification import reported_fixes

        return [
            (kind, *reported)
            for fixes in self.fixes
            for kind, reported in zip(STORED_OF_RECEIVER, reported_fixes(fixes))
        ]

    def odometer_rows(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the stamps and rows of the odometer output.

        Returns
        -------
        tuple of ndarray, or None
            Stamps [ns] and rows, or None if there is no output.
        """
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
        """Return the stamps and rows of the ground truth for an :class:`.ExperimentRecord`.

        Returns
        -------
        stamps : ndarray of int, shape (n,)
            Stamps [ns].
        rows : ndarray, shape (n, 13)
            Position [m], quaternion, velocity [m/s] and angular velocity [rad/s].
        """
        state = self.state
        columns = (state.position, state.orientation, state.linear_velocity, state.angular_velocity)
        return self.stamps, np.concatenate(columns, axis=1)

    def wheel_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the stamps of the joint states and the rows of the motor states.

        Returns
        -------
        stamps : ndarray of int, shape (n,)
            Stamps [ns].
        rows : ndarray, shape (n, motors)
            States of the motors, see :meth:`.RobotParameters.motor_rows`.
        """
        return self.stamps[self.wheels], self.motors


class DrivenSamples(NamedTuple):
    """Ground truth of one control period, before the IMU output is computed.

    Attributes
    ----------
    stamps : ndarray of int, shape (n,)
        Stamps [ns].
    numbers : ndarray of int, shape (n,)
        Sample numbers since the start of the drive.
    state, fixes, odometry, with_wheels
        Same as in :class:`SimulatedSamples`, for one control period.
    """

    stamps: np.ndarray
    numbers: np.ndarray
    state: SimulatorState
    fixes: pd.DataFrame | None
    odometry: tuple[np.ndarray, np.ndarray] | None
    with_wheels: bool


class SimulatedRobot:
    """Simulation of the configured robot, initially stationary, and its sensors.

    Parameters
    ----------
    configuration : Configuration
        Configuration of the experiment.

    Attributes
    ----------
    robot : RobotParameters
        Parameters of the robot.
    positioning : PositioningSession or None
        GNSS receiver on the robot.
    odometer : OdometerSession or None
        Odometer on the robot.
    imu : ImuModel
        Error model of the IMU.
    last : SimulatedSamples
        Samples of the last call of :meth:`measured`; before the first call, the initial sample.

    Raises
    ------
    FrameworkError
        The robot or a sensor cannot be simulated.
    """

    imu: ImuModel
    last: SimulatedSamples

    def __init__(self, configuration: Configuration) -> None:
        if configuration.simulation.simulator == "external":
            raise ConfigurationError(
                "[simulation] simulator is external, expected mujoco; use run_experiment.py for an "
                "external robot"
            )
        self._rate = configuration.imu.rate
        self._samples_per_tick = _samples_per_control_period(configuration)
        ticks = ticks_between_wheels(1.0 / configuration.control.rate)
        self._samples_between_wheels = ticks * self._samples_per_tick
        robot = load_robot_parameters(robot_file(configuration))
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
        self._imu_position, _ = self._simulator.imu_mounting
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
        """Place the stationary robot at a pose, and restart the IMU.

        Parameters
        ----------
        x, y : float
            Position [m].
        yaw : float
            Yaw [rad].
        """
        self._simulator.set_pose(x, y, yaw)
        self._start_imu(make_imu_model(*self._imu_arguments))

    def set_imu(self, model: str, parameters: Mapping[str, Any], seed: int) -> None:
        """Replace the IMU of the robot, and initialise the errors of the new IMU.

        Parameters
        ----------
        model : str
            Name of an IMU model.
        parameters : mapping of str to object
            Parameters of the model.
        seed : int
            Seed of the random numbers.

        Raises
        ------
        ConfigurationError
            The model is unknown, or it rejects the parameters. The IMU does not change.
        """
        arguments = (model, parameters, 1.0 / self._rate, seed)
        self._start_imu(make_imu_model(*arguments))
        self._imu_arguments = arguments

    def tick(self, *commands: float) -> SimulatedSamples:
        """Simulate one control period.

        Parameters
        ----------
        *commands : float
            Commands as in :attr:`.Drivetrain.commands`.

        Returns
        -------
        SimulatedSamples
            Samples of the period.
        """
        self.drive(*commands)
        return self.measured()

    def drive(self, *commands: float) -> DrivenSamples:
        """Simulate the motion during one control period, without the IMU.

        The motion does not depend on the IMU, and it is faster to compute the readings of several
        control periods together, see :meth:`measured`.

        Parameters
        ----------
        *commands : float
            Commands as in :attr:`.Drivetrain.commands`.

        Returns
        -------
        DrivenSamples
            Samples of the motion.
        """
        self._simulator.command(*commands)
        state = self._simulator.steps(self._samples_per_tick)
        numbers = np.arange(self._samples + 1, self._samples + 1 + self._samples_per_tick)
        self._samples += self._samples_per_tick
        return self._add_driven(numbers, state)

    @property
    def waiting(self) -> int:
        """Number of samples whose IMU readings have not been computed yet."""
        if not self._driven:
            return 0
        return int(self._driven[-1].numbers[-1] - self._driven[0].numbers[0]) + 1

    def measured(self) -> SimulatedSamples:
        """Return all samples since the last call, at least one, with IMU readings.

        The readings are identical to the last bit, regardless of the number of samples per call, if
        no call has more than :data:`MEASURED_AT_ONCE` samples.

        Returns
        -------
        SimulatedSamples
            Samples with IMU readings.
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
            self._measures_field,
            tuple(part.fixes for part in driven if part.fixes is not None),
            tuple(part.odometry for part in driven if part.odometry is not None),
        )
        return self.last

    def _start_imu(self, imu) -> None:
        self.imu = imu
        imu.gravity = self._simulator.gravity
        present = self._simulator.state
        for sensor in (self.positioning, self.odometer):
            if sensor is not None:
                sensor.restart()
        self._driven = []
        state = SimulatorState(*(np.array([values]) for values in present))
        self._add_driven(np.array([self._samples]), state)
        self.measured()

    def _add_driven(self, numbers, state) -> DrivenSamples:
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
    def _measures_field(self) -> bool:
        return self._environment is not None and self.imu.has_magnetometer

    def _readings(self, state) -> tuple[ImuReading, np.ndarray]:
        truth: ImuTruth = add_earth_rotation(self._simulator.measure(state), self._latitude)
        if self._measures_field or self.imu.requires_speed:
            field = self._field(state, truth.orientation) if self._measures_field else None
            speed = None
            if self.imu.requires_speed:
                speed = np.linalg.norm(state.linear_velocity, axis=1)
            truth = ImuTruth(*truth[:3], field, speed)
        return self.imu.steps(truth)

    def _field(self, state, orientations) -> np.ndarray:
        assert self._environment is not None
        torques = None
        if self._environment.motors:
            torques = state.wheel_torques.reshape(len(state.time), 2, -1).sum(axis=2)
        position = state.position + rotate_vectors(state.orientation, self._imu_position)
        return self._environment.measured_field(position, orientations, torques)


def _sensors_on_robot(configuration) -> tuple[PositioningSession | None, OdometerSession | None]:
    gnss, odometer = experiment_gnss(configuration), experiment_odometer(configuration)
    if gnss is None and odometer is None:
        return None, None
    # The import is local, because it needs 100 MB and few experiments have these sensors.
    from .gnss_and_odometer import OdometerSession, PositioningSession

    seed = configuration.experiment.seed
    positioning = None if gnss is None else PositioningSession(gnss, seed)
    return positioning, None if odometer is None else OdometerSession(odometer, seed)


def _samples_per_control_period(configuration: Configuration) -> int:
    sample_rate, control_rate = configuration.imu.rate, configuration.control.rate
    ratio = sample_rate / control_rate
    if abs(ratio - round(ratio)) > 1e-9 or ratio < 1.0:
        raise ConfigurationError(
            f"[imu] rate is {sample_rate:g} Hz, expected a multiple of [control] rate, "
            f"{control_rate:g} Hz, in lock-step"
        )
    return round(ratio)
