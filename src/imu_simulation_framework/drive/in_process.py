"""The experiment in one process, without ROS: the same parts, called instead of sent messages.

It gives the same tables as the nodes do, to the last bit, several times faster; made for
many runs, and for measuring what the transport costs.
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
    """Let the robot of the MuJoCo simulator follow a prepared drive.

    ``observe``: called with the simulator's states, those of a control period at a time. Returns
    ExperimentRecord: from stamp 0 to the drive's end.
    """
    if configuration.simulation.simulator == "gazebo":
        # Where wheels slide otherwise: the commands have to be those for MuJoCo's.
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
        tracked = _answer(stamps, state, tracking)
        observe(state)
        if tracked is not None:
            recording.add_error(tracked.stamp, tracked.time, tracked.error)
            command = leader.answer(tracked.time, tracked.error)
        recording.add_command(*command)
        # Nothing here waits for the IMU: a few seconds of its readings are made at once.
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


def _answer(stamps: np.ndarray, state: SimulatorState, tracking: Any) -> TrackedPose | None:
    # A control period ends with the last of its samples, and only its end is answered.
    x, y, _ = state.position[-1].tolist()
    v_x, v_y, _ = state.linear_velocity[-1].tolist()
    orientation = state.orientation[-1].tolist()
    return tracking.ground_truth(TruePose(int(stamps[-1]), x, y, orientation, v_x, v_y))


def robot_motion(configuration: Configuration) -> Motion:
    """Return the motion of the robot in MuJoCo as it follows the configured drive.

    It is that of the point on the ground below the axle's middle, with the bumps, slip and sway of
    the physics; the IMU's is this one :meth:`.SampledMotion.mounted` with
    :attr:`.MujocoSimulator.imu_mounting`. Raises FrameworkError: the experiment cannot be done.
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
    """Return the configured experiment's drive and recorded IMU, read and checked.

    Raises FrameworkError: the experiment cannot be done.
    """
    preparation = PreparationSession()
    preparation.read(configuration)
    return preparation


def run_prepared(configuration: Configuration, preparation: PreparationSession) -> ExperimentTables:
    """Drive a prepared experiment; return what the nodes would write.

    ``configuration``: may differ in IMU, controller and seed from the one that it was prepared
    with; ``preparation``: which has read the drive.
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
    """Prepare and drive the configured experiment; return what the nodes would write.

    Raises FrameworkError: the experiment cannot be done.
    """
    return run_prepared(configuration, prepared(configuration))
