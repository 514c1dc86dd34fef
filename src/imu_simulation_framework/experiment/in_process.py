"""The experiment in one process, without ROS: the same parts, called instead of sent messages.

It gives the same tables as the nodes do, to the last bit, several times faster; made for
many runs, and for measuring what the transport costs.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from imu_simulation_framework.angles import yaw_from_quaternion
from imu_simulation_framework.configuration.load import Configuration
from imu_simulation_framework.experiment.from_configuration import (
    make_experiment_imu,
    make_follower,
    make_terrain,
    samples_per_tick,
)
from imu_simulation_framework.experiment.preparation.check import ensure_plausible
from imu_simulation_framework.experiment.preparation.drive import (
    PreparedDrive,
    prepare_drive,
    prepare_recorded_imu,
)
from imu_simulation_framework.motion.motion import Motion
from imu_simulation_framework.mujoco_simulator.simulator import MujocoSimulator, SimulatorState
from imu_simulation_framework.results.record import NANOSECONDS, ExperimentRecord
from imu_simulation_framework.results.tables import ExperimentTables
from imu_simulation_framework.robot.parameters import load_robot_parameters
from imu_simulation_framework.tracking.reference import Pose2D, tracking_error


def drive_in_process(
    configuration: Configuration, drive: PreparedDrive, observe=None
) -> ExperimentRecord:
    """Let the robot of the MuJoCo simulator follow a prepared drive.

    Parameters
    ----------
    configuration : Configuration
    drive : PreparedDrive
    observe : callable, optional
        Called with each of the simulator's states.

    Returns
    -------
    ExperimentRecord
        From stamp 0 to the drive's end.
    """
    robot = load_robot_parameters(configuration.robot.parameters or None)
    rate = configuration.imu.rate
    per_tick = samples_per_tick(configuration)
    follower = make_follower(configuration, drive.trajectory)
    imu = make_experiment_imu(configuration)
    simulator = MujocoSimulator(robot, sample_rate=rate, terrain=make_terrain(configuration))
    first = follower.reference.pose_at(0.0)
    state = simulator.set_pose(first.x, first.y, first.yaw)

    record = ExperimentRecord()
    observe = observe or (lambda _: None)
    _append(record, 0, state, imu)
    observe(state)
    command = follower.command(0.0)
    samples = 0
    while True:
        record.append_command(*command)
        simulator.set_wheel_velocities(*command)
        for _ in range(per_tick):
            state = simulator.step()
            samples += 1
            stamp = round(samples / rate * NANOSECONDS)
            _append(record, stamp, state, imu)
            observe(state)
        time = stamp / NANOSECONDS
        error = tracking_error(follower.reference.pose_at(time), _pose(state))
        record.errors.append(stamp, (*error, time))
        if follower.finished(time):
            record.append_command(0.0, 0.0)
            return record
        command = follower.command(time, error)


def robot_motion(configuration: Configuration) -> Motion:
    """Return the motion of the robot in MuJoCo as it follows the configured drive.

    It is that of the point on the ground below the axle's middle, with the bumps, slip and sway of
    the physics; the IMU's is this one :meth:`.Motion.mounted` with
    :attr:`.MujocoSimulator.imu_mounting`.

    Raises
    ------
    FrameworkError
        The experiment cannot be done.
    """
    states: list[SimulatorState] = []
    check = ensure_plausible(configuration)
    drive_in_process(configuration, prepare_drive(configuration, check.reference), states.append)
    orientation = np.array([state.orientation for state in states])
    velocity = np.array([state.linear_velocity for state in states])
    return Motion.from_states(
        [state.time for state in states],
        [state.position for state in states],
        orientation,
        Rotation.from_quat(orientation).apply(velocity),
        [state.angular_velocity for state in states],
    )


def run_in_process(configuration: Configuration) -> ExperimentTables:
    """Prepare and drive the configured experiment; return what the nodes would write.

    Raises
    ------
    FrameworkError
        The experiment cannot be done.
    """
    check = ensure_plausible(configuration)
    drive = prepare_drive(configuration, check.reference)
    recorded_imu = prepare_recorded_imu(configuration, drive.start, drive.stop)
    record = drive_in_process(configuration, drive)
    tables = record.tables(0, record.ground_truth.newest)
    return ExperimentTables(
        trajectory_data=drive.trajectory,
        reference=drive.reference,
        fixes=drive.fixes,
        imu_real=recorded_imu.table if recorded_imu else None,
        **{name: table.whole() for name, table in tables.items()},
    )


def _append(record, stamp, state, imu) -> None:
    reading = imu.step(state.imu_truth)
    if imu.has_new_sample or not imu.drop_repeated:
        record.imu.append(
            stamp, (*reading.orientation, *reading.angular_velocity, *reading.specific_force)
        )
    record.ground_truth.append(
        stamp,
        (
            *state.position,
            *state.orientation,
            *state.linear_velocity[:2],
            state.angular_velocity[2],
        ),
    )


def _pose(state) -> Pose2D:
    yaw = float(yaw_from_quaternion(state.orientation))
    return Pose2D(float(state.position[0]), float(state.position[1]), yaw)
