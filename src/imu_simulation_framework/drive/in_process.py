"""Experiments in a single process, without ROS.

The sessions behind the nodes are called directly instead of through messages. The resulting tables
are identical to the tables from the nodes, to the last bit, but the experiment is several times
faster.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Callable

import numpy as np
from scipy.spatial.transform import Rotation

from ..motion.motion import Motion
from .configuration import Configuration
from .experiment.robot import make_follower
from .mujoco import SimulatorState
from .prepared_drive import PreparedDrive
from .results.files import ExperimentTables
from .results.record import ExperimentRecord
from .session.driving import DriveSession, TrackedPose, TrackingSession, TruePose
from .session.preparation import PreparationSession
from .session.recording import RecordingSession
from .session.simulation import MEASURED_AT_ONCE, SimulatedRobot
from .tracking.controllers import Reference


def drive_in_process(
    configuration: Configuration, drive: PreparedDrive, observe: Callable[..., object] | None = None
) -> ExperimentRecord:
    """Simulate the robot in MuJoCo while it follows a prepared drive, and record the samples.

    Parameters
    ----------
    configuration : Configuration
        Configuration of the experiment.
    drive : PreparedDrive
        Drive to replay.
    observe : callable, optional
        Function that is called with the states of each control period.

    Returns
    -------
    ExperimentRecord
        Samples from stamp 0 to the end of the drive.
    """
    if configuration.simulation.simulator == "gazebo":
        # The commands must be computed for MuJoCo, because the wheels slide differently in Gazebo.
        simulation = replace(configuration.simulation, simulator="mujoco")
        configuration = replace(configuration, simulation=simulation)
    robot = SimulatedRobot(configuration)
    reference = Reference.from_table(drive.trajectory)
    follower = make_follower(configuration, reference)
    leader = DriveSession(follower)
    tracking = TrackingSession(1.0 / configuration.control.rate, lock_step=True)
    recording = RecordingSession.from_configuration(configuration)
    observe = observe or (lambda _: None)

    tracking.follow(follower.reference)
    robot.set_pose(*leader.first_pose())
    _record(robot.last, recording)
    stamps, state = robot.last.stamps, robot.last.state
    command = leader.begin()
    while True:
        tracked = _track(stamps, state, tracking)
        observe(state)
        if tracked is not None:
            recording.add_error(tracked.stamp, tracked.time, tracked.error)
            command = leader.answer(tracked.time, tracked.error)
        recording.add_command(*command)
        # As the motion does not depend on the IMU, IMU samples are computed in larger blocks.
        if robot.waiting and (leader.finished or robot.waiting >= MEASURED_AT_ONCE - len(stamps)):
            _record(robot.measured(), recording)
        if leader.finished:
            return recording.record
        tracking.commanded()
        driven = robot.drive(*command)
        stamps, state = driven.stamps, driven.state


def _record(samples: Any, recording: Any) -> None:
    recording.add_imu(*samples.imu_rows())
    recording.add_ground_truth(*samples.ground_truth_rows())
    recording.add_wheels(*samples.wheel_rows())
    magnetic = samples.magnetic_rows()
    if magnetic is not None:
        recording.add_magnetic_field(*magnetic)
    odometry = samples.odometer_rows()
    if odometry is not None:
        recording.add_odometry(*odometry)
    for reported in samples.reported_fixes():
        recording.add_fixes(*reported)


def _track(stamps: np.ndarray, state: SimulatorState, tracking: Any) -> TrackedPose | None:
    # The tracking error of a control period is computed from the last sample of the period.
    x, y, _ = state.position[-1].tolist()
    v_x, v_y, _ = state.linear_velocity[-1].tolist()
    orientation = state.orientation[-1].tolist()
    return tracking.ground_truth(TruePose(int(stamps[-1]), x, y, orientation, v_x, v_y))


def robot_motion(configuration: Configuration) -> Motion:
    """Return the motion of the robot in MuJoCo while it follows the configured drive.

    The motion is that of the point on the ground below the midpoint of the axle, including bumps,
    slip and sway. :meth:`.SampledMotion.mounted` with :attr:`.MujocoSimulator.imu_mounting`
    converts it to the motion of the IMU.

    Parameters
    ----------
    configuration : Configuration
        Settings of the experiment.

    Returns
    -------
    Motion
        Motion of the point below the midpoint of the axle.

    Raises
    ------
    FrameworkError
        The experiment cannot run with this configuration.
    """
    states: list[SimulatorState] = []
    drive_in_process(configuration, prepared(configuration).drive, states.append)
    state = SimulatorState(*map(np.concatenate, zip(*states)))
    return Motion.from_states(
        state.time,
        state.position,
        state.orientation,
        Rotation.from_quat(state.orientation).apply(state.linear_velocity),
        state.angular_velocity,
    )


def prepared(configuration: Configuration) -> PreparationSession:
    """Read and check the drive and the recorded IMU of an experiment.

    Parameters
    ----------
    configuration : Configuration
        Settings of the experiment.

    Returns
    -------
    PreparationSession
        Prepared drive and recorded IMU.

    Raises
    ------
    FrameworkError
        The experiment cannot run with this configuration.
    """
    preparation = PreparationSession()
    preparation.read(configuration)
    return preparation


def run_prepared(configuration: Configuration, preparation: PreparationSession) -> ExperimentTables:
    """Run a prepared experiment in this process.

    Parameters
    ----------
    configuration : Configuration
        Configuration; IMU, controller and seed may differ from those used for the preparation.
    preparation : PreparationSession
        Preparation with the drive.

    Returns
    -------
    ExperimentTables
        Same tables as those written by the nodes.
    """
    drive, recorded_imu = preparation.drive, preparation.recorded_imu
    record = drive_in_process(configuration, drive)
    tables = record.tables(0, record.ground_truth.newest)
    return ExperimentTables(
        trajectory_data=drive.trajectory,
        reference=drive.reference,
        fixes=drive.fixes,
        imu_real=recorded_imu.table if recorded_imu else None,
        **{name: table.whole() for name, table in tables.items()},
    )


def run_in_process(configuration: Configuration) -> ExperimentTables:
    """Prepare and run the configured experiment in this process.

    Parameters
    ----------
    configuration : Configuration
        Settings of the experiment.

    Returns
    -------
    ExperimentTables
        Same tables as those written by the nodes.

    Raises
    ------
    FrameworkError
        The experiment cannot run with this configuration.

    Examples
    --------
    >>> configuration = isf.load_configuration(overrides={"trajectory": {"stop": 5.0}})
    >>> isf.run_in_process(configuration).imu_simulated.shape
    (501, 9)
    """
    return run_prepared(configuration, prepared(configuration))
